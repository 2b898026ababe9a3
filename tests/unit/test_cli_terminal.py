"""The streams: encodings, colours, secrets, a closed pipe, and the live line's text."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest

from prose_lang.cli.progress import Progress
from prose_lang.cli.status import machine_format
from prose_lang.cli.terminal import ReaderGone, Terminal
from prose_lang.runtime.events import CallFinished, CallStarted


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def terminal(out: Any = None, err: Any = None, **environ: str) -> Terminal:
    return Terminal(out or io.StringIO(), err or io.StringIO(), environ)


def held(stream: Any) -> str:
    """What was written to a stream in memory."""
    assert isinstance(stream, io.StringIO)
    return stream.getvalue()


def ascii_stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="ascii")


def written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode("ascii")


def test_texts_end_in_one_line_break() -> None:
    it = terminal()
    it.write("a")
    it.write("b\n")
    it.say("c")
    assert (held(it.out), held(it.err)) == ("a\nb\n", "c\n")


def test_a_stream_that_cannot_show_a_character() -> None:
    out = ascii_stream()
    it = terminal(out)
    it.write("naïve – ok")
    it.write_json({"é": "\ud800"})
    text, line = written(out).splitlines()
    assert text == "na\\xefve \\u2013 ok"
    assert json.loads(line) == {"é": "\ud800"}


def test_json_is_indented_for_a_person_only() -> None:
    screen = Screen()
    terminal(screen).write_json({"a": 1})
    assert screen.getvalue() == '{\n  "a": 1\n}\n'
    screen = Screen()
    terminal(screen).write_json({"a": 1}, one_line=True)
    assert screen.getvalue() == '{"a": 1}\n'


def test_secrets_are_taken_out_of_everything() -> None:
    it = terminal(MY_TOKEN="12345678")
    it.write("x 12345678")
    it.say("y 12345678")
    it.write_json({"12345678": ["12345678", 12345678]})
    out = held(it.out)
    assert out == 'x [redacted]\n{"[redacted]": ["[redacted]", 12345678]}\n'
    assert held(it.err) == "y [redacted]\n"


@pytest.mark.parametrize(
    ("stream", "environ", "colors"),
    [
        (io.StringIO(), {}, False),
        (Screen(), {}, True),
        (Screen(), {"TERM": "dumb"}, False),
        (Screen(), {"NO_COLOR": "1"}, False),
        (Screen(), {"NO_COLOR": ""}, True),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (io.StringIO(), {"FORCE_COLOR": "0"}, False),
        (io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colours(stream: Any, environ: dict[str, str], colors: bool) -> None:
    assert terminal(err=stream, **environ).colors(stream) is colors
    assert terminal(err=stream, **environ).paint("1", "x") == ("\x1b[1mx\x1b[0m" if colors else "x")


def test_a_live_line_needs_a_terminal_that_can_show_one() -> None:
    assert terminal(err=Screen()).live
    assert not terminal(err=Screen(), TERM="dumb").live
    assert not terminal().live


def test_the_width_is_that_of_standard_error() -> None:
    assert terminal(COLUMNS="30").width == 100
    assert terminal(err=Screen(), COLUMNS="30").width == 30
    assert terminal(err=Screen(), COLUMNS="wide").width == 100


class Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_is_gone() -> None:
    with pytest.raises(ReaderGone):
        terminal(Closed()).write("x")
    terminal(err=Closed()).say("nobody hears this")


def effect(service: str, address: str) -> Any:
    return SimpleNamespace(
        service=SimpleNamespace(name=service), address=address, kind="call", value=None, error=None, cached=False
    )


def test_the_live_line() -> None:
    it = Progress(terminal(err=Screen(), COLUMNS="200", API_KEY="sk-secret-0"), "polish")
    first, second = (effect(name, f"delegation/0.repeat[2]/{i}.call:{name}") for i, name in enumerate("ab"))
    for event in (CallStarted(first), CallStarted(second), CallStarted(second), CallFinished(first)):
        it(event)
    assert it.line().split(" · ")[2:] == ["round 2", "1 done", "waiting for b ×2"]
    it(CallStarted(effect("sk-secret-0", "delegation/1.call:c")))
    assert it.line().split(" · ")[2:] == ["1 done", "waiting for b ×2, c ([redacted])"]


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("run x --json", "json"),
        ("run x --output json", "json"),
        ("run x --output=jsonl --json", "json"),
        ("run x --output jsonl", "jsonl"),
        ("run x --output human", None),
        ("run x -- --json", None),
        ("run --output", None),
        ("list --json", None),
        ("", None),
    ],
)
def test_the_form_that_raw_arguments_ask_for(words: str, form: str | None) -> None:
    assert machine_format(words.split()) == form
