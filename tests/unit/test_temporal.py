"""Calls as standalone activities of Temporal: what goes, what comes back, and that nothing answered is made again."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import attrs
import pytest
from servers.temporal import TemporalServer, binary

from prose_lang import Engine, Limits, current_call
from prose_lang.diagnostics import ProseError, RunError, ServiceError, WaitingError
from prose_lang.handlers.journal import Journal
from prose_lang.journal import Store, open_store
from prose_lang.journal.leaving import LeavableStore
from prose_lang.services.models.completion import Reply
from prose_lang.services.models.models import Models
from prose_lang.services.models.settings import ModelSettings, Price
from prose_lang.transports import Task
from prose_lang.transports.performing import Performer


@attrs.frozen
class Place:
    """A queue of one test, with the store of its runs."""

    address: str
    queue: str
    store: Store

    def dispatch(self, **options: Any) -> Any:
        from prose_lang.transports.temporal import TemporalDispatch

        return TemporalDispatch(self.queue, address=self.address, **{"lost_after": 2.0, **options})

    async def call(self, task: Task) -> Any:
        return await self.dispatch().call(task, self.store)

    async def call_alone(self, task: Task) -> Any:
        """From an evaluator that shares no store with its workers."""
        return await self.dispatch().call(task)

    @asynccontextmanager
    async def worker(
        self, services: Any = (), *, slots: int = 4, grace: float = 5.0, told: Callable[..., None] | None = None,
        models: Models | None = None, store: Any = ...,
    ) -> AsyncIterator[asyncio.Event]:  # fmt: skip
        """A worker while the block runs; the event that is given stops it before."""
        from prose_lang.transports.temporal_worker import TemporalWorker

        engine = Engine(services=services)
        performer = Performer(engine.services, models or engine.models, self.store if store is ... else store)
        worker = TemporalWorker(self.queue, performer, slots=slots, address=self.address, grace=grace, told=told)
        stop, ready = asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(worker.run(stop, ready.set))
        begun = asyncio.create_task(ready.wait())
        await asyncio.wait({running, begun}, return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():
            await running  # it says why
        try:
            yield stop
        finally:
            stop.set()
            await running


@pytest.fixture
def place(temporal_server: TemporalServer, tmp_path: Path) -> Place:
    return Place(temporal_server.address, f"test-{uuid4().hex[:8]}", open_store(tmp_path / "store"))


def task(service: str = "echo", number: int = 1, *, run: str | None = None, **inputs: Any) -> Task:
    address = f"delegation/0.call:{service}"
    return Task(run or f"run-{uuid4().hex[:8]}", address, "service", service, {"inputs": inputs}, attempt=number)


def run(work: Any) -> Any:
    """Run it; nothing here takes long, so that what hangs is told."""

    async def within() -> Any:
        async with asyncio.timeout(60):
            return await work

    return asyncio.run(within())


async def until(condition: Callable[[], Any]) -> None:
    """Wait for something that happens outside of this loop, or that tells nobody."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


PATTERN = """
---
name: p
kind: pattern
---

### Slots

- `helper`: what helps

### Delegation

```prose
return call helper
  n: 2
```
""".lstrip()

FUNCTION = """
---
name: p
kind: function
---

### Requires

- `text`: what to judge

### Ensures

- `verdict`: string
- `score`: number
""".lstrip()

FAN_OUT = "return parallel for i in items:\n  call work\n    n: i"


# --- values and errors -----------------------------------------------------------------------------------------------


def test_calls_of_a_run_are_made_by_a_worker(place: Place) -> None:
    made: list[int] = []

    def work(n: int) -> dict[str, Any]:
        made.append(n)
        return {"z": n, "a": [n, None, 0.5, "ä\n"]}

    def never(n: int) -> None:
        raise AssertionError("the evaluator makes no call itself")

    async def main() -> Any:
        engine = Engine(services={"work": never}, transport=place.dispatch())
        async with place.worker({"work": work}):
            return await engine.run_async(engine.loads(FAN_OUT), {"items": [1, 2, 3]})

    outcome = run(main())
    assert [list(found) for found in outcome.value] == [["z", "a"]] * 3  # objects keep their order (L12)
    assert outcome.value[1] == {"z": 2, "a": [2, None, 0.5, "ä\n"]}
    assert sorted(made) == [1, 2, 3]
    assert outcome.usage.calls == 3


