"""The virtual clock: it jumps when idle, and waits for real while the outside is at work."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from prose_lang.services.threads import WorkerThreads
from prose_lang.testing.clock import run_virtual


def test_timers_fire_in_the_order_of_their_times() -> None:
    seen: list[tuple[float, str]] = []

    async def sleeper(seconds: float, name: str) -> None:
        await asyncio.sleep(seconds)
        seen.append((asyncio.get_running_loop().time(), name))

    async def main() -> None:
        await asyncio.gather(sleeper(3600, "c"), sleeper(0.5, "a"), sleeper(2, "b"))

    run_virtual(main())
    assert seen == [(0.5, "a"), (2.0, "b"), (3600.0, "c")]


def test_timeouts_are_virtual() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 600)
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 600.0


def test_no_jump_while_a_thread_is_at_work() -> None:
    async def main() -> list[str]:
        release = threading.Event()
        asyncio.get_running_loop().call_soon(release.set)
        ours = asyncio.wait_for(WorkerThreads().run(release.wait, 10), 3600)
        executors = asyncio.wait_for(asyncio.to_thread(release.wait, 10), 3600)
        return [str(await ours), str(await executors)]

    assert run_virtual(main()) == ["True", "True"]


def test_it_jumps_again_after_the_thread_was_abandoned() -> None:
    async def main() -> bool:
        release = threading.Event()
        abandoned = WorkerThreads().run(release.wait, 10)
        abandoned.cancel()
        await asyncio.sleep(3600)
        release.set()
        return asyncio.get_running_loop().time() >= 3600

    assert run_virtual(main())


def test_no_jump_while_a_child_lives() -> None:
    async def main() -> bytes:
        program = "import sys; sys.stdout.write(sys.stdin.read())"
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await asyncio.wait_for(child.communicate(b"there and back"), 3600)
        return output

    assert run_virtual(main()) == b"there and back"


def test_waiting_for_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prose_lang.testing.clock._PATIENCE", 0.0)

    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="it would wait for ever"):
        run_virtual(main())
