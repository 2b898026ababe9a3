"""Feedback templates: what is filled in, and what is refused before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

import prose_lang as prose
from prose_lang.modules import refine
from prose_lang.modules.templates import Template, shown_prediction, shown_score


async def drafter(question: str, feedback: str, tone: str = "plain") -> str:
    return "x"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{scor}", "names `scor`, which is no input"),
        ("{answer}", "names `answer`, which is no input"),
        ("{feedback}", "names `feedback`, which is no input"),
        ("{score:.2f}", "names `{score:.2f}`"),
        ("{score!r}", "names `{score!r}`"),
        ("{prediction.answer}", "names `{prediction.answer}`"),
        ("{prediction[0]}", r"names `{prediction\[0\]}`"),
        ("{}", "names `{}`"),
        ("{0}", "names `{0}`"),
        ("{score", "is malformed"),
        ("score}", "is malformed"),
        ('{"score": 1}', "names"),
        (3, "is a text, not int"),
    ],
)
def test_a_template_error_is_an_error_at_construction(template: Any, message: str) -> None:
    with pytest.raises(prose.CheckError, match=message) as caught:
        refine(drafter, feedback_template=template)
    assert caught.value.code == "P211"


def test_the_nearest_name_is_offered() -> None:
    with pytest.raises(prose.CheckError) as caught:
        refine(drafter, feedback_template="{qestion}")
    assert caught.value.hint == "did you mean `question`?"


def test_any_input_may_be_named_and_one_that_is_not_given_is_empty() -> None:
    refined = refine(drafter, n=2, reward_fn=lambda p, i: 0, feedback_template="[{question}][{tone}][{score}]{{}}")
    with pytest.warns(prose.modules.IdenticalSamplesWarning):
        refined(question={"a": [1]})
    assert refined.feedback_history() == ['[{"a": [1]}][][0]{}']


def test_what_is_filled_in_is_not_read_as_a_template_again() -> None:
    template = Template("{question} {prediction}", ("question",))
    assert template.fill({"question": "{score}"}, "{question}", 1) == "{score} {question}"


def test_a_module_that_takes_anything_says_no_names_so_they_are_looked_at_when_it_runs() -> None:
    called = []

    async def module(**inputs: Any) -> int:
        called.append(inputs)
        return 0

    refined = refine(module, feedback_template="about {question}")
    with pytest.raises(prose.CheckError, match="names `question`, which is no input"):
        refined(task="t")
    assert called == []


def test_the_default_template_tells_score_and_prediction() -> None:
    refined = refine(drafter, n=2, reward_fn=lambda p, i: 0.25)
    with pytest.warns(prose.modules.IdenticalSamplesWarning):
        refined(question="?")
    assert refined.feedback_history() == ["The last answer scored 0.25. It was: x. Give a better one."]


@pytest.mark.parametrize(
    ("score", "text"),
    [(0, "0"), (1, "1"), (1.0, "1"), (0.5, "0.5"), (0.12345, "0.123"), (1234567.5, "1234567.5"), (-0.0004, "0")],
)
def test_scores_have_three_digits(score: float, text: str) -> None:
    assert shown_score(score) == text


@pytest.mark.parametrize(
    ("prediction", "text"),
    [
        ({"a": "x", "b": 1}, "a: x; b: 1"),
        ({"a": {"b": [True, None]}}, 'a: {"b": [true, null]}'),
        ({}, ""),
        (["a", "é"], '["a", "é"]'),
        ("x; y", "x; y"),
        (0.5, "0.5"),
        (True, "true"),
        (None, ""),
    ],
)
def test_predictions_are_written_by_field(prediction: Any, text: str) -> None:
    assert shown_prediction(prediction) == text
