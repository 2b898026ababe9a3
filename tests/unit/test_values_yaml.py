"""YAML as plain values with places."""

from __future__ import annotations

import time
from typing import Any

import pytest

from prose_lang.text import Source
from prose_lang.values.yaml import load_yaml


def value(text: str) -> Any:
    node, faults = load_yaml(text, Source("x.yaml", text), code="P107")
    assert faults == []
    assert node is not None
    return node.value


def faults(text: str, **more: Any) -> list[tuple[str | None, str, str]]:
    _, found = load_yaml(text, Source("x.yaml", text), code="P211", **more)
    assert found
    places = [text[slice(*fault.span or (0, 0))] for fault in found]
    return [(fault.code, fault.message, place) for fault, place in zip(found, places, strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("# nothing\n", None),
        ("a: 1\r\nb:\r\n  - x\r\n", {"a": 1, "b": ["x"]}),
        ("[~, null, Null, NULL, '', \"null\"]", [None, None, None, None, "", "null"]),
        ("[true, True, FALSE, yes, no, on, tRUE]", [True, True, False, "yes", "no", "on", "tRUE"]),
        (
            "[1, +2, -3, 010, 0o17, 0x1F, 1_000, 12e3, 1.5, .5, 2.]",
            [1, 2, -3, 10, 15, 31, "1_000", 12000.0, 1.5, 0.5, 2.0],
        ),
        ("[2024-01-01, 12:30:45, 0.15.0, 1.2.3.4]", ["2024-01-01", "12:30:45", "0.15.0", "1.2.3.4"]),
        ("a: !!str 1\nb: !!float 2\nc: !!seq [x]\nd: ! 3", {"a": "1", "b": 2, "c": ["x"], "d": "3"}),
        ("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}),
        ("a: |\n  one\n  two\nb: >\n  one\n  two\n", {"a": "one\ntwo\n", "b": "one two\n"}),
        ("<<: {a: 1}\n", {"<<": {"a": 1}}),
        ("%YAML 1.1\n---\na: yes\n...\n", {"a": "yes"}),
    ],
)
def test_values(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("a: 1\nb: 2\na: 3\n", "the key `a` is repeated; it first stands on line 1", "a"),
        ("1: x", "a key must be a text", "1"),
        ("null: x", "a key must be a text", "null"),
        ("? [a]\n: b", "a key must be a text", "["),
        ("a: .nan", "`.nan` is not a JSON number", ".nan"),
        ("a: -.inf", "`-.inf` is not a JSON number", "-.inf"),
        ("a: 1e999", "`1e999` is not a JSON number", "1e999"),
        ("!!python/name:os x", "the tag `tag:yaml.org,2002:python/name:os` does not fit here", "!!python/name:os x"),
        (f"a: 0x{'f' * 400}", f"`0x{'f' * 38}` is not a JSON number", f"0x{'f' * 400}"),
        ("a: !!int x", "the tag `tag:yaml.org,2002:int` does not fit here", "!!int x"),
        ("a: !mine {}", "the tag `!mine` does not fit here", "!mine {"),
        ("a: *x", "no anchor `&x` stands before this", "*x"),
        ("a: &x [*x]", "`*x` stands inside its own anchor", "*x"),
        ("- a\n---\n- b", "there is a second YAML document", "---"),
        ("a:\n\t- b", "a tab stands where YAML wants spaces", "\t"),
        ("a: b: c", "this is not YAML: mapping values are not allowed here", ":"),
        ("a: 'x", "this is not YAML: found unexpected end of stream", ""),
        ("a: \0", "the character U+0000 is not allowed in YAML", "\0"),
        ('a: "\\ud800"', "a text holds half of a surrogate pair", '"\\ud800"'),
        ('a: "\\UFFFFFFFF"', "this is not YAML: an escape in the text after this place means no character", ":"),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, message: str, place: str) -> None:
    assert faults(text) == [("P211", message, place)]


def test_all_repeated_keys_are_reported_and_the_first_counts() -> None:
    node, found = load_yaml("a: 1\na: 2\na: 3\n", Source("x", ""), code="P107")
    assert len(found) == 2
    assert node is not None
    assert node.value == {"a": 1}


def test_places() -> None:
    text = "x: {a: [1, two]}\ny:\n  - b: |\n      text\n"
    node, _ = load_yaml(text, Source("x", text), code="P107")
    assert node is not None

    def at(*path: str | int) -> str | None:
        span = node.place(path)
        return None if span is None else text[span.start : span.end]

    assert at("x") == "{a: [1, two]}"
    assert at("x", "a", 1) == "two"
    assert at("y", 0) == "b: |\n      text"
    assert at("y", 1) is None
    assert at("z", "a") is None
    assert at("x", 0) is None
    assert text[slice(*node.members["x"].keys["a"])] == "a"


def test_places_in_a_host_text_with_indentation() -> None:
    host = "before\n   - name: x\n     with:\n      a: [1,\n  2]\nafter"
    start = host.index("   - name")
    text = host[start : host.index("after")]
    node, found = load_yaml(text, Source("x", host), code="P107", offset=start, indent=3)
    assert found == []
    assert node is not None
    assert node.value == [{"name": "x", "with": {"a": [1, 2]}}]
    span = node.place((0, "with", "a", 1))
    assert span is not None
    assert host[span.start : span.end] == "2"
    assert host[slice(*node.place((0, "name")) or (0, 0))] == "x"


def test_faults_in_a_host_text() -> None:
    host = "xx\n  a: 1\n  a: 2\n"
    _, (fault,) = load_yaml(host[3:], Source("x", host), code="P107", offset=3, indent=2)
    assert (fault.line, fault.column) == (3, 3)


def test_aliases_cannot_multiply() -> None:
    text = "a: &a [x,x,x,x,x,x,x,x,x]\n"
    for i in range(8):
        one, two = chr(ord("a") + i), chr(ord("b") + i)
        text += f"{two}: &{two} [{','.join([f'*{one}'] * 9)}]\n"
    assert faults(text)[0][1] == "it has more than 100,000 parts with its aliases written out"


@pytest.mark.parametrize("text", ["[" * 50_000, "[a," * 20_000, "{a: " * 20_000, "- " * 20_000, "? " * 20_000])
def test_deep_nesting_is_refused_at_once(text: str) -> None:
    start = time.perf_counter()
    message = faults(text)[0][1]
    assert message in ("it is nested more than 100 levels deep", "a key must be a text")
    assert time.perf_counter() - start < 20


def test_a_text_that_is_too_long() -> None:
    assert faults("a: b\n" * 10, most=20)[0][1] == "this YAML text has more than 20 characters"
