"""The shape of a declared item (L3–L5): a name, then in any mix a type, attributes, a dash and a description.

    `topic`: the question                       name: string -- the question
    `depth`: (optional, default 2) how deep     `max_rounds` (integer, default: 3): rounds     `plain`: 3

What has another shape is no declaration; whether a declaration is wanted is for the sections to say.
"""

from __future__ import annotations

import re

import attrs

from prose_lang.documents.attributes import (
    Attributes,
    closing,
    default_in_sentence,
    read_attributes,
    says_optional,
    type_before,
)
from prose_lang.documents.literals import NotALiteral, read_literal
from prose_lang.documents.model import Type
from prose_lang.documents.page import Flow
from prose_lang.documents.types import is_known
from prose_lang.text import Span

#: A name of the language (L9): letters, digits, `_` and `-`, not ending in `-`.
NAME = r"[^\W\d](?:[\w-]*\w)?"
_HEAD = re.compile(rf"(?P<open>[*`]*)(?P<name>{NAME})(?P<inner>:(?=[*`]))?(?P<close>[*`]*)")
_SEPARATOR = re.compile(r"[ \t]*(?::|--+|—|–|(?<=[ \t])-(?=[ \t]))[ \t]*")
_BLANKS = re.compile(r"[ \t]*")
_TICKED_VALUE = re.compile(r"`([^`\n]+)`")
#: Where attributes without brackets end: at a dash, a full stop, or a colon that belongs to none of them.
_LISTED_END = re.compile(r"--|—|–|[ \t]-[ \t]|\.(?=[ \t]|$)|(?<!default)(?<!min)(?<!max)(?<!imum)(?<!of):[ \t]")
_AFTER_VALUE = re.compile(r"[ \t]*(?:$|[.,;:(]|--|—|–|-[ \t])")


@attrs.frozen
class Shape:
    """An item with a name. `marked` names stand in backticks or stars; `separator` is what follows the name.

    The places that `attributes` hold are those of the flow's text.
    """

    flow: Flow
    name: str
    span: Span
    marked: bool
    separator: str
    attributes: Attributes
    description: str
    optional: bool

    @property
    def type(self) -> Type | None:
        return self.attributes.type

    @property
    def typed(self) -> bool:
        """Whether it has a type that the language knows, which prose hardly ever has by chance."""
        return self.type is not None and is_known(self.type)

    def part(self, place: tuple[int, int]) -> str:
        """The text at a place."""
        return self.flow.text[slice(*place)]


def read_shape(flow: Flow, *, config: bool = False) -> Shape | None:
    """The shape of a list item's text, or None if it has no name. In Config a value may stand right after the colon."""
    text = flow.text
    head = _HEAD.match(text)
    if head is None or bool(head["open"]) != bool(head["close"]):
        return None
    reader = _Reader(text, head.end(), config)
    remark = "" if reader.group() else reader.remark()
    separator = reader.separator() or head["inner"] or ""
    if not separator and reader.at < len(text) and not (head["open"] and reader.found != Attributes()):
        return None
    if separator:
        reader.details()
    found = reader.found
    if found.default is None and (place := default_in_sentence(text[reader.at :])):
        found = attrs.evolve(found, default=(place[0] + reader.at, place[1] + reader.at))
    return Shape(
        flow=flow,
        name=head["name"],
        span=flow.span(head.start("name"), head.end("name")),
        marked=bool(head["open"]),
        separator=separator,
        attributes=found,
        description=f"{remark} {text[reader.at :].strip()}".strip(),
        optional=not found.required and (found.optional or says_optional(text[head.end() :])),
    )


class _Reader:
    """Reads on from the name; `at` is where it is, and in the end where the description starts."""

    def __init__(self, text: str, at: int, config: bool) -> None:
        self.text = text
        self.at = at
        self.config = config
        self.found = Attributes()

    def separator(self) -> str:
        """Pass a colon or a dash; the text of it."""
        match = _SEPARATOR.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match.group().strip()

    def group(self) -> bool:
        """Pass `(…)` if it lists attributes."""
        start = self.blank(self.at)
        if self.text[start : start + 1] != "(":
            return False
        end = closing(self.text, start)
        if end is None:
            return self.unclosed(start)
        found = read_attributes(self.text, start + 1, end, lenient=self.config)
        if found is None:
            return False
        self.found = self.found.over(found)
        self.at = end + 1
        return True

    def remark(self) -> str:
        """Pass `(…)` between the name and the separator, if it is no list of attributes; the text of it."""
        start = self.blank(self.at)
        end = closing(self.text, start) if self.text[start : start + 1] == "(" else None
        if end is None or not _SEPARATOR.match(self.text, end + 1):
            return ""
        self.at = end + 1
        return self.text[start : end + 1]

    def unclosed(self, start: int) -> bool:
        # Prose may leave a bracket open; in Config it hides a default, so it is said there.
        if self.config and read_attributes(self.text, start + 1, len(self.text)):
            fault = ("this bracket is never closed", start, start + 1)
            self.found = attrs.evolve(self.found, faults=(*self.found.faults, fault))
        return False

    def details(self) -> None:
        """Pass a type, a value and attributes; then the dash before the description."""
        if not self.group() and not (self.config and self.value()):
            self.type()
        else:
            self.separator()
            if self.found.type is None:
                self.type()
        if self.group():
            self.separator()
        self.at = self.blank(self.at)

    def type(self) -> None:
        """Pass a type that is followed by a dash, a group, a comma with attributes, or nothing."""
        before = type_before(self.text, self.at)
        if before is None:
            return
        declared, end = before
        start, self.at = self.at, end
        mark = self.text[self.blank(end) :][:1]
        known = is_known(declared)
        if known and ((mark == "," and self.listed(end)) or (mark == "(" and self.group())):
            self.separator()
        elif (known and not mark) or ((known or mark != ":") and self.separator()):
            pass
        else:
            self.at = start
            return
        if self.found.type is None:
            self.found = attrs.evolve(self.found, type=declared)

    def listed(self, at: int) -> bool:
        """Pass the attributes after `TYPE,`."""
        start = self.blank(at) + 1
        match = _LISTED_END.search(self.text, start)
        end = match.start() if match else len(self.text)
        found = read_attributes(self.text, start, end)
        if found is None:
            return False
        self.found = self.found.over(found)
        self.at = end + 1 if self.text[end : end + 1] == "." else end
        return True

    def value(self) -> bool:
        """Pass a value that is the default: JSON, or anything in backticks."""
        if ticked := _TICKED_VALUE.match(self.text, self.at):
            start, end = ticked.span()
        else:
            start = self.at
            try:
                _, end = read_literal(self.text, start)
            except NotALiteral:
                return False
        if not _AFTER_VALUE.match(self.text, end):
            return False
        self.found = attrs.evolve(self.found, default=self.found.default or (start, end))
        self.at = end
        return True

    def blank(self, at: int) -> int:
        match = _BLANKS.match(self.text, at)
        return match.end() if match else at
