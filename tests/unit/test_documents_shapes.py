"""The shapes of items in the mixes that people write (L3, L5), and the types and values in them."""

from __future__ import annotations

from typing import Any

import pytest

from prose_lang.documents.attributes import default_in_sentence, read_attributes
from prose_lang.documents.declarations import make_item, misfit
from prose_lang.documents.faults import Faults
from prose_lang.documents.literals import read_choices, read_default
from prose_lang.documents.model import ANY, MISSING, Item
from prose_lang.documents.page import Flow
from prose_lang.documents.shapes import read_shape
from prose_lang.documents.types import fits, is_known, parse_type
from prose_lang.text import Source, Span


def item(text: str, *, config: bool = False) -> tuple[Item, list[tuple[str | None, str, str]]]:
    """The item of a line, and its faults as code, message and the text they point at."""
    shape = read_shape(Flow.of([(text, 0)]), config=config)
    assert shape is not None, text
    faults = Faults(Source("x", text))
    made = make_item(shape, faults)
    assert text[made.span.start : made.span.end] == made.name
    found = [(fault.code, fault.message, text[slice(*fault.span or (0, 0))]) for fault in faults.found]
    return made, found


REQUIRED = (False, MISSING)
INTERFACE: list[tuple[str, str, str, tuple[bool, Any], str]] = [
    # text, name, type, (optional, default), description
    ("`topic`: the question", "topic", "any", REQUIRED, "the question"),
    ("topic: string -- the question", "topic", "string", REQUIRED, "the question"),
    ("topic: string   --- the question", "topic", "string", REQUIRED, "the question"),
    ("`topic` — string — the question", "topic", "string", REQUIRED, "the question"),
    ("`topic`–the question", "topic", "any", REQUIRED, "the question"),
    ("topic - the question", "topic", "any", REQUIRED, "the question"),
    ("`topic`:the question", "topic", "any", REQUIRED, "the question"),
    ("**topic:** the question", "topic", "any", REQUIRED, "the question"),
    ("**`topic`**: the question", "topic", "any", REQUIRED, "the question"),
    ("*topic*: the question", "topic", "any", REQUIRED, "the question"),
    ("`topic`", "topic", "any", REQUIRED, ""),
    ("`topic`:", "topic", "any", REQUIRED, ""),
    ("`topic` (string)", "topic", "string", REQUIRED, ""),
    ("`topic` (see below): the question", "topic", "any", REQUIRED, "(see below) the question"),
    ("`topic`: (see below) the question", "topic", "any", REQUIRED, "(see below) the question"),
    ("`quality-bar`: text-like", "quality-bar", "any", REQUIRED, "text-like"),
    ("`depth`: (optional, default 2) how deep", "depth", "number", (True, 2), "how deep"),
    ("depth: number -- (optional, default 2) how deep", "depth", "number", (True, 2), "how deep"),
    ("depth: number -- (optional, default 2)", "depth", "number", (True, 2), ""),
    ('label: string -- (optional, default "x y") first', "label", "string", (True, "x y"), "first"),
    ("steps: any[]    -- (optional, default []) — earlier steps", "steps", "any[]", (True, []), "earlier steps"),
    ("where: string   -- (optional) a folder", "where", "string", (True, MISSING), "a folder"),
    ("`where` (optional): string - a folder", "where", "string", (True, MISSING), "a folder"),
    ("`where` (string, optional): a folder", "where", "string", (True, MISSING), "a folder"),
    ("`where` (required): an optional-looking thing", "where", "any", REQUIRED, "an optional-looking thing"),
    ("`where`: a folder (optional)", "where", "any", (True, MISSING), "a folder (optional)"),
    ("`where`: not optional", "where", "any", REQUIRED, "not optional"),
    ("`n`: integer (optional, default 3) — how many", "n", "integer", (True, 3), "how many"),
    ("`n`: integer, default `2`. How many", "n", "integer", (True, 2), "How many"),
    ("`m`: string, optional, default fast: the mode", "m", "string", (True, "fast"), "the mode"),
    (
        '`roots`: Path[] - optional roots; default `["src"]`',
        "roots",
        "Path[]",
        (True, ["src"]),
        'optional roots; default `["src"]`',
    ),
    ("`budget`: rounds at most. Default 4.", "budget", "number", (True, 4), "rounds at most. Default 4."),
    (
        '`topic`: a question (default: "the current state")',
        "topic",
        "any",
        (True, "the current state"),
        'a question (default: "the current state")',
    ),
    ("`out`: a folder; default `dist`.", "out", "any", (True, "dist"), "a folder; default `dist`."),
    (
        "`live`: whether to. Defaults to `true` here",
        "live",
        "boolean",
        (True, True),
        "whether to. Defaults to `true` here",
    ),
    (
        "`root`: a folder; default `<home>/src` unless set",
        "root",
        "any",
        REQUIRED,
        "a folder; default `<home>/src` unless set",
    ),
    ("`why`: a reason. Default: only errors count.", "why", "any", REQUIRED, "a reason. Default: only errors count."),
    ("`by`: by default 3", "by", "any", REQUIRED, "by default 3"),
    ("`path`: Path<RepositoryRoot> - a local path", "path", "Path<RepositoryRoot>", REQUIRED, "a local path"),
    ("`list`: Json<Failure[]> - what failed", "list", "Json<Failure[]>", REQUIRED, "what failed"),
    ("`subject`: run<enrichment> - a run", "subject", "run<enrichment>", REQUIRED, "a run"),
    ("`prior`: run — an optional earlier run", "prior", "run", (True, MISSING), "an optional earlier run"),
    ('`verdict`: "accept" | "reject" -- it', "verdict", '"accept" | "reject"', REQUIRED, "it"),
    ("`kind`: `string` — it", "kind", "string", REQUIRED, "it"),
    ('`mode`: string - "all" (every one), or none', "mode", "string", REQUIRED, '"all" (every one), or none'),
    ("`proceeded`: boolean", "proceeded", "boolean", REQUIRED, ""),
    ("`passed`: boolean true only when it passed", "passed", "any", REQUIRED, "boolean true only when it passed"),
    ("`rounds`: number of rounds", "rounds", "any", REQUIRED, "number of rounds"),
    ("`result`: object containing `{ a, b }`.", "result", "any", REQUIRED, "object containing `{ a, b }`."),
    ("`note`: warning: do not", "note", "any", REQUIRED, "warning: do not"),
    ("`n`: integer: how many", "n", "integer", REQUIRED, "how many"),
    ("`level`: how good (beginner, expert)", "level", "any", REQUIRED, "how good (beginner, expert)"),
    (
        'tiers: object[]  -- e.g. [{ model: "big", count: 3 }]',
        "tiers",
        "object[]",
        REQUIRED,
        'e.g. [{ model: "big", count: 3 }]',
    ),
]


