"""A store in a folder: one SQLite file in WAL mode, large contents beside it, and a lock for each run under way.

    runs.sqlite   the tables of `schema.py`
    files/        contents of more than 64 KB, by their digests
    locks/        one file for each run under way

Durability. A transaction that has been written survives the death of every process. With `full` it is forced to the
disk before `write` returns and survives the loss of power; otherwise that takes its latest moments, never the soundness
of the file. The folder belongs on a disk of this machine: SQLite's locks do not hold on network shares.

Rows carry checksums, so that a damaged file is told (P501) and never believed.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from prose_lang.journal import schema
from prose_lang.journal.files import Files
from prose_lang.journal.locks import FileHold, take, taken
from prose_lang.journal.port import APART, LARGE, PATIENCE, StoreError
from prose_lang.journal.records import (
    ALL_RUNS,
    UNFINISHED,
    Attempt,
    Cached,
    Change,
    Decided,
    Entry,
    Finished,
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
    damaged_rows,
    decision_of,
    entry_of,
    first_of,
    in_use,
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
from prose_lang.journal.sqlite_statements import (
    DECISION,
    ENTRY,
    LIGHT,
    RUN,
    SOURCE,
    WARNING,
    agree,
    all_of,
    apply,
    beside,
    known,
    put_sources,
)

#: The file of the tables.
FILE = "runs.sqlite"
#: Seconds between two signs of life of a run that writes all the time.
_LIFE = 0.2
#: Rows of all runs that are looked through at most for those that are read ahead, and that are read at a time.
_SPAN, _PAGE = 4_096, 1_000


class SqliteStore:
    """See the module's text. The folder is made, unless `make` is off: then there has to be a store in it.

    `patience` is for how many seconds another process that writes is waited for.

    Raises StoreError P501 for what is no store, is damaged, or was made by a newer version; P503 where it is locked.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, full: bool = False, make: bool = True, patience: float = PATIENCE
    ) -> None:
        self.folder = Path(os.path.abspath(folder))
        self.full = full
        self.patience = patience
        self.path = self.folder / FILE
        self.files = Files(self.folder / "files", full=full)
        self._lock = threading.RLock()
        self._numbers: dict[str, int] = {}
        self._sessions: dict[str, int] = {}
        self._alive: dict[str, float] = {}  # when each run's session last said that it lives
        self._sound: set[str] = set()
        with self._failing("opened"):
            if "\0" in str(folder):
                raise StoreError("P501", "the folder of run records has a NUL in its name")
            if self.folder.is_file():
                raise StoreError("P501", f"`{self.address}` is a file, and run records are kept in a folder")
            if not make and not self.path.is_file():
                raise StoreError("P501", f"there are no run records in `{self.address}`")
            if make:
                self._make_folder()
            self._database = self._open()
        self._inode = self._identity()

    @property
    def address(self) -> str:
        return _shown(self.folder)

    # --- opening -----------------------------------------------------------------------------------------------------

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, mode=0o700, exist_ok=True)  # another process may be making it as well
        ignored = self.folder / ".gitignore"
        if not self.path.exists() and not ignored.exists():
            ignored.write_text("# Records of runs belong to this machine.\n*\n", encoding="utf-8")

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect(str(self.path))
        except sqlite3.OperationalError:
            # SQLite writes even to read: a log that is empty lets it do without, if nobody else can write either.
            if os.access(self.folder, os.W_OK) or _size(f"{self.path}-wal"):
                raise
            return self._connect(f"{self.path.as_uri()}?immutable=1")

    def _connect(self, file: str) -> sqlite3.Connection:
        made = sqlite3.connect(
            file, timeout=self.patience, isolation_level=None, check_same_thread=False, cached_statements=64,
            uri=file != str(self.path),
        )  # fmt: skip
        try:
            version = made.execute("PRAGMA user_version").fetchone()[0]
            if version > schema.VERSION:
                raise StoreError(
                    "P501", f"the run records in `{self.address}` were made by a newer version of this program",
                    hint=f"their format is {version}, and this program reads up to {schema.VERSION}",
                )  # fmt: skip
            _use_log(made, self.patience)
            made.execute(f"PRAGMA synchronous = {'FULL' if self.full else 'NORMAL'}")
            made.execute("PRAGMA foreign_keys = ON")
            made.execute("PRAGMA trusted_schema = OFF")
            made.execute("PRAGMA cell_size_check = ON")
            if version < schema.VERSION:
                schema.bring_up_to_date(made)
        except BaseException:
            made.close()
            raise
        return made

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def close(self) -> None:
        with self._lock, suppress(sqlite3.Error):
            self._database.close()

    # --- failing -----------------------------------------------------------------------------------------------------

    @contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            self._fail(what, error)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise StoreError("P501", f"the run records in `{self.address}` cannot be {what}: {reason}") from None
        except UnicodeError:
            raise StoreError("P501", f"the run records in `{self.address}` cannot be {what}: no Unicode text") from None

    def _fail(self, what: str, error: sqlite3.Error) -> NoReturn:
        code = getattr(error, "sqlite_errorcode", None)
        primary = code & 0xFF if code is not None else None
        if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StoreError(
                "P503", f"the run records in `{self.address}` are locked by another process",
                hint=f"it was waited for {self.patience:g} s",
            ) from None  # fmt: skip
        if primary == sqlite3.SQLITE_NOTADB:
            reason = f"`{FILE}` is no database"
        elif primary == sqlite3.SQLITE_CORRUPT or "decode" in str(error):  # that message shows what it cannot read
            reason = f"`{FILE}` is damaged"
        else:
            reason = str(error)
        hint = None
        if primary in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            hint = "move the folder away to begin anew; `sqlite3 runs.sqlite .recover` may save what is in it"
        raise StoreError("P501", f"the run records in `{self.address}` cannot be {what}: {reason}", hint=hint) from None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._failing("written"):
            if self._identity() != self._inode:
                raise StoreError("P501", f"the run records in `{self.address}` were taken away or replaced")
            database = self._database
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._failing("read"):
            yield self._database

    # --- runs --------------------------------------------------------------------------------------------------------

    def hold(self, run: str) -> FileHold:
        with self._failing("locked"):
            found = take(self._lock_of(run))
        if found is None:
            raise in_use(run)
        return found

    def held(self, run: str) -> bool:
        return taken(self._lock_of(run))

    def _lock_of(self, run: str) -> Path:
        return self.folder / "locks" / f"{digest_of(run.encode())[:24]}.lock"

    def create(self, record: RunRecord, sources: Sequence[SourceText]) -> None:
        record = record._replace(status=UNFINISHED, outcome=None, ended=None)
        with self._writing() as database:
            cursor = database.execute(
                "INSERT INTO runs (id, pattern, source, names, options, program, version, status, started, checksum, "
                "ending) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (record.id, kept_text(record.pattern), *record[2:8], record.started, sum_of_run(record),
                 sum_of_ending(record.id, UNFINISHED, None, None)),
            )  # fmt: skip
            if not cursor.rowcount:
                raise StoreError("P501", f"there is a record of the run {record.id} in `{self.address}` already")
            number = self._numbers[record.id] = int(cursor.lastrowid or 0)
            self._begin_session(database, record.id, number)
            put_sources(database, record.id, number, sources)

    def _begin_session(self, database: sqlite3.Connection, run: str, number: int) -> None:
        now = time.time()
        cursor = database.execute("INSERT INTO sessions (run, started, active) VALUES (?, ?, ?)", (number, now, now))
        self._sessions[run] = int(cursor.lastrowid or 0)

    def reopen(self, run: str, record: RunRecord | None = None, sources: Sequence[SourceText] = ()) -> None:
        known = begun_anew(self.run(run), record)
        with self._writing() as database:
            number = self._number(database, run)
            database.execute(
                "UPDATE runs SET source = ?, names = ?, options = ?, program = ?, version = ?, status = ?, "
                "outcome = NULL, ended = NULL, checksum = ?, ending = ? WHERE number = ?",
                (known.source, known.names, known.options, known.program, known.version, UNFINISHED,
                 sum_of_run(known), sum_of_ending(run, UNFINISHED, None, None), number),
            )  # fmt: skip
            self._begin_session(database, run, number)
            if record is not None:
                database.execute("DELETE FROM run_sources WHERE run = ?", (number,))
                put_sources(database, run, number, sources)

    def _number(self, database: sqlite3.Connection, run: str) -> int:
        number = self._numbers.get(run)
        if number is None:
            row = database.execute("SELECT number FROM runs WHERE id = ?", (run,)).fetchone()
            if row is None:
                raise no_record(run, self.address)
            number = self._numbers[run] = int(row[0])
        return number

    def run(self, run: str) -> RunRecord:
        with self._reading() as database:
            rows = database.execute(f"{RUN} WHERE r.id = ?", (run,)).fetchall()
            if run and not rows:
                rows = database.execute(
                    f"{RUN} WHERE r.id > ? AND substr(r.id, 1, ?) = ? ORDER BY r.started DESC LIMIT 5",
                    (run, len(run), run),
                ).fetchall()
        found = first_of(rows, run, self.address)
        return found if found.outcome is None else found._replace(outcome=self._whole(found.outcome))

    def runs(self, which: RunFilter = ALL_RUNS) -> list[RunRecord]:
        where, given = ["1"], list[Any]()
        if which.pattern is not None:
            where.append("instr(r.pattern, ?)")
            given.append(kept_text(which.pattern))
        if which.statuses:
            where.append(f"r.status IN ({', '.join('?' * len(which.statuses))})")
            given += which.statuses
        if which.since is not None:
            where.append("r.started >= ?")
            given.append(which.since)
        if which.until is not None:
            where.append("r.started < ?")
            given.append(which.until)
        text = f"{RUN} WHERE {' AND '.join(where)} ORDER BY r.started DESC, r.number DESC LIMIT ?"
        with self._reading() as database:
            rows = database.execute(text, (*given, -1 if which.limit is None else which.limit)).fetchall()
        return [listed(row) for row in rows]

    def sources(self, run: str) -> list[SourceText]:
        with self._reading() as database:
            rows = []
            for row in self._all_of(database, "source", "run_sources", SOURCE, run):
                text = database.execute("SELECT text FROM sources WHERE digest = ?", (row[4],)).fetchone()
                rows.append((*row[:4], None if text is None else text[0], *row[4:]))
        return [source_of(row, run) for row in sorted(rows, key=lambda row: row[0])]

    def _all_of(
        self, database: sqlite3.Connection, what: str, table: str, columns: str, run: str
    ) -> list[tuple[Any, ...]]:
        rows = all_of(database, table, columns, self._number(database, run))
        if rows is None:
            raise damaged_rows(what, run)
        return rows

    # --- entries -----------------------------------------------------------------------------------------------------

    def write(self, changes: Sequence[Change]) -> None:
        with self._failing("written"):
            ready = [with_large_apart(change, self._apart) for change in changes]
        with self._writing() as database:
            numbers = {run: self._number(database, run) for run in {change.run for change in ready}}
            try:
                for change in ready:
                    apply(database, change, numbers[change.run])
            except sqlite3.IntegrityError:  # a row of a run that another process has removed
                self._forget(database, numbers)
                raise
            self._show_life(database, numbers, any(isinstance(change, Finished) for change in ready[-2:]))

    def _show_life(self, database: sqlite3.Connection, runs: Iterable[str], ending: bool) -> None:
        now = time.time()
        for run in runs:
            if run in self._sessions and (ending or not 0 <= now - self._alive.get(run, 0.0) < _LIFE):
                self._alive[run] = now
                database.execute("UPDATE sessions SET active = ? WHERE rowid = ?", (now, self._sessions[run]))

    def _apart(self, text: str) -> str:
        return text if len(text) <= LARGE else APART + self.files.put(text.encode("utf-8", "surrogatepass"))

    def _forget(self, database: sqlite3.Connection, numbers: dict[str, int]) -> None:
        """Say which run is gone, if one is."""
        for run, number in numbers.items():
            if database.execute("SELECT 1 FROM runs WHERE number = ?", (number,)).fetchone() is None:
                self._numbers.pop(run, None)
                raise no_record(run, self.address) from None

    def find(self, run: str, key: str, ahead: int = 0) -> list[Entry]:
        with self._reading() as database:
            number = self._number(database, run)
            first = database.execute("SELECT number FROM entries WHERE run = ? AND key = ?", (number, key)).fetchone()
            if first is None:
                self._see_that_agree(database, run, number)
                return []
            rows = database.execute(
                f"SELECT {ENTRY}, texts, checksum FROM entries WHERE number BETWEEN ? AND ? AND +run = ? "
                "ORDER BY number LIMIT ?",
                (first[0], first[0] + (_SPAN if ahead else 0), number, ahead + 1),
            ).fetchall()
        found = [entry_of(row, run) for row in rows]
        if not found or found[0].key != key:
            raise StoreError("P501", f"what the run {run} recorded at {key} is damaged")
        return found

    def _see_that_agree(self, database: sqlite3.Connection, run: str, number: int) -> None:
        """An index that lost an entry would have a call made again: whether it may have is looked up once."""
        if run not in self._sound:
            if not agree(database, number):
                raise damaged_rows("call", run)
            self._sound.add(run)

    def resolved(self, entry: Entry) -> Entry:
        if entry.request.startswith(APART):
            entry = entry._replace(request=self._whole(entry.request))
        if entry.result is not None and entry.result.startswith(APART):
            entry = entry._replace(result=self._whole(entry.result))
        return entry

    def _whole(self, text: str) -> str:
        return self.files.get(text[1:]).decode("utf-8", "surrogatepass") if text.startswith(APART) else text

    def entries(self, run: str, kinds: Sequence[str] = ()) -> list[Entry]:
        with self._reading() as database:
            rows = self._all_of(database, "call", "entries", f"{ENTRY}, texts, checksum", run)
        entries = [entry_of(row, run) for row in rows]
        return [entry for entry in entries if entry.kind in kinds] if kinds else entries

    def sums(self, run: str) -> Iterator[Entry]:
        with self._reading() as database:
            number = self._number(database, run)
            self._see_that_agree(database, run, number)  # who goes on with a run asks for its sums first, in a thread
            first, last, count = known(database, "entries", number)
            if beside(database, "entries", number, first, last):
                raise damaged_rows("call", run)
        return self._sums(run, number, first, last, count)

    def _sums(self, run: str, number: int, after: int, last: int, left: int) -> Iterator[Entry]:
        more = True
        while more:
            with self._reading() as database:
                rows = database.execute(
                    f"SELECT number, {LIGHT}, texts, checksum FROM entries NOT INDEXED "
                    "WHERE number BETWEEN ? AND ? AND run = ? ORDER BY number LIMIT ?", (after, last, number, _PAGE)
                ).fetchall()  # fmt: skip
            left -= len(rows)
            for at, *row in rows:
                after = at + 1
                entry = light_entry_of(row, run)
                if entry.kind in ("call", "ask"):
                    yield entry
            more = len(rows) == _PAGE
        if left:  # a row is lost, unless another process is at work on the run
            with self._reading() as database:
                self._all_of(database, "call", "entries", f"{LIGHT}, texts, checksum", run)

    def decisions(self, run: str) -> list[Decided]:
        with self._reading() as database:
            rows = self._all_of(database, "decision", "decisions", DECISION, run)
        return sorted((decision_of(row, run) for row in rows), key=lambda one: one.address)

    def warnings(self, run: str) -> list[Warned]:
        with self._reading() as database:
            rows = self._all_of(database, "warning", "warnings", WARNING, run)
        return sorted((warning_of(row, run) for row in rows), key=by_place)

    # --- attempts and answers ----------------------------------------------------------------------------------------

    def attempt(self, run: str, key: str, number: int) -> Attempt | None:
        with self._reading() as database:
            row = database.execute(
                "SELECT * FROM attempts WHERE run = ? AND key = ? AND number = ?", (run, key, number)
            ).fetchone()
        if row is None:
            return None
        found = attempt_of(row)
        return found._replace(result=self._whole(found.result))

    def put_attempt(self, attempt: Attempt) -> Attempt:
        with self._failing("written"):
            kept = attempt._replace(result=self._apart(attempt.result))
        with self._writing() as database:
            cursor = database.execute(
                "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", (*kept, sum_of(*kept))
            )
            if cursor.rowcount:
                return attempt
        return self.attempt(attempt.run, attempt.key, attempt.number) or attempt

    def cached(self, key: str) -> Cached | None:
        with self._reading() as database:
            row = database.execute("SELECT * FROM cache WHERE key = ?", (key,)).fetchone()
        found = None if row is None else cached_of(row)
        if found is None:
            return None
        try:
            return found._replace(request=self._whole(found.request), result=self._whole(found.result))
        except StoreError:  # a content is missing or damaged: it can be had again by asking
            return None

    def put_cached(self, cached: Cached) -> None:
        with self._failing("written"):
            kept = cached._replace(request=self._apart(cached.request), result=self._apart(cached.result))
        with self._writing() as database:
            database.execute("INSERT OR REPLACE INTO cache VALUES (?, ?, ?, ?, ?, ?, ?)", (*kept, sum_of_cached(kept)))

    def drop_cached(self, before: float | None = None) -> int:
        with self._writing() as database:
            if before is None:
                return database.execute("DELETE FROM cache").rowcount
            return database.execute("DELETE FROM cache WHERE made < ?", (before,)).rowcount

    # --- contents, and taking away -----------------------------------------------------------------------------------

    def put_file(self, data: bytes) -> str:
        with self._failing("written"):
            return self.files.put(data)

    def get_file(self, digest: str) -> bytes:
        return self.files.get(digest)

    def remove(self, runs: Sequence[str]) -> int:
        count = 0
        for run in runs:
            with self.hold(run), self._writing() as database:
                count += database.execute("DELETE FROM runs WHERE id = ?", (run,)).rowcount
                database.execute("DELETE FROM attempts WHERE run = ?", (run,))
                self._numbers.pop(run, None)
        return count

    def clean(self) -> int:
        before = self._size()
        with self._writing() as database:
            database.execute("DELETE FROM sources WHERE digest NOT IN (SELECT digest FROM run_sources)")
            wanted = {
                row[0][1:]
                for table, column in (("entries", "request"), ("entries", "result"), ("runs", "outcome"),
                                      ("attempts", "result"), ("cache", "request"), ("cache", "result"))
                for row in database.execute(f"SELECT {column} FROM {table} WHERE {column} GLOB '@*'")
            }  # fmt: skip
        freed = self.files.clean(wanted)
        with self._lock, suppress(sqlite3.Error):  # another process may be at work: then the next time will do
            self._database.execute("VACUUM")
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return freed + max(0, before - self._size())

    def _size(self) -> int:
        return _size(self.path) + _size(f"{self.path}-wal")


def _use_log(database: sqlite3.Connection, patience: float) -> None:
    """Write ahead into a log. Of two processes that open a new file at once SQLite tells one that it is locked, without
    waiting for the other."""
    deadline = time.monotonic() + patience
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.005)


def _size(path: str | Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _shown(folder: Path) -> str:
    try:
        shown = os.path.relpath(folder)
    except ValueError:  # another drive
        return str(folder)
    return str(folder) if shown.startswith("..") else shown
