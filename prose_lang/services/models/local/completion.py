"""Requests to local models: a completion beside litellm's, for `local/NAME`.

A call that is cancelled, or takes longer than a request may, ends its generation: the engine is told before the next
token, or the next piece of the prompt, and the call is over when the engine is at rest. Waiting for the model's turn,
and loading it, is not the request's time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from prose_lang.diagnostics import ServiceError
from prose_lang.services.models.completion import Reply
from prose_lang.services.models.local.catalogue import LocalModel, local_model
from prose_lang.services.models.local.engine import Loaded, loaded
from prose_lang.services.models.request import Request

#: Parameters of a request that a local model knows.
_KNOWN = ("temperature", "top_p", "max_tokens", "seed", "stop", "presence_penalty", "frequency_penalty")


class LocalCompletion:
    """The completion of local models. `find` gives the model that is loaded, for tests."""

    def __init__(self, find: Callable[[LocalModel], Loaded] = loaded) -> None:
        self._find = find

    async def complete(self, request: Request, seconds: float) -> Reply:
        """One request. See `Completion`."""
        model = local_model(request.model)
        body = chat_body(request, model)
        one = self._find(model)
        loop = asyncio.get_running_loop()
        answer = _Answer()
        try:
            async with asyncio.timeout(None) as allowed:
                begun = False

                def begin() -> None:
                    if not answer.unwanted:
                        allowed.reschedule(loop.time() + seconds)

                def work() -> None:
                    nonlocal begun
                    begun = True
                    if answer.unwanted:
                        return
                    chat = one.chat()
                    loop.call_soon_threadsafe(begin)
                    if not answer.unwanted:
                        chat.handle_chat_completions(body, answer.told)

                job = one.threads.run(work)
                try:
                    await asyncio.shield(job)
                except asyncio.CancelledError:
                    answer.unwanted = True  # before anything else: the thread may begin at this moment
                    if begun:
                        await _at_rest(job)
                    else:
                        job.cancel()
                    raise
        except TimeoutError:
            raise ServiceError("P408", f"`{request.model}` did not answer within {seconds:g} s") from None
        except ValueError as error:  # how the engine refuses a request
            raise _refused(f"`{request.model}` cannot do this: {' '.join(str(error).split())}") from None
        return answer.reply(model)


async def _at_rest(job: asyncio.Future[Any]) -> None:
    """Wait until the thread is done with a job, however often the waiting is cancelled."""
    while not job.done():
        try:
            await asyncio.wait([job])
        except asyncio.CancelledError:
            continue
    job.exception()  # nobody asks what became of it


def chat_body(request: Request, model: LocalModel) -> Mapping[str, Any]:
    """The request in the engine's terms. Raises ServiceError P406 for a parameter that it does not know."""
    for name in request.parameters:
        if name not in _KNOWN:
            raise _refused(f"`{request.model}` has no parameter `{name}`")
    body: dict[str, Any] = {
        "messages": [{"role": message.role, "content": message.text} for message in request.messages],
        "max_tokens": model.most_out,
        **model.parameters,
        **request.parameters,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # a piece after each batch of the prompt: else it could not be ended in there
    }
    if request.schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": request.schema}}
    return body


class _Answer:
    """An answer as it comes, piece by piece, in the model's thread."""

    def __init__(self) -> None:
        self.unwanted = False
        self.pieces: list[str] = []
        self.finish = ""
        self.usage: Mapping[str, Any] = {}
        self.error: Mapping[str, Any] | None = None

    def told(self, piece: Any) -> bool:
        """Keep a piece; whether that is enough. An exception in here would be lost in the engine."""
        for part in piece if isinstance(piece, list) else [piece]:
            if not isinstance(part, dict):
                continue
            if "error" in part:
                self.error = part["error"] if isinstance(part["error"], dict) else {"message": str(part["error"])}
            self.usage = part.get("usage") or self.usage
            for choice in part.get("choices") or ():
                self.pieces.append((choice.get("delta") or {}).get("content") or "")
                self.finish = choice.get("finish_reason") or self.finish
        return self.unwanted

    def reply(self, model: LocalModel) -> Reply:
        """The whole answer. Raises ServiceError P406 for a request that was refused or an answer that broke off."""
        if self.error is not None:
            asked = self.error.get("n_prompt_tokens")
            if self.error.get("type") == "exceed_context_size_error" and isinstance(asked, int):
                fault = _refused(
                    f"the request has {asked:,} tokens, and `local/{model.name}` has room for {model.context:,},"
                    " its answer included"
                )
                fault.hint = "send less, or use a model with more room"
                raise fault
            raise _refused(f"`local/{model.name}` failed: {self.error.get('message', 'it does not say why')}")
        if not self.finish:
            raise ServiceError("P406", f"`local/{model.name}` ended its answer before it was complete")
        counts = [self.usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        tokens_in, tokens_out = (count if isinstance(count, int) else None for count in counts)
        return Reply("".join(self.pieces), finish=self.finish, tokens_in=tokens_in, tokens_out=tokens_out)


def _refused(message: str) -> ServiceError:
    """A refusal that stays true, before anything was generated."""
    fault = ServiceError("P406", message)
    fault.permanent = fault.uncharged = True
    return fault