@pytest.mark.parametrize(("text", "name", "kind", "given", "description"), INTERFACE)
def test_interface_items(text: str, name: str, kind: str, given: tuple[bool, Any], description: str) -> None:
    made, faults = item(text)
    assert (made.name, made.type.text, (made.optional, made.default), made.description) == (
        name,
        kind,
        given,
        description,
    )
    assert faults == []


CONFIG: list[tuple[str, str, Any, str]] = [
    # text, type, default, description
    ("`n` (integer, default: 3): rounds", "integer", 3, "rounds"),
    ("n (integer, default: 3): rounds", "integer", 3, "rounds"),
    ("`n` (integer, default 3) — rounds", "integer", 3, "rounds"),
    ("`n` (integer; default: 3; min: 1)", "integer", 3, ""),
    ("`n` (default: 3)", "number", 3, ""),
    ("`n` (rounds, default: 3)", "rounds", 3, ""),
    ("`n` (rounds): how many", "rounds", MISSING, "how many"),
    ("`n`: 3", "number", 3, ""),
    ("`n`: 3 — rounds", "number", 3, "rounds"),
    ("`n`: -0.5: offset", "number", -0.5, "offset"),
    ("`n`: integer, default `2`", "integer", 2, ""),
    ("`n`: integer, default: 2", "integer", 2, ""),
    ("`n`: integer (default 2)", "integer", 2, ""),
    ("`n`: true", "boolean", True, ""),
    ("`n`: [1, 'a']", "any", [1, "a"], ""),
    ("`n`: `fast`: the mode", "any", "fast", "the mode"),
    ("`n`: fast", "any", MISSING, "fast"),
    ("`n` (string, default: Corpus A): label", "string", "Corpus A", "label"),
    ("`n` (string, default: \"a, b\"): label", "string", "a, b", "label"),
    ("`n` (string, default: a, b): label", "string", "a, b", "label"),
    ("`n` (string, default: don't): label", "string", "don't", "label"),
    ("`n` (string, default: rock 'n roll): it's fine (yes)", "string", "rock 'n roll", "it's fine (yes)"),
    ("`n` (string, default: 3): a text", "string", "3", "a text"),
    ("`n` (string, default: none): nothing", "string", None, "nothing"),
    ("`n` (string | null, default: null): nothing", "string | null", None, "nothing"),
    ("`n` (object, default: {'a': {'b': [1, 2]}}): o", "object", {"a": {"b": [1, 2]}}, "o"),
    ("`n` (object[], default: {'m': 'x', 'c': 3}, {'m': 'y', 'c': 2}): tiers (one per model): all",
     "object[]", [{"m": "x", "c": 3}, {"m": "y", "c": 2}], "tiers (one per model): all"),
    ("`n` (object[], default: {'m': True}): one", "object[]", [{"m": True}], "one"),
    ("`n` (string[], default: [a, \"b\"]): names", "string[]", ["a", "b"], "names"),
    ("`n` (string[], default: a, b): names", "string[]", ["a", "b"], "names"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "default", "description"), CONFIG)
