"""Parsing and checking: KB of program text a second, and how long check and lint of a 2,000-line program take.

python bench/bench_parse.py
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import workloads as w

import prose_lang as prose
from prose_lang.linter import lint
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


def processor_time(work: Callable[[], object]) -> float:
    """Seconds that child processes kept a processor busy: what the wall clock shows on a machine without other work."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def process(command: str, path: Path) -> None:
    """Run the command line on a file, as a user does."""
    arguments = [sys.executable, "-m", "prose_lang", command, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    subprocess.run(arguments, env=environment, stdout=subprocess.DEVNULL, check=False)


def main() -> None:
    began = time.perf_counter()
    table()
    print(f"parse table ready in {(time.perf_counter() - began) * 1e3:.1f} ms")
    text = _LOOP * 530
    seconds = timed(lambda: parse(prose.Source("bench", text)))
    print(f"parse {len(text) / 1000:.0f} KB: {seconds * 1e3:.0f} ms, {len(text) / 1000 / seconds:.0f} KB/s (aim ≥ 300)")
    engine = prose.Engine()
    body = "let current_result = null\nlet current_score = null\n" + _LOOP * 133
    pattern = w.pattern(engine, "refiner evaluator", "max_rounds=3;threshold=0.8", body)
    seconds = timed(lambda: engine.check(pattern))
    lines = body.count("\n")
    print(f"check {lines:,} lines: {seconds * 1e3:.0f} ms (aim ≤ 1,000)")
    seconds = timed(lambda: lint(pattern.document, engine.environment(pattern.document)), samples=3)
    print(f"lint {lines:,} lines: {seconds * 1e3:.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.prose.md"
        path.write_text(pattern.document.source.text, encoding="utf-8")
        for command in ("check", "lint"):
            seconds = timed(partial(process, command, path), samples=3)
            busy = processor_time(partial(process, command, path))
            print(
                f"prose {command} of {lines:,} lines, the whole process: {seconds * 1e3:.0f} ms, "
                f"{busy * 1e3:.0f} ms of the processor (aim ≤ 1,000)"
            )


if __name__ == "__main__":
    main()
