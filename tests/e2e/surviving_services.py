"""Services of the runs that are killed: what they give depends on what they are asked, how long it takes on chance.

Each writes a line when it is asked and one when it has answered, into one file, each in one write with O_APPEND: what
is in the file has happened, however the process ended. A line tells the call by its idempotency key.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import prose_lang as prose
from prose_lang.runtime.effects import Effect
from prose_lang.services import FunctionService


class Line(NamedTuple):
    """What a service wrote: `what` is `start`, `end` or `fail`, `key` names the run and the call, `asked` digests the
    inputs, `time` is the machine's monotonic clock."""

    what: str
    key: str
    service: str
    asked: str
    time: float

    @property
    def run(self) -> str:
        """The run that it is of."""
        return self.key.partition(":")[0]

    @property
    def entry(self) -> str:
        """The key of its entry in the record of that run."""
        return self.key.partition(":")[2]


class Lines:
    """The file of side effects, and beside it what services remember of calls by their keys.

    `told` is told of every line that was written. Without a folder nothing is kept beyond the process.
    """

    def __init__(self, folder: Path | None = None, told: Callable[[], None] = lambda: None) -> None:
        self.folder = folder
        self.told = told
        self.count = 0
        self._memory: dict[str, int] = {}
        self._handle = None
        if folder is not None:
            (folder / "remembered").mkdir(parents=True, exist_ok=True)
            self._handle = os.open(folder / "lines", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, what: str, effect: Effect, asked: str) -> None:
        turn = f"#{effect.turn}" if effect.turn else ""
        kind = f"ask:{effect.address}{turn}" if effect.kind == "ask" else effect.address
        key = f"{effect.idempotency_key.partition(':')[0]}:{kind}"
        line = Line(what, key, effect.service.name, asked, time.monotonic())
        if self._handle is not None:
            os.write(self._handle, json.dumps(line).encode() + b"\n")
        self.count += 1
        self.told()

    def times(self, key: str) -> int:
        """How often something was remembered of a call."""
        if self.folder is None:
            return self._memory.get(key, 0)
        path = self._path(key)
        return path.stat().st_size if path.exists() else 0

    def remember(self, key: str) -> None:
        """Remember it once more."""
        if self.folder is None:
            self._memory[key] = self._memory.get(key, 0) + 1
            return
        handle = os.open(self._path(key), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(handle, b".")
        os.close(handle)

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / "remembered" / digest(key)


def read_lines(folder: Path) -> list[Line]:
    """All lines that were written so far."""
    path = folder / "lines"
    return [Line(*json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


class Watched:
    """A function as a service that writes its lines. With `fails`, the first so many attempts of every call fail."""

    composite = False
    metered = False

    def __init__(self, function: Callable[..., Any], lines: Lines, *, name: str = "", fails: int = 0) -> None:
        self.inner = FunctionService(function, name=name or None)
        self.name = self.inner.name
        self.signature = self.inner.signature
        self.lines = lines
        self.fails = fails

    async def invoke(self, effect: Effect) -> Any:
        asked = digest({name: str(value) for name, value in effect.inputs.items()})
        self.lines.write("start", effect, asked)
        try:
            found = await self.inner.invoke(effect)
            key = effect.idempotency_key
            if self.fails and self.lines.times(key) < self.fails:
                self.lines.remember(key)
                raise ValueError("not yet")
        except Exception:
            self.lines.write("fail", effect, asked)
            raise
        self.lines.write("end", effect, asked)
        return found


def services(lines: Lines, slowest: float = 0.003) -> dict[str, Watched]:
    """All services by their names. The quick ones take up to `slowest` seconds."""

    async def pause() -> None:
        await asyncio.sleep(random.choice([0, random.random() * slowest]))

    async def score(**inputs: Any) -> int:
        await pause()
        return int(digest(inputs), 16) % 1000

    def tally(**inputs: Any) -> int:
        """A service that must not do its work twice, and knows by the key that it has done it."""
        call = prose.current_call()
        assert call is not None
        time.sleep(random.random() * slowest)
        if not lines.times(call.idempotency_key):
            lines.remember(call.idempotency_key)
        return int(digest(inputs), 16) % 100

    async def say(**inputs: Any) -> str:
        await pause()
        return f"said {digest(inputs)}"

    async def broken(**inputs: Any) -> str:
        await pause()
        raise ValueError(f"no luck with {inputs.get('x')}")

    async def hang(**inputs: Any) -> str:
        await asyncio.sleep(3600)
        return "never"

    async def linger(**inputs: Any) -> str:
        await asyncio.sleep(1.5)
        return "at last"

    async def large(**inputs: Any) -> str:
        await pause()
        return digest(inputs) * 5000  # 80,000 characters: kept in a file of its own

    async def refiner(task_brief: str, current_result: str = "", **others: Any) -> str:
        await pause()
        return f"{current_result or task_brief}+"

    def evaluator(result: str, **others: Any) -> dict[str, Any]:
        time.sleep(random.random() * slowest)
        return {"score": min(1.0, result.count("+") / 5), "suggestions": f"longer than {len(result)}"}

    async def judge(condition: str = "", criteria: str = "", values: Any = None, options: Any = None) -> dict[str, Any]:
        await pause()
        found = int(digest([condition, criteria, values, options]), 16)
        if options:
            return {"choice": options[found % len(options)], "reason": "it suits"}
        return {"holds": bool(found % 2), "reason": "a feeling"}

    async def poet(prompt: str = "", conversation: Any = None, **others: Any) -> str:
        await pause()
        return f"{prompt} after {len(conversation or [])} turns, {digest(conversation)}"

    functions = [score, tally, say, broken, hang, linger, large, refiner, evaluator, judge, poet]
    found = {function.__name__: Watched(function, lines) for function in functions}
    found["unsteady"] = Watched(score, lines, name="unsteady", fails=2)
    return found
