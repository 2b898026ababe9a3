"""Trace: the outermost handler. Records every call, decision and warning of a run, and tells the observers.

Observers get frozen events. One that raises is not asked again in this run, and the run goes on; its error is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias

from prose_lang.conditions import Decided as DecidedByRule
from prose_lang.handlers.clock import Clock
from prose_lang.runtime.activation import Activation, Perform
from prose_lang.runtime.effects import Effect, Usage
from prose_lang.runtime.events import CallFinished, CallStarted, Decided, Event, Noted, TextDelta, Warned, copied
from prose_lang.runtime.place import Place
from prose_lang.semantics import ConditionPlan

Observer = Callable[[Event], None]
#: Why a condition fell so: in words, as the rule's decision, or None for an expression.
Reason: TypeAlias = "str | DecidedByRule | None"


class Decision:
    """One decision of a condition or choice, and why."""

    __slots__ = ("_reason", "_values", "indices", "judge", "layer", "outcome", "place", "plan")

    def __init__(
        self,
        plan: ConditionPlan,
        place: Activation,
        layer: str,
        outcome: Any,
        values: Any,
        reason: Reason,
        judge: dict[str, Any] | None = None,
    ) -> None:
        self.plan = plan
        self.judge = judge
        self.place = place
        self.indices = place.indices
        self.layer = layer
        self.outcome = outcome
        self._values = values
        self._reason = reason

    @property
    def values(self) -> dict[str, Any]:
        """The values that were read, by the text that names them."""
        if isinstance(self._values, tuple):
            operands, values = self._values
            return {operand.text: value for operand, value in zip(operands, values, strict=True)}
        return dict(self._values)

    @property
    def reason(self) -> str:
        """Why it fell so, in words; worked out when it is read."""
        if self._reason is None:
            return f"the expression is {'true' if self.outcome else 'false'}"
        return self._reason if isinstance(self._reason, str) else self._reason.reason

    @property
    def address(self) -> str:
        return self.plan.site.address(self.place.prefix, self.indices)


class WarningEvent:
    """A warning event: what was said of a place, and how often."""

    __slots__ = ("code", "count", "message", "place")

    def __init__(self, code: str, message: str, place: Place) -> None:
        self.code = code
        self.message = message
        self.place = place
        self.count = 1


class Keeper(Protocol):
    """Whoever keeps decisions and warnings beyond the run (`journal_ledger.py`)."""

    def decided(self, decision: Decision) -> None: ...
    def warned(self, warning: WarningEvent) -> None: ...


class Recorder:
    """The trace of one run. With `keep` off nothing is stored but the sums; observers still see everything.

    With `stream` they are told the text of answers while it comes. A `keeper` is told every decision and warning.
    """

    keeper: Keeper | None = None

    def __init__(
        self, clock: Clock, observers: Sequence[Observer] = (), *, keep: bool = True, stream: bool = False
    ) -> None:
        self.clock = clock
        self.keep = keep
        self.stream = stream
        self.observers = list(observers)
        self.calls: list[Effect] = []
        self.decisions: list[Decision] = []
        self.warnings: dict[tuple[str, str, int], WarningEvent] = {}
        self.notes: list[Noted] = []
        self.usage = Usage()
        self.started = 0

    def wrap(self, inner: Perform) -> Perform:
        """A performer that records what it performs. Questions to the judge stand in `decisions`, not in `calls`."""
        now, usage = self.clock.now, self.usage

        async def perform(effect: Effect) -> Any:
            self.started += 1
            effect.number = self.started
            if self.keep and effect.kind == "call":
                self.calls.append(effect)
            effect.started = now()
            if self.observers:
                self.tell(CallStarted(effect))
                if self.stream:
                    effect.tell = partial(self.heard, effect)
            try:
                value = await inner(effect)
            except BaseException as error:
                effect.error = error
                raise
            else:
                effect.value = value
                return value
            finally:
                if not effect.recalled:
                    effect.seconds = now() - effect.started
                usage.calls += effect.made
                if effect.usage is not None:
                    usage.add(effect.usage)
                if self.observers:
                    self.tell(CallFinished(effect))

        return perform

    def heard(self, effect: Effect, text: str) -> None:
        """A piece of an answer has come."""
        self.tell(TextDelta(effect.number, effect.address, effect.service.name, effect.made, text))

    def decided(
        self,
        plan: ConditionPlan,
        place: Activation,
        layer: str,
        outcome: Any,
        values: Any,
        reason: Reason,
        judge: dict[str, Any] | None = None,
    ) -> None:
        """A condition was decided; `judge` tells the model that did, and what it was asked with."""
        decision = Decision(plan, place, layer, outcome, values, reason, judge)
        if self.keep:
            self.decisions.append(decision)
        if self.keeper is not None:
            self.keeper.decided(decision)
        if self.observers:
            values = {name: copied(value) for name, value in decision.values.items()}
            self.tell(Decided(decision.address, plan.text, layer, outcome, values, decision.reason, judge))

    def warned(self, place: Place, code: str, message: str) -> None:
        """A lenient access or the like; repeated ones at one place are counted."""
        key = (code, message, place.span.start)
        known = self.warnings.get(key)
        if known is not None:
            known.count += 1
            if self.keeper is not None and known.count.bit_count() == 1:  # repeated ones are not worth a line each
                self.keeper.warned(known)
            return
        warning = WarningEvent(code, message, place)
        if len(self.warnings) < 10_000:
            self.warnings[key] = warning
            if self.keeper is not None:
                self.keeper.warned(warning)
        if self.observers:
            self.tell(Warned(code, message, place.source.name, place.source.position(place.span.start).line))

    def noted(self, what: str, place: Activation, detail: Any) -> None:
        """Something else worth a line: a loop's `max` reached, an error caught, an input inherited."""
        note = Noted(what, place.prefix, place.indices, detail)
        if self.keep:
            self.notes.append(note)
        if self.observers:
            self.tell(note)

    def tell(self, event: Event) -> None:
        """Tell every observer."""
        for observer in tuple(self.observers):
            try:
                observer(event)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                self.observers.remove(observer)
                self.notes.append(Noted("observer-failed", "", (), f"{type(error).__name__}: {error}"))
