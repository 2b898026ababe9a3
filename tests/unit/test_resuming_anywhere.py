"""A run that was killed after any of its changes, and again while it was gone on with, comes to the same value, and no
call that had finished is made again (L35)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dying_store import DyingStore

import prose_lang as prose
from prose_lang.diagnostics import ServiceError
from prose_lang.engine.replaying import replayed
from prose_lang.journal import open_store
from prose_lang.testing.clock import run_virtual

#: Programs over the services of `services`. Delays are such that who wins a race is beyond doubt.
PROGRAMS = {
    "loop": """
let x = 1
let log = []
repeat 4 as round:
  x = call add
    n: x
  record x in log
return log
""",
    "fan-out": """
let all = parallel repeat 6 as i:
  let a = call add
    n: i
  let b = call add
    n: a
return all
""",
    "branches": """
parallel:
  let a = call add
    n: 1
  let b = call slow
    n: 2
  let c = do:
    let d = call add
      n: 3
    let e = call add
      n: d
return { a: a, b: b, c: c }
""",
    "first": """
let winner = parallel ("first"):
  call never
    n: 1
  call slow
    n: 2
  call fails
    n: 3
let next = call add
  n: winner
return { winner: winner, next: next }
""",
    "any": """
let some = parallel ("any", count: 2):
  call add
    n: 1
  call fails
    n: 2
  call slow
    n: 3
  call never
    n: 4
let next = call add
  n: some[1]
return { some: some, next: next }
""",
    "too few": """
let found = null
try:
  found = parallel ("any", count: 2):
    call add
      n: 1
    call fails
      n: 2
catch as e:
  found = { code: e.code, errors: e.errors }
let next = call add
  n: 1
return { found: found, next: next }
""",
    "fail-fast": """
let found = null
try:
  parallel:
    let a = call add
      n: 1
    let b = call fails
      n: 2
    let c = call never
      n: 3
  found = "all"
catch as e:
  let d = call add
    n: 5
  found = { message: e.message, values: e.values, d: d }
return found
""",
    "continue": """
let found = parallel for x in [1, 2, 3] (on-fail: "continue"):
  if x == 2:
    call fails
      n: x
  call add
    n: x
return found
""",
    "retries": """
let a = call flaky
  n: 1
  retry: 3
  backoff: exponential
let b = null
try:
  b = call fails
    n: 2
    retry: 2
catch as e:
  b = { attempts: e.attempts, message: e.message, name: e.name, service: e.service }
let c = call add
  n: a
return { a: a, b: b, c: c }
""",
    "finally": """
let log = []
try:
  try:
    let a = call add
      n: 1
    record a in log
    let b = call fails
      n: 2
  finally:
    let c = call add
      n: 10
    record c in log
catch as e:
  record e.message in log
return log
""",
    "pmap": """
let found = [1, 2, 3, 4] | pmap:
  call add
    n: item
let kept = found | filter:
  item > 2
let sum = kept | reduce(acc, x):
  call add
    n: acc
return { found: found, sum: sum }
""",
    "nested": """
let found = parallel for x in [1, 2]:
  call inner
    n: x
let late = null
try:
  late = call tardy
    n: 1
    timeout: 3
catch as e:
  late = e.code
let again = call unsure
  n: 1
  retry: 1
return { found: found, late: late, again: again }
""",
    "judged": """
let x = call add
  n: 1
let log = []
repeat 2 as round:
  if **the draft of round is truly fine**:
    record "fine" in log
  choice **how to go on with x**:
    option "left":
      record "left" in log
    option "right":
      record "right" in log
let y = call add
  n: x
return { log: log, y: y }
""",
    "blocks": """
block twice(n):
  let a = call add
    n: n
  let b = call add
    n: a
  return b
let a = do twice(1)
let b = do twice(a)
return b
""",
}
ENTRIES = """\
---
name: whole
kind: function
---
### Services
```yaml
- name: inner
  pattern: pair
  with: {doer: add}
- name: tardy
  pattern: lasting
  with: {doer: slow}
- name: unsure
  pattern: unsteady
  with: {doer: flaky}
```
### Execution
```prose
BODY
```

