"""Cache: answers of earlier calls are given again, and those of this run are kept for later ones. Off by default.

What is cached is what a model answered to a whole request, and what a function gave that says `cacheable`. Others may
have done something besides answering, and scripted services answer by their script.

An answer is found by service, model, canonical request and sample number. Calls of one run never share one: of several
that ask the same with one number (a block that calls itself, two lines alike) the first takes the first answer, the
second the second. So samples stay samples, a loop that tries again gets something else, and a program that is run
again meets the answers that it had. Two runs at the same moment both ask. A judge that is a model says the same of
the same question wherever it is put, so its questions have no sample number.

A hit is no attempt: it costs nothing, counts against no limit and waits for nobody. A model's answer is read again by
the contract that it has to keep now; where it does not, is damaged, or holds a secret, the call is made. Errors,
answers that broke their contract, and whatever held a secret are never kept.

A store that fails is told once, and the run goes on without the cache. Whoever carries calls elsewhere may leave
nothing of an answer but its value; then that is what is kept.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, TypeVar

from prose_lang.conditions.judge import read_answer, read_choice
from prose_lang.diagnostics import RunError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.handlers.dispatch import dispatch
from prose_lang.journal.port import Store, StoreError
from prose_lang.journal.records import Cached
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect, Usage
from prose_lang.services.answers import asked, plain
from prose_lang.services.models.completion import Reply
from prose_lang.services.models.request import Request
from prose_lang.values import TooLarge

_A = TypeVar("_A")
_B = TypeVar("_B")
Mode = Literal["read", "write", "both"]
#: Whether answers are taken from the cache, put into it, or both.
MODES: tuple[Mode, ...] = ("read", "write", "both")

#: Changes where answers that were kept mean something else from now on: then none is found.
_VERSION = "1"

_encode = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode


class _Slot(NamedTuple):
    """Where the answer of a call belongs, what was asked in JSON, and of a model the request made ready."""

    key: str
    request: str
    ready: Any


class Cache:
    """What one run takes from the cached answers of a store, and leaves there. `told` is told once why it ends."""

    def __init__(
        self, store: Store, mode: Mode, redactor: Callable[[], Redactor], told: Callable[[StoreError], None]
    ) -> None:
        self._store: Store | None = store
        self.reads = mode != "write"
        self.writes = mode != "read"
        self.redactor = redactor
        self.told = told
        self._taken: dict[bytes, int] = {}
        self._thread: ThreadPoolExecutor | None = None

    def wrap(self, inner: Perform) -> Perform:
        """A performer that asks only where there is no answer yet."""

        async def perform(effect: Effect) -> Any:
            slot = self._slot(effect)
            if slot is None:
                return await inner(effect)
            if self.reads:
                found = await self._found(slot, effect)
                if found is not None:
                    try:
                        return await _given(found, effect, slot.ready)
                    except (RunError, TypeError):  # it does not keep the contract of now
                        effect.memo = effect.usage = None
            listening = _Listening(effect) if self.writes and _is_model(effect) else None
            try:
                value = await inner(effect)
            finally:
                effect.completion = None
            if self.writes:
                await self._keep(slot, effect, value, listening)
            return value

        return perform

    def skip(self, effect: Effect) -> None:
        """A call was read back from elsewhere: the answer that it would have taken is no other call's."""
        self._slot(effect)

    # --- finding -----------------------------------------------------------------------------------------------------

    def _slot(self, effect: Effect) -> _Slot | None:
        """Where a call's answer belongs; None where it has none, or something secret is asked."""
        if self._store is None or not (_is_model(effect) or getattr(effect.service, "cacheable", False)):
            return None
        effect.memo, ready, effect.ready = None, effect.ready, None
        try:
            if _is_model(effect):
                service: Any = effect.service
                ready = ready or service.asked(effect)
            request = _request(effect, ready)
        except (RunError, TooLarge, ValueError):  # the call will fail for the same reason
            return None
        text = _encode(request)
        if self.redactor().text(text) is not text:
            return None
        name = effect.service.name
        if effect.kind == "ask" and _is_model(effect):
            numbers = f"ask.{effect.turn}"
        else:
            alike = blake2b(f"{name}\0{effect.sample}\0{text}".encode(), digest_size=16).digest()
            before = self._taken.get(alike, 0)
            self._taken[alike] = before + 1
            numbers = f"{effect.sample}.{before}"
        key = blake2b(f"{_VERSION}\0{name}\0{numbers}\0{text}".encode(), digest_size=20).hexdigest()
        return _Slot(key, text, ready)

    async def _found(self, slot: _Slot, effect: Effect) -> dict[str, Any] | None:
        """What is kept of an answer; None where there is nothing that may be used."""
        assert self._store is not None
        try:
            cached = await self._aside(self._store.cached, slot.key)
        except StoreError as error:
            self._lost(error)
            return None
        if cached is None or cached.request != slot.request:
            return None
        if self.redactor().text(cached.result) is not cached.result:
            return None
        try:
            found = json.loads(cached.result)
        except ValueError:
            return None
        if not isinstance(found, dict) or not ("reply" in found or "value" in found):
            return None
        if found.get("run") == effect.place.run.run_id and found.get("address") != effect.address:
            return None  # another call of this run had it, in an earlier session
        return found

    # --- keeping -----------------------------------------------------------------------------------------------------

    async def _keep(self, slot: _Slot, effect: Effect, value: Any, listening: _Listening | None) -> None:
        """Keep an answer before anything depends on it."""
        store = self._store
        if store is None or not _is_usable(effect, value):
            return
        reply = listening.reply if listening is not None else None
        try:
            kept = {"value": plain(value)} if reply is None else {"reply": _reply_data(reply)}
        except TooLarge:
            return
        result = _encode({**kept, "run": effect.place.run.run_id, "address": effect.address})
        if self.redactor().text(result) is not result:
            return
        used = effect.usage
        usage = None if used is None else _encode([used.tokens_in, used.tokens_out, used.cost])
        try:
            await self._aside(
                store.put_cached, Cached(slot.key, effect.service.name, slot.request, result, usage, time.time())
            )
        except StoreError as error:
            self._lost(error)

    def _aside(self, work: Callable[[_A], _B], given: _A) -> Awaitable[_B]:
        """Have the store do something without holding up the loop. One thread does it all, in order: so of calls that
        start together the first gets its answer first, run after run."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "prose-cache")
        return asyncio.get_running_loop().run_in_executor(self._thread, work, given)

    def close(self) -> None:
        """The run is over."""
        if self._thread is not None:
            self._thread.shutdown(wait=False)

    def _lost(self, error: StoreError) -> None:
        if self._store is not None:
            self._store = None
            self.told(error)


class _Kept:
    """Answers the one request of a call with the reply that is kept; the text is told in one piece."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply

    async def complete(self, request: Request, seconds: float) -> Reply:
        """See `Completion`."""
        return self.reply

    async def stream(self, request: Request, seconds: float, tell: Callable[[str], None]) -> Reply:
        """See `Streaming`."""
        if self.reply.text:
            tell(self.reply.text)
        return self.reply


