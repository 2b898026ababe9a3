"""Values as people write them into a contract (L5): JSON, Python's quotes and words, keys without quotes, bare phrases.

3    "x y"    'x'    none    {'model': 'opus', 'count': 3}, {...}    [a, b]    { model: "opus" }    Corpus A
"""

from __future__ import annotations

import math
import re
from types import MappingProxyType

from prose_lang.documents.model import Type
from prose_lang.documents.types import is_text
from prose_lang.values import Value
from prose_lang.values.intake import MAX_INTEGER

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w]|\.\w)")
_WORD = re.compile(r"[^\W\d][\w-]*")
_BLANK = re.compile(r"\s*")
_WORDS = MappingProxyType({"true": True, "false": False, "null": None, "none": None})
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = MappingProxyType({"n": "\n", "t": "\t", "r": "\r"})
_DEPTH = 50


class NotALiteral(ValueError):
    """A text is not written as a value."""


def read_literal(text: str, start: int = 0) -> tuple[Value, int]:
    """The value that stands at a place of a text, and where it ends. Raises `NotALiteral`.

    >>> read_literal("{'model': 'opus', n: 3} and more")
    ({'model': 'opus', 'n': 3}, 23)
    """
    return _Literal(text).value(_BLANK.match(text, start).end(), 0)  # type: ignore[union-attr]


def read_default(text: str, declared: Type) -> Value:
    """What a default means for a key of the declared type: a value, or the text itself if it is none.

    >>> from prose_lang.documents.model import ANY
    >>> read_default("Corpus A", ANY), read_default("none", ANY), read_default("{'n': 1}, {'n': 2}", ANY)
    ('Corpus A', None, [{'n': 1}, {'n': 2}])
    """
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "`" and "`" not in text[1:-1]:
        text = text[1:-1].strip()
    if text.lower() in ("none", "null"):
        return None
    if is_text(declared) and text[:1] not in ("'", '"'):
        return text
    try:
        values = _sequence(text)
    except NotALiteral:
        return [part.strip() for part in text.split(",")] if declared.is_list else text
    if len(values) == 1:
        return values if declared.is_list and not isinstance(values[0], list) else values[0]
    return values if declared.is_list or all(isinstance(value, dict) for value in values) else text


def read_choices(text: str, declared: Type) -> tuple[Value, ...]:
    """The values of `one of: …`, separated by commas or bars, or as a list.

    >>> from prose_lang.documents.types import parse_type
    >>> read_choices("fast | `slow`", parse_type("string")), read_choices("[1, 2]", parse_type("number"))
    (('fast', 'slow'), (1, 2))
    """
    text = text.strip()
    if text[:1] == "[" and text[-1:] == "]":
        text = text[1:-1]
    return tuple(read_default(part, declared) for part in re.split(r"[,|]", text) if part.strip())


def _sequence(text: str) -> list[Value]:
    """One value, or several separated by commas, and nothing else."""
    values = []
    end = -1
    while end < len(text):
        value, end = read_literal(text, end + 1)
        values.append(value)
        end = _BLANK.match(text, end).end()  # type: ignore[union-attr]
        if end < len(text) and text[end] != ",":
            raise NotALiteral
    return values


class _Literal:
    """Reads one value out of a text; every method gives the value and the place after it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def value(self, at: int, depth: int) -> tuple[Value, int]:
        mark = self.text[at : at + 1]
        if mark in ("'", '"') and mark:
            return self.quoted(at)
        if mark in ("[", "{") and mark:
            if depth >= _DEPTH:
                raise NotALiteral
            return self.listed(at, depth) if mark == "[" else self.object(at, depth)
        if number := _NUMBER.match(self.text, at):
            return self.number(number.group()), number.end()
        word = _WORD.match(self.text, at)
        if word and word.group().lower() in _WORDS:
            return _WORDS[word.group().lower()], word.end()
        if word and depth:
            return word.group(), word.end()
        raise NotALiteral

    def number(self, text: str) -> Value:
        if text.lstrip("+-").isdecimal():
            number = int(text) if len(text) < 320 else MAX_INTEGER + 1
            if abs(number) <= MAX_INTEGER:
                return number
        elif math.isfinite(float(text)):
            return float(text)
        raise NotALiteral

    def quoted(self, at: int) -> tuple[str, int]:
        mark = self.text[at]
        end = at + 1
        while (found := self.text[end : end + 1]) != mark:
            if not found:
                raise NotALiteral
            end += 2 if found == "\\" else 1
        text = _ESCAPE.sub(self.escaped, self.text[at + 1 : end])
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise NotALiteral
        return text, end + 1

    def escaped(self, match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _ESCAPES.get(match[2], match[2])

    def listed(self, at: int, depth: int) -> tuple[list[Value], int]:
        values: list[Value] = []
        at = self.blank(at + 1)
        while self.text[at : at + 1] != "]":
            value, at = self.value(at, depth + 1)
            values.append(value)
            at = self.separator(at, "]")
        return values, at + 1

    def object(self, at: int, depth: int) -> tuple[dict[str, Value], int]:
        values: dict[str, Value] = {}
        at = self.blank(at + 1)
        while self.text[at : at + 1] != "}":
            if self.text[at : at + 1] in ("'", '"'):
                key, at = self.quoted(at)
            elif word := _WORD.match(self.text, at):
                key, at = word.group(), word.end()
            else:
                raise NotALiteral
            at = self.blank(at)
            if self.text[at : at + 1] != ":":
                raise NotALiteral
            value, at = self.value(self.blank(at + 1), depth + 1)
            values[key] = value
            at = self.separator(at, "}")
        return values, at + 1

    def separator(self, at: int, closing: str) -> int:
        at = self.blank(at)
        if self.text[at : at + 1] == ",":
            return self.blank(at + 1)
        if self.text[at : at + 1] != closing:
            raise NotALiteral
        return at

    def blank(self, at: int) -> int:
        return _BLANK.match(self.text, at).end()  # type: ignore[union-attr]
