"""Writing in groups: all that runs have to write while a transaction is under way goes into the next one.

A writer has a thread of its own, so that a slow disk never keeps an event loop from turning. Changes are written in the
order in which they were put, those of all runs in one queue: what is durable is always a beginning of what happened.
`flushed` waits until everything put before it is durable. An error of the store is told to all who wait for what it
concerns, and stays known as the `failure` of the run's pen: nothing that the run puts after it is written, so that a
record may break off and never has a hole.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Sequence
from typing import NamedTuple

from prose_lang.journal.port import Store, StoreError
from prose_lang.journal.records import Change

#: Seconds without work after which the thread ends; the next change starts another.
_IDLE = 5.0
#: Changes of one transaction at most, so that one that fails takes little along and memory stays flat.
_MOST = 5_000


class _Batch(NamedTuple):
    pen: Pen
    changes: Sequence[Change]
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[None]


class Writer:
    """The writing thread of one store; any number of runs on any number of event loops share it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._queue: queue.SimpleQueue[_Batch] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._alive = False

    def submit(self, batch: _Batch) -> None:
        """Hand a batch to the thread."""
        with self._lock:
            self._queue.put(batch)
            if not self._alive:
                self._alive = True
                threading.Thread(target=self._serve, name="prose-journal", daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                first = self._queue.get(timeout=_IDLE)
            except queue.Empty:
                with self._lock:
                    if self._queue.empty():
                        self._alive = False
                        return
                continue
            batches, count = [first], len(first.changes)
            while count < _MOST:
                try:
                    batch = self._queue.get_nowait()
                except queue.Empty:
                    break
                batches.append(batch)
                count += len(batch.changes)
            self._write(batches)

    def _write(self, batches: list[_Batch]) -> None:
        going = [batch for batch in batches if batch.pen.failure is None]
        failure = self._attempt(going)
        if failure is None:
            for batch in batches:
                _tell(batch, batch.pen.failure)
            return
        for batch in batches:  # one run's trouble must not be told to another
            _tell(batch, batch.pen.failure or (failure if len(batches) == 1 else self._attempt([batch])))

    def _attempt(self, batches: list[_Batch]) -> StoreError | None:
        if not batches:
            return None
        try:
            self.store.write([change for batch in batches for change in batch.changes])
        except StoreError as error:
            return error
        except BaseException as error:
            return StoreError("P501", f"the store failed: {error!r}")
        return None


def _tell(batch: _Batch, failure: StoreError | None) -> None:
    batch.pen.failure = failure  # known before the next batch of the run is looked at

    def settle() -> None:
        if batch.done.done():
            return
        if failure is None:
            batch.done.set_result(None)
        else:
            batch.done.set_exception(failure)
            batch.done.exception()  # looked at, so that nobody complains where no one waited

    try:
        batch.loop.call_soon_threadsafe(settle)
    except RuntimeError:  # the loop is closed: nobody waits any more
        return


class Pen:
    """What one run writes with; for its event loop alone. `failure` is the first error that the store told it."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.failure: StoreError | None = None
        self._loop = asyncio.get_running_loop()
        self._pending: list[Change] = []
        self._next: asyncio.Future[None] | None = None  # of what is pending
        self._last: asyncio.Future[None] | None = None  # of what was handed over last

    def put(self, change: Change) -> None:
        """Write something soon, after all that was put before."""
        if not self._pending:
            self._next = self._loop.create_future()
            self._loop.call_soon(self.hand_over)
        self._pending.append(change)

    def hand_over(self) -> None:
        """Give the thread what is pending, without waiting for the end of this turn of the loop."""
        if self._next is None:
            return
        changes, self._pending = self._pending, []
        self._last, self._next = self._next, None
        # A loop whose time jumps (`testing/clock.py`) must not jump while the thread is at work.
        expect_outside = getattr(self._loop, "expect_outside", None)
        if expect_outside is not None:
            expect_outside(self._last)
        self.writer.submit(_Batch(self, changes, self._loop, self._last))

    async def flushed(self) -> None:
        """Wait until everything that was put is durable. Raises StoreError."""
        done = self._next or self._last
        if done is not None:
            await asyncio.shield(done)  # others wait for the same
        if self.failure is not None:  # of something that was put before
            raise self.failure
