"""Diagnostics as text: the exact frame, and that nothing in a source can break it."""

from __future__ import annotations

import re
import time
import unicodedata
from typing import Any

import pytest

from prose_lang.diagnostics import Diagnostic, ProseError, Severity
from prose_lang.diagnostics.render import render, render_all
from prose_lang.diagnostics.visible import visible, width_of
from prose_lang.text import Source, Span

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def marked(text: str, *, name: str = "a.prose.md", **rest: Any) -> Diagnostic:
    """A diagnostic on the part of a text between `«` and `»`."""
    start = text.index("«")
    end = text.index("»") - 1
    source = Source(name, text.replace("«", "", 1).replace("»", "", 1))
    return Diagnostic("P201", "no such name", source, Span(start, end), **rest)


def frame(text: str, **rest: Any) -> list[str]:
    return render(marked(text, **rest)).splitlines()[1:]


def caret_columns(lines: list[str]) -> tuple[int, int]:
    """The display columns that the carets stand under."""
    caret = next(line for line in lines if set(line.strip()) <= {"|", " ", "^"} and "^" in line)
    return caret.index("^"), caret.rindex("^") + 1


def test_the_whole_of_it() -> None:
    text = 'let topic = "rain"\nlet brief = "About {«topik»}."\nreturn brief\n'
    found = marked(text, hint="did you mean `topic`?", notes=("braces interpolate", "two\nlines"))
    assert render(found) == "\n".join(
        [
            "error[P201] unknown-name: no such name",
            "  --> a.prose.md:2:21",
            "   |",
            ' 1 | let topic = "rain"',
            ' 2 | let brief = "About {topik}."',
            "   |                     ^^^^^",
            " 3 | return brief",
            "   |",
            "   = help: did you mean `topic`?",
            "   = note: braces interpolate",
            "   = note: two",
            "           lines",
        ]
    )


def test_lints_have_names_only() -> None:
    found = Diagnostic(None, "assigned again", Source("a", "x"), Span(0, 1), name="re-let", severity=Severity.WARNING)
    assert render(found).splitlines()[0] == "warning[re-let]: assigned again"


def test_without_source_and_without_span() -> None:
    assert render(Diagnostic("P410", "no model", None, None, hint="see `prose doctor`")) == (
        "error[P410] not-configured: no model\n   = help: see `prose doctor`"
    )
    assert render(Diagnostic("P103", "not found", Source("a.prose.md", ""), None)) == (
        "error[P103] source-unreadable: not found\n  --> a.prose.md"
    )


def test_message_of_several_lines_is_indented() -> None:
    found = Diagnostic("P401", "2 failed:\nfirst\r\nsecond", None, None)
    assert render(found) == "error[P401] too-few-succeeded: 2 failed:\n  first\n  second"


def test_context_lines() -> None:
    text = "one\n\ntwo\n«three»\nfour\n   \nfive"
    assert [line[1:2] for line in frame(text)[2:]] == ["3", "4", " ", "5"]
    assert frame(text)[4] == "   | ^^^^^"
    found = marked(text)
    assert render(found, context_lines=0).splitlines()[2:] == ["   |", " 4 | three", "   | ^^^^^"]
    # Blank lines at the edges say nothing; inside they stay.
    assert [line[1:2] for line in render(found, context_lines=3).splitlines()[3:]] == list("1234 567")
    assert [line[1:2] for line in render(found, context_lines=2).splitlines()[3:]] == list("34 5")


def test_margin_grows_with_line_numbers() -> None:
    lines = frame("\n" * 998 + "x\n«y»\nz")
    assert lines == ["    --> a.prose.md:1000:1", "     |", " 999 | x", "1000 | y", "     | ^", "1001 | z"]


@pytest.mark.parametrize(
    ("text", "carets"),
    [
        ("abc «def» ghi", "         ^^^"),
        ("\t«x»", "         ^"),
        ("a\t«b\tc» d", "          ^^^^^^"),
        ("日本 «語» x", "          ^^"),
        ("e\u0301a\u0308 «n\u0303» x", "        ^"),
        ("한 «\u1112\u1161\u11ab» x", "        ^^"),
        ("«»x", "     ^"),
        ("abc«»", "        ^"),
    ],
)
def test_carets_stand_under_the_span(text: str, carets: str) -> None:
    lines = frame(text)
    assert caret_columns(lines) == (len(carets.rstrip("^")), len(carets))
    before = lines[2].split("| ", 1)[1]
    wanted = visible(text[: text.index("«")])
    assert before.startswith(wanted)
    assert caret_columns(lines)[0] == 5 + width_of(wanted)


def test_byte_order_mark_is_not_a_column() -> None:
    found = Diagnostic("P101", "what?", Source("a", "\ufeffabc"), Span(1, 4))
    assert render(found).splitlines()[1:] == ["  --> a:1:1", "   |", " 1 | abc", "   | ^^^"]


def test_span_of_several_lines_is_marked_at_the_first() -> None:
    assert frame("call «a  \n  n: 1\n»return")[2:] == [" 1 | call a", "   |      ^", " 2 |   n: 1"]


@pytest.mark.parametrize("span", [Span(-5, -1), Span(3, 3), Span(99, 200), Span(2, 1), Span(0, 10**9)])
def test_spans_outside_the_text_are_clamped(span: Span) -> None:
    lines = render(Diagnostic("P101", "what?", Source("a", "abc"), span)).splitlines()
    assert lines[3] == " 1 | abc"
    assert "^" in lines[4]
    assert len(lines[4]) <= len(" 1 | abc") + 1


