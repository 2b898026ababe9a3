"""A store that fails once: what the run puts afterwards is not written, for a record has no holes (L35)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from prose_lang import Engine
from prose_lang.journal import Begun, Ended, Entry, Pen, RunRecord, StoreError, Writer, open_store
from prose_lang.journal.records import Change
from prose_lang.testing.clock import run_virtual


class Failing:
    """Fails at the change of one key, and takes everything else."""

    def __init__(self, folder: Path, key: str) -> None:
        self.inner = open_store(folder)
        self.key = key

    def write(self, changes: Sequence[Change]) -> None:
        if any(isinstance(change, Ended) and change.entry.key == self.key for change in changes):
            raise StoreError("P501", "the disk is full")
        self.inner.write(changes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def record(run: str) -> RunRecord:
    return RunRecord(run, "p", "{}", "{}", "{}", "", "0")


def test_later_changes_of_the_run_are_not_written_and_those_of_others_are(tmp_path: Path) -> None:
    store = Failing(tmp_path, "b")
    for run in ("one", "two"):
        store.inner.create(record(run), [])

    async def main() -> None:
        writer = Writer(store)  # type: ignore[arg-type]
        one, two = Pen(writer), Pen(writer)
        for key in "abc":
            one.put(Ended("one", Entry(key, "call", state="value", result="1")))
            two.put(Ended("two", Entry(key.upper(), "call", state="value", result="1")))
            one.hand_over()
            two.hand_over()
        await two.flushed()
        with pytest.raises(StoreError, match="the disk is full"):
            await one.flushed()
        one.put(Begun("one", Entry("d", "call")))
        with pytest.raises(StoreError, match="the disk is full"):
            await one.flushed()
        two.put(Begun("two", Entry("D", "call")))
        await two.flushed()

    asyncio.run(main())
    assert [entry.key for entry in store.inner.entries("one")] in ([], ["a"])
    assert [entry.key for entry in store.inner.entries("two")] == ["A", "B", "C", "D"]


@pytest.mark.parametrize("stop", ["continue", "stop"])
def test_a_run_says_so_and_its_record_breaks_off(tmp_path: Path, stop: str) -> None:
    store = Failing(tmp_path, "delegation/0.parallel[1]/0.call:worker")

    async def worker(n: int) -> int:
        return n

    engine = Engine(services=[worker], store=store, on_store_error=stop)  # type: ignore[arg-type]
    text = "let all = parallel repeat 3 as n:\n  call worker\n    n: n\ncall worker\n  n: 9\nreturn all\n"
    outcome = run_virtual(engine.outcome_async(engine.loads(text), {}))
    assert (outcome.unrecorded and outcome.unrecorded.message) == "the disk is full"
    assert store.inner.run(outcome.run_id).status == "running"  # as of a process that died
    if stop == "continue":
        assert (outcome.status, outcome.value) == ("ok", [1, 2, 3])
    else:
        assert (outcome.status, outcome.error and outcome.error.code) == ("failed", "P501")
    last = run_virtual(Engine(services=[worker], store=tmp_path).resuming.outcome_async(outcome.run_id))
    assert last.value == [1, 2, 3]
