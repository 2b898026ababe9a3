"""A text with a name, and places in it.

Offsets count characters of the text as it was read, byte order mark included, so that text and
offsets always agree. Lines and columns count from 1, as editors do; a tab counts as one column.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

import attrs

_LINE_END = re.compile(r"\r\n|\n|\r")


class Span(NamedTuple):
    """A half-open range of character offsets, `start` included and `end` not."""

    start: int
    end: int


class Position(NamedTuple):
    """A place as people count it: line and column from 1."""

    line: int
    column: int


@attrs.frozen(eq=False)
class Source:
    """A text and the name it is reported under, usually its path.

    >>> source = Source("a.prose.md", "one\\ntwo")
    >>> source.position(4)
    Position(line=2, column=1)
    >>> source.line_text(2)
    'two'
    """

    name: str
    text: str
    _starts: list[int] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        starts = [0]
        starts.extend(match.end() for match in _LINE_END.finditer(self.text))
        object.__setattr__(self, "_starts", starts)

    @property
    def line_count(self) -> int:
        """How many lines the text has; an empty text has one."""
        return len(self._starts)

    def line_start(self, line: int) -> int:
        """Offset of the first character of a line (from 1)."""
        return self._starts[line - 1]

    def line_of(self, offset: int) -> int:
        """The line (from 1) that holds an offset."""
        return bisect_right(self._starts, offset)

    def position(self, offset: int) -> Position:
        """Line and column of an offset; offsets outside the text are clamped to it."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset)
        column = offset - self._starts[line - 1] + 1
        if line == 1 and self.text.startswith("\ufeff") and column > 1:
            column -= 1  # the byte order mark is not a column to anybody
        return Position(line, column)

    def line_text(self, line: int) -> str:
        """The characters of a line (from 1) without its line break."""
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n").removeprefix("\ufeff")
