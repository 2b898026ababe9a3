"""Retry: `retry: N` further attempts after a catchable failure, with `backoff` between them (L32, §9 L32).

What a provider refuses for good (a malformed request, no such model) is not tried again: it would be refused again.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from prose_lang.diagnostics import RunError
from prose_lang.handlers.clock import Clock
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect, Usage


def delay_before(attempt: int, backoff: str) -> float:
    """Seconds to wait before an attempt (from 2): none 0; linear 1, 2, 3 …; exponential 1, 2, 4 …

    >>> [delay_before(attempt, "exponential") for attempt in (2, 3, 4)]
    [1.0, 2.0, 4.0]
    """
    if backoff == "linear":
        return float(attempt - 1)
    if backoff == "exponential":
        return float(2 ** (attempt - 2))
    return 0.0


def retry(inner: Perform, clock: Clock) -> Perform:
    """Wrap a performer; effects without retries pass straight through."""

    def perform(effect: Effect) -> Awaitable[Any]:
        return retried(effect) if effect.modifiers.retry else inner(effect)

    async def retried(effect: Effect) -> Any:
        last = 1 + effect.modifiers.retry
        spent: Usage | None = None
        while True:
            try:
                return await inner(effect)
            except RunError as error:
                error.attempts = effect.attempt
                if effect.attempt >= last or not error.catchable or error.permanent:
                    raise
            finally:
                # Every attempt counts, what the failed ones used too (L34).
                if spent is not None:
                    spent.add(effect.usage or Usage())
                    effect.usage = spent
                spent = effect.usage
            effect.usage, effect.spent = None, 0.0
            effect.attempt += 1
            seconds = delay_before(effect.attempt, effect.modifiers.backoff)
            if seconds:
                await clock.sleep(seconds)

    return perform
