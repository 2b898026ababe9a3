"""Journal: what a run has done is in a store before the next thing depends on it, and is read back from there (L35).

    wrap       between trace and retry: a finished call is read back before anything is tried; what one gives is kept
    tried      around one attempt of the program: one that failed and is tried again is not made a second time
    announce   around the service's own time: an attempt is on record, durably, before it is made
    cut_off    around a nested pattern with a timeout: that its time was up is kept, for the clock alone decided it

What a call gave is kept in order: before any later call starts, that it ended is durable. So a run that was killed at
any moment goes on without making a finished call again. Calls that were under way are made again, with the same
idempotency key.

An entry counts if it stands at the same address and the same was asked: service, inputs, modifiers, and of a model the
whole request. Where something else was asked before it is P502, or the call is made anew under `accept`. Errors that a
program can catch are outcomes and are kept; limits, missing settings and waiting for a person are not, and are tried
again. What happens in a `finally` while a run is being ended from outside is on record, and never read back: gone on
with, the run comes there again.

Secrets are taken out of everything that is written. A result that held one is not kept: its call is made again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.handlers.limits import Spent
from prose_lang.handlers.trace import Decision, WarningEvent
from prose_lang.journal.port import Store, StoreError
from prose_lang.journal.records import Begun, Decided, Ended, Entry, Finished, Warned
from prose_lang.journal.texts import encoded as _encode
from prose_lang.journal.writer import Pen
from prose_lang.runtime.activation import Activation, Perform
from prose_lang.runtime.effects import NO_MODIFIERS, Effect, Usage
from prose_lang.runtime.ledger import Known
from prose_lang.services.answers import asked, error_data, error_of
from prose_lang.values import TooLarge, Value

#: Entries that are read at a time, and about how many bytes of them are kept until they are asked for: thousands of
#: branches ask in another order than that in which they began.
AHEAD = 255
_KEPT = 4_000_000
#: Calls that are read back between two occasions for others to run: reading waits for nothing.
BREATH = 128
#: Decisions that are held back, because they may be on record.
_HELD = 1_000


class Draft:
    """What is noted of one call while it is under way. `before` is what earlier attempts used that no handler of this
    process knows of; `paid` what attempts of this process have used so far. `apart` tells its idempotency key from the
    one of an earlier call at this address that asked something else."""

    __slots__ = ("anew", "apart", "before", "begun", "entry", "paid")

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.anew = False
        self.apart = ""
        self.begun = False
        self.before: Usage | None = None
        self.paid: Usage | None = None


class Reader:
    """The entries of a run that is gone on with, read ahead in the order in which they were begun."""

    def __init__(self, store: Store, run: str) -> None:
        self.store = store
        self.run = run
        self._ahead: OrderedDict[str, Entry] = OrderedDict()
        self._size = 0

    def find(self, key: str) -> Entry | None:
        """The entry of a key, which is asked for once. Raises StoreError P501."""
        found = self._ahead.pop(key, None)
        if found is not None:
            self._size -= _size(found)
        else:
            read = self.store.find(self.run, key, AHEAD)
            if not read:
                return None
            found = read[0]
            self._keep(read[1:])
        return self.store.resolved(found) if found.final or found.state == "waiting" else found

    def _keep(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            known = self._ahead.pop(entry.key, None)
            self._size += _size(entry) - (0 if known is None else _size(known))
            self._ahead[entry.key] = entry
        while self._size > _KEPT:
            self._size -= _size(self._ahead.popitem(last=False)[1])


def _size(entry: Entry) -> int:
    """About the bytes of memory that it takes."""
    return 1_000 + len(entry.request) + len(entry.result or "")


class Journal:
    """What one run writes down and reads back.

    With a `reader` it is a run that is gone on with. `frozen`: nothing is done, only read back (P409). `accept`: what
    was asked differently is done anew. `again`: calls that failed are made again, and so is what was asked differently
    for it. `changed`: the program or its inputs are not those of the record, so nothing but calls counts of it. `stop`:
    a store that fails ends the run (P501); otherwise it goes on, `told` is told once, and nothing more is written.
    `skip` is told the address of each call that is read back, and `redo` of each that was under way and is made again:
    whoever answers in order, or records what is answered, has to know. `on_recall` is told the call itself: the cache
    gives no other one its answer.
    """

    def __init__(
        self,
        run: str,
        pen: Pen | None,
        redactor: Callable[[], Redactor],
        told: Callable[[StoreError], None],
        *,
        reader: Reader | None = None,
        frozen: bool = False,
        accept: bool = False,
        again: bool = False,
        changed: bool = False,
        stop: bool = False,
    ) -> None:
        self.run = run
        self.pen = pen
        self.redactor = redactor
        self.told = told
        self.reader = reader
        self.frozen = frozen
        self.accept = accept
        self.again = again
        self.changed = changed
        self.stop = stop
        self.skip: Callable[[str], None] | None = None
        self.on_recall: Callable[[Effect], None] | None = None
        self.redo: Callable[[str], None] | None = None
        self._within: dict[tuple[str, ...], str] = {}
        self._breath = 0
        self._breathing: asyncio.Task[Any] | None = None
        # Of a run that is gone on with unchanged: decisions since the last call of each activation. If the next one is
        # on record, so are they, and need not be written again.
        self._maybe_known: dict[Activation, list[Decision]] | None = None
        if reader is not None and pen is not None and not accept and not again:
            self._maybe_known = {}
        self._held = 0

    # --- the handlers ------------------------------------------------------------------------------------------------

    def wrap(self, inner: Perform) -> Perform:
        """A performer that reads back what is known, and keeps what comes out."""

        async def perform(effect: Effect) -> Any:
            draft = self._draft(effect)
            if draft is None:
                return await inner(effect)
            leaving = effect.place.leaving
            effect.draft = draft
            found = None if leaving else self._found(draft.entry.key)
            # A question is asked once for all conditions: that it is on record tells nothing of this activation.
            if self._maybe_known is not None and (found is None or effect.kind == "call"):
                self._settle_decisions(effect.place, known=found is not None)
            if found is not None:
                known = self._known(effect, draft, found)
                if known is not None:
                    await self._breathe(effect)
                    return known.value
            if self.frozen:
                if leaving:  # the reason why it ends is told, and nothing is cleaned up
                    return None
                raise self._nothing(effect, found)
            try:
                value = await inner(effect)
            except RunError as error:
                self._add_before(effect, draft)
                self._failed(effect, draft, error)
                if error.code == "P411":
                    # Calls that were begun at the same moment are asked too: what a person has to answer is told at
                    # once. That one of them ends the run meanwhile is no other outcome of this one.
                    with suppress(asyncio.CancelledError):
                        await asyncio.sleep(0)
                raise
            except asyncio.CancelledError:
                self._add_before(effect, draft)
                self._end(effect, draft, "cancelled", None)
                raise
            self._add_before(effect, draft)
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
                        usage=_usage_text(draft.before, draft.paid),
                        reserved=None,
                        result=_under_way(effect.attempt + 1, draft.apart),
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
                usage=_usage_text(draft.before, draft.paid),
                reserved=None if reserved is None else _encode([reserved.tokens, reserved.cost]),
                result=_under_way(effect.attempt, draft.apart),
            )
            try:
                await self._durably(Begun(self.run, entry, draft.anew and not draft.begun), effect)
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
                    draft.paid = draft.paid or Usage()
                    draft.paid.add(effect.usage)

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
                raise _placed(error_of(known.value, effect.service.name), effect)
            if self.frozen:
                return await untimed(effect)
            try:
                return await inner(effect)
            except RunError as error:
                if error.code == "P408" and error.service == effect.service.name and error.span == effect.site.span:
                    self.settle("timeout", key, error_data(error))
                raise

        return perform

    # --- what is not asked of services (see `runtime.ledger.Ledger`) -------------------------------------------------

    def recall(self, kind: str, key: str) -> Known | None:
        """What came out before; None if nothing is known, or it may come out differently now."""
        if (self.changed and kind != "memory") or (self.again and kind == "failure"):
            return None
        found = self._found(f"{kind}:{key}")
        if found is None or not found.final:
            return None
        value = json.loads(found.result or "null")
        # Branches that failed would be tried again, though the race was decided without them.
        return Known([value[0], []] if self.again and kind == "join" else value)

    def settle(self, kind: str, key: str, value: Value) -> None:
        """Keep what came out."""
        if self.pen is not None:
            entry = Entry(f"{kind}:{key}", kind, state="value", result=self._written(value)[0])
            # What the record holds of it, where that is not read back, is replaced.
            self.pen.put(Begun(self.run, entry, anew=True) if self.changed or self.again else Ended(self.run, entry))

    def withdraw(self, effect: Effect) -> None:
        """What a call gave is not kept any more: gone on with, it is made again."""
        draft: Draft | None = effect.draft
        if self.pen is not None and draft is not None:
            usage = None if effect.usage is None else _encode(_plain_usage(effect.usage))
            entry = draft.entry._replace(
                state="cancelled", result=None, attempts=effect.made, usage=usage, reserved=None
            )
            self.pen.put(Begun(self.run, entry, anew=True))

    def decided(self, decision: Decision) -> None:
        """Keep how a condition fell, for whoever reads the record."""
        if self.pen is None:
            return
        if self._maybe_known is None:
            self._put_decision(decision)
            return
        self._maybe_known.setdefault(decision.place, []).append(decision)
        self._held += 1
        if self._held > _HELD:
            self._settle_decisions()

    def _settle_decisions(self, place: Activation | None = None, *, known: bool = False) -> None:
        """Write the decisions that were held back, those of one activation or all, unless they are on record."""
        held = self._maybe_known
        if not held:
            return
        places = list(held) if place is None else [place]
        for one in places:
            decisions = held.pop(one, ())
            self._held -= len(decisions)
            for decision in () if known else decisions:
                self._put_decision(decision)

    def _put_decision(self, decision: Decision) -> None:
        if self.pen is None:
            return
        clean = self.redactor()
        judge = None if decision.judge is None else self._written(decision.judge)[0]
        position = _encode([*decision.place.order, *decision.plan.site.order(decision.indices)])
        self.pen.put(
            Decided(
                self.run, decision.address, position, clean.text(decision.plan.text), decision.layer,
                clean.text(_encode(decision.outcome)), self._shown(decision.values), clean.text(decision.reason), judge,
            )
        )  # fmt: skip

    def warned(self, warning: WarningEvent) -> None:
        """Keep a warning event."""
        if self.pen is not None:
            source, start = warning.place.source, warning.place.span.start
            message = self.redactor().text(warning.message)
            line = source.position(start).line
            self.pen.put(Warned(self.run, warning.code, message, source.name, line, warning.count))

    async def finish(self, status: str, outcome: Any) -> None:
        """Keep how the run ended, and wait until all is durable."""
        self._settle_decisions()
        if self.pen is None:
            return
        self.pen.put(Finished(self.run, status, self._written(outcome)[0], time.time()))
        try:
            await self.pen.flushed()
        except StoreError as error:
            self.lost(error)

    # --- reading back ------------------------------------------------------------------------------------------------

    def _found(self, key: str) -> Entry | None:
        return None if self.reader is None else self.reader.find(key)

    def _known(self, effect: Effect, draft: Draft, found: Entry) -> Known | None:
        """What is known of a call. What earlier attempts of it used counts from now on as its own."""
        usage = _usage_of(found.usage)
        if found.fingerprint != draft.entry.fingerprint:
            if found.final and (self.frozen or not (self.accept or self.again)):
                raise self._changed(effect, draft.entry, found)
            draft.anew, draft.apart = True, draft.entry.fingerprint[:12]
            draft.before, effect.made = usage, found.attempts
            return None
        if found.state == "error" and self.again and not self.frozen:
            draft.anew = True
        elif found.final:
            return self._read_back(effect, found, usage)
        effect.made = found.attempts
        draft.before = usage
        if not found.final:
            effect.attempt, draft.apart = got_to(found)
        if self.redo is not None:
            self.redo(effect.address)
        if found.state in ("started", "cancelled") and getattr(effect.service, "metered", False):
            # It was under way, and nobody knows what it took, unless it costs nothing.
            cost = json.loads(found.reserved)[1] if found.reserved is not None else None
            draft.before = draft.before or Usage()
            draft.before.add(Usage(cost=0.0 if cost == 0 else None))
        return None

    def _read_back(self, effect: Effect, found: Entry, usage: Usage | None) -> Known:
        """What a finished call gave: its value, or its error is raised."""
        effect.recalled = True
        effect.made, effect.usage, effect.seconds = found.attempts, usage, found.seconds
        result = json.loads(found.result or "null")
        error: RunError | None = None
        if found.state == "value":
            effect.value = result
            # Attempts that a killed process did not finish were made once more: of the program there were fewer.
            effect.attempt = max(1, min(found.attempts, 1 + effect.modifiers.retry))
        else:
            error = effect.error = _placed(error_of(result, result.get("service", effect.service.name)), effect)
            error.attempts = effect.attempt = result.get("attempts", 1)
            error.answer = result.get("answer")
        effect.cached = usage is not None and bool(usage.cached)
        if effect.kind == "ask":  # a decision names the model that made it
            effect.model = json.loads(found.request).get("request", {}).get("model")
        if self.skip is not None:
            self.skip(effect.address)
        if self.on_recall is not None:
            self.on_recall(effect)
        if error is not None:
            raise error
        return Known(result)

    def _nothing(self, effect: Effect, found: Entry | None) -> ServiceError:
        name = effect.service.name
        if found is None:
            why = f"the record has no call of `{name}` here"
        elif found.state == "waiting":
            why = f"the record ends here: `{name}` waits for an answer"
        elif found.state == "withheld":
            why = f"`{name}` answered with a secret, which the record does not keep"
        else:
            why = f"the record ends here: `{name}` had not answered"
        return ServiceError(
            "P409", f"{why} ({effect.address})", source=effect.site.source, span=effect.site.span, service=name,
            hint="`prose resume` goes on with a run",
        )  # fmt: skip

    def _changed(self, effect: Effect, now: Entry, found: Entry) -> RunError:
        from prose_lang.cassettes.nearest import values_compared

        assert self.reader is not None
        found = self.reader.store.resolved(found)
        lines = values_compared(
            {"service": found.service, **json.loads(found.request)}, {"service": now.service, **json.loads(now.request)}
        )
        what = "\n".join(["what was recorded (-) and what is asked now (+):", *lines])
        accept = "" if self.frozen else "\n--accept-changes makes the call anew"
        return RunError(
            "P502", f"the call of `{effect.service.name}` is not the one that the run recorded at {found.key}",
            source=effect.site.source, span=effect.site.span, service=effect.service.name,
            hint=f"{what}{accept}",
        )  # fmt: skip

    # --- writing -----------------------------------------------------------------------------------------------------

    def _draft(self, effect: Effect) -> Draft | None:
        """What would be noted of a call; None where that is impossible, and the call will fail for the same reason."""
        service: Any = effect.service
        metered = getattr(service, "metered", False)
        try:
            request = asked(effect)
            if metered:
                ready = service.asked(effect)
                request["request"] = ready.request.as_json()
                if self.on_recall is not None:  # the cache asks for the same in a moment
                    effect.ready = ready
        except (RunError, TooLarge, ValueError):
            return None
        inputs = request["inputs"]
        if len(inputs) > 1:
            request["inputs"] = {name: inputs[name] for name in sorted(inputs)}
        if effect.modifiers is not NO_MODIFIERS:
            told = effect.modifiers.as_json()
            request |= {name: told[name] for name in ("retry", "backoff", "timeout") if name in told}
        text, _ = self._written(request)
        name = self.redactor().text(service.name)  # a command line may hold a secret
        digest = hashlib.blake2b(f"{name}\0{text}".encode(), digest_size=16).hexdigest()
        place = effect.place
        key = effect.address
        if effect.kind == "ask":
            # A model is asked the same question once in a run, whichever condition comes to it first.
            key = f"ask:{digest if metered else key}" + (f"#{effect.turn}" if effect.turn else "")
        if place.leaving:
            key = f"leaving:{key}"
        within = self._within.get(place.within)
        if within is None:
            within = self._within[place.within] = _encode(list(place.within))
        position = _encode([*place.order, *effect.site.order(effect.indices)])
        draft = Draft(Entry(key, effect.kind, name, digest, text, position=position, within=within))
        draft.anew = place.leaving
        return draft

    def _add_before(self, effect: Effect, draft: Draft) -> None:
        if draft.before is not None:
            draft.before.add(effect.usage or Usage())
            effect.usage, draft.before = draft.before, None

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
            self._end(effect, draft, "waiting", error_data(error) | _note(effect.attempt, draft.apart))
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
            text, secret = self._written(value)
            if secret and state == "value":
                state = "withheld"
        usage = None if effect.usage is None else _encode(_plain_usage(effect.usage))
        seconds = max(0.0, time.time() - entry.started)
        reserved = entry.reserved if state in ("cancelled", "waiting") else None
        ended = entry._replace(
            state=state, result=text, attempts=effect.made, usage=usage, seconds=seconds, reserved=reserved
        )
        self.pen.put(Ended(self.run, ended))

    def _written(self, value: Any) -> tuple[str, bool]:
        """A value as JSON without secrets, and whether there was one."""
        text, clean = _encode(value), self.redactor()
        if clean.text(text) is text:
            return text, False
        return _encode(clean.value(value)), True  # in the text itself a secret of digits would leave a hole in a number

    def _shown(self, values: dict[str, Any]) -> str:
        """The values that a decision read; what is too large for a record is left out of it."""
        try:
            return self._written(values)[0]
        except (RecursionError, ValueError):
            return _encode(dict.fromkeys(values, "(too large)"))

    async def _durably(self, change: Begun, effect: Effect) -> None:
        if self.pen is None:
            return
        self.pen.put(change)
        await self._flush(effect)

    async def _breathe(self, effect: Effect) -> None:
        """Let others run after some calls of one task that were read back, and after each where tasks alternate: there
        may be thousands of them. Where much waits to be written, let it become less."""
        task = asyncio.current_task()
        self._breath = self._breath + 1 if task is self._breathing else BREATH
        if self._breath < BREATH:
            return
        self._breath, self._breathing = 0, task
        if self.pen is not None and self.pen.writer.crowded:
            await self._flush(effect)
        else:
            await asyncio.sleep(0)

    async def _flush(self, effect: Effect) -> None:
        if self.pen is None:
            return
        try:
            await self.pen.flushed()
        except StoreError as error:
            self.lost(error)
            if self.stop:
                raise RunError(
                    error.code, error.message, source=effect.site.source, span=effect.site.span,
                    hint=error.hint or "the run was to stop where it cannot be recorded",
                ) from None  # fmt: skip

    def lost(self, error: StoreError) -> None:
        if self.pen is not None:
            self.pen = None
            self.told(error)


def spent(entries: Iterable[Entry]) -> list[Spent]:
    """What the calls of a run have used so far, those with the same names together. Of what was under way the most that
    it may have taken counts (L34)."""
    found: dict[tuple[str, str], Spent] = {}
    for entry in entries:
        around = (entry.within, entry.service)
        names, calls, tokens, cost = found.get(around) or Spent(
            frozenset((*json.loads(entry.within), entry.service)), 0, 0, 0.0
        )
        usage = _usage_of(entry.usage)
        if usage is not None:
            tokens, cost = tokens + usage.tokens_in + usage.tokens_out, cost + (usage.cost or 0.0)
        if not entry.final and entry.reserved is not None:
            more, price = json.loads(entry.reserved)
            tokens, cost = tokens + more, cost + (price or 0.0)
        found[around] = Spent(names, calls + entry.attempts, tokens, cost)
    return list(found.values())


def usage_of(entries: Iterable[Entry]) -> Usage:
    """What a run has used, all its sessions together; the cost is unknown where that of one call is."""
    total = Usage()
    for entry in entries:
        used = _usage_of(entry.usage)
        if used is not None:
            total.add(used)
        total.calls += entry.attempts
        if not entry.final and entry.reserved is not None and json.loads(entry.reserved)[1] != 0:
            total.cost = None
    return total


def _plain_usage(usage: Usage) -> list[Any]:
    plain = [usage.tokens_in, usage.tokens_out, usage.cost]
    return plain if usage.cached is None else [*plain, usage.cached]


def _usage_of(text: str | None) -> Usage | None:
    return None if text is None else Usage(0, *json.loads(text))


def _usage_text(before: Usage | None, paid: Usage | None) -> str | None:
    if before is None and paid is None:
        return None
    total = Usage()
    for part in (before, paid):
        if part is not None:
            total.add(part)
    return _encode(_plain_usage(total))


def _note(attempt: int, apart: str) -> dict[str, Any]:
    """How far a call had got, as its entry tells it while it is under way."""
    note: dict[str, Any] = {"attempt": attempt} if attempt > 1 else {}
    return {**note, "apart": apart} if apart else note


def _under_way(attempt: int, apart: str) -> str | None:
    note = _note(attempt, apart)
    return _encode(note) if note else None


def got_to(found: Entry) -> tuple[int, str]:
    """The attempt that a call which is made again begins with: those before it had failed. And what sets it apart."""
    if found.result is None or found.state == "withheld":
        return 1, ""
    note = json.loads(found.result)
    return note.get("attempt", 1), note.get("apart", "")


def _placed(error: RunError, effect: Effect) -> RunError:
    error.source, error.span = effect.site.source, effect.site.span
    return error
