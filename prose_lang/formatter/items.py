"""The list items of sections that declare something (L3–L5): one bullet, one way to write names.

    * **topic** -- what it is about      →      - `topic`: what it is about

Only the start of an item is touched, never its type, its attributes or its text. An edit that would change what the
document says is left out; the indented block under "Pattern instance receives:" is a table of its author's and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from prose_lang.documents.attributes import closing
from prose_lang.documents.faults import Faults
from prose_lang.documents.frontmatter import read_frontmatter
from prose_lang.documents.interface import INPUTS, OUTPUTS
from prose_lang.documents.listing import Chunk
from prose_lang.documents.model import Document, Item, Slot
from prose_lang.documents.outline import read_outline
from prose_lang.documents.page import Page
from prose_lang.documents.reader import read_document
from prose_lang.documents.sections import Part, read_drafts
from prose_lang.documents.shapes import NAME, read_shape
from prose_lang.text import Source, Span
from prose_lang.text.edit import Edit, apply

#: Sections whose items declare something; in Invariants the bullets alone are formatted.
DECLARING = ("slots", "config", *INPUTS, *OUTPUTS)
_KNOWN = (*DECLARING, "invariants")

_BULLET = re.compile(r"([ \t]*)[-*+][ \t]+(?=\S)")
_HEAD = re.compile(rf"[*`]*(?P<name>{NAME})(?P<inner>:(?=[*`]))?[*`]*(?P<blanks>[ \t]*)")
_SEPARATOR = re.compile(r"[ \t]*(?::|--+|—|–|(?<=[ \t])-(?=[ \t]))[ \t]*")


def format_items(source: Source) -> str:
    """The text of a document with its items in the one style; a bare body has none.

    >>> print(format_items(Source("-", "---\\nname: a\\nkind: function\\n---\\n### Returns\\n* **sum** -- of all\\n")))
    ---
    name: a
    kind: function
    ---
    ### Returns
    - `sum`: of all
    <BLANKLINE>
    """
    document = read_document(source)
    if document.anonymous:
        return source.text
    said = _said(document)

    def harmless(edits: Sequence[Edit]) -> bool:
        same: bool = _said(read_document(Source(source.name, apply(source.text, edits)))) == said
        return same

    kept: list[Edit] = []
    waiting = [list(_edits(source, document))]
    while waiting:  # all at once, else half of them, down to the one that does harm
        edits = waiting.pop()
        if not edits or harmless([*kept, *edits]):
            kept += edits
        elif len(edits) > 1:
            waiting += [edits[len(edits) // 2 :], edits[: len(edits) // 2]]
    return apply(source.text, kept)


def _edits(source: Source, document: Document) -> Iterator[Edit]:
    """What is to be changed, in the order of the text."""
    page = Page.of(source)
    frontmatter = read_frontmatter(page, Faults(source))
    first = frontmatter.end if frontmatter is not None else 0
    declared = _declared(document)
    for draft in read_drafts(page, read_outline(page.lines, first), first):
        for part in draft.parts:
            if part.key in _KNOWN:
                for chunk in part.chunks():
                    if chunk.is_item:
                        yield from _item_edits(part, chunk, declared)


def _declared(document: Document) -> frozenset[int | str]:
    """The places of all declared names, and the names of slots and keys, which other sections may describe again."""
    found: set[int | str] = set()
    for entry in document.entries:
        items: list[Item | Slot] = [*entry.slots, *entry.config]
        found.update(item.name for item in items)
        found.update(item.span.start for item in (*items, *entry.inputs, *entry.outputs))
    return frozenset(found)


def _item_edits(part: Part, chunk: Chunk, declared: frozenset[int | str]) -> Iterator[Edit]:
    page = part.page
    for index, line in enumerate(chunk.lines):
        if not line.bullet or not line.text:
            continue
        start = page.starts[page.source.line_of(line.offset) - 1]
        bullet = _BULLET.match(page.source.text, start)
        if bullet is None:
            continue
        text = line.text
        if index == 0 and part.key in DECLARING:
            shape = read_shape(chunk.flow, config=part.key == "config")
            if shape and (shape.marked or shape.span.start in declared or shape.name in declared):
                text = _head(text)
        made = f"{bullet[1]}- {text}"
        span = Span(start, line.offset + len(line.text))
        if made != page.source.text[span.start : span.end]:
            yield Edit(span, made)


def _head(text: str) -> str:
    """An item's text with its name in backticks, one space before brackets, and a colon before what follows."""
    head = _HEAD.match(text)
    if head is None:
        return text
    made = f"`{head['name']}`"
    at = head.end()
    if text[at : at + 1] == "(" and not head["inner"]:
        end = closing(text, at)
        if end is None:
            return text
        made += f" {text[at : end + 1]}"
        at = end + 1
    elif not head["inner"]:
        at = head.start("blanks")
    separator = _SEPARATOR.match(text, at)
    if separator is None and not head["inner"]:
        rest = text[at:]
        return f"{made} {rest.lstrip()}" if rest.strip() else made + rest
    rest = text[separator.end() if separator else at :]
    return f"{made}: {rest.lstrip()}" if rest.strip() else f"{made}:"


def _said(value: Any) -> Any:
    """What a document says, without places: equal for two documents that mean the same."""
    if isinstance(value, (Span, Source, Path)):
        return None
    if attrs.has(type(value)):
        fields = (field.name for field in attrs.fields(type(value)))
        return type(value).__name__, [_said(getattr(value, name)) for name in fields]
    if isinstance(value, Mapping):
        return [(key, _said(item)) for key, item in value.items()]
    if isinstance(value, (tuple, list)):
        return [_said(item) for item in value]
    return value
