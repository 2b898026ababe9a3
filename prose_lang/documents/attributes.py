"""What an item says about itself besides its name: `(integer, default: 3, min: 1)`, a default in a sentence.

Everything is read leniently, because people write it in all ways; what cannot be meant as an attribute is left to
be description. The values of defaults depend on the type and are made in `declarations.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import attrs

from prose_lang.documents.literals import NotALiteral, read_literal
from prose_lang.documents.model import Type
from prose_lang.documents.types import TYPE, is_known, parse_type

_OPTIONAL = re.compile(r"(?<![\w-])(?<!not )optional(?:ly)?(?![\w-])", re.IGNORECASE)
_DEFAULT_WORD = re.compile(r"(?<![\w-])(?<!by )(?=defaults?(?![\w-]))", re.IGNORECASE)
_DEFAULT = re.compile(r"defaults?(?![\w-])(?:[ \t]+(?:to|is))?[ \t]*[:=]?[ \t]*", re.IGNORECASE)
_BOUND = re.compile(r"(?P<which>min|max)(?:imum)?[ \t]*[:=][ \t]*(?P<value>.*)", re.IGNORECASE | re.DOTALL)
_ONE_OF = re.compile(r"(?:one of|choices|enum)[ \t]*[:=][ \t]*", re.IGNORECASE)
_FLAG = re.compile(r"(?P<flag>optional|required|primary)(?![\w-])[ \t:]*", re.IGNORECASE)
_END_OF_PHRASE = re.compile(r"[ \t]*(?:$|[.;,)](?:\s|$))")
_TICKED = re.compile(r"`([^`\n]*)`")
_PLAIN_TEXT = re.compile(r"[\w./-]+")

_MARK = re.compile(r"""['"`()\[\]{},;]""")
#: No group of attributes is longer.
_WIDTH = 10_000


@attrs.frozen
class Attributes:
    """What was found, as it was written; positions are those of the text it was read from.

    `faults` are malformed bounds: what is wrong, and from where to where.
    """

    type: Type | None = None
    optional: bool = False
    required: bool = False
    primary: bool = False
    default: tuple[int, int] | None = None
    minimum: float | None = None
    maximum: float | None = None
    one_of: tuple[int, int] | None = None
    faults: tuple[tuple[str, int, int], ...] = ()

    def over(self, other: Attributes) -> Attributes:
        """These attributes, and those of another group where these say nothing."""
        return Attributes(
            type=self.type or other.type,
            optional=self.optional or other.optional,
            required=self.required or other.required,
            primary=self.primary or other.primary,
            default=self.default or other.default,
            minimum=other.minimum if self.minimum is None else self.minimum,
            maximum=other.maximum if self.maximum is None else self.maximum,
            one_of=self.one_of or other.one_of,
            faults=self.faults + other.faults,
        )


def says_optional(text: str) -> bool:
    """Whether a text has the word *optional* (§9 L3).

    >>> says_optional("an optional hint"), says_optional("not optional"), says_optional("non-optional")
    (True, False, False)
    """
    return _OPTIONAL.search(text) is not None


def closing(text: str, start: int) -> int | None:
    """The place of the bracket that closes the one at `start`; brackets in quotes do not count if that finds one.

    >>> closing('(a ")" b) c', 0), closing("(rock 'n' roll) it's", 0), closing("(rock 'n roll)", 0)
    (8, 14, 13)
    """
    end = min(len(text), start + _WIDTH)
    for quotes in (True, False):
        depth = 0
        for at, mark in _marks(text, start, end, quotes):
            if mark in "([{":
                depth += 1
            elif mark in ")]}":
                depth -= 1
                if depth == 0:
                    return at
    return None


def _marks(text: str, start: int, end: int, quotes: bool) -> Iterator[tuple[int, str]]:
    """The brackets, commas and semicolons of a text, those in quotes left out if `quotes` count."""
    quote = ""
    for match in _MARK.finditer(text, start, end):
        mark = match.group()
        if mark not in "'\"`":
            if not quote:
                yield match.start(), mark
        elif quote:
            quote = "" if mark == quote else quote
        elif quotes and (mark != "'" or not text[match.start() - 1].isalnum()):  # no apostrophe inside a word
            quote = mark


def _segments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts between the commas and semicolons of a text that stand in no bracket and in no quotes."""
    depth = 0
    first = start
    for at, mark in _marks(text, start, end, quotes=True):
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif depth <= 0:
            yield first, at
            first = at + 1
    yield first, end


def read_attributes(text: str, start: int, end: int, *, lenient: bool = False) -> Attributes | None:
    """The attributes that a part of a text lists, or None if it lists none.

    A first word that the language does not know is taken for a type only if attributes follow it, or if `lenient`.

    >>> text = "integer, default: 3, min: 1"
    >>> found = read_attributes(text, 0, len(text))
    >>> found.type.text, text[slice(*found.default)], found.minimum
    ('integer', '3', 1)
    """
    if end - start > _WIDTH:
        return None
    fields: dict[str, Any] = {}
    faults: list[tuple[str, int, int]] = []
    unsure: Type | None = None
    going_on = ""  # the attribute that goes on over commas
    for first, last in _segments(text, start, end):
        at, piece = _trimmed(text, first, last)
        if flag := _FLAG.match(piece):
            fields[flag["flag"].lower()] = True
            at, piece = at + flag.end(), piece[flag.end() :]
            going_on = ""
        after = at + len(piece)
        if not piece:
            continue
        if match := _DEFAULT.match(piece) or _ONE_OF.match(piece):
            going_on = "one_of" if match.re is _ONE_OF else "default"
            fields[going_on] = at + match.end(), after
        elif match := _BOUND.fullmatch(piece):
            going_on = ""
            which = match["which"].lower() + "imum"
            fields[which] = _number(match["value"])
            if fields[which] is None:
                faults.append((f"the {which} must be a number", at + match.start("value"), after))
        elif going_on:
            fields[going_on] = fields[going_on][0], after
        elif "type" not in fields and unsure is None and (declared := parse_type(piece)):
            if is_known(declared):
                fields["type"] = declared
            elif first == start:
                unsure = declared
    if unsure and (lenient or fields):
        fields.setdefault("type", unsure)
    return Attributes(**fields, faults=tuple(faults)) if fields else None


def _trimmed(text: str, first: int, last: int) -> tuple[int, str]:
    piece = text[first:last]
    return first + len(piece) - len(piece.lstrip()), piece.strip()


def _number(text: str) -> float | None:
    try:
        value, end = read_literal(text)
    except NotALiteral:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and end == len(text.rstrip()) else None


def default_in_sentence(text: str) -> tuple[int, int] | None:
    """Where a sentence names a default: a value after the word that ends the phrase, or a word in backticks.

    >>> text = 'optional list of roots; default `["src"]`'
    >>> text[slice(*default_in_sentence(text))]
    '`["src"]`'
    >>> default_in_sentence("Default: only thrown errors count as failure.") is None
    True
    """
    for match in _DEFAULT_WORD.finditer(text):
        after = _DEFAULT.match(text, match.start())
        at = after.end() if after else match.end()
        if ticked := _TICKED.match(text, at):
            if _PLAIN_TEXT.fullmatch(ticked[1]) or _is_literal(ticked[1]):
                return ticked.span()
            continue
        try:
            _, end = read_literal(text, at)
        except NotALiteral:
            continue
        if _END_OF_PHRASE.match(text, end):
            return at, end
    return None


def _is_literal(text: str) -> bool:
    try:
        return read_literal(text)[1] == len(text.rstrip())
    except NotALiteral:
        return False


def type_before(text: str, at: int) -> tuple[Type, int] | None:
    """The type that stands at a place of a text, and where it ends."""
    match = TYPE.match(text, at, at + _WIDTH)
    declared = parse_type(match.group()) if match else None
    return (declared, match.end()) if match and declared else None
