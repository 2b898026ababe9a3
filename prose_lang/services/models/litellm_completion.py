"""Requests through litellm: the only module that knows it. It takes seconds to import, and is imported at first use.

litellm never tries again by itself here (its retries are off: there is one owner of retries), fetches no price table,
and reports to nobody. Its errors become ours by their status; no key and none of its objects leave this module.
"""

from __future__ import annotations

import asyncio
import functools
import os
import warnings
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.services.models.completion import Reply
from prose_lang.services.models.gathering import gathered
from prose_lang.services.models.keys import Keys
from prose_lang.services.models.request import Request
from prose_lang.services.models.schema import is_closed
from prose_lang.services.models.settings import ModelSettings

#: Statuses that may pass; everything else an answer says about itself stays true however often one asks.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_LONGEST_REASON = 500
_FORMAT_WORDS = ("response_format", "json_schema", "response format")
_STREAM_WORDS = ("stream_options", "streaming", "`stream`", "'stream'", '"stream"')


class ProviderError(Exception):
    """What a provider or litellm said, without keys: the cause of the error that the run sees."""


class LitellmCompletion:
    """The completion of engines, unless they are given another."""

    def __init__(self, settings: ModelSettings, keys: Keys) -> None:
        self.settings = settings
        self.keys = keys
        self._without_format: set[str] = set()  # models whose provider refused `response_format`
        self._without_stream: set[str] = set()  # and those whose provider does not stream

    async def complete(self, request: Request, seconds: float) -> Reply:
        """One request. See `Completion`."""
        return await self._ask(request, seconds, None)

    async def stream(self, request: Request, seconds: float, tell: Callable[[str], None]) -> Reply:
        """One request whose text is told while it comes. See `Streaming`."""
        return await self._ask(request, seconds, None if request.model in self._without_stream else tell)

    async def _ask(self, request: Request, seconds: float, tell: Callable[[str], None] | None) -> Reply:
        litellm = load_litellm()
        options = self._options(request)
        if tell is not None:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        fault: RunError
        opened = False
        try:
            async with asyncio.timeout(seconds):
                found = await litellm.acompletion(timeout=seconds, **options)
                if tell is None:
                    return _reply(found)
                opened = True
                return await gathered(found, tell, _tokens)
        except TimeoutError:
            fault = ServiceError("P408", f"`{request.model}` did not answer within {seconds:g} s")
            fault.transient = True
        except asyncio.CancelledError:
            raise
        except Exception as error:
            # A stream wraps what went wrong with it.
            error = getattr(error, "original_exception", None) or error
            if "response_format" in options and _refuses(error, _FORMAT_WORDS):
                self._without_format.add(request.model)
                fault = _at_once(f"`{request.model}` takes no JSON schema")
            elif tell is not None and (_refuses(error, _STREAM_WORDS) or getattr(error, "silent", False)):
                self._without_stream.add(request.model)
                fault = _at_once(f"`{request.model}` cannot stream")
                fault.uncharged = not opened
            else:
                fault = self._fault(request.model, error, options.get("api_key"))
                if opened:  # it had begun to answer
                    fault.uncharged = False
        # Raised out here: inside the handler litellm's own error would hang on it as its context, keys and all.
        raise fault from fault.__cause__

    def _options(self, request: Request) -> dict[str, Any]:
        options: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": message.role, "content": message.text} for message in request.messages],
            **request.parameters,
            "max_retries": 0,
            "num_retries": 0,
            "no-log": True,
        }
        key = self.keys.key(request.model, missing_keys)
        if key is not None:
            options["api_key"] = key
        base_url = self.settings.provider(request.model).base_url
        if base_url is not None:
            options["api_base"] = base_url
        if request.schema is not None and request.model not in self._without_format and _takes_format(request.model):
            shape = {"name": "answer", "schema": request.schema, "strict": is_closed(request.schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": shape}
        return options

    def _fault(self, model: str, error: Exception, key: str | None) -> RunError:
        """litellm's error as ours. Its text may hold the key (providers like to repeat it), so it is redacted first."""
        environment = Redactor.from_environment(self.keys.environ)
        secret = Redactor([*self.keys.secrets, *([key] if key else [])])
        said = secret.text(environment.text(_said(error)))
        reason = said if len(said) <= _LONGEST_REASON else said[:_LONGEST_REASON] + "…"
        status = getattr(error, "status_code", None)
        status = status if isinstance(status, int) else None
        response = getattr(error, "response", None)
        answered = getattr(error, "litellm_response_headers", None) is not None
        made: RunError
        if status in (401, 403):
            named = " or ".join(self.key_names(model)) or "the key"
            made = RunError(
                "P410", f"the provider of `{model}` refused the key ({status}): {reason}", hint=f"check {named}"
            )
        elif _is_timeout(error):
            made = ServiceError("P408", f"`{model}` did not answer in time: {reason}")
            made.transient = True
        else:
            made = _failed(f"`{model}` failed{f' ({status})' if answered and status else ''}: {reason}", status)
            made.transient = status is None or status in _PASSING
            made.permanent = not made.transient
            made.retry_after = _retry_after(response)
            made.uncharged = answered
            if type(error).__name__ == "ContextWindowExceededError":
                made.overflow = True
                made.hint = "send less, or choose a model that takes more"
        made.__cause__ = ProviderError(f"{type(error).__name__}: {said}")
        return made

    def key_names(self, model: str) -> Sequence[str]:
        """The variables in which a model's key is looked for."""
        configured = self.settings.provider(model).key
        return (configured,) if configured else needed_keys(model)

    async def release(self) -> None:
        """Close the connections that the running event loop opened: the loop is about to end."""
        await _close_clients()


def _failed(message: str, status: int | None) -> ServiceError:
    return ServiceError("P406", message)


def _at_once(message: str) -> ServiceError:
    """A refusal of a part of the request that the next request leaves out."""
    fault = ServiceError("P406", message)
    fault.transient, fault.retry_after, fault.uncharged = True, 0.0, True
    return fault


# --- litellm ---------------------------------------------------------------------------------------------------------


@functools.cache
def load_litellm() -> Any:
    """litellm, imported. Raises RunError P410 if it is not installed."""
    # Before the import: it would fetch its price table from the network.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm
    except ImportError as error:
        raise RunError("P410", f"models are called through litellm, which cannot be imported: {error}") from None
    litellm.telemetry = False
    litellm.suppress_debug_info = True  # it prints advertisements to standard output
    # It makes its request in a thread, and drops it unasked where the call is cancelled meanwhile: nobody's fault.
    warnings.filterwarnings("ignore", r"coroutine '\w+\.acompletion' was never awaited", RuntimeWarning)
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    return litellm


@functools.cache
def check_provider(model: str) -> None:
    """Raise RunError P410 if litellm knows no such provider."""
    try:
        load_litellm().get_llm_provider(model)
    except RunError:
        raise
    except Exception:
        provider = model.partition("/")[0]
        hint = "a server of your own that speaks the OpenAI API is openai/MODEL, with a base_url in the settings"
        fault = RunError("P410", f"`{model}` cannot be reached: there is no provider `{provider}`", hint=hint)
    else:
        return
    raise fault


def missing_keys(model: str) -> Sequence[str]:
    """The variables that a model's provider needs and the environment does not have."""
    found = load_litellm().validate_environment(model)
    return [] if found.get("keys_in_environment") else sorted(found.get("missing_keys", ()))


@functools.cache
def needed_keys(model: str) -> Sequence[str]:
    """The variables that a model's provider needs."""
    return (f"{model.partition('/')[0].upper()}_API_KEY",)


@functools.cache
def _takes_format(model: str) -> bool:
    """Whether a provider is known to take `response_format`. One of the user's own may refuse it: see `complete`."""
    provider, _, name = model.partition("/")
    try:
        found = load_litellm().get_supported_openai_params(model=name, custom_llm_provider=provider)
    except Exception:  # an unknown provider
        return False
    return "response_format" in (found or ())


def _reply(found: Any) -> Reply:
    choices = getattr(found, "choices", None) or []
    if not choices:
        fault = _failed("the provider's answer holds no choice", None)
        fault.transient = True
        raise fault
    message = choices[0].message
    tokens_in, tokens_out = _tokens(getattr(found, "usage", None))
    return Reply(
        text=message.content if isinstance(message.content, str) else None,
        refusal=getattr(message, "refusal", None) or None,
        finish=choices[0].finish_reason or "stop",
        tokens_in=tokens_in,
        tokens_out=tokens_out,
    )


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    tokens_in, tokens_out = (_count(getattr(usage, name, None)) for name in ("prompt_tokens", "completion_tokens"))
    if not tokens_in or tokens_out is None:
        # Every request has input tokens: 0 is what litellm puts where none are told.
        return None, None
    return tokens_in, tokens_out


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _said(error: Exception) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    head, mark, rest = text.partition("Exception - ")
    text = rest if mark and head.startswith("litellm.") else text
    # What follows is a stack of litellm's own.
    return text.partition(" Traceback (most recent call last)")[0] or type(error).__name__


def _is_timeout(error: Exception) -> bool:
    return type(error).__name__ in ("Timeout", "APITimeoutError")


def _refuses(error: Exception, words: Sequence[str]) -> bool:
    """Whether a provider says that it does not know a part of the request."""
    text = str(error).lower()
    return getattr(error, "status_code", None) in (400, 422) and any(word in text for word in words)


def _retry_after(response: Any) -> float | None:
    """What the Retry-After header says, in seconds. A date is measured against the date of the response itself."""
    try:
        headers = response.headers
        said = headers["retry-after"]
        if said[:1].isdigit():
            seconds = float(said)
        else:
            seconds = max(0.0, (parsedate_to_datetime(said) - parsedate_to_datetime(headers["date"])).total_seconds())
    except Exception:  # no response, no header, or one that says nothing
        return None
    return seconds if 0 <= seconds < float("inf") else None


async def _close_clients() -> None:
    """Close what litellm keeps for this loop. It never does so itself, and a closed loop leaves its sockets open."""
    import sys

    litellm = sys.modules.get("litellm")
    cache = getattr(litellm, "in_memory_llm_clients_cache", None)
    kept = getattr(cache, "cache_dict", None)
    if not isinstance(kept, dict):
        return
    try:
        from litellm.caching.evicted_client_closer import running_loop_token

        mark = f"-{running_loop_token()}"
    except ImportError:
        mark = f"-{id(asyncio.get_running_loop())}"
    for name in [name for name in kept if isinstance(name, str) and name.endswith(mark)]:
        client = kept.pop(name)
        getattr(cache, "ttl_dict", {}).pop(name, None)
        close = getattr(client, "close", None) or getattr(client, "aclose", None)
        try:
            closing: Any = close() if close is not None else None
            if hasattr(closing, "__await__"):
                await closing
        except Exception:  # closing is a courtesy
            continue
