"""A worker: takes attempts from a task queue of Temporal and does them, so many at once as it has slots; and whole runs
from a second queue beside it, in slots of their own, so that runs never wait for the slots that they are in.

While it does something it tells the server that it lives; a worker that dies is noticed by its silence, and the server
gives what it had to another. One that is told to stop takes nothing new, finishes the calls that it can within its
grace, and gives back the rest. Runs it gives back at once: another goes on with them from their records.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import attrs

from prose_lang.diagnostics import ProseError, RunError
from prose_lang.diagnostics.errors import CATCHABLE
from prose_lang.services.answers import failure_data
from prose_lang.transports.payload import packed_answer, unpacked_task
from prose_lang.transports.performing import Performer, unreadable
from prose_lang.transports.port import Answer, Evaluation, RunTask, Task, dumps
from prose_lang.transports.temporal import CALL, FAILED, GIVEN_BACK, RUN, RUNS, address_of, connected, queue_of, raw

#: Seconds that calls under way are given to end when a worker is told to stop.
GRACE = 30.0
#: Seconds between two signs of life at most, and the least that are worth a message.
_BEAT, _SHORTEST_BEAT = 2.0, 0.2
#: Characters of an error's message that travel.
_LONGEST_MESSAGE = 200_000


@attrs.frozen
class Deed:
    """What a worker has done with a task: `how` is `value`, `error`, `refused`, `cancelled` or `given back`; of a run
    it is `begun` before that, and the status of its outcome. `reason` is what an error says."""

    task: Task | RunTask
    how: str
    seconds: float = 0.0
    reason: str = ""


class TemporalWorker:
    """Takes calls of one task queue. `slots` are those it does at once; `told` hears of each that it has done with.
    With an `evaluator` it takes runs as well, `run_slots` at once.

    Raises RunError P504 where the server is not reachable or the work of a worker fails for good.
    """

    def __init__(
        self,
        queue: str,
        performer: Performer,
        *,
        slots: int,
        address: str | None = None,
        namespace: str = "default",
        grace: float = GRACE,
        evaluator: Callable[[RunTask], Evaluation] | None = None,
        run_slots: int = 1,
        told: Callable[[Deed], None] | None = None,
    ) -> None:
        self.queue = queue_of(queue)
        self.performer = performer
        self.slots = slots
        self.address = address_of(address)
        self.namespace = namespace
        self.grace = grace
        self.evaluator = evaluator
        self.run_slots = run_slots
        self.told = told
        self.under_way = 0

    async def run(self, stop: asyncio.Event, ready: Callable[[], None] | None = None) -> None:
        """Work until `stop` is set, and end what is under way then. `ready` is called when it begins to take calls."""
        from temporalio import activity
        from temporalio.common import RawValue
        from temporalio.worker import Worker

        client = await connected(self.address, self.namespace)

        def activity_of(name: str, function: Callable[[bytes], Awaitable[bytes]]) -> Any:
            async def perform(sent: RawValue) -> RawValue:
                answer: RawValue = raw(await function(sent.payload.data))
                return answer

            perform.__annotations__.update({"sent": RawValue, "return": RawValue})  # no module knows these names
            return activity.defn(name=name)(perform)

        def worker(queue: str, taken: Any, slots: int, grace: float) -> Worker:
            return Worker(
                client,
                task_queue=queue,
                activities=[taken],
                max_concurrent_activities=slots,
                max_heartbeat_throttle_interval=timedelta(seconds=_SHORTEST_BEAT),
                graceful_shutdown_timeout=timedelta(seconds=grace),
            )

        workers = [worker(self.queue, activity_of(CALL, self._call), self.slots, self.grace)]
        if self.evaluator is not None:
            workers.append(worker(self.queue + RUNS, activity_of(RUN, self._run), self.run_slots, 0.0))
        working = [asyncio.create_task(one.run()) for one in workers]
        stopping = asyncio.create_task(stop.wait())
        try:
            if ready is not None:
                ready()
            await asyncio.wait({*working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.gather(
                *(one.shutdown() for one, task in zip(workers, working, strict=True) if not task.done())
            )
            await asyncio.gather(*working)
        except RuntimeError as error:
            raise RunError("P504", f"the worker can take no more calls: {error}") from None
        finally:
            stopping.cancel()

    async def _call(self, data: bytes) -> bytes:
        """One activity: the answer to a task, or a failure that makes the server give it to another or give it up."""
        from temporalio.exceptions import ApplicationError

        store = self.performer.store
        try:
            task: Task = await asyncio.to_thread(unpacked_task, data, store)
        except (ProseError, ValueError, TypeError, KeyError) as error:
            fault = error if isinstance(error, RunError) else _unreadable(error)
            raise _failure(Answer(error=failure_data(fault))) from None
        began = asyncio.get_running_loop().time()

        def done(how: str, answer: Answer | None = None) -> None:
            said = (answer.error or {}).get("message", "") if answer is not None else ""
            self._tell(Deed(task, how, asyncio.get_running_loop().time() - began, str(said)))

        beating = asyncio.create_task(_beat())
        self.under_way += 1
        try:
            answer = await self.performer.perform(task)
            try:
                packed = b"" if answer.error else await asyncio.to_thread(packed_answer, answer, task, store)
            except RunError as error:
                answer = attrs.evolve(answer, value=None, error=failure_data(error))
        except asyncio.CancelledError:
            if _stops():
                done("given back")
                raise ApplicationError("the worker stops", type=GIVEN_BACK) from None
            done("cancelled")
            raise
        finally:
            self.under_way -= 1
            beating.cancel()
        if answer.error is not None:
            # What passes by every `catch` says something about this worker, or waits for a person.
            done("error" if answer.error.get("code", "P406") in CATCHABLE else "refused", answer)
            raise _failure(answer)
        done("value", answer)
        return packed

    async def _run(self, data: bytes) -> bytes:
        """The other activity: a whole run, until it ends or has to be given back."""
        from temporalio.exceptions import ApplicationError

        assert self.evaluator is not None, "runs are taken where they can be evaluated"
        try:
            task = RunTask.of_json(json.loads(data))
        except (ValueError, TypeError, KeyError) as error:
            raise _failure(Answer(error=failure_data(_unreadable(error)))) from None
        began = asyncio.get_running_loop().time()

        def done(how: str, reason: str = "") -> None:
            self._tell(Deed(task, how, asyncio.get_running_loop().time() - began, reason))

        done("begun")
        evaluation = self.evaluator(task)
        beating = asyncio.create_task(_beat())
        working = asyncio.create_task(evaluation.run())
        try:
            status = await asyncio.shield(working)
        except asyncio.CancelledError:
            if _asked_to():
                await _ended(working)
                done("cancelled")
                raise
            evaluation.let_go()
            await _ended(working)
            done("given back")
            if _stops():
                raise ApplicationError("the worker stops", type=GIVEN_BACK) from None
            raise
        except ProseError as error:  # another worker may be able to
            done("refused", error.message)
            raise ApplicationError(error.message, type=GIVEN_BACK) from None
        finally:
            beating.cancel()
        done(status)
        return dumps({"status": status}).encode()

    def _tell(self, deed: Deed) -> None:
        if self.told is not None:
            self.told(deed)


async def _ended(working: asyncio.Task[Any]) -> None:
    working.cancel()
    await asyncio.wait({working})
    if not working.cancelled():
        working.exception()  # looked at: whatever it was, the activity was cancelled


def _stops() -> bool:
    """Whether the running activity is cancelled because its worker stops."""
    from temporalio import activity

    why = activity.cancellation_details()
    return why is not None and why.worker_shutdown and not why.cancel_requested


def _asked_to() -> bool:
    """Whether somebody asked for the running activity to be cancelled."""
    from temporalio import activity

    why = activity.cancellation_details()
    return why is not None and why.cancel_requested


async def _beat() -> None:
    """Tell the server that this worker lives, well within the silence that it takes for a death."""
    from temporalio import activity

    silence = activity.info().heartbeat_timeout
    seconds = _BEAT if silence is None else min(_BEAT, max(_SHORTEST_BEAT, silence.total_seconds() / 5))
    while True:
        await asyncio.sleep(seconds)  # a short call costs no message
        activity.heartbeat()


def _failure(answer: Answer) -> Any:
    """What ends an activity whose answer is an error."""
    from temporalio.exceptions import ApplicationError

    error = dict(answer.error or {})
    error["message"] = str(error.get("message", ""))[:_LONGEST_MESSAGE]
    text = dumps(attrs.evolve(answer, error=error).as_json())
    return ApplicationError(error["message"][:1000], text, type=FAILED, non_retryable=True)


def _unreadable(error: Exception) -> RunError:
    if isinstance(error, ProseError):
        return RunError(error.code, f"the worker's store: {error.message}", hint=error.hint)
    return unreadable()


def described(deed: Deed) -> str:
    """One line of what a worker has done.

    >>> described(Deed(Task("r1", "delegation/0.call:x", "service", "x", {}), "value", 0.25))
    'x  value  0.250 s  r1/delegation/0.call:x'
    >>> described(Deed(RunTask("r1"), "begun"))
    'run r1  begun'
    """
    task, reason = deed.task, f"  {deed.reason}" if deed.reason else ""
    if isinstance(task, RunTask):
        took = "" if deed.how == "begun" else f"  {deed.seconds:.3f} s"
        return f"run {task.run}  {deed.how}{took}{reason}"
    again = "" if task.number == 1 else task.id[task.id.rindex("@") :]
    return f"{task.service}  {deed.how}  {deed.seconds:.3f} s  {task.run}/{task.address}{again}{reason}"
