"""Detached runs: what they may be given, and their evaluation by workers from their records."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import attrs
import pytest
from dying_store import DyingStore
from servers.temporal import TemporalServer

from prose_lang import Engine, Limits, ref
from prose_lang.diagnostics import CheckError, RunError
from prose_lang.engine.evaluating import evaluations
from prose_lang.journal import Store, StoreError, open_store
from prose_lang.transports import RunTask
from prose_lang.transports.performing import Performer

ROUNDS = """
---
name: rounds
kind: pattern
---

### Slots

- `helper`: what helps

### Parameters

- `items`: number[] -- what to do

### Delegation

```prose
let done = parallel for i in items:
  call helper
    n: i
let last = call helper
  n: 1000
return { done: done, last: last }
```
""".lstrip()


class Recorded:
    """A transport that carries nothing and remembers what it was given."""

    def __init__(self, failing: bool = False) -> None:
        self.started: list[RunTask] = []
        self.failing = failing

    async def open(self) -> None: ...

    async def call(self, task: Any, store: Any = None) -> Any:
        raise AssertionError("nothing is called")

    async def start(self, task: RunTask) -> None:
        if self.failing:
            raise RunError("P504", "gone")
        self.started.append(task)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


def engine(store: Store, transport: Any, **more: Any) -> Engine:
    return Engine(services={"work": lambda n: n}, store=store, transport=transport, **more)


# --- handing over ----------------------------------------------------------------------------------------------------


def test_a_detached_run_is_on_record_before_it_is_handed_over(store: Store) -> None:
    carried = Recorded()
    made = engine(store, carried, limits=Limits(calls=7), strict=True, model="openai/gpt-x")
    run = made.detach(made.loads(ROUNDS), {"helper": "work", "items": [1, 2]})
    assert carried.started == [RunTask(run, {})]
    record = store.run(run)
    assert record.status == "running"
    assert not store.held(run)
    assert json.loads(record.names)["values"] == {"items": [1, 2]}
    options = json.loads(record.options)
    assert (options["limits"]["calls"], options["strict"], options["model"]) == (7, True, "openai/gpt-x")
    assert store.sources(run)[0].text == ROUNDS


def test_models_go_along(store: Store) -> None:
    carried = Recorded()
    made = engine(store, carried)
    run = made.detach(made.loads(ROUNDS), {"helper": ref("model:openai/gpt-x"), "items": [1]})
    assert carried.started == [RunTask(run, {"helper": "model:openai/gpt-x"})]


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (ref("cmd:cat"), "`helper` is bound to `cmd:cat`, which other processes do not have"),
        (ref("py:math:sqrt"), "`helper` is bound to `py:math:sqrt`, which other processes do not have"),
        (lambda n: n, "`helper` is bound to `<lambda>`, which other processes do not have"),
    ],
)
def test_what_is_of_this_process_cannot_be_given(store: Store, bound: Any, said: str) -> None:
    carried = Recorded()
    made = engine(store, carried)
    with pytest.raises(CheckError) as raised:
        made.detach(made.loads(ROUNDS), {"helper": bound, "items": [1]})
    assert [item.message for item in raised.value.diagnostics] == [said]
    assert raised.value.code == "P203"
    assert store.runs() == []
    assert carried.started == []


def test_a_judge_of_this_process_cannot_be_given(store: Store) -> None:
    for judge in (lambda **_: True, "cmd:cat"):
        made = engine(store, Recorded(), judge=judge)
        with pytest.raises(CheckError, match=r"the judge `.*` is one that other processes do not have"):
            made.detach(made.loads(ROUNDS), {"helper": "work", "items": [1]})


def test_a_conversation_in_a_folder_cannot_go_along(store: Store) -> None:
    made = engine(store, Recorded(), model="openai/gpt-x")
    text = 'agent scribe:\n  persist: {}\nreturn session: scribe\n  prompt: "hello"'
    with pytest.raises(CheckError) as raised:
        made.detach(made.loads(text.format("project")), {})
    (fault,) = raised.value.diagnostics
    assert (fault.code, fault.span is not None) == ("P212", True)
    assert "`persist: project` keeps a conversation in a folder of this machine" in fault.message
    assert made.detach(made.loads(text.format("true")), {})


def test_what_is_wrong_with_a_program_is_told_at_once(store: Store) -> None:
    made = engine(store, Recorded())
    with pytest.raises(CheckError) as raised:
        made.detach(made.loads(ROUNDS), {"items": [1], "itmes": 2})
    assert sorted(item.code for item in raised.value.diagnostics) == ["P203", "P210"]
    assert store.runs() == []


def test_a_run_that_cannot_be_handed_over_leaves_no_record(store: Store) -> None:
    made = engine(store, Recorded(failing=True))
    with pytest.raises(RunError, match="gone"):
        made.detach(made.loads(ROUNDS), {"helper": "work", "items": [1]})
    assert store.runs() == []


def test_an_engine_without_store_or_transport_detaches_nothing(store: Store) -> None:
    for made in (Engine(store=store), Engine(transport=Recorded())):
        with pytest.raises(ValueError, match="store"):
            made.detach(made.loads("return 1"), {})


# --- evaluating ------------------------------------------------------------------------------------------------------


async def evaluated(store: Store, task: RunTask, services: Any, **more: Any) -> str:
    """Evaluate in this process, calls and all."""

    class Here:
        async def open(self) -> None: ...

        async def call(self, sent: Any, store: Any = None) -> Any:
            return await Performer(Engine(services=services).services, Engine().models, store).perform(sent)

        async def start(self, task: RunTask) -> None: ...

        def let_go(self) -> None: ...

    def engine_of(*, model: Any, **how: Any) -> Engine:
        return Engine(services=services, on_store_error="stop", **how, **more)

    return await evaluations(store, Here, engine_of)(task).run()


def handed_over(store: Store, names: dict[str, Any], **more: Any) -> RunTask:
    carried = Recorded()
    made = engine(store, carried, **more)
    made.detach(made.loads(ROUNDS), names)
    return carried.started[0]


def test_a_run_comes_out_of_its_record(store: Store) -> None:
    task = handed_over(store, {"helper": "work", "items": [1, 2]})
    assert asyncio.run(evaluated(store, task, {"work": lambda n: n * 10})) == "ok"
    record = store.run(task.run)
    assert record.status == "ok"
    assert json.loads(record.outcome)["value"] == {"done": [10, 20], "last": 10000}
    assert asyncio.run(evaluated(store, task, {})) == "ok"  # it is over, and nothing is done again


def test_limits_of_the_record_hold_at_the_worker(store: Store) -> None:
    task = handed_over(store, {"helper": "work", "items": [1, 2]}, limits=Limits(calls=2))
    assert asyncio.run(evaluated(store, task, {"work": lambda n: n})) == "limited"
    assert json.loads(store.run(task.run).outcome)["error"]["code"] == "P405"


def test_a_worker_without_the_services_of_a_run_writes_down_why_it_cannot_be(store: Store) -> None:
    task = handed_over(store, {"helper": "work", "items": [1, 2]})
    assert asyncio.run(evaluated(store, task, {"other": lambda n: n})) == "invalid"
    record = store.run(task.run)
    assert record.status == "invalid"
    assert "there is no service `work`" in json.loads(record.outcome)["error"]["message"]


def test_a_run_that_somebody_works_on_is_left_to_others(store: Store) -> None:
    task = handed_over(store, {"helper": "work", "items": [1]})
    hold = store.hold(task.run)
    with pytest.raises(Exception, match="another process works on the run"):
        asyncio.run(evaluated(store, task, {"work": lambda n: n}))
    hold.release()
    assert store.run(task.run).status == "running"


@pytest.mark.parametrize("left", range(0, 9, 2))
def test_a_run_whose_store_goes_away_is_given_back_and_gone_on_with(store: Store, tmp_path: Path, left: int) -> None:
    deeds: list[int] = []

    def work(n: int) -> int:
        deeds.append(n)
        return n * 10

    task = handed_over(store, {"helper": "work", "items": [1, 2, 3]})
    failing: Any = DyingStore(tmp_path / "store", left)
    with pytest.raises(StoreError, match="was killed"):
        asyncio.run(evaluated(failing, task, {"work": work}))
    assert store.run(task.run).status == "running"  # as if the worker had died
    assert not store.held(task.run)
    failing.left = 1000
    assert asyncio.run(evaluated(failing, task, {"work": work})) == "ok"
    assert json.loads(store.run(task.run).outcome or "")["value"] == {"done": [10, 20, 30], "last": 10000}
    assert sorted(deeds) == [1, 2, 3, 1000]  # what was answered is in the store, whatever the record knows


def test_a_run_that_an_engine_could_not_serve_is_given_back_and_gone_on_with(store: Store) -> None:
    task = handed_over(store, {"helper": "work", "items": [1]})

    class Away:
        async def open(self) -> None: ...

        async def call(self, sent: Any, store: Any = None) -> Any:
            raise RunError("P504", "Temporal does not answer")

        async def start(self, task: RunTask) -> None: ...

        def let_go(self) -> None: ...

    def engine_of(*, model: Any, **how: Any) -> Engine:
        return Engine(services={"work": lambda n: n}, on_store_error="stop", **how)

    with pytest.raises(RunError, match="does not answer"):
        asyncio.run(evaluations(store, Away, engine_of)(task).run())
    assert asyncio.run(evaluated(store, task, {"work": lambda n: n})) == "ok"
    assert store.run(task.run).status == "ok"


@pytest.mark.parametrize("bound", ["cmd:rm", "py:os:remove", 5, ["x.prose.md"]])
def test_a_hand_over_cannot_make_a_worker_run_a_command(store: Store, bound: Any) -> None:
    task = handed_over(store, {"helper": "work", "items": [1]})
    with pytest.raises(RunError, match="was handed over with a binding of `helper` that names no model"):
        asyncio.run(evaluated(store, attrs.evolve(task, models={"helper": bound}), {"work": lambda n: n}))


# --- through Temporal ------------------------------------------------------------------------------------------------


@attrs.frozen
class Place:
    """A queue of one test, with the store of its runs."""

    address: str
    queue: str
    store: Store

    def dispatch(self) -> Any:
        from prose_lang.transports.temporal import TemporalDispatch

        return TemporalDispatch(self.queue, address=self.address, lost_after=2.0)

    @asynccontextmanager
    async def worker(
        self, services: Any, *, slots: int = 4, run_slots: int = 2, told: Callable[[Any], None] | None = None
    ) -> AsyncIterator[asyncio.Event]:
        from prose_lang.transports.temporal_worker import TemporalWorker

        known = Engine(services=services)

        def engine_of(*, model: Any, **how: Any) -> Engine:
            return Engine(services=known.services, on_store_error="stop", **how)

        worker = TemporalWorker(
            self.queue, Performer(known.services, known.models, self.store), slots=slots, address=self.address,
            grace=5.0, evaluator=evaluations(self.store, self.dispatch, engine_of), run_slots=run_slots, told=told,
        )  # fmt: skip
        stop, ready = asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(worker.run(stop, ready.set))
        await asyncio.wait_for(ready.wait(), 10)
        try:
            yield stop
        finally:
            stop.set()
            await running

    async def ended(self, run: str) -> Any:
        """The record of a run that is over, whoever wrote it."""
        while (record := self.store.run(run)).status in ("running", "interrupted"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        return record


@pytest.fixture
def place(temporal_server: TemporalServer, store: Store) -> Place:
    return Place(temporal_server.address, f"test-{uuid4().hex[:8]}", store)


def run(work: Any) -> Any:
    async def within() -> Any:
        async with asyncio.timeout(60):
            return await work

    return asyncio.run(within())


def test_a_whole_run_is_evaluated_by_a_worker(place: Place) -> None:
    async def main() -> Any:
        made = engine(place.store, place.dispatch())
        deeds: list[str] = []

        def told(deed: Any) -> None:
            if isinstance(deed.task, RunTask):
                deeds.append(deed.how)

        async with place.worker({"work": lambda n: n * 10}, told=told):
            number = await made.detach_async(made.loads(ROUNDS), {"helper": "work", "items": list(range(8))})
            record = await place.ended(number)
        return record, deeds

    record, deeds = run(main())
    assert json.loads(record.outcome)["value"] == {"done": [n * 10 for n in range(8)], "last": 10000}
    assert deeds == ["begun", "ok"]


def test_more_runs_than_slots_do_not_wait_for_themselves(place: Place) -> None:
    """Runs have slots of their own: as many as there are may be evaluated, and their calls find the others free."""

    async def main() -> Any:
        made = engine(place.store, place.dispatch())
        async with place.worker({"work": lambda n: n}, slots=1, run_slots=2):
            numbers = [
                await made.detach_async(made.loads(ROUNDS), {"helper": "work", "items": [1, 2]}) for _ in range(5)
            ]
            return [(await place.ended(number)).status for number in numbers]

    assert run(main()) == ["ok"] * 5


def test_a_worker_that_stops_gives_its_runs_to_another_which_makes_no_call_twice(place: Place) -> None:
    made_calls: list[int] = []
    deeds: list[str] = []

    half = asyncio.Event()

    async def work(n: int) -> int:
        made_calls.append(n)
        if len(made_calls) == 6:
            half.set()
        await asyncio.sleep(0.4)
        return n

    def told(deed: Any) -> None:
        if isinstance(deed.task, RunTask):
            deeds.append(deed.how)

    async def main() -> Any:
        made = engine(place.store, place.dispatch())
        async with place.worker({"work": work}, told=told) as stop:
            number = await made.detach_async(made.loads(ROUNDS), {"helper": "work", "items": list(range(12))})
            await asyncio.wait_for(half.wait(), 30)
            stop.set()
        assert place.store.run(number).status == "running"  # as if it had died
        assert not place.store.held(number)
        async with place.worker({"work": work}, told=told):
            return await place.ended(number)

    record = run(main())
    assert json.loads(record.outcome)["value"] == {"done": list(range(12)), "last": 1000}
    assert sorted(made_calls) == [*range(12), 1000]
    assert deeds == ["begun", "given back", "begun", "ok"]


def test_a_run_that_is_cancelled_on_the_server_is_interrupted(place: Place) -> None:
    begun = asyncio.Event()

    async def work(n: int) -> int:
        begun.set()
        await asyncio.sleep(60)
        return n

    async def main() -> Any:
        from prose_lang.transports.temporal import connected

        made = engine(place.store, place.dispatch())
        deeds: list[str] = []
        over = asyncio.Event()

        def told(deed: Any) -> None:
            deeds.append(deed.how)
            if deeds.count("cancelled") == 2:
                over.set()

        async with place.worker({"work": work}, told=told):
            number = await made.detach_async(made.loads(ROUNDS), {"helper": "work", "items": [1]})
            await begun.wait()
            client = await connected(place.address, "default")
            await client.get_activity_handle(f"{number}@run").cancel()
            await over.wait()
        return place.store.run(number).status, deeds

    assert run(main()) == ("interrupted", ["begun", "cancelled", "cancelled"])