def test_config_keys(text: str, kind: str, default: Any, description: str) -> None:
    made, faults = item(text, config=True)
    assert (made.name, made.type.text, made.default, made.description) == ("n", kind, default, description)
    assert made.optional is (default is not MISSING)
    assert faults == []


def test_bounds() -> None:
    made, faults = item("`n` (integer, default: 3, min: 1, max: 9): rounds", config=True)
    assert (made.minimum, made.maximum, made.default) == (1, 9, 3)
    made, _ = item("`mode` (string, one of: fast, slow, default: fast)", config=True)
    assert (made.one_of, made.default) == (("fast", "slow"), "fast")
    made, _ = item("`mode` (one of: 1 | 2)", config=True)
    assert made.one_of == (1, 2)
    assert faults == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "`n` (integer, default: many): x",
            ("P211", 'the default of `n` is "many", a string, where integer is declared', "many"),
        ),
        ("`n` (integer, default: 0, min: 1)", ("P211", "the default of `n` is 0, less than the minimum of 1", "0")),
        (
            "`n` (number, default: 2.5, max: 1)",
            ("P211", "the default of `n` is 2.5, more than the maximum of 1", "2.5"),
        ),
        ("`n` (default: a, one of: b, c)", ("P211", 'the default of `n` is "a", none of "b", "c"', "a")),
        ("`n` (integer, min: few)", ("P107", "`n`: the minimum must be a number", "few")),
        ("`n` (integer, default: 3: x", ("P107", "`n`: this bracket is never closed", "(")),
    ],
)
def test_items_that_contradict_themselves(text: str, fault: tuple[str, str, str]) -> None:
    assert item(text, config=True)[1] == [fault]


@pytest.mark.parametrize(
    "text",
    [
        "Pattern instance receives:", "Round 1: it starts", "if it fails: nothing", "`status` facet (material): x",
        "`a.b`: x", "`worker_1..worker_N`: x", "`two words`: x", "three words", "`a` then b", "1: x", "-: x", "", "(",
    ],
)  # fmt: skip
def test_what_is_no_item(text: str) -> None:
    assert read_shape(Flow.of([(text, 0)])) is None


