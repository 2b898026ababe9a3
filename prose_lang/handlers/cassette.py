"""Cassette: records what services answer, or answers from a recording in their place.

    a model             each request as it would leave, and the reply as it came: what is made of a reply happens again
    any other service   inputs and what the service is told besides; the value it returned, or what it raised
    a scripted one      passes by: a script is a recording already, and its replies are counted

So a replay needs no key, no network, no command and no function to do its work, only the same command line. Under
replay nothing is ever asked: a request that the cassette does not have is P409, whoever would have answered it.

A call that was cut off while it was recorded (it lost a race, or its time was up) stands in the cassette as that.
Replayed it is silent until it is cut off again; should nobody do that it is P409 too.

Everything that is written passes the redactor first; so does what is looked up, so that requests with and without a
secret meet.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from prose_lang.cassettes import Part, Take
from prose_lang.cassettes.nearest import difference
from prose_lang.diagnostics import ProseError, RunError, ServiceError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect, Service, Usage
from prose_lang.services.answers import asked, failure_data, failure_of, plain, reply_data, reply_of
from prose_lang.services.models.completion import Reply
from prose_lang.services.models.request import Request
from prose_lang.values import NotAValue, intake

#: Errors that say something about this machine or this run, and nothing about the service: they are no answers.
_NO_ANSWERS = frozenset({"P202", "P405", "P409", "P410", "P501", "P504"})
#: Seconds that a replayed call which was cut off is silent beyond those that it was recorded with.
_PATIENCE = 2.0


class SkippingClock:
    """A clock on which pauses take no time: a replay need not wait for anybody."""

    def __init__(self) -> None:
        self._time = asyncio.get_running_loop().time
        self._skipped = 0.0

    def now(self) -> float:
        return self._time() + self._skipped

    async def sleep(self, seconds: float) -> None:
        self._skipped += seconds
        await asyncio.sleep(0)


def recorded(inner: Perform, part: Part, redactor: Callable[[], Redactor]) -> Perform:
    """Wrap the performer that calls services. `redactor` is asked each time: keys become known as they are used."""

    async def perform(effect: Effect) -> Any:
        service = effect.service
        if not getattr(service, "recordable", True):
            return await inner(effect)
        effect.service = _Taped(service, part, redactor)  # whoever is further in sees this one
        try:
            return await inner(effect)
        finally:
            effect.service, effect.completion = service, None

    return perform if part.replays or part.records else inner


class _Taped:
    """A service that is recorded or replayed. It stands in for the service during one attempt."""

    composite = False

    def __init__(self, service: Service, part: Part, redactor: Callable[[], Redactor]) -> None:
        self.service = service
        self.name = service.name
        self.signature = service.signature
        self.part = part
        self.redactor = redactor

    def invoke(self, effect: Effect) -> Awaitable[Any]:
        if getattr(self.service, "metered", False):
            effect.completion = _TapedCompletion(self, effect, effect.completion)
            return self.service.invoke(effect)
        request = asked(effect)
        if self.part.replays:
            return self.replay(effect, request, _value_of)
        return self.record(effect, request, lambda: self.service.invoke(effect), _as_value)

    # --- recording ---------------------------------------------------------------------------------------------------

    async def record(
        self,
        effect: Effect,
        request: dict[str, Any],
        ask: Callable[[], Awaitable[Any]],
        written: Callable[[Any, Effect], tuple[Any, dict[str, Any]]],
    ) -> Any:
        number, began = self.part.number(), time.monotonic()

        def keep(answer: dict[str, Any]) -> None:
            clean = self.redactor()
            take = Take(
                self.part.recording, self.part.name, number, effect.address, clean.text(self.name),
                clean.value(request), clean.value(answer), round(time.monotonic() - began, 3),
            )  # fmt: skip
            try:
                self.part.cassette.append(take)
            except ProseError as error:
                raise RunError(error.code, error.message, hint=error.hint) from None

        try:
            found = await ask()
        except asyncio.CancelledError:
            keep({"cancelled": True})
            raise
        except RunError as error:
            if error.code not in _NO_ANSWERS:
                keep({"error": failure_data(error), **_usage(effect)})
            raise
        except Exception as error:
            keep({"error": failure_data(error), **_usage(effect)})
            raise
        found, answer = written(found, effect)
        keep(answer)
        return found

    # --- replaying ---------------------------------------------------------------------------------------------------

    async def replay(
        self, effect: Effect, request: dict[str, Any], read: Callable[[dict[str, Any], Effect], Any]
    ) -> Any:
        clean = self.redactor()
        request = clean.value(request)
        found = self.part.next(clean.text(self.name), request)
        if not isinstance(found, Take):
            raise self.missing(found.used, found.near, request)
        answer = found.answer
        if "cancelled" in answer:
            await asyncio.sleep(found.seconds + _PATIENCE)
            raise ServiceError(
                "P409", f"`{self.name}`: the call was cut off when it was recorded, and nothing cuts it off now",
                service=self.name, hint="record it again: --cassette-mode record",
            )  # fmt: skip
        usage = answer.get("usage")
        if isinstance(usage, dict):
            effect.usage = Usage(0, usage.get("tokens_in", 0), usage.get("tokens_out", 0), usage.get("cost"))
        if "error" in answer:
            raise failure_of(answer["error"], self.name)
        try:
            return read(answer, effect)
        except (KeyError, TypeError):
            message = f"`{self.name}`: the cassette `{self.part.cassette.path}` holds no answer that can be read"
            raise ServiceError("P409", message, service=self.name, hint=f"the take of {found.address}") from None

    def missing(self, used: int, near: Take | None, request: dict[str, Any]) -> ServiceError:
        where = f"`{self.name}`: the replay has no answer"
        again = "record it again: --cassette-mode record"
        if used:
            times = "once" if used == 1 else f"{used:,} times"
            return ServiceError(
                "P409", f"{where} to this request: it was recorded {times}, and is made once more",
                service=self.name, hint=again,
            )  # fmt: skip
        if near is None:
            return ServiceError("P409", f"{where}: the cassette is empty", service=self.name, hint=again)
        lines = difference(near, self.name, request)
        whose = "" if near.service == self.name else f" (of `{near.service}`)"
        what = f"{again}\nthe nearest request{whose} that was recorded (-) and this one (+):"
        return ServiceError(
            "P409", f"{where} to this request", service=self.name,
            hint="\n".join([what, *(lines or ["they look alike: they differ where they are cut off here"])]),
        )  # fmt: skip


class _TapedCompletion:
    """Answers the requests of one attempt of a model. A replay tells the text to whoever listens in one piece.

    `below` is what asks if it is not the service's own completion.
    """

    def __init__(self, taped: _Taped, effect: Effect, below: Any) -> None:
        self.taped = taped
        self.effect = effect
        self.below = below

    async def complete(self, request: Request, seconds: float) -> Reply:
        """See `Completion`."""
        return await self._answer(request, seconds, None)

    async def stream(self, request: Request, seconds: float, tell: Callable[[str], None]) -> Reply:
        """See `Streaming`. What a completion that cannot stream answers is told to nobody."""
        return await self._answer(request, seconds, tell)

    async def _answer(self, request: Request, seconds: float, tell: Callable[[str], None] | None) -> Reply:
        taped, effect = self.taped, self.effect
        reply: Reply
        if taped.part.replays:
            reply = await taped.replay(effect, request.as_json(), _reply_of)
            if tell is not None and reply.text:
                tell(reply.text)
            return reply
        service: Any = taped.service

        async def ask() -> Reply:
            inner = self.below or service.models.completion_of(request.model)
            stream = getattr(inner, "stream", None) if tell is not None else None
            asking = inner.complete(request, seconds) if stream is None else stream(request, seconds, tell)
            found: Reply = await asking
            return found

        replied: Reply = await taped.record(effect, request.as_json(), ask, _as_reply)
        return replied


# --- answers as plain data ------------------------------------------------------------------------------


def _as_value(found: Any, effect: Effect) -> tuple[Any, dict[str, Any]]:
    try:
        value = intake(found)
    except NotAValue as error:  # the caller will find that too
        message = f"`{effect.service.name}` returned what is not a value: {error}"
        return found, {"error": {"code": "P305", "message": message}, **_usage(effect)}
    return value, {"value": plain(value), **_usage(effect)}


def _value_of(answer: dict[str, Any], effect: Effect) -> Any:
    return answer["value"]


def _as_reply(reply: Any, effect: Effect) -> tuple[Any, dict[str, Any]]:
    return reply, reply_data(reply)


def _reply_of(answer: dict[str, Any], effect: Effect) -> Reply:
    return reply_of(answer)


def _usage(effect: Effect) -> dict[str, Any]:
    usage = None if getattr(effect.service, "metered", False) or effect.completion is not None else effect.usage
    if usage is None:
        return {}
    return {"usage": {"tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out, "cost": usage.cost}}
