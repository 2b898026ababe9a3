"""The workloads, each twice: written by hand in plain asyncio (the floor) and as a pattern run by the interpreter.

W1 refine loop of 3 rounds (6 calls) · W2 ensemble of 3 and a synthesizer · W3 fan-out with a reducer ·
W4 loop of calls · W5 calls of 50 ms, unlimited and limited. Services are asynchronous functions that do nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import prose_lang as prose

ROUNDS = 3


async def refiner(draft: str, feedback: str) -> str:
    return draft + "+"


async def evaluator(draft: str) -> dict[str, Any]:
    return {"score": draft.count("+") / ROUNDS, "feedback": "more"}


async def member(topic: str, i: int) -> str:
    return f"{topic}{i}"


async def synthesizer(parts: list[str]) -> str:
    return "|".join(parts)


async def wide_member(i: int) -> int:
    await asyncio.sleep(0)
    return i


async def reducer(values: list[int]) -> int:
    return sum(values)


async def step(n: int) -> int:
    return n + 1


async def io_member(i: int) -> int:
    await asyncio.sleep(0.05)
    return i


SERVICES: dict[str, Callable[..., Awaitable[Any]]] = {
    f.__name__: f for f in (refiner, evaluator, member, synthesizer, wide_member, reducer, step, io_member)
}


async def call(name: str, **inputs: Any) -> Any:
    """The least that any interpreter adds: a service by name, arguments by keyword."""
    return await SERVICES[name](**inputs)


# --- the floors ------------------------------------------------------------------------------------------------------


async def floor_refine() -> dict[str, Any]:
    env: dict[str, Any] = {"draft": "draft", "feedback": "", "score": 0.0, "rounds": 0}
    while env["rounds"] < ROUNDS and env["score"] < 1.0:
        env["draft"] = await call("refiner", draft=env["draft"], feedback=env["feedback"])
        env |= await call("evaluator", draft=env["draft"])
        env["rounds"] += 1
    return {"result": env["draft"], "score": env["score"], "rounds_used": env["rounds"]}


async def floor_ensemble() -> str:
    parts = await asyncio.gather(*(call("member", topic="t", i=i) for i in (1, 2, 3)))
    return await call("synthesizer", parts=parts)  # type: ignore[no-any-return]


async def floor_fan_out(width: int) -> int:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(wide_member(i)) for i in range(width)]
    return await reducer([task.result() for task in tasks])


async def floor_loop(rounds: int) -> int:
    env = {"n": 0}
    while env["n"] < rounds:
        env["n"] = await call("step", n=env["n"])
    return env["n"]


async def floor_io(width: int, limit: int | None) -> int:
    gate = asyncio.Semaphore(limit or width)

    async def one(i: int) -> int:
        async with gate:
            return await io_member(i)

    return sum(await asyncio.gather(*(one(i) for i in range(width))))


# --- the same as patterns --------------------------------------------------------------------------------------------

_HEAD = """---
name: bench
kind: pattern
---

### Slots

{slots}

### Config

{config}

### Delegation

```prose
"""


def pattern(engine: prose.Engine, slots: str, config: str, body: str) -> prose.Pattern:
    """A pattern with these slots and config keys."""
    lines = "\n".join(f"- `{name}`" for name in slots.split())
    keys = "\n".join("- `{}`: {}".format(*item.split("=")) for item in config.split(";"))
    text = _HEAD.format(slots=lines, config=keys)
    return engine.loads(f"{text}{body}```\n")


REFINE = """let draft = "draft"
let feedback = ""
let score = 0
repeat rounds as round:
  let draft = call refiner
    draft: draft
    feedback: feedback
  let evaluation = call evaluator
    draft: draft
  score = evaluation.score
  feedback = evaluation.feedback
  if score meets threshold:
    return {
      result: draft,
      score: score,
      rounds_used: round
    }
return { result: draft, score: score, rounds_used: rounds }
"""

ENSEMBLE = """let parts = parallel repeat size as i:
  call member
    topic: "t"
    i: i
return call synthesizer
  parts: parts
"""

FAN_OUT = """let values = parallel repeat width as i:
  call member
    i: i - 1
return call reducer
  values: values
"""

LOOP = """let n = 0
loop while n < rounds (max: rounds):
  n = call step
    n: n
return n
"""

IO = """let values = parallel repeat width as i:
  call member
    i: i - 1
return values.length
"""
