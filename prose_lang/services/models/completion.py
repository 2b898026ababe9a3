"""The port through which requests leave: one method. litellm stands behind it; recordings and caches wrap it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import attrs

from prose_lang.services.models.request import Request


@attrs.frozen
class Reply:
    """What came back, as the provider said it.

    `text` is None where there was none; `refusal` is what a model said instead; `finish` is `stop`, `length`,
    `content_filter` or another word of the provider. Token counts are None where the provider told none that can be
    true.
    """

    text: str | None
    refusal: str | None = None
    finish: str = "stop"
    tokens_in: int | None = None
    tokens_out: int | None = None


class Completion(Protocol):
    """What answers requests.

    Raises `ServiceError` P406 or P408 with `transient` set where asking again may help, `RunError` P410 for a missing
    or refused key. One call is one request: whatever stands behind it never tries again by itself.
    """

    async def complete(self, request: Request, seconds: float) -> Reply:
        """Ask, and wait at most so long."""


class Streaming(Completion, Protocol):
    """A completion that can tell a text while it comes. One that cannot has no such method, and nothing else changes.

    The reply, the errors and the number of requests are those of `complete`.
    """

    async def stream(self, request: Request, seconds: float, tell: Callable[[str], None]) -> Reply:
        """Ask, tell each piece of the text, and give the whole."""
