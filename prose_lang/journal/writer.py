"""Writing in groups: all that runs have to write while a transaction is under way goes into the next one.

A writer has a thread of its own, so that a slow disk never keeps an event loop from turning. Changes are written in the
order in which they were put, those of all runs in one queue: what is durable is always a beginning of what happened.
`flushed` waits until everything put before it is durable. An error of the store is told to all who wait for what it
concerns, and stays known as the `failure` of the run's pen: nothing that the run puts after it is written, so that a
record may break off and never has a hole.

What waits to be written is bounded. Calls wait for it anyway; a program that makes none, and only decides, is held up
where it is faster than the disk.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any

from prose_lang.journal.port import Store, StoreError
from prose_lang.journal.records import Change

#: Seconds without work after which the thread ends; the next change starts another.
_IDLE = 5.0
#: Changes of one transaction, about, so that one that fails takes little along and memory stays flat.
_MOST = 5_000
#: Changes that are handed over at once at most, and that may wait to be written.
_BATCH, _HELD = 1_000, 10_000


class _Batch:
    """Changes of one pen, and who waits for them."""

    __slots__ = ("changes", "pen", "waiting")

    def __init__(self, pen: Pen) -> None:
        self.pen = pen
        self.changes: list[Change] = []
        self.waiting: list[asyncio.Future[None]] = []


class Writer:
    """The writing thread of one store; any number of runs on any number of event loops share it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._queue: queue.SimpleQueue[_Batch] = queue.SimpleQueue()
        self._lock = threading.Condition()
        self._alive = False
        self._held = 0

    def submit(self, batch: _Batch) -> None:
        """Hand a batch to the thread; blocks while too much waits to be written."""
        with self._lock:
            self._queue.put(batch)
            self._held += len(batch.changes)
            if not self._alive:
                self._alive = True
                threading.Thread(target=self._serve, name="prose-journal", daemon=True).start()
            while self._held > _HELD:
                self._lock.wait()

    @property
    def crowded(self) -> bool:
        """Whether so much waits to be written that who can wait should."""
        return self._held > _HELD // 2

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
            with self._lock:
                self._held -= count
                self._lock.notify_all()
            self._write(batches)

    def _write(self, batches: list[_Batch]) -> None:
        going = [batch for batch in batches if batch.pen.failure is None]
        failure = self._attempt(going)
        apart = failure is not None and len(going) > 1 and not _of_the_store(failure)
        for batch in batches:
            if apart and batch.pen.failure is None:  # one run's trouble must not be told to another
                failure = self._attempt([batch])
                apart = failure is None or not _of_the_store(failure)
            batch.pen.tell(batch, failure)

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


def _of_the_store(failure: StoreError) -> bool:
    """Whether every other write would fail too, after as long a wait: the store is locked, or does not answer."""
    return failure.run is None and failure.code in ("P503", "P504")


class Pen:
    """What one run writes with; for its event loop alone. `failure` is the first error that the store told it."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.failure: StoreError | None = None
        self._loop = asyncio.get_running_loop()
        self._pending: _Batch | None = None
        self._last: _Batch | None = None  # what was handed over last, until it is written
        # A loop whose time jumps (`testing/clock.py`) must not jump while the thread is at work.
        self._expect_outside: Callable[[asyncio.Future[Any]], None] | None = getattr(self._loop, "expect_outside", None)

    def put(self, change: Change) -> None:
        """Write something soon, after all that was put before."""
        batch = self._pending
        if batch is None:
            batch = self._pending = _Batch(self)
            self._loop.call_soon(self._turn_ends, batch)
        batch.changes.append(change)
        if len(batch.changes) >= _BATCH:
            self.hand_over()

    def _turn_ends(self, batch: _Batch) -> None:
        if batch is self._pending:
            self.hand_over()

    def hand_over(self) -> None:
        """Give the thread what is pending, without waiting for the end of this turn of the loop."""
        batch = self._pending
        if batch is None:
            return
        self._pending, self._last = None, batch
        if self._expect_outside is not None:
            done = self._loop.create_future()
            batch.waiting.append(done)
            self._expect_outside(done)
        self.writer.submit(batch)

    async def flushed(self) -> None:
        """Wait until everything that was put is durable. Raises StoreError."""
        batch = self._pending or self._last
        if batch is not None:
            done = self._loop.create_future()  # one's own: others who wait for the same must not be cancelled with it
            batch.waiting.append(done)
            await done
        elif self.failure is not None:
            raise self.failure

    def tell(self, batch: _Batch, failure: StoreError | None) -> None:
        """A batch was written, or could not be; said by the thread, before it looks at the next one."""
        self.failure = self.failure or failure
        try:
            self._loop.call_soon_threadsafe(self._settle, batch, self.failure)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    def _settle(self, batch: _Batch, failure: StoreError | None) -> None:
        if batch is self._last:
            self._last = None
        for done in batch.waiting:
            if done.done():
                continue
            if failure is None:
                done.set_result(None)
            else:
                done.set_exception(failure)
                done.exception()  # looked at, so that nobody complains where no one waits
