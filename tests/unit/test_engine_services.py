"""Services as the run meets them: those that raise, hang, answer nonsense, or touch what they were given."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import prose_lang as prose
from prose_lang import Engine, Limits, Outcome
from prose_lang.testing.clock import run_virtual


class Alien(BaseException):
    """Not an `Exception`, and none of Python's own."""


def outcome_of(body: str, services: Any, names: dict[str, Any] | None = None, **options: Any) -> Outcome:
    engine = Engine(services=services, **options)
    return engine.outcome(engine.loads(body), names or {})


def raising(error: BaseException) -> Callable[[], None]:
    def svc() -> None:
        raise error

    return svc


def raising_on_the_loop(error: BaseException) -> Callable[[], Any]:
    async def svc() -> None:
        raise error

    return svc


# --- raising ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [raising, raising_on_the_loop])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("no such thing"), "no such thing"),
        (ValueError(), "ValueError"),
        (KeyError("k"), "'k'"),
        (TimeoutError("late"), "late"),
        (SystemExit(3), "the function raised SystemExit(3)"),
        (Alien("x"), "the function raised Alien('x')"),
    ],
)
def test_whatever_a_service_raises_is_its_failure(
    make: Callable[[BaseException], Any], error: BaseException, message: str
) -> None:
    outcome = outcome_of("return call svc", {"svc": make(error)})
    assert outcome.error is not None
    assert (outcome.status, outcome.error.code, outcome.error.message) == ("failed", "P406", message)
    assert outcome.error.service == "svc"
    assert outcome.error.as_diagnostic().line == 1


@pytest.mark.parametrize("make", [raising, raising_on_the_loop])
@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(1), Alien()])
def test_it_can_be_caught_retried_and_left_to_its_branch(
    make: Callable[[BaseException], Any], error: BaseException
) -> None:
    body = """
try:
  call svc
    retry: 1
catch as e:
  let rest = parallel (on-fail: "ignore"):
    call svc
    "kept"
  return [e.code, e.attempts, rest]
"""
    assert outcome_of(body, {"svc": make(error)}).value == ["P406", 2, ["kept"]]


def test_a_service_that_cancels_itself_has_failed() -> None:
    outcome = outcome_of("return call svc", {"svc": raising_on_the_loop(asyncio.CancelledError())})
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == ("P406", "it cancelled itself")


def test_an_interrupt_is_no_failure() -> None:
    with pytest.raises(KeyboardInterrupt):
        outcome_of(
            'try:\n  parallel (on-fail: "ignore"):\n    call svc\ncatch:\n  return 1',
            {"svc": raising_on_the_loop(KeyboardInterrupt())},
        )


def test_the_service_s_own_exception_is_the_cause() -> None:
    error = ValueError("deep")
    outcome = outcome_of("return call svc", {"svc": raising_on_the_loop(error)})
    assert outcome.error is not None
    assert outcome.error.__cause__ is error
    assert outcome.error.hint == "the service `svc` raised ValueError"


def test_an_error_in_a_catch_keeps_the_first_as_its_cause() -> None:
    body = 'try:\n  throw "first"\ncatch:\n  throw "second"'
    error = outcome_of(body, {}).error
    assert error is not None
    assert (error.message, getattr(error.__cause__, "message", None)) == ("second", "first")


def test_an_error_in_a_finally_keeps_the_first_as_its_cause() -> None:
    body = 'try:\n  throw "first"\nfinally:\n  throw "second"'
    error = outcome_of(body, {}).error
    assert error is not None
    assert (error.message, getattr(error.__cause__, "message", None)) == ("second", "first")


def test_too_few_successes_list_every_branch_s_error() -> None:
    def bad(n: int) -> None:
        raise ValueError(f"no {n}")

    body = 'parallel for n in [1, 2, 3] ("any", count: 2):\n  if n == 2:\n    return n\n  call bad\n    n: n'
    error = outcome_of(body, {"bad": bad}).error
    assert isinstance(error, prose.RunError)
    assert error.code == "P401"
    assert [(one.code, one.message, one.service) for one in error.branch_errors] == [
        ("P406", "no 1", "bad"),
        ("P406", "no 3", "bad"),
    ]


def test_fail_fast_leaves_the_survivors_values_on_the_error() -> None:
    async def svc(n: int) -> int:
        await asyncio.sleep(n)
        if n == 2:
            raise ValueError("two")
        return n

    engine = Engine(services={"svc": svc})
    pattern = engine.loads("parallel for n in [3, 1, 2]:\n  call svc\n    n: n")
    error = run_virtual(engine.outcome_async(pattern, {})).error
    assert isinstance(error, prose.RunError)
    assert (error.message, error.survivors) == ("two", [None, 1, None])


