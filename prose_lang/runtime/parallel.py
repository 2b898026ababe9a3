"""Branches that run at the same time (L24, L25): started in order, joined by a strategy, never outliving the join.

A fixed number of workers take the branches in order, so that ten thousand branches cost no more than those that are
under way. Cancelled branches are awaited before anything else happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from prose_lang.diagnostics import RunError
from prose_lang.runtime.ledger import Ledger
from prose_lang.runtime.place import Place

#: Branches under way at once; further ones start as others end. The limit on *calls* at once is the runtime's (L34).
MAX_STARTED = 2048
#: The same for a whole run. Beyond it a block within a branch takes its own branches one after the other, and at twice
#: as many the run ends: blocks that start themselves would fill the memory.
MAX_LIVE = 8_192
#: The branch has not ended, or was cancelled.
PENDING: Any = object()


class Live:
    """How many branches of a run are under way."""

    __slots__ = ("branches",)

    def __init__(self) -> None:
        self.branches = 0

    def take(self, count: int, place: Place) -> int:
        """How many of `count` branches may be under way at once; they are counted in. P307 if not even one may."""
        if self.branches >= 2 * MAX_LIVE:
            place.fail("P307", f"parallel blocks are nested so that more than {2 * MAX_LIVE:,} branches are under way")
        size = max(1, min(count, MAX_STARTED, MAX_LIVE - self.branches))
        self.branches += size
        return size


class Joined(NamedTuple):
    """How the branches ended: their values (`PENDING` where there is none) and their errors, by number."""

    values: list[Any]
    errors: dict[int, RunError]

    @property
    def successes(self) -> list[int]:
        """The numbers of the branches that succeeded, in order."""
        return [number for number, value in enumerate(self.values) if value is not PENDING]


class _Join:
    """The join of one parallel block."""

    def __init__(
        self,
        branch: Callable[[int], Awaitable[Any]],
        count: int,
        numbers: Sequence[int],
        need: int | None,
        fail_fast: bool,
    ) -> None:
        self.branch = branch
        self.numbers = numbers
        self.need = need
        self.fail_fast = fail_fast
        self.next = 0
        self.values: list[Any] = [PENDING] * count
        self.errors: dict[int, RunError] = {}
        self.fatal: tuple[int, BaseException] | None = None
        self.succeeded = 0
        self.stopping = False
        self.closed = False  # once the branches are cancelled, what still comes of them counts no more
        self.workers: list[asyncio.Task[None]] = []
        self.current: list[int] = []  # the branch that each worker is at
        self.begun = 0
        self.alive = 0  # workers that have not ended
        self.cancelled: set[asyncio.Task[None]] = set()
        self.wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def stop(self, last: int) -> None:
        """It is decided. Branches after `last` end at once; those before it may be ending in this very moment, and
        of simultaneous completions the lower one counts."""
        if self.stopping:
            return
        self.stopping = True
        for worker, number in zip(self.workers, self.current, strict=True):
            if number > last:
                self.cancel(worker)
        if not self.wake.done():
            self.wake.set_result(None)

    def cancel(self, worker: asyncio.Task[None]) -> None:
        """Cancel a worker once: a second time would break into the cleaning up that the first one began."""
        if worker not in self.cancelled:
            self.cancelled.add(worker)
            worker.cancel()

    async def others_begin(self) -> None:
        """All branches start at once: one that ends without ever waiting lets the others do so before it counts."""
        if self.begun < len(self.workers):
            await asyncio.sleep(0)

    async def work(self, worker: int) -> None:
        """Take branches in order until there are none or the join is decided."""
        try:
            await self.take_branches(worker)
        finally:
            self.alive -= 1
            if not self.alive and not self.wake.done():
                self.wake.set_result(None)

    async def take_branches(self, worker: int) -> None:
        self.begun += 1
        while not self.stopping and self.next < len(self.numbers):
            number = self.current[worker] = self.numbers[self.next]
            self.next += 1
            try:
                value = await self.branch(number)
                await self.others_begin()
            except RunError as error:
                await self.others_begin()
                if not error.catchable:
                    self.end_with(number, error)
                elif not self.closed:
                    self.errors[number] = error
                    if self.fail_fast:
                        self.stop(number)
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                await self.others_begin()
                self.end_with(number, error)
            else:
                if self.closed:
                    return
                self.values[number] = value
                self.succeeded += 1
                if self.need is not None and self.succeeded >= self.need and not self.stopping:
                    self.stop(max(number for number, value in enumerate(self.values) if value is not PENDING))

    def end_with(self, number: int, error: BaseException) -> None:
        """An error that no strategy keeps from ending the block; of several at once the lowest branch's counts."""
        if self.fatal is None or number < self.fatal[0]:
            self.fatal = (number, error)
        self.stop(number)

    async def run(self, live: Live, place: Place) -> None:
        size = live.take(len(self.numbers), place)
        try:
            await self.run_workers(size)
        finally:
            live.branches -= size

    async def run_workers(self, size: int) -> None:
        self.current = [0] * size
        self.alive = size
        workers = self.workers = [asyncio.create_task(self.work(worker)) for worker in range(size)]
        cancelled = False
        try:
            await self.wake
        except asyncio.CancelledError:
            cancelled = True
        self.closed = True
        if self.alive:
            for worker in workers:
                self.cancel(worker)
            # A worker that is cancelled before it begins never counts itself out: ask the tasks, not the count.
            while not all(worker.done() for worker in workers):
                try:
                    await asyncio.wait(workers)
                except asyncio.CancelledError:
                    cancelled = True
        if cancelled:
            raise asyncio.CancelledError


async def join(
    branch: Callable[[int], Awaitable[Any]],
    count: int,
    live: Live,
    place: Place,
    *,
    need: int | None = None,
    fail_fast: bool = True,
    ledger: Ledger | None = None,
    address: Callable[[], str] | None = None,
) -> Joined:
    """Run `count` branches. `need` is how many successes decide a race (None: all run to their end); `live` counts the
    branches of the run, `place` is where the block stands.

    Which branches ended before a race was decided, or a failure ended the block, depends on the clock alone: it is
    settled in the `ledger` under the block's `address`, and where it is known only those run, all to their ends (L35).

    Raises the error of the lowest branch that failed in a way that no strategy keeps (`RunError.catchable` is false).
    """
    fail_fast = fail_fast and need is None
    key = address() if ledger is not None and address is not None and (fail_fast or need is not None) else None
    if ledger is None or key is None:
        joined = _Join(branch, count, range(count), need, fail_fast)
    elif (known := ledger.recall("join", key) or ledger.recall("failure", key)) is not None:
        numbers = [number for number in sorted((*known.value[0], *known.value[1])) if number < count]
        joined, key = _Join(branch, count, numbers, None, False), None
    else:
        joined = _Join(branch, count, range(count), need, fail_fast)
    if joined.numbers:
        await joined.run(live, place)
    if joined.fatal is not None:
        raise joined.fatal[1]
    found = Joined(joined.values, joined.errors)
    if ledger is not None and key is not None and (need is not None or found.errors):
        decided = need is not None and joined.succeeded >= need
        ledger.settle("join" if decided else "failure", key, [list(found.successes), sorted(found.errors)])
    return found
