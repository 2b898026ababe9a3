"""Bounds of calls: what they say of each construct. tests/property/test_call_bounds.py holds them against real runs."""

from __future__ import annotations

import itertools
import random

import pytest

import prose_lang as prose
from prose_lang.diagnostics import CheckError
from prose_lang.report.bounds import CallBounds, call_bounds
from prose_lang.report.quantities import INFINITE, ZERO, Quantity, largest, number, smallest, symbol

HEAD = """\
---
name: bounded
kind: pattern
---

### Slots

- `worker`: works
- `critic`: looks at it
- `judges`: several

### Config

- `rounds` (integer, default: 3, min: 1): how often
- `size` (integer, default: 2): how many

### Requires

- Pattern instance receives:
    judges: string[]   -- in order
    xs: string[]       -- what is worked on
    mode: string       -- (optional) how

### Services

- `drafts`, `loose`

```yaml
- name: polished
  pattern: refine
  with:
    refiner: helper
    evaluator: look
  config:
    max_rounds: 4
- name: twice
  pattern: refine
  with:
    refiner:
      pattern: ensemble-synthesizer
      with:
        ensemble_member: look
        synthesizer: look
    evaluator: look
```

### Delegation

```prose
"""
TAIL = """
```

## helper

### Requires

- `task_brief`: what to do

### Execution

```prose
let found = call look
  x: task_brief
return found
```

## chain

### Parameters

- `n`: number -- how often

### Execution

```prose
if n > 0:
  call look
    x: n
  call chain
    n: n - 1
```
"""


LEAST = {"worker": "min(3, length of xs)", "all": "min(3, length of xs)"}
TO_TWO = {"worker": "1 to 2", "all": "1 to 2", "judge": "1 to 2"}


def bounds_of(body: str) -> CallBounds:
    engine = prose.Engine(services={"look": lambda x=None: x})
    return call_bounds(engine, engine.loads(HEAD + body + TAIL, "bounded.prose.md"))


