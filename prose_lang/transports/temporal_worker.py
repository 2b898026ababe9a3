"""A worker: takes attempts from a task queue of Temporal and does them, so many at once as it has slots.

While it does one it tells the server that it lives; a worker that dies is noticed by its silence, and the server gives
its calls to another. One that is told to stop takes nothing new, finishes what it can within its grace, and gives back
the rest, which another worker begins anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import attrs

from prose_lang.diagnostics import ProseError, RunError
from prose_lang.services.answers import failure_data
from prose_lang.transports.payload import packed_answer, unpacked_task
from prose_lang.transports.performing import Performer
from prose_lang.transports.port import Answer, Task
from prose_lang.transports.temporal import CALL, GIVEN_BACK, REFUSED, address_of, connected, raw

#: Seconds that calls under way are given to end when a worker is told to stop.
GRACE = 30.0
#: Seconds between two signs of life at most, and the least that are worth a message.
_BEAT, _SHORTEST_BEAT = 2.0, 0.2


@attrs.frozen
class Deed:
    """What a worker has done with a task: `how` is `value`, `error`, `refused`, `cancelled` or `given back`."""

    task: Task
    how: str
    seconds: float
    answer: Answer | None = None


class TemporalWorker:
    """Takes calls of one task queue. `slots` are those it does at once; `told` hears of each that it has done with.

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
        told: Callable[[Deed], None] | None = None,
    ) -> None:
        self.queue = queue
        self.performer = performer
        self.slots = slots
        self.address = address_of(address)
        self.namespace = namespace
        self.grace = grace
        self.told = told
        self.under_way = 0

    async def run(self, stop: asyncio.Event, ready: Callable[[], None] | None = None) -> None:
        """Work until `stop` is set, and end what is under way then. `ready` is called when it begins to take calls."""
        from temporalio import activity
        from temporalio.common import RawValue
        from temporalio.worker import Worker

        client = await connected(self.address, self.namespace)

        async def call(sent: RawValue) -> RawValue:
            answer: RawValue = raw(await self._call(sent.payload.data))
            return answer

        call.__annotations__.update({"sent": RawValue, "return": RawValue})  # no module knows these names
        worker = Worker(
            client,
            task_queue=self.queue,
            activities=[activity.defn(name=CALL)(call)],
            max_concurrent_activities=self.slots,
            max_heartbeat_throttle_interval=timedelta(seconds=_SHORTEST_BEAT),
            graceful_shutdown_timeout=timedelta(seconds=self.grace),
        )
        working = asyncio.create_task(worker.run())
        stopping = asyncio.create_task(stop.wait())
        try:
            if ready is not None:
                ready()
            await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                await worker.shutdown()
            await working
        except RuntimeError as error:
            raise RunError("P504", f"the worker can take no more calls: {error}") from None
        finally:
            stopping.cancel()

    async def _call(self, data: bytes) -> bytes:
        """One activity: the answer to a task, or a failure that makes the server give it to another or give it up."""
        from temporalio import activity
        from temporalio.exceptions import ApplicationError

        store = self.performer.store
        try:
            task: Task = await asyncio.to_thread(unpacked_task, data, store)
        except (ProseError, ValueError, TypeError, KeyError) as error:
            fault = error if isinstance(error, RunError) else _unreadable(error)
            raise ApplicationError(fault.message, failure_data(fault), type=REFUSED, non_retryable=True) from None
        began = asyncio.get_running_loop().time()

        def done(how: str, answer: Answer | None = None) -> None:
            if self.told is not None:
                self.told(Deed(task, how, asyncio.get_running_loop().time() - began, answer))

        beating = asyncio.create_task(_beat(activity.info().heartbeat_timeout))
        self.under_way += 1
        try:
            answer = await self.performer.perform(task)
            packed = await asyncio.to_thread(packed_answer, answer, store)
        except asyncio.CancelledError:
            why = activity.cancellation_details()
            if why is not None and why.worker_shutdown and not why.cancel_requested:
                done("given back")
                raise ApplicationError("the worker stops", type=GIVEN_BACK) from None
            done("cancelled")
            raise
        finally:
            self.under_way -= 1
            beating.cancel()
        if answer.refused and answer.error is not None:
            done("refused", answer)
            said = str(answer.error.get("message", ""))
            raise ApplicationError(said, dict(answer.error), type=REFUSED, non_retryable=True)
        done("value" if answer.error is None else "error", answer)
        return packed


async def _beat(silence: timedelta | None) -> None:
    """Tell the server that this worker lives, well within the silence that it takes for a death."""
    from temporalio import activity

    seconds = _BEAT if silence is None else min(_BEAT, max(_SHORTEST_BEAT, silence.total_seconds() / 5))
    while True:
        activity.heartbeat()
        await asyncio.sleep(seconds)


def _unreadable(error: Exception) -> RunError:
    if isinstance(error, ProseError):
        return RunError(error.code, f"the worker's store: {error.message}", hint=error.hint)
    return RunError("P504", "the worker cannot read what it was sent", hint="run the same version of prose everywhere")


def described(deed: Deed) -> str:
    """One line of what a worker has done.

    >>> described(Deed(Task("r1", "delegation/0.call:x", 1, "service", "x", {}), "value", 0.25))
    'x  value  0.250 s  r1/delegation/0.call:x'
    """
    task = deed.task
    again = f"@{task.number}" if task.number > 1 else ""
    said: Any = (deed.answer.error or {}).get("message") if deed.answer is not None else None
    reason = f"  {said}" if said else ""
    return f"{task.service}  {deed.how}  {deed.seconds:.3f} s  {task.run}/{task.address}{again}{reason}"
