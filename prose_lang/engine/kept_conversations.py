"""Conversations of a run that is recorded: what was there when it first asked stays what it sees (L29, L35).

A run writes its turns into the files as it goes. Gone on with, it would find them there and take them for earlier ones;
so what a conversation held at first is on record, and read back from there.
"""

from __future__ import annotations

from typing import Any

from prose_lang.diagnostics import RunError
from prose_lang.runtime.conversations import Key, Store, Turn
from prose_lang.runtime.ledger import Ledger


class KeptConversations:
    """A store of conversations whose first readings are settled in a ledger. `frozen`: only they are looked at."""

    def __init__(self, inner: Store, ledger: Ledger, run: str, *, frozen: bool = False) -> None:
        self.inner = inner
        self.ledger = ledger
        self.run = run
        self.frozen = frozen

    def load(self, key: Key) -> tuple[Turn, ...] | None:
        """See `runtime.conversations.Store`. P503 where another run has gone on with the conversation since."""
        name = f"{key.scope}/{key.agent}"
        known = self.ledger.recall("memory", name)
        if known is not None and self.frozen:
            return _turns(known.value)
        found = self.inner.load(key)  # which also tells the inner store what it will replace
        if known is None:
            self.ledger.settle("memory", name, _data(found))
            return found
        before = _turns(known.value)
        if found != before and (not found or found[-1].run != self.run):
            raise RunError(
                "P503", f"the conversation of `{key.agent}` was continued by another run meanwhile",
                hint="give each of them a conversation of its own: persist: NAME",
            )  # fmt: skip
        return before

    def save(self, key: Key, turns: tuple[Turn, ...]) -> None:
        """See `runtime.conversations.Store`."""
        self.inner.save(key, turns)


def _data(turns: tuple[Turn, ...] | None) -> list[list[Any]] | None:
    return None if turns is None else [list(turn) for turn in turns]


def _turns(data: list[list[Any]] | None) -> tuple[Turn, ...] | None:
    return None if data is None else tuple(Turn(*turn) for turn in data)
