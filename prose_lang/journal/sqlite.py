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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from prose_lang.journal import schema
from prose_lang.journal.files import Files
from prose_lang.journal.locks import FileHold, take, taken
from prose_lang.journal.port import APART, LARGE, StoreError
from prose_lang.journal.records import (
    ALL_RUNS,
    UNFINISHED,
    Attempt,
    Begun,
    Cached,
    Change,
    Decided,
    Ended,
    Entry,
    Finished,
    RunFilter,
    RunRecord,
    SourceText,
    Warned,
    digest_of,
)

#: The file of the tables.
FILE = "runs.sqlite"
#: Seconds to wait for another process that writes.
PATIENCE = 10.0

_ENTRY = ", ".join(Entry._fields)
_PUT = (
    f"INSERT INTO entries (run, {_ENTRY}, checksum) VALUES (?, {', '.join('?' * len(Entry._fields))}, ?) "
    "ON CONFLICT (run, key) DO "
)
_BEGIN = _PUT + (
    "UPDATE SET service = excluded.service, fingerprint = excluded.fingerprint, request = excluded.request, "
    "state = excluded.state, result = excluded.result, attempts = excluded.attempts, usage = excluded.usage, "
    "reserved = excluded.reserved, started = excluded.started, checksum = excluded.checksum "
    "WHERE entries.state NOT IN ('value', 'error')"
)
_END = (
    "UPDATE entries SET state = ?, result = ?, attempts = ?, usage = ?, reserved = ?, seconds = ?, checksum = ? "
    "WHERE run = ? AND key = ? AND state NOT IN ('value', 'error')"
)
_RUN = """SELECT r.id, r.pattern, r.source, r.names, r.options, r.program, r.version, r.status, r.outcome, r.started,
  r.ended, coalesce((SELECT max(active) FROM sessions WHERE run = r.number), r.started),
  coalesce((SELECT sum(active - started) FROM sessions WHERE run = r.number), 0),
  (SELECT count(*) FROM entries WHERE run = r.number AND kind = 'call'), r.checksum FROM runs r"""


