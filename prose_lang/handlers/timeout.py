"""Timeout: each attempt of a call with `timeout: SECONDS` has that long (§9 L32); then it is cancelled, P408.

An attempt of a model may be several requests: they share the time (`again.py`), and `effect.spent` is what is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect


def timeout(inner: Perform) -> Perform:
    """Wrap a performer; effects without a timeout, and those whose worker keeps it, pass straight through."""

    def perform(effect: Effect) -> Awaitable[Any]:
        seconds = effect.modifiers.timeout
        return inner(effect) if seconds is None or effect.timed else limited(effect, seconds)

    async def limited(effect: Effect, seconds: float) -> Any:
        loop = asyncio.get_running_loop()
        began = loop.time()
        scope = asyncio.timeout(max(0.0, seconds - effect.spent))
        try:
            async with scope:
                found = await inner(effect)
        except (TimeoutError, RunError) as error:
            # What a service says while it is being cancelled is too late as well.
            if not scope.expired() or (isinstance(error, RunError) and not error.catchable):
                raise
        else:
            if not scope.expired():
                return found
        finally:
            effect.spent += loop.time() - began
        raise ServiceError(
            "P408",
            f"`{effect.service.name}` did not answer within {seconds:g} s",
            source=effect.site.source,
            span=effect.site.span,
            service=effect.service.name,
        )

    return perform