def calls(body: str) -> dict[str, str]:
    """The bounds of each target, of all calls (`all`), and of the judge where one may be asked."""
    bounds = bounds_of(body)
    found = {target.name: str(target.calls) for target in bounds.targets}
    found["all"] = str(bounds.total)
    if str(bounds.judge) != "none":
        found["judge"] = str(bounds.judge)
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # statements (L14, L22, L23)
        ("return 1", {"all": "none"}),
        ("call worker\ncall worker\ncall critic", {"worker": "2", "critic": "1", "all": "3"}),
        ("return call worker\ncall critic", {"worker": "1", "all": "1"}),
        ("let x = call worker\n  note: call critic\n    y: plus\nreturn x", {"critic": "1", "worker": "1", "all": "2"}),
        ("let x = look(1) + look(look(2))", {"look": "3", "all": "3"}),
        ("let x = mode and look(1)", {"look": "0 to 1", "all": "0 to 1"}),
        # branches (L26)
        ("if xs:\n  call worker\nelse:\n  call critic", {"worker": "0 to 1", "critic": "0 to 1", "all": "1"}),
        ("if xs:\n  call worker\n  call worker", {"worker": "0 to 2", "all": "0 to 2"}),
        ("if xs:\n  call worker\n  return 1\ncall critic\ncall critic",
         {"worker": "0 to 1", "critic": "0 to 2", "all": "1 to 2"}),
        ("if **it reads well**:\n  call worker", {"worker": "0 to 1", "all": "0 to 1", "judge": "1"}),
        ('choice mode:\n  option "a":\n    call worker\n  option "b":\n    call worker\n    call critic',
         {"worker": "1", "critic": "0 to 1", "all": "1 to 2", "judge": "0 to 1"}),
        # loops (L21)
        ("repeat 4:\n  call worker", {"worker": "4", "all": "4"}),
        ("repeat rounds:\n  call worker", {"worker": "rounds", "all": "rounds"}),
        ("repeat config.rounds:\n  repeat 2:\n    call worker", {"worker": "2 × rounds", "all": "2 × rounds"}),
        ("repeat rounds:\n  call worker\n  if xs:\n    break\n  call critic",
         {"worker": "1 to rounds", "critic": "0 to rounds", "all": "1 to 2 × rounds"}),
        ("repeat rounds:\n  if xs:\n    call worker\n    call critic\n    break\n  call worker",
         {"worker": "1 to rounds", "critic": "0 to 1", "all": "min(2, rounds) to rounds + 1"}),
        ("repeat rounds:\n  if xs:\n    continue\n  call worker", {"worker": "0 to rounds", "all": "0 to rounds"}),
        ("repeat rounds + 1:\n  call worker", {"worker": "rounds + 1", "all": "rounds + 1"}),
        ("repeat size - 1:\n  call worker", {"worker": "max(1, size − 1)", "all": "max(1, size − 1)"}),
        ("for x in xs:\n  call worker", {"worker": "length of xs", "all": "length of xs"}),
        ("for x in [1, 2, 3]:\n  call worker", {"worker": "3", "all": "3"}),
        ("loop for each x in xs (max: 3):\n  call worker", LEAST),
        ("for j in judges:\n  call j", {"judges": "length of judges", "all": "length of judges"}),
        ("let ys = parallel repeat size:\n  call worker\nfor y in ys:\n  call critic",
         {"worker": "size", "critic": "size", "all": "2 × size"}),
        ("loop until xs (max: rounds):\n  call worker", {"worker": "1 to rounds", "all": "1 to rounds"}),
        ("loop while xs (max: rounds):\n  call worker", {"worker": "0 to rounds", "all": "0 to rounds"}),
        ("loop (max: rounds):\n  call worker", {"worker": "rounds", "all": "rounds"}),
        ("loop until **it is good** (max: 2):\n  call worker", TO_TWO),
        ("let found = repeat rounds:\n  if xs:\n    return 1\n  return call worker",
         {"worker": "0 to rounds", "all": "0 to rounds"}),
        # parallel (L24, L25)
        ("parallel:\n  let a = call worker\n  let b = call critic", {"worker": "1", "critic": "1", "all": "2"}),
        ('parallel ("first"):\n  call worker\n  call critic',
         {"worker": "0 to 1", "critic": "0 to 1", "all": "1 to 2"}),
        ('let r = parallel for x in xs ("any", count: 2):\n  call worker',
         {"worker": "2 to length of xs", "all": "2 to length of xs"}),
        ('parallel repeat 3 (on-fail: "ignore"):\n  call worker', {"worker": "0 to 3", "all": "0 to 3"}),
        # errors (L27)
        ("try:\n  call worker\ncatch:\n  call critic", {"worker": "0 to 1", "critic": "0 to 1", "all": "1 to 2"}),
        ('try:\n  repeat 3:\n    call worker\n    if xs:\n      call critic\n      throw "no"\ncatch:\n  return 1',
         {"worker": "0 to 3", "critic": "0 to 1", "all": "0 to 4"}),
        ("try:\n  call worker\nfinally:\n  call critic", {"worker": "1", "critic": "1", "all": "2"}),
        ('call worker\nif xs:\n  throw "no"\ncall critic', {"worker": "1", "critic": "1", "all": "2"}),
        # blocks and pipelines (L28)
        ("block b(x):\n  call worker\n    x: x\ndo b(1)\ndo b(2)", {"worker": "2", "all": "2"}),
        ("do:\n  return call worker", {"worker": "1", "all": "1"}),
        ("let r = xs | map:\n  return look(item)\n| filter:\n  return look(item)\n| reduce(a, b):\n  return look(a)",
         {"look": "2 × length of xs to 3 × length of xs", "all": "2 × length of xs to 3 × length of xs"}),
        ("let r = [1, 2, 3] | filter:\n  return item > 9\n| map:\n  return look(item)",
         {"look": "0 to 3", "all": "0 to 3"}),
        ("let r = [1, 2, 3] | reduce(a, b):\n  return look(a)", {"look": "2", "all": "2"}),
        # what a variable certainly holds
        ("let ys = [1, 2]\nrecord 3 in ys\nfor y in ys:\n  call critic", None),
        ("let xs = [1]\nfor x in xs:\n  call critic", None),
        ("let ys = repeat 3:\n  if mode:\n    break\n  return 1\nfor y in ys:\n  call critic",
         {"critic": "0 to 3", "all": "0 to 3"}),
        ('let ys = parallel for x in [1, 2] (on-fail: "ignore"):\n  return x\nfor y in ys:\n  call critic', None),
        # nested bodies (L7)
        ("call helper\n  task_brief: 1", {"look": "1", "all": "1"}),
        ("call polished\n  task_brief: 1", {"look": "2 to 8", "all": "2 to 8", "judge": "0 to 4"}),
        ("call polished\n  task_brief: 1\n  max_rounds: rounds",
         {"look": "2 to 2 × rounds", "all": "2 to 2 × rounds", "judge": "0 to rounds"}),
        ("call twice\n  task_brief: 1\n  max_rounds: 2", {"look": "5 to 10", "all": "5 to 10", "judge": "0 to 2"}),
        # sessions (L29)
        ('session "write"', {"session": "1", "all": "1"}),
    ],
)  # fmt: skip
def test_bounds(body: str, expected: dict[str, str] | None) -> None:
    """None: the length that decides shows only when it runs."""
    if expected is None:
        assert bounds_of(body).changing
    else:
        assert calls(body) == expected


