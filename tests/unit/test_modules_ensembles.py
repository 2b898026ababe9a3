"""`ensemble` and its reducers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import prose_lang as prose
from prose_lang.modules import (
    AttemptsError,
    as_reward_fn,
    best_by_metric,
    ensemble,
    first,
    majority,
    weighted_vote,
)
from prose_lang.testing.clock import run_virtual


def saying(reply: Any, seconds: float = 0) -> Callable[..., Any]:
    async def member(question: str) -> Any:
        await asyncio.sleep(seconds)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return member


BAD = ValueError("no answer")


def ask(modules: list[Any], reducer: Any = None) -> Any:
    return ensemble([saying(one) for one in modules], reducer)(question="?")


# --- majority --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reducer", [None, majority, majority()])
def test_most_votes_win_and_a_tie_goes_to_the_earliest(reducer: Any) -> None:
    assert ask(["a", "b", "b"], reducer) == "b"
    assert ask(["a", "b", "b", "a"], reducer) == "a"


def test_votes_by_a_field_give_the_whole_prediction_of_the_earliest_voter() -> None:
    members = [{"label": "x", "why": 1}, {"label": "y", "why": 2}, {"label": "y", "why": 3}]
    assert ask(members, majority(field="label")) == {"label": "y", "why": 2}
    assert ask(members) == {"label": "x", "why": 1}  # as wholes they are three


def test_a_member_without_the_field_has_no_vote() -> None:
    vote = ensemble([saying({"other": 1}), saying({"label": "x"})], majority(field="label"))
    assert vote(question="?") == {"label": "x"}
    assert str(vote.attempts()[0].error) == "the prediction has no field `label`"


def test_a_normalizer_decides_what_is_the_same() -> None:
    async def plain(answer: str) -> str:
        return answer.strip(". ").lower()

    assert ask(["Lyon", "Paris.", "paris"], majority(normalizer=plain)) == "Paris."
    nested = [{"a": "Lyon"}, {"a": "Paris."}, {"a": "paris"}]
    assert ask(nested, majority(field="a", normalizer=plain)) == {"a": "Paris."}


def test_a_quorum_that_is_not_reached_is_an_error_with_all_members() -> None:
    vote = ensemble([saying("a"), saying(BAD), saying(BAD)], majority(quorum=2))
    with pytest.raises(AttemptsError, match="1 of 3 voters answered, 2 had to; the last: no answer") as caught:
        vote(question="?")
    assert [attempt.failed for attempt in caught.value.history] == [False, True, True]
    with pytest.raises(prose.CheckError, match="`quorum` is a whole number from 1"):
        majority(quorum=0)


# --- weights ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reducer", [weighted_vote, weighted_vote()])
def test_confidence_is_weight(reducer: Any) -> None:
    said = [("Paris", 0.4), ("Lyon", 0.7), ("Paris", 0.4)]
    vote = ensemble([saying({"answer": a, "confidence": c}) for a, c in said], reducer)
    assert vote(question="?") == {"answer": "Paris", "confidence": 0.4}
    assert [attempt.score for attempt in vote.attempts()] == [0.4, 0.7, 0.4]


def test_confidence_under_other_names() -> None:
    members = [
        {"label": "a", "p": 0.2, "why": 1},
        {"label": "b", "p": 0.5, "why": 2},
        {"label": "a", "p": 0.2, "why": 3},
    ]
    assert ask(members, weighted_vote(field="label", confidence="p"))["label"] == "b"


def test_given_weights() -> None:
    assert ask(["a", "b", "b"], weighted_vote([0.9, 0.3, 0.3])) == "a"
    members = [{"label": "a", "why": 1}, {"label": "b", "why": 2}, {"label": "b", "why": 3}]
    assert ask(members, weighted_vote([0.5, 0.3, 0.3], field="label")) == {"label": "b", "why": 2}


def test_weights_fit_the_members() -> None:
    with pytest.raises(prose.CheckError, match="there are 1 weights for 2 members"):
        ensemble([saying("a"), saying("b")], weighted_vote([1]))
    for bad in (-1, float("nan"), True, "1"):
        with pytest.raises(prose.CheckError, match="a weight is a number from 0"):
            weighted_vote([bad])  # type: ignore[list-item]


def test_a_bad_confidence_is_no_vote() -> None:
    vote = ensemble([saying({"answer": "a", "confidence": "high"}), saying("b")], weighted_vote)
    assert vote(question="?") == "b"
    assert "a confidence is a number from 0, not high" in str(vote.attempts()[0].error)


# --- best by metric --------------------------------------------------------------------------------------------------


def test_the_best_score_wins_and_a_tie_goes_to_the_earlier() -> None:
    def size(prediction: str, inputs: Any) -> int:
        return len(prediction)

    assert ask(["a", "cc", "bb"], best_by_metric(size)) == "cc"
    assert ask(["cc", "a", "b"], best_by_metric(size, lowest=True)) == "a"


def test_scores_that_are_none_leave_their_member_out() -> None:
    scores = iter([None, 0.1, float("nan")])

    async def metric(prediction: str, inputs: Any) -> Any:
        return next(scores)

    best = ensemble([saying("a"), saying("b"), saying("c")], best_by_metric(metric))
    assert best(question="?") == "b"
    assert [attempt.failed for attempt in best.attempts()] == [True, False, True]
    assert str(best.attempts()[0].error).startswith("`metric` gave None")


def test_a_metric_that_compares_with_what_is_expected() -> None:
    seen = []

    async def member(**inputs: Any) -> str:
        seen.append(inputs)
        return "Paris"

    exact = as_reward_fn(lambda found, wanted: found == wanted)
    best = ensemble([saying("Lyon"), member], best_by_metric(exact))
    assert best(question="?", expected="Paris") == "Paris"
    assert seen == [{"question": "?"}]


def test_the_metric_has_to_be_given() -> None:
    with pytest.raises(prose.CheckError, match=r"best_by_metric\(metric\)"):
        ensemble([saying("a")], best_by_metric)


# --- first -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reducer", [first, first()])
def test_the_first_that_succeeds_and_those_behind_are_not_asked(reducer: Any) -> None:
    asked = []

    async def never(question: str) -> str:
        asked.append(question)
        return "x"

    chain = ensemble([saying(BAD), saying("b"), never], reducer)
    assert chain(question="?") == "b"
    assert asked == []
    assert [(a.module, a.prediction, a.failed) for a in chain.attempts()] == [
        ("member", None, True),
        ("member", "b", False),
    ]


def test_a_race_takes_the_first_that_comes_and_runs_the_finally_of_the_loser() -> None:
    ended = []

    async def loser(question: str) -> str:
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(1)
            ended.append("loser")
        return "late"

    async def main() -> tuple[Any, float]:
        race = ensemble([loser, saying(BAD), saying("b", 5)], first(race=True))
        return await race.acall(question="?"), asyncio.get_running_loop().time()

    assert run_virtual(main()) == ("b", 6.0)
    assert ended == ["loser"]


@pytest.mark.parametrize("race", [False, True])
def test_all_members_failing_is_an_error_never_none(race: bool) -> None:
    chain = ensemble([saying(BAD), saying(ValueError("busy"))], first(race=race))
    with pytest.raises(AttemptsError, match="all 2 members failed; the last: busy") as caught:
        chain(question="?")
    assert caught.value.name == "every-member-failed"
    assert [str(attempt.error) for attempt in caught.value.history] == ["no answer", "busy"]
    assert len(chain.attempts()) == 2


# --- all of them -----------------------------------------------------------------------------------------------------

REDUCERS = {
    "majority": majority,
    "weighted": weighted_vote,
    "best": best_by_metric(lambda prediction, inputs: 1),
    "first": first,
    "race": first(race=True),
    "own": lambda predictions: predictions[0],
}


@pytest.mark.parametrize("name", REDUCERS)
@pytest.mark.parametrize("survivor", [0, 3, 6])
def test_of_seven_members_all_but_one_fail(name: str, survivor: int) -> None:
    members = [saying("here" if number == survivor else ValueError(f"m{number}")) for number in range(7)]
    made = ensemble(members, REDUCERS[name])
    assert made(question="?") == "here"
    assert sum(not attempt.failed for attempt in made.attempts()) == 1


@pytest.mark.parametrize("name", REDUCERS)
def test_all_members_fail(name: str) -> None:
    made = ensemble([saying(ValueError(f"m{number}")) for number in range(3)], REDUCERS[name])
    with pytest.raises(AttemptsError) as caught:
        made(question="?")
    assert [str(attempt.error) for attempt in caught.value.history] == ["m0", "m1", "m2"]
    assert [attempt.number for attempt in caught.value.history] == [1, 2, 3]


@pytest.mark.parametrize("name", REDUCERS)
def test_one_member(name: str) -> None:
    assert ask([{"answer": "x"}], REDUCERS[name]) == {"answer": "x"}


@pytest.mark.parametrize("name", REDUCERS)
def test_ten_runs_of_one_object_are_alike(name: str) -> None:
    made = ensemble([saying(BAD), saying("b")], REDUCERS[name])
    assert [made(question="?") for _ in range(10)] == ["b"] * 10
    assert len(made.attempts()) == 2


def test_a_function_of_the_predictions_reduces_them_in_order() -> None:
    async def joined(parts: list[str]) -> str:
        return "+".join(parts)

    made = ensemble([saying("a", 3), saying(BAD), saying("c", 1)], joined)
    assert run_virtual(made.acall(question="?")) == "a+c"
    assert [attempt.prediction for attempt in made.attempts()] == ["a", None, "c"]


def test_members_are_asked_at_the_same_time() -> None:
    async def main() -> float:
        await ensemble([saying("a", 5) for _ in range(20)]).acall(question="?")
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 5.0


def test_each_member_gets_the_inputs_that_it_takes() -> None:
    async def short(question: str) -> str:
        return question

    async def long(question: str, context: str, tone: str = "plain") -> str:
        return f"{question} {context} {tone}"

    made = ensemble([short, long], lambda predictions: predictions)
    assert made(question="q", context="c") == ["q", "q c plain"]
    assert made(question="q", context="c", tone="t") == ["q", "q c t"]
    with pytest.raises(prose.CheckError, match="needs `context`"):
        made(question="q")
    with pytest.raises(prose.CheckError, match="takes no `other`"):
        made(question="q", context="c", other=1)


def test_identical_members_have_sample_numbers_of_their_own() -> None:
    async def member(sample: int) -> int:
        return sample

    assert ensemble([member] * 3, majority)() == 0
    assert len(set(ensemble([member] * 3, lambda predictions: predictions)())) == 3


@pytest.mark.parametrize(
    ("members", "reducer", "message"),
    [
        ([], None, "at least one member"),
        ([saying("a")], "majority", "a reducer is one of"),
        ([saying("a")], lambda: 1, "takes nothing"),
        (["a"], None, "must be a function"),
    ],
)
def test_what_an_ensemble_cannot_be_made_of(members: list[Any], reducer: Any, message: str) -> None:
    with pytest.raises(prose.CheckError, match=message):
        ensemble(members, reducer)
