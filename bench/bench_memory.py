"""Memory: peak resident set of fresh processes, for wide fan-outs and long loops.

python bench/bench_memory.py
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import workloads as w
from harness import peak_mib

import prose_lang as prose


def engine(trace: bool) -> prose.Engine:
    return prose.Engine(limits=prose.Limits(calls=None), trace=trace)


def fan_out(width: int) -> None:
    pattern = w.pattern(engine(True), "member reducer", "width=3", w.FAN_OUT)
    asyncio.run(pattern.arun(member=w.wide_member, reducer=w.reducer, width=width))


def loop(rounds: int, trace: bool) -> None:
    pattern = w.pattern(engine(trace), "step", "rounds=10", w.LOOP)
    asyncio.run(pattern.arun(step=w.step, rounds=rounds))


CASES = {
    "nothing": lambda: None,
    "floor: a task group of 10,000": lambda: asyncio.run(w.floor_fan_out(10_000)),
    "fan-out of 10,000, trace on": lambda: fan_out(10_000),
    "loop of 1,000 calls, trace off": lambda: loop(1_000, False),
    "loop of 100,000 calls, trace off": lambda: loop(100_000, False),
    "loop of 100,000 calls, trace on": lambda: loop(100_000, True),
}


def main() -> None:
    if len(sys.argv) > 1:
        CASES[sys.argv[1]]()
        print(f"{peak_mib():.0f}")
        return
    for name in CASES:
        done = subprocess.run([sys.executable, __file__, name], check=True, capture_output=True, text=True)
        print(f"{name:<34} peak {done.stdout.strip()} MiB")


if __name__ == "__main__":
    main()
