"""Connections of a PostgreSQL store: how they are made, what their errors mean, and what may be said of their URL.

psycopg is an extra of this package and is imported here, when a store is opened. A password is in no message.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from prose_lang.journal.port import StoreError

if TYPE_CHECKING:
    import psycopg

#: What a connection is made with where its URL does not say otherwise. A peer that is silent for half a minute is gone,
#: so that the runs of a machine that lost its power are free then.
_DEFAULTS = {
    "connect_timeout": "10",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "fallback_application_name": "prose",
}
_SETTINGS = """
SET synchronous_commit = on;
SET tcp_keepalives_idle = 15;
SET tcp_keepalives_interval = 5;
SET tcp_keepalives_count = 3;
"""
#: psycopg logs what it ignores while a lost connection is closed, of which an error tells already. A host that listens
#: hears it; without this one Python would print it.
_UNHEARD = logging.NullHandler()
_SECRETS = re.compile(r"([?&](?:ssl)?password=)[^&#]*", re.IGNORECASE)


def shown(url: str) -> str:
    """A URL without its password.

    >>> shown("postgresql://me:secret@db.example/runs?password=x&sslmode=require")
    'postgresql://me@db.example/runs?sslmode=require'
    """
    scheme, _, rest = url.partition("://")
    user, at, where = rest.rpartition("@")
    query = _SECRETS.sub("", where).replace("?&", "?")
    path, question, given = query.partition("?")
    if "?" not in query and "&" in query:  # the first parameter was one of those
        path, question, given = query.partition("&")
    return f"{scheme}://{user.partition(':')[0]}{at}{path}{'?' if question and given else ''}{given}"


def driver() -> Any:
    """The module psycopg. Raises StoreError P501 where it is not installed."""
    try:
        import psycopg
    except ImportError:
        raise StoreError("P501", "a store in PostgreSQL needs the package psycopg, which is not installed",
                         hint="pip install 'openprose-lang[postgres]'") from None  # fmt: skip
    logging.getLogger("psycopg").addHandler(_UNHEARD)
    return psycopg


class Address:
    """Where a database is, and what makes connections to it. Raises StoreError P501 for a URL that cannot be read."""

    def __init__(self, url: str, patience: float) -> None:
        self.driver = driver()
        self.shown = shown(url)
        self.patience = patience
        self._secrets = {part for part in (_password(url), unquote(_password(url))) if part}
        try:
            given = self.driver.conninfo.conninfo_to_dict(url)
        except self.driver.Error as error:
            raise StoreError("P501", f"`{self.shown}` is no URL of a database: {self._reason(error)}") from None
        if "@" in url.partition("://")[2].partition("@")[2]:
            raise StoreError("P501", f"`{self.shown}` is no URL of a database: there is more than one `@` in it",
                             hint="in a name or a password, `@` is written %40 and `/` is written %2F")  # fmt: skip
        if given.get("password"):
            self._secrets.add(str(given["password"]))
        self._parameters = {**_DEFAULTS, **given, "client_encoding": "UTF8"}

    def connect(self) -> psycopg.Connection:
        """A new connection. Raises StoreError: P504 where no server answers, P501 where it refuses."""
        try:
            link: psycopg.Connection = self.driver.connect(**self._parameters, autocommit=True)
        except self.driver.Error as error:
            raise self._refused(error) from None
        try:
            encoding = link.info.parameter_status("server_encoding")
            if encoding != "UTF8":
                raise StoreError("P501", f"the database `{self.shown}` keeps texts as {encoding}, and UTF8 is needed")
            link.execute(f"{_SETTINGS} SET lock_timeout = {int(self.patience * 1000)}")
            link.adapters.register_dumper(int, self.driver.types.numeric.Int8Dumper)
        except self.driver.Error as error:
            link.close()
            raise self.failure("opened", error) from None
        except StoreError:
            link.close()
            raise
        return link

    def _refused(self, error: Exception) -> StoreError:
        info = self.driver.conninfo.make_conninfo(**self._parameters)
        if self.driver.pq.PGconn.ping(info.encode()) == self.driver.pq.Ping.OK:
            return StoreError("P501", f"the run records in `{self.shown}` cannot be opened: {self._reason(error)}")
        return StoreError("P504", f"the database `{self.shown}` does not answer: {self._reason(error)}",
                          hint="is the server running, and reachable from here?")  # fmt: skip

    def failure(self, what: str, error: Exception) -> StoreError:
        """What an error of the driver is told as: P504 for a lost connection, P503 for a lock, P501 for all others."""
        if isinstance(error, self.driver.errors.LockNotAvailable):
            return StoreError("P503", f"the run records in `{self.shown}` are locked by another process",
                              hint=f"it was waited for {self.patience:g} s")  # fmt: skip
        code = "P504" if lost(error) else "P501"
        return StoreError(code, f"the run records in `{self.shown}` cannot be {what}: {self._reason(error)}")

    def _reason(self, error: Exception) -> str:
        diag = getattr(error, "diag", None)
        text = (diag.message_primary if diag is not None else None) or str(error).partition("\n")[0]
        text = text.rpartition("FATAL:")[2].removeprefix("connection failed: ").removeprefix("connection is bad: ")
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return text.strip()


def lost(error: BaseException) -> bool:
    """Whether an error of the driver tells of a connection that ended: by the server's word, or without one."""
    from psycopg import InterfaceError, OperationalError

    state = getattr(error, "sqlstate", None)
    if state is None:
        return isinstance(error, OperationalError | InterfaceError)
    return str(state).startswith(("08", "57P"))


def alive(link: psycopg.Connection) -> bool:
    """Whether a connection is open as far as this side knows; it does not ask the server."""
    for _ in range(2):  # the server's farewell comes first, the end of the stream after it
        if link.closed:
            return False
        try:
            link.pgconn.consume_input()
        except Exception:  # psycopg's own errors: it is gone
            return False
    return not link.closed


def _password(url: str) -> str:
    user = url.partition("://")[2].rpartition("@")[0]
    return user.partition(":")[2]