def test_a_call_has_the_copies_that_it_has_in_the_process(place: Place) -> None:
    async def work(item: dict, prompt: str | None = None, flag: bool = True) -> list:
        return [item, prompt, flag]

    async def main() -> Any:
        engine = Engine(services={"work": work}, transport=place.dispatch())
        program = engine.loads("return call work\n  item: {b: 1, a: [true, null]}\n  flag: false")
        async with place.worker({"work": work}):
            return await engine.run_async(program, {})

    assert run(main()).value == [{"b": 1, "a": [True, None]}, None, False]


def test_an_error_of_a_service_travels_as_it_is(place: Place) -> None:
    async def work(n: int) -> int:
        if n == 1:
            raise ServiceError("P406", "the line is dead", error_name="dead-line", hint="dig it up")
        if n == 2:
            raise LookupError("no such thing")
        return n

    text = """
let seen = parallel for n in [1, 2, 3]:
  try:
    return call work
      n: n
  catch as e:
    return [e.name, e.message]
return seen
"""

    async def main() -> Any:
        engine = Engine(services={"work": work}, transport=place.dispatch())
        async with place.worker({"work": work}):
            found = await engine.run_async(engine.loads(text), {})
            with pytest.raises(ServiceError) as raised:
                await engine.run_async(engine.loads("call work\n  n: 2"), {})
        return found.value, raised.value

    value, error = run(main())
    assert value == [["dead-line", "the line is dead"], ["service-failed", "no such thing"], 3]
    assert (error.code, error.message) == ("P406", "no such thing")
    assert error.hint == "the service `work` raised LookupError"
    assert error.span is not None


def test_a_service_at_a_worker_is_told_which_call_it_answers(place: Place) -> None:
    def work(n: int) -> list[Any]:
        call = current_call()
        assert call is not None
        return [call.run_id, call.address, call.attempt, call.idempotency_key]

    async def main() -> Any:
        engine = Engine(services={"work": work}, transport=place.dispatch())
        async with place.worker({"work": work}):
            return await engine.run_async(engine.loads("return call work\n  n: 1"), {})

    outcome = run(main())
    address = outcome.trace.calls[0].address
    assert outcome.value == [outcome.run_id, address, 1, f"{outcome.run_id}:{address}"]


def test_a_retry_is_another_attempt_and_reaches_a_worker_again(place: Place) -> None:
    made: list[int] = []

    async def work(n: int) -> int:
        made.append(n)
        if len(made) < 3:
            raise ServiceError("P406", "not yet")
        return len(made)

    async def main() -> Any:
        engine = Engine(services={"work": work}, transport=place.dispatch())
        async with place.worker({"work": work}):
            return await engine.run_async(engine.loads("return call work\n  n: 1\n  retry: 3"), {})

    assert run(main()).value == 3
    assert made == [1, 1, 1]


def test_a_service_that_no_worker_knows_is_an_error_that_nobody_catches(place: Place) -> None:
    async def main() -> None:
        engine = Engine(services={"work": lambda n: n}, transport=place.dispatch())
        program = engine.loads("try:\n  call work\n    n: 1\ncatch as e:\n  return e")
        async with place.worker({"other": lambda n: n}):
            await engine.run_async(program, {})

    with pytest.raises(RunError, match=r"the worker knows no service `work`; it knows `other`") as raised:
        run(main())
    assert raised.value.code == "P202"
    assert raised.value.hint == "start every worker of the queue with the same --services FILE as the run"


def test_a_person_who_has_to_answer_stops_the_run_as_waiting(place: Place) -> None:
    answers: list[str] = []

    async def work(n: int) -> str:
        if not answers:
            raise WaitingError("P411", "what shall it be?")
        return answers[0]

    async def main() -> Any:
        asked = task("work", n=1)
        async with place.worker({"work": work}):
            first = await place.call(asked)
            answers.append("blue")
            return first, await place.call(asked)

    first, second = run(main())
    assert (first.error["code"], first.error["message"]) == ("P411", "what shall it be?")
    assert second.value == "blue"  # what was no answer is asked again


