"""Threads for synchronous services, which neither the run nor the interpreter waits for at exit (§9 L24).

A synchronous function cannot be stopped. When the call it serves is cancelled it is abandoned: it goes on in its
daemon thread, and what it returns is thrown away. asyncio's own executor joins its threads when the interpreter
exits, so one function that hangs would hang the program with it; that is why this pool exists.

A pool belongs to an engine, or to a single service that was given none. Threads are made on demand, serve any
event loop, and end after a while without work; nothing has to be closed.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics import described

if TYPE_CHECKING:
    import asyncio

#: How many functions may run at once; more of them wait for their turn.
MAX_THREADS = 256
#: Seconds after which a thread without work ends.
IDLE_SECONDS = 10.0


class WorkerThreads:
    """A pool of daemon threads.

    >>> import asyncio
    >>> async def main() -> str:
    ...     return await WorkerThreads().run("a-b".replace, "-", "+")
    >>> asyncio.run(main())
    'a+b'
    """

    def __init__(self, maximum: int = MAX_THREADS, idle: float = IDLE_SECONDS) -> None:
        self._maximum = maximum
        self._idle_seconds = idle
        self._waiting: deque[_Job] = deque()
        self._changed = threading.Condition()
        self._threads = 0
        self._idle = 0  # threads inside `wait`, those already notified included

    def run(self, function: Callable[..., Any], /, *args: Any, **keywords: Any) -> asyncio.Future[Any]:
        """Start `function` in a thread, with the caller's context variables; the future gives what it returns.

        Cancelling the future abandons the function, or keeps it from starting if it has not started.
        """
        from asyncio import get_running_loop

        loop = get_running_loop()
        job = _Job(loop, function, args, keywords)
        with self._changed:
            self._waiting.append(job)
            if self._idle >= len(self._waiting):
                self._changed.notify()
            elif self._threads < self._maximum:
                self._start_thread(job)
        # A loop whose time jumps (`testing/clock.py`) must not jump while a thread is at work.
        expect_outside = getattr(loop, "expect_outside", None)
        if expect_outside is not None:
            expect_outside(job.future)
        return job.future

    def _start_thread(self, job: _Job) -> None:
        thread = threading.Thread(target=self._serve, name="prose-service", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system gives no more threads
            if self._threads == 0:
                self._waiting.remove(job)
                raise
        else:
            self._threads += 1

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._idle += 1
                    notified = self._changed.wait(self._idle_seconds)
                    self._idle -= 1
                    if not notified and not self._waiting:
                        self._threads -= 1
                        return
                job = self._waiting.popleft()
            job.perform()
            del job  # an idle thread must not keep the last call's inputs and result alive


class _Job:
    """One function to run, and the future of the loop that waits for it."""

    __slots__ = ("args", "context", "function", "future", "keywords", "loop")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> None:
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.context = contextvars.copy_context()
        self.function = function
        self.args = args
        self.keywords = keywords

    def perform(self) -> None:
        if self.future.cancelled():
            return
        result: Any = None
        failure: Exception | None = None
        try:
            result = self.context.run(self.function, *self.args, **self.keywords)
        except BaseException as error:
            failure = _deliverable(error)
        # A closed loop refuses: the call was abandoned, and nobody waits for the result.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(_settle, self.future, result, failure)


def _deliverable(error: BaseException) -> Exception:
    """The error as a future can carry it: one that stops a loop or an iterator must not get out of its thread."""
    kind = type(error)  # what `isinstance` asks the error itself, it may answer by raising, and the call would hang
    if issubclass(kind, Exception) and not issubclass(kind, StopIteration):
        return error  # type: ignore[return-value]
    wrapped = RuntimeError(f"the function raised {described(error)}")
    wrapped.__cause__ = error
    return wrapped


def _settle(future: asyncio.Future[Any], result: Any, failure: Exception | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)
