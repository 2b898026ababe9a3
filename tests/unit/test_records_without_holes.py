"""A record is a beginning of what happened, whatever the store does; a decision that is read back names who made it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from models_fakes import Fake

import prose_lang as prose
from prose_lang import Engine, Outcome
from prose_lang.journal import Change, Ended, StoreError
from prose_lang.journal.sqlite import SqliteStore
from prose_lang.testing.clock import run_virtual

PROGRAM = """\
let both = parallel:
  call quick
    x: 1
  call slow
    x: 2
let last = call third
  x: both
return last
"""


class FailsOnce(SqliteStore):
    """A store that cannot write the first end of a call, and can write everything after it."""

    failed = False

    def write(self, changes: Sequence[Change]) -> None:
        if not self.failed and any(isinstance(change, Ended) for change in changes):
            self.failed = True
            raise StoreError("P503", "it is locked by another process")
        super().write(changes)


def run(store: Any, policy: str) -> tuple[Outcome, list[str]]:
    made: list[str] = []

    async def quick(x: Any) -> Any:
        made.append("quick")
        return x

    async def slow(x: Any) -> Any:
        await asyncio.sleep(1)
        made.append("slow")
        return x

    async def third(x: Any) -> Any:
        made.append("third")
        return x

    engine = Engine(services=[quick, slow, third], store=store, on_store_error=policy)
    return run_virtual(engine.outcome_async(engine.loads(PROGRAM), {})), made


def test_nothing_is_written_after_what_could_not_be(tmp_path: Path) -> None:
    store = FailsOnce(tmp_path)
    outcome, made = run(store, "continue")
    assert (outcome.value, made) == ([1, 2], ["quick", "slow", "third"])
    assert str(outcome.unrecorded) == "it is locked by another process"
    assert {entry.key[-6:]: entry.state for entry in store.entries(outcome.run_id)} == {
        ":quick": "started", "l:slow": "started"
    }  # fmt: skip
    assert store.run(outcome.run_id).status == "running"


def test_a_run_that_is_to_stop_does_so_before_its_next_call(tmp_path: Path) -> None:
    outcome, made = run(FailsOnce(tmp_path), "stop")
    assert (outcome.status, outcome.error.code, made) == ("failed", "P503", ["quick", "slow"])  # type: ignore[union-attr]


def test_a_decision_that_is_read_back_names_its_model(tmp_path: Path) -> None:
    fake = Fake('{"reason": "so", "holds": true}')
    engine = Engine(completion=fake, store=tmp_path, judge=prose.ref("model:openai/j"))
    pattern = engine.loads('let x = "please"\nif x is polite:\n  return 1\nreturn 0')
    first = engine.outcome(pattern, {})
    [asked] = [decision.judge for decision in first.trace.decisions]
    again = engine.replay(first.run_id)
    assert [decision.judge for decision in again.trace.decisions] == [asked]
    assert asked == {"model": "openai/j", "prompt": "judge-1", "cached": False}


@pytest.mark.parametrize("policy", ["continue", "stop"])
def test_a_run_that_broke_off_so_is_gone_on_with(tmp_path: Path, policy: str) -> None:
    """Its own process had calls that the record does not know; they are made again, and nothing contradicts it."""
    outcome, _ = run(FailsOnce(tmp_path), policy)
    made: list[str] = []

    async def quick(x: Any) -> Any:
        made.append("quick")
        return [x]  # another answer than before: whatever was recorded after it would have been P502

    async def slow(x: Any) -> Any:
        made.append("slow")
        return x

    async def third(x: Any) -> Any:
        made.append("third")
        return x

    engine = Engine(services=[quick, slow, third], store=tmp_path)
    assert engine.resume(outcome.run_id).value == [[1], 2]
    assert made == ["quick", "slow", "third"]
