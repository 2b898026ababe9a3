"""The journal: what recording a run costs, and what reading one back does; ours against plain asyncio.

Services are asynchronous functions that do nothing. Each figure is the best of several samples, all ways of a row taken
in turn in one process; processor time counts all threads, the one that writes included. `+ µs` is what a call costs
more than in a run without a store; a replay that is short includes its own costs, reading the pattern again above all.
The runs of 100,000 calls are taken in processes of their own.

python bench/bench_journal.py [--only loop|refine|fan|long] [--folder FOLDER] [--samples N]

`--folder` is where the stores are made: a disk, unless it is to be said what memory would give.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import workloads as w

import prose_lang as prose

Work = Callable[[], Awaitable[Any]]

#: Microseconds that a journalled call of a fan-out may cost more, and that reading one back may.
AIM_CALL, AIM_REPLAY = 150.0, 30.0
#: Seconds that it may take to go on with a run of 100,000 calls.
AIM_RESUME = 10.0
LOOP, LONG = 2_000, 100_000

PARALLEL = """parallel for item in items:
  call member
    i: item
return call last
"""
SEQUENCE = """let n = 0
loop while n < rounds (max: rounds):
  n = call step
    n: n
return call last
"""


def engine(store: str | None = None, durability: str = "normal", *, trace: bool = True) -> prose.Engine:
    if store is None:
        return prose.Engine(limits=prose.Limits(calls=None), trace=trace)
    return prose.Engine(limits=prose.Limits(calls=None), trace=trace, store=store, durability=durability)


async def _sample(work: Work, inner: int) -> tuple[float, float]:
    gc.collect()
    wall, used = time.perf_counter(), time.process_time()
    for _ in range(inner):
        await work()
    return (time.perf_counter() - wall) / inner, (time.process_time() - used) / inner


async def _best(works: dict[str, Work], inner: int, samples: int, expect: Any) -> dict[str, tuple[float, float]]:
    for name, work in works.items():
        got = await work()
        if got != expect:
            raise AssertionError(f"{name}: {got!r}, expected {expect!r}")
    best: dict[str, tuple[float, float]] = {}
    for _ in range(samples):
        for name, work in works.items():
            wall, used = await _sample(work, inner)
            known = best.get(name, (wall, used))
            best[name] = (min(wall, known[0]), min(used, known[1]))
    return best


def row(
    title: str,
    works: dict[str, Work],
    *,
    calls: int,
    inner: int,
    samples: int,
    expect: Any,
    aims: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """Print the ways of one workload: the first is the floor, the second the run without a store."""
    found = asyncio.run(_best(works, inner, samples, expect))
    (floor, floor_used), (plain, plain_used) = list(found.values())[:2]
    print(title)
    for name, (wall, used) in found.items():
        line = f"  {name:<16} wall {wall / calls * 1e6:8.2f} µs/call {wall / floor:7.2f}×"
        line += f"   processor {used / calls * 1e6:8.2f} µs/call {used / floor_used:7.2f}×"
        if name not in list(found)[:2]:
            more = (wall - plain) / calls * 1e6
            line += f"   + {more:7.2f} µs wall, {(used - plain_used) / calls * 1e6:7.2f} µs processor"
            if name in aims:
                line += f"  (aim ≤ {aims[name]:g} µs{'' if more <= aims[name] else ', MISSED'})"
        print(line, flush=True)


def ways(folder: str, floor: Work, slots: str, config: str, body: str, trace: bool, **names: Any) -> dict[str, Work]:
    """The floor, and the same as a pattern: without a store, with one of either durability, and read back."""

    def ours(made: prose.Engine) -> Work:
        pattern = w.pattern(made, slots, config, body)

        async def run() -> Any:
            return (await pattern.arun(**names)).value

        return run

    stored = engine(os.path.join(folder, "replay"), trace=trace)
    recorded: list[str] = []

    async def replay() -> Any:
        if not recorded:
            recorded.append((await w.pattern(stored, slots, config, body).arun(**names)).run_id)
        outcome = await stored.resuming.outcome_async(recorded[0], names, replay=True)
        if outcome.status != "ok":
            raise AssertionError(str(outcome.error))
        return outcome.value

    return {
        "plain asyncio": floor,
        "no store": ours(engine(trace=trace)),
        "store, normal": ours(engine(os.path.join(folder, "normal"), trace=trace)),
        "store, full": ours(engine(os.path.join(folder, "full"), "full", trace=trace)),
        "replay": replay,
    }


# --- long runs, each in a process of its own -------------------------------------------------------------------------


def resident(what: str = "VmRSS") -> float:
    """Resident memory of this process in MiB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(what)) / 1024


