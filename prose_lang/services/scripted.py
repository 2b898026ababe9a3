"""Services that answer what a script says, in the order in which their calls start."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Sequence
from typing import Any

from prose_lang.diagnostics import ServiceError, WaitingError
from prose_lang.runtime.effects import Effect, Usage
from prose_lang.semantics.signature import Signature
from prose_lang.services.script import Reply, Script
from prose_lang.values import equal, to_json

_INPUTS_SHOWN = 200
#: The modifiers that are for the service, and not about how it is called (L32).
_TOLD_MODIFIERS = frozenset({"prompt", "model", "context"})


class ScriptedService:
    """A service of a script. Which replies are used belongs to one run: the engine takes `for_run()` at its start.

    An attempt takes the first unused reply that fits its inputs, when it starts: `when` fits if all its names are
    equal, null being the same as absent (L32); a name that is no input of the call may be its `model`, `prompt` or
    `context`. Where none is left the call fails with P409.
    """

    __slots__ = ("_calls", "_left", "name", "replies")

    composite = False
    metered = False
    recordable = False  # a script is a recording already
    #: It takes whatever is sent to it.
    signature = Signature(open=True, positional=False)

    def __init__(self, name: str, replies: Sequence[Reply]) -> None:
        self.name = name
        self.replies = tuple(replies)
        self._left = deque(self.replies)  # taking the first of many is cheap, and it nearly always is the first
        self._calls = 0

    def for_run(self) -> ScriptedService:
        """The same service with all its replies unused."""
        return ScriptedService(self.name, self.replies)

    def unused(self) -> tuple[Reply, ...]:
        """The replies that no call has taken, without those that are never used up."""
        return tuple(reply for reply in self._left if not reply.lasting)

    def invoke(self, effect: Effect) -> Awaitable[Any]:
        # The reply is taken now and not when the result is awaited: calls are answered in the order they start.
        return self._answer(self._take(effect), effect)

    def _take(self, effect: Effect) -> Reply:
        self._calls += 1
        for position, reply in enumerate(self._left):
            if _fits(reply, effect):
                if not reply.lasting:
                    del self._left[position]
                return reply
        left = "no reply that fits is left" if self._left else "no reply is left"
        raise ServiceError(
            "P409", f"`{self.name}`: {left} for call {self._calls}, with {_shown(effect.inputs)}", service=self.name
        )

    def skip(self, effect: Effect) -> None:
        """Leave out the replies of a call that is read back from a record: each attempt took one (L35).

        It is the replies that gave what the record holds, where the script still has them, else the next that fit.
        """
        for attempt in range(1, effect.attempt + 1):
            self._calls += 1
            position = self._gave(effect, last=attempt == effect.attempt)
            if position is not None and not self._left[position].lasting:
                del self._left[position]

    def _gave(self, effect: Effect, *, last: bool) -> int | None:
        """The position of the reply that an attempt took."""
        first: int | None = None
        for position, reply in enumerate(self._left):
            if not _fits(reply, effect):
                continue
            if reply.outcome == ("returns" if last and effect.error is None else "raises") and (
                not last or effect.error is not None or equal(reply.value, effect.value)
            ):
                return position
            if first is None:
                first = position
        return first

    async def _answer(self, reply: Reply, effect: Effect) -> Any:
        if reply.delay:
            from asyncio import sleep

            await sleep(reply.delay)
        if reply.usage is not None:
            effect.usage = Usage(**reply.usage)
        match reply.outcome:
            case "returns":
                return reply.value
            case "raises":
                raise ServiceError("P406", reply.value, service=self.name, error_name=reply.error_name)
            case _:
                raise WaitingError("P411", reply.value, service=self.name)

    def __repr__(self) -> str:
        return f"ScriptedService({self.name!r})"


def scripted_services(script: Script) -> dict[str, ScriptedService]:
    """The services of a script, by name.

    >>> sorted(scripted_services(Script.from_data({"judge": {"always": {"holds": True}}})))
    ['judge']
    """
    return {name: ScriptedService(name, replies) for name, replies in script.replies.items()}


def _fits(reply: Reply, effect: Effect) -> bool:
    return all(equal(_told(effect, name), wanted) for name, wanted in reply.when.items())


def _told(effect: Effect, name: str) -> Any:
    """What a call told the service under a name: an input, or else what a service gets as a modifier."""
    if name in effect.inputs or name not in _TOLD_MODIFIERS:
        return effect.inputs.get(name)
    return getattr(effect.modifiers, name)


def _shown(inputs: dict[str, Any]) -> str:
    text = to_json(inputs)
    return text if len(text) <= _INPUTS_SHOWN else f"{text[:_INPUTS_SHOWN]}..."
