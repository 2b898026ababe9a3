"""Carrying out one run: it is prepared, put on record, walked within its wall time, and ended with its outcome.

Whatever ends it (an error, a limit, an interrupt) is a status of its outcome, and its record is ended with it. What it
is made of is `preparing.py`, its handlers are `new_run.py`, its record is `recording.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics import Diagnostic, LimitError, ProseError
from prose_lang.engine.interrupts import to_its_end
from prose_lang.engine.new_run import new_run, new_run_id
from prose_lang.engine.outcome import Outcome, status_of
from prose_lang.engine.pattern import Pattern
from prose_lang.engine.preparing import Prepared, Preparing, Runnable
from prose_lang.engine.recalled_replies import recall_replies
from prose_lang.engine.recording import About, Continued, Recording, Records, about, limits_data, recorded_further
from prose_lang.engine.resuming import still_the_same
from prose_lang.handlers import Recorder
from prose_lang.handlers.cache import Cache
from prose_lang.journal import Store, StoreError
from prose_lang.runtime.activation import Run
from prose_lang.runtime.conversations import Memory
from prose_lang.runtime.effects import Service
from prose_lang.values import TooLarge, Value, handout

if TYPE_CHECKING:
    from prose_lang.cassettes import Part
    from prose_lang.engine.engine import Engine


class Running:
    """One run of a pattern. A cancelled one leaves its partial outcome in `interrupted` and is cancelled.

    `part` is that of the engine's cassette which the run reads or writes, `memory` holds its conversations where they
    are not those of the pattern's project; `continued` is a run that is gone on with.
    """

    def __init__(
        self,
        engine: Engine,
        preparing: Preparing,
        pattern: Pattern,
        part: Part | None,
        memory: Memory | None,
        continued: Continued | None,
        interrupted: list[Outcome] | None,
    ) -> None:
        self._engine = engine
        self._preparing = preparing
        self._pattern = pattern
        self._part = part
        self._memory = memory
        self._continued = continued
        self._interrupted = interrupted
        self._id = new_run_id() if continued is None else continued.record.id
        self._recording: Recording | None = None
        self._cache: Cache | None = None
        self._recorder: Recorder | None = None
        self._diagnostics: tuple[Diagnostic, ...] = ()
        self._unrecorded: list[StoreError] = []
        self._uncached: list[StoreError] = []

    async def outcome(
        self, names: Mapping[str, Any], services: Mapping[str, Service] | None = None, judge: Any = None
    ) -> Outcome:
        """Run, and tell how it ended. `services` are known in this run besides the engine's."""
        engine, cancelled = self._engine, False
        try:
            frozen = self._continued is not None and self._continued.frozen
            if self._part is not None:
                self._part = self._checked(self._part)
            if engine.transport is not None and not frozen:
                await engine.transport.open()
            prepared = self._preparing.prepared(self._pattern, names, services, judge, asks=not frozen)
            if engine.records is not None and self._memory is None:
                cancelled = await self._recorded(engine.records, names, prepared, judge)
        except ProseError as error:
            if self._continued is not None and self._continued.hold is not None:
                self._continued.hold.release()
            return Outcome(self._id, "invalid", error=error, diagnostics=error.diagnostics)
        self._diagnostics = prepared.linked.diagnostics
        run = self._new_run(prepared)
        if cancelled:
            return await self._done(self._ended("interrupted"), cancelled=True)
        bound, recording = prepared.bound, self._recording
        try:
            value = await self._walk(bound, run, prepared.inputs, 0.0 if recording is None else recording.before)
        except ProseError as error:
            return await self._done(self._ended(status_of(error), error=error))
        except MemoryError:
            place = bound.place
            reason = "the run needs more memory than there is"
            full = LimitError("P405", reason, source=place.source, span=place.span)
            return await self._done(self._ended("limited", error=full))
        except asyncio.CancelledError:
            return await self._done(self._ended("interrupted"), cancelled=True)
        made = self._ended("ok", value)
        return made if recording is None else await self._done(made)

    # --- beginning ---------------------------------------------------------------------------------------------------

    def _checked(self, part: Part) -> Part:
        """The part of a cassette as this run uses it. Raises ProseError where the cassette cannot be used."""
        part.cassette.check()
        if self._continued is not None and part.records:
            return recorded_further(part, self._continued.record)
        return part

    async def _recorded(self, records: Records, names: Mapping[str, Any], prepared: Prepared, judge: Any) -> bool:
        """Put the run on record, or take it up; tells whether an interrupt came meanwhile. Raises ProseError."""
        what = told_before(self._engine, self._pattern, names, prepared, judge, self._part)
        if self._continued is not None:
            self._continued = self._taken_up(records.store, self._continued, what, prepared)
            if not self._continued.frozen:
                recall_replies(prepared.linked.linker.registered.values(), records.store, self._id)
        redactor, told = self._engine.models.keys.redactor, self._unrecorded.append
        begun = Recording.begin(records, self._id, self._pattern, what, redactor, told, self._continued)
        self._recording, cancelled = await to_its_end(begun)
        return cancelled

    def _taken_up(self, store: Store, continued: Continued, what: About, prepared: Prepared) -> Continued:
        """What is to be known of a run before it is gone on with: that it is the same, and what persons have answered.

        Raises ProseError P502 where it is not, and what is wrong with the answers.
        """
        continued = still_the_same(continued, store, what)
        if continued.answers:
            from prose_lang.engine.answering import put_answers

            redactor, linker = self._engine.models.keys.redactor(), prepared.linked.linker
            put_answers(store, continued.record.id, continued.answers, prepared.bound, linker, redactor)
        return continued

    def _new_run(self, prepared: Prepared) -> Run:
        engine, memory = self._engine, self._memory
        if memory is None:
            keep = self._continued is None or not self._continued.frozen
            files = engine.conversations(self._pattern, keep=keep)
            memory = Memory(files) if self._recording is None else self._recording.memory(files)
        self._cache = self._cache_of_run()
        self._recorder, run = new_run(
            engine, self._id, prepared.judge, self._part, keep=engine.trace,
            session=self._preparing.sessions(prepared.linked.linker.registered), memory=memory,
            recording=self._recording, cache=self._cache,
        )  # fmt: skip
        return run

    def _cache_of_run(self) -> Cache | None:
        """The cache of a run: of one that is on record, is no replay, and has no cassette."""
        engine, recording, part = self._engine, self._recording, self._part
        if engine.cache is None or recording is None or recording.store is None or recording.journal is None:
            return None
        if recording.journal.frozen or (part is not None and (part.replays or part.records)):
            return None
        return Cache(recording.store, engine.cache, engine.models.keys.redactor, self._uncached.append)

    # --- the run, and its end ----------------------------------------------------------------------------------------

    async def _walk(self, bound: Runnable, run: Run, inputs: Mapping[str, Value], before: float) -> Value:
        """The run itself, within its wall time; `before` is how long earlier sessions have worked, in seconds."""
        place = bound.place
        seconds = self._engine.limits.seconds
        if seconds is None:
            return written_out(await bound.run(run, inputs, place), bound, place)
        scope = asyncio.timeout(max(0.0, seconds - before))
        try:
            async with scope:
                return written_out(await bound.run(run, inputs, place), bound, place)
        except TimeoutError:
            if not scope.expired():
                raise
            raise LimitError("P405", f"the run's time of {seconds:g} s is over", source=place.source, span=place.span,
                             hint="raise the limit if that is what you want (--timeout)") from None  # fmt: skip

    def _ended(self, status: str, value: Value = None, error: ProseError | None = None) -> Outcome:
        found = (*self._diagnostics, *(error.diagnostics if error is not None else ()))
        made = Outcome(self._id, status, value, error, found, self._recorder)
        if error is not None:
            error.outcome = made
        return made

    async def _done(self, made: Outcome, *, cancelled: bool = False) -> Outcome:
        """Its record is ended with it, whatever else happens: an interrupt that comes now is told afterwards."""
        if self._cache is not None:
            self._cache.close()
        if self._recording is not None:
            _, again = await to_its_end(self._recording.finish(made))
            cancelled = cancelled or again
            made.unrecorded = self._unrecorded[0] if self._unrecorded else None
            made.uncached = self._uncached[0] if self._uncached else None
        if cancelled:
            if self._interrupted is not None:
                self._interrupted.append(made)
            raise asyncio.CancelledError
        return made


def told_before(
    engine: Engine, pattern: Pattern, names: Mapping[str, Any], prepared: Prepared, judge: Any, part: Part | None
) -> About:
    """What a record tells of a run before it starts."""
    options = {
        "limits": limits_data(engine.limits),
        "strict": engine.strict,
        "judge": judge if isinstance(judge, str) else None,
        "model": engine.models.settings.default,
        "recording": part.recording if part is not None and part.records else None,
    }
    redactor = engine.models.keys.redactor()
    return about(pattern, prepared.linked.documents, names, prepared.inputs, options, redactor)


def written_out(value: Value, bound: Runnable, place: Any) -> Value:
    """The value of a run as its receiver gets it: a copy, with references written as names."""
    try:
        return handout(value)
    except TooLarge as error:
        place.fail("P305", f"the result of `{bound.name}` cannot be written out: {error}")
