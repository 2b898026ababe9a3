"""Pieces: the tokens of a line, each with the trivia around it told as comments and line breaks."""

from __future__ import annotations

import re

import attrs

_LINE_BREAK = re.compile(r"\r\n|\n|\r")


@attrs.frozen
class Remark:
    """A comment on a line of its own: its text, the column it stood at, and whether a blank line is above it."""

    text: str
    column: int
    blank: bool


@attrs.frozen
class Trivia:
    """What stands between two tokens. `trailing` is a comment on the line of the first of them.

    `broken` tells that there is a line break, `blank` that a blank line stands right above the second token.
    """

    trailing: str | None
    remarks: tuple[Remark, ...]
    broken: bool
    blank: bool


_NOTHING = Trivia(None, (), False, False)


@attrs.define(eq=False)
class Piece:
    """A token to be printed. `leading` comments stand on lines of their own above it, `trailing` after it on its line.

    `role` and `glued` (nothing may stand between it and the piece before it) are given by `spacing.py`.
    """

    kind: str
    text: str
    broken: bool = False
    blank: bool = False
    leading: tuple[Remark, ...] = ()
    trailing: str | None = None
    role: str = ""
    glued: bool = False


def read_trivia(text: str, *, line_start: bool, base: int = 0) -> Trivia:
    """The comments and line breaks of a trivia text; `line_start` tells that it begins a line.

    >>> read_trivia("  # one\\n\\n  # two\\n", line_start=False)
    Trivia(trailing='# one', remarks=(Remark(text='# two', column=2, blank=True),), broken=True, blank=False)
    """
    if not line_start and (not text or text.isspace()) and "\n" not in text and "\r" not in text:
        return _NOTHING  # as between most tokens
    lines = _LINE_BREAK.split(text)
    broken = len(lines) > 1
    trailing = None
    if not line_start:
        trailing = _comment(lines.pop(0))
    remarks: list[Remark] = []
    blank = False
    for number, line in enumerate(lines, 1):
        comment = _comment(line)
        if comment is not None:
            remarks.append(Remark(comment, max(0, len(line[: line.index("#")].expandtabs(4)) - base), blank))
            blank = False
        elif number < len(lines):  # what is left of the last line is the indentation of what follows
            blank = True
    return Trivia(trailing, tuple(remarks), broken, blank)


def _comment(line: str) -> str | None:
    start = line.find("#")
    return None if start < 0 else line[start:].rstrip(" \t")
