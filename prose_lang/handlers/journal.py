"""Journal: what a run has done is in a store before the next thing depends on it, and is read back from there (L35).

    wrap       between trace and retry: a finished call is read back before anything is tried; what one gives is kept
    tried      around one attempt of the program: one that failed and is tried again is not made a second time
    announce   around the service's own time: an attempt is on record, durably, before it is made
    cut_off    around a nested pattern with a timeout: that its time was up is kept, for the clock alone decided it

What a call gave is kept in order: before any later call starts, that it ended is durable. So a run that was killed at
any moment goes on without making a finished call again. Calls that were under way are made again, with the same
idempotency key.

Errors that a program can catch are outcomes and are kept; limits, missing settings and waiting for a person are not,
and are tried again. What happens in a `finally` while a run is being ended from outside is on record, and never read
back: gone on with, the run comes there again.

Secrets are taken out of everything that is written. A result that held one is not kept: its call is made again.

Not here: what is noted of a call and by what it is found again (`journal_drafts.py`), what is read back
(`journal_reading.py`), what a run knows besides its calls (`journal_ledger.py`), sums of usage (`journal_usage.py`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from prose_lang.diagnostics import RunError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.handlers.journal_drafts import Draft, Drafts
from prose_lang.handlers.journal_ledger import KeptLedger
from prose_lang.handlers.journal_reading import Reading, placed
from prose_lang.handlers.journal_usage import usage_text
from prose_lang.journal.port import StoreError
from prose_lang.journal.records import Begun, Ended, Finished
from prose_lang.journal.texts import encoded
from prose_lang.journal.writer import Pen
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect
from prose_lang.services.answers import error_data, error_of

#: Calls that are read back between two occasions for others to run: reading waits for nothing.
BREATH = 128


class Journal(KeptLedger):
    """What one run writes down and reads back: the handlers. `reading` is of a new run, or of one that is gone on with;
    one that is only read back has no `pen`."""

    def __init__(
        self,
        run: str,
        pen: Pen | None,
        redactor: Callable[[], Redactor],
        told: Callable[[StoreError], None],
        *,
        reading: Reading,
        stop: bool = False,
    ) -> None:
        super().__init__(run, pen, redactor, told, reading=reading, stop=stop)
        self.frozen = reading.frozen
        self.drafts = Drafts(redactor)
        self._breath = 0
        self._breathing: asyncio.Task[Any] | None = None

    # --- the handlers ------------------------------------------------------------------------------------------------

    def wrap(self, inner: Perform) -> Perform:
        """A performer that reads back what is known, and keeps what comes out."""
        reading = self.reading

        async def perform(effect: Effect) -> Any:
            draft = self.drafts.draft(effect, keep_ready=reading.on_recall is not None)
            if draft is None:
                return await inner(effect)
            leaving = effect.place.leaving
            effect.draft = draft
            found = None if leaving else reading.find(draft.entry.key)
            # A question is asked once for all conditions: that it is on record tells nothing of this activation.
            if self._maybe_known is not None and (found is None or effect.kind == "call"):
                self.settle_decisions(effect.place, known=found is not None)
            if found is not None:
                known = reading.known(effect, draft, found)
                if known is not None:
                    await self._breathe(effect)
                    return known.value
            if self.frozen:
                if leaving:  # the reason why it ends is told, and nothing is cleaned up
                    return None
                raise reading.nothing(effect, found)
            try:
                value = await inner(effect)
            except RunError as error:
                draft.count_before(effect)
                self._failed(effect, draft, error)
                if error.code == "P411":
                    # Calls that were begun at the same moment are asked too: what a person has to answer is told at
                    # once. That one of them ends the run meanwhile is no other outcome of this one.
                    with suppress(asyncio.CancelledError):
                        await asyncio.sleep(0)
                raise
            except asyncio.CancelledError:
                draft.count_before(effect)
                self._end(effect, draft, "cancelled", None)
                raise
            draft.count_before(effect)
            self._end(effect, draft, "value", value)
            return value

        return perform

    def tried(self, inner: Perform) -> Perform:
        """A performer of attempts: that one failed is on record before the pause that follows it."""

        def perform(effect: Effect) -> Awaitable[Any]:
            return inner(effect) if not effect.modifiers.retry or effect.draft is None else noted(effect)

        async def noted(effect: Effect) -> Any:
            try:
                return await inner(effect)
            except RunError as error:
                goes_on = error.catchable and not error.permanent and effect.attempt <= effect.modifiers.retry
                draft: Draft = effect.draft
                if goes_on and draft.begun and self.pen is not None:
                    draft.entry = draft.entry._replace(
                        attempts=effect.made,
                        usage=draft.used(),
                        reserved=None,
                        result=draft.under_way(effect.attempt + 1),
                    )
                    self.pen.put(Begun(self.run, draft.entry))
                raise

        return perform

    def announce(self, inner: Perform) -> Perform:
        """A performer whose attempts are on record before they are made."""

        async def perform(effect: Effect) -> Any:
            draft: Draft | None = effect.draft
            if draft is None:
                return await inner(effect)
            reserved = effect.reserved
            entry = draft.entry = draft.entry._replace(
                attempts=effect.made,
                started=draft.entry.started or time.time(),
                usage=draft.used(),
                reserved=None if reserved is None else encoded([reserved.tokens, reserved.cost]),
                result=draft.under_way(effect.attempt),
            )
            try:
                if self.pen is not None:
                    self.pen.put(Begun(self.run, entry, draft.anew and not draft.begun))
                    await self.flush(effect)
            except asyncio.CancelledError:  # it never reached the service
                effect.made -= 1
                if self.pen is not None:
                    self.pen.put(Begun(self.run, entry._replace(attempts=effect.made, reserved=None)))
                raise
            draft.begun = True
            try:
                return await inner(effect)
            finally:
                if effect.usage is not None:
                    draft.pay(effect.usage)

        return perform

    def cut_off(self, inner: Perform, untimed: Perform) -> Perform:
        """A performer of nested patterns: one whose time was up is not walked again, however fast it would be now, and
        one that had come to its end does so however slow it is now: where all is read back it is `untimed`."""

        def perform(effect: Effect) -> Awaitable[Any]:
            return inner(effect) if effect.modifiers.timeout is None or effect.place.leaving else timed(effect)

        async def timed(effect: Effect) -> Any:
            key = f"{effect.address}@{effect.attempt}"
            known = self.recall("timeout", key)
            if known is not None:
                raise placed(error_of(known.value, effect.service.name), effect)
            if self.frozen:
                return await untimed(effect)
            try:
                return await inner(effect)
            except RunError as error:
                if error.code == "P408" and error.service == effect.service.name and error.span == effect.site.span:
                    self.settle("timeout", key, error_data(error))
                raise

        return perform

    async def finish(self, status: str, outcome: Any) -> None:
        """Keep how the run ended, and wait until all is durable."""
        self.settle_decisions()
        if self.pen is None:
            return
        self.pen.put(Finished(self.run, status, self.written(outcome)[0], time.time()))
        try:
            await self.pen.flushed()
        except StoreError as error:
            self.lost(error)

    # --- what comes out ----------------------------------------------------------------------------------------------

    def _failed(self, effect: Effect, draft: Draft, error: RunError) -> None:
        if error.catchable:
            data = error_data(error)
            if error.answer is not None:
                data["answer"] = error.answer
            if error.service not in (None, effect.service.name):
                data["service"] = error.service
            if error.attempts > 1:
                data["attempts"] = error.attempts
            self._end(effect, draft, "error", data)
        elif error.code == "P411":
            self._end(effect, draft, "waiting", error_data(error) | draft.note(effect.attempt))
        else:
            self._end(effect, draft, "cancelled", None)

    def _end(self, effect: Effect, draft: Draft, state: str, value: Any) -> None:
        if self.pen is None:
            return
        if not draft.begun:
            if not effect.cached:
                return
            draft.entry = draft.entry._replace(attempts=effect.made, started=time.time())
            self.pen.put(Begun(self.run, draft.entry, draft.anew))
        entry, text = draft.entry, draft.entry.result
        if state != "cancelled":
            text, secret = self.written(value)
            if secret and state == "value":
                state = "withheld"
        seconds = max(0.0, time.time() - entry.started)
        reserved = entry.reserved if state in ("cancelled", "waiting") else None
        ended = entry._replace(
            state=state, result=text, attempts=effect.made, usage=usage_text(effect.usage), seconds=seconds,
            reserved=reserved,
        )  # fmt: skip
        self.pen.put(Ended(self.run, ended))

    async def _breathe(self, effect: Effect) -> None:
        """Let others run after some calls of one task that were read back, and after each where tasks alternate: there
        may be thousands of them. Where much waits to be written, let it become less."""
        task = asyncio.current_task()
        self._breath = self._breath + 1 if task is self._breathing else BREATH
        if self._breath < BREATH:
            return
        self._breath, self._breathing = 0, task
        if self.pen is not None and self.pen.writer.crowded:
            await self.flush(effect)
        else:
            await asyncio.sleep(0)
