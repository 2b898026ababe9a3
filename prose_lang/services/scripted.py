"""Services that answer what a script says, in the order in which their calls start."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Mapping, Sequence
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

    __slots__ = ("_calls", "_kept", "_left", "name", "replies")

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
        self._kept: dict[str, Reply] = {}

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
        if self._kept and (kept := self._kept.pop(entry_key(effect), None)) is not None:
            return kept
        told = effect.modifiers.as_json()
        for position, reply in enumerate(self._left):
            if _fits(reply, effect.inputs, told):
                if not reply.lasting:
                    del self._left[position]
                return reply
        left = "no reply that fits is left" if self._left else "no reply is left"
        raise ServiceError(
            "P409", f"`{self.name}`: {left} for call {self._calls}, with {_shown(effect.inputs)}", service=self.name
        )

    def recall(self, key: str, asked: Mapping[str, Any], attempts: int, *, final: bool) -> None:
        """Take what a call took in an earlier session of its run, in the order in which calls began (L35).

        `asked` are its `inputs`, and the modifiers that the service was told. What a call took that had not ended is
        kept for it: it is made again, and others have begun since.
        """
        for attempt in range(1, attempts + 1):
            self._calls += 1
            position = next((at for at, reply in enumerate(self._left) if _fits(reply, asked["inputs"], asked)), None)
            if position is None:
                return
            reply = self._left[position]
            if not reply.lasting:
                del self._left[position]
            if not final and attempt == attempts:
                self._kept[key] = reply
                self._calls -= 1
            elif reply.outcome != "raises":
                return  # attempts of a process that was killed took replies that they have to share

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


def entry_key(effect: Effect) -> str:
    """What a call of a service that is no model is known by in the record of its run."""
    if effect.kind != "ask":
        return effect.address
    return f"ask:{effect.address}" + (f"#{effect.turn}" if effect.turn else "")


def _fits(reply: Reply, inputs: Mapping[str, Any], modifiers: Mapping[str, Any]) -> bool:
    return not reply.when or all(equal(_told(inputs, modifiers, name), wanted) for name, wanted in reply.when.items())


def _told(inputs: Mapping[str, Any], modifiers: Mapping[str, Any], name: str) -> Any:
    """What a call told the service under a name: an input, or else what a service gets as a modifier."""
    if name in inputs or name not in _TOLD_MODIFIERS:
        return inputs.get(name)
    return modifiers.get(name)


def _shown(inputs: dict[str, Any]) -> str:
    text = to_json(inputs)
    return text if len(text) <= _INPUTS_SHOWN else f"{text[:_INPUTS_SHOWN]}..."
