"""The text of a section as items and paragraphs, read from its raw lines (L3).

Markdown swallows the indented block under "Pattern instance receives:" as a lazy continuation of the item above it,
so the lines are looked at as they stand: an item takes every line that is indented or that follows it without a
blank line. Fenced blocks and HTML are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import attrs

from prose_lang.documents.outline import Block
from prose_lang.documents.page import Flow, Page

_LINE = re.compile(r"(?P<indent>[ \t]*)(?P<bullet>[-*+](?:(?=$)|[ \t]+))?(?P<text>.*)", re.DOTALL)
_RULE = re.compile(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_NONE = re.compile(r"\(?(?:\*\*|_|\*)?none(?![\w`-])(?![ \t]+of\b)", re.IGNORECASE)


class Line(NamedTuple):
    """A line without indentation and bullet; `column` is where the bullet, or else the text, stands."""

    column: int
    bullet: bool
    text: str
    offset: int

    @property
    def inner(self) -> int:
        """The column from which a bullet below it starts a nested item: left of it, a bullet starts the next one."""
        return self.column + (2 if self.bullet else 4)


@attrs.frozen(eq=False)
class Chunk:
    """A list item with all that is indented below it, or a paragraph."""

    lines: tuple[Line, ...]

    @property
    def is_item(self) -> bool:
        return self.lines[0].bullet

    @property
    def own(self) -> tuple[Line, ...]:
        """The lines up to the first nested item: the item's own text."""
        nested = next((i for i, line in enumerate(self.lines) if i and line.bullet), len(self.lines))
        return self.lines[:nested]

    @property
    def nested(self) -> tuple[Line, ...]:
        """The lines from the first nested item on."""
        return self.lines[len(self.own) :]

    @property
    def flow(self) -> Flow:
        """The own text, joined."""
        return flow_of(self.own)

    @property
    def text(self) -> str:
        """All of the text, nested items on lines of their own."""
        return "\n".join(part for part in (self.flow.text, nested_text(self.nested)) if part)

    @property
    def says_none(self) -> bool:
        """Whether it says that there is nothing here: `None. …`, `(none)` (§9 L3)."""
        return _NONE.match(self.lines[0].text) is not None


def flow_of(lines: Sequence[Line]) -> Flow:
    """The text of some lines, joined by spaces."""
    return Flow.of((line.text, line.offset) for line in lines)


def nested_text(lines: Sequence[Line]) -> str:
    """Nested items as they stand, but without the indentation that all of them share, and unwrapped."""
    base = min((line.column for line in lines if line.bullet), default=0)
    parts: list[str] = []
    for line in lines:
        if line.bullet or not parts:
            parts.append(" " * (line.column - base) + ("- " if line.bullet else "") + line.text.strip())
        else:
            parts[-1] += " " + line.text.strip()
    return "\n".join(parts)


def read_chunks(page: Page, first: int, last: int, blocks: Sequence[Block]) -> list[Chunk]:
    """The items and paragraphs of the lines from `first` up to `last`, in their order.

    An item goes on in every line that is indented, and in unindented ones up to a blank line. A bullet left of an
    item's text starts the next item.
    """
    hidden = {line for block in blocks for line in range(block.first, block.last)}
    chunks: list[list[Line]] = []
    current: list[Line] | None = None
    after_blank = False
    for number in range(first, last):
        text = page.lines[number]
        if number in hidden or not text or text.isspace():
            after_blank = True
            continue
        if _HEADING.match(text) or (len(text) < 200 and _RULE.match(text)):
            current = None
            continue
        line = _read_line(text, page.starts[number])
        starts_item = line.bullet and (current is None or line.column < current[0].inner)
        goes_on = current is not None and (line.column > current[0].column or not after_blank)
        after_blank = False
        if current is not None and goes_on and not starts_item:
            current.append(line)
        else:
            current = [line]
            chunks.append(current)
    return [Chunk(tuple(lines)) for lines in chunks]


def _read_line(text: str, offset: int) -> Line:
    match = _LINE.match(text)
    assert match is not None, "every line matches"
    column = len(match["indent"].expandtabs(4))
    return Line(column, match["bullet"] is not None, match["text"], offset + match.start("text"))
