"""Branches cannot fill the memory, however they are nested (L24, L25)."""

from __future__ import annotations

import asyncio

import pytest

import prose_lang as prose
from prose_lang.runtime.parallel import MAX_LIVE, MAX_STARTED, Live
from prose_lang.runtime.place import Place
from prose_lang.testing.clock import run_virtual
from prose_lang.text import Span


def test_branches_of_a_run_are_counted() -> None:
    live, place = Live(), Place(prose.Source("-", ""), Span(0, 0))
    assert live.take(10, place) == 10
    assert live.take(100_000, place) == MAX_STARTED
    while live.branches < MAX_LIVE:
        live.take(MAX_STARTED, place)
    assert live.take(5, place) == 1  # one branch goes on
    assert live.branches == MAX_LIVE + 1
    live.branches = 2 * MAX_LIVE
    with pytest.raises(prose.RunError) as caught:
        live.take(1, place)
    assert caught.value.code == "P307"


def test_a_block_that_starts_itself_twice_ends_at_the_ceiling() -> None:
    body = """block grow(n):
  parallel:
    do grow(n + 1)
    do grow(n + 1)
do grow(0)
"""
    engine = prose.Engine()
    outcome = engine.outcome(engine.loads(body), {})
    assert outcome.error is not None
    assert outcome.error.code == "P307"


def test_nested_fan_outs_stay_within_the_bound_and_give_everything() -> None:
    under_way, peak = 0, 0

    async def leaf(i: int) -> int:
        nonlocal under_way, peak
        under_way += 1
        peak = max(peak, under_way)
        await asyncio.sleep(1)
        under_way -= 1
        return i

    body = """let rows = parallel repeat 200 as i:
  parallel repeat 200 as k:
    call leaf
      i: i * k
return rows.length * rows[199].length
"""
    engine = prose.Engine(services=[leaf], limits=prose.Limits(calls=None), trace=False)
    outcome = run_virtual(engine.outcome_async(engine.loads(body), {}))
    assert outcome.value == 40_000
    assert peak <= MAX_LIVE
