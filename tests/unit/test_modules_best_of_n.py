"""`best_of_n`: samples of one module, scored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import prose_lang as prose
from prose_lang.modules import AttemptsError, IdenticalSamplesWarning, best_of_n
from prose_lang.testing.clock import run_virtual


def scripted(*replies: Any) -> Callable[..., Any]:
    made = iter(range(10**9))

    async def member(task: str) -> Any:
        reply = replies[next(made) % len(replies)]
        if isinstance(reply, Exception):
            raise reply
        return reply

    return member


def itself(prediction: Any, inputs: Any) -> Any:
    return prediction


BAD = ValueError("no answer")


def test_the_best_of_n_and_of_two_equals_the_first() -> None:
    texts = iter(["bb", "aa", "c", "dd"])

    async def member(task: str) -> str:
        return next(texts)

    best = best_of_n(member, n=4, reward_fn=lambda prediction, inputs: len(prediction) / 10)
    run = best.run(task="t")
    assert (run.prediction, run.best and run.best.number, len(run.attempts)) == ("bb", 1, 4)


def test_the_first_score_that_reaches_the_threshold_ends_it() -> None:
    best = best_of_n(scripted(0.1, 0.9, 1.0), n=3, reward_fn=itself, threshold=0.9)
    assert (best(task="t"), len(best.attempts())) == (0.9, 2)


def test_without_a_threshold_all_attempts_are_made_at_once() -> None:
    async def member(task: str, sample: int) -> int:
        await asyncio.sleep(10 - sample)
        return sample

    async def main() -> tuple[Any, float]:
        async def is_three(prediction: int, inputs: Any) -> bool:
            return prediction == 3

        best = best_of_n(member, n=5, reward_fn=is_three, threshold=None)
        run = await best.arun(task="t")
        assert [attempt.prediction for attempt in run.attempts] == [0, 1, 2, 3, 4]
        return run.prediction, asyncio.get_running_loop().time()

    assert run_virtual(main()) == (3, 10.0)


def test_failed_attempts_use_n_and_only_all_of_them_are_an_error() -> None:
    assert best_of_n(scripted(BAD, 0.2, BAD), n=3, reward_fn=itself)(task="t") == 0.2
    for threshold in (None, 1.0):
        with pytest.raises(AttemptsError, match="all 3 attempts failed; the last: no answer") as caught:
            best_of_n(scripted(BAD), n=3, reward_fn=itself, threshold=threshold)(task="t")
        assert len(caught.value.history) == 3


@pytest.mark.parametrize(("count", "attempts"), [(1, 1), (2, 2), (3, 3), (4, 3)])
@pytest.mark.parametrize("threshold", [None, 1.0])
def test_fail_count(count: int, attempts: int, threshold: float | None) -> None:
    with pytest.raises(AttemptsError) as caught:
        best_of_n(scripted(BAD), n=3, reward_fn=itself, fail_count=count, threshold=threshold)(task="t")
    assert len(caught.value.history) == attempts


def test_a_success_resets_the_count_of_failures() -> None:
    best = best_of_n(scripted(BAD, 0.5, BAD, 0.7), n=4, reward_fn=itself, fail_count=2)
    assert best(task="t") == 0.7


def test_fail_count_of_zero_is_an_error() -> None:
    with pytest.raises(prose.CheckError, match="`fail_count` is a whole number from 1, not 0"):
        best_of_n(scripted(1), fail_count=0)


def test_no_attempt_is_told_of_another() -> None:
    seen = []

    async def member(task: str, feedback: str = "none", prompt: str = "none") -> int:
        seen.append((feedback, prompt))
        return len(seen)

    best_of_n(member, n=3, reward_fn=lambda p, i: 0)(task="t")
    assert seen == [("none", "none")] * 3


def test_a_warning_if_all_samples_are_equal() -> None:
    with pytest.warns(IdenticalSamplesWarning):
        best_of_n(scripted("x"), n=2, reward_fn=lambda p, i: 0.5, threshold=None)(task="t")


def test_ten_runs_of_one_object_are_alike() -> None:
    best = best_of_n(scripted(BAD, 0.1, 0.3), n=3, reward_fn=itself)
    for _ in range(10):
        assert best(task="t") == 0.3
        assert [attempt.failed for attempt in best.attempts()] == [True, False, False]