def test_what_only_this_process_has_stays_in_it(place: Place) -> None:
    async def main() -> Any:
        engine = Engine(services={"work": lambda n: n}, transport=place.dispatch())
        pattern = engine.loads(PATTERN)
        return await engine.run_async(pattern, {"helper": lambda n: n * 21})  # there is no worker

    assert run(main()).value == 42


# --- models ----------------------------------------------------------------------------------------------------------


class _Model:
    """Answers as a provider would; the worker's, for the evaluator has none."""

    live = False

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.requests: list[Any] = []

    async def complete(self, request: Any, seconds: float) -> Reply:
        self.requests.append(request)
        return Reply(self.texts.pop(0), tokens_in=7, tokens_out=3)


def test_requests_for_a_model_are_made_by_a_worker_and_corrected_by_the_evaluator(place: Place) -> None:
    model = _Model("nonsense", '{"verdict": "accept", "score": 0.5}')

    async def main() -> Any:
        engine = Engine(model="openai/gpt-x", transport=place.dispatch())  # without a key
        program = engine.loads(FUNCTION)
        async with place.worker(models=Models(completion=model)):
            return await engine.run_async(program, {"text": "hm"})

    outcome = run(main())
    assert outcome.value == {"verdict": "accept", "score": 0.5}
    assert len(model.requests) == 2
    assert model.requests[1].messages[-2].text == "nonsense"
    assert (outcome.usage.calls, outcome.usage.tokens_in, outcome.usage.tokens_out) == (2, 14, 6)


def test_a_key_that_the_worker_lacks_is_the_workers_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def main() -> None:
        engine = Engine(model="openai/gpt-x", transport=place.dispatch())
        async with place.worker(models=Models(ModelSettings(), environ={})):
            await engine.run_async(engine.loads('session "hello"'), {})

    with pytest.raises(RunError, match="OPENAI_API_KEY") as raised:
        run(main())
    assert raised.value.code == "P410"


def test_switched_off_live_calls_stay_off(place: Place) -> None:
    async def main() -> None:
        engine = Engine(model="openai/gpt-x", transport=place.dispatch(), live=False)
        await engine.run_async(engine.loads('session "hello"'), {})

    with pytest.raises(ProseError) as raised:
        run(main())
    assert raised.value.code == "P410"


def test_what_fails_after_its_call_was_cancelled_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("temporalio")
    from prose_lang.transports import temporal

    printed: list[Any] = []

    class Client:
        def __init__(self) -> None:
            self.asked, self.away = asyncio.Event(), asyncio.Event()

        async def start_activity(self, *_: Any, **__: Any) -> Any:
            self.asked.set()
            await self.away.wait()
            raise OSError("no line")

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: printed.append(context))
        client = Client()

        async def connected(*_: Any) -> Client:
            return client

        monkeypatch.setattr(temporal, "connected", connected)
        dispatch = temporal.TemporalDispatch("q", address="127.0.0.1:1")
        calling = asyncio.create_task(dispatch.call(task(n=1)))
        await client.asked.wait()
        dispatch.let_go()
        calling.cancel()
        await asyncio.wait({calling})
        assert calling.cancelled()
        client.away.set()
        for _ in range(3):
            await asyncio.sleep(0)
        gc.collect()

    run(main())
    assert printed == []


# --- once ------------------------------------------------------------------------------------------------------------


def test_what_was_answered_is_read_and_not_made_again(place: Place) -> None:
    made: list[int] = []

    async def echo(n: int) -> int:
        made.append(n)
        return n

    async def main() -> Any:
        asked = task(n=7)
        async with place.worker({"echo": echo}):
            first = await place.call(asked)
            again = await place.call(asked)  # an evaluator that comes back
            without = await place.call_alone(asked)  # from Temporal's own memory
            changed = await place.call(task(n=8, run=asked.run))  # another question at the same address
        return first.value, again.value, without.value, changed.value

    assert run(main()) == (7, 7, 7, 8)
    assert made == [7, 8]


