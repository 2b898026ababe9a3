"""The record of one run: begun before its first call, gone on with by another process, ended with its outcome (L35).

Here the parts meet: what a run is made of (`sources.py`, `recorded_names.py`), the store, and the journal among the
handlers. Finding a run again and checking that it is still the same is `resuming.py`.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from prose_lang.diagnostics.redact import Redactor
from prose_lang.engine.kept_conversations import KeptConversations
from prose_lang.engine.recorded_names import names_data
from prose_lang.engine.sources import program_digest, source_texts
from prose_lang.handlers.journal import Journal
from prose_lang.handlers.journal_reading import Reader, Reading
from prose_lang.handlers.journal_usage import spent, usage_of
from prose_lang.handlers.limits import Limits, Spent
from prose_lang.journal import Hold, Pen, RunRecord, SourceText, Store, StoreError, Writer, open_store
from prose_lang.runtime.conversations import Memory
from prose_lang.runtime.conversations import Store as Conversations
from prose_lang.runtime.effects import Usage
from prose_lang.values import Value
from prose_lang.version import VERSION

if TYPE_CHECKING:
    import os

    from prose_lang.cassettes import Part
    from prose_lang.engine.outcome import Outcome
    from prose_lang.engine.pattern import Pattern


class Records:
    """Where an engine keeps its runs; the store is opened when it is first needed.

    `stop` tells what happens where a run cannot be recorded: it ends (P501, P503), or it goes on without a record.
    """

    def __init__(self, store: str | os.PathLike[str] | Store, durability: str, *, stop: bool) -> None:
        self._where = store
        self._durability = durability
        self.stop = stop
        self._store: Store | None = None
        self._writer: Writer | None = None
        self._lock = threading.RLock()  # runs begin in threads, and one store and one writer serve them all

    @property
    def store(self) -> Store:
        """The store. Raises StoreError."""
        with self._lock:
            if self._store is None:
                self._store = self._opened()
            return self._store

    def _opened(self) -> Store:
        where = self._where
        if isinstance(where, str) or hasattr(where, "__fspath__"):
            return open_store(where, durability=self._durability)  # type: ignore[arg-type]
        return where

    def anew(self, failed: Store) -> Store:
        """What stands now where the store that failed was opened: it may have been taken away meanwhile, and an engine
        lives longer than its runs. Those under way stay with the one that they began with. Raises StoreError."""
        with self._lock:
            if self._store is failed:
                self._store, self._writer = self._opened(), None
            return self.store

    @property
    def writer(self) -> Writer:
        """What writes to it."""
        with self._lock:
            if self._writer is None:
                self._writer = Writer(self.store)
            return self._writer


@attrs.frozen
class Continued:
    """How a run is gone on with: its `record`, the right to do so, and what is done where something has changed.

    `frozen` reads back only; `accept` makes anew what was asked differently; `again` makes failed calls again; with
    `changed` something has. `answers` are put into the record first, by the names that `answering.py` tells of.
    """

    record: RunRecord
    hold: Hold | None
    frozen: bool = False
    accept: bool = False
    again: bool = False
    changed: bool = False
    answers: Mapping[str, Any] = MappingProxyType({})


class About(NamedTuple):
    """What a record tells of a run before it starts."""

    source: dict[str, Any]
    names: dict[str, Any]
    options: dict[str, Any]
    sources: list[SourceText]
    program: str


def about(
    pattern: Pattern,
    documents: Iterable[Any],
    names: Mapping[str, Any],
    inputs: Mapping[str, Value],
    options: dict[str, Any],
    redactor: Redactor,
) -> About:
    """What is told of a run. Secrets are taken out."""
    engine = pattern.engine
    found = source_texts(pattern.document, documents, engine.loader)
    texts = [source._replace(text=redactor.text(source.text)) for source in found]
    path = pattern.document.path
    entry = "" if pattern.entry is pattern.document.main else pattern.entry.name
    source = {"name": pattern.document.source.name, "path": None if path is None else str(path), "entry": entry}
    data = names_data(names, inputs, redactor, known=engine.services)
    return About(source, data, redactor.value(options), texts, program_digest(texts, entry))


class Recording:
    """The record of one run while it is under way."""

    def __init__(self, run: str, store: Store | None, journal: Journal | None, hold: Hold | None) -> None:
        self.run = run
        self.store = store
        self.journal = journal
        self.hold = hold
        self.before = 0.0
        self.spent: list[Spent] = []
        self.continued = False

    @classmethod
    async def begin(
        cls,
        records: Records,
        run: str,
        pattern: Pattern,
        what: About,
        redactor: Callable[[], Redactor],
        told: Callable[[StoreError], None],
        continued: Continued | None,
    ) -> Recording:
        """Begin, or go on; `told` hears why there is no record, or why it breaks off.

        Raises StoreError where the engine stops for it.
        """
        made = cls(run, None, None, continued.hold if continued is not None else None)

        if continued is not None and continued.frozen:
            made.store = records.store
            reading = Reading(Reader(made.store, run), frozen=True)
            made.journal = Journal(run, None, redactor, told, reading=reading)
            return made
        try:
            made.store = await asyncio.to_thread(_open, records, made, pattern, what, continued)
            pen = Pen(records.writer)
        except StoreError as error:
            if made.hold is not None:
                made.hold.release()
            if records.stop or continued is not None:
                raise
            told(error)
            return made
        reading = Reading() if continued is None else Reading(
            Reader(made.store, run), accept=continued.accept, again=continued.again, changed=continued.changed
        )  # fmt: skip
        made.journal = Journal(run, pen, redactor, told, reading=reading, stop=records.stop)
        if continued is not None:
            made.continued = True
            made.before = continued.record.seconds
            made.spent = await asyncio.to_thread(_spent, made.store, run)
        return made

    def memory(self, conversations: Conversations) -> Memory:
        """The conversations of a run whose beginnings are on record."""
        journal = self.journal
        if journal is None:
            return Memory(conversations)
        return Memory(KeptConversations(conversations, journal, self.run, frozen=journal.frozen))

    async def finish(self, outcome: Outcome) -> None:
        """Write how it ended, wait until all is durable, and give the run free."""
        journal, store = self.journal, self.store
        try:
            if journal is None or store is None or journal.pen is None:
                return
            if self.continued:  # calls of earlier sessions that this one did not come to count too
                try:
                    await journal.pen.flushed()
                    used = await asyncio.to_thread(_used, store, self.run)
                except StoreError as error:
                    journal.lost(error)
                else:
                    if outcome.usage.cached is not None:
                        used.cached = used.cached or 0
                    outcome.usage = used
            await journal.finish(outcome.status, outcome_data(outcome))
        finally:
            if self.hold is not None:
                self.hold.release()


def _open(records: Records, made: Recording, pattern: Pattern, what: About, continued: Continued | None) -> Store:
    """Put a run on record, or take it up again."""
    store = records.store
    record = new_record(made.run, pattern, what)
    if continued is None:
        try:
            made.hold = store.hold(made.run)
            store.create(record, what.sources)
        except StoreError as error:
            if error.code != "P501":
                raise
            if made.hold is not None:
                made.hold.release()
                made.hold = None
            store = records.anew(store)
            made.hold = store.hold(made.run)
            store.create(record, what.sources)
    elif continued.changed:
        store.reopen(made.run, record._replace(started=continued.record.started), what.sources)
    else:
        store.reopen(made.run)
    return store


def _spent(store: Store, run: str) -> list[Spent]:
    return spent(store.sums(run))


def _used(store: Store, run: str) -> Usage:
    return usage_of(store.sums(run))


def new_record(run: str, pattern: Pattern, what: About) -> RunRecord:
    """The record of a run that starts now."""
    return RunRecord(
        run, pattern.name, json.dumps(what.source), json.dumps(what.names), json.dumps(what.options), what.program,
        VERSION, started=time.time(),
    )  # fmt: skip


def outcome_data(outcome: Outcome) -> dict[str, Any]:
    """What a record keeps of an outcome besides its status."""
    return {
        "value": outcome.value,
        "error": None if outcome.error is None else outcome.error.as_json(),
        "diagnostics": [item.as_json() for item in outcome.diagnostics],
        "usage": outcome.usage.as_json(),
    }


def limits_data(limits: Limits) -> dict[str, Any]:
    """Limits as a record keeps them."""
    return {name: getattr(limits, name) for name in ("calls", "tokens", "cost", "known_cost", "seconds", "concurrency")}


def recorded_further(part: Part, record: RunRecord) -> Part:
    """What a run records into a cassette when it is gone on with: it is one recording with what it recorded before."""
    recording = json.loads(record.options).get("recording")
    return part if recording is None else part.gone_on(recording)
