"""Services for generated programs: what they answer depends on their inputs only, how long they take on a seed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import Callable
from typing import Any

#: Seconds that `slow` takes; a `timeout` of 5 always ends it first.
VERY_LONG = 1000.0


class Services:
    """The services of one run or of several; `peak` is the most calls that were under way at once, by service."""

    def __init__(self, seed: int, slowest: float = 3.0) -> None:
        self.rng = random.Random(seed)
        self.slowest = slowest
        self.started = 0
        self.busy: dict[str, int] = {}
        self.peak: dict[str, int] = {}
        self.most = 0

    def all(self) -> dict[str, Callable[..., Any]]:
        """What an engine registers."""
        return {"plus": self.plus, "three": self.three, "judge": self.judge}

    def slots(self) -> dict[str, Any]:
        """What the slots are bound to."""
        named = {name: getattr(self, name) for name in ("score", "number", "say", "flaky", "slow")}
        return {**named, "reviewers": [self.score, self.second, self.third]}

    async def work(self, name: str, inputs: Any) -> int:
        """Be busy for a while; a number that depends on name and inputs only."""
        self.started += 1
        self.busy[name] = self.busy.get(name, 0) + 1
        self.peak[name] = max(self.peak.get(name, 0), self.busy[name])
        self.most = max(self.most, sum(self.busy.values()))
        try:
            if self.slowest:
                await asyncio.sleep(
                    VERY_LONG if name == "slow" else self.rng.choice([0, 0.001, self.rng.random()]) * self.slowest
                )
        finally:
            self.busy[name] -= 1
        text = json.dumps([name, inputs], sort_keys=True)
        return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)

    async def score(self, **inputs: Any) -> dict[str, Any]:
        return answer(await self.work("score", inputs))

    async def second(self, **inputs: Any) -> dict[str, Any]:
        return answer(await self.work("second", inputs))

    async def third(self, **inputs: Any) -> dict[str, Any]:
        return answer(await self.work("third", inputs))

    async def number(self, **inputs: Any) -> float:
        return await self.work("number", inputs) % 10

    async def say(self, **inputs: Any) -> str:
        return f"said {await self.work('say', inputs) % 100}"

    async def three(self, **inputs: Any) -> list[int]:
        found = await self.work("three", inputs)
        return [found % 7, found % 5, found % 3]

    async def flaky(self, **inputs: Any) -> dict[str, Any]:
        found = await self.work("flaky", inputs)
        if found % 2:
            raise ValueError(f"no luck with {found % 10}")
        return answer(found)

    async def slow(self, **inputs: Any) -> str:
        await self.work("slow", inputs)
        return "late"

    async def plus(self, a: Any, b: Any) -> Any:
        await self.work("plus", [a, b])
        return (a or 0) + (b or 0)

    async def judge(
        self, condition: str | None = None, criteria: str | None = None, values: Any = None, options: Any = None
    ) -> dict[str, Any]:
        found = await self.work("judge", [condition, criteria, values, options])
        if options:
            return {"choice": options[found % len(options)], "reason": "it suits"}
        return {"holds": bool(found % 2), "reason": "a feeling"}


def answer(found: int) -> dict[str, Any]:
    """What a reviewer answers."""
    word = ["accept", "reject", "revise"][found % 3]
    return {"n": found % 11, "s": word, "verdict": word, "ok": bool(found % 2)}