def test_two_who_ask_the_same_get_one_answer(place: Place) -> None:
    made: list[int] = []

    async def echo(n: int) -> int:
        made.append(n)
        await asyncio.sleep(0.3)
        return len(made)

    async def main() -> Any:
        asked = task(n=7)
        async with place.worker({"echo": echo}):
            return await asyncio.gather(*(place.call(asked) for _ in range(5)))

    assert [found.value for found in run(main())] == [1] * 5
    assert made == [7]


def test_an_answer_that_was_kept_and_never_given_is_given_now(place: Place) -> None:
    """A worker that died between keeping and giving."""
    made: list[int] = []

    async def echo(n: int) -> int:
        made.append(n)
        return n

    async def main() -> Any:
        asked = task(n=7)
        performer = Performer(Engine(services={"echo": echo}).services, Models(), place.store)
        await performer.perform(asked)
        async with place.worker({"echo": echo}):
            return await place.call(asked)

    assert run(main()).value == 7
    assert made == [7]


def test_large_values_go_by_the_store(place: Place) -> None:
    text = "x" * 1_600_000

    async def echo(n: str) -> str:
        return n + "y"

    async def main() -> Any:
        async with place.worker({"echo": echo}):
            found = await place.call(task(n=text))
            alone = await place.call_alone(task(n="x" * 1_499_000))
            with pytest.raises(ServiceError, match=r"1,6\d\d,\d\d\d bytes; without a store at most 1,500,000 travel"):
                await place.call_alone(task(n=text))
        async with place.worker({"echo": lambda n: text}, store=None):
            lost = await place.call(task(n="a"))
        async with place.worker({"echo": echo}, store=None):
            unread = await place.call(task(n=text))
        return found.value, alone.value, lost.error, unread

    found, alone, lost, unread = run(main())
    assert found == text + "y"
    assert len(alone) == 1_499_001
    assert lost["message"].startswith("what the service answered has 1,6")
    assert unread.error["code"] == "P504"
    assert unread.error["message"] == "what the call sends went by the store, and the worker's store does not have it"


def test_answers_that_hold_a_secret_are_given_and_not_kept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sesame-open-1234")

    async def echo(n: str) -> str:
        return n

    async def main() -> Any:
        secret, plain = task(n="it is sesame-open-1234"), task(n="it is not told")
        async with place.worker({"echo": echo}):
            found = [(await place.call(one)).value for one in (secret, plain)]
            large = task(n="sesame-open-1234" + "x" * 1_600_000)
            with pytest.raises(ServiceError, match="holding a secret, which is not kept in a store, at most 1,500,000"):
                await place.call(large)
        kept = [place.store.attempt(one.run, one.key, one.number) for one in (secret, plain, large)]
        return found, [one is not None for one in kept]

    assert run(main()) == (["it is sesame-open-1234", "it is not told"], [False, True, False])


def test_what_another_version_sent_is_refused(place: Place) -> None:
    async def main() -> Any:
        asked = attrs.evolve(task(n=1), asked={"words": 1})
        odd = attrs.evolve(task(n=1), kind="model", asked={"words": 1})
        async with place.worker({"echo": lambda n: n}):
            return [await place.call(one) for one in (asked, odd)]

    for answer in run(main()):
        assert answer.error["code"] == "P504"
        assert answer.error["message"] == "the worker cannot read what it was sent"


# --- cancellation and time -------------------------------------------------------------------------------------------


def test_a_branch_that_lost_is_cancelled_at_the_worker(place: Place) -> None:
    heard: list[str] = []

    async def work(n: int) -> int:
        if n == 1:
            return n
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            heard.append("cancelled")
            raise
        return n

    async def main() -> Any:
        gone = asyncio.Event()
        engine = Engine(services={"work": work}, transport=place.dispatch())
        program = engine.loads('let all = parallel for n in [1, 2] ("first"):\n  call work\n    n: n\nreturn all')
        async with place.worker({"work": work}, told=lambda deed: deed.how == "cancelled" and gone.set()):
            found = await engine.run_async(program, {})
            await asyncio.wait_for(gone.wait(), 10)
        return found.value

    assert run(main()) == 1
    assert heard == ["cancelled"]


