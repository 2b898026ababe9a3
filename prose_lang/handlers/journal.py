"""Journal: what a run has done is in a store before the next thing depends on it, and is read back from there (L35).

    wrap       between trace and retry: a finished call is read back before anything is tried; what one gives is kept
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
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.handlers.limits import Spent
from prose_lang.handlers.trace import Decision, WarningEvent
from prose_lang.journal.port import Store, StoreError
from prose_lang.journal.records import Begun, Decided, Ended, Entry, Finished, Warned
from prose_lang.journal.writer import Pen
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect, Usage
from prose_lang.runtime.ledger import Known
from prose_lang.services.answers import asked, error_data, error_of
from prose_lang.values import TooLarge, Value

#: Entries that are read at a time, and kept until they are asked for.
AHEAD = 255
_KEPT = 4 * AHEAD

_encode = json.JSONEncoder(separators=(",", ":")).encode


class Draft:
    """What is noted of one call while it is under way. `before` is what earlier attempts used that no handler of this
    process knows of; `paid` what attempts of this process have used so far."""

    __slots__ = ("anew", "before", "begun", "entry", "paid")

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.anew = False
        self.begun = False
        self.before: Usage | None = None
        self.paid: Usage | None = None


class Reader:
    """The entries of a run that is gone on with, read ahead in the order in which they were begun."""

    def __init__(self, store: Store, run: str) -> None:
        self.store = store
        self.run = run
        self._ahead: OrderedDict[str, Entry] = OrderedDict()

    def find(self, key: str) -> Entry | None:
        """The entry of a key, which is asked for once. Raises StoreError P501."""
        found = self._ahead.pop(key, None)
        if found is None:
            first, *rest = self.store.find(self.run, key, AHEAD) or (None,)
            if first is None:
                return None
            found = first
            for entry in rest:
                if entry is not None:
                    self._ahead[entry.key] = entry
            while len(self._ahead) > _KEPT:
                self._ahead.popitem(last=False)
        return self.store.resolved(found) if found.final else found


class Journal:
    """What one run writes down and reads back.

    With a `reader` it is a run that is gone on with. `frozen`: nothing is done, only read back (P409). `accept`: what
    was asked differently is done anew. `again`: calls that failed are made again. `stop`: a store that fails ends the
    run (P501); otherwise it goes on, `told` is told once, and nothing more is written.
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
        self.stop = stop
        self._within: dict[tuple[str, ...], str] = {}

    # --- the handlers ------------------------------------------------------------------------------------------------

    def wrap(self, inner: Perform) -> Perform:
        """A performer that reads back what is known, and keeps what comes out."""

        async def perform(effect: Effect) -> Any:
            draft = self._draft(effect)
            if draft is None:
                return await inner(effect)
            leaving = effect.place.leaving
            found = None if leaving else self._found(draft.entry.key)
            if found is not None:
                known = self._known(effect, draft, found)
                if known is not None:
                    return known.value
            if self.frozen:
                if leaving:  # the reason why it ends is told, and nothing is cleaned up
                    return None
                raise self._nothing(effect, found)
            effect.draft = draft
            try:
                value = await inner(effect)
            except RunError as error:
                self._add_before(effect, draft)
                self._failed(effect, draft, error)
                raise
            except asyncio.CancelledError:
                self._add_before(effect, draft)
                self._end(effect, draft, "cancelled", None)
                raise
            self._add_before(effect, draft)
            self._end(effect, draft, "value", value)
            return value

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
            )
            await self._durably(Begun(self.run, entry, draft.anew and not draft.begun), effect)
            draft.begun = True
            try:
                return await inner(effect)
            finally:
                if effect.usage is not None:
                    draft.paid = draft.paid or Usage()
                    draft.paid.add(effect.usage)

        return perform

    def cut_off(self, inner: Perform) -> Perform:
        """A performer of nested patterns: one whose time was up is not walked again, however fast it would be now."""

        def perform(effect: Effect) -> Awaitable[Any]:
            return inner(effect) if effect.modifiers.timeout is None else timed(effect)

        async def timed(effect: Effect) -> Any:
            key = f"{effect.address}@{effect.attempt}"
            known = self.recall("timeout", key)
            if known is not None:
                raise _placed(error_of(known.value, effect.service.name), effect)
            try:
                return await inner(effect)
            except RunError as error:
                if error.code == "P408" and error.service == effect.service.name and error.span == effect.site.span:
                    self.settle("timeout", key, error_data(error))
                raise

        return perform

    # --- what is not asked of services (see `runtime.ledger.Ledger`) -------------------------------------------------

    def recall(self, kind: str, key: str) -> Known | None:
        """What came out before; None if nothing is known."""
        found = self._found(f"{kind}:{key}")
        return Known(json.loads(found.result or "null")) if found is not None and found.final else None

    def settle(self, kind: str, key: str, value: Value) -> None:
        """Keep what came out."""
        if self.pen is not None:
            result = self.redactor().text(_encode(value))
            self.pen.put(Ended(self.run, Entry(f"{kind}:{key}", kind, state="value", result=result)))

    def decided(self, decision: Decision) -> None:
        """Keep how a condition fell, for whoever reads the record."""
        if self.pen is None:
            return
        clean = self.redactor()
        judge = None if decision.judge is None else clean.text(_encode(decision.judge))
        position = _encode([*decision.place.order, *decision.plan.site.order(decision.indices)])
        self.pen.put(
            Decided(
                self.run, decision.address, position, decision.plan.text, decision.layer, _encode(decision.outcome),
                clean.text(_shown(decision.values)), clean.text(decision.reason), judge,
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
        if self.pen is None:
            return
        self.pen.put(Finished(self.run, status, self.redactor().text(_encode(outcome)), time.time()))
        try:
            await self.pen.flushed()
        except StoreError as error:
            self.lost(error)

    # --- reading back ------------------------------------------------------------------------------------------------

    def _found(self, key: str) -> Entry | None:
        return None if self.reader is None else self.reader.find(key)

    def _known(self, effect: Effect, draft: Draft, found: Entry) -> Known | None:
        """What is known of a call. What earlier attempts of it used counts from now on as its own."""
        if found.fingerprint != draft.entry.fingerprint:
            if not self.accept:
                raise self._changed(effect, draft.entry, found)
            draft.anew = True
            return None
        usage = _usage_of(found.usage)
        if found.state == "error" and self.again and not self.frozen:
            draft.anew = True
        elif found.final:
            effect.recalled = True
            effect.made, effect.attempt = found.attempts, max(1, found.attempts)
            effect.seconds, effect.usage = found.seconds, usage
            skip = getattr(effect.service, "skip", None)
            if skip is not None:
                skip(effect)
            result = json.loads(found.result or "null")
            if found.state == "value":
                return Known(result)
            error = _placed(error_of(result, effect.service.name), effect)
            error.attempts, error.answer = effect.attempt, result.get("answer")
            raise error
        effect.made = found.attempts
        draft.before = usage
        if found.state in ("started", "cancelled") and getattr(effect.service, "metered", False):
            # It was under way, and nobody knows what it took, unless it costs nothing.
            cost = json.loads(found.reserved)[1] if found.reserved is not None else None
            draft.before = draft.before or Usage()
            draft.before.add(Usage(cost=0.0 if cost == 0 else None))
        return None

    def _nothing(self, effect: Effect, found: Entry | None) -> ServiceError:
        name = effect.service.name
        if found is None:
            why = f"the record has no call of `{name}` here"
        elif found.state == "waiting":
            why = f"the record ends here: `{name}` waits for an answer"
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
        accept = "" if self.frozen else "; --accept-changes makes the call anew"
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
                request["request"] = service.asked(effect).request.as_json()
        except (RunError, TooLarge, ValueError):
            return None
        told = effect.modifiers.as_json()
        request["inputs"] = {name: request["inputs"][name] for name in sorted(request["inputs"])}
        request |= {name: told[name] for name in ("retry", "backoff", "timeout") if name in told}
        text = self.redactor().text(_encode(request))
        digest = hashlib.blake2b(f"{service.name}\0{text}".encode(), digest_size=16).hexdigest()
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
        draft = Draft(Entry(key, effect.kind, service.name, digest, text, position=position, within=within))
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
            self._end(effect, draft, "error", data)
        elif error.code == "P411":
            self._end(effect, draft, "waiting", error_data(error))
        else:
            self._end(effect, draft, "cancelled", None)

    def _end(self, effect: Effect, draft: Draft, state: str, value: Any) -> None:
        if self.pen is None or not draft.begun:
            return
        text = _encode(value) if state != "cancelled" else None
        if text is not None:
            clean = self.redactor().text(text)
            if clean is not text and state == "value":
                state = "withheld"
            text = clean
        entry = draft.entry
        usage = None if effect.usage is None else _encode(_plain_usage(effect.usage))
        seconds = max(0.0, time.time() - entry.started)
        reserved = entry.reserved if state in ("cancelled", "waiting") else None
        ended = entry._replace(
            state=state, result=text, attempts=effect.made, usage=usage, seconds=seconds, reserved=reserved
        )
        self.pen.put(Ended(self.run, ended))

    async def _durably(self, change: Begun, effect: Effect) -> None:
        if self.pen is None:
            return
        self.pen.put(change)
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


def spent(entries: Iterable[Entry]) -> Iterator[Spent]:
    """What the calls of a run have used so far. Of what was under way the most that it may have taken counts (L34)."""
    for entry in entries:
        usage = _usage_of(entry.usage) or Usage()
        tokens, cost = usage.tokens_in + usage.tokens_out, usage.cost or 0.0
        if not entry.final and entry.reserved is not None:
            more, price = json.loads(entry.reserved)
            tokens, cost = tokens + more, cost + (price or 0.0)
        yield Spent(frozenset((*json.loads(entry.within), entry.service)), entry.attempts, tokens, cost)


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
    return [usage.tokens_in, usage.tokens_out, usage.cost]


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


def _shown(values: dict[str, Any]) -> str:
    """The values that a decision read; what is too large for a record is left out of it."""
    try:
        return _encode(values)
    except (RecursionError, ValueError):
        return _encode(dict.fromkeys(values, "(too large)"))


def _placed(error: RunError, effect: Effect) -> RunError:
    error.source, error.span = effect.site.source, effect.site.span
    return error
