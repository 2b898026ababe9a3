"""What a reward function may give, and what becomes of everything else: never a silent 0."""

from __future__ import annotations

import decimal
import fractions
import numbers
from typing import Any

import pytest

import prose_lang as prose
from prose_lang.modules import AttemptsError, as_reward_fn, best_by_metric, best_of_n, ensemble, refine, weighted_vote


class Float32:
    """A stand-in for numpy's 32-bit float: no subclass of float, registered as a real number."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value


numbers.Real.register(Float32)


class Float64(float):
    """A stand-in for numpy's 64-bit float, which is a subclass of float."""


class TruthValue:
    """A stand-in for numpy's truth value: registered as nothing, a scalar with `item` and an empty shape."""

    shape = ()

    def __init__(self, value: bool) -> None:
        self.value = value

    def item(self) -> bool:
        return self.value


class Array:
    """A stand-in for an array of one number, which is no scalar."""

    shape = (1,)

    def item(self) -> float:
        return 0.5

    def __float__(self) -> float:
        return 0.5


async def answer(question: str) -> str:
    return "x"


def one(score: Any) -> Any:
    """The score that an attempt gets whose reward function gives this."""

    def reward(prediction: Any, inputs: Any) -> Any:
        return score

    kinds = (
        refine(answer, n=1, reward_fn=reward),
        best_of_n(answer, n=1, reward_fn=reward),
        ensemble([answer], best_by_metric(reward)),
    )
    for made in kinds:
        made(question="?")
    found = [made.attempts()[0].score for made in kinds]
    assert found == [found[0]] * 3
    return found[0]


@pytest.mark.parametrize(
    ("score", "wanted"),
    [
        (True, 1),
        (False, 0),
        (0, 0),
        (0.25, 0.25),
        (-3, -3),
        (Float64(0.9), 0.9),
        (Float32(0.5), 0.5),
        (TruthValue(True), 1),
        (TruthValue(False), 0),
        (fractions.Fraction(1, 4), 0.25),
        (decimal.Decimal("0.75"), 0.75),
    ],
)
def test_a_number_or_a_truth_value_is_a_score(score: Any, wanted: float) -> None:
    found = one(score)
    assert (found, type(found)) == (wanted, type(wanted))


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "bool_"])
def test_numpy_itself(kind: str) -> None:
    numpy = pytest.importorskip("numpy")
    assert one(getattr(numpy, kind)(1)) == 1


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (None, "None"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        ("0.9", "'0.9'"),
        ("", "''"),
        ([1], "a list"),
        ({"score": 1}, "a dict"),
        (1 + 2j, "a complex"),
        (Array(), "a Array"),
        (Float32(float("nan")), "a Float32"),
        (decimal.Decimal("NaN"), "a Decimal"),
        (10**400, "10000"),
        ('Sure! Here you go: {"score": 0.9}', "'Sure! Here you go:"),
    ],
)
def test_everything_else_fails_the_attempt_and_names_the_reward_function(score: Any, shown: str) -> None:
    def my_reward(prediction: Any, inputs: Any) -> Any:
        return score

    for make in (refine, best_of_n):
        with pytest.raises(AttemptsError) as caught:
            make(answer, n=1, reward_fn=my_reward)(question="?")
        failure = caught.value.history[0].error
        assert failure is not None
        assert failure.message.startswith(f"`my_reward` gave {shown}")
        assert failure.message.endswith("as its score; a score is a finite number, or true or false")
        assert (failure.code, failure.service) == ("P404", "my_reward")
        assert caught.value.history[0].score is None
        assert caught.value.history[0].prediction == "x"


def test_a_bad_score_uses_one_attempt_and_the_next_may_be_good() -> None:
    scores = iter([None, "0.9", float("nan"), 0.4])
    refined = refine(answer, n=4, reward_fn=lambda prediction, inputs: next(scores))
    assert refined(question="?") == "x"
    assert [attempt.score for attempt in refined.attempts()] == [None, None, None, 0.4]


def test_a_reward_that_raises_fails_the_attempt_and_is_named() -> None:
    def my_reward(prediction: Any, inputs: Any) -> float:
        raise ZeroDivisionError("by zero")

    with pytest.raises(AttemptsError, match="by zero") as caught:
        refine(answer, n=2, reward_fn=my_reward)(question="?")
    assert [(a.error.code, a.error.service) for a in caught.value.history if a.error] == [("P406", "my_reward")] * 2


def test_an_evaluator_that_answers_with_text_around_its_json_is_never_scraped() -> None:
    replies = iter(['The score is {"score": 1.0}', '{"score": 1.0}', "1.0", 0.2])

    async def evaluator(prediction: str, inputs: Any) -> Any:
        return next(replies)

    refined = refine(answer, n=4, reward_fn=evaluator)
    refined(question="?")
    assert [attempt.score for attempt in refined.attempts()] == [None, None, None, 0.2]


