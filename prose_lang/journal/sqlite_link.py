"""The connection of an SQLite store: how its file is opened, what its errors mean, and its transactions.

Not here: what is said to the database (`sqlite.py`), and its tables (`schema.py`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from prose_lang.journal import schema
from prose_lang.journal.port import StoreError

#: The file of the tables.
FILE = "runs.sqlite"


class Link:
    """One connection, which all threads of a process share. The folder is made, unless `make` is off: then there has
    to be a store in it. With `full` each transaction is forced to the disk.

    Raises StoreError P501 for what is no store, is damaged, or was made by a newer version; P503 where it is locked for
    longer than `patience`, in seconds.
    """

    def __init__(self, folder: str | os.PathLike[str], *, full: bool, make: bool, patience: float) -> None:
        self.folder = Path(os.path.abspath(folder))
        self.path = self.folder / FILE
        self.patience = patience
        self._full = full
        self._lock = threading.RLock()
        with self.failing("opened"):
            if "\0" in str(folder):
                raise StoreError("P501", "the folder of run records has a NUL in its name")
            if self.folder.is_file():
                raise StoreError("P501", f"`{self.address}` is a file, and run records are kept in a folder")
            if not make and not self.path.is_file():
                raise StoreError("P501", f"there are no run records in `{self.address}`")
            if make:
                self._make_folder()
            self.database = self._open()
        self._inode = self._identity()

    @property
    def address(self) -> str:
        """The folder as a user sees it: from the current one, where it is inside."""
        try:
            shown = os.path.relpath(self.folder)
        except ValueError:  # another drive
            return str(self.folder)
        return str(self.folder) if shown.startswith("..") else shown

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
            made.execute(f"PRAGMA synchronous = {'FULL' if self._full else 'NORMAL'}")
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
        """Let go of the file."""
        with self._lock, suppress(sqlite3.Error):
            self.database.close()

    # --- failing -----------------------------------------------------------------------------------------------------

    @contextmanager
    def failing(self, what: str) -> Iterator[None]:
        """What is done inside raises StoreError where SQLite or the system fails; `what` says what cannot be done."""
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
            hint = f"move the folder away to begin anew; `sqlite3 {FILE} .recover` may save what is in it"
        raise StoreError("P501", f"the run records in `{self.address}` cannot be {what}: {reason}", hint=hint) from None

    # --- transactions ------------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all that is done inside is kept, or nothing. Raises StoreError."""
        with self._lock, self.failing("written"):
            if self._identity() != self._inode:
                raise StoreError("P501", f"the run records in `{self.address}` were taken away or replaced")
            database = self.database
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The database, for this thread alone. Raises StoreError."""
        with self._lock, self.failing("read"):
            yield self.database

    def shrink(self) -> None:
        """Give the room of rows that are gone back to the system, if no other process is at work."""
        with self._lock, suppress(sqlite3.Error):
            self.database.execute("VACUUM")
            self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def size(self) -> int:
        """How many bytes the file and its log have."""
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
