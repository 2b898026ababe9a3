"""The block structure of a document as far as it matters: headings, fenced blocks and blocks of HTML.

CommonMark decides (L1): what looks like a heading inside a fenced block is text. A document in which every heading
and fence stands at the start of its line, outside of HTML, can be read line by line with the same result as by a
Markdown parser: there neither lists nor quotes can hide or claim such a line. Nearly all documents are like that, and
loading the parser would cost 40 ms of a short run; the others go to `markdown.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_HEADING = re.compile(r"(#{1,6})(?:[ \t]|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})")
#: Lines whose meaning depends on the list, the quote or the HTML they may belong to.
_DEPENDENT = re.compile(r"[ \t>*+\-0-9.)]*(?:```|~~~|<)| {1,3}#{1,6}(?:[ \t]|$)")


class Heading(NamedTuple):
    """A heading on a line, counted from 0."""

    level: int
    text: str
    line: int


class Block(NamedTuple):
    """Lines that are not Markdown text: a fenced block with its fences, or a block of HTML (`info` is None).

    `first` and `last` count lines from 0, `last` is not included; `indent` is how many characters stand before the
    fence. `closed` tells that there is a closing fence.
    """

    info: str | None
    first: int
    last: int
    indent: int = 0
    closed: bool = True


class Outline(NamedTuple):
    """The headings that belong to no list or quote, and the blocks that belong to no quote, in their order."""

    headings: list[Heading]
    blocks: list[Block]


def read_outline(lines: Sequence[str], first: int = 0) -> Outline:
    """The outline of the lines from `first` on.

    >>> read_outline(["### A", "```prose", "# no heading", "```"])
    Outline(headings=[Heading(level=3, text='A', line=0)], blocks=[Block(info='prose', first=1, last=4, indent=0, closed=True)])
    """  # noqa: E501
    found = read_plain(lines, first)
    if found is None:
        from prose_lang.documents.markdown import read_markdown  # see above

        found = read_markdown(lines, first)
    return found


def read_plain(lines: Sequence[str], first: int) -> Outline | None:
    """The outline of a document that can be read line by line, or None if it takes a Markdown parser."""
    found = Outline([], [])
    line = first
    while line < len(lines):
        text = lines[line]
        mark = text[:1]
        if mark == "#" and (heading := _HEADING.match(text)):
            found.headings.append(Heading(len(heading[1]), heading_text(text), line))
        elif mark in ("`", "~") and (fence := _FENCE.match(text)):
            info = text[fence.end() :]
            if mark == "~" or "`" not in info:
                last = _closing(lines, line + 1, fence[1])
                found.blocks.append(Block(info_word(info), line, min(last + 1, len(lines)), 0, last < len(lines)))
                line = last
        elif _DEPENDENT.match(text):
            return None
        line += 1
    return found


def _closing(lines: Sequence[str], line: int, fence: str) -> int:
    """The line of the closing fence, or the number of lines if there is none."""
    closing = re.compile(rf" {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*$")
    while line < len(lines) and not closing.match(lines[line]):
        line += 1
    return line


def heading_text(line: str) -> str:
    """The text of a heading, without the number signs around it."""
    text = line.strip(" \t").lstrip("#").strip(" \t")
    bare = text.rstrip("#")
    if bare != text and (not bare or bare[-1] in " \t"):
        text = bare
    return text.strip()


def info_word(info: str) -> str:
    """The first word of a fence's info text, without case."""
    words = info.split(maxsplit=1)
    return words[0].lower() if words else ""
