"""`refine`: attempts with feedback, and the rules that decide which is taken and when it ends."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import prose_lang as prose
from prose_lang.modules import AttemptsError, IdenticalSamplesWarning, refine
from prose_lang.testing.clock import run_virtual


def scripted(*replies: Any) -> Callable[..., Any]:
    """A module that gives its replies in turn, again and again, and raises those that are errors."""
    made = iter(range(10**9))

    async def member(task: str) -> Any:
        reply = replies[next(made) % len(replies)]
        if isinstance(reply, Exception):
            raise reply
        return reply

    return member


def scored(prediction: Any, inputs: Any) -> Any:
    """The reward of tests: a prediction is its own score."""
    return prediction


BAD = ValueError("no answer")


# --- the example of the seed -----------------------------------------------------------------------------------------


def one_word(prediction: dict[str, str], inputs: dict[str, Any]) -> bool:
    return len(prediction["answer"].split(" ")) == 1


def drafter(question: str, feedback: str) -> dict[str, str]:
    if feedback == "No feedback yet.":
        return {"answer": "The capital of France is Paris."}
    return {"answer": "Paris"}


def test_one_word_answers_with_the_feedback_history_of_the_seed() -> None:
    refined = refine(
        drafter,
        n=3,
        reward_fn=one_word,
        feedback_template="Your answer '{prediction}' scored {score}. Reply with one word.",
    )
    assert refined(question="What is the capital of France?") == {"answer": "Paris"}
    assert refined.feedback_history() == [
        "Your answer 'answer: The capital of France is Paris.' scored 0. Reply with one word."
    ]
    assert [attempt.score for attempt in refined.attempts()] == [0, 1]


def test_async_gives_the_same() -> None:
    async def main() -> Any:
        refined = refine(drafter, reward_fn=one_word, feedback_template="One word: {question}")
        answer = await refined.acall(question="Q")
        return answer, refined.feedback_history()

    assert asyncio.run(main()) == ({"answer": "Paris"}, ["One word: Q"])


# --- which attempt is taken ------------------------------------------------------------------------------------------


def test_the_first_score_that_reaches_the_threshold_ends_it() -> None:
    refined = refine(scripted(0.2, 0.8, 0.9), n=5, reward_fn=scored, threshold=0.8)
    assert refined(task="t") == 0.8
    assert [attempt.prediction for attempt in refined.attempts()] == [0.2, 0.8]


def test_never_met_gives_the_best_and_of_two_equals_the_first() -> None:
    def brief(prediction: str, inputs: Any) -> float:
        return 0.5 if len(prediction) == 5 else 0.1

    refined = refine(scripted("xx", "first", "other", "y"), n=4, reward_fn=brief)
    run = refined.run(task="t")
    assert (run.prediction, run.best and run.best.number) == ("first", 2)


def test_prediction_score_and_feedback_are_those_of_one_attempt() -> None:
    async def module(task: str, feedback: str) -> str:
        return f"after [{feedback}]"

    scores = iter([0.1, 0.7, 0.3])
    refined = refine(module, n=3, reward_fn=lambda p, i: next(scores), feedback_template="scored {score}")
    run = refined.run(task="t")
    assert run.best is not None
    assert (run.prediction, run.best.score, run.best.feedback) == ("after [scored 0.1]", 0.7, "scored 0.1")
    assert run.best.prediction == run.prediction


def test_n_of_one_makes_one_attempt_and_writes_no_feedback() -> None:
    refined = refine(scripted(0.1), n=1, reward_fn=scored)
    assert refined(task="t") == 0.1
    assert (len(refined.attempts()), refined.feedback_history()) == (1, [])


def test_without_a_reward_function_the_first_success_is_taken() -> None:
    refined = refine(scripted(BAD, "x", "y"))
    assert refined(task="t") == "x"
    assert [attempt.failed for attempt in refined.attempts()] == [True, False]


def test_a_prediction_of_none_is_a_prediction() -> None:
    refined = refine(scripted(None), n=2, reward_fn=lambda prediction, inputs: prediction is None)
    assert refined(task="t") is None
    assert refined.attempts()[0].score == 1


# --- failures --------------------------------------------------------------------------------------------------------


def test_two_attempts_that_both_fail_are_an_error_with_both() -> None:
    refined = refine(scripted(ValueError("one"), ValueError("two")), n=2, reward_fn=scored)
    with pytest.raises(AttemptsError, match=r"all 2 attempts failed; the last: two") as caught:
        refined(task="t")
    assert isinstance(caught.value, prose.ProseError)
    assert (caught.value.code, caught.value.name) == ("P308", "every-attempt-failed")
    assert [str(attempt.error) for attempt in caught.value.history] == ["one", "two"]
    assert [attempt.number for attempt in refined.attempts()] == [1, 2]
    assert caught.value.outcome is not None
    assert caught.value.outcome.usage.calls == 2


def test_a_failed_attempt_uses_one_of_n_and_the_next_gets_the_same_feedback() -> None:
    seen = []
    replies = iter([0.1, BAD, 0.2, 0.3])

    async def module(task: str, feedback: str) -> float:
        seen.append(feedback)
        reply = next(replies)
        if isinstance(reply, Exception):
            raise reply
        return reply

    refined = refine(module, n=4, reward_fn=scored, feedback_template="scored {score}")
    assert refined(task="t") == 0.3
    assert seen == ["No feedback yet.", "scored 0.1", "scored 0.1", "scored 0.2"]
    assert refined.feedback_history() == ["scored 0.1", "scored 0.2"]


@pytest.mark.parametrize("count", [0, -1, True, 1.5, "2"])
def test_fail_count_is_a_whole_number_from_one(count: Any) -> None:
    with pytest.raises(prose.CheckError, match="`fail_count` is a whole number from 1") as caught:
        refine(scripted(1), fail_count=count)
    assert caught.value.code == "P211"


@pytest.mark.parametrize(
    ("count", "attempts", "name"),
    [
        (1, 1, "too-many-failures"),
        (2, 2, "too-many-failures"),
        (3, 3, "too-many-failures"),  # as many as n
        (4, 3, "every-attempt-failed"),  # one more than n is never reached
        (None, 3, "every-attempt-failed"),
    ],
)
def test_fail_count(count: int | None, attempts: int, name: str) -> None:
    refined = refine(scripted(BAD), n=3, reward_fn=scored, fail_count=count)
    with pytest.raises(AttemptsError) as caught:
        refined(task="t")
    assert (len(caught.value.history), caught.value.name) == (attempts, name)


def test_a_success_resets_the_count_of_failures() -> None:
    refined = refine(scripted(BAD, 0.1, BAD, 0.2), n=4, reward_fn=scored, fail_count=2)
    assert refined(task="t") == 0.2


def test_fail_count_ends_it_even_after_a_success() -> None:
    refined = refine(scripted(0.5, BAD, BAD, 1.0), n=4, reward_fn=scored, fail_count=2)
    with pytest.raises(AttemptsError, match="2 attempts in a row failed") as caught:
        refined(task="t")
    assert [attempt.prediction for attempt in caught.value.history] == [0.5, None, None]


@pytest.mark.parametrize("n", [0, -1, 2.0, True, None])
def test_n_is_a_whole_number_from_one(n: Any) -> None:
    with pytest.raises(prose.CheckError, match="`n` is a whole number from 1"):
        refine(scripted(1), n=n)


@pytest.mark.parametrize("threshold", [None, float("nan"), float("inf"), "1"])
def test_the_threshold_is_a_finite_number(threshold: Any) -> None:
    with pytest.raises(prose.CheckError, match="threshold"):
        refine(scripted(1), threshold=threshold)


@pytest.mark.parametrize("module", [None, 3, "drafter", [1]])
def test_a_module_is_something_to_call(module: Any) -> None:
    with pytest.raises(prose.CheckError) as caught:
        refine(module)
    assert caught.value.code == "P202"


# --- runs of one object ----------------------------------------------------------------------------------------------


def test_the_tenth_run_of_one_object_behaves_as_the_first() -> None:
    refined = refine(scripted(BAD, 0.5, BAD), n=3, reward_fn=scored, fail_count=2)
    found = []
    for _ in range(10):
        run = refined.run(task="t")
        found.append((run.prediction, [(attempt.number, attempt.failed) for attempt in run.attempts]))
    assert found == [(0.5, [(1, True), (2, False), (3, True)])] * 10
    assert len(refined.attempts()) == 3
    assert len(refined.attempts(all=True)) == 30


def test_after_a_run_that_failed_the_next_starts_anew() -> None:
    refined = refine(scripted(BAD, BAD, 0.1, 0.2), n=2, reward_fn=scored)
    with pytest.raises(AttemptsError):
        refined(task="t")
    assert refined(task="t") == 0.2
    assert [attempt.failed for attempt in refined.attempts(all=True)] == [True, True, False, False]
    assert len(refined.feedback_history(all=True)) == 1


def test_fifty_concurrent_runs_of_one_object_do_not_see_each_other() -> None:
    async def module(start: int, feedback: str) -> int:
        await asyncio.sleep((start % 7) / 10)
        return start if feedback == "No feedback yet." else int(feedback.split()[-1]) + 1

    refined = refine(
        module,
        n=4,
        reward_fn=lambda prediction, inputs: prediction == inputs["start"] + 3,
        feedback_template="for {start}: {prediction}",
    )

    async def main() -> list[Any]:
        return list(await asyncio.gather(*(refined.arun(start=10 * number) for number in range(50))))

    runs = run_virtual(main())
    assert [run.prediction for run in runs] == [10 * number + 3 for number in range(50)]
    for number, run in enumerate(runs):
        start = 10 * number
        assert [attempt.prediction for attempt in run.attempts] == [start, start + 1, start + 2, start + 3]
        assert list(run.feedback_history) == [f"for {start}: {start + step}" for step in range(3)]
    assert len(refined.attempts(all=True)) == 200
    assert len(refined.attempts()) == 4


def test_a_module_remembers_a_bounded_number_of_runs() -> None:
    refined = refine(scripted(1), n=1, reward_fn=scored)

    async def main() -> None:
        for _ in range(1005):
            await refined.acall(task="t")

    asyncio.run(main())
    assert len(refined.attempts(all=True)) == 1000


def test_before_the_first_run_there_is_nothing_to_look_back_at() -> None:
    refined = refine(scripted(1))
    assert (refined.attempts(), refined.attempts(all=True), refined.feedback_history(), refined.outcome) == (
        [],
        [],
        [],
        None,
    )


# --- feedback --------------------------------------------------------------------------------------------------------


def test_the_callers_own_feedback_is_what_the_first_attempt_gets() -> None:
    seen = []

    async def module(task: str, feedback: str) -> float:
        seen.append(feedback)
        return 0.1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdenticalSamplesWarning)
        refine(module, n=2, reward_fn=scored, feedback_template="{score}")(task="t", feedback="be brief")
    assert seen == ["be brief", "0.1"]


def test_cumulative_gives_all_feedback_so_far() -> None:
    seen = []
    replies = iter([0.1, 0.2, 0.3, 0.4])

    async def module(task: str, feedback: str) -> float:
        seen.append(feedback)
        return next(replies)

    refined = refine(module, n=4, reward_fn=scored, feedback_template="got {score}", cumulative=True)
    refined(task="t")
    assert seen == ["No feedback yet.", "got 0.1", "got 0.1\ngot 0.2", "got 0.1\ngot 0.2\ngot 0.3"]
    assert refined.feedback_history() == ["got 0.1", "got 0.2", "got 0.3"]


def test_an_undeclared_field_is_passed_as_prompt_from_the_second_attempt_on() -> None:
    seen = []
    replies = iter([0.1, 0.2, 0.3])

    async def module(task: str, prompt: str | None = None) -> float:
        seen.append(prompt)
        return next(replies)

    refined = refine(module, n=3, reward_fn=scored, feedback_template="scored {score}")
    refined(task="t")
    assert seen == [None, "scored 0.1", "scored 0.2"]
    assert [attempt.feedback for attempt in refined.attempts()] == [None, "scored 0.1", "scored 0.2"]


def test_a_prompt_of_the_callers_stays_before_the_feedback() -> None:
    seen = []
    replies = iter([0.1, 0.2])

    async def module(task: str, prompt: str) -> float:
        seen.append(prompt)
        return next(replies)

    refine(module, n=2, reward_fn=scored, feedback_template="scored {score}")(task="t", prompt="Be brief.")
    assert seen == ["Be brief.", "Be brief.\nscored 0.1"]


def test_a_function_that_takes_anything_gets_the_feedback_as_prompt() -> None:
    seen = []
    replies = iter([0.1, 0.2])

    async def module(**inputs: Any) -> float:
        seen.append(inputs)
        return next(replies)

    refine(module, n=2, reward_fn=scored, feedback_template="scored {score} for {task}")(task="t")
    assert seen == [{"task": "t"}, {"task": "t", "prompt": "scored 0.1 for t"}]


def test_another_name_for_the_feedback_field() -> None:
    seen = []
    replies = iter([0.1, 0.2])

    async def module(task: str, hint: str) -> float:
        seen.append(hint)
        return next(replies)

    refine(module, n=2, reward_fn=scored, feedback_template="{score}", feedback_field="hint")(task="t")
    assert seen == ["No feedback yet.", "0.1"]


def test_a_prediction_with_lists_and_nested_fields_is_written_as_fields() -> None:
    replies = iter([{"answer": "Paris", "sources": ["a", "b"], "meta": {"sure": True, "by": None}, "note": None}, {}])

    async def module(task: str) -> Any:
        return next(replies)

    refined = refine(module, n=2, reward_fn=lambda p, i: 1 / 3 if p else 0, feedback_template="{prediction} | {score}")
    assert refined(task="t")["sources"] == ["a", "b"]
    assert refined.feedback_history() == [
        'answer: Paris; sources: ["a", "b"]; meta: {"sure": true, "by": null}; note:  | 0.333'
    ]


# --- inputs ----------------------------------------------------------------------------------------------------------


def test_missing_and_unknown_inputs_are_errors_before_any_call() -> None:
    called = []

    async def module(question: str, style: str = "plain") -> str:
        called.append(question)
        return "x"

    refined = refine(module)
    with pytest.raises(prose.CheckError, match="needs `question`") as caught:
        refined()
    assert caught.value.code == "P203"
    with pytest.raises(prose.CheckError, match="takes no `questoin`") as caught:
        refined(questoin="?")
    assert (caught.value.code, caught.value.hint) == ("P210", "did you mean `question`?")
    with pytest.raises(prose.CheckError, match="`question` cannot be an input") as caught:
        refined(question=b"?")
    assert caught.value.code == "P211"
    assert called == []
    assert refined.attempts(all=True) == []


def test_an_input_may_be_called_like_a_name_of_the_library_pattern() -> None:
    async def module(task_brief: str, n: int, threshold: str) -> str:
        return f"{task_brief}{n}{threshold}"

    assert refine(module)(task_brief="a", n=7, threshold="b") == "a7b"


def test_a_module_gets_copies_that_it_may_change() -> None:
    seen = []

    async def module(items: list[int]) -> int:
        seen.append(list(items))
        items.append(9)
        return len(seen)

    refine(module, n=2, reward_fn=lambda p, i: 0)(items=[1])
    assert seen == [[1], [1]]


def test_inside_a_running_loop_the_error_names_what_to_await() -> None:
    async def main() -> None:
        refine(scripted(1))(task="t")

    with pytest.raises(RuntimeError, match="await `acall`"):
        asyncio.run(main())


# --- samples ---------------------------------------------------------------------------------------------------------


def test_each_attempt_has_its_own_sample_number_and_a_rerun_the_same() -> None:
    async def module(task: str, sample: int) -> int:
        return sample

    refined = refine(module, n=3, reward_fn=lambda p, i: 0)
    for _ in range(2):
        assert [attempt.prediction for attempt in refined.run(task="t").attempts] == [1, 2, 3]


def test_a_cache_with_sample_numbers_never_gives_the_same_answer_n_times() -> None:
    cache: dict[tuple[str, int], int] = {}
    asked = []

    async def model(question: str, sample: int) -> int:
        if (question, sample) not in cache:
            asked.append(question)
            cache[question, sample] = len(asked)
        return cache[question, sample]

    refined = refine(model, n=3, reward_fn=lambda p, i: 0)
    assert refined(question="q") == 1
    assert (len(asked), refined(question="q"), len(asked)) == (3, 1, 3)


def test_a_warning_if_all_attempts_are_equal() -> None:
    with pytest.warns(IdenticalSamplesWarning, match="all 3 attempts gave the same"):
        refine(scripted({"a": [1]}), n=3, reward_fn=lambda p, i: 0.5)(task="t")


@pytest.mark.parametrize(
    ("replies", "n", "reward"),
    [
        (["x", "x", "y"], 3, 0.5),  # not all
        (["x"], 3, 1.0),  # it ended early
        (["x"], 1, 0.5),  # one is no repetition
        ([BAD, "x", "x"], 3, 0.5),  # one failed
    ],
)
def test_no_warning_where_attempts_differ_or_were_not_made(replies: list[Any], n: int, reward: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refine(scripted(*replies), n=n, reward_fn=lambda p, i: reward)(task="t")


# --- limits and cancellation -----------------------------------------------------------------------------------------


def test_a_limit_of_the_engine_ends_the_run_and_no_attempt_hides_it() -> None:
    refined = refine(scripted(0.1, 0.2, 0.3), n=3, reward_fn=scored, engine=prose.Engine(limits=prose.Limits(calls=3)))
    with pytest.raises(prose.LimitError) as caught:
        refined(task="t")
    assert caught.value.code == "P405"
    assert caught.value.outcome is not None
    assert caught.value.outcome.usage.calls == 3


def test_cancelling_a_run_cancels_its_call_and_waits_for_it() -> None:
    ended = []

    async def slow(task: str) -> str:
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(1)
            ended.append(task)
        return "x"

    async def main() -> float:
        refined = refine(slow)
        task = asyncio.create_task(refined.acall(task="t"))
        await asyncio.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert refined.attempts(all=True) == []
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 6.0
    assert ended == ["t"]
