"""A source as lines with their places, and the joined texts that are read from several of them.

Positions always are those of the host text, whatever its line breaks and whether a byte order mark comes first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate, chain, repeat

import attrs

from prose_lang.text import Source, Span

_LINE_END = re.compile(r"\r\n|\n|\r")


@attrs.frozen(eq=False)
class Page:
    """The lines of a source, counted from 0, without their line breaks; `starts` has one place more, the end."""

    source: Source
    lines: tuple[str, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, source: Source) -> Page:
        """The lines of a source; the byte order mark belongs to none of them.

        >>> page = Page.of(Source("a", "\\ufeffone\\r\\ntwo"))
        >>> page.lines, page.starts
        (('one', 'two'), (1, 6, 9))
        """
        text = source.text
        start = 1 if text.startswith("\ufeff") else 0
        lines = _LINE_END.split(text[start:])
        # Where all breaks are one character long, places follow from the lengths of the lines.
        breaks = (len(match.group()) for match in _LINE_END.finditer(text)) if "\r" in text else repeat(1)
        lengths = (len(line) + size for line, size in zip(lines, chain(breaks, (0,)), strict=False))
        starts = list(accumulate(lengths, initial=start))
        starts[-1] = len(text)
        return cls(source, tuple(lines), tuple(starts))

    def line_span(self, line: int) -> Span:
        """A line without its line break."""
        return Span(self.starts[line], self.starts[line] + len(self.lines[line]))

    def lines_span(self, first: int, last: int) -> Span:
        """The lines from `first` up to `last`, which is not included, with their line breaks."""
        return Span(self.starts[first], max(self.starts[first], self.starts[last]))

    def text(self, first: int, last: int) -> str:
        """The text of some lines, with line feeds."""
        return "\n".join(self.lines[first:last])


@attrs.frozen(eq=False)
class Flow:
    """A text joined from pieces that stand in different places, and the way back to them."""

    text: str
    _starts: tuple[int, ...]  # of each piece in the joined text ...
    _origins: tuple[int, ...]  # ... and in the source

    @classmethod
    def of(cls, pieces: Iterable[tuple[str, int]]) -> Flow:
        """Pieces and their places, joined by single spaces, each without the blanks around it.

        >>> flow = Flow.of([("one ", 10), ("  two", 20)])
        >>> flow.text, flow.span(4, 7)
        ('one two', Span(start=22, end=25))
        """
        texts, starts, origins = [], [], []
        length = 0
        for piece, origin in pieces:
            stripped = piece.strip()
            if not stripped:
                continue
            starts.append(length)
            origins.append(origin + len(piece) - len(piece.lstrip()))
            texts.append(stripped)
            length += len(stripped) + 1
        return cls(" ".join(texts), tuple(starts), tuple(origins))

    def span(self, start: int, end: int) -> Span:
        """Where a part of the text stands in the source."""
        return Span(self._origin(start), self._origin(end - 1) + 1 if end > start else self._origin(start))

    @property
    def whole(self) -> Span:
        """Where all of it stands, from the first character to the last."""
        return self.span(0, len(self.text))

    def _origin(self, index: int) -> int:
        if not self._starts:
            return 0
        piece = bisect_right(self._starts, index) - 1
        return self._origins[piece] + index - self._starts[piece]
