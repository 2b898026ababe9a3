"""Diagnostics as a person reads them: what is wrong, where, the lines themselves, and what helps.

    error[P201] unknown-name: nothing here is called `topik`
      --> haiku.prose.md:12:29
       |
    11 | let topic = "rain"
    12 | let brief = "A haiku about {topik}."
       |                             ^^^^^
       |
       = help: did you mean `topic`?

Whatever comes from a file or a service is shown harmlessly: a terminal cannot be driven by it. Which findings
there are, and in which order, is decided elsewhere; so is the redaction of secrets (`redact.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from prose_lang.diagnostics.diagnostic import Diagnostic, Severity
from prose_lang.diagnostics.visible import visible, width_of
from prose_lang.text import Source, Span, amount

#: More than this nobody reads in one go; the rest is counted.
MOST_SHOWN = 50

#: Columns of a source line that are shown; a longer line is cut to a window around the span.
_COLUMNS = 160
#: How many of them are kept for what stands before the span.
_BEFORE = 40
#: Characters without width (combining marks) take no column, so characters are bounded as well.
_MOST_CHARACTERS = 4 * _COLUMNS

_LINE_BREAK = re.compile(r"\r\n|\n|\r")


def render(diagnostic: Diagnostic, *, color: bool = False, context_lines: int = 1) -> str:
    """One diagnostic as text, without a final line break.

    `context_lines` are shown above and below the line that the span starts in.

    >>> found = Diagnostic("P302", "0 is no count", Source("a.prose.md", "repeat 0:"), Span(7, 8), hint="start at 1")
    >>> print(render(found))
    error[P302] bad-loop-count: 0 is no count
      --> a.prose.md:1:8
       |
     1 | repeat 0:
       |        ^
       |
       = help: start at 1
    """
    ink = _Ink(color)
    style = _style(diagnostic.severity)
    label = diagnostic.severity.value
    label = f"{label}[{diagnostic.code}] {diagnostic.name}" if diagnostic.code else f"{label}[{diagnostic.name}]"
    first, *more = _LINE_BREAK.split(diagnostic.message)
    lines = [ink.paint(style, visible(label)) + ink.paint("1", f": {visible(first)}")]
    lines.extend(f"  {visible(line)}" for line in more)

    margin = 2
    if diagnostic.source is not None and diagnostic.span is not None:
        frame = _Frame.around(diagnostic.source, diagnostic.span, context_lines)
        margin = frame.margin
        lines.extend(frame.lines(ink, style))
    elif diagnostic.source is not None:
        lines.append(f"{' ' * margin}{ink.paint('1;34', '-->')} {visible(diagnostic.source.name)}")

    advice = [("help", diagnostic.hint)] if diagnostic.hint else []
    advice.extend(("note", note) for note in diagnostic.notes)
    if advice and diagnostic.span is not None and diagnostic.source is not None:
        lines.append(f"{' ' * margin} {ink.paint('1;34', '|')}")
    for kind, text in advice:
        first, *more = _LINE_BREAK.split(text)
        lines.append(f"{' ' * margin} {ink.paint('1;34', '=')} {ink.paint('1', f'{kind}:')} {visible(first)}")
        lines.extend(f"{' ' * (margin + 9)}{visible(line)}" for line in more)
    return "\n".join(lines)


def render_all(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """Diagnostics in the order given, at most 50 of them, and a closing count when there are several.

    Where not all are shown, errors come before what does not keep a program from running.
    """
    found = list(diagnostics)
    shown = _worth_showing(found)
    parts = [render(diagnostic, color=color) for diagnostic in shown]
    if len(found) > len(shown):
        parts.append(f"… and {len(found) - len(shown):,} more")
    if len(found) > 1:
        parts.append(_Ink(color).paint("1", _summary(found)))
    return "\n\n".join(parts)


def _worth_showing(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    if len(found) <= MOST_SHOWN:
        return list(found)
    grave_first = sorted(range(len(found)), key=lambda index: found[index].severity is not Severity.ERROR)
    return [found[index] for index in sorted(grave_first[:MOST_SHOWN])]


def _summary(found: Iterable[Diagnostic]) -> str:
    counts = Counter(diagnostic.severity for diagnostic in found)
    return ", ".join(amount(counts[severity], severity.value) for severity in Severity if counts[severity])


def _style(severity: Severity) -> str:
    match severity:
        case Severity.ERROR:
            return "1;31"
        case Severity.WARNING:
            return "1;33"
        case Severity.NOTE:
            return "1;36"


@attrs.frozen
class _Ink:
    """Puts ANSI colours around texts, or does not."""

    on: bool

    def paint(self, style: str, text: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.on and text else text


@attrs.frozen
class _Line:
    """A stretch of a source text: a line without its break and byte order mark, or what is shown of it."""

    text: str = attrs.field(repr=False)
    start: int
    end: int

    @classmethod
    def of(cls, source: Source, number: int) -> _Line:
        text = source.text
        start = source.line_start(number)
        end = source.line_start(number + 1) if number < source.line_count else len(text)
        while end > start and text[end - 1] in "\r\n":
            end -= 1
        if start == 0 and text.startswith("\ufeff"):
            start = 1
        return cls(text, start, end)

    @property
    def blank(self) -> bool:
        # Blanks wider than what is shown look blank, whatever follows; a line of megabytes is not copied for this.
        return not self.text[self.start : min(self.end, self.start + _COLUMNS)].strip()

    def clamp(self, offset: int) -> int:
        return max(self.start, min(offset, self.end))

    def window(self, place: int) -> _Line:
        """The part that is shown: all of it, or about `_COLUMNS` around a place."""
        if self.end - self.start <= _COLUMNS and width_of(self.text[self.start : self.end]) <= _COLUMNS:
            return self
        right, used = place, 0
        while right < min(self.end, place + _MOST_CHARACTERS):
            width = width_of(self.text[right])
            if used + width > _COLUMNS - _BEFORE:
                break
            right, used = right + 1, used + width
        left = place
        while left > max(self.start, place - _MOST_CHARACTERS):
            width = width_of(self.text[left - 1])
            if used + width > _COLUMNS:
                break
            left, used = left - 1, used + width
        return _Line(self.text, left, right)

    def shown(self, window: _Line) -> str:
        """The window as it is printed, with `…` where the line goes on."""
        before = "…" if window.start > self.start else ""
        after = "…" if window.end < self.end else ""
        return before + visible(self.text[window.start : window.end]) + after


@attrs.frozen
class _Frame:
    """The lines around a span, with their numbers, and carets under it. A span of several lines is marked at the
    first one."""

    source: Source
    span: Span
    numbers: range

    @classmethod
    def around(cls, source: Source, span: Span, context_lines: int) -> _Frame:
        number = source.position(span.start).line
        first = max(1, number - context_lines)
        last = min(source.line_count, number + context_lines)
        while first < number and _Line.of(source, first).blank:
            first += 1
        while last > number and _Line.of(source, last).blank:
            last -= 1
        return cls(source, span, range(first, last + 1))

    @property
    def margin(self) -> int:
        """The width of the line numbers."""
        return max(2, len(str(self.numbers[-1])))

    def lines(self, ink: _Ink, style: str) -> list[str]:
        number, column = self.source.position(self.span.start)
        margin = " " * self.margin
        bar = ink.paint("1;34", "|")
        shown = [f"{margin}{ink.paint('1;34', '-->')} {visible(self.source.name)}:{number}:{column}", f"{margin} {bar}"]
        for other in self.numbers:
            line = _Line.of(self.source, other)
            start = line.clamp(self.span.start) if other == number else line.start
            window = line.window(start)
            prefix = ink.paint("1;34", f"{other:>{self.margin}} |")
            shown.append(f"{prefix} {line.shown(window)}".rstrip())
            if other == number:
                shown.append(f"{margin} {bar} {self._carets(line, window, ink, style)}")
        return shown

    def _carets(self, line: _Line, window: _Line, ink: _Ink, style: str) -> str:
        text = self.source.text
        start = line.clamp(self.span.start)
        end = max(start, line.clamp(self.span.end))
        if self.span.end > line.end:
            while end > start and text[end - 1] in " \t":
                end -= 1
        indent = width_of(text[window.start : start]) + (1 if window.start > line.start else 0)
        carets = max(1, width_of(text[start : min(end, window.end)]))
        return " " * indent + ink.paint(style, "^" * carets)
