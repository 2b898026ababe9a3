"""The programs that are killed, with what they are given and what they may come to."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import attrs


@attrs.frozen
class Kind:
    """A kind of program. `text` gives its text for a seed, which stands in it: a body, a whole file, or `stdlib:NAME`.

    `given` is what it is given. `functions` names slots that are bound to functions, which have to be given again.
    `steady`: time decides nothing, so that calls and decisions are those of any other run. `one`: each call begins
    after all before it have ended. `file`: it stands in a folder of its own. `fits` says of a value that time has a
    part in whether it may be; any other value has to be the same.
    """

    name: str
    text: Callable[[int], str]
    given: Mapping[str, Any] = attrs.field(factory=dict)
    functions: tuple[str, ...] = ()
    steady: bool = True
    one: bool = False
    file: bool = False
    fits: Callable[[Any], bool] | None = None


def _fan_out(seed: int) -> str:
    return f"""\
let found = parallel repeat 200 as n:
  return call score
    x: n + {seed}
return found
"""


def _threads(seed: int) -> str:
    return f"""\
let found = parallel repeat 60 as n:
  let a = call tally
    x: n + {seed}
  return call score
    x: a
return found
"""


def _chains(seed: int) -> str:
    return f"""\
let found = parallel repeat 10 as n:
  let x = n * {seed}
  repeat 6:
    x = call score
      x: x
  return x
return found
"""


NESTED = """\
---
name: nested
kind: pattern
---

### Services

```yaml
- name: polisher
  pattern: stdlib:refine
  with: {refiner: refiner, evaluator: evaluator}
  config: {max_rounds: 4}
- name: both
  pattern: pair
  with: {worker: polisher, other: say}
- name: all
  pattern: pair
  with: {worker: both, other: polisher}
```

### Delegation

```prose
let first = call all
  task_brief: "moss SEED"
let second = parallel for x in ["a", "b", "c"]:
  return call both
    task_brief: x
return { first, second }
```

## pair

### Slots

- `worker`: does it
- `other`: does it as well

### Requires

- `task_brief`: string -- what is to be done

### Delegation

```prose
parallel:
  let a = call worker
    task_brief: "{task_brief}a"
  let b = call other
    task_brief: "{task_brief}b"
return { a, b }
```
"""


def _sure_race(seed: int) -> str:
    return f"""\
let found = []
repeat 4 as n:
  let won = parallel ("first"):
    call hang
      x: n
    do:
      let a = call score
        x: n + {seed}
      return call score
        x: a
    call hang
      x: n + 1
  record won in found
return found
"""


def _open_race(seed: int) -> str:
    return f"""\
let found = []
repeat 3 as n:
  let won = parallel for x in [1, 2, 3, 4, 5] ("any", count: 2):
    let a = call say
      x: x
    return {{ x: x, a: a, seed: {seed} }}
  let then = call score
    x: won
  record {{ won: won, then: then }} in found
return found
"""


def _fits_open_race(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(
        len(part["won"]) == 2 and part["won"][0]["x"] < part["won"][1]["x"] and isinstance(part["then"], int)
        for part in value
    )  # fmt: skip


def _failing_fast(seed: int) -> str:
    return f"""\
let found = []
repeat 3 as n:
  try:
    parallel:
      let a = call hang
        x: n
      let b = call broken
        x: n + {seed}
  catch as e:
    let c = call score
      x: e.message
    record [e.code, c] in found
return found
"""


def _going_on(seed: int) -> str:
    return f"""\
let found = parallel for x in [1, 2, 3, 4, 5, 6, 7, 8] (on-fail: "continue"):
  if x == 3 or x == 6:
    return call broken
      x: x
  return call score
    x: x + {seed}
let others = parallel for x in [1, 2, 3] (on-fail: "ignore"):
  return call broken
    x: x
return {{ found, others }}
"""


def _finally(seed: int) -> str:
    return f"""\
let log = []
for x in [1, 2, 3, 4, 5]:
  try:
    try:
      let a = call score
        x: x + {seed}
      record a in log
      if x == 2 or x == 4:
        call broken
          x: x
    catch as e:
      let b = call score
        x: e.message
      record [b, e.code, e.attempts] in log
      throw {{ error: "gave-up", at: x }}
    finally:
      let c = call tally
        x: x
      record c in log
  catch as f:
    record [f.name, f.value.at] in log
return log
"""


def _failing(seed: int) -> str:
    return f"""\
try:
  let a = call score
    x: {seed}
  call broken
    x: a
finally:
  call say
    x: "the end"
"""


def _retries(seed: int) -> str:
    return f"""\
let found = []
repeat 4 as n:
  let a = call unsteady
    x: n + {seed}
    retry: 3
  record a in found
  try:
    call broken
      x: n
      retry: 2
  catch as e:
    record [e.attempts, e.code, e.message] in found
return found
"""


def _blocks(seed: int) -> str:
    return f"""\
block down(n, x):
  let a = call score
    x: [n, x]
  if n > 0:
    return do down(n - 1, a)
  return a
let first = do down(8, {seed})
let second = do:
  let b = call tally
    x: first
  return b * 2
return [first, second]
"""


def _pipeline(seed: int) -> str:
    return f"""\
let found = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  | pmap:
    return call score
      x: item + {seed}
  | filter:
    let a = call tally
      x: item
    return a > 30
  | map:
    return call say
      x: item
  | reduce(acc, next):
    return call say
      x: [acc, next]
return found
"""


def _judged(seed: int) -> str:
    return f"""\