def test_empty_text_and_end_of_file() -> None:
    assert render(Diagnostic("P105", "no body", Source("a", ""), Span(0, 0))).splitlines()[3:] == [" 1 |", "   | ^"]
    lines = render(Diagnostic("P102", "open", Source("a", "x(\n"), Span(3, 3))).splitlines()
    assert lines[1:] == ["  --> a:2:1", "   |", " 1 | x(", " 2 |", "   | ^"]


@pytest.mark.parametrize("place", [0, 30, 80, 2_500_000, 4_999_990, 4_999_998])
def test_very_long_lines_are_cut_around_the_span(place: int) -> None:
    text = "x" * place + "name" + "y" * (5_000_000 - place)
    started = time.process_time()
    lines = render(Diagnostic("P201", "no such name", Source("a", text), Span(place, place + 4))).splitlines()
    assert time.process_time() - started < 0.5
    shown = lines[3].removeprefix(" 1 | ")
    assert len(shown) <= 162
    assert shown.startswith("…") == (place > 40)
    assert shown.endswith("…") == (place < 4_999_900)
    start, end = caret_columns(lines)
    assert lines[3][start:end] == "name"


def test_a_span_longer_than_the_window_is_clipped() -> None:
    lines = render(Diagnostic("P102", "open", Source("a", "a" * 1000), Span(10, 990))).splitlines()
    assert len(lines[3]) <= 167
    start, end = caret_columns(lines)
    assert start == 5 + 10
    assert end <= len(lines[3]) - 1


def test_long_lines_around_it_are_cut_too() -> None:
    lines = frame("b" * 10**6 + "\n«x»\n" + "c" * 10**6)
    assert max(map(len, lines)) <= 167


def test_wide_and_combining_characters_in_a_long_line() -> None:
    text = "語" * 10_000
    lines = render(Diagnostic("P201", "?", Source("a", text), Span(5_000, 5_001))).splitlines()
    shown = lines[3].removeprefix(" 1 | ")
    assert sum(2 if unicodedata.east_asian_width(c) == "W" else 1 for c in shown) <= 162
    start, end = caret_columns(lines)
    assert end - start == 2
    piled = render(Diagnostic("P201", "?", Source("a", "e" + "\u0301" * 10**6), Span(0, 1)))
    assert len(piled) < 5_000


def test_a_source_cannot_drive_the_terminal() -> None:
    text = "a\x1b]0;owned\x07\x00\x9b31m\u202eevil\u2028b\x7f\ud800"
    found = Diagnostic(
        "P201",
        f"nothing is called {text}",
        Source(f"{text}.prose.md", f"{text} name"),
        Span(len(text) + 1, len(text) + 5),
        hint=text,
        notes=(text,),
    )
    rendered = render(found)
    assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl"} for c in rendered.replace("\n", ""))
    assert " 1 | a␛]0;owned␇␀�31m�evil�b␡� name" in rendered.splitlines()
    rendered.encode("utf-8")
    lines = rendered.splitlines()
    start, end = caret_columns(lines)
    assert lines[3][start:end] == "name"


def test_colours_only_when_asked_and_only_around() -> None:
    found = marked("let x = «y»", hint="h", notes=("n",))
    plain, coloured = render(found), render(found, color=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31m" in coloured
    assert ESCAPE.sub("", coloured) == plain
    many = [found, marked("«q»", severity=Severity.WARNING)]
    assert ESCAPE.sub("", render_all(many, color=True)) == render_all(many)


def test_several_are_counted() -> None:
    found = [marked("«a»"), marked("«b»", severity=Severity.WARNING), marked("«c»")]
    rendered = render_all(found)
    assert rendered.split("\n\n")[-1] == "2 errors, 1 warning"
    assert [line[5:] for line in rendered.splitlines() if line.startswith(" 1 | ")] == ["a", "b", "c"]
    assert render_all([found[0]]) == render(found[0])
    assert render_all([]) == ""
    notes = [marked("«a»", severity=Severity.NOTE)] * 2
    assert render_all(notes).endswith("\n\n2 notes")


def test_a_thousand_in_a_megabyte_are_fast_and_fifty_are_shown() -> None:
    line = 'let value = call someone  # "ünï"\n'
    source = Source("big.prose.md", line * 30_000)
    found = [Diagnostic("P201", "?", source, Span(i * 900 + 4, i * 900 + 9)) for i in range(1000)]
    started = time.process_time()
    rendered = render_all(found)
    assert time.process_time() - started < 0.5
    assert rendered.count("error[P201]") == 50
    assert rendered.endswith("\n\n… and 950 more\n\n1,000 errors")
    started = time.process_time()
    for one in found:
        render(one)
    assert time.process_time() - started < 0.9


def test_errors_are_shown_before_what_is_less_grave() -> None:
    warnings = [marked("«w»", severity=Severity.WARNING) for _ in range(60)]
    rendered = render_all([*warnings, marked("«e»")])
    assert rendered.count("warning[P201]") == 49
    assert rendered.count("error[P201]") == 1
    assert rendered.endswith("… and 11 more\n\n1 error, 60 warnings")


def test_errors_render_themselves() -> None:
    found = marked("let x = «y»")
    assert ProseError.from_diagnostics([found]).render() == render(found)
