"""Where the condition of a loop ends: `(max: …)` and `as NAME` may follow it on its line (L30)."""

from __future__ import annotations

import re

_LOOP_AS = re.compile(r"[ \t]+as[ \t]+[^\W\d][\w-]*[ \t]*\Z")
_LOOP_MAX = re.compile(r"\([ \t]*max[ \t]*:")


def end_of_condition(inner: str) -> int:
    """Where the condition of a loop ends: before `as NAME` and `(max: …)`, in either order (L30)."""
    cut = len(inner.rstrip())
    for _ in range(2):
        named = _LOOP_AS.search(inner, 0, cut)
        if named:
            cut = len(inner[: named.start()].rstrip())
        if cut and inner[cut - 1] == ")":
            opened = _opening_of(inner, cut - 1)
            if opened is not None and _LOOP_MAX.match(inner, opened):
                cut = len(inner[:opened].rstrip())
    return cut


def _opening_of(text: str, close: int) -> int | None:
    depth = 0
    for position in range(close, -1, -1):
        if text[position] == ")":
            depth += 1
        elif text[position] == "(":
            depth -= 1
            if depth == 0:
                return position
    return None
