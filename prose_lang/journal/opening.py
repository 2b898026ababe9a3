"""Opening a store by what a user calls it: a folder, or the URL of a PostgreSQL database."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prose_lang.journal.port import PATIENCE, StoreError

if TYPE_CHECKING:
    from prose_lang.journal.port import Store

#: What a store promises of a transaction that has been written: `normal` that it survives the death of the process,
#: `full` the loss of power too.
DURABILITIES = ("normal", "full")

_POSTGRES = ("postgresql://", "postgres://")


def open_store(
    where: str | os.PathLike[str], *, durability: str = "normal", make: bool = True, patience: float = PATIENCE
) -> Store:
    """The store that is meant. With `make` off there has to be one. `patience` is for how many seconds another process
    is waited for that has what is wanted.

    Raises StoreError P501, P503 or P504, and ValueError for a durability that there is not.
    """
    if durability not in DURABILITIES:
        raise ValueError(f"{durability!r} is no durability; there are {', '.join(DURABILITIES)}")
    text = os.fspath(where)
    full = durability == "full"
    if text.startswith(_POSTGRES):
        from prose_lang.journal.postgres import PostgresStore

        return PostgresStore(text, full=full, make=make, patience=patience)
    if "://" in text:
        raise StoreError("P501", f"`{text.partition('://')[0]}://` is no kind of store",
                         hint="a store is a folder, or postgresql://…")  # fmt: skip
    from prose_lang.journal.sqlite import SqliteStore

    return SqliteStore(text, full=full, make=make, patience=patience)
