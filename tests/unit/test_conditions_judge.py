"""What the judge is asked, and which answers are usable (L30.5, L31)."""

from __future__ import annotations

from typing import Any

import pytest

from prose_lang.conditions import (
    MAX_QUESTION,
    Answer,
    Chosen,
    QuestionTooLarge,
    choice_question,
    question,
    read_answer,
    read_choice,
)
from prose_lang.values import GrowingList, ServiceRef


def test_a_question_holds_the_text_and_copies_of_the_values() -> None:
    log = GrowingList([{"n": 1}])
    asked = question("  log looks complete\n", {"log": log, "worker": ServiceRef("writer", None), "x": None})
    assert asked == {
        "condition": "log looks complete",
        "values": {"log": [{"n": 1}], "worker": "writer", "x": None},
    }
    assert type(asked["values"]["log"]) is list
    assert type(asked["values"]["worker"]) is str
    asked["values"]["log"][0]["n"] = 2
    assert log == [{"n": 1}]


def test_a_choice_question_lists_the_options() -> None:
    assert choice_question("best way", {"v": 1}, ("retry", "abort")) == {
        "criteria": "best way",
        "values": {"v": 1},
        "options": ["retry", "abort"],
    }


def test_values_up_to_the_bound_are_sent_whole() -> None:
    overhead = len('{"v": ""}')
    text = "x" * (MAX_QUESTION - overhead)
    assert question("v is fine", {"v": text})["values"] == {"v": text}
    with pytest.raises(QuestionTooLarge, match=r"65,537 bytes and may take 65,536; the largest is v with 65,5"):
        question("v is fine", {"w": 1, "v": text[len(', "w": 1') - 1 :]})


def test_the_bound_counts_bytes() -> None:
    with pytest.raises(QuestionTooLarge):
        question("v is fine", {"v": "é" * 10}, bound=20)
    assert question("v is fine", {"v": "e" * 10}, bound=20)["values"] == {"v": "e" * 10}


def test_the_bound_holds_for_choices_too() -> None:
    with pytest.raises(QuestionTooLarge, match="the largest is v"):
        choice_question("best", {"v": "x" * 100}, ["a"], bound=50)


def test_values_of_many_parts_or_levels_are_refused_by_name() -> None:
    deep: list[Any] = []
    for _ in range(1000):
        deep = [deep]
    for value in ([0] * 100_000, deep):
        with pytest.raises(QuestionTooLarge, match="log is nested too deeply for the judge, or larger than"):
            question("log is fine", {"log": value})


@pytest.mark.parametrize(
    ("answer", "usable"),
    [
        ({"holds": True, "reason": "clearly"}, Answer(True, "clearly")),
        ({"holds": False, "reason": ""}, Answer(False, "")),
        ({"holds": True, "reason": "r", "confidence": 0.5}, Answer(True, "r")),
        ('{"holds": true, "reason": "r"}', Answer(True, "r")),
        (' {"holds": false, "reason": "r"}\n', Answer(False, "r")),
        ({"holds": True}, None),
        ({"holds": True, "reason": None}, None),
        ({"holds": "true", "reason": "r"}, None),
        ({"holds": 1, "reason": "r"}, None),
        ({"holds": None, "reason": "r"}, None),
        ({"reason": "r"}, None),
        ({"Holds": True, "reason": "r"}, None),
        ([{"holds": True, "reason": "r"}], None),
        ('{"holds": true, "holds": false, "reason": "r"}', None),
        ('I think {"holds": true, "reason": "r"}', None),
        ("maybe", None),
        ("true", None),
        (True, None),
        (None, None),
        (ServiceRef("judge", None), None),
    ],
)
def test_answers(answer: Any, usable: Answer | None) -> None:
    assert read_answer(answer) == usable


@pytest.mark.parametrize(
    ("answer", "usable"),
    [
        ({"choice": "abort", "reason": "no hope"}, Chosen("abort", "no hope")),
        ('{"choice": "retry", "reason": "r"}', Chosen("retry", "r")),
        ({"choice": "Abort", "reason": "r"}, None),
        ({"choice": "else", "reason": "r"}, None),
        ({"choice": ["abort"], "reason": "r"}, None),
        ({"choice": "abort"}, None),
        ({"choice": None, "reason": "r"}, None),
        ("abort", None),
        (None, None),
    ],
)
def test_choices(answer: Any, usable: Chosen | None) -> None:
    assert read_choice(answer, ["retry", "abort"]) == usable
