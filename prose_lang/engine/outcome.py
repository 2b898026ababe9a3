"""What a run came to: its value or error, and everything that happened on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from prose_lang.diagnostics import Diagnostic, LimitError, ProseError, RunError, WaitingError
from prose_lang.handlers import Recorder
from prose_lang.handlers.trace import Decision
from prose_lang.runtime.effects import Effect, Usage
from prose_lang.values import ServiceRef, TooLarge, Value, handout


@attrs.frozen
class CallRecord:
    """One call as it stands in the trace. `error` is None if it succeeded; `seconds` include all attempts; `recalled`
    tells that it was not made now, but read back from the record of a run that was gone on with; `cached` that its
    answer came from the cache, and no attempt was made."""

    address: str
    service: str
    inputs: dict[str, Value]
    modifiers: dict[str, Value]
    value: Value
    error: dict[str, Any] | None
    attempts: int
    seconds: float
    usage: dict[str, Any] | None
    recalled: bool = False
    cached: bool = False

    def as_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {
            "address": self.address,
            "service": self.service,
            "inputs": self.inputs,
            "modifiers": self.modifiers,
        }
        if self.error is None:
            plain["value"] = self.value
        else:
            plain["error"] = self.error
        plain |= {"attempts": self.attempts, "seconds": round(self.seconds, 6), "usage": self.usage}
        return {**plain, "cached": True} if self.cached else plain


@attrs.frozen
class DecisionRecord:
    """One decision (L30): the layer that decided, what it decided, what it read, and why.

    Of a decision of a model `judge` has its name (`model`), the version of what it is asked (`prompt`), and whether it
    had answered the same before in the run (`cached`).
    """

    address: str
    text: str
    layer: str
    holds: bool | str
    values: dict[str, Value]
    reason: str
    judge: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        plain = attrs.asdict(self, recurse=False)
        if self.judge is None:
            del plain["judge"]
        return plain


@attrs.frozen
class WarningRecord:
    """A warning event (L13): `count` times at this line."""

    code: str
    message: str
    file: str
    line: int
    count: int

    def as_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


@attrs.frozen(eq=False)
class Trace:
    """The record of a run: calls and decisions in program order, warnings in the order of their first occurrence."""

    calls: tuple[CallRecord, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()
    warnings: tuple[WarningRecord, ...] = ()


class Outcome:
    """The end of a run. `status` is ok, failed, invalid, limited, waiting or interrupted.

    >>> Outcome(run_id="r", status="ok", value={"result": "x"}).value["result"]
    'x'
    """

    __slots__ = (
        "_read_trace",
        "_recorder",
        "_trace",
        "diagnostics",
        "error",
        "run_id",
        "status",
        "uncached",
        "unrecorded",
        "usage",
        "value",
    )

    def __init__(
        self,
        run_id: str,
        status: str,
        value: Value = None,
        error: ProseError | None = None,
        diagnostics: tuple[Diagnostic, ...] = (),
        recorder: Recorder | None = None,
        *,
        usage: Usage | None = None,
        read_trace: Callable[[], Trace] | None = None,
    ) -> None:
        self.run_id = run_id
        self.status = status
        self.value = value
        self.error = error
        self.diagnostics = diagnostics
        self.usage = usage or (recorder.usage if recorder is not None else Usage())
        self._recorder = recorder
        self._read_trace = read_trace
        self._trace: Trace | None = None
        #: Why the run has no record, or one that breaks off, where it was to have one.
        self.unrecorded: ProseError | None = None
        #: Why the run's cache was given up, where it had one.
        self.uncached: ProseError | None = None

    @property
    def trace(self) -> Trace:
        """Calls and decisions in program order, and warnings; put together when first asked for."""
        if self._trace is None:
            if self._read_trace is not None:
                self._trace = self._read_trace()
            else:
                self._trace = trace_of(self._recorder) if self._recorder is not None else Trace()
            self._recorder = self._read_trace = None
        return self._trace

    def __repr__(self) -> str:
        return f"Outcome({self.run_id}, {self.status}, {self.value!r})"

    def as_json(self) -> dict[str, Any]:
        """The object that `prose run --json` prints."""
        return {
            "run_id": self.run_id,
            "status": self.status,
            "value": self.value,
            "error": self.error.as_json() if self.error is not None else None,
            "diagnostics": [item.as_json() for item in self.diagnostics],
            "calls": [call.as_json() for call in self.trace.calls],
            "decisions": [decision.as_json() for decision in self.trace.decisions],
            "warnings": [warning.as_json() for warning in self.trace.warnings],
            "usage": self.usage.as_json(),
        }


def status_of(error: ProseError) -> str:
    """The status of a run that ended in an error."""
    if isinstance(error, LimitError):
        return "limited"
    if isinstance(error, WaitingError):
        return "waiting"
    return "failed" if isinstance(error, RunError) else "invalid"


def trace_of(recorder: Recorder) -> Trace:
    """What a recorder kept, in program order (L35)."""
    made = [effect for effect in recorder.calls if effect.made or effect.cached]
    calls = sorted(made, key=lambda effect: (*effect.place.order, *effect.site.order(effect.indices)))
    decisions = [
        decision_record(item)
        for item in sorted(
            recorder.decisions, key=lambda item: (*item.place.order, *item.plan.site.order(item.indices))
        )
    ]
    warnings = [
        WarningRecord(
            item.code,
            item.message,
            item.place.source.name,
            item.place.source.position(item.place.span.start).line,
            item.count,
        )
        for item in recorder.warnings.values()
    ]
    return Trace(tuple(map(_record, calls)), tuple(decisions), tuple(warnings))


def decision_record(item: Decision) -> DecisionRecord:
    """A decision as it stands in the trace."""
    return DecisionRecord(
        item.address,
        item.plan.text,
        item.layer,
        item.outcome,
        {name: _shown(value) for name, value in item.values.items()},
        item.reason,
        item.judge,
    )


def _record(effect: Effect) -> CallRecord:
    return CallRecord(
        effect.address,
        effect.service.name,
        {name: _shown(value) for name, value in effect.inputs.items()},
        {name: _shown(value) for name, value in effect.modifiers.as_json().items()},
        _shown(effect.value),
        _error(effect.error, effect.heard),
        effect.made,
        effect.seconds,
        effect.usage.as_json() if effect.usage is not None else None,
        effect.recalled,
        effect.cached,
    )


def _error(error: BaseException | None, heard: str | None) -> dict[str, Any] | None:
    if error is None:
        return None
    if not isinstance(error, ProseError):
        plain: dict[str, Any] = {"code": None, "name": "cancelled", "message": "the call was cancelled"}
    else:
        plain = {"code": error.code, "name": error.name, "message": error.message}
    answer = getattr(error, "answer", None)
    if answer is None:
        answer = heard
    if answer is not None:  # what a model said that broke its contract (L33), or before it broke off
        plain["answer"] = answer
    return plain


def _shown(value: Value) -> Value:
    if isinstance(value, ServiceRef):
        return str(value)
    try:
        return handout(value)
    except TooLarge as error:
        return f"({error})"