let found = []
repeat 5 as n:
  let text = call say
    x: n + {seed}
  if **{{text}} reads well**:
    record "well" in found
  let made = choice **what suits {{text}} best**:
    option "short":
      call score
        x: text
    option "long":
      call say
        x: text
  record made in found
loop until **the last of found is fine** (max: 4) as i:
  let more = call say
    x: i
  record more in found
return found
"""


def _agents(seed: int) -> str:
    return f"""\
agent poet:
  persist: true
  prompt: "You write short verse."
let found = []
let a = session: poet
  prompt: "moss {seed}"
record a in found
repeat 5 as n:
  let b = resume: poet
    prompt: "more {{n}}"
  record b in found
parallel:
  let c = resume: poet
    prompt: "left"
  let d = resume: poet
    prompt: "right"
let e = resume: poet
  prompt: "the end"
return [found, c, d, e]
"""


def _until(seed: int) -> str:
    return f"""\
let x = {seed}
let late = []
loop until x > 990 (max: 12) as i:
  x = call score
    x: x
    timeout: 60
  if i == 3 or i == 5:
    try:
      call hang
        x: x
        timeout: 0.03
    catch as e:
      record [e.code, i] in late
return [x, late]
"""


TIMED = """\
---
name: timed
kind: pattern
---

### Services

```yaml
- name: slow
  pattern: slowly
```

### Delegation

```prose
let found = []
repeat 2 as n:
  try:
    call slow
      n: n
      timeout: 0.25
  catch as e:
    let a = call score
      x: [e.code, n, SEED]
    record a in found
return found
```

## slowly

### Requires

- `n`: number -- which

### Delegation

```prose
let a = call say
  x: n
return call hang
  x: a
```
"""


def _large(seed: int) -> str:
    return f"""\
let x = "{seed}"
repeat 4:
  x = call large
    x: x
return x
"""


def _tail(seed: int) -> str:
    return f"""\
let found = parallel repeat 30 as n:
  return call score
    x: n + {seed}
let last = call linger
return [found, last]
"""


def _random(seed: int) -> str:
    """A body of random statements, without what depends on time."""
    rng = random.Random(seed)
    lines = ["let log = []", f"let x = {seed}"]

    def some(indent: str, depth: int, inside: bool) -> None:
        for _ in range(rng.randint(1, 3)):
            kind = rng.choice(["call", "call", "retry", "for", "parallel", "try"]) if depth else "call"
            name = f"v{len(lines)}"
            if kind == "call":
                lines.append(f"{indent}let {name} = call {rng.choice(['score', 'say', 'tally'])}")
                lines.append(f"{indent}  x: [{len(lines)}, {'x' if inside else 'log'}]")
                lines.append(f"{indent}record {name} in log" if not inside else f"{indent}{name}")
            elif kind == "retry":
                lines.append(f"{indent}call unsteady\n{indent}  x: {len(lines)}\n{indent}  retry: 2")
            elif kind in ("for", "parallel"):
                count = f"repeat {rng.randint(2, 4)} as n{len(lines)}"
                lines.append(f"{indent}{'parallel ' if kind == 'parallel' else ''}{count}:")
                some(indent + "  ", depth - 1, inside or kind == "parallel")
            else:
                lines.append(f"{indent}try:")
                some(indent + "  ", depth - 1, inside)
                lines.append(f"{indent}  call broken\n{indent}    x: {len(lines)}")
                lines.append(f"{indent}catch as e{len(lines)}:")
                some(indent + "  ", depth - 1, inside)

    some("", 3, False)
    some("", 2, False)
    return "\n".join([*lines, "return log"]) + "\n"


_REFINE: Mapping[str, Any] = {"refiner": "refiner", "evaluator": "evaluator", "max_rounds": 7, "threshold": 0.95}

KINDS: tuple[tuple[int, Kind], ...] = (
    (3, Kind("refine", lambda seed: "stdlib:refine", _REFINE, one=True)),
    (3, Kind("refine-functions", lambda seed: "stdlib:refine", _REFINE, functions=("refiner", "evaluator"), one=True)),
    (5, Kind("fan-out", _fan_out)),
    (2, Kind("threads", _threads)),
    (3, Kind("chains", _chains)),
    (4, Kind("nested", lambda seed: NESTED.replace("SEED", str(seed)))),
    (3, Kind("sure-race", _sure_race, steady=False)),
    (5, Kind("open-race", _open_race, steady=False, fits=_fits_open_race)),
    (3, Kind("failing-fast", _failing_fast, steady=False)),
    (2, Kind("going-on", _going_on)),
    (3, Kind("finally", _finally, one=True)),
    (2, Kind("failing", _failing, one=True)),
    (4, Kind("retries", _retries, one=True)),
    (2, Kind("blocks", _blocks, one=True)),
    (3, Kind("pipeline", _pipeline)),
    (3, Kind("judged", _judged, one=True)),
    (2, Kind("agents", _agents, file=True)),
    (2, Kind("until", _until, one=True)),
    (1, Kind("timed", lambda seed: TIMED.replace("SEED", str(seed)), steady=False)),
    (1, Kind("large", _large, one=True)),
    (2, Kind("tail", _tail)),
    (2, Kind("random", _random)),
)  # fmt: skip
BY_NAME = {kind.name: kind for _, kind in KINDS}


@attrs.frozen
class Task:
    """One run: a kind with a seed. `tag` names it, and is found again in its record."""

    kind: Kind
    seed: int

    @property
    def tag(self) -> str:
        return f"{self.kind.name}-{self.seed}"

    @property
    def text(self) -> str:
        return self.kind.text(self.seed)


#: The sixty runs.
TASKS = tuple(Task(kind, seed) for count, kind in KINDS for seed in range(1, count + 1))
