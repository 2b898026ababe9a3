"""Modules: what an attempt of `refine` and `best_of_n` costs, with a module and a reward that do nothing.

Against the same written as a Python loop, and in the same process against DSPy's Refine and BestOfN where DSPy is
installed. DSPy's Refine asks a model for advice after each attempt; here that is DSPy's own dummy, which costs nothing.

python bench/bench_modules.py [--attempts 10]
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import io
import itertools
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from harness import compare

from prose_lang import service
from prose_lang.modules import best_of_n, refine

#: How much less an attempt of ours is to cost than one of DSPy's Refine.
AIM = 10.0
TEMPLATE = "'{prediction}' scored {score}. Again."


async def noop(question: str, feedback: str = "") -> dict[str, str]:
    return {"answer": "x"}


async def reward(prediction: dict[str, str], inputs: dict[str, str]) -> float:
    return 0.5


def noop_sync(question: str, feedback: str = "") -> dict[str, str]:
    return {"answer": "x"}


def reward_sync(prediction: dict[str, str], inputs: dict[str, str]) -> float:
    return 0.5


# They return at once, and say so: `inline` keeps them out of threads, as DSPy keeps its own.
@service(inline=True)
def noop_inline(question: str, feedback: str = "") -> dict[str, str]:
    return {"answer": "x"}


@service(inline=True)
def reward_inline(prediction: dict[str, str], inputs: dict[str, str]) -> float:
    return 0.5


async def floor(attempts: int) -> dict[str, str]:
    """What `refine` does, by hand and without its checks."""
    inputs = {"question": "?"}
    feedback, best, best_score = "No feedback yet.", None, float("-inf")
    for _ in range(attempts):
        prediction = await noop(**inputs, feedback=feedback)
        score = await reward(prediction, inputs)
        if score > best_score:
            best, best_score = prediction, score
        if score >= 1:
            break
        said = "; ".join(f"{name}: {value}" for name, value in prediction.items())
        feedback = f"'{said}' scored {round(score, 3)}. Again."
    assert best is not None
    return best


def per_attempt(
    works: dict[str, Callable[[], Any]], attempts: int, samples: int = 9, runs: int = 5
) -> dict[str, float]:
    """Median seconds of processor time per attempt, all threads counted; the works taken in turn, `runs` runs each
    after one that warms what the other work has pushed out of the caches."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(samples):
        for name, work in works.items():
            gc.collect()
            work()
            began = time.process_time()  # nothing waits here, and other programs' load does not count
            for _ in range(runs):
                work()
            times[name].append((time.process_time() - began) / attempts / runs)
    return {name: statistics.median(found) for name, found in times.items()}


def against_dspy(attempts: int) -> bool:
    """Print the comparison; whether the aim was met."""
    import dspy
    from dspy.utils.dummies import DummyLM

    advice = {"discussion": "none", "advice": {"predictor": "N/A"}}
    dspy.configure(lm=DummyLM(itertools.repeat(advice)))
    made = 0

    class Noop(dspy.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.predictor = dspy.Predict("question -> answer")  # Refine wants one; it is never called

        def forward(self, question: str) -> Any:
            nonlocal made
            made += 1
            return dspy.Prediction(answer="x")

    def dspy_reward(inputs: dict[str, Any], prediction: Any) -> float:
        return 0.5

    theirs = {
        "refine": dspy.Refine(module=Noop(), N=attempts, reward_fn=dspy_reward, threshold=1.0),
        "best_of_n": dspy.BestOfN(module=Noop(), N=attempts, reward_fn=dspy_reward, threshold=1.0),
    }
    ours = {
        "refine": refine(noop_inline, attempts, reward_inline, feedback_template=TEMPLATE),
        "best_of_n": best_of_n(noop_inline, attempts, reward_inline),
    }
    met = True
    for name in theirs:
        made, said = 0, io.StringIO()
        with contextlib.redirect_stdout(said):  # it prints what went wrong
            answer = theirs[name](question="?").answer
        if (answer, made, said.getvalue()) != ("x", attempts, ""):
            raise AssertionError(f"DSPy's {name} made {made} of {attempts} attempts: {said.getvalue()[:500]}")
        works = {
            "theirs": lambda name=name: theirs[name](question="?"),
            "ours": lambda name=name: ours[name](question="?"),
        }
        found = per_attempt(works, attempts)
        ratio = found["theirs"] / found["ours"]
        missed = name == "refine" and ratio < AIM
        met = met and not missed
        aim = f"  (aim ≥ {AIM:g}×{', MISSED' if missed else ''})" if name == "refine" else ""
        print(f"{name + ' against DSPy ' + dspy.__version__:<34} DSPy {found['theirs'] * 1e6:10.1f} µs   "
              f"ours {found['ours'] * 1e6:10.1f} µs per attempt   {ratio:6.1f}× less{aim}", flush=True)  # fmt: skip
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=10)
    attempts = parser.parse_args().attempts
    warnings.simplefilter("ignore")  # that all attempts are equal is the point here

    refined, sampled = refine(noop, attempts, reward, feedback_template=TEMPLATE), best_of_n(noop, attempts, reward)
    in_threads = refine(noop_sync, attempts, reward_sync, feedback_template=TEMPLATE)
    expect = {"answer": "x"}
    for title, made in (
        ("refine, functions on the loop", refined),
        ("best_of_n, functions on the loop", sampled),
        ("refine, functions in threads", in_threads),
    ):
        compare(title, lambda: floor(attempts), lambda made=made: made.acall(question="?"),  # type: ignore[misc]
                calls=attempts, inner=50, expect=expect)  # fmt: skip
    print(f"{'':<34} µs/call above is per attempt: {attempts} attempts a run, each with its reward and its feedback")
    if importlib.util.find_spec("dspy") is None:
        print("DSPy is not installed: the comparison with its Refine is skipped (pip install dspy, elsewhere)")
        return
    if not against_dspy(attempts):
        sys.exit(1)


if __name__ == "__main__":
    main()
