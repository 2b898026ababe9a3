"""`pipeline` and `step`."""

from __future__ import annotations

from typing import Any

import pytest

import prose_lang as prose
from prose_lang.modules import pipeline, refine, step


async def summarize(text: str) -> dict[str, Any]:
    return {"summary": text[:5], "length": len(text)}


async def translate(passage: str, language: str) -> str:
    return f"[{language}] {passage}"


async def shout(text: str) -> str:
    return text.upper()


def test_fields_go_to_the_inputs_of_their_names_and_nothing_else_goes_on() -> None:
    seen = []

    async def second(summary: str, text: str = "not passed on") -> str:
        seen.append((summary, text))
        return summary

    assert pipeline([summarize, second])(text="Hello world") == "Hello"
    assert seen == [("Hello", "not passed on")]


def test_map_renames_fixed_inputs_stay_and_select_chooses() -> None:
    made = pipeline(
        [step(summarize, select=["summary"]), step(translate, map={"summary": "passage"}, language="fr"), shout]
    )
    assert made(text="Hello world") == "[FR] HELLO"
    assert [attempt.prediction for attempt in made.attempts()] == [{"summary": "Hello"}, "[fr] Hello", "[FR] HELLO"]


def test_map_in_the_first_step_renames_the_inputs_of_the_pipeline() -> None:
    made = pipeline([step(shout, map={"topic": "text"})])
    assert made.signature.names == ("topic",)
    assert made(topic="tea") == "TEA"


def test_whole_gives_the_prediction_as_one_input() -> None:
    async def count(document: dict[str, Any]) -> int:
        return len(document)

    assert pipeline([summarize, step(count, whole="document")])(text="x") == 2


@pytest.mark.parametrize("prediction", ["t", 3, [1, 2], True, None])
def test_a_prediction_without_fields_goes_to_the_only_input(prediction: Any) -> None:
    async def first() -> Any:
        return prediction

    async def second(anything: Any, more: str = "d") -> Any:
        return [anything, more]

    assert pipeline([first, second])() == [prediction, "d"]


def test_a_step_that_lacks_an_input_fails_and_says_what_there_was() -> None:
    made = pipeline([summarize, translate])
    with pytest.raises(prose.ServiceError) as caught:
        made(text="x")
    assert caught.value.message == (
        "step 2 of the pipeline, `translate`: it needs `passage`, `language`, and there is only `summary`, `length`"
    )
    assert caught.value.code == "P404"


def test_such_a_failure_is_an_attempt_of_a_module_around_it() -> None:
    replies = iter([{"other": 1}, {"text": "ok"}])

    async def flaky(task: str) -> Any:
        return next(replies)

    assert refine(pipeline([flaky, shout]))(task="t") == "OK"


def test_a_text_for_two_inputs_fails() -> None:
    with pytest.raises(prose.ServiceError, match="needs one input to go to, and it has 2"):
        pipeline([shout, translate])(text="x")


def test_a_step_that_fails_ends_the_pipeline() -> None:
    called = []

    async def bad(text: str) -> str:
        raise ValueError("broken")

    async def behind(text: str) -> str:
        called.append(text)
        return text

    made = pipeline([shout, bad, behind])
    with pytest.raises(prose.ServiceError, match="broken") as caught:
        made(text="x")
    assert (caught.value.code, caught.value.service, called) == ("P406", "bad", [])


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (list, "at least one step"),
        (lambda: [step(shout, map={"a": "nothing"})], "`shout` takes no `nothing`"),
        (lambda: [step(shout, langauge="fr")], "`shout` takes no `langauge`"),
        (lambda: [step(shout, whole="w")], "`shout` takes no `w`"),
        (lambda: [step(shout, whole="text", map={"a": "text"})], "not both"),
        (lambda: [step(shout, select="text")], "a list of fields, not the text"),
        (lambda: [step(shout, text=b"x")], "is not a value"),
        (lambda: [3], "must be a function"),
    ],
)
def test_what_a_pipeline_cannot_be_made_of(steps: Any, message: str) -> None:
    with pytest.raises(prose.CheckError, match=message):
        pipeline(steps())


def test_select_of_a_field_that_is_not_there_fails() -> None:
    with pytest.raises(prose.ServiceError, match="its prediction has no `title`"):
        pipeline([step(summarize, select=["title"])])(text="x")


def test_ten_runs_of_one_object_are_alike() -> None:
    made = pipeline([summarize, step(translate, map={"summary": "passage"}, language="de")])
    assert [made(text="Hello world") for _ in range(10)] == ["[de] Hello"] * 10


def test_feedback_reaches_the_first_step() -> None:
    async def first(topic: str, feedback: str) -> str:
        return topic if feedback == "No feedback yet." else f"{topic}, shorter"

    made = refine(pipeline([first, shout]), n=2, reward_fn=lambda p, i: "SHORTER" in p)
    assert made(topic="tea") == "TEA, SHORTER"

    async def prompted(topic: str, prompt: str = "") -> str:
        return topic + prompt

    made = refine(pipeline([prompted, shout]), n=2, reward_fn=lambda p, i: "!" in p, feedback_template="!")
    assert made(topic="tea") == "TEA!"