def test_a_call_that_was_cancelled_can_be_made_after_all(place: Place) -> None:
    """A run that was interrupted is resumed: what its Ctrl-C cancelled has the same id."""
    made: list[int] = []

    async def echo(n: int) -> int:
        made.append(n)
        await asyncio.sleep(60 if len(made) == 1 else 0)
        return n

    async def main() -> Any:
        asked = task(n=7)
        async with place.worker({"echo": echo}):
            first = asyncio.create_task(place.call(asked))
            await until(lambda: made)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            return await place.call(asked)  # at once: the worker may not even have heard of the cancellation

    assert run(main()).value == 7
    assert made == [7, 7]


def test_a_timeout_counts_the_service_alone(place: Place) -> None:
    async def work(n: int) -> int:
        await asyncio.sleep(n)
        return n

    async def main() -> Any:
        engine = Engine(services={"work": work}, transport=place.dispatch())
        slow = engine.loads("return call work\n  n: 30\n  timeout: 0.3")
        waits = engine.loads("return call work\n  n: 0\n  timeout: 0.3")
        waiting = asyncio.create_task(engine.run_async(waits, {}))
        await asyncio.sleep(0.8)  # no worker is there, for longer than the timeout
        async with place.worker({"work": work}):
            found = await waiting
            with pytest.raises(ServiceError) as raised:
                await engine.run_async(slow, {})
        return found.value, raised.value

    value, error = run(main())
    assert value == 0
    assert (error.code, error.message) == ("P408", "`work` did not answer within 0.3 s")


def test_a_worker_that_stops_gives_back_what_it_cannot_end(place: Place) -> None:
    deeds: list[str] = []
    begun = asyncio.Event()

    async def stuck(n: int) -> int:
        begun.set()
        await asyncio.Event().wait()
        return n

    async def main() -> Any:
        asked = asyncio.create_task(place.call(task("work", n=7)))
        async with place.worker({"work": stuck}, grace=0.2, told=lambda deed: deeds.append(deed.how)) as stop:
            await asyncio.wait_for(begun.wait(), 10)
            stop.set()
        async with place.worker({"work": lambda n: n}, told=lambda deed: deeds.append(deed.how)):
            return await asked

    assert run(main()).value == 7
    assert deeds == ["given back", "value"]


# --- servers ---------------------------------------------------------------------------------------------------------


def test_a_server_that_is_not_there_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("temporalio")
    from servers import free_ports

    from prose_lang.transports.temporal import TemporalDispatch

    (port,) = free_ports(1)
    engine = Engine(services={"work": lambda n: n}, transport=TemporalDispatch("q", address=f"127.0.0.1:{port}"))
    outcome = engine.outcome(engine.loads("call work\n  n: 1"), {})
    assert outcome.status == "invalid"
    assert outcome.error is not None
    assert outcome.error.code == "P504"
    assert outcome.error.message == f"Temporal does not answer at 127.0.0.1:{port}"


@pytest.mark.parametrize("address", ["nowhere", ":7233", "host:", "host:x"])
def test_an_address_that_is_none(address: str) -> None:
    from prose_lang.transports.temporal import address_of

    with pytest.raises(RunError, match=r"is no address of a Temporal server"):
        address_of(address)


@pytest.mark.parametrize("queue", ["", "  ", "a\nb", "x" * 201, "research/runs"])
def test_a_queue_that_cannot_be_one(queue: str) -> None:
    from prose_lang.transports.temporal import queue_of

    with pytest.raises(RunError) as raised:
        queue_of(queue)
    assert raised.value.code == "P504"


def test_a_namespace_that_is_not_there(place: Place) -> None:
    from prose_lang.transports.temporal import connected

    with pytest.raises(RunError, match=r"has no namespace `elsewhere`"):
        asyncio.run(connected(place.address, "elsewhere"))