# --- answering -------------------------------------------------------------------------------------------------------


def endless() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (float("nan"), "nan is not a JSON number"),
        ([1, float("inf")], "inf at [1] is not a JSON number"),
        ({"a": endless()}, "it contains itself at a[0]"),
        (b"raw", "bytes are not a value; decode them to text first"),
        (10**400, "an integer is beyond the range of numbers"),
        (object(), "a object is not a value"),
        ({1: 2}, "an object key is a int, not a text"),
        ((one for one in [1]), "a generator is not a value"),
        ("\ud800", "a text holds a lone surrogate and cannot be written as UTF-8"),
    ],
)
def test_what_cannot_be_a_value_names_the_service(answer: Any, reason: str) -> None:
    outcome = outcome_of("let r = call svc\nreturn 1", {"svc": lambda: answer})
    assert outcome.error is not None
    assert outcome.error.code == "P305"
    assert outcome.error.message == f"`svc` returned what is not a value: {reason}"
    assert outcome.error.service == "svc"


def test_it_can_be_caught_too() -> None:
    body = "try:\n  call svc\ncatch as e:\n  return [e.code, e.service]"
    assert outcome_of(body, {"svc": lambda: float("nan")}).value == ["P305", "svc"]


def test_a_very_large_answer_comes_through() -> None:
    outcome = outcome_of("let r = call svc\nreturn r.length", {"svc": lambda: "x" * 50_000_000})
    assert outcome.value == 50_000_000


def test_none_tuples_and_coroutines_are_answers() -> None:
    async def five() -> int:
        return 5

    services = {"nothing": lambda: None, "pair": lambda: (1, [2]), "later": lambda: five()}
    body = "let a = call nothing\nlet b = call pair\nlet c = call later\nreturn [a, b, c]"
    assert outcome_of(body, services).value == [None, [1, [2]], 5]


# --- touching --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inline", [True, False])
def test_a_service_cannot_change_what_it_was_given(inline: bool) -> None:
    @prose.service(name="svc", inline=inline)
    def svc(x: dict[str, Any]) -> Any:
        x["a"] = 99
        x["items"].append("more")
        return x

    body = "let o = { a: 1, items: [] }\nlet r = call svc\n  x: o\nreturn [o, r]"
    outcome = outcome_of(body, [svc])
    assert outcome.value == [{"a": 1, "items": []}, {"a": 99, "items": ["more"]}]
    assert outcome.trace.calls[0].inputs == {"x": {"a": 1, "items": []}}


def test_a_service_cannot_change_what_it_answered() -> None:
    kept: dict[str, Any] = {"n": 1}

    def change() -> int:
        kept["n"] = 2
        return 0

    body = "let r = call first\ncall change\nreturn r"
    outcome = outcome_of(body, {"first": lambda: kept, "change": change})
    assert outcome.value == {"n": 1}
    assert outcome.trace.calls[0].value == {"n": 1}


def test_parallel_services_see_copies_of_their_own() -> None:
    def svc(x: list[int]) -> int:
        x.append(1)
        return len(x)

    body = "let o = []\nreturn parallel repeat 20:\n  call svc\n    x: o"
    assert outcome_of(body, {"svc": svc}).value == [1] * 20


# --- taking long, and being many at once -----------------------------------------------------------------------------


def test_a_late_answer_of_one_that_ignores_its_cancellation_is_still_too_late() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            await asyncio.sleep(5)
        return "late"

    engine = Engine(services={"svc": stubborn})
    pattern = engine.loads("try:\n  return call svc\n    timeout: 2\ncatch as e:\n  return e.code")
    assert run_virtual(engine.outcome_async(pattern, {})).value == "P408"


def test_a_loser_that_ignores_its_cancellation_does_not_win_after_all() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            await asyncio.sleep(5)
        return "late"

    async def quick() -> str:
        await asyncio.sleep(1)
        return "quick"

    engine = Engine(services={"stubborn": stubborn, "quick": quick})
    pattern = engine.loads('parallel ("first"):\n  let a = call stubborn\n  let b = call quick\nreturn [a, b]')
    assert run_virtual(engine.outcome_async(pattern, {})).value == [None, "quick"]


def test_a_hanging_thread_is_abandoned_by_its_timeout() -> None:
    release = threading.Event()

    def hang() -> str:
        release.wait(30)
        return "late"

    body = "try:\n  return call hang\n    timeout: 0.05\ncatch as e:\n  return e.code"
    try:
        outcome = outcome_of(body, {"hang": hang})
    finally:
        release.set()
    assert outcome.value == "P408"
    assert outcome.usage.calls == 1


