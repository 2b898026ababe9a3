"""The library's `race` and its losers: a `finally` of theirs that makes a call runs, is awaited, changes nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from prose_lang import Engine
from prose_lang.testing.clock import run_virtual

LOSER = """\
try:
  return call slow
    task: task_brief
{catch}finally:
  call tidy
    what: task_brief
"""


def raced(*, catch: str = "", tidy_fails: bool = False) -> tuple[Any, list[tuple[str, float]], float]:
    """A pattern with a `finally` against a function that takes 2 s: the outcome, the log, and when the race ended."""
    log: list[tuple[str, float]] = []

    def told(what: str) -> None:
        log.append((what, asyncio.get_running_loop().time()))

    async def slow(task: str) -> str:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            told("slow is cancelled")
            raise
        return "late"

    async def tidy(what: str) -> str:
        told("tidy begins")
        await asyncio.sleep(3)
        told("tidy ends")
        if tidy_fails:
            raise ValueError("the bin is full")
        return "tidied"

    async def quick(task_brief: str) -> str:
        await asyncio.sleep(2)
        return "there"

    async def main() -> tuple[Any, float]:
        engine = Engine(services={"slow": slow, "tidy": tidy})
        loser = engine.loads(LOSER.format(catch=catch))
        names = {"candidates": [loser, quick], "task_brief": "run"}
        outcome = await engine.run_async(engine.load("stdlib:race"), names)
        return outcome, asyncio.get_running_loop().time()

    outcome, ended = run_virtual(main())
    return outcome, log, ended


@pytest.mark.parametrize("catch", ["", "catch:\n  return call slow\n    task: task_brief\n"])
def test_a_loser_runs_its_finally_and_no_catch(catch: str) -> None:
    outcome, log, ended = raced(catch=catch)
    assert outcome.value == {"result": "there", "winner": "quick", "attempts": 1, "failure_history": []}
    assert log == [("slow is cancelled", 2), ("tidy begins", 2), ("tidy ends", 5)]
    assert ended == 5  # the race is over when the loser is


def test_the_call_of_the_finally_stands_in_the_trace_and_counts() -> None:
    outcome, _, _ = raced()
    assert [(call.service, call.value) for call in outcome.trace.calls if call.service in ("tidy", "quick")] == [
        ("tidy", "tidied"),
        ("quick", "there"),
    ]
    assert outcome.usage.calls == 3


def test_a_finally_that_fails_does_not_take_the_result() -> None:
    outcome, log, ended = raced(tidy_fails=True)
    assert outcome.value["result"] == "there"
    assert outcome.value["winner"] == "quick"
    assert log[-1] == ("tidy ends", 5)
    assert ended == 5
