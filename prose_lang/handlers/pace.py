"""Pace: requests and tokens per minute, for each provider that has such a rate. Kept by waiting, never by failing.

In any sixty seconds no more starts than the rate allows. Who waits is served in order. Tokens are counted as reserved
until the answer tells how many there were. Rates are counted within a run; between runs the provider's own refusals
(429, `again.py`) do the rest.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import Any

from prose_lang.handlers.clock import Clock
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect, Reservation

_MINUTE = 60.0


class _Start:
    """A request of the last minute."""

    __slots__ = ("at", "tokens")

    def __init__(self, at: float, tokens: int) -> None:
        self.at = at
        self.tokens = tokens


class _Lane:
    """The requests of one provider."""

    def __init__(self) -> None:
        self.starts: deque[_Start] = deque()
        self.turn = asyncio.Lock()


class Pacer:
    """The rates of one run."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._lanes: dict[str, _Lane] = {}

    def wrap(self, inner: Perform) -> Perform:
        """A performer that keeps the rates."""

        def perform(effect: Effect) -> Awaitable[Any]:
            need = effect.reserved
            if need is None or (need.requests_per_minute is None and need.tokens_per_minute is None):
                return inner(effect)
            return paced(effect, need)

        async def paced(effect: Effect, need: Reservation) -> Any:
            start = await self._start(need)
            try:
                return await inner(effect)
            finally:
                used = effect.usage
                if used is not None and used.tokens_in:
                    start.tokens = used.tokens_in + used.tokens_out

        return perform

    async def _start(self, need: Reservation) -> _Start:
        lane = self._lanes.setdefault(need.lane, _Lane())
        async with lane.turn:
            while True:
                now = self.clock.now()
                while lane.starts and lane.starts[0].at <= now - _MINUTE:
                    lane.starts.popleft()
                if not lane.starts or self._fits(lane, need):
                    start = _Start(now, need.tokens)
                    lane.starts.append(start)
                    return start
                await self.clock.sleep(lane.starts[0].at + _MINUTE - now)

    def _fits(self, lane: _Lane, need: Reservation) -> bool:
        requests, tokens = need.requests_per_minute, need.tokens_per_minute
        if requests is not None and len(lane.starts) >= requests:
            return False
        return tokens is None or sum(start.tokens for start in lane.starts) + need.tokens <= tokens