class _Listening:
    """Passes requests of a call on to where they would have gone, and remembers the latest reply."""

    def __init__(self, effect: Effect) -> None:
        self.effect = effect
        self.reply: Reply | None = None
        effect.completion = self

    async def complete(self, request: Request, seconds: float) -> Reply:
        """See `Completion`."""
        return self._heard(await self._inner(request).complete(request, seconds))

    async def stream(self, request: Request, seconds: float, tell: Callable[[str], None]) -> Reply:
        """See `Streaming`. What a completion that cannot stream answers is told to nobody."""
        inner = self._inner(request)
        stream = getattr(inner, "stream", None)
        asking = inner.complete(request, seconds) if stream is None else stream(request, seconds, tell)
        return self._heard(await asking)

    def _inner(self, request: Request) -> Any:
        service: Any = self.effect.service
        return service.models.completion_of(request.model)

    def _heard(self, reply: Reply) -> Reply:
        self.reply = reply
        return reply


async def _given(found: dict[str, Any], effect: Effect, ready: Any) -> Any:
    """The value of an answer that was kept. Raises RunError where it does not keep its contract."""
    if "reply" not in found:
        value = found["value"]
        effect.model = None if ready is None else ready.request.model
    else:
        effect.completion, effect.ready = _Kept(Reply(**found["reply"])), ready
        try:
            value = await dispatch(effect)
        finally:
            effect.completion = None
    effect.cached = True
    effect.usage = Usage(cached=1)
    return value


def _request(effect: Effect, ready: Any) -> dict[str, Any]:
    """All that an answer depends on."""
    service: Any = effect.service
    outputs = [item.name for item in service.signature.outputs or ()]
    if not _is_model(effect):
        return {**asked(effect), "outputs": outputs, "of": str(service.cacheable)}
    request: dict[str, Any] = ready.request.as_json()
    # Another server under one provider's name is another model.
    address = service.models.settings.provider(ready.request.model).base_url
    return {**request, "address": address, "outputs": outputs, "unwrap": ready.contract.unwrap}


def _is_model(effect: Effect) -> bool:
    return bool(getattr(effect.service, "metered", False))


def _is_usable(effect: Effect, value: Any) -> bool:
    """Whether a judge's answer is one: what is none is asked for again, next time too."""
    if effect.kind != "ask":
        return True
    labels = effect.inputs.get("options")
    return (read_answer(value) if labels is None else read_choice(value, labels)) is not None


def _reply_data(reply: Reply) -> dict[str, Any]:
    return {
        "text": reply.text, "finish": reply.finish, "tokens_in": reply.tokens_in, "tokens_out": reply.tokens_out
    }  # fmt: skip