def test_spans_of_texts_joined_from_lines() -> None:
    source = "`n` (integer,\n     default: many): x"
    shape = read_shape(Flow.of([(source[:13], 0), (source[14:], 14)]), config=True)
    assert shape is not None
    faults = Faults(Source("x", source))
    make_item(shape, faults)
    (fault,) = faults.found
    assert fault.span is not None
    assert source[fault.span.start : fault.span.end] == "many"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("string", (("string", False),)),
        ("String", (("string", False),)),
        ("int[]", (("integer", True),)),
        ("string | null", (("string", False),)),
        ("a|b[]", (("a", False), ("b", True))),
        ("array", (("any", True),)),
        ("string[][]", (("any", True),)),
        ("Map<string,List<int>>", (("Map", False),)),
        ('"x y" | "z"', (('"x y"', False), ('"z"', False))),
    ],
)
def test_types(text: str, names: tuple[tuple[str, bool], ...]) -> None:
    declared = parse_type(text)
    assert declared is not None
    assert (declared.text, declared.names) == (text, names)


@pytest.mark.parametrize("text", ["", "two words", "a|", "null", "`string", "{ a: b }", "a<b", "[]"])
def test_what_is_no_type(text: str) -> None:
    assert parse_type(text) is None


def test_known_types() -> None:
    def known(text: str) -> bool:
        declared = parse_type(text)
        return declared is not None and is_known(declared)

    assert known("string[] | run")
    assert known('"a" | "b"')
    assert not known("Report | string")


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("string", ["x", None], [1, True, [], {}]),
        ("number", [1, 2.5], ["1", True]),
        ("integer", [1, 2.0], [2.5, False]),
        ("boolean", [True], [1, "true"]),
        ("object", [{}], [[]]),
        ("string[]", [["a"], [], "a"], [1, [1]]),
        ('"a" | number', ["a", 1], ["b"]),
        ("Report", [1, "x", []], []),
        ("any", [1, "x", []], []),
    ],
)
def test_values_that_fit_a_type(kind: str, good: list[Any], bad: list[Any]) -> None:
    declared = parse_type(kind)
    assert declared is not None
    assert [value for value in good if not fits(value, declared)] == []
    assert [value for value in bad if fits(value, declared)] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,000", "1,000"), ("80%", "80%"), ("1e999", "1e999"), ("'open", "'open"), ("[1", "[1"), ("", ""),
        ("[" * 100, "[" * 100), ('"a\\n\\"\\u00e9"', 'a\n"é'), ("{'a': 1, b: none,}", {"a": 1, "b": None}),
        ("{a: 1} x", "{a: 1} x"), ("NaN", "NaN"), ("9" * 400, "9" * 400), ("'\\ud800'", "'\\ud800'"),
        ("{1: 2}", "{1: 2}"),
    ],
)  # fmt: skip
def test_defaults_of_no_type(text: str, value: Any) -> None:
    assert read_default(text, ANY) == value


def test_choices() -> None:
    declared = parse_type("string")
    assert declared is not None
    assert read_choices("[a, 'b']", declared) == ("a", "b")
    assert read_choices("", declared) == ()


def test_attributes_are_not_made_up() -> None:
    for text in ("see below", "beginner, expert", "one per model", "max 5 rounds", ""):
        assert read_attributes(text, 0, len(text)) is None
    assert default_in_sentence("the default is chosen by the caller") is None
    assert default_in_sentence("default 3 rounds") is None


def test_misfit_counts_other_types() -> None:
    number, text = parse_type("number"), parse_type("string")
    assert number is not None
    assert text is not None
    key = Item("n", Span(0, 0), number, "", False, other_types=(text,))
    assert misfit("x", key) is None
    assert misfit([], key) == "is [], a list, where number or string is declared"
