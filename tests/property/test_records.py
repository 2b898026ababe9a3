"""Random programs survive being cut off after any change that was written of them, and come out of their records again,
in whatever order things happen (L35).

What is durable of a run is always a beginning of its changes. So a run that was killed is one whose store was given
some of the changes of a whole run, and no more.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from programs import write_program
from scale import seeds
from services import Services
from shuffled import ShuffledLoop, run_shuffled
from test_random_programs import names_for, plain

import prose_lang as prose
from prose_lang.engine.outcome import Outcome
from prose_lang.journal import Change
from prose_lang.journal.sqlite import SqliteStore
from prose_lang.testing.clock import run_virtual


class Watched(SqliteStore):
    """A store that remembers its changes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.changes: list[Change] = []

    def write(self, changes: Sequence[Change]) -> None:
        super().write(changes)
        self.changes += changes


def engine_on(store: SqliteStore, services: Services) -> prose.Engine:
    return prose.Engine(
        services=services.all(), judge=services.judge, limits=prose.Limits(calls=None), store=store
    )  # fmt: skip


def begun(text: str, store: SqliteStore, services: Services) -> Outcome:
    engine = engine_on(store, services)
    return run_virtual(engine.outcome_async(engine.loads(text, "generated.prose.md"), names_for(services)))


def told(outcome: Outcome) -> dict[str, Any]:
    """What a run came to; attempts that were cut off count in one and not in another."""
    found = plain(outcome)
    return {**found, "calls": [call[:-1] for call in found["calls"]]}


@pytest.mark.parametrize("seed", seeds(30))
def test_a_replay_is_the_run_again_without_a_call(seed: int, tmp_path: Path) -> None:
    """With races: who won them is on record, and of those who lost nothing is done again."""
    services = Services(seed)
    store = SqliteStore(tmp_path)
    first = begun(write_program(5000 + seed, 25, races=seed % 3 > 0), store, services)
    wanted = plain(first)
    assert first.unrecorded is None
    for order in range(3):
        idle = Services(seed)
        engine = engine_on(store, idle)
        replay = run_shuffled(engine.resuming.outcome_async(first.run_id, idle.slots(), replay=True), (seed, order))
        assert idle.started == 0
        found = plain(replay)
        for part in ("status", "value", "error"):
            assert found[part] == wanted[part]
        if seed % 3 == 0:
            assert found == wanted
        for part in ("calls", "decisions", "warnings"):
            assert all(item in wanted[part] for item in found[part]), part
        if order:
            continue
        recorded = engine.resuming.store.run(first.run_id)
        assert recorded.status == first.status
        assert told(run_virtual(engine.resuming.outcome_async(first.run_id, idle.slots())))["value"] == wanted["value"]
    store.close()


@pytest.mark.parametrize("seed", seeds(30))
def test_a_run_that_is_cut_off_anywhere_comes_to_the_same(seed: int, tmp_path: Path) -> None:
    """Three times, each time after some of what was written since; and no call that is on record is made again."""
    rng = random.Random(seed)
    text = write_program(6000 + seed, 8 + seed % 20)
    services = Services(seed)
    store = Watched(tmp_path / "whole")
    first = begun(text, store, services)
    wanted = told(first)
    made = {entry.key: entry.attempts for entry in store.entries(first.run_id, ("call", "ask"))}
    assert sum(made.values()) == services.started
    changes, record, sources = store.changes, store.run(first.run_id), store.sources(first.run_id)
    for session in range(3):
        kept = changes[: rng.randint(0, len(changes))]
        cut = Watched(tmp_path / str(session))
        cut.create(record, sources)
        cut.write(kept)
        known = {entry.key for entry in cut.entries(first.run_id) if entry.final}
        cut.changes.clear()
        services = Services(rng.randrange(1000))
        engine = engine_on(cut, services)
        outcome = run_virtual(engine.resuming.outcome_async(first.run_id, services.slots()))
        assert told(outcome) == wanted
        assert services.started == sum(attempts for key, attempts in made.items() if key not in known)
        assert outcome.usage.calls == sum(entry.attempts for entry in cut.sums(first.run_id))
        assert outcome.unrecorded is None
        changes = [*kept, *cut.changes]
        cut.close()
    store.close()


@pytest.mark.parametrize("seed", seeds(15))
def test_races_that_are_on_record_stay_as_they_were(seed: int, tmp_path: Path) -> None:
    """Whoever wins after a run was cut off: what was known by then is not decided again, and what came out is what a
    replay gives."""
    rng = random.Random(seed)
    services = Services(seed)
    store = Watched(tmp_path / "whole")
    first = begun(write_program(7000 + seed, 25, races=True), store, services)
    changes, record, sources = store.changes, store.run(first.run_id), store.sources(first.run_id)
    for session in range(3):
        kept = changes[: rng.randint(0, len(changes))]
        cut = Watched(tmp_path / str(session))
        cut.create(record, sources)
        cut.write(kept)
        # What a loser does in its `finally` belongs to what it had begun: begun again, it is done again.
        known = {
            entry.key: entry
            for entry in cut.entries(first.run_id)
            if entry.final and not entry.key.startswith("leaving:")
        }
        cut.changes.clear()
        services = Services(rng.randrange(1000))
        outcome = run_virtual(engine_on(cut, services).resuming.outcome_async(first.run_id, services.slots()))
        assert outcome.status in ("ok", "failed")
        now = {entry.key: entry for entry in cut.entries(first.run_id)}
        assert all(now[key] == entry for key, entry in known.items())
        idle = Services(0)
        replay = run_shuffled(
            engine_on(cut, idle).resuming.outcome_async(first.run_id, idle.slots(), replay=True), seed
        )  # fmt: skip
        assert idle.started == 0
        assert [told(replay)[part] for part in ("status", "value", "error")] == [
            told(outcome)[part] for part in ("status", "value", "error")
        ]
        changes = [*kept, *cut.changes]
        cut.close()
    store.close()


def test_the_loop_shuffles() -> None:
    """Ten tasks that are ready at once begin in orders that depend on the seed."""
    import asyncio

    async def main() -> tuple[int, ...]:
        order: list[int] = []

        async def note(number: int) -> None:
            order.append(number)

        await asyncio.gather(*(note(number) for number in range(10)))
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ShuffledLoop)
        assert loop.shuffled
        return tuple(order)

    found = Counter(run_shuffled(main(), seed) for seed in range(20))
    assert len(found) == 20
    assert run_shuffled(main(), 3) == run_shuffled(main(), 3)