def test_a_server_without_standalone_activities_is_too_old(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from temporalio.api.workflowservice.v1 import DescribeNamespaceResponse
    from temporalio.service import WorkflowService

    from prose_lang.transports.temporal import connected

    async def described(self: Any, request: Any, **_: Any) -> DescribeNamespaceResponse:
        return DescribeNamespaceResponse()

    monkeypatch.setattr(WorkflowService, "describe_namespace", described, raising=False)

    with pytest.raises(RunError, match=r"\(version \d+\.\d+\.\d+\) has no standalone activities") as raised:
        asyncio.run(connected(place.address, "default"))
    assert raised.value.code == "P504"


def test_a_server_that_has_no_time_is_waited_for(tmp_path: Path) -> None:
    """A namespace may have so many results waited for at once, workers' own requests among them."""
    server = TemporalServer(binary(), "frontend.namespaceCount=12")
    place = Place(server.address, "q", open_store(tmp_path / "store"))

    async def work(n: int) -> int:
        await asyncio.sleep(0.05)
        return n

    async def main() -> Any:
        engine = Engine(services={"work": work}, transport=place.dispatch())
        async with place.worker({"work": work}):
            return await engine.run_async(engine.loads(FAN_OUT), {"items": list(range(60))})

    try:
        assert run(main()).value == list(range(60))
    finally:
        server.close()


def test_a_server_that_refuses_for_a_while_is_asked_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from temporalio.client import ActivityHandle
    from temporalio.service import RPCError, RPCStatusCode

    result, refusals = ActivityHandle.result, ["limit"]

    async def refused(self: Any, **options: Any) -> Any:
        if refusals:
            raise RPCError(refusals.pop(), RPCStatusCode.RESOURCE_EXHAUSTED, b"")
        return await result(self, **options)

    monkeypatch.setattr(ActivityHandle, "result", refused)
    made: list[int] = []

    async def main() -> Any:
        async with place.worker({"echo": lambda n: made.append(n) or n}):
            return await place.call(task(n=7))

    assert run(main()).value == 7
    assert (made, refusals) == ([7], [])


def test_calls_beyond_those_that_may_wait_there_wait_here(place: Place) -> None:
    at_once: list[int] = []

    async def work(n: int) -> int:
        at_once.append(n)
        await asyncio.sleep(0.3)
        seen = len(at_once)
        at_once.remove(n)
        return seen

    async def main() -> Any:
        engine = Engine(services={"work": work}, transport=place.dispatch(at_once=3))
        async with place.worker({"work": work}, slots=10):
            return await engine.run_async(engine.loads(FAN_OUT), {"items": list(range(9))})

    assert max(run(main()).value) == 3


def test_a_server_that_goes_away_and_comes_back_loses_no_call(
    own_temporal_server: TemporalServer, tmp_path: Path
) -> None:
    made: list[int] = []

    async def work(n: int) -> int:
        made.append(n)
        await asyncio.sleep(0.2)
        return n

    async def main() -> Any:
        place = Place(own_temporal_server.address, "q", open_store(tmp_path / "store"))
        engine = Engine(services={"work": work}, transport=place.dispatch(), limits=Limits(calls=None))
        async with place.worker({"work": work}, slots=4):
            running = asyncio.create_task(engine.run_async(engine.loads(FAN_OUT), {"items": list(range(30))}))
            await until(lambda: len(made) >= 8)
            await asyncio.to_thread(own_temporal_server.stop)
            await asyncio.sleep(1)
            assert await asyncio.to_thread(own_temporal_server.start)
            return await running

    assert run(main()).value == list(range(30))
    assert sorted(made) == list(range(30))


# --- gone on with ----------------------------------------------------------------------------------------------------


async def left_at(place: Place, text: str, names: dict[str, Any], moment: Callable[[], Any], **options: Any) -> str:
    """Evaluate until a moment and leave the run as the sudden death of its process would; gives its id."""
    store, dispatch = LeavableStore(place.store), place.dispatch()
    engine = Engine(store=store.whole, transport=dispatch, **options)
    running = asyncio.create_task(engine.run_async(engine.loads(text), names))
    await until(moment)
    store.leave()
    dispatch.let_go()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (record,) = place.store.runs()
    assert record.status == "running"
    return record.id


@pytest.mark.skipif(not hasattr(Journal, "tried"), reason="the journal does not know how far attempts got")
def test_what_a_retried_call_was_answered_is_not_asked_again(place: Place) -> None:
    made: list[int] = []
    go_on = asyncio.Event()

    async def work(n: int) -> int:
        made.append(n)
        if len(made) == 1:
            raise ServiceError("P406", "not yet")
        await go_on.wait()
        return len(made)

    async def main() -> Any:
        async with place.worker({"work": work}):
            number = await left_at(
                place, "return call work\n  n: 1\n  retry: 3", {}, lambda: len(made) == 2, services={"work": work}
            )
            go_on.set()
            engine = Engine(services={"work": work}, store=place.store, transport=place.dispatch())
            return await engine.resume_async(number)

    outcome = run(main())
    assert outcome.value == 2
    assert made == [1, 1]
    assert outcome.usage.calls == 2
    assert [call.attempts for call in outcome.trace.calls] == [2]


def test_what_a_model_was_asked_is_not_paid_again_nor_counted_twice(place: Place) -> None:
    class Slow(_Model):
        go_on = asyncio.Event()

        async def complete(self, request: Any, seconds: float) -> Reply:
            if len(self.texts) == 1:
                self.requests.append(request)
                await self.go_on.wait()
                self.requests.pop()
            return await super().complete(request, seconds)

    model = Slow("nonsense", '{"verdict": "accept", "score": 0.5}')
    prices = ModelSettings(default="openai/gpt-x", prices={"openai/gpt-x": Price(input=1.0, output=1.0)})

    async def main() -> Any:
        async with place.worker(models=Models(completion=model)):
            number = await left_at(place, FUNCTION, {"text": "hm"}, lambda: len(model.requests) == 2, models=prices)
            model.go_on.set()
            engine = Engine(models=prices, store=place.store, transport=place.dispatch())
            return await engine.resume_async(number)

    outcome = run(main())
    assert outcome.value == {"verdict": "accept", "score": 0.5}
    assert len(model.requests) == 2
    usage = outcome.usage
    assert (usage.calls, usage.tokens_in, usage.tokens_out) == (2, 14, 6)
    assert usage.cost == pytest.approx(20 / 1_000_000)


def test_calls_that_failed_are_made_again_where_that_is_asked_for(place: Place) -> None:
    made: list[int] = []

    async def work(n: int) -> int:
        made.append(n)
        if len(made) == 1:
            raise ServiceError("P406", "the line is dead")
        return n

    async def main() -> Any:
        engine = Engine(services={"work": work}, store=place.store, transport=place.dispatch())
        async with place.worker({"work": work}):
            outcome = await engine.outcome_async(engine.loads("return call work\n  n: 7"), {})
            assert outcome.status == "failed"
            with pytest.raises(ServiceError, match="the line is dead"):
                await engine.resume_async(outcome.run_id)
            return await engine.resume_async(outcome.run_id, retry_errors=True)

    assert run(main()).value == 7
    assert made == [7, 7]


def test_a_cleanup_of_an_interrupted_run_happens_again_when_it_is_gone_on_with(place: Place) -> None:
    """What a `finally` does while a run is being ended from outside is never read back."""
    made: list[str] = []
    begun = asyncio.Event()

    async def work(what: str) -> str:
        made.append(what)
        if what == "long" and made.count("long") == 1:
            begun.set()
            await asyncio.sleep(60)
        return what

    text = 'try:\n  call work\n    what: "long"\nfinally:\n  call work\n    what: "clean"\nreturn "done"'

    async def main() -> Any:
        engine = Engine(services={"work": work}, store=place.store, transport=place.dispatch())
        async with place.worker({"work": work}):
            running = asyncio.create_task(engine.run_async(engine.loads(text), {}))
            await begun.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            (record,) = place.store.runs()
            return await engine.resume_async(record.id)

    assert run(main()).value == "done"
    assert made == ["long", "clean", "long", "clean"]
