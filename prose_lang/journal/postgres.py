"""A store in a PostgreSQL database: the shared truth of several machines. Its tables are in the schema `prose`.

Durability. Every transaction that has been written survives the death of all processes, those of the server included;
with a server that forces its log to the disk (`fsync`, as it comes) the loss of power too, whether the store is opened
`full` or not: what `write` gathers into one transaction makes that cheap. `full` refuses a server that does not.

Holds are locks of a connection of their own (`postgres_holds.py`), so what stands between this process and the server
must not share connections out by transaction, as some poolers do. A connection that was lost is made again: what was
read is read again, and what was written is written again if it is certain that the server had not kept it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from prose_lang.journal import postgres_schema as schema
from prose_lang.journal import postgres_statements as say
from prose_lang.journal.port import APART, LARGE, PATIENCE, StoreError
from prose_lang.journal.postgres_holds import HELD, TOKEN, Holds, PostgresHold, halves_of, hold_lost
from prose_lang.journal.postgres_link import Address, lost
from prose_lang.journal.records import (
    ALL_RUNS,
    UNFINISHED,
    Attempt,
    Cached,
    Change,
    Decided,
    Entry,
    RunFilter,
    RunRecord,
    SourceText,
    Warned,
    digest_of,
)
from prose_lang.journal.rows import (
    attempt_of,
    begun_anew,
    by_place,
    cached_of,
    decision_of,
    entry_of,
    first_of,
    kept_text,
    light_entry_of,
    listed,
    no_record,
    source_of,
    sum_of,
    sum_of_cached,
    sum_of_ending,
    sum_of_run,
    warning_of,
    with_large_apart,
)

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")
Rows = list[tuple[Any, ...]]


class PostgresStore:
    """See the module's text. The tables are made, unless `make` is off: then they have to be there.

    Raises StoreError: P504 where no server answers, P501 where it refuses, or what is there is of a newer version.
    """

    def __init__(self, url: str, *, full: bool = False, make: bool = True, patience: float = PATIENCE) -> None:
        self.full = full
        self.patience = patience
        self._address = Address(url, patience)
        self._lock = threading.RLock()
        self._holds = Holds(self._address)
        self._link: psycopg.Connection | None = None
        self._closed = False
        self._numbers: dict[str, int] = {}
        self._sessions: dict[str, int] = {}
        link = self._connected()
        try:
            self._open(link, make)
        except self._address.driver.Error as error:
            link.close()
            raise self._address.failure("opened", error) from None
        except StoreError:
            link.close()
            raise

    @property
    def address(self) -> str:
        return self._address.shown

    def _open(self, link: psycopg.Connection, make: bool) -> None:
        if self.full and self._rows("SHOW fsync") == [("off",)]:
            raise StoreError("P501", f"the server of `{self.address}` does not force what it keeps to the disk",
                             hint="its setting `fsync` is off, and `full` durability needs it")  # fmt: skip
        version = schema.version(link)
        if version > schema.VERSION:
            raise StoreError(
                "P501", f"the run records in `{self.address}` were made by a newer version of this program",
                hint=f"their format is {version}, and this program reads up to {schema.VERSION}",
            )  # fmt: skip
        if not version and not make:
            raise StoreError("P501", f"there are no run records in `{self.address}`")
        if version < schema.VERSION:
            schema.bring_up_to_date(link)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._link is not None:
                self._link.close()

    # --- talking to the server ---------------------------------------------------------------------------------------

    def _connected(self) -> psycopg.Connection:
        if self._closed:
            raise StoreError("P501", f"the run records in `{self.address}` were closed")
        if self._link is None or self._link.closed:
            self._link = self._address.connect()
        return self._link

    def _rows(self, query: str, given: Sequence[Any] = ()) -> Rows:
        """What a query gives. A lost connection is made again once."""
        with self._lock:
            for again in (True, False):
                try:
                    rows: Rows = self._connected().execute(query, given, prepare=True).fetchall()
                    return rows
                except UnicodeError:
                    raise StoreError("P501", f"the run records in `{self.address}` cannot be read: no Unicode text"
                                     ) from None  # fmt: skip
                except self._address.driver.Error as error:
                    if not (again and lost(error)):
                        raise self._address.failure("read", error) from None
            raise AssertionError

    def _transact(
        self,
        queue: Callable[[psycopg.Connection], Callable[[], T]],
        broken: Callable[[], StoreError | None] = lambda: None,
    ) -> T:
        """Do what is queued in one transaction, in one round trip and another for the end of it. What `queue` gives is
        called when all has been done, and before it is kept; it may refuse by raising. `broken` says what it means that
        a row refers to nothing, or is there already."""
        driver = self._address.driver
        with self._lock:
            for again in (True, False):
                link = self._connected()
                number = None
                try:
                    with link.pipeline():
                        link.execute("BEGIN")
                        finish = queue(link)
                        mark = link.execute("SELECT txid_current()", prepare=True)
                    value = finish()
                    number = mark.fetchone()
                    link.execute("COMMIT")
                    return value
                except driver.Error as error:
                    _roll_back(link)
                    meant = broken() if isinstance(error, driver.errors.IntegrityError) else None
                    if meant is not None:
                        raise meant from None
                    if lost(error):
                        fate = "aborted" if number is None else self._fate(number[0])
                        if fate == "committed":
                            return value
                        again = again and fate == "aborted"
                    elif not isinstance(error, driver.errors.DeadlockDetected):
                        again = False
                    if not again:
                        raise self._address.failure("written", error) from None
                except UnicodeError:
                    _roll_back(link)
                    raise StoreError("P501", f"the run records in `{self.address}` cannot be written: no Unicode text"
                                     ) from None  # fmt: skip
                except BaseException:
                    _roll_back(link)
                    raise
            raise AssertionError

    def _fate(self, transaction: int) -> str | None:
        """What has become of a transaction whose end nobody told. None if that is not known in time."""
        until = time.monotonic() + self.patience
        while True:
            with suppress(StoreError):
                fate: str = self._rows("SELECT txid_status(%s)", (transaction,))[0][0]
                if fate != "in progress":
                    return fate
            if time.monotonic() > until:
                return None
            time.sleep(0.05)

    def _do(self, *statements: say.Statement) -> int:
        """Do statements in one transaction; gives how many rows the last one concerned."""

        def queue(link: psycopg.Connection) -> Callable[[], int]:
            cursor = link.cursor()
            for query, given in statements:
                cursor = link.execute(query, given)
            return lambda: cursor.rowcount

        return self._transact(queue)

    def _gone(self, runs: Iterable[str]) -> StoreError | None:
        """Say which run is gone, if one is."""
        for run in runs:
            self._numbers.pop(run, None)
            try:
                self._number(run)
            except StoreError as error:
                return error
        return None

    # --- runs --------------------------------------------------------------------------------------------------------

    def hold(self, run: str) -> PostgresHold:
        return self._holds.take(run)

    def held(self, run: str) -> bool:
        return bool(self._rows(HELD, halves_of(run))[0][0])

    def create(self, record: RunRecord, sources: Sequence[SourceText]) -> None:
        row = (record.id, kept_text(record.pattern), *record[2:7], UNFINISHED, record.started, sum_of_run(record),
               sum_of_ending(record.id, UNFINISHED, None, None))  # fmt: skip

        def queue(link: psycopg.Connection) -> Callable[[], None]:
            link.execute(say.REFER, (schema.LOCK,))
            link.execute(say.CREATE, row)
            session = self._begin_session(link, record.id)
            for query, given in say.source_statements(record.id, sources):
                link.execute(query, given)

            return session

        def broken() -> StoreError:
            return StoreError("P501", f"there is a record of the run {record.id} in `{self.address}` already")

        self._transact(queue, broken)

    def _begin_session(self, link: psycopg.Connection, run: str) -> Callable[[], None]:
        now = time.time()
        cursor = link.execute(say.SESSION, (now, now, run))

        def finish() -> None:
            row = cursor.fetchone()
            if row is None:
                raise no_record(run, self.address)
            self._sessions[run], self._numbers[run] = row

        return finish

    def reopen(self, run: str, record: RunRecord | None = None, sources: Sequence[SourceText] = ()) -> None:
        known = begun_anew(self.run(run), record)

        def queue(link: psycopg.Connection) -> Callable[[], None]:
            link.execute(say.REFER, (schema.LOCK,))
            row = (*known[2:7], UNFINISHED, sum_of_run(known), sum_of_ending(run, UNFINISHED, None, None), run)
            link.execute(say.REOPEN, row)
            session = self._begin_session(link, run)
            if record is not None:
                link.execute(
                    "DELETE FROM prose.run_sources WHERE run = (SELECT number FROM prose.runs WHERE id = %s)", (run,)
                )
                for query, given in say.source_statements(run, sources):
                    link.execute(query, given)
            return session

        self._transact(queue)

    def _number(self, run: str) -> int:
        number = self._numbers.get(run)
        if number is None:
            rows = self._rows("SELECT number FROM prose.runs WHERE id = %s", (run,))
            if not rows:
                raise no_record(run, self.address)
            number = self._numbers[run] = int(rows[0][0])
        return number

    def run(self, run: str) -> RunRecord:
        rows = self._rows(f"{say.RUN} WHERE r.id = %s", (run,))
        if run and not rows:
            rows = self._rows(
                f"{say.RUN} WHERE r.id > %s AND starts_with(r.id, %s) ORDER BY r.started DESC LIMIT 5", (run, run)
            )
        found = first_of(rows, run, self.address)
        return found if found.outcome is None else found._replace(outcome=self._whole(found.outcome))

    def runs(self, which: RunFilter = ALL_RUNS) -> list[RunRecord]:
        where, given = ["true"], list[Any]()
        if which.pattern is not None:
            where.append("strpos(r.pattern, %s) > 0")
            given.append(kept_text(which.pattern))
        if which.statuses:
            where.append("r.status = ANY (%s)")
            given.append(list(which.statuses))
        if which.since is not None:
            where.append("r.started >= %s")
            given.append(float(which.since))
        if which.until is not None:
            where.append("r.started < %s")
            given.append(float(which.until))
        order = "ORDER BY r.started DESC, r.number DESC LIMIT %s"
        return [listed(row) for row in self._rows(f"{say.RUN} WHERE {' AND '.join(where)} {order}",
                                                  (*given, which.limit))]  # fmt: skip

    def sources(self, run: str) -> list[SourceText]:
        rows = self._rows(
            "SELECT s.place, s.name, s.path, s.inside, t.text, s.digest, s.checksum FROM prose.run_sources s "
            "LEFT JOIN prose.sources t ON t.digest = s.digest WHERE s.run = %s ORDER BY s.place",
            (self._number(run),),
        )
        return [source_of(row, run) for row in rows]

    # --- entries -----------------------------------------------------------------------------------------------------

    def write(self, changes: Sequence[Change]) -> None:
        files: dict[str, bytes] = {}
        ready = [with_large_apart(change, lambda text: _apart(text, files)) for change in changes]
        with self._lock:
            numbers = {run: self._number(run) for run in {change.run for change in ready}}
            statements = say.statements_of(ready, numbers)

            def queue(link: psycopg.Connection) -> Callable[[], None]:
                guards = []
                for run in sorted(numbers):
                    token = self._holds.token(run)
                    if token is not None:
                        guards.append((run, token, link.execute(TOKEN, (run,), prepare=True)))
                cursor = link.cursor()
                _put_files(cursor, files)
                for query, given in statements:
                    cursor.execute(query, given, prepare=True)
                now = time.time()
                for run in sorted(numbers.keys() & self._sessions.keys()):
                    cursor.execute("UPDATE prose.sessions SET active = %s WHERE number = %s",
                                   (now, self._sessions[run]), prepare=True)  # fmt: skip

                def finish() -> None:
                    for run, token, found in guards:
                        if found.fetchone() != (token,):
                            raise hold_lost(run)

                return finish

            self._transact(queue, lambda: self._gone(numbers))

    def find(self, run: str, key: str, ahead: int = 0) -> list[Entry]:
        number = self._number(run)
        rows = self._rows(
            f"SELECT {say.ENTRY} FROM prose.entries WHERE run = %s AND number >= "
            "(SELECT number FROM prose.entries WHERE run = %s AND digest = %s) ORDER BY number LIMIT %s",
            (number, number, say.name_of(key), ahead + 1),
        )
        return [entry_of(row, run) for row in rows]

    def resolved(self, entry: Entry) -> Entry:
        if entry.request.startswith(APART):
            entry = entry._replace(request=self._whole(entry.request))
        if entry.result is not None and entry.result.startswith(APART):
            entry = entry._replace(result=self._whole(entry.result))
        return entry

    def _whole(self, text: str) -> str:
        return self.get_file(text[1:]).decode("utf-8", "surrogatepass") if text.startswith(APART) else text

    def entries(self, run: str, kinds: Sequence[str] = ()) -> list[Entry]:
        some, given = ("AND kind = ANY (%s)", [list(kinds)]) if kinds else ("", [])
        rows = self._rows(
            f"SELECT {say.ENTRY} FROM prose.entries WHERE run = %s {some} ORDER BY number",
            (self._number(run), *given),
        )
        return [entry_of(row, run) for row in rows]

    def sums(self, run: str) -> list[Entry]:
        rows = self._rows(
            f"SELECT {say.LIGHT} FROM prose.entries WHERE run = %s AND kind IN ('call', 'ask') ORDER BY number",
            (self._number(run),),
        )
        return [light_entry_of(row, run) for row in rows]

    def decisions(self, run: str) -> list[Decided]:
        rows = self._rows(f"SELECT {say.DECISION} FROM prose.decisions WHERE run = %s", (self._number(run),))
        return sorted((decision_of(row, run) for row in rows), key=lambda one: one.address)

    def warnings(self, run: str) -> list[Warned]:
        rows = self._rows(
            f"SELECT {say.WARNING} FROM prose.warnings WHERE run = %s",
            (self._number(run),),
        )
        return sorted((warning_of(row, run) for row in rows), key=by_place)

    # --- attempts and answers ----------------------------------------------------------------------------------------

    def attempt(self, run: str, key: str, number: int) -> Attempt | None:
        rows = self._rows(
            f"SELECT {say.ATTEMPT} FROM prose.attempts WHERE run = %s AND digest = %s AND number = %s",
            (run, say.name_of(key), number),
        )
        if not rows:
            return None
        found = attempt_of(rows[0])
        return found._replace(result=self._whole(found.result))

    def put_attempt(self, attempt: Attempt) -> Attempt:
        files: dict[str, bytes] = {}
        kept = attempt._replace(result=_apart(attempt.result, files))
        made = self._do(*((say.FILE, file) for file in files.items()),
                        (say.ATTEMPTED, (*kept, sum_of(*kept), say.name_of(attempt.key))))  # fmt: skip
        if made:
            return attempt
        return self.attempt(attempt.run, attempt.key, attempt.number) or attempt

    def cached(self, key: str) -> Cached | None:
        rows = self._rows(f"SELECT {say.CACHED} FROM prose.cache WHERE key = %s", (key,))
        found = cached_of(rows[0]) if rows else None
        if found is None:
            return None
        try:
            return found._replace(request=self._whole(found.request), result=self._whole(found.result))
        except StoreError as error:  # a content is missing or damaged: it can be had again by asking
            if error.code != "P501":
                raise
            return None

    def put_cached(self, cached: Cached) -> None:
        files: dict[str, bytes] = {}
        kept = cached._replace(request=_apart(cached.request, files), result=_apart(cached.result, files))
        self._do(*((say.FILE, file) for file in sorted(files.items())), (say.CACHE, (*kept, sum_of_cached(kept))))

    def drop_cached(self, before: float | None = None) -> int:
        if before is None:
            return self._do(("DELETE FROM prose.cache", ()))
        return self._do(("DELETE FROM prose.cache WHERE made < %s", (float(before),)))

    # --- contents, and taking away -----------------------------------------------------------------------------------

    def put_file(self, data: bytes) -> str:
        digest = digest_of(data)
        self._do((say.FILE, (digest, data)))
        return digest

    def get_file(self, digest: str) -> bytes:
        rows = self._rows("SELECT data FROM prose.files WHERE digest = %s", (digest,))
        if not rows:
            raise StoreError("P501", f"the content {digest} of the store cannot be read: it is not there")
        data = bytes(rows[0][0])
        if digest_of(data) != digest:
            raise StoreError("P501", f"the content {digest} of the store is damaged")
        return data

    def remove(self, runs: Sequence[str]) -> int:
        count = 0
        for run in runs:
            with self.hold(run):
                count += self._do(("DELETE FROM prose.attempts WHERE run = %s", (run,)),
                                  ("DELETE FROM prose.runs WHERE id = %s", (run,)))  # fmt: skip
                self._numbers.pop(run, None)
                self._sessions.pop(run, None)
        return count

    def clean(self) -> int:
        def queue(link: psycopg.Connection) -> Callable[[], int]:
            link.execute("SELECT pg_advisory_xact_lock(%s)", (schema.LOCK,))
            freed = [link.execute(say.CLEAN_SOURCES), link.execute(say.CLEAN_FILES)]
            return lambda: sum(row[0] for cursor in freed for row in cursor)

        return self._transact(queue)


def _apart(text: str, files: dict[str, bytes]) -> str:
    if len(text) <= LARGE:
        return text
    data = text.encode("utf-8", "surrogatepass")
    digest = digest_of(data)
    files[digest] = data
    return APART + digest


def _put_files(cursor: Any, files: dict[str, bytes]) -> None:
    for file in sorted(files.items()):  # always in the same order, so that no two wait for each other
        cursor.execute(say.FILE, file)


def _roll_back(link: psycopg.Connection) -> None:
    with suppress(Exception):  # it is lost: then the server does it
        link.rollback()
