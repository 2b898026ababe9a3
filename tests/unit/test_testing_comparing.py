"""Equality of expected and actual values, and how differences are told."""

from __future__ import annotations

from typing import Any

import pytest

from prose_lang.testing.comparing import MOST_SHOWN, call_differences, differences, same, same_calls, shown


@pytest.mark.parametrize(
    ("wanted", "got", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (0, False, False),
        (None, False, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ([1, 2], [2, 1], False),
        ([], {}, False),
        ("~0.3", 0.1 + 0.2, True),
        ("~0.3", 0.3001, False),
        ("~0.3", "~0.3", True),
        ("~0.3", True, False),
        ("~1", None, False),
        ("~-2.5e3", -2500, True),
        ("~x", 1, False),
        ([{"a": ["~1"]}], [{"a": [1]}], True),
    ],
)
def test_equality(wanted: Any, got: Any, equal: bool) -> None:
    assert same(wanted, got) is equal
    assert (differences(wanted, got) == ()) is equal


@pytest.mark.parametrize(
    ("wanted", "got", "lines"),
    [
        (1, "1", ["expected 1, got \"1\""]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ["a.b[1]: expected 2, got 3"]),
        ({"a": 1}, {"b": 1}, ["a: expected 1, but it is missing", "b: 1 was not expected"]),
        ({"a b": 1}, {"a b": 2}, ['["a b"]: expected 1, got 2']),
        ([1], [1, 2], ["[1]: 2 was not expected"]),
        ([1, 2], [1], ["[1]: expected 2, but it is missing"]),
        ("one\ntwo\n", "one\nthree\n",
         ["it: the texts differ (- expected, + got)", "  @@ -1,2 +1,2 @@", "    one", "  - two", "  + three"]),
        ({"t": "a\n"}, {"t": "a\n\n"}, ["t: the texts differ (- expected, + got)", "  @@ -1 +1,2 @@", "    a", "  + "]),
        ("a\nb", "a\r\nb", ["it: the texts differ (- expected, + got)", "  the line breaks differ"]),
        ("x" * 150 + "a", "x" * 150 + "b",
         ["it: the texts differ from character 151 on", f'  expected …"{"x" * 30}a"', f'  got      …"{"x" * 30}b"']),
        ("x" * 120, "x" * 121,
         ["it: the texts differ from character 121 on", f'  expected …"{"x" * 30}"', f'  got      …"{"x" * 31}"']),
    ],
)  # fmt: skip
def test_differences(wanted: Any, got: Any, lines: list[str]) -> None:
    assert list(differences(wanted, got)) == lines


def test_many_differences_are_counted() -> None:
    lines = differences(list(range(100)), [None] * 100)
    assert len(lines) == MOST_SHOWN + 1
    assert lines[-1] == "… and 90 more"


def test_huge_values_are_cut() -> None:
    [line] = differences(1, ["x" * 1_000_000])
    assert line == f"expected 1, got {shown(['x' * 1_000_000])}"
    assert len(line) < 250
    assert line.endswith("… (1,000,004 characters)")
    long = "\n".join(map(str, range(100_000)))
    assert len(differences(long, long.replace("50000", "x"))) < 40


CALL = ["a", {"x": 1}, {}]


@pytest.mark.parametrize(
    ("wanted", "got", "lines"),
    [
        ([["a", {"x": 1}]], [CALL], []),
        ([["a", {"x": 1}, {}]], [["a", {"x": 1}, {"retry": 1}]], ["call 1 to a: modifiers: retry: 1 was not expected"]),
        ([["a", {"x": 1}]], [["a", {"x": 1}, {"retry": 1}]], []),
        ([["a", {"x": 2}]], [CALL], ["call 1 to a: x: expected 2, got 1"]),
        ([["b", {"x": 1}]], [CALL], ['call 1: expected a call to b with {"x": 1}', '  got one to a with {"x": 1}']),
        ([], [CALL], ['call 1 to a was not expected: {"x": 1}']),
        ([["a", {"x": 1}], ["b", {}]], [["b", {}, {}]], ['call 1 to a is missing: {"x": 1}']),
        ([["b", {}]], [CALL, ["b", {}, {}], CALL],
         ['call 1 to a was not expected: {"x": 1}', 'call 3 to a was not expected: {"x": 1}']),
        ([["a", {"x": 1}], ["b", {}], ["c", {}]], [["b", {}, {}], ["c", {"y": 2}, {}]],
         ['call 1 to a is missing: {"x": 1}', "call 2 to c: y: 2 was not expected"]),
    ],
)  # fmt: skip
def test_calls(wanted: Any, got: Any, lines: list[str]) -> None:
    assert list(call_differences(wanted, got)) == lines
    assert same_calls(wanted, got) is not bool(lines)


def test_very_many_calls_are_compared_in_their_places() -> None:
    wanted = [["a", {"n": n}] for n in range(1_000)]
    got = [["a", {"n": n + 1}, {}] for n in range(1_001)]
    lines = call_differences(wanted, got)
    assert lines[0] == "call 1 to a: n: expected 0, got 1"
    assert lines[-1] == "… and 991 more"
