"""An event loop on which what is ready at the same time happens in a random order: whatever depends on the order in
which asyncio happens to do things shows as a difference."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class ShuffledLoop(asyncio.SelectorEventLoop):
    """The order comes from a seed. `shuffled` counts the turns in which there was something to choose."""

    def __init__(self, seed: object) -> None:
        super().__init__()
        self.random = random.Random(str(seed))
        self.shuffled = 0

    def _run_once(self) -> None:
        ready: Any = self._ready  # type: ignore[attr-defined]  # there is no other way to what is ready
        if len(ready) > 1:
            self.shuffled += 1
            items = list(ready)
            self.random.shuffle(items)
            ready.clear()
            ready.extend(items)
        super()._run_once()  # type: ignore[misc]


def run_shuffled(coroutine: Coroutine[Any, Any, _T], seed: object) -> _T:
    """Run a coroutine to its end on such a loop."""
    with asyncio.Runner(loop_factory=lambda: ShuffledLoop(seed)) as runner:
        return runner.run(coroutine)
