"""A store that a process stops writing to while it still lives: what is left then is what its sudden death would leave.

That is how a worker lets go of a run which another is to go on with. Nothing half done is written after it, and the
right to work on the run ends when the evaluation has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from prose_lang.journal.port import Store, StoreError
from prose_lang.journal.records import Change


class LeavableStore:
    """Another store, until `leave`; from then on it takes no changes of runs (P501). `whole` is it as a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._left = False
        self.whole = cast(Store, self)  # what is not written here is the other's

    def leave(self) -> None:
        """Write nothing more."""
        self._left = True

    def write(self, changes: Sequence[Change]) -> None:
        """See `Store`."""
        if self._left:
            raise StoreError("P501", "the worker has let go of the run")
        self._store.write(changes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
