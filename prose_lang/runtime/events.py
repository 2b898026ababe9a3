"""Events: what observers are told (progress, trace, telemetry). Frozen; they cannot alter or break a run."""

from __future__ import annotations

from typing import Any, TypeAlias

import attrs

from prose_lang.runtime.effects import Effect
from prose_lang.values import TooLarge, Value, handout


def copied(value: Value) -> Value:
    """A copy that an observer may change as it likes; of a value too large for one, a text that says so."""
    try:
        return handout(value)
    except TooLarge as error:
        return f"({error})"


@attrs.frozen
class CallStarted:
    """A call, or a question to the judge, begins."""

    _effect: Effect

    @property
    def kind(self) -> str:
        """`call` or `ask`."""
        return self._effect.kind

    @property
    def address(self) -> str:
        return self._effect.address

    @property
    def service(self) -> str:
        return self._effect.service.name

    @property
    def inputs(self) -> dict[str, Any]:
        """What was sent, in a copy."""
        return {name: copied(value) for name, value in self._effect.inputs.items()}

    @property
    def number(self) -> int:
        """The start order within the run, from 1."""
        return self._effect.number


@attrs.frozen
class CallFinished(CallStarted):
    """It ended: `value` is what it gave, or `error` what went wrong."""

    @property
    def value(self) -> Any:
        """What came back, in a copy; None if nothing did."""
        return copied(self._effect.value)

    @property
    def error(self) -> BaseException | None:
        return self._effect.error

    @property
    def attempts(self) -> int:
        return 0 if self.cached else self._effect.attempt

    @property
    def cached(self) -> bool:
        """Whether the answer came from the cache: then no attempt was made."""
        return self._effect.cached

    @property
    def seconds(self) -> float:
        """How long it took, all attempts and waits included."""
        return self._effect.seconds

    @property
    def usage(self) -> dict[str, Any] | None:
        """What the service said it used, if it did."""
        return self._effect.usage.as_json() if self._effect.usage is not None else None

    @property
    def heard(self) -> str | None:
        """What had come of an answer when it failed."""
        return self._effect.heard

    @property
    def recalled(self) -> bool:
        """Whether it was read back from the record of a run that is gone on with, and not made."""
        return self._effect.recalled


@attrs.frozen
class TextDelta:
    """A piece of an answer that is on its way, where the engine streams. All pieces of a request make its text.

    `number` is that of the call (`CallStarted.number`), `request` counts its requests from 1: the text begins anew with
    each. A text from the cache comes in one piece, and its `request` is 0. Whether it is an answer that can be used is
    known when the call has finished, and not before.
    """

    number: int
    address: str
    service: str
    request: int
    text: str


@attrs.frozen
class Decided:
    """A condition or choice was decided; `outcome` is a truth value or a label. `judge` is there where a
    model decided: its name, the version of what it is asked, and whether it had answered the same before."""

    address: str
    text: str
    layer: str
    outcome: Any
    values: dict[str, Any]
    reason: str
    judge: dict[str, Any] | None = None


@attrs.frozen
class Warned:
    """A warning event (L13): under `--strict` it would have been the error `code`."""

    code: str
    message: str
    file: str
    line: int


@attrs.frozen
class Noted:
    """Something else worth a line in the trace: `loop-max`, `caught`, `inherited`, `observer-failed`."""

    what: str
    prefix: str
    indices: tuple[int, ...]
    detail: Any


Event: TypeAlias = CallStarted | CallFinished | TextDelta | Decided | Warned | Noted
