"""Putting an answer together that comes piece by piece: the same `Reply` as if it had come whole.

litellm ends every stream as if it had been finished, and estimates tokens that nobody counted. What the provider itself
said is therefore looked for: no word of an end is an answer that broke off, and no usage is unknown usage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prose_lang.services.models.completion import Reply


class BrokeOff(Exception):
    """A stream ended before its answer did; `silent` tells that it held nothing at all."""

    def __init__(self, silent: bool) -> None:
        super().__init__("the answer broke off")
        self.silent = silent


async def gathered(
    stream: Any, tell: Callable[[str], None], usage_of: Callable[[Any], tuple[int | None, int | None]]
) -> Reply:
    """The reply that a stream of litellm's makes; each piece of its text is told. Raises BrokeOff.

    `usage_of` reads a usage object. The stream is closed when this ends, however it ends.
    """
    texts: list[str] = []
    refusals: list[str] = []
    finish: str | None = None
    try:
        async for chunk in stream:
            for choice in (getattr(chunk, "choices", None) or [])[:1]:
                text = getattr(choice.delta, "content", None)
                if isinstance(text, str) and text:
                    texts.append(text)
                    tell(text)
                refusal = getattr(choice.delta, "refusal", None)
                if isinstance(refusal, str):
                    refusals.append(refusal)
                finish = choice.finish_reason or finish
    finally:
        await stream.aclose()
    if getattr(stream, "received_finish_reason", finish) is None:
        raise BrokeOff(silent=not texts and not refusals)
    tokens_in, tokens_out = usage_of(_usage(stream))
    return Reply("".join(texts) if texts else None, "".join(refusals) or None, finish or "stop", tokens_in, tokens_out)


def _usage(stream: Any) -> Any:
    """What the provider said, if it did: the last one of the chunks as they came."""
    for chunk in reversed(getattr(stream, "chunks", None) or []):
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            return usage
    return None
