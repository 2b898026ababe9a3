"""Parsing and checking: KB of program text a second, and how long a 2,000-line program takes.

python bench/bench_parse.py
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import workloads as w

import prose_lang as prose
from prose_lang.syntax import parse
from prose_lang.syntax.table import table

_LOOP = """repeat max_rounds as round:
  let current_result = call refiner
    task_brief: task_brief
    current_result: current_result
    current_score: current_score
  let evaluation = call evaluator
    task_brief: task_brief
    result: current_result
  current_score = evaluation.score
  if current_score meets threshold:
    return {
      result: current_result,
      score: current_score,
      rounds_used: round
    }
"""


def timed(work: Callable[[], object], samples: int = 5) -> float:
    """Seconds of the median run."""
    work()
    times = []
    for _ in range(samples):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main() -> None:
    began = time.perf_counter()
    table()
    print(f"parse table ready in {(time.perf_counter() - began) * 1e3:.1f} ms")
    text = _LOOP * 530
    seconds = timed(lambda: parse(prose.Source("bench", text)))
    print(f"parse {len(text) / 1000:.0f} KB: {seconds * 1e3:.0f} ms, {len(text) / 1000 / seconds:.0f} KB/s (aim ≥ 300)")
    engine = prose.Engine()
    body = _LOOP * 133
    pattern = w.pattern(engine, "refiner evaluator", "max_rounds=3;threshold=0.8", body)
    seconds = timed(lambda: engine.check(pattern))
    print(f"check {body.count(chr(10)):,} lines: {seconds * 1e3:.0f} ms (aim ≤ 1,000)")


if __name__ == "__main__":
    main()
