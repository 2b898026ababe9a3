"""Timing: each figure is the median of several samples, the floor and ours taken alternately in one process."""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

Work = Callable[[], Awaitable[Any]]


async def _sample(work: Work, inner: int) -> float:
    gc.collect()
    began = time.perf_counter()
    for _ in range(inner):
        await work()
    return (time.perf_counter() - began) / inner


async def _both(floor: Work, ours: Work, inner: int, samples: int, expect: Any) -> tuple[float, float]:
    got_floor, got_ours = await floor(), await ours()
    if expect is not None and (got_floor != expect or got_ours != expect):
        raise AssertionError(f"floor {got_floor!r}, ours {got_ours!r}, expected {expect!r}")
    pairs = [(await _sample(floor, inner), await _sample(ours, inner)) for _ in range(samples)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def compare(
    title: str,
    floor: Work,
    ours: Work,
    *,
    calls: int,
    inner: int = 1,
    samples: int = 7,
    expect: Any = None,
    aim: float | None = None,
) -> float:
    """Print the two times, per call and as a ratio; returns the ratio."""
    one, two = asyncio.run(_both(floor, ours, inner, samples, expect))
    ratio = two / one
    goal = "" if aim is None else f"  (aim ≤ {aim:g}×{'' if ratio <= aim else ', MISSED'})"
    print(
        f"{title:<34} floor {one * 1e6:10.1f} µs   ours {two * 1e6:10.1f} µs   {two / calls * 1e6:7.2f} µs/call"
        f"   {ratio:6.2f}×{goal}",
        flush=True,
    )
    return ratio


def peak_mib() -> float:
    """Peak resident memory of this process in MiB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
