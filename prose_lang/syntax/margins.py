"""Lines and how far they are indented, as far as that tells which bracket was forgotten. Pure functions of a text."""

from __future__ import annotations

import re

_INDENT = re.compile(r"[ \t]*")


def line_of(text: str, position: int) -> int:
    """The start of the line that holds a place.

    >>> line_of("a\\n  b", 4)
    2
    """
    return text.rfind("\n", 0, position) + 1


def is_first(text: str, position: int) -> bool:
    """Whether nothing but indentation stands before a place on its line."""
    return not text[line_of(text, position) : position].strip()


def margin_of(text: str, position: int) -> int:
    """How many characters the line of a place is indented by."""
    match = _INDENT.match(text, line_of(text, position))
    assert match is not None
    return match.end() - match.start()


def line_above(text: str, position: int, margin: int, first: int = 0) -> int | None:
    """The start of the line that a closing bracket hangs from: the next one above that is indented by `margin`, if the
    lines between are indented deeper, and there are such. Lines before the offset `first` are not looked at.

    >>> line_above("return\\n  a: 1\\n}", 14, 0)
    0
    """
    start = line_of(text, position)
    between = False
    while start > first:
        start = line_of(text, start - 1)
        match = _INDENT.match(text, start)
        assert match is not None
        if text[match.end() : match.end() + 1] in ("\n", "\r", ""):
            continue
        width = match.end() - start
        if width <= margin:
            return start if between and width == margin else None
        between = True
    return None
