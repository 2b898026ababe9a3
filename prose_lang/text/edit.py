"""Changes to a text, as places and what comes there. What should be changed is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from prose_lang.text.source import Span


@attrs.frozen
class Edit:
    """The text in `span` becomes `replacement`; an empty span is a place where something is put in."""

    span: Span
    replacement: str


def overlap(first: Edit, second: Edit) -> bool:
    """Whether two edits change the same characters, or one changes text that the other puts something into.

    >>> overlap(Edit(Span(0, 2), "x"), Edit(Span(1, 3), "y")), overlap(Edit(Span(0, 2), "x"), Edit(Span(2, 3), "y"))
    (True, False)
    """
    return first.span.start < second.span.end and second.span.start < first.span.end


def apply(text: str, edits: Iterable[Edit]) -> str:
    """A text with all edits made; places are those of the text as it was, in any order.

    What is put in at one place keeps the order in which it was given. Raises ValueError for edits that overlap or
    stand outside of the text, for then nobody can say what is meant.

    >>> apply("let x = 1", [Edit(Span(0, 4), ""), Edit(Span(8, 9), "2")])
    'x = 2'
    """
    ordered = sorted(edits, key=lambda edit: edit.span)
    parts: list[str] = []
    position = 0
    before: Edit | None = None
    for edit in ordered:
        start, end = edit.span
        if not 0 <= start <= end <= len(text):
            raise ValueError(f"an edit of {start}:{end} in a text of {len(text)} characters")
        if before is not None and (start < position or overlap(before, edit)):
            raise ValueError(f"edits overlap at {start}: {before} and {edit}")
        parts += (text[position:start], edit.replacement)
        position, before = end, edit
    parts.append(text[position:])
    return "".join(parts)
