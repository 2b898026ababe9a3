"""Names and values on the command line: every spelling, how far each is trusted, and what is wrong with a bad one."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from prose_lang.cli.names import read_names, upstream
from prose_lang.cli.reading import Reader
from prose_lang.diagnostics import CheckError, ProseError
from prose_lang.engine import Given


def plain(given: dict[str, Given]) -> dict[str, tuple[object, bool, bool]]:
    return {name: (item.value, item.text, item.trusted) for name, item in given.items()}


def read(*words: str, after: tuple[str, ...] = (), inputs: str | None = None) -> dict[str, tuple[object, bool, bool]]:
    return plain(read_names(words, after, inputs, Reader()))


def faults(*words: str, inputs: str | None = None) -> list[tuple[str | None, str]]:
    with pytest.raises(ProseError) as caught:
        read_names(words, (), inputs, Reader())
    return [(item.code, item.message) for item in caught.value.diagnostics]


def test_a_literal_value_is_a_trusted_text() -> None:
    assert read("refiner=cmd:sort -r", "topic=", "x=a=b:=c") == {
        "refiner": ("cmd:sort -r", True, True),
        "topic": ("", True, True),
        "x": ("a=b:=c", True, True),
    }


def test_a_value_may_have_several_lines() -> None:
    assert read("brief=one\ntwo")["brief"] == ("one\ntwo", True, True)


def test_json_is_a_value_and_no_text() -> None:
    assert read('a:={"k": [1, null]}', 'b:="@x"') == {"a": ({"k": [1, None]}, False, True), "b": ("@x", False, True)}


def test_a_file_is_a_text_that_is_not_trusted(tmp_path: Path) -> None:
    file = tmp_path / "brief.txt"
    file.write_bytes(b"\xef\xbb\xbfline one\r\nline two\n")
    assert read(f"brief=@{file}") == {"brief": ("line one\r\nline two\n", True, False)}


def test_the_inputs_file_is_not_trusted(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text('{"refiner": "cmd:rm", "n": 3}')
    assert read("x=1", inputs=str(file)) == {
        "refiner": ("cmd:rm", False, False),
        "n": (3, False, False),
        "x": ("1", True, True),
    }


def test_upstream_options() -> None:
    found = upstream(["--tone", "dry", "--depth=2", "--text", "-x", "a:=[1]"])
    assert [tuple(word) for word in found] == [
        ("tone", "=", "dry"),
        ("depth", "=", "2"),
        ("text", "=", "-x"),
        ("a", ":=", "[1]"),
    ]


def test_upstream_lines() -> None:
    found = upstream(["topic:", "rain", "in", "https://a.example", "depth: 2", "a: x\nb: y z", "note: one\ntwo"])
    assert [(word.name, word.text) for word in found] == [
        ("topic", "rain in https://a.example"),
        ("depth", "2"),
        ("a", "x"),
        ("b", "y z"),
        ("note", "one\ntwo"),
    ]


def test_upstream_spellings_are_literal_arguments() -> None:
    assert read(after=("--refiner", "cmd:sort"))["refiner"] == ("cmd:sort", True, True)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("topic", "`topic` is not NAME=VALUE, NAME:=JSON or NAME=@FILE"),
        ("=x", "`=x` is not NAME=VALUE, NAME:=JSON or NAME=@FILE"),
        ("1a=x", "`1a=x` is not NAME=VALUE, NAME:=JSON or NAME=@FILE"),
        ("topic: x", "`topic: x` is not NAME=VALUE, NAME:=JSON or NAME=@FILE"),
    ],
)
def test_what_gives_no_name_a_value_is_a_usage_error(word: str, message: str) -> None:
    with pytest.raises(click.UsageError, match=r".") as caught:
        read(word)
    assert caught.value.message == message


@pytest.mark.parametrize("words", [["--tone"], ["--tone", "--depth", "2"]])
def test_an_upstream_option_needs_a_value(words: list[str]) -> None:
    with pytest.raises(click.UsageError) as caught:
        list(upstream(words))
    assert caught.value.message == "`--tone` has no value"


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    missing = tmp_path / "none.txt"
    assert faults("a:={", f"b=@{missing}", "c=1", "c=2") == [
        ("P211", "`a` is not valid JSON: expecting property name enclosed in double quotes"),
        ("P103", f"`b`: there is no file `{missing}`"),
        ("P209", "`c` is given twice"),
    ]


def test_a_name_in_the_inputs_file_and_on_the_line_is_given_twice(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text('{"n": 3}')
    assert faults("n=4", inputs=str(file)) == [("P209", "`n` is given twice, once in the file of --inputs")]


def test_bad_json_is_shown_at_its_place() -> None:
    with pytest.raises(CheckError) as caught:
        read("a:=[1, x]")
    [item] = caught.value.diagnostics
    assert (item.line, item.column, item.hint) == (1, 5, "for a text write a=…")
    assert "[1, x]\n   |     ^" in caught.value.render()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NaN", "`a` is not valid JSON: NaN is not JSON"),
        ('{"k": 1, "k": 2}', "`a` is not valid JSON: `k` is there twice"),
        ("[" * 100_000, "`a` is not valid JSON: it is nested too deeply"),
    ],
)
def test_json_that_is_refused(text: str, message: str) -> None:
    assert faults(f"a:={text}") == [("P211", message)]


def test_the_inputs_file_holds_an_object(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text("[1]")
    assert faults(inputs=str(file)) == [("P211", "the file of --inputs holds no JSON object of names")]


def test_a_file_that_is_no_utf8(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_bytes(b"ok\n\xff")
    assert faults(f"a=@{file}") == [("P103", f"`a`: {file} is not UTF-8 text (line 2)")]


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"text")))
    assert faults("a=@-", "b=@-") == [("P103", "standard input is `a` already, and cannot be `b` too")]