class Crowd:
    """A service that counts how many of its calls are under way."""

    def __init__(self) -> None:
        self.now = self.most = self.calls = 0

    async def __call__(self, n: int = 0) -> int:
        self.calls += 1
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(1)
        self.now -= 1
        return n


@pytest.mark.parametrize("most", [1, 3, 7])
def test_the_number_of_calls_at_once_is_exact(most: int) -> None:
    crowd = Crowd()
    engine = Engine(services={"svc": crowd}, limits=Limits(concurrency=most))
    pattern = engine.loads(
        "return parallel repeat 4 as i:\n  parallel repeat 5 as j:\n    call svc\n      n: i * 10 + j"
    )
    value = run_virtual(engine.outcome_async(pattern, {})).value
    assert value == [[i * 10 + j for j in range(1, 6)] for i in range(1, 5)]
    assert (crowd.calls, crowd.most, crowd.now) == (20, most, 0)


def test_a_service_has_a_limit_of_its_own() -> None:
    crowd, other = Crowd(), Crowd()

    @prose.service(name="limited", max_concurrency=2)
    async def limited() -> int:
        return await crowd()

    engine = Engine(services={"limited": limited, "free": other})
    pattern = engine.loads("parallel repeat 6:\n  call limited\n  call free")
    run_virtual(engine.outcome_async(pattern, {}))
    assert (crowd.calls, crowd.most) == (6, 2)
    assert other.calls == 6


@pytest.mark.parametrize("limit", [1, 5, 19])
def test_no_branch_makes_a_call_too_many(limit: int) -> None:
    crowd = Crowd()
    engine = Engine(services={"svc": crowd}, limits=Limits(calls=limit))
    pattern = engine.loads("parallel repeat 20:\n  call svc")
    outcome = run_virtual(engine.outcome_async(pattern, {}))
    assert (outcome.status, crowd.calls, outcome.usage.calls, len(outcome.trace.calls)) == (
        "limited",
        limit,
        limit,
        limit,
    )
    assert crowd.now == 0 or crowd.now == limit, "cancelled calls were awaited"


def test_retries_count_in_the_limit_and_in_the_usage() -> None:
    seen: list[int] = []

    async def svc(n: int) -> None:
        seen.append(n)
        raise ValueError("no")

    engine = Engine(services={"svc": svc}, limits=Limits(calls=5))
    pattern = engine.loads("parallel for n in [1, 2]:\n  call svc\n    n: n\n    retry: 9")
    outcome = run_virtual(engine.outcome_async(pattern, {}))
    assert (outcome.status, len(seen), outcome.usage.calls) == ("limited", 5, 5)


def test_usage_of_failed_attempts_counts() -> None:
    script = prose.Script.from_data(
        {
            "a": [
                {"raises": "x", "usage": {"tokens_in": 5, "tokens_out": 1, "cost": 0.5}},
                {"returns": "ok", "usage": {"tokens_in": 7, "tokens_out": 2, "cost": 0.25}},
            ]
        }
    )
    engine = Engine(script=script)
    outcome = engine.outcome(engine.loads("return call a\n  retry: 1"), {})
    assert outcome.usage.as_json() == {"calls": 2, "tokens_in": 12, "tokens_out": 3, "cost": 0.75}


def test_cleanup_runs_when_a_loser_is_cancelled_and_may_call_services() -> None:
    log: list[str] = []

    async def slow() -> str:
        try:
            await asyncio.sleep(100)
        finally:
            log.append("slow stopped")
        return "slow"

    async def clean() -> None:
        await asyncio.sleep(3)
        log.append("cleaned")

    async def quick() -> str:
        await asyncio.sleep(1)
        log.append("won")
        return "quick"

    body = """
let r = parallel ("first"):
  do:
    try:
      call slow
    finally:
      call clean
  call quick
return r
"""
    engine = Engine(services={"slow": slow, "clean": clean, "quick": quick})
    outcome = run_virtual(engine.outcome_async(engine.loads(body), {}))
    assert (outcome.value, log) == ("quick", ["won", "slow stopped", "cleaned"])
    assert [(call.service, call.error and call.error["name"]) for call in outcome.trace.calls] == [
        ("slow", "cancelled"),
        ("clean", None),
        ("quick", None),
    ]


def test_recursion_through_functions_with_retry_and_timeout_ends_in_p307() -> None:
    text = """---
name: main
kind: pattern
---

### Slots

- None.

### Delegation

```prose
call deeper
  n: 0
```

## deeper

### Parameters

- `n`: number

### Execution

```prose
try:
  for x in [n]:
    let r = [x] | map:
      call deeper
        n: item + 1
        retry: 1
        timeout: 60
    return r
finally:
  let done = true
```
"""
    engine = Engine()
    error = engine.outcome(engine.loads(text), {}).error
    assert error is not None
    assert error.code == "P307"
