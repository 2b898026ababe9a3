"""Time, as the handlers see it: injected, so that tests need none."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Clock(Protocol):
    """Seconds on a clock that only goes forward, and waiting on it."""

    def now(self) -> float:
        """Seconds since some moment."""

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""


class LoopClock:
    """The clock of the running event loop. Under `testing.run_virtual` it is a virtual one."""

    def __init__(self) -> None:
        self.now = asyncio.get_running_loop().time

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