def test_retries_count_as_attempts() -> None:
    bounds = bounds_of("call worker\n  retry: 2\nrepeat rounds:\n  call critic\n    retry: size")
    assert [(target.name, str(target.calls), str(target.attempts)) for target in bounds.targets] == [
        ("worker", "1", "1 to 3"),
        ("critic", "rounds", "rounds to rounds × size + rounds"),
    ]
    assert bounds.attempts.within({"rounds": 2, "size": 1}) == (3, 7)


def test_a_retried_pattern_does_all_of_it_again() -> None:
    bounds = bounds_of("call polished\n  task_brief: 1\n  retry: 1")
    assert (str(bounds.total), str(bounds.judge)) == ("2 to 16", "0 to 8")


def test_what_counts_against_the_limit() -> None:
    """Attempts, and questions to the judge, who may be asked a second time (L30.5, L34)."""
    assert str(bounds_of("call worker\n  retry: 1\nif **it is good**:\n  call critic").spent) == "2 to 5"


@pytest.mark.parametrize(
    ("body", "total", "reason"),
    [
        ("loop:\n  call worker\n  if xs:\n    break", "1 to 1,000",
         "the loop has no `max`: it ends at the latest after 1,000 passes, the run's ceiling"),
        ("block b(n):\n  call worker\n  if n > 0:\n    do b(n - 1)\n\ndo b(3)", "1 or more",
         "the block `b` calls itself, and nothing in the text says how often"),
        ("call chain\n  n: 3", "0 or more", "`chain` calls itself, and nothing in the text says how often"),
    ],
)  # fmt: skip
def test_what_is_open_is_told(body: str, total: str, reason: str) -> None:
    bounds = bounds_of(body)
    assert str(bounds.total) == total
    assert reason in [item.text for item in bounds.reasons]


def test_a_block_that_comes_to_itself_and_calls_nothing_is_no_matter() -> None:
    bounds = bounds_of("block b(n):\n  if n > 0:\n    do b(n - 1)\n\ncall worker\ndo b(3)")
    assert (str(bounds.total), bounds.reasons) == ("1", ())


def test_a_length_that_shows_when_it_runs_has_its_line() -> None:
    bounds = bounds_of("let ys = call worker\nfor y in ys.parts:\n  call critic")
    critic = next(target.calls for target in bounds.targets if target.name == "critic")
    line = HEAD.count("\n") + 2
    assert str(critic) == f"length of ys.parts (line {line}) to length of ys.parts (line {line})"
    assert not critic.exact
    assert critic.within({}) == (0, None)
    assert [str(item) for item in bounds.changing] == [f"length of ys.parts (line {line})"]


