"""Virtual time: run a coroutine on an event loop whose clock jumps to the next timer instead of waiting for it.

A test of a timeout of ten minutes takes no time, and timers fire in the order of their times, always. What happens
between timers takes no virtual time at all.

Limits. The clock cannot jump while the world outside is at work, since the outside does not speed up: while a
worker thread of ours or an executor's thread runs, a child process lives, or a pipe or socket is open (an idle
listening socket included), time passes as it does for everybody. A thread that was started in another way is not
seen; the loop waits for it only when there is no timer left, and for a few seconds. `time.sleep`, `time.monotonic`
and threads live in real time.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

#: Real seconds to wait for something unknown when no timer is left.
_PATIENCE = 5.0


def run_virtual(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end in virtual time, which starts at 0, and return its result.

    Raises `RuntimeError` where an ordinary loop would wait for ever.

    >>> async def main() -> float:
    ...     await asyncio.sleep(3600)
    ...     return asyncio.get_running_loop().time()
    >>> run_virtual(main())
    3600.0
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)


class _Clock(selectors.DefaultSelector):
    """The selector is where a loop waits, and so it is where its time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.outside_at_work: Callable[[], bool] = lambda: False

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self.outside_at_work():
            started = time.monotonic()
            ready = super().select(timeout)
            self.now += time.monotonic() - started
        elif timeout is not None:
            self.now += timeout
        else:
            ready = super().select(_PATIENCE)
            if not ready:
                raise RuntimeError("nothing is left that could wake this loop: it would wait for ever")
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """The event loop of `run_virtual`."""

    def __init__(self) -> None:
        self._clock = _Clock()
        self._outside: set[asyncio.Future[Any]] = set()
        self._children: set[asyncio.SubprocessTransport] = set()
        super().__init__(self._clock)
        self._own_files = len(self._clock.get_map())  # the loop's own wake-up pipe
        self._clock.outside_at_work = self._outside_at_work

    def time(self) -> float:
        return self._clock.now

    def expect_outside(self, future: asyncio.Future[Any]) -> None:
        """Do not jump until this future is done: somebody outside the loop is working on it."""
        self._outside.add(future)
        future.add_done_callback(self._outside.discard)

    def _outside_at_work(self) -> bool:
        self._children = {child for child in self._children if child.get_returncode() is None}
        return bool(self._outside or self._children) or len(self._clock.get_map()) > self._own_files

    def run_in_executor(self, executor: Executor | None, func: Callable[[*_Ts], _T], *args: *_Ts) -> asyncio.Future[_T]:
        future = super().run_in_executor(executor, func, *args)
        self.expect_outside(future)
        return future

    async def subprocess_exec(self, *args: Any, **options: Any) -> Any:
        transport, protocol = await super().subprocess_exec(*args, **options)
        self._children.add(transport)
        return transport, protocol

    async def subprocess_shell(self, *args: Any, **options: Any) -> Any:
        transport, protocol = await super().subprocess_shell(*args, **options)
        self._children.add(transport)
        return transport, protocol

    async def shutdown_default_executor(self, *args: Any) -> None:
        done = self.create_future()  # a thread of its own joins those of the executor
        self.expect_outside(done)
        try:
            await super().shutdown_default_executor(*args)
        finally:
            done.cancel()