## pair
---
kind: pattern
---
### Slots
- `doer`
### Requires
- `n`: number -- which
### Delegation
```prose
let a = call doer
  n: n
let b = call doer
  n: a
return { a: a, b: b }
```

## lasting
---
kind: pattern
---
### Slots
- `doer`
### Requires
- `n`: number -- which
### Delegation
```prose
repeat 9 as i:
  call doer
    n: i
return "done"
```

## unsteady
---
kind: pattern
---
### Slots
- `doer`
### Requires
- `n`: number -- which
### Delegation
```prose
let a = call doer
  n: n
return a
```
"""


class World:
    """Services that note which calls were begun, and how many attempts each got."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def note(self) -> prose.CurrentCall:
        call = prose.current_call()
        assert call is not None
        assert call.idempotency_key == f"{call.run_id}:{call.address}"
        self.begun.append(call.address)
        return call

    def services(self) -> dict[str, Callable[..., Any]]:
        async def add(n: int) -> int:
            self.note()
            await asyncio.sleep(0.01 * n)
            return n + 1

        async def slow(n: int) -> int:
            self.note()
            await asyncio.sleep(2)
            return n * 10

        async def never(n: int) -> int:
            self.note()
            await asyncio.sleep(10_000)
            return n

        async def fails(n: int) -> int:
            self.note()
            await asyncio.sleep(0.5)
            raise ServiceError("P406", f"no {n}", error_name="not-today", service="somebody")

        async def flaky(n: int) -> int:
            call = self.note()
            await asyncio.sleep(0.1)
            if call.attempt < 3 and "retry" not in call.address:
                raise ValueError(f"attempt {call.attempt}")
            return n + 100

        async def judge(**question: Any) -> dict[str, Any]:
            await asyncio.sleep(0.1)
            if "options" in question:
                return {"choice": "right", "reason": "it is"}
            return {"holds": True, "reason": "it is"}

        return {"add": add, "slow": slow, "never": never, "fails": fails, "flaky": flaky, "judge": judge}


def engine(store: Any, world: World) -> prose.Engine:
    return prose.Engine(services=world.services(), judge="judge", store=store, limits=prose.Limits(calls=None))


def finished(folder: Path, run: str) -> set[str]:
    return {entry.key for entry in open_store(folder).entries(run, ("call",)) if entry.final}


def outcome(store: Any, world: World, text: str, run: str | None = None) -> prose.Outcome:
    made = engine(store, world)
    if run is None:
        return run_virtual(made.outcome_async(made.loads(text), {}))
    return run_virtual(made.resuming.outcome_async(run))


@pytest.mark.parametrize("name", PROGRAMS)
def test_killed_after_any_change(name: str, tmp_path: Path) -> None:
    text = ENTRIES.replace("BODY", PROGRAMS[name].strip())
    undisturbed = DyingStore(tmp_path / "whole", 10_000)
    world = World()
    whole = outcome(undisturbed, world, text)
    assert whole.status == "ok", whole.error and whole.error.render()
    changes = 10_000 - undisturbed.left
    replay = run_virtual(replayed(engine(tmp_path / "whole", World()), whole.run_id))
    assert replay.diverges is None
    for left in range(changes):
        folder = tmp_path / str(left)
        first = World()
        killed = outcome(DyingStore(folder, left), first, text)
        assert killed.unrecorded is not None
        run, before = killed.run_id, finished(folder, killed.run_id)
        second = World()
        twice = outcome(DyingStore(folder, left // 2 + 1), second, text, run)
        assert not before & set(second.begun), left
        between = finished(folder, run)
        assert before <= between
        third = World()
        last = outcome(folder, third, text, run)
        assert last.status == "ok", (left, last.error and last.error.render())
        assert json.dumps(last.value) == json.dumps(whole.value), left
        assert not between & set(third.begun), left
        assert twice.value == whole.value
        again = run_virtual(replayed(engine(folder, World()), run))
        assert again.diverges is None, (left, again.diverges)
        if "timeout" not in PROGRAMS[name]:  # of which less is used up by what is read back
            assert made(last) == made(whole)


def made(outcome: prose.Outcome) -> list[tuple[str, str, Any]]:
    """What the trace tells of calls that succeeded; of those that lost a race it depends on the moment."""
    return [(call.address, call.service, call.value) for call in outcome.trace.calls if call.error is None]
