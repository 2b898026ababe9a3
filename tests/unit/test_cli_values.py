"""Results and gists as a person reads them."""

from __future__ import annotations

from typing import Any

import pytest

from prose_lang.cli.values import brief, clipped, written

LONG = "word " * 20


def shown(value: Any) -> str:
    return written(value, harmless=True)


def test_a_text_is_itself() -> None:
    assert shown("one\ntwo") == "one\ntwo"


def test_a_text_that_is_not_for_a_terminal_is_untouched() -> None:
    text = "a\x1b[31m\tb\r\nc"
    assert written(text, harmless=False) == text
    assert written({"result": text, "n": 1}, harmless=False) == f"{text}\n\nn: 1"


def test_a_text_cannot_drive_a_terminal() -> None:
    assert shown("a\x1b[31mb") == "a␛[31mb"
    assert shown({"re\x1bsult": 1}) == "re␛sult: 1"


def test_what_a_run_is_about_comes_first_and_bare() -> None:
    assert shown({"score": 0.83, "result": "Use the form.", "rounds_used": 2}) == (
        "Use the form.\n\nscore: 0.83\nrounds_used: 2"
    )


def test_a_single_long_text_is_what_a_run_is_about() -> None:
    assert shown({"haiku": "one\ntwo", "ok": True}) == "one\ntwo\n\nok: true"


def test_short_texts_stand_in_line() -> None:
    assert shown({"verdict": "accept", "reason": "", "by": " me"}) == 'verdict: accept\nreason: ""\nby: " me"'


def test_long_texts_are_blocks_with_air_around_them() -> None:
    assert shown({"a": 1, "b": "x\n\ny", "c": "p\nq", "d": None}) == "a: 1\n\nb:\n  x\n\n  y\n\nc:\n  p\n  q\n\nd: null"


def test_lists_and_objects_are_laid_out() -> None:
    value = {"result": "R", "members": ["m1", "a\nb", {"k": 1, "l": []}], "empty": {}}
    assert shown(value) == "R\n\nmembers:\n  - m1\n  - a\n    b\n  - k: 1\n    l: []\n\nempty: {}"


def test_what_is_deep_is_json() -> None:
    value: Any = "x"
    for _ in range(8):
        value = {"k": [value]}
    assert '[{"k": ["x"]}]' in shown(value)


@pytest.mark.parametrize(
    ("value", "text"), [(None, "null"), (True, "true"), (0.5, "0.5"), ([], "[]"), ({}, "{}"), (["a", 1], "- a\n- 1")]
)
def test_other_values(value: Any, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a text\nof two lines", "“a text of two lines”"),
        ("", "“”"),
        (None, "null"),
        (0.83, "0.83"),
        ([], "0 items"),
        (["a", "b"], "2 items: a | b"),
        ([1, 2, 3], "3 items"),
        ({}, "{}"),
        ({"suggestions": ["a"], "score": 0.5, "verdict": "revise", "ok": False}, None),
    ],
)
def test_gists(value: Any, text: str | None) -> None:
    assert brief(value, 60) == (text or "score 0.5, verdict revise, ok false, suggestions: 1 item")


def test_gists_are_cut() -> None:
    assert brief(LONG, 20) == "“word word word wo…”"
    assert brief({"a": 1, "b": LONG, "c": 2}, 20) == "a 1, c 2, b “word w…"


def test_clipping_counts_columns() -> None:
    assert clipped("日本語", 6) == "日本語"
    assert clipped("日本語です", 6) == "日本…"
    assert clipped("x" * 10_000_000, 5) == "xxxx…"
