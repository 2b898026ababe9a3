"""Deciding a text outside of any program: the layers of conditions, by the code that decides those of programs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from prose_lang import Engine, ProseError, Script
from prose_lang.engine import DecisionRecord
from prose_lang.services import scripted_services


def decide(text: str, own: dict[str, Any], others: dict[str, Any] | None = None, **options: Any) -> DecisionRecord:
    return asyncio.run(Engine().decide_async(text, own, others or {}, **options))


@pytest.mark.parametrize(
    ("text", "own", "layer", "holds"),
    [
        ("a == 1 and b", {"a": 1, "b": "x"}, "expression", True),
        ("a.b[0].c > 1", {"a": {"b": [{"c": 1}]}}, "expression", False),
        ("score meets bar", {"score": 0.9, "bar": 0.8}, "phrase", True),
        ("note is empty", {"note": ""}, "phrase", True),
        ('text contains "b"', {"text": "abc"}, "phrase", True),
        ("review accepts the draft", {"review": {"verdict": "revise"}}, "verdict", False),
        ("rules says x is acceptable", {"rules": None, "x": 1}, "criteria", True),
    ],
)
def test_layers(text: str, own: dict[str, Any], layer: str, holds: bool) -> None:
    found = decide(text, own)
    assert (found.text, found.layer, found.holds) == (text, layer, holds)


def test_white_space_around_a_text_does_not_count() -> None:
    assert decide("  a == 1 \n", {"a": 1}).text == "a == 1"


def test_own_names_stand_before_others() -> None:
    assert decide("a == 1 and b == 2", {"a": 1}, {"a": 3, "b": 2}).holds is True


def test_a_judge_is_shown_what_the_text_names_else_the_own_names() -> None:
    replies = [{"holds": True, "reason": "r"}] * 2
    services = scripted_services(Script.from_data({"critic": replies}))
    named = decide("the plan is bold", {"result": 1}, {"plan": 2}, services=services, judge="critic")
    assert (named.layer, named.values, named.reason) == ("judge", {"plan": 2}, "r")
    unnamed = decide("it is bold", {"result": 1}, {"plan": 2}, services=services, judge="critic")
    assert unnamed.values == {"result": 1}
    assert services["critic"].unused() == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "P112"),
        ("  \n ", "P112"),
        ("it is bold", "P403"),
        ("a > 1", "P304"),
        ("b[9] == 1", "P303"),
        ("[" * 150 + "a" + "]" * 150, "P403"),  # deeper than the grammar goes: no expression at all
        ("a + " * 150 + "a", "P307"),
        ("run(a)", "P403"),  # nothing can be called from a text
    ],
)
def test_what_cannot_be_decided(text: str, code: str) -> None:
    with pytest.raises(ProseError) as caught:
        decide(text, {"a": "x", "b": [1]})
    assert caught.value.code == code


def test_a_judge_that_does_not_exist() -> None:
    with pytest.raises(ProseError) as caught:
        decide("a == 1", {"a": 1}, judge="nobody")
    assert (caught.value.code, caught.value.message) == ("P202", "there is no service `nobody`")


def test_services_of_one_run_stand_before_those_of_the_engine() -> None:
    engine = Engine(services={"writer": lambda: "engine"}, script=Script.from_data({"writer": ["script"]}))
    pattern = engine.loads("return call writer")

    async def value(**options: Any) -> Any:
        return (await engine.outcome_async(pattern, {}, **options)).value

    scripted = scripted_services(Script.from_data({"writer": ["run", "left"]}))
    assert asyncio.run(value(services=scripted)) == "run"
    assert [reply.value for reply in scripted["writer"].unused()] == ["left"]
    assert asyncio.run(value()) == "script"


def test_the_faults_of_what_is_given_are_told_without_running() -> None:
    engine = Engine()
    pattern = engine.loads("return call writer")
    assert [item.code for item in engine.faults(pattern, {})] == ["P202"]
    scripted = scripted_services(Script.from_data({"writer": [1]}))
    assert engine.faults(pattern, {}, scripted) == []
    assert len(scripted["writer"].unused()) == 1
    assert [item.code for item in engine.faults(pattern, {"x": 1}, scripted)] == ["P210"]
