"""PostgreSQL for the tests: a cluster in a temporary folder, on a free port of loopback, with a database for each test.

It runs as an unprivileged user where the tests run as root, for it refuses to be root. It is up in about 2 s, most of
which `initdb` takes. The cluster of the session does not force its log to the disk; one of a test's own does.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from servers import Guarded, Server, free_ports, missing, program

_NUMBERS = itertools.count(1)


class PostgresServer(Server):
    """A server. `url(NAME)` is that of a database; the port and what it keeps outlive `stop` and `start`."""

    def __init__(self, binaries: Path, *, fsync: bool = False) -> None:
        super().__init__("postgres")
        self._binaries = binaries
        self._fsync = fsync
        self._user = _unprivileged()
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        # The files of a run need not survive a power cut here, but `initdb` would force each of them to the disk.
        subprocess.run(
            [binaries / "initdb", "-A", "trust", "-U", "prose", "-E", "UTF8", "--locale=C", "-N", "-D", self.data],
            check=True, capture_output=True, cwd=self.folder, user=self._user,
            extra_groups=None if self._user is None else [],
        )  # fmt: skip
        rules = self.data / "pg_hba.conf"
        rules.write_text(f"host all locked 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")  # a role with a password
        self.port = 0
        for _ in range(3):  # a chosen port may be gone when it is used
            (self.port,) = free_ports(1)
            if self.start():
                return
        raise RuntimeError(f"PostgreSQL does not start: {self._said()}")

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, database: str = "postgres", user: str = "prose", password: str = "") -> str:
        return f"postgresql://{user}{':' if password else ''}{password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> bool:
        """Start it and wait until it takes connections; False if it ended instead."""
        settings = {
            "listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": self.folder,
            "fsync": "on" if self._fsync else "off", "max_connections": 60, "shared_buffers": "16MB",
            "autovacuum": "off", "max_wal_size": "64MB", "min_wal_size": "32MB",
        }  # fmt: skip
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self._process = Guarded(
            [str(self._binaries / "postgres"), "-D", str(self.data), *options],
            self.folder, stop_signal=signal.SIGQUIT, user=self._user,
        )  # fmt: skip
        return self._process.wait_until(self._answers)

    def do(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Do statements; gives the rows of the last one, if it has any."""
        import psycopg

        rows: list[tuple[Any, ...]] = []
        with psycopg.connect(self.url(database), autocommit=True) as link:
            for statement in statements:
                cursor = link.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
        return rows

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


def _unprivileged() -> str | None:
    """Whom the server runs as: nobody else, unless this is root."""
    if not hasattr(os, "getuid") or os.getuid() != 0:
        return None
    import pwd

    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    missing("PostgreSQL does not run as root, and there is no other user")


def binaries() -> Path:
    """The folder of its programs: on the search path, or where Debian puts them."""
    found = program("initdb")
    if found is not None:
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda file: int(file.parts[-3]))
    if not versions:
        missing("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    return versions[-1].parent


def need_driver() -> None:
    """Skip, or fail, where psycopg is not there."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        missing("psycopg is not installed (pip install 'openprose-lang[postgres]')")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server for the whole session: each test has a database of its own in it."""
    need_driver()
    server = PostgresServer(binaries())
    yield server
    server.close()


@pytest.fixture
def own_postgres_server() -> Iterator[PostgresServer]:
    """A server for one test, which may stop it. It forces its log to the disk."""
    need_driver()
    server = PostgresServer(binaries(), fsync=True)
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of an empty database."""
    name = f"test{next(_NUMBERS)}"
    postgres_server.do(f"CREATE DATABASE {name} TEMPLATE template0 STRATEGY file_copy")
    yield postgres_server.url(name)
    postgres_server.do(f"DROP DATABASE {name} WITH (FORCE)")
