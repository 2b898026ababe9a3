"""Holds of a PostgreSQL store: locks of a connection of their own, which end with it, and so with its process.

A lock alone would not do. Should the connection be lost, another process may take the run while this one still works.
So whoever takes a run leaves a token in `prose.holds`, and each transaction of `write` looks, under a lock on that row,
whether its own token still stands there: a process that lost a run never writes after the one that took it.
"""

from __future__ import annotations

import secrets
import threading
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from prose_lang.journal.port import StoreError
from prose_lang.journal.postgres_link import Address, alive, lost
from prose_lang.journal.rows import in_use

if TYPE_CHECKING:
    import psycopg

#: The token of a run, kept from changing until the transaction ends.
TOKEN = "SELECT token FROM prose.holds WHERE run = %s FOR SHARE"
#: Whether some connection has the lock of a run: the two halves of its number.
HELD = """SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid::bigint = %s AND objid::bigint = %s)"""


class PostgresHold:
    """The right to work on one run."""

    def __init__(self, holds: Holds, run: str, token: str, link: psycopg.Connection) -> None:
        self._holds = holds
        self.run = run
        self.token = token
        self.link = link

    def release(self) -> None:
        """Give it back; twice is once."""
        self._holds.release(self)

    def __enter__(self) -> PostgresHold:
        return self

    def __exit__(self, *_: Any) -> None:
        self.release()


class Holds:
    """The holds of one store. Their connection is there as long as there is one of them."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._link: psycopg.Connection | None = None
        self._taken: dict[str, PostgresHold] = {}

    def take(self, run: str) -> PostgresHold:
        """Take a run. Raises StoreError: P503 where somebody has it, this process included."""
        with self._lock:
            known = self._taken.get(run)
            if known is not None:
                if alive(known.link):
                    raise in_use(run)
                del self._taken[run]  # it is lost; what still writes with it fails by its token
            for again in (True, False):
                link = self._connected()
                try:
                    return self._take(link, run)
                except self._address.driver.Error as error:
                    if not (again and lost(error)):
                        raise self._address.failure("locked", error) from None
            raise AssertionError

    def _connected(self) -> psycopg.Connection:
        if self._link is None or not alive(self._link):
            self._link = self._address.connect()
        return self._link

    def _take(self, link: psycopg.Connection, run: str) -> PostgresHold:
        number = number_of(run)
        row = link.execute("SELECT pg_try_advisory_lock(%s)", (number,)).fetchone()
        if row is None or not row[0]:
            self._leave()
            raise in_use(run)
        token = secrets.token_hex(8)
        try:
            link.execute(
                "INSERT INTO prose.holds VALUES (%s, %s) ON CONFLICT (run) DO UPDATE SET token = excluded.token",
                (run, token),
            )
        except BaseException:
            with suppress(self._address.driver.Error):
                link.execute("SELECT pg_advisory_unlock(%s)", (number,))
            raise
        hold = self._taken[run] = PostgresHold(self, run, token, link)
        return hold

    def release(self, hold: PostgresHold) -> None:
        """Give one back."""
        with self._lock:
            if self._taken.get(hold.run) is not hold:
                return
            del self._taken[hold.run]
            with suppress(self._address.driver.Error):
                hold.link.execute("DELETE FROM prose.holds WHERE run = %s AND token = %s", (hold.run, hold.token))
                hold.link.execute("SELECT pg_advisory_unlock(%s)", (number_of(hold.run),))
            self._leave()

    def _leave(self) -> None:
        if not self._taken and self._link is not None:
            self._link.close()
            self._link = None

    def token(self, run: str) -> str | None:
        """The token that has to stand in the table while a run is written to; None where this store does not hold it.

        Raises StoreError P503 where the hold was lost.
        """
        with self._lock:
            hold = self._taken.get(run)
            if hold is None:
                return None
            if not alive(hold.link):
                raise hold_lost(run)
            return hold.token


def hold_lost(run: str) -> StoreError:
    """What is said when the lock of a run is gone."""
    return StoreError("P503", f"this process no longer holds the run {run}: its connection to the database was lost",
                      hint=f"`prose resume {run}` goes on with it", run=run)  # fmt: skip


def number_of(run: str) -> int:
    """The number of a run's lock."""
    return int.from_bytes(blake2b(run.encode("utf-8", "surrogatepass"), digest_size=8, person=b"prose").digest(),
                          "big", signed=True)  # fmt: skip


def halves_of(run: str) -> tuple[int, int]:
    """The number of a run's lock as the server lists it."""
    number = number_of(run) & 0xFFFFFFFFFFFFFFFF
    return number >> 32, number & 0xFFFFFFFF
