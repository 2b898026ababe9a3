"""Running to the end, or to an interrupt: the first Ctrl-C or SIGTERM cancels the run and waits for its calls; the
second does not wait."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine
from types import FrameType
from typing import Any, TypeVar

from prose_lang.engine.outcome import Outcome

_T = TypeVar("_T")

#: What a shell reports of a process that Ctrl-C ended.
INTERRUPTED = 130


async def to_its_end(work: Coroutine[Any, Any, _T]) -> tuple[_T, bool]:
    """What a piece of work gives that no interrupt may cut off, and whether one came meanwhile."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                cancelled = True
        except BaseException:  # told below
            break
    return task.result(), cancelled


def run_interruptible(work: Coroutine[Any, Any, Outcome], interrupted: list[Outcome]) -> Outcome:
    """Run a coroutine that ends in an outcome; one that is interrupted leaves its outcome in `interrupted`."""
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        task = loop.create_task(work)
        count = 0

        def interrupt(number: int, frame: FrameType | None) -> None:
            nonlocal count
            count += 1
            if count > 1:
                os._exit(INTERRUPTED)
            loop.call_soon_threadsafe(task.cancel)

        if threading.current_thread() is not threading.main_thread():
            return loop.run_until_complete(task)
        before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            return loop.run_until_complete(task)
        except asyncio.CancelledError:
            if not interrupted:
                raise KeyboardInterrupt from None
            return interrupted[0]
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
