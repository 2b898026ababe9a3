"""Running through the Python API: loops, threads, observers, cancellation, and what comes out of it."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from typing import Any

import pytest

import prose_lang as prose
from prose_lang import Engine, Limits
from prose_lang.testing.clock import run_virtual

ONE_CALL = "let r = call svc\n  n: n\nreturn r"

SLOTTED = """---
name: slotted
kind: pattern
---

### Slots

- `svc`: does it

### Requires

- `n`: number

### Delegation

```prose
let r = parallel repeat 3 as i:
  call svc
    n: n * 10 + i
return r
```
"""


async def echo(n: int) -> int:
    await asyncio.sleep(0)
    return n


# --- run and arun ----------------------------------------------------------------------------------------------------


def test_run_raises_the_error_with_its_outcome() -> None:
    def svc(n: int) -> None:
        raise ValueError("no")

    engine = Engine(services={"svc": svc})
    with pytest.raises(prose.ServiceError) as caught:
        engine.run(engine.loads(ONE_CALL), {"n": 1})
    outcome = caught.value.outcome
    assert (outcome.status, outcome.error) == ("failed", caught.value)
    assert [(call.service, call.inputs, call.error["message"]) for call in outcome.trace.calls] == [
        ("svc", {"n": 1}, "no")
    ]
    assert outcome.run_id


def test_errors_before_the_run_have_an_outcome_too() -> None:
    engine = Engine()
    with pytest.raises(prose.CheckError) as caught:
        engine.run(engine.loads("return call nobody"), {})
    assert (caught.value.code, caught.value.outcome.status) == ("P202", "invalid")


def test_a_limit_leaves_what_was_done() -> None:
    engine = Engine(services={"svc": echo}, limits=Limits(calls=2))
    pattern = engine.loads("repeat 5 as i:\n  call svc\n    n: i")
    with pytest.raises(prose.LimitError) as caught:
        engine.run(pattern, {})
    assert [call.value for call in caught.value.outcome.trace.calls] == [1, 2]


def test_run_inside_a_running_loop_names_arun() -> None:
    async def main() -> str:
        try:
            prose.loads("return 1").run()
        except RuntimeError as error:
            return str(error)
        return ""

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = asyncio.run(main())
        gc.collect()
    assert "arun" in message


def test_arun_gives_the_outcome() -> None:
    async def main() -> Any:
        return (await prose.loads("return n + 1").arun(n=1)).value

    assert asyncio.run(main()) == 2


def test_fifty_runs_of_one_pattern_at_once_keep_their_traces_apart() -> None:
    async def svc(n: int) -> int:
        await asyncio.sleep(100 - n % 7)
        return n

    async def main() -> list[prose.Outcome]:
        return await asyncio.gather(*[engine.run_async(pattern, {"svc": svc, "n": n}) for n in range(50)])

    engine = Engine()
    pattern = engine.loads(SLOTTED)
    outcomes = run_virtual(main())
    for n, outcome in enumerate(outcomes):
        assert outcome.value == [n * 10 + i for i in (1, 2, 3)]
        assert [call.inputs["n"] for call in outcome.trace.calls] == outcome.value
        assert outcome.usage.calls == 3
    assert len({outcome.run_id for outcome in outcomes}) == 50


def test_concurrent_runs_have_limits_of_their_own() -> None:
    async def main() -> list[str]:
        outcomes = await asyncio.gather(*[engine.outcome_async(pattern, {"n": n}) for n in range(10)])
        return [outcome.status for outcome in outcomes]

    engine = Engine(services={"svc": echo}, limits=Limits(calls=1))
    pattern = engine.loads(ONE_CALL)
    assert run_virtual(main()) == ["ok"] * 10


def test_scripted_replies_belong_to_one_run() -> None:
    engine = Engine(script=prose.Script.from_data({"svc": ["first"]}))
    pattern = engine.loads("return call svc")
    assert [engine.run(pattern, {}).value for _ in range(3)] == ["first"] * 3


def test_a_second_run_says_the_same_as_the_first() -> None:
    """What an engine keeps between runs must not show: lints, warnings, trace."""

    async def svc() -> int:
        return 1

    engine = Engine()
    text = SLOTTED.replace("n: n * 10 + i", "n: n * 10 + i\n    more: nobody")
    pattern = engine.loads(text)
    first, second, third = (engine.outcome(pattern, {"svc": svc, "n": 1}).as_json() for _ in range(3))
    for other in (first, second, third):
        del other["run_id"]
        for call in other["calls"]:
            del call["seconds"]
    assert first["warnings"]
    assert first["diagnostics"]
    assert second == first
    assert third == first


def test_a_broken_pattern_in_a_slot_spoils_no_later_run() -> None:
    engine = Engine()
    pattern = engine.loads(SLOTTED)
    broken = engine.loads('return "{nobody}"')
    for _ in range(2):
        assert engine.outcome(pattern, {"svc": broken, "n": 1}).status == "invalid"
        assert engine.outcome(pattern, {"svc": echo, "n": 1}).value == [11, 12, 13]


def test_a_broken_pattern_stays_broken() -> None:
    engine = Engine()
    pattern = engine.loads("return call nobody")
    codes = [[item.code for item in engine.outcome(pattern, {}).diagnostics] for _ in range(3)]
    assert codes == [["P202"]] * 3


def test_one_engine_for_many_threads() -> None:
    engine = Engine(services={"svc": echo})
    pattern, slotted = engine.loads(ONE_CALL), engine.loads(SLOTTED)
    inner = engine.loads(ONE_CALL, "inner")
    found: list[list[Any]] = [[] for _ in range(8)]
    start = threading.Barrier(8)

    def work(thread: int) -> None:
        start.wait(10)
        for n in range(15):
            outcome = engine.outcome(pattern, {"n": n})
            nested = engine.outcome(slotted, {"svc": inner, "n": n})
            found[thread].append((outcome.value, nested.value, len(outcome.trace.calls), len(nested.trace.calls)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    expected = [(n, [n * 10 + i for i in (1, 2, 3)], 1, 3) for n in range(15)]
    assert found == [expected] * 8


# --- cancelling ------------------------------------------------------------------------------------------------------


def test_cancelling_arun_waits_for_the_services_to_clean_up() -> None:
    log: list[str] = []

    async def svc(n: int) -> int:
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(n)
            log.append(f"cleaned {n}")
        return n

    async def main() -> float:
        run = asyncio.create_task(engine.run_async(pattern, {}))
        await asyncio.sleep(1)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        return asyncio.get_running_loop().time()

    engine = Engine(services={"svc": svc})
    pattern = engine.loads("parallel for n in [3, 2]:\n  call svc\n    n: n")
    assert run_virtual(main()) == 4
    assert log == ["cleaned 2", "cleaned 3"]


def test_cancelling_runs_finally_and_no_catch() -> None:
    log: list[str] = []

    async def slow() -> None:
        await asyncio.sleep(100)

    async def note(what: str) -> None:
        await asyncio.sleep(1)
        log.append(what)

    async def main() -> None:
        run = asyncio.create_task(engine.run_async(pattern, {}))
        await asyncio.sleep(1)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    engine = Engine(services={"slow": slow, "note": note})
    pattern = engine.loads(
        'try:\n  call slow\ncatch:\n  call note\n    what: "caught"\nfinally:\n  call note\n    what: "finally"'
    )
    run_virtual(main())
    assert log == ["finally"]


def test_wait_for_gives_up_on_a_run() -> None:
    async def svc() -> None:
        await asyncio.sleep(100)

    async def main() -> float:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(engine.run_async(engine.loads("return call svc"), {}), 2)
        return asyncio.get_running_loop().time()

    engine = Engine(services={"svc": svc})
    assert run_virtual(main()) == 2


def test_the_run_s_time_ends_an_endless_computation() -> None:
    engine = Engine(limits=Limits(seconds=0.05), max_passes=10**9)
    outcome = engine.outcome(engine.loads("let n = 0\nloop:\n  n = n + 1"), {})
    assert outcome.error is not None
    assert (outcome.status, outcome.error.code) == ("limited", "P405")


def test_no_task_is_left_behind() -> None:
    async def svc(n: int) -> int:
        await asyncio.sleep(n)
        if n == 2:
            raise ValueError("two")
        return n

    async def main() -> int:
        engine = Engine(services={"svc": svc})
        for body in (
            "parallel for n in [1, 2, 3]:\n  call svc\n    n: n",
            'parallel for n in [1, 5, 3] ("first"):\n  call svc\n    n: n',
            "parallel for n in [1, 3]:\n  call svc\n    n: n\n    timeout: 2",
            "[1, 2, 3] | pmap:\n  call svc\n    n: item",
        ):
            await engine.outcome_async(engine.loads(body), {})
            assert len(asyncio.all_tasks()) == 1
        return len(asyncio.all_tasks())

    assert run_virtual(main()) == 1


# --- observers and traces --------------------------------------------------------------------------------------------


def test_an_observer_that_raises_is_not_asked_again() -> None:
    asked: list[Any] = []
    seen: list[str] = []

    def bad(event: Any) -> None:
        asked.append(event)
        raise RuntimeError("observer broke")

    engine = Engine(services={"svc": echo}, observers=[bad, lambda event: seen.append(type(event).__name__)])
    outcome = engine.outcome(engine.loads(ONE_CALL), {"n": 1})
    assert (outcome.status, outcome.value) == ("ok", 1)
    assert len(asked) == 1
    assert seen.count("CallStarted") == seen.count("CallFinished") == 1
    engine.outcome(engine.loads(ONE_CALL), {"n": 1})
    assert len(asked) == 2, "in the next run it is asked anew"


@pytest.mark.parametrize("error", [SystemExit(1), asyncio.CancelledError()])
def test_an_observer_cannot_end_a_run(error: BaseException) -> None:
    def bad(event: Any) -> None:
        raise error

    engine = Engine(services={"svc": echo}, observers=[bad])
    assert engine.outcome(engine.loads(ONE_CALL), {"n": 1}).value == 1


def test_an_observer_cannot_change_what_the_program_sees() -> None:
    def meddle(event: Any) -> None:
        for values in (getattr(event, "inputs", {}), getattr(event, "values", {}), {"": getattr(event, "value", None)}):
            for value in values.values():
                if isinstance(value, dict):
                    value["n"] = 99
            values["n"] = 99

    async def svc(x: dict[str, int]) -> dict[str, int]:
        return x

    engine = Engine(services={"svc": svc}, observers=[meddle])
    body = "let o = { n: 1 }\nlet r = call svc\n  x: o\nif r:\n  return [o, r]"
    outcome = engine.outcome(engine.loads(body), {})
    assert outcome.value == [{"n": 1}, {"n": 1}]
    assert outcome.trace.calls[0].inputs == {"x": {"n": 1}}


def test_without_a_trace_only_the_sums_are_kept() -> None:
    engine = Engine(services={"svc": echo}, trace=False)
    outcome = engine.outcome(engine.loads("repeat 5 as i:\n  if i > 0:\n    call svc\n      n: i\nreturn 1"), {})
    assert (outcome.value, outcome.usage.calls) == (1, 5)
    assert (outcome.trace.calls, outcome.trace.decisions) == ((), ())


def test_warnings_are_errors_under_strict() -> None:
    pattern = "let o = {}\nlet x = o.missing\nreturn x"
    lenient, strict = Engine(), Engine(strict=True)
    assert [item.code for item in lenient.outcome(lenient.loads(pattern), {}).trace.warnings] == ["P303"]
    error = strict.outcome(strict.loads(pattern), {}).error
    assert error is not None
    assert (error.code, error.as_diagnostic().line) == ("P303", 2)


def test_the_value_of_a_run_is_the_receiver_s_to_change() -> None:
    engine = Engine()
    pattern = engine.loads("return x")
    given = {"a": [1]}
    value = engine.run(pattern, {"x": given}).value
    value["a"].append(2)
    assert given == {"a": [1]}


def test_given_values_are_copied() -> None:
    given = {"a": [1]}

    async def svc(x: Any) -> Any:
        given["a"].append(2)
        return x

    engine = Engine(services={"svc": svc})
    value = engine.run(engine.loads("let r = call svc\n  x: x\nreturn [x, r]"), {"x": given}).value
    assert value == [{"a": [1]}, {"a": [1]}]


def test_an_endless_value_given_to_a_run_is_refused() -> None:
    items: list[Any] = []
    items.append(items)
    error = Engine().outcome(prose.loads("return x"), {"x": items}).error
    assert error is not None
    assert error.code == "P211"


def test_names_that_nothing_takes_are_told_with_the_nearest() -> None:
    engine = Engine()
    error = engine.outcome(engine.loads(SLOTTED), {"svcs": echo, "m": 1}).error
    assert error is not None
    assert sorted(item.code or "" for item in error.diagnostics) == ["P203", "P203", "P210", "P210"]
