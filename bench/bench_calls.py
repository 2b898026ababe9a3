"""Calls: refine loop, ensemble, fan-out, long loop, waiting calls; ours against plain asyncio in the same process.

python bench/bench_calls.py [--only W3] [--trace off]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import workloads as w
from harness import compare, peak_mib

import prose_lang as prose


def engine(**options: Any) -> prose.Engine:
    return prose.Engine(limits=prose.Limits(calls=None, concurrency=options.pop("concurrency", None)), **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--trace", choices=("on", "off"), default="on")
    chosen = parser.parse_args()
    trace = chosen.trace == "on"

    def wanted(name: str) -> bool:
        return name.startswith(chosen.only)

    def ours(made: prose.Engine, slots: str, config: str, body: str, **names: Any) -> Any:
        pattern = w.pattern(made, slots, config, body)

        async def run() -> Any:
            return (await pattern.arun(**names)).value

        return run

    if wanted("W1"):
        names = {"refiner": w.refiner, "evaluator": w.evaluator}
        run = ours(engine(trace=trace), "refiner evaluator", "rounds=3;threshold=1.0", w.REFINE, **names)
        expect = {"result": "draft+++", "score": 1.0, "rounds_used": 3}
        compare("W1 refine, 6 calls", w.floor_refine, run, calls=6, inner=2000, expect=expect, aim=18)
    if wanted("W2"):
        names = {"member": w.member, "synthesizer": w.synthesizer}
        run = ours(engine(trace=trace), "member synthesizer", "size=3", w.ENSEMBLE, **names)
        compare("W2 ensemble of 3", w.floor_ensemble, run, calls=4, inner=2000, expect="t1|t2|t3", aim=6)
    for width, inner in ((1_000, 10), (10_000, 1)):
        if wanted("W3"):
            names = {"member": w.wide_member, "reducer": w.reducer, "width": width}
            run = ours(engine(trace=trace), "member reducer", "width=3", w.FAN_OUT, **names)
            total = width * (width - 1) // 2
            compare(f"W3 fan-out of {width:,}", lambda width=width: w.floor_fan_out(width), run,  # type: ignore[misc]
                    calls=width + 1, inner=inner, expect=total, aim=4.5)  # fmt: skip
            print(f"{'':<34} peak {peak_mib():.0f} MiB so far in this process")
    if wanted("W4"):
        run = ours(engine(trace=trace), "step", "rounds=10000", w.LOOP, step=w.step)
        compare("W4 loop of 10,000", lambda: w.floor_loop(10_000), run, calls=10_000, expect=10_000, aim=30)
    for limit in (None, 100):
        if wanted("W5"):
            made = engine(trace=trace, concurrency=limit)
            run = ours(made, "member", "width=1000", w.IO, member=w.io_member)

            async def floor(limit: int | None = limit) -> int:
                await w.floor_io(1000, limit)
                return 1000

            compare(f"W5 1,000 calls of 50 ms, limit {limit}", floor, run, calls=1000, samples=3, expect=1000)


if __name__ == "__main__":
    main()
