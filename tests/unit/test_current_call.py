"""What a service may know of the call that it answers: `current_call()` (L35)."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import prose_lang as prose
from prose_lang import CurrentCall, Engine
from prose_lang.runtime.current import ANSWERED
from prose_lang.testing.clock import run_virtual


def test_in_every_kind_of_function() -> None:
    seen: dict[str, CurrentCall | None] = {}

    def threaded(n: int) -> int:
        seen["threaded"] = prose.current_call()
        return n

    @prose.service(inline=True)
    def inline(n: int) -> int:
        seen["inline"] = prose.current_call()
        return n

    async def waiting(n: int) -> int:
        await asyncio.sleep(0)
        seen["waiting"] = await asyncio.create_task(asyncio.to_thread(prose.current_call))
        return n

    engine = Engine(services=[threaded, inline, waiting])
    names = ("threaded", "inline", "waiting")
    text = "parallel:\n" + "".join(f"  let {name} = call {name}\n    n: 1\n" for name in names)
    outcome = engine.run(engine.loads(text), {})
    for number, name in enumerate(names):
        found = seen[name]
        assert found is not None
        assert outcome.trace.calls[number].address == found.address
        assert found.address.endswith(f"call:{name}")
        assert found == CurrentCall(outcome.run_id, found.address, 1, f"{outcome.run_id}:{found.address}")
    assert prose.current_call() is None


def test_each_attempt_and_each_call_of_a_fan_out() -> None:
    seen: list[tuple[str, int]] = []

    async def worker(n: int) -> int:
        call = prose.current_call()
        assert call is not None
        await asyncio.sleep(1 / n)
        assert prose.current_call() == call  # whatever else has begun and ended meanwhile
        seen.append((call.address, call.attempt))
        if call.attempt == 1:
            raise OSError("not yet")
        return n

    engine = Engine(services=[worker])
    text = "return parallel repeat 3 as n:\n  call worker\n    n: n\n    retry: 1\n"
    run_virtual(engine.run_async(engine.loads(text), {}))
    addresses = [f"delegation/0.parallel[{number}]/0.call:worker" for number in range(3)]
    assert sorted(seen) == [(address, attempt) for address in addresses for attempt in (1, 2)]


def test_a_nested_pattern_and_what_a_service_starts_itself() -> None:
    seen: list[Any] = []

    async def outer(n: int) -> Any:
        before = prose.current_call()
        inner = Engine(services={"leaf": lambda: prose.current_call()})
        found = await inner.run_async(inner.loads("let a = call leaf\nreturn a.address"), {})
        seen.append((before, found.value))
        assert prose.current_call() == before
        return n

    engine = Engine(services=[outer])
    engine.run(engine.loads("call outer\n  n: 1"), {})
    [(before, inside)] = seen
    assert (before.address, inside) == ("delegation/0.call:outer", "delegation/0.call:leaf")


def test_it_costs_next_to_nothing() -> None:
    """Within a microsecond: setting and forgetting it, as the dispatcher does for each attempt."""
    effect: Any = object()
    best = min(_timed(lambda: ANSWERED.reset(ANSWERED.set(effect))) for _ in range(5))
    assert best < 2e-6  # 0.2 µs on an idle machine


def _timed(work: Any) -> float:
    began = time.perf_counter()
    for _ in range(2_000):
        work()
    return (time.perf_counter() - began) / 2_000


def test_it_is_a_public_name() -> None:
    assert {"current_call", "CurrentCall"} <= set(prose.__all__)
    with pytest.raises(AttributeError):
        prose.current_calls  # noqa: B018
