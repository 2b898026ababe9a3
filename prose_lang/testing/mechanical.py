"""The closed table of what can be said of a value and looked up mechanically. Anything else is for other layers.

    exists, is present          not null                      does not exist, is missing, is absent      null
    contains X                  a part of a text, an element of a list, a key of an object
    contains the exact phrase X the same; `does not contain …` is the opposite of both
    starts with X, ends with X  of a text
    equals X, is X, is not X    the same value, for X in quotes or backticks, a number, true, false, null, [list], {..}
    is one of X, Y, Z           one of several values; bare words are texts
    at least, at most, exactly, over, under N  words, characters, sentences, lines of a text, items of a list or object
    between A and B …           both ends included
    is a number, text, string, list, object, boolean

X stands in quotes or in backticks; in backticks `3` is the number and the text. A word is what white space separates,
a sentence ends at `.`, `!` or `?` before white space or the end, a line at a line break. Case counts. Where there is
no value, nothing holds but that it is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from prose_lang.conditions.shapes import shown as brief
from prose_lang.documents.literals import NotALiteral, read_literal
from prose_lang.testing.comparing import same, shown
from prose_lang.text import amount
from prose_lang.values import Value, contains, kind_of

_EXISTS = re.compile(r"exists|is present|is there", re.IGNORECASE)
_MISSING = re.compile(r"does not exist|is missing|is absent", re.IGNORECASE)
_CONTAINS = re.compile(
    r"(?:(?P<no>does not contain)|contains)(?P<exact>[ \t]+the[ \t]+exact[ \t]+(?:phrase|text|words?))?[ \t]+(?P<x>.+)",
    re.IGNORECASE | re.DOTALL,
)
_EDGE = re.compile(r"(?P<which>starts|ends)[ \t]+with[ \t]+(?P<x>.+)", re.IGNORECASE | re.DOTALL)
_ONE_OF = re.compile(r"(?:is[ \t]+)?one[ \t]+of:?[ \t]+(?P<x>.+)", re.IGNORECASE | re.DOTALL)
_KIND = re.compile(r"is[ \t]+(?:an?[ \t]+)?(?P<kind>number|text|string|list|object|boolean)", re.IGNORECASE)
_EQUALS = re.compile(r"(?:equals|is(?P<no>[ \t]+not)?)[ \t]+(?P<x>.+)", re.IGNORECASE | re.DOTALL)
_UNIT = r"[ \t]+(?P<unit>word|character|sentence|line|item)s?(?:[ \t]+long)?"
_BOUND = re.compile(
    r"(?:is[ \t]+|has[ \t]+)?"
    r"(?P<how>at[ \t]+least|at[ \t]+most|exactly|over|under|(?:more|fewer|less)[ \t]+than)[ \t]+(?P<n>\d+)"
    rf"{_UNIT}",
    re.IGNORECASE,
)
_BETWEEN = re.compile(rf"(?:is[ \t]+|has[ \t]+)?between[ \t]+(?P<a>\d+)[ \t]+and[ \t]+(?P<b>\d+){_UNIT}", re.IGNORECASE)
_TICKED = re.compile(r"`([^`]*)`")
_PIECE = re.compile(r'"(?:\\.|[^"\\])*"|`[^`]*`|,|[^\s,"`]+')
_SENTENCE_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s|$)")
_KINDS = MappingProxyType({"text": "string"})
_BOUNDS: Mapping[str, Callable[[int, int], bool]] = MappingProxyType(
    {
        "at least": int.__ge__,
        "at most": int.__le__,
        "exactly": int.__eq__,
        "over": int.__gt__,
        "more than": int.__gt__,
        "under": int.__lt__,
        "fewer than": int.__lt__,
        "less than": int.__lt__,
    }
)


class Answer(NamedTuple):
    """Whether it holds, and what was seen."""

    holds: bool
    reason: str


class Statement(NamedTuple):
    """A row of the table with what it says. `existence` rows are about whether there is a value at all."""

    decide: Callable[[Value], Answer]
    existence: bool = False


def read_statement(text: str) -> Statement | None:
    """The row of the table that a text is; None if it is none of them.

    >>> read_statement("under 3 words").decide("one two")
    Answer(holds=True, reason='it has 2 words')
    >>> read_statement("reads like a haiku") is None
    True
    """
    said = text.strip()
    plain = said.removesuffix(".")
    if _EXISTS.fullmatch(plain):
        return Statement(lambda value: Answer(value is not None, _there(value)), existence=True)
    if _MISSING.fullmatch(plain):
        return Statement(lambda value: Answer(value is None, _there(value)), existence=True)
    if match := _BOUND.fullmatch(plain):
        compare, bound = _BOUNDS[" ".join(match["how"].lower().split())], int(match["n"])
        return _counted(match["unit"].lower(), lambda number: compare(number, bound))
    if match := _BETWEEN.fullmatch(plain):
        least, most = int(match["a"]), int(match["b"])
        return _counted(match["unit"].lower(), lambda number: least <= number <= most)
    if match := _KIND.fullmatch(plain):
        kind = _KINDS.get(match["kind"].lower(), match["kind"].lower())
        return Statement(lambda value: Answer(kind_of(value) == kind, f"it is {_a(value)}"))
    if match := _CONTAINS.fullmatch(said):
        return _containing(match)
    if match := _EDGE.fullmatch(said):
        return _edge(match)
    if match := _ONE_OF.fullmatch(said):
        return _one_of(match["x"])
    if match := _EQUALS.fullmatch(said):
        return _equal(match)
    return None


# --- rows ------------------------------------------------------------------------------------------------------------


def _counted(unit: str, holds: Callable[[int], bool]) -> Statement:
    def decide(value: Value) -> Answer:
        number = count(value, unit)
        if number is None:
            return Answer(False, f"it is {_a(value)}, which has no {unit}s")
        return Answer(holds(number), f"it has {amount(number, unit)}")

    return Statement(decide)


def count(value: Value, unit: str) -> int | None:
    """How many words, characters, sentences, lines or items a value has; None if it is of another kind.

    >>> count("It rains. It pours!  Run", "sentence"), count("a b", "word"), count({"a": 1}, "item"), count(3, "word")
    (3, 2, 1, None)
    """
    if unit == "item":
        return len(value) if isinstance(value, (list, dict)) else None
    if not isinstance(value, str):
        return None
    match unit:
        case "word":
            return len(value.split())
        case "character":
            return len(value)
        case "line":
            return len(value.splitlines())
        case _:
            return sum(1 for part in _SENTENCE_END.split(value) if part.strip())


def _containing(match: re.Match[str]) -> Statement | None:
    wanted = _operand(match["x"])
    if wanted is None or (match["exact"] and not isinstance(wanted[0], str)):
        return None
    negated = match["no"] is not None

    def decide(value: Value) -> Answer:
        if value is None:
            return Answer(False, "it is null")
        found = [contains(value, one) for one in wanted]
        if all(one is None for one in found):
            return Answer(False, f"{_a(value)} contains nothing of the kind")
        holds = any(found)
        without = "" if holds else f", without {shown(wanted[0], 60)}"
        return Answer(holds is not negated, f"it is {brief(value)}{without}")

    return Statement(decide)


def _edge(match: re.Match[str]) -> Statement | None:
    wanted = _operand(match["x"])
    if wanted is None or not isinstance(wanted[0], str):
        return None
    text, start = wanted[0], match["which"].lower() == "starts"

    def decide(value: Value) -> Answer:
        if not isinstance(value, str):
            return Answer(False, f"it is {_a(value)}, not a text")
        end = value[:60] if start else value[-60:]
        holds = value.startswith(text) if start else value.endswith(text)
        return Answer(holds, f"it {'starts' if start else 'ends'} with {shown(end)}")

    return Statement(decide)


def _equal(match: re.Match[str]) -> Statement | None:
    wanted = _operand(match["x"])
    if wanted is None:
        return None
    negated = match["no"] is not None

    def decide(value: Value) -> Answer:
        holds = any(same(one, value) for one in wanted)
        return Answer(holds is not negated, f"it is {shown(value, 100)}")

    return Statement(decide)


def _one_of(text: str) -> Statement | None:
    choices = [_operand(part) or _word(part) for part in _parts(text)]
    if len(choices) < 2 or not all(choices):
        return None

    def decide(value: Value) -> Answer:
        holds = any(same(one, value) for choice in choices if choice for one in choice)
        return Answer(holds, f"it is {shown(value, 100)}")

    return Statement(decide)


def _parts(text: str) -> list[str]:
    """The choices of a list: what commas separate, and an `or` before the last; neither counts in quotes."""
    pieces = _PIECE.findall(text)
    choices: list[list[str]] = [[]]
    for piece in pieces:
        if piece == "," or piece.lower() == "or":
            choices.append([])
        else:
            choices[-1].append(piece)
    return [" ".join(choice) for choice in choices if choice]


# --- values that are written out -------------------------------------------------------------------------------------


def _operand(text: str) -> tuple[Any, ...] | None:
    """The values that a text may mean: one, or for backticks the text and what is written in it. None for prose."""
    for said in (text.strip(), text.strip().removesuffix(".")):
        if match := _TICKED.fullmatch(said):
            written = _literal(match[1])
            return (match[1], *written) if written and not isinstance(written[0], str) else (match[1],)
        if found := _literal(said):
            return found
    return None


def _literal(text: str) -> tuple[Any] | None:
    try:
        value, end = read_literal(text)
    except NotALiteral:
        return None
    return (value,) if end == len(text) else None


def _word(text: str) -> tuple[str] | None:
    word = text.removesuffix(".")
    return (word,) if re.fullmatch(r"\w[\w-]*", word) else None


def _there(value: Value) -> str:
    return "there is none" if value is None else f"it is {brief(value)}"


def _a(value: Value) -> str:
    kind = "text" if kind_of(value) == "string" else kind_of(value)
    return kind if kind == "null" else f"an {kind}" if kind == "object" else f"a {kind}"
