"""The closed table of mechanical statements: what each row says, and what is none of them."""

from __future__ import annotations

from typing import Any

import pytest

from prose_lang.testing.mechanical import count, read_statement


@pytest.mark.parametrize(
    ("text", "holding", "failing"),
    [
        ("exists", ["", 0, False, []], [None]),
        ("is present.", ["x"], [None]),
        ("does not exist", [None], ["", 0]),
        ("is missing", [None], [[]]),
        ("is absent", [None], [0]),
        ('contains "rain"', ["the rain falls", ["rain"], {"rain": 1}], ["Rain", ["rainy"], {}, None, 3]),
        ("contains `rain`", ["rain"], ["sun"]),
        ('contains the exact phrase "a b"', ["x a b y"], ["a  b"]),
        ("contains 3", [[1, 3]], [[1, "3"], "3", {"3": 1}]),
        ("contains `3`", [[3], ["3"], "a3"], [[1]]),
        ('does not contain "x"', ["y", []], ["x", None, 1]),
        ('starts with "Dear"', ["Dear Ann"], ["dear", " Dear", None, ["Dear"]]),
        ('ends with "."', ["So."], ["So", None]),
        ('equals "a"', ["a"], ["A", "a ", None]),
        ("equals 3", [3, 3.0], ["3", True]),
        ("is `accept`", ["accept"], ["accepted"]),
        ("is true", [True], [1, "true"]),
        ("is null", [None], [0, ""]),
        ("is [1, 2]", [[1, 2]], [[2, 1]]),
        ('is {a: "x"}', [{"a": "x"}], [{}]),
        ('is not "a"', ["b", None], ["a"]),
        ('is one of "a", "b c" or "d"', ["a", "b c", "d"], ["b", None]),
        ("one of accept, revise", ["accept", "revise"], ["accepts"]),
        ("is one of 1, 2, or 3", [1, 3], ["1", 4]),
        ("is one of `a, b`, `c`", ["a, b", "c"], ["a"]),
        ("under 3 words", ["one two", "", "a\n\tb"], ["one two three", None, ["a"]]),
        ("fewer than 2 words", ["a"], ["a b"]),
        ("is at most 3 characters", ["abc"], ["abcd"]),
        ("has at least 2 sentences", ["One. Two", 'He said "no." So?'], ["3.5 is one number.", ""]),
        ("exactly 1 line", ["a", "a\n"], ["a\nb", ""]),
        ("over 1 items", [[1, 2], {"a": 1, "b": 2}], [[1], "ab", None]),
        ("more than 1 item", [[1, 2]], [[]]),
        ("between 2 and 3 words", ["a b", "a b c"], ["a", "a b c d"]),
        ("is between 1 and 2 lines long", ["a\nb"], ["a\nb\nc"]),
        ("is a number", [1, 0.5], [True, "1", None]),
        ("is a text", ["", "x"], [1]),
        ("is a string", ["x"], [[]]),
        ("is an object", [{}], [[]]),
        ("is a list", [[]], [{}]),
        ("is boolean", [False], [0, None]),
        ("IS A LIST", [[]], [{}]),
    ],
)
def test_rows(text: str, holding: list[Any], failing: list[Any]) -> None:
    statement = read_statement(text)
    assert statement is not None
    assert [value for value in holding if not statement.decide(value).holds] == []
    assert [value for value in failing if statement.decide(value).holds] == []


@pytest.mark.parametrize(
    "text",
    [
        "reads well",
        "contains no mistakes",
        "contains rain",
        "is good",
        "is not bad",
        "equals the draft",
        "is one of the best",
        "is at least 0.8",
        "at least 3 ideas",
        "is a number of things",
        "starts with a bang",
        "exists only in part",
        "does not contain mistakes",
        "contains the exact phrase 3",
        "under three words",
        'is "a" and "b"',
    ],
)
def test_everything_else_is_for_other_layers(text: str) -> None:
    assert read_statement(text) is None


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("under 2 words", "one two", "it has 2 words"),
        ("exactly 2 items", [1], "it has 1 item"),
        ("under 2 words", 7, "it is a number, which has no words"),
        ('contains "x"', "y" * 100, 'it is "' + "y" * 57 + '…", without "x"'),
        ('contains "x"', 7, "a number contains nothing of the kind"),
        ('starts with "x"', "y" * 100, f'it starts with "{"y" * 60}"'),
        ('equals "x"', "y" * 500, 'it is "' + "y" * 80 + " … (502 characters)"),
        ("exists", None, "there is none"),
        ("is a list", {}, "it is an object"),
    ],
)
def test_reasons_say_what_was_seen(text: str, value: Any, reason: str) -> None:
    statement = read_statement(text)
    assert statement is not None
    assert statement.decide(value).reason == reason


def test_counting() -> None:
    assert [count("a b  c\n", unit) for unit in ("word", "character", "sentence", "line")] == [3, 7, 1, 1]
    assert count("Wait… what?! Yes.", "sentence") == 2
    assert count([], "item") == 0
    assert count("abc", "item") is None
