"""The hierarchy of headings (L1): which entry owns which sections, and where their contents stand.

`#` is the title of the file, `##` opens an inline entry, `###` a section of the entry it stands in; deeper headings
belong to their section. Text before the first section describes the entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from prose_lang.documents.faults import Faults
from prose_lang.documents.listing import Chunk, read_chunks
from prose_lang.documents.model import Fence, Section
from prose_lang.documents.outline import Block, Heading, Outline
from prose_lang.documents.page import Page
from prose_lang.text import Span


@attrs.frozen(eq=False)
class Part:
    """A section with its lines, `first` up to `last`, and the blocks among them."""

    section: Section
    page: Page
    first: int
    last: int
    blocks: tuple[Block, ...]

    @property
    def key(self) -> str:
        return self.section.key

    def chunks(self) -> list[Chunk]:
        """The items and paragraphs; none if all that it says is that there are none."""
        chunks = read_chunks(self.page, self.first, self.last, self.blocks)
        return [] if len(chunks) == 1 and chunks[0].says_none else chunks

    def fences(self, faults: Faults, *infos: str) -> list[Fence]:
        """The fenced blocks with one of these info words; one that is never closed is P107."""
        fenced = [block for block in self.blocks if block.info is not None]
        found = []
        for fence, block in zip(self.section.fences, fenced, strict=True):
            if fence.info in infos:
                found.append(fence)
                if not block.closed:
                    opening = self.page.source.text[fence.fence_span.start : fence.span.start].rstrip()
                    span = Span(fence.fence_span.start, fence.fence_span.start + len(opening))
                    faults.error("P107", "this block is never closed", span, "end it with a line of the same marks")
        return found


@attrs.define(eq=False)
class Draft:
    """An entry as its headings tell: the inline ones have a name, the one of the file has None."""

    name: str | None
    heading: Span | None
    title: str
    description: str
    parts: list[Part] = attrs.Factory(list)

    def named(self, *keys: str) -> Iterator[Part]:
        """The sections of these names, in their order."""
        return (part for part in self.parts if part.key in keys)


def read_drafts(page: Page, outline: Outline, first: int) -> list[Draft]:
    """The entries of a document whose contents start on line `first`: the one of the file, then the inline ones."""
    headings = [heading for heading in outline.headings if heading.level <= 3]
    ends = [heading.line for heading in headings[1:]] + [len(page.lines)]
    blocks = _Blocks(outline.blocks)
    draft = Draft(None, None, "", _text(page, first, headings[0].line if headings else len(page.lines)))
    drafts = [draft]
    for heading, end in zip(headings, ends, strict=bool(headings)):
        if heading.level == 3:
            draft.parts.append(_part(page, heading, end, blocks.within(heading.line + 1, end)))
            continue
        text = _text(page, heading.line + 1, end)
        if heading.level == 2:
            draft = Draft(heading.text.strip("`* "), page.line_span(heading.line), heading.text, text)
            drafts.append(draft)
        elif draft.name is None and not draft.title:
            draft.title, draft.description = heading.text, text or draft.description
    return drafts


def _text(page: Page, first: int, last: int) -> str:
    return page.text(first, last).strip()


def _part(page: Page, heading: Heading, end: int, blocks: tuple[Block, ...]) -> Part:
    first = heading.line + 1
    section = Section(
        name=heading.text,
        heading=page.line_span(heading.line),
        content=page.lines_span(first, end),
        fences=tuple(_fence(page, block) for block in blocks if block.info is not None),
    )
    return Part(section, page, first, end, blocks)


def _fence(page: Page, block: Block) -> Fence:
    assert block.info is not None, "blocks of HTML are no fences"
    last = block.last - 1 if block.closed else block.last
    content = page.lines_span(block.first + 1, last)
    opening = page.starts[block.first] + block.indent
    end = page.starts[block.last - 1] + len(page.lines[block.last - 1])
    return Fence(block.info, content, block.indent, Span(opening, end))


class _Blocks:
    """Blocks in their order, given out range by range."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self.at = 0

    def within(self, first: int, last: int) -> tuple[Block, ...]:
        """Those that start on a line from `first` up to `last`; ranges are asked for in their order."""
        while self.at < len(self.blocks) and self.blocks[self.at].first < first:
            self.at += 1
        start = self.at
        while self.at < len(self.blocks) and self.blocks[self.at].first < last:
            self.at += 1
        return tuple(self.blocks[start : self.at])
