"""Answers on their way, as the command line shows them."""

from __future__ import annotations

import json
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest

from prose_lang.cli.hearing import Hearing, Pieces, whole_words
from prose_lang.cli.jsonl import JsonLines
from prose_lang.cli.progress import Progress
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics.redact import Redactor
from prose_lang.runtime.events import CallFinished, CallStarted, TextDelta

KEY = "sk-secret-0123"


class Screen(StringIO):
    def isatty(self) -> bool:
        return True


def delta(text: str, number: int = 1, request: int = 1) -> TextDelta:
    return TextDelta(number, "delegation/0.call:writer", "w", request, text)


def call(number: int = 1, **parts: Any) -> Any:
    return SimpleNamespace(
        number=number, address="delegation/0.call:writer", service=SimpleNamespace(name="writer"), kind="call",
        inputs={}, value=None, error=None, attempt=1, seconds=0.0, usage=None, heard=None, recalled=False,
        cached=False, **parts,
    )  # fmt: skip


# --- the live line ---------------------------------------------------------------------------------------------------


def test_the_line_ends_with_what_the_oldest_call_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prose_lang.cli.progress.time.monotonic", lambda: 5.0)
    progress = Progress(Terminal(err=Screen(), environ={"COLUMNS": "80", "API_KEY": KEY}), "polish")
    progress(CallStarted(call(1)))
    progress(CallStarted(call(2)))
    start = progress.line()
    assert start.endswith("waiting for writer ×2")
    progress(delta("second call ", number=2))
    progress(delta("Moss is green\nand soft and ", number=1))
    assert progress.line() == f"{start} · Moss is green and soft and"
    progress(delta(f"it says {KEY[:6]}", number=1))
    assert progress.line().endswith("soft and it says")  # the beginning of a key is not shown
    progress(delta(f"{KEY[6:]} \x1b[31m red ", number=1))
    assert progress.line().endswith("[redacted] ␛[31m red")
    assert len(progress.line()) <= 79
    progress(CallFinished(call(1)))
    assert progress.line().endswith("second call")
    progress(CallFinished(call(2)))
    assert "second" not in progress.line()


def test_a_text_begins_anew_with_each_request() -> None:
    hearing = Hearing()
    hearing(delta("half a "))
    hearing(delta("whole ", request=2))
    assert hearing.tail(Redactor([]), 40) == "whole"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("one two three ", 13, "one two three"),
        ("one two three ", 12, "…e two three"),
        ("日本語のテキスト", 9, "…テキスト"),
        ("one two", 1, ""),
        ("one", 9, ""),
    ],
)
def test_a_tail_fits(text: str, width: int, shown: str) -> None:
    hearing = Hearing()
    hearing(delta(text))
    assert hearing.tail(Redactor([]), width) == shown


def test_a_long_text_costs_no_memory() -> None:
    hearing = Hearing()
    for _ in range(3000):
        hearing(delta("word " * 10))
    assert sum(len(text) for _, text in hearing._texts.values()) == 4000


def test_a_narrow_terminal_has_no_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prose_lang.cli.progress.time.monotonic", lambda: 5.0)
    progress = Progress(Terminal(err=Screen(), environ={"COLUMNS": "40"}), "polish")
    progress(CallStarted(call()))
    line = progress.line()
    progress(delta("Moss is green "))
    assert progress.line() == line


# --- events as lines -------------------------------------------------------------------------------------------------


def test_pieces_are_whole_words_and_make_the_text() -> None:
    pieces = Pieces()
    said = "The key is sk-1 for 日本 and über alles"
    told = [piece.text for letter in said for piece in pieces.next(delta(letter))]
    told += [piece.text for piece in pieces.rest(1)]
    assert "".join(told) == said
    assert told[:3] == ["The ", "key ", "is "]
    assert all(whole_words(text) == len(text) for text in told[:-1])
    assert pieces.rest(1) == ()


def test_a_key_in_two_halves_is_not_written() -> None:
    out = StringIO()
    lines = JsonLines(Terminal(out=out, environ={"API_KEY": KEY}))
    lines(delta(f"a {KEY[:5]}"))
    lines(delta(KEY[5:]))
    lines(delta("b ", request=2))
    lines(CallFinished(call()))
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(one["event"], one.get("request"), one.get("text")) for one in found] == [
        ("text", 1, "a "), ("text", 1, "[redacted]"), ("text", 2, "b "), ("call_finished", None, None),
    ]  # fmt: skip
    assert list(found[0]) == ["event", "number", "address", "service", "request", "text"]