class Watch:
    """What is seen of a long run: memory at some of its calls, and how long the event loop stood still at most."""

    def __init__(self) -> None:
        self.calls = 0
        self.memory: list[float] = []
        self.stalled = 0.0

    def count(self) -> None:
        if self.calls % (LONG // 10) == 0:
            self.memory.append(round(resident(), 1))
        self.calls += 1

    async def look(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(0.001)
            self.stalled = max(self.stalled, loop.time() - before)


def long_run(kind: str, task: str, store: str) -> dict[str, Any]:
    """One of the long runs: `plain` without a store, `record` up to the last call, `resume` that."""
    watch = Watch()

    async def member(i: int) -> int:
        watch.count()
        await asyncio.sleep(0)
        return i

    async def step(n: int) -> int:
        watch.count()
        return n + 1

    jobs: list[asyncio.Task[Any]] = []

    async def last() -> str:
        if task == "record":
            # The process is to die in its last call; here it is interrupted there, which leaves the same record.
            jobs[0].cancel()
            await asyncio.sleep(3600)
        return "done"

    made = engine(None if task == "plain" else store, trace=False)
    names: dict[str, Any] = {"last": last}
    if kind == "parallel":
        names |= {"member": member, "items": list(range(LONG))}
        pattern = w.pattern(made, "member last", "items=[]", PARALLEL)
    else:
        names |= {"step": step, "rounds": LONG}
        pattern = w.pattern(made, "step last", "rounds=3", SEQUENCE)

    async def work() -> Any:
        looking = asyncio.create_task(watch.look())
        try:
            if task == "resume":
                run = made.records.store.runs()[0].id  # type: ignore[union-attr]
                return await made.resuming.outcome_async(run, names)
            holder: list[Any] = []
            jobs.append(asyncio.create_task(made.outcome_async(pattern, names, holder)))
            with suppress(asyncio.CancelledError):
                return await jobs[0]
            return holder[0]
        finally:
            looking.cancel()

    before, wall, used = resident(), time.perf_counter(), time.process_time()
    outcome = asyncio.run(work())
    wall, used = time.perf_counter() - wall, time.process_time() - used
    if outcome.status != ("interrupted" if task == "record" else "ok"):
        raise AssertionError(f"{outcome.status}: {outcome.error}")
    size = sum(path.stat().st_size for path in Path(store).rglob("*") if path.is_file()) if task != "plain" else 0
    return {
        "wall": wall, "used": used, "before": before, "memory": watch.memory, "calls": watch.calls,
        "after": resident(), "peak": resident("VmHWM"), "stalled": watch.stalled, "size": size / 2**20,
    }  # fmt: skip


def long_runs(folder: str) -> None:
    for kind in ("parallel", "sequence"):
        print(f"{LONG:,} calls, {kind}, trace off")
        store = os.path.join(folder, kind)
        for task in ("plain", "record", "resume"):
            command = [sys.executable, __file__, "--one", kind, task, store]
            done = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            aim = ""
            if task == "resume":
                if done["calls"]:
                    raise AssertionError(f"{done['calls']} finished calls were made again")
                aim = f"  (aim ≤ {AIM_RESUME:g} s{'' if done['wall'] <= AIM_RESUME else ', MISSED'})"
            size = f", store {done['size']:.1f} MiB" if task == "record" else ""
            print(
                f"  {task:<8} {done['wall']:6.2f} s, processor {done['used']:6.2f} s, {done['wall'] / LONG * 1e6:6.1f}"
                f" µs/call{aim}\n           memory before {done['before']:.1f} MiB, after {done['after']:.1f}, peak"
                f" {done['peak']:.1f}; the loop stood still for {done['stalled'] * 1e3:.0f} ms at most{size}",
                flush=True,
            )
            if done["memory"]:
                print(f"           memory at every tenth of the calls: {done['memory']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", choices=("", "loop", "refine", "fan", "long"))
    parser.add_argument("--folder")
    parser.add_argument("--samples", type=int, default=7)
    parser.add_argument("--trace", choices=("on", "off"), default="on")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one is not None:
        print(json.dumps(long_run(*chosen.one)))
        return
    samples, trace = chosen.samples, chosen.trace == "on"
    with tempfile.TemporaryDirectory(prefix="bench-journal-", dir=chosen.folder) as folder:
        if chosen.only in ("", "loop"):
            where = os.path.join(folder, "loop")
            works = ways(where, lambda: w.floor_loop(LOOP), "step", f"rounds={LOOP}", w.LOOP, trace,
                         step=w.step)  # fmt: skip
            row(f"loop of {LOOP:,} calls", works, calls=LOOP, inner=1, samples=samples, expect=LOOP,
                aims={"replay": AIM_REPLAY})  # fmt: skip
        if chosen.only in ("", "refine"):
            expect = {"result": "draft+++", "score": 1.0, "rounds_used": 3}
            works = ways(os.path.join(folder, "refine"), w.floor_refine, "refiner evaluator", "rounds=3;threshold=1.0",
                         w.REFINE, trace, refiner=w.refiner, evaluator=w.evaluator)  # fmt: skip
            row("refine, 6 calls, the run's own costs included", works, calls=6, inner=20, samples=samples,
                expect=expect)  # fmt: skip
        for width in (200, 2_000):
            if chosen.only in ("", "fan"):
                works = ways(
                    os.path.join(folder, str(width)), lambda width=width: w.floor_fan_out(width),  # type: ignore[misc]
                    "member reducer", "width=3", w.FAN_OUT, trace, member=w.wide_member, reducer=w.reducer, width=width,
                )  # fmt: skip
                row(f"fan-out of {width:,}", works, calls=width + 1, inner=1 if width > 200 else 5, samples=samples,
                    expect=width * (width - 1) // 2,
                    aims={"store, normal": AIM_CALL} | ({"replay": AIM_REPLAY} if width > 200 else {}))  # fmt: skip
        if chosen.only in ("", "long"):
            long_runs(folder)


if __name__ == "__main__":
    main()
