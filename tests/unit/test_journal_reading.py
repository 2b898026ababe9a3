"""Going on with long runs (L35): what is read ahead, what is not written twice, and that others run meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from servers.stores import entry

import prose_lang as prose
from prose_lang.engine.outcome import Outcome
from prose_lang.handlers import journal_ledger, journal_reading
from prose_lang.handlers.journal import BREATH
from prose_lang.handlers.journal_reading import Reader
from prose_lang.handlers.journal_usage import spent, usage_of
from prose_lang.handlers.limits import Spent
from prose_lang.journal import Change, Entry, Store
from prose_lang.journal.records import Decided
from prose_lang.journal.sqlite import SqliteStore

_HEAD = """---
name: long
kind: pattern
---

### Slots

- `step`
- `last`

### Config

- `rounds`: 6

### Delegation

```prose
"""
LOOP = f"""{_HEAD}let n = 0
loop while n < rounds (max: rounds):
  n = call step
    n: n
  if n > 2:
    n = n
return call last
```
"""
BRANCHES = f"""{_HEAD}let values = parallel repeat rounds as i:
  if i > 2:
    let again = i
  call step
    n: i
return call last
```
"""


async def step(n: int) -> int:
    return n + 1


async def last() -> str:
    return "done"


class Run:
    """A run that is interrupted in its last call, and gone on with."""

    def __init__(self, folder: Path, text: str, rounds: int = 6) -> None:
        self.engine = prose.Engine(store=folder, limits=prose.Limits(calls=None))
        self.pattern = self.engine.loads(text)
        self.names: dict[str, Any] = {"step": step, "rounds": rounds}

    @property
    def store(self) -> SqliteStore:
        assert self.engine.records is not None
        return cast("SqliteStore", self.engine.records.store)

    def interrupted(self) -> Outcome:
        async def main() -> Outcome:
            left: list[Outcome] = []

            async def stuck() -> str:
                work.cancel()
                await asyncio.sleep(3600)
                return "never"

            stuck.__name__ = "last"
            names = {**self.names, "last": stuck}
            work = asyncio.ensure_future(self.engine.outcome_async(self.pattern, names, left))
            with pytest.raises(asyncio.CancelledError):
                await work
            return left[0]

        return asyncio.run(main())

    def resumed(self, run: str) -> Outcome:
        return asyncio.run(self.engine.resuming.outcome_async(run, {**self.names, "last": last}))

    def decisions(self, run: str) -> list[tuple[str, str, str]]:
        return [(one.address, one.outcome, one.values) for one in self.store.decisions(run)]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Change]:
    """All changes that are written from now on."""
    found: list[Change] = []
    write = SqliteStore.write

    def noted(self: SqliteStore, changes: Any) -> None:
        found.extend(changes)
        write(self, changes)

    monkeypatch.setattr(SqliteStore, "write", noted)
    return found


def decided(changes: list[Change]) -> list[str]:
    return sorted(change.address for change in changes if isinstance(change, Decided))


@pytest.mark.parametrize("text", [LOOP, BRANCHES])
def test_decisions_that_are_on_record_are_not_written_again(tmp_path: Path, text: str, written: list[Change]) -> None:
    run = Run(tmp_path / "s", text)
    outcome = run.interrupted()
    assert outcome.status == "interrupted"
    before = run.decisions(outcome.run_id)
    assert len(before) == len(decided(written)) >= 6
    written.clear()
    assert run.resumed(outcome.run_id).status == "ok"
    # Those after an activation's last call may not have been written: they are written once more.
    assert len(decided(written)) <= 1
    assert run.decisions(outcome.run_id) == before


@pytest.mark.parametrize("text", [LOOP, BRANCHES])
@pytest.mark.parametrize("held", [0, 1, 1000])
def test_decisions_that_were_lost_are_written_when_they_are_made_again(
    tmp_path: Path, text: str, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may die after a decision, before it was written: then no call that followed it is on record."""
    monkeypatch.setattr(journal_ledger, "_HELD", held)
    run = Run(tmp_path / "s", text)
    outcome = run.interrupted()
    whole = run.decisions(outcome.run_id)
    database = run.store._link.database
    # As if it had died in the third call. What the first two waited for is on record, and nothing else is.
    for call in run.store.entries(outcome.run_id, ["call"])[2:]:
        database.execute("DELETE FROM entries WHERE key = ?", (call.key,))
    for one in run.store.decisions(outcome.run_id):
        before = "[1]" in one.address or ("[0]" if text is BRANCHES else "[2]") in one.address
        before = before and ("[2]" not in one.address or "rounds" in one.text)
        if not before:
            database.execute("DELETE FROM decisions WHERE address = ?", (one.address,))
    assert 2 <= len(run.decisions(outcome.run_id)) < len(whole)
    again = run.resumed(outcome.run_id)
    assert again.status == "ok", again.error
    assert run.decisions(outcome.run_id) == whole


def test_others_run_while_a_long_run_is_read_back(tmp_path: Path) -> None:
    run = Run(tmp_path / "s", LOOP, rounds=1_000)
    outcome = run.interrupted()

    async def main() -> tuple[int, str]:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside = asyncio.ensure_future(other())
        found = await run.engine.resuming.outcome_async(outcome.run_id, {**run.names, "last": last}, replay=True)
        beside.cancel()
        return turns, found.status

    turns, status = asyncio.run(main())
    assert status == "failed"  # the last call is not in the record
    assert turns >= 1_000 // BREATH


class Kept:
    """A store of entries that have the numbers 0, 1, … as their keys."""

    def __init__(self, count: int) -> None:
        self.found = [entry(str(number), request="x" * 1000) for number in range(count)]
        self.asked = 0

    def find(self, run: str, key: str, ahead: int = 0) -> list[Entry]:
        self.asked += 1
        at = int(key)
        return self.found[at : at + ahead + 1] if at < len(self.found) else []


def test_a_reader_asks_once_for_many_and_keeps_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_reading, "_AHEAD", 9)
    monkeypatch.setattr(journal_reading, "_KEPT", 40_000)
    kept = Kept(100)
    reader = Reader(cast("Store", kept), "r")
    for number in range(100):
        found = reader.find(str(number))
        assert found is not None
        assert found.key == str(number)
    assert kept.asked == 10
    assert reader.find("100") is None
    assert (reader._size, len(reader._ahead)) == (0, 0)
    for start in range(0, 100, 5):  # in another order than they were begun
        assert reader.find(str(start)) is kept.found[start]
        assert reader._size == sum(1_000 + len(one.request) for one in reader._ahead.values()) <= 40_000


def test_what_was_used_is_counted_together_where_the_names_are_the_same() -> None:
    entries = [
        entry("a", service="one", state="value", attempts=2, usage="[10,5,0.5]", within='["p"]'),
        entry("b", service="one", attempts=1, usage=None, reserved="[100,0.25]", within='["p"]'),
        entry("c", service="one", state="value", attempts=1, usage="[1,1,null]", within="[]"),
        entry("d", service="two", attempts=1, reserved="[7,null]", within='["p"]'),
    ]
    assert spent(entries) == [
        Spent(frozenset({"p", "one"}), 3, 115, 0.75),
        Spent(frozenset({"one"}), 1, 2, 0.0),
        Spent(frozenset({"p", "two"}), 1, 7, 0.0),
    ]
    assert usage_of(entries).as_json() == {"calls": 5, "tokens_in": 11, "tokens_out": 6, "cost": None}