def test_what_a_reward_function_calls_its_inputs_is_its_own_business() -> None:
    seen = []

    async def reward(made: str, given: dict[str, Any], /) -> int:
        seen.append((made, given))
        return 1

    refine(answer, reward_fn=reward)(question="?")
    refine(answer, reward_fn=lambda p, _: seen.append((p, _)) or 1)(question="!")
    assert seen == [("x", {"question": "?"}), ("x", {"question": "!"})]


def test_a_typed_reward_gets_the_type_it_asks_for() -> None:
    import attrs

    @attrs.frozen
    class Answer:
        text: str

    async def module(question: str) -> Answer:
        return Answer("Paris")

    def reward(prediction: Answer, inputs: dict[str, Any]) -> bool:
        return isinstance(prediction, Answer) and prediction.text == "Paris"

    reward.__annotations__["prediction"] = Answer
    refined = refine(module, reward_fn=reward)
    assert refined(question="?") == {"text": "Paris"}  # a prediction is a value
    assert refined.attempts()[0].score == 1


def test_a_pattern_may_be_the_reward() -> None:
    judge = prose.loads(
        "---\nname: judge\nkind: pattern\n---\n\n### Requires\n\n- `prediction`: what to judge\n- `inputs`: its task\n"
        '\n### Delegation\n\n```prose\nreturn prediction == "x"\n```\n'
    )
    refined = refine(answer, n=1, reward_fn=judge)
    refined(question="?")
    assert refined.attempts()[0].score == 1


@pytest.mark.parametrize("reward", [lambda: 1, lambda prediction: 1])
def test_a_reward_function_takes_two_inputs(reward: Any) -> None:
    with pytest.raises(prose.CheckError, match="a reward function takes prediction and inputs"):
        refine(answer, reward_fn=reward)


def test_a_reward_function_names_its_inputs() -> None:
    def reward(*everything: Any) -> int:
        return 1

    with pytest.raises(prose.CheckError, match="must name its inputs"):
        refine(answer, reward_fn=reward)


# --- metrics ---------------------------------------------------------------------------------------------------------


def exact(found: Any, wanted: Any) -> bool:
    return bool(found == wanted)


def test_a_metric_compares_with_an_input_that_the_module_never_sees() -> None:
    seen = []

    async def module(**inputs: Any) -> dict[str, str]:
        seen.append(inputs)
        return {"answer": "Paris", "why": "it is"}

    for made in (module, _declared):
        checked = best_of_n(made, n=1, reward_fn=as_reward_fn(exact, field="answer"))
        assert checked(question="Q", expected="Paris") == {"answer": "Paris", "why": "it is"}
        assert checked.attempts()[0].score == 1
    assert seen == [{"question": "Q"}]


async def _declared(question: str) -> dict[str, str]:
    return {"answer": "Paris", "why": "it is"}


def test_where_the_expected_input_is_missing_nothing_is_called() -> None:
    checked = refine(_declared, reward_fn=as_reward_fn(exact, expected="label"))
    with pytest.raises(prose.CheckError, match="needs `label`"):
        checked(question="Q")


def test_a_prediction_without_the_field_fails_the_attempt() -> None:
    checked = refine(answer, n=1, reward_fn=as_reward_fn(exact, field="answer"))
    with pytest.raises(AttemptsError, match="the prediction has no field `answer`"):
        checked(question="Q", expected="Paris")


def test_an_asynchronous_metric() -> None:
    async def metric(found: str, wanted: str) -> float:
        return 0.5

    checked = refine(answer, n=1, reward_fn=as_reward_fn(metric))
    checked(question="Q", expected="y")
    assert checked.attempts()[0].score == 0.5


def test_a_metric_is_a_function() -> None:
    with pytest.raises(prose.CheckError, match="a metric must be a function, not str"):
        as_reward_fn("exact")  # type: ignore[arg-type]


def test_a_reward_function_may_take_its_inputs_by_name_only() -> None:
    def reward(*, inputs: dict[str, Any], prediction: str) -> bool:
        return prediction == "x" and inputs == {"question": "?"}

    assert refine(answer, n=1, reward_fn=reward)(question="?") == "x"


def test_a_third_input_without_a_default_is_refused() -> None:
    with pytest.raises(prose.CheckError, match="takes prediction and inputs; `<lambda>` takes p, i, trace"):
        refine(answer, reward_fn=lambda p, i, trace: 1)
    assert refine(answer, reward_fn=lambda p, i, trace=None: 1)(question="?") == "x"


@pytest.mark.parametrize("made", [lambda: refine(answer, threshold=10**400), lambda: weighted_vote([10**400])])
def test_a_number_too_large_to_compute_with_is_refused(made: Any) -> None:
    with pytest.raises(prose.CheckError, match=r"not 1000000"):
        made()
