"""Worker threads: reuse, limits, abandonment, and an interpreter that does not wait for them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from prose_lang.services.threads import WorkerThreads
from prose_lang.testing.clock import run_virtual


def test_threads_are_reused_and_grow_on_demand() -> None:
    pool = WorkerThreads()
    together = threading.Barrier(3)

    async def main() -> tuple[set[int], set[int]]:
        alone = set()
        for _ in range(3):
            alone.add(await pool.run(threading.get_ident))
            while not pool._idle:  # noqa: ASYNC110 - a thread gives its result before it is free again
                await asyncio.sleep(0)

        def meet() -> int:
            together.wait(10)
            return threading.get_ident()

        return alone, set(await asyncio.gather(*[pool.run(meet) for _ in range(3)]))

    alone, three = run_virtual(main())
    assert len(alone) == 1
    assert len(three) == 3
    assert alone < three


def test_no_more_than_the_maximum_run_at_once_and_the_rest_wait_in_order() -> None:
    pool = WorkerThreads(maximum=1)
    seen: list[int] = []

    async def main() -> None:
        await asyncio.gather(*[pool.run(seen.append, number) for number in range(50)])

    run_virtual(main())
    assert seen == list(range(50))


def test_idle_threads_end() -> None:
    pool = WorkerThreads(idle=0.0)

    async def main() -> threading.Thread:
        return await pool.run(threading.current_thread)

    thread = run_virtual(main())
    thread.join(10)
    assert not thread.is_alive()
    assert run_virtual(main()) is not thread


def test_arguments_results_and_errors() -> None:
    pool = WorkerThreads()

    def divide(a: int, *, by: int) -> float:
        return a / by

    async def main() -> Any:
        return await pool.run(divide, 6, by=3), await asyncio.gather(pool.run(divide, 1, by=0), return_exceptions=True)

    quotient, (error,) = run_virtual(main())
    assert quotient == 2
    assert isinstance(error, ZeroDivisionError)


@pytest.mark.parametrize("raised", [SystemExit(2), KeyboardInterrupt(), StopIteration(), asyncio.CancelledError()])
def test_an_error_that_would_stop_the_loop_is_wrapped(raised: BaseException) -> None:
    def fail() -> None:
        raise raised

    with pytest.raises(RuntimeError, match="the function raised") as caught:
        run_virtual(_waited(lambda: WorkerThreads().run(fail)))
    assert caught.value.__cause__ is raised


def test_a_cancelled_call_is_abandoned_and_its_result_discarded() -> None:
    pool = WorkerThreads(maximum=1)
    started, release, ended = threading.Event(), threading.Event(), threading.Event()
    ran: list[str] = []

    def slow() -> str:
        started.set()
        release.wait(10)
        ended.set()
        return "late"

    async def main() -> str:
        running = pool.run(slow)
        waiting = pool.run(ran.append, "never started")
        await asyncio.get_running_loop().run_in_executor(None, started.wait, 10)
        running.cancel()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        release.set()
        return await pool.run(lambda: "next")

    assert run_virtual(main()) == "next"
    assert ended.is_set()
    assert ran == []


def test_a_result_for_a_closed_loop_is_dropped() -> None:
    pool = WorkerThreads(maximum=1)
    release = threading.Event()
    errors: list[Any] = []
    hook, threading.excepthook = threading.excepthook, errors.append

    async def leave() -> None:
        pool.run(release.wait, 10)

    try:
        loop = asyncio.new_event_loop()
        loop.run_until_complete(leave())
        loop.close()
        release.set()
        assert run_virtual(_waited(lambda: pool.run(lambda: "still serving"))) == "still serving"
    finally:
        threading.excepthook = hook
    assert errors == []


def test_one_pool_serves_several_loops() -> None:
    pool = WorkerThreads()
    assert [run_virtual(_waited(lambda: pool.run(str.upper, "x"))) for _ in range(2)] == ["X", "X"]


def test_the_interpreter_does_not_wait_for_a_thread_that_hangs() -> None:
    program = (
        "import asyncio, threading\n"
        "from prose_lang.services.threads import WorkerThreads\n"
        "async def main():\n"
        "    hanging = WorkerThreads().run(threading.Event().wait)\n"
        "    await asyncio.sleep(0)\n"
        "    hanging.cancel()\n"
        "    print('left')\n"
        "asyncio.run(main())\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert (finished.stdout, finished.stderr) == ("left\n", "")


async def _waited(start: Callable[[], Any]) -> Any:
    return await start()
