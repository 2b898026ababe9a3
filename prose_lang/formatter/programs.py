"""The program texts of a document: its `prose` fences, or the whole of a bare body (L2, L6).

The fences of Delegation and Execution are bodies, and syntax errors in them are errors. Others are examples in a text,
which may be sketches: one that cannot be read is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from prose_lang.diagnostics import Diagnostic, SourceError
from prose_lang.documents.bodies import SECTIONS
from prose_lang.documents.faults import Faults
from prose_lang.documents.frontmatter import read_frontmatter
from prose_lang.documents.outline import read_outline
from prose_lang.documents.page import Page
from prose_lang.documents.reader import read_document
from prose_lang.documents.sections import read_drafts
from prose_lang.syntax import Parsed, parse
from prose_lang.text import Source, Span


@attrs.frozen(eq=False)
class Program:
    """A program text without syntax errors; its lines are indented by `indent` more than they mean.

    `bare` tells that it is all there is in the file: no fence shows that it is no Markdown (L2).
    """

    parsed: Parsed
    indent: int
    bare: bool

    @property
    def span(self) -> Span:
        return self.parsed.span


@attrs.frozen(eq=False)
class _Block:
    span: Span
    indent: int
    is_body: bool
    is_bare: bool = False


def read_programs(source: Source) -> list[Program]:
    """The programs of a document in their order. Raises SourceError for all that keeps bodies from being read.

    >>> [program.span for program in read_programs(Source("-", "return 1"))]
    [Span(start=0, end=8)]
    """
    faults: list[Diagnostic] = []
    programs = []
    for block in _blocks(source):
        parsed = parse(source, block.span, block.indent)
        if not parsed.diagnostics:
            programs.append(Program(parsed, block.indent, block.is_bare))
        elif block.is_body:
            faults.extend(parsed.diagnostics)
    if faults:
        raise SourceError.from_diagnostics(faults)
    return programs


def _blocks(source: Source) -> Iterator[_Block]:
    page = Page.of(source)
    faults = Faults(source)
    frontmatter = read_frontmatter(page, faults)
    if frontmatter is None and read_document(source).anonymous:
        yield _Block(Span(page.starts[0], page.starts[-1]), 0, is_body=True, is_bare=True)
        return
    first = frontmatter.end if frontmatter is not None else 0
    outline = read_outline(page.lines, first)
    parts = [part for draft in read_drafts(page, outline, first) for part in draft.named(*SECTIONS)]
    for part in parts:
        part.fences(faults, "prose")  # says which are never closed
    if faults.found:
        raise SourceError.from_diagnostics(faults.found)
    bodies = {fence.span.start for part in parts for fence in part.section.fences}
    for block in outline.blocks:
        if block.info == "prose" and block.closed:
            span = page.lines_span(block.first + 1, block.last - 1)
            yield _Block(span, block.indent, span.start in bodies)