def test_a_program_that_always_fails_never_ends_with_a_value() -> None:
    bounds = bounds_of('call worker\nthrow "no"')
    assert not bounds.ends
    assert bounds.total.within({}) == (0, 1)


def test_values_that_no_loop_runs_by_count_as_one() -> None:
    total = bounds_of("repeat size:\n  call worker").total
    assert [total.within({"size": value}) for value in (3, 0, -2, "x", None, 2.5)] == [(3, 3)] + [(1, 1)] * 5
    assert total.within({}) == (1, None)


def test_a_registered_service_stands_in_for_an_entry() -> None:
    engine = prose.Engine(services={"look": lambda x=None: x, "helper": lambda task_brief: 1})
    body = "call helper\n  task_brief: 1"
    bounds = call_bounds(engine, engine.loads(HEAD + body + TAIL, "bounded.prose.md"))
    assert [(target.kind, target.name) for target in bounds.targets] == [("service", "helper")]


def test_faults_are_those_of_check() -> None:
    engine = prose.Engine()
    pattern = engine.loads("call nobody\nreturn x +")
    with pytest.raises(CheckError) as raised:
        call_bounds(engine, pattern)
    assert [item.code for item in raised.value.diagnostics] == [item.code for item in engine.check(pattern)]


def test_an_entry_without_a_body_has_no_bounds() -> None:
    engine = prose.Engine()
    with pytest.raises(CheckError) as raised:
        call_bounds(engine, engine.loads("---\nname: f\nkind: function\n---\n\n### Requires\n\n- `x`: a thing\n"))
    assert (raised.value.code, raised.value.message) == ("P105", "`f` has no body that could call anything")


# --- quantities ------------------------------------------------------------------------------------------------------

SYMBOLS = (symbol("a", 0), symbol("b", 1), symbol("c", 2))
LEASTS = {"a": 0, "b": 1, "c": 2}


def random_quantity(rng: random.Random, depth: int) -> tuple[Quantity, object]:
    """A quantity without simplification by hand, and a function that works out the same."""
    kind = (
        rng.choice(["symbol", "number", "+", "*", "max", "min", "less"]) if depth else rng.choice(["symbol", "number"])
    )
    if kind == "symbol":
        one = rng.choice(SYMBOLS)
        name = next(iter(one.symbols())).text
        return one, lambda values: values[name]
    if kind == "number":
        value = rng.randint(0, 3)
        return number(value), lambda values: value
    (x, f), (y, g) = random_quantity(rng, depth - 1), random_quantity(rng, depth - 1)
    match kind:
        case "+":
            return x + y, lambda values: f(values) + g(values)
        case "*":
            return x * y, lambda values: f(values) * g(values)
        case "max":
            return largest(x, y), lambda values: max(f(values), g(values))
        case "min":
            return smallest(x, y), lambda values: min(f(values), g(values))
        case _:
            return largest(ZERO, x - y), lambda values: max(0, f(values) - g(values))


@pytest.mark.parametrize("seed", range(300))
def test_simplifying_changes_no_value(seed: int) -> None:
    quantity, plain = random_quantity(random.Random(seed), 4)
    for extra in itertools.product(range(3), repeat=3):
        values = {name: low + more for (name, low), more in zip(LEASTS.items(), extra, strict=True)}
        found = quantity.value(lambda one, values=values: values[one.text])
        assert found == plain(values), str(quantity)
        assert quantity.least is None or quantity.least <= found


def test_many_alternatives_become_one_bound() -> None:
    several = [symbol(name, 0) * 2 for name in "uvwxyz"]
    assert str(largest(*several)) == "2 × u + 2 × v + 2 × w + 2 × x + 2 × y + 2 × z"
    assert smallest(*several) == ZERO


def test_infinity() -> None:
    n = symbol("n", 0)
    assert (INFINITE + n, INFINITE * n, INFINITE * ZERO) == (INFINITE, INFINITE, ZERO)
    assert (largest(n, INFINITE), smallest(n, INFINITE)) == (INFINITE, n)
    assert (str(INFINITE), INFINITE.value(lambda one: 1)) == ("unbounded", None)
