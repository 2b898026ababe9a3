"""Conversations of agents with `persist` (L29): what was said so far, for each place in a run that can see it.

What a run remembers is one tree. Its root is the run; every branch of a parallel block, of a parallel loop and of
`pmap` has a memory of its own on top of the one around it, so a branch sees what was said before the block and what it
said itself, and never what its siblings say. At the join the memories of the branches that succeeded are taken over in
program order, as if they had run one after the other. The order in which they end decides nothing, and a block that
fails leaves nothing.

Conversations that outlive the run are read when they are first asked for, and written whenever the run's own memory has
changed: never from inside a branch. Where they are kept is the business of whoever made the `Store`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from prose_lang.semantics.persistence import RUN
from prose_lang.values import Value


class Turn(NamedTuple):
    """A task and its answer: `run` and `address` tell which call it was."""

    prompt: str | None
    context: Value
    answer: str
    run: str
    address: str

    def shown(self) -> dict[str, Value]:
        """What a service that is no model is told of it, and what the trace shows.

        >>> Turn("Hi", None, "Hello", "r", "a").shown()
        {'prompt': 'Hi', 'answer': 'Hello'}
        """
        parts = {"prompt": self.prompt, "context": self.context, "answer": self.answer}
        return {name: value for name, value in parts.items() if value is not None}


class Key(NamedTuple):
    """Which conversation: the scope, the agent's name, and in the run's scope its definition, which tells agents of
    one name in two files apart."""

    scope: str
    agent: str
    definition: Any = None


class Store(Protocol):
    """Where conversations are kept that outlive a run. Raises RunError P501 and P503."""

    def load(self, key: Key) -> tuple[Turn, ...] | None:
        """The turns of a conversation; None if there is none."""

    def save(self, key: Key, turns: tuple[Turn, ...]) -> None:
        """Keep the turns in the place of those that were loaded."""


class _Change(NamedTuple):
    """What a memory has beyond the one below it; `anew` leaves out everything below."""

    anew: bool
    turns: tuple[Turn, ...]


class Memory:
    """What one place of a run remembers; that of a run itself has no `below`.

    >>> run = Memory()
    >>> key, turn = Key(RUN, "ann"), Turn("Hi", None, "Hello", "r", "a")
    >>> one, two = run.branch(), run.branch()
    >>> two.add(key, turn)
    >>> one.turns(key), run.take([one, two]), len(run.turns(key))
    (None, None, 1)
    """

    __slots__ = ("_below", "_changes", "_loaded", "_store")

    def __init__(self, store: Store | None = None, below: Memory | None = None) -> None:
        self._store = store
        self._below = below
        # Most branches say nothing, and there may be very many.
        self._changes: dict[Key, _Change] | None = None
        self._loaded: dict[Key, tuple[Turn, ...] | None] | None = {} if below is None else None

    def branch(self) -> Memory:
        """The memory of a branch."""
        return Memory(None, self)

    @property
    def changed(self) -> bool:
        """Whether anything was said here."""
        return self._changes is not None

    def turns(self, key: Key) -> tuple[Turn, ...] | None:
        """What a conversation holds as it is seen from here; None if it was never begun."""
        own = self._changes.get(key) if self._changes is not None else None
        if own is not None and own.anew:
            return own.turns
        before = self._below.turns(key) if self._below is not None else self._kept(key)
        return before if own is None else (*(before or ()), *own.turns)

    def add(self, key: Key, *turns: Turn, anew: bool = False) -> None:
        """Go on with a conversation, or begin it anew."""
        self._put(key, _Change(anew, turns))
        self._save((key,))

    def take(self, branches: Iterable[Memory]) -> None:
        """Take over what branches said, in the order given."""
        found: dict[Key, None] = {}
        for branch in branches:
            for key, change in (branch._changes or {}).items():
                self._put(key, change)
                found[key] = None
        self._save(found)

    def _put(self, key: Key, change: _Change) -> None:
        if self._changes is None:
            self._changes = {}
        known = self._changes.get(key)
        if known is not None and not change.anew:
            change = _Change(known.anew, (*known.turns, *change.turns))
        self._changes[key] = change

    def _kept(self, key: Key) -> tuple[Turn, ...] | None:
        if key.scope == RUN or self._store is None or self._loaded is None:
            return None
        if key not in self._loaded:
            self._loaded[key] = self._store.load(key)
        return self._loaded[key]

    def _save(self, keys: Iterable[Key]) -> None:
        if self._below is not None or self._store is None:
            return
        for key in keys:
            if key.scope != RUN:
                self._kept(key)  # what is written goes in the place of what was read
                self._store.save(key, self.turns(key) or ())
