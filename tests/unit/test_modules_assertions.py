"""`with_assertions`: predictions that are checked, and asked for again."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import prose_lang as prose
from prose_lang.modules import AttemptsError, UnmetAssertionWarning, assertion, refine, with_assertions


def saying(*replies: Any) -> Callable[..., Any]:
    made = iter(range(10**9))

    async def member(question: str, feedback: str) -> Any:
        reply = replies[next(made) % len(replies)]
        if isinstance(reply, Exception):
            raise reply
        return reply

    return member


short = assertion(lambda prediction: len(prediction) <= 5, "at most 5 letters")
capital = assertion(lambda prediction: prediction[:1].isupper(), "begin with a capital letter")
calm = assertion(lambda prediction: "!" not in prediction, "no exclamation marks", soft=True)


def test_it_is_asked_again_with_the_messages_of_what_failed() -> None:
    seen = []
    replies = iter(["it is paris", "it is Paris", "Paris"])

    async def module(question: str, feedback: str) -> str:
        seen.append(feedback)
        return next(replies)

    checked = with_assertions(module, [short, capital], 2)
    assert checked(question="?") == "Paris"
    both = "at most 5 letters\nbegin with a capital letter"
    assert seen == ["No feedback yet.", both, both]
    assert [attempt.score for attempt in checked.attempts()] == [0, 0, 1]
    assert checked.feedback_history() == [both, both]


def test_if_the_last_retry_fails_too_it_is_an_error_with_all_attempts() -> None:
    checked = with_assertions(saying("paris, it is", "Paris, it is"), [short, capital], 1)
    with pytest.raises(
        AttemptsError, match="after 2 attempts the best prediction still fails: at most 5 letters"
    ) as caught:
        checked(question="?")
    assert (caught.value.code, caught.value.name) == ("P404", "assertions-failed")
    assert [attempt.score for attempt in caught.value.history] == [0, 0.5]
    assert len(checked.attempts()) == 2


def test_on_failure_warn_gives_the_prediction_with_the_fewest_failures() -> None:
    checked = with_assertions(saying("Paris it is", "it is paris"), [short, capital], 1, on_failure="warn")
    with pytest.warns(UnmetAssertionWarning, match="at most 5 letters"):
        assert checked(question="?") == "Paris it is"


def test_no_retries() -> None:
    checked = with_assertions(saying("too long"), [short], 0)
    with pytest.raises(AttemptsError, match="after 1 attempts"):
        checked(question="?")


def test_a_soft_assertion_warns_and_makes_nobody_try_again() -> None:
    checked = with_assertions(saying("Ah!"), [short, calm])
    with pytest.warns(UnmetAssertionWarning, match="no exclamation marks"):
        assert checked(question="?") == "Ah!"
    assert len(checked.attempts()) == 1
    only_soft = with_assertions(saying("Oh"), [calm])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert only_soft(question="?") == "Oh"


def test_functions_are_assertions_and_their_docstring_or_name_is_the_message() -> None:
    def must_be_short(prediction: str) -> bool:
        return len(prediction) <= 5

    def about_the_question(prediction: str, inputs: dict[str, Any]) -> bool:
        """Answer what was asked.

        Further lines are for readers of the code.
        """
        return bool(prediction == inputs["question"])

    async def text(prediction: str) -> Any:
        return True if prediction.isalpha() else f"letters only, not {prediction!r}"

    def raising(prediction: str) -> bool:
        if " " in prediction:
            raise AssertionError("no sentence")
        return True

    checked = with_assertions(saying("Paris it is", "Paris"), [must_be_short, about_the_question, text, raising])
    assert checked(question="Paris") == "Paris"
    assert checked.feedback_history() == [
        "must be short\nAnswer what was asked.\nletters only, not 'Paris it is'\nno sentence"
    ]


@pytest.mark.parametrize("found", [None, 1, 0.0, "", [], {"ok": True}])
def test_a_check_that_gives_neither_yes_nor_no_fails_the_attempt(found: Any) -> None:
    def my_check(prediction: str) -> Any:
        return found

    with pytest.raises(AttemptsError, match="the check `my_check` gave") as caught:
        with_assertions(saying("x"), [my_check], 1)(question="?")
    assert caught.value.name == "every-attempt-failed"


def test_a_check_that_raises_something_else_fails_the_attempt_and_is_named() -> None:
    def my_check(prediction: str) -> Any:
        raise KeyError("answer")

    with pytest.raises(AttemptsError) as caught:
        with_assertions(saying("x"), [my_check], 0)(question="?")
    assert caught.value.history[0].error is not None
    assert caught.value.history[0].error.service == "my_check"


def test_a_failed_call_is_an_attempt() -> None:
    assert with_assertions(saying(ValueError("busy"), "Paris"), [short])(question="?") == "Paris"


def test_it_is_a_module_among_others() -> None:
    checked = with_assertions(saying("too long", "Rome", "also too long", "Paris"), [short], 1)
    refined = refine(checked, reward_fn=lambda prediction, inputs: prediction == "Paris")
    assert refined(question="?") == "Paris"
    assert len(checked.attempts(all=True)) == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: with_assertions(saying("x"), []), "there are no assertions"),
        (lambda: with_assertions(saying("x"), [short], -1), "`max_retries` is a whole number from 0"),
        (lambda: with_assertions(saying("x"), [short], True), "`max_retries` is a whole number from 0"),
        (lambda: with_assertions(saying("x"), [short], on_failure="ignore"), "`on_failure` is error or warn"),
        (lambda: with_assertions(saying("x"), ["short"]), "or is a function, not str"),
        (lambda: with_assertions(saying("x"), [lambda p: True]), "without a name needs a message"),
        (lambda: with_assertions(saying("x"), [assertion(lambda: True, "m")]), "takes nothing"),
        (lambda: assertion(lambda p: True, " "), "needs a message"),
        (lambda: assertion(3, "m"), "is a function, not int"),  # type: ignore[arg-type]
    ],
)
def test_what_it_cannot_be_made_of(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(prose.CheckError, match=message):
        make()