class SqliteStore:
    """See the module's text. The folder is made, unless `make` is off: then there has to be a store in it.

    Raises StoreError P501 for what is no store, is damaged, or was made by a newer version; P503 where it is locked.
    """

    def __init__(self, folder: str | os.PathLike[str], *, full: bool = False, make: bool = True) -> None:
        self.folder = Path(os.path.abspath(folder))
        self.full = full
        self.path = self.folder / FILE
        self.files = Files(self.folder / "files", full=full)
        self._lock = threading.RLock()
        self._numbers: dict[str, int] = {}
        self._sessions: dict[str, int] = {}
        with self._failing("opened"):
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
        if not self.folder.is_dir():
            self.folder.mkdir(parents=True, mode=0o700)
        ignored = self.folder / ".gitignore"
        if not self.path.exists() and not ignored.exists():
            ignored.write_text("# Records of runs belong to this machine.\n*\n", encoding="utf-8")

    def _open(self) -> sqlite3.Connection:
        made = sqlite3.connect(
            self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        try:
            version = made.execute("PRAGMA user_version").fetchone()[0]
            if version > schema.VERSION:
                raise StoreError(
                    "P501", f"the run records in `{self.address}` were made by a newer version of this program",
                    hint=f"their format is {version}, and this program reads up to {schema.VERSION}",
                )  # fmt: skip
            made.execute("PRAGMA journal_mode = WAL")
            made.execute(f"PRAGMA synchronous = {'FULL' if self.full else 'NORMAL'}")
            made.execute("PRAGMA foreign_keys = ON")
            made.execute("PRAGMA trusted_schema = OFF")
            if version < schema.VERSION:
                _bring_up_to_date(made)
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

    def _fail(self, what: str, error: sqlite3.Error) -> NoReturn:
        code = getattr(error, "sqlite_errorcode", None)
        primary = code & 0xFF if code is not None else None
        if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StoreError(
                "P503", f"the run records in `{self.address}` are locked by another process",
                hint=f"it was waited for {PATIENCE:g} s",
            ) from None  # fmt: skip
        if primary == sqlite3.SQLITE_NOTADB:
            reason = f"`{FILE}` is no database"
        elif primary == sqlite3.SQLITE_CORRUPT:
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
            raise StoreError("P503", f"another process works on the run {run}", hint="wait for it, or stop it")
        return found

    def held(self, run: str) -> bool:
        return taken(self._lock_of(run))

    def _lock_of(self, run: str) -> Path:
        return self.folder / "locks" / f"{digest_of(run.encode())[:24]}.lock"

    def create(self, record: RunRecord, sources: Sequence[SourceText]) -> None:
        with self._writing() as database:
            cursor = database.execute(
                "INSERT INTO runs (id, pattern, source, names, options, program, version, status, started, checksum) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*record[:7], UNFINISHED, record.started, record._replace(status=UNFINISHED, outcome=None).checksum()),
            )
            number = self._numbers[record.id] = int(cursor.lastrowid or 0)
            self._begin_session(database, record.id, number)
            _put_sources(database, number, sources)

    def _begin_session(self, database: sqlite3.Connection, run: str, number: int) -> None:
        now = time.time()
        cursor = database.execute("INSERT INTO sessions (run, started, active) VALUES (?, ?, ?)", (number, now, now))
        self._sessions[run] = int(cursor.lastrowid or 0)

    def reopen(self, run: str, record: RunRecord | None = None, sources: Sequence[SourceText] = ()) -> None:
        known = record or self.run(run)
        known = known._replace(status=UNFINISHED, outcome=None)
        with self._writing() as database:
            number = self._number(database, run)
            database.execute(
                "UPDATE runs SET source = ?, names = ?, options = ?, program = ?, version = ?, status = ?, "
                "outcome = NULL, ended = NULL, checksum = ? WHERE number = ?",
                (known.source, known.names, known.options, known.program, known.version, UNFINISHED, known.checksum(),
                 number),
            )  # fmt: skip
            self._begin_session(database, run, number)
            if record is not None:
                database.execute("DELETE FROM run_sources WHERE run = ?", (number,))
                _put_sources(database, number, sources)

    def _number(self, database: sqlite3.Connection, run: str) -> int:
        number = self._numbers.get(run)
        if number is None:
            row = database.execute("SELECT number FROM runs WHERE id = ?", (run,)).fetchone()
            if row is None:
                raise StoreError("P501", f"there is no record of the run {run} in `{self.address}`")
            number = self._numbers[run] = int(row[0])
        return number

    def run(self, run: str) -> RunRecord:
        pattern = run.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        with self._reading() as database:
            rows = (
                database.execute(f"{_RUN} WHERE r.id = ?", (run,)).fetchall()
                or database.execute(
                    f"{_RUN} WHERE r.id LIKE ? ESCAPE '\\' ORDER BY r.started DESC LIMIT 5", (pattern,)
                ).fetchall()
            )
        if not run or not rows:
            raise StoreError("P501", f"there is no record of the run `{run}` in `{self.address}`",
                             hint="`prose runs` lists them")  # fmt: skip
        if len(rows) > 1:
            raise StoreError("P501", f"several runs begin with `{run}`: {', '.join(row[0] for row in rows)}")
        return _run(rows[0])

    def runs(self, which: RunFilter = ALL_RUNS) -> list[RunRecord]:
        where, given = ["1"], list[Any]()
        if which.pattern is not None:
            where.append("instr(r.pattern, ?)")
            given.append(which.pattern)
        if which.statuses:
            where.append(f"r.status IN ({', '.join('?' * len(which.statuses))})")
            given += which.statuses
        if which.since is not None:
            where.append("r.started >= ?")
            given.append(which.since)
        if which.until is not None:
            where.append("r.started < ?")
            given.append(which.until)
        text = f"{_RUN} WHERE {' AND '.join(where)} ORDER BY r.started DESC, r.number DESC LIMIT ?"
        with self._reading() as database:
            rows = database.execute(text, (*given, -1 if which.limit is None else which.limit)).fetchall()
        return [_run(row) for row in rows]

    def sources(self, run: str) -> list[SourceText]:
        with self._reading() as database:
            rows = database.execute(
                "SELECT s.name, s.path, s.inside, t.text, s.digest FROM run_sources s LEFT JOIN sources t "
                "ON t.digest = s.digest WHERE s.run = ? ORDER BY s.place", (self._number(database, run),)
            ).fetchall()  # fmt: skip
        found = []
        for *parts, digest in rows:
            if parts[3] is None or SourceText(*parts).digest != digest:
                raise StoreError("P501", f"the source `{parts[0]}` of the run {run} is damaged in the store")
            found.append(SourceText(*parts))
        return found

    # --- entries -----------------------------------------------------------------------------------------------------

    def write(self, changes: Sequence[Change]) -> None:
        with self._failing("written"):
            ready = [self._with_large_apart(change) for change in changes]
        with self._writing() as database:
            touched = set()
            for change in ready:
                touched.add(change.run)
                self._apply(database, change, self._number(database, change.run))
            now = time.time()
            for run in touched & self._sessions.keys():
                database.execute("UPDATE sessions SET active = ? WHERE rowid = ?", (now, self._sessions[run]))

    def _with_large_apart(self, change: Change) -> Change:
        if isinstance(change, Finished):
            return change._replace(outcome=self._apart(change.outcome))
        if isinstance(change, (Begun, Ended)):
            entry = change.entry
            large: dict[str, Any] = {
                name: self._apart(text)
                for name, text in (("request", entry.request), ("result", entry.result))
                if text is not None and len(text) > LARGE
            }
            return change._replace(entry=entry._replace(**large)) if large else change
        return change

    def _apart(self, text: str) -> str:
        return text if len(text) <= LARGE else APART + self.files.put(text.encode())

    def _apply(self, database: sqlite3.Connection, change: Change, number: int) -> None:
        match change:
            case Begun(entry=entry, anew=anew):
                if anew:
                    database.execute("DELETE FROM entries WHERE run = ? AND key = ?", (number, entry.key))
                database.execute(_BEGIN, (number, *entry, entry.checksum()))
            case Ended(entry=e):
                cursor = database.execute(
                    _END, (e.state, e.result, e.attempts, e.usage, e.reserved, e.seconds, e.checksum(), number, e.key)
                )
                if not cursor.rowcount:
                    database.execute(_PUT + "NOTHING", (number, *e, e.checksum()))
            case Decided():
                row = (number, *change[1:])
                database.execute("INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            case Warned():
                database.execute("INSERT OR REPLACE INTO warnings VALUES (?, ?, ?, ?, ?, ?)", (number, *change[1:]))
            case Finished(status=status, outcome=outcome, ended=ended):
                row = database.execute(f"{_RUN} WHERE r.number = ?", (number,)).fetchone()
                check = _run(row)._replace(status=status, outcome=outcome).checksum()
                database.execute(
                    "UPDATE runs SET status = ?, outcome = ?, ended = ?, checksum = ? WHERE number = ?",
                    (status, outcome, ended, check, number),
                )

    def find(self, run: str, key: str, ahead: int = 0) -> list[Entry]:
        with self._reading() as database:
            number = self._number(database, run)
            rows = database.execute(
                f"SELECT {_ENTRY}, checksum, number FROM entries WHERE run = ? AND key = ?", (number, key)
            ).fetchall()
            if rows and ahead:
                rows += database.execute(
                    f"SELECT {_ENTRY}, checksum, number FROM entries WHERE number > ? AND +run = ? "
                    "ORDER BY number LIMIT ?", (rows[0][-1], number, ahead)
                ).fetchall()  # fmt: skip
        return [_entry(row[:-1], run) for row in rows]

    def resolved(self, entry: Entry) -> Entry:
        request, result = entry.request, entry.result
        if request.startswith(APART):
            entry = entry._replace(request=self.files.get(request[1:]).decode())
        if result is not None and result.startswith(APART):
            entry = entry._replace(result=self.files.get(result[1:]).decode())
        return entry

    def entries(self, run: str, kinds: Sequence[str] = ()) -> list[Entry]:
        some = f"AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
        with self._reading() as database:
            rows = database.execute(
                f"SELECT {_ENTRY}, checksum FROM entries WHERE run = ? {some} ORDER BY number",
                (self._number(database, run), *kinds),
            ).fetchall()
        return [_entry(row, run) for row in rows]

    def sums(self, run: str) -> list[Entry]:
        with self._reading() as database:
            rows = database.execute(
                "SELECT key, kind, service, '', 'null', state, NULL, attempts, usage, reserved, 0.0, 0.0, '[]', within "
                "FROM entries WHERE run = ? AND kind IN ('call', 'ask')", (self._number(database, run),)
            ).fetchall()  # fmt: skip
        return [Entry(*row) for row in rows]

    def decisions(self, run: str) -> list[Decided]:
        with self._reading() as database:
            number = self._number(database, run)
            rows = database.execute("SELECT * FROM decisions WHERE run = ? ORDER BY address", (number,)).fetchall()
        return [Decided(run, *row[1:]) for row in rows]

    def warnings(self, run: str) -> list[Warned]:
        with self._reading() as database:
            number = self._number(database, run)
            rows = database.execute("SELECT * FROM warnings WHERE run = ? ORDER BY file, line", (number,)).fetchall()
        return [Warned(run, *row[1:]) for row in rows]

    # --- attempts and answers ----------------------------------------------------------------------------------------

    def attempt(self, run: str, key: str, number: int) -> Attempt | None:
        with self._reading() as database:
            row = database.execute(
                "SELECT * FROM attempts WHERE run = ? AND key = ? AND number = ?", (run, key, number)
            ).fetchone()
        if row is None:
            return None
        found = Attempt(*row)
        return found._replace(result=self._whole(found.result))

    def put_attempt(self, attempt: Attempt) -> Attempt:
        with self._failing("written"):
            result = self._apart(attempt.result)
        with self._writing() as database:
            cursor = database.execute(
                "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", attempt._replace(result=result)
            )
            if cursor.rowcount:
                return attempt
        return self.attempt(attempt.run, attempt.key, attempt.number) or attempt

    def _whole(self, text: str) -> str:
        return self.files.get(text[1:]).decode() if text.startswith(APART) else text

    def cached(self, key: str) -> Cached | None:
        with self._reading() as database:
            row = database.execute("SELECT * FROM cache WHERE key = ?", (key,)).fetchone()
        if row is None or Entry(row[0], "cache", row[1], "", row[2], "value", row[3]).checksum() != row[-1]:
            return None
        found = Cached(*row[:-1])
        try:
            return found._replace(request=self._whole(found.request), result=self._whole(found.result))
        except StoreError:  # a content is missing or damaged: it can be had again by asking
            return None

    def put_cached(self, cached: Cached) -> None:
        with self._failing("written"):
            kept = cached._replace(request=self._apart(cached.request), result=self._apart(cached.result))
        check = Entry(kept.key, "cache", kept.service, "", kept.request, "value", kept.result).checksum()
        with self._writing() as database:
            database.execute("INSERT OR REPLACE INTO cache VALUES (?, ?, ?, ?, ?, ?, ?)", (*kept, check))

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
        size = 0
        for suffix in ("", "-wal"):
            with suppress(OSError):
                size += os.stat(f"{self.path}{suffix}").st_size
        return size


def _bring_up_to_date(database: sqlite3.Connection) -> None:
    """Go through the steps that are missing; another process may be doing the same."""
    database.execute("BEGIN EXCLUSIVE")
    try:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        for number, step in enumerate(schema.STEPS[version:], start=version + 1):
            for statement in _statements(step):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {number}")
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _statements(text: str) -> Iterator[str]:
    statement = ""
    for line in text.splitlines():
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _put_sources(database: sqlite3.Connection, number: int, sources: Sequence[SourceText]) -> None:
    for place, source in enumerate(sources):
        digest = source.digest
        database.execute("INSERT OR IGNORE INTO sources VALUES (?, ?)", (digest, source.text))
        row = (number, place, source.name, source.path, source.inside, digest)
        database.execute("INSERT INTO run_sources VALUES (?, ?, ?, ?, ?, ?)", row)


def _run(row: Sequence[Any]) -> RunRecord:
    record = RunRecord(*row[:-1])
    if record.checksum() != row[-1]:
        raise StoreError("P501", f"the record of the run {record.id} is damaged")
    return record


def _entry(row: Sequence[Any], run: str) -> Entry:
    entry = Entry(*row[:-1])
    if entry.checksum() != row[-1]:
        raise StoreError("P501", f"what the run {run} recorded at {entry.key} is damaged")
    return entry


def _shown(folder: Path) -> str:
    try:
        shown = os.path.relpath(folder)
    except ValueError:  # another drive
        return str(folder)
    return str(folder) if shown.startswith("..") else shown
