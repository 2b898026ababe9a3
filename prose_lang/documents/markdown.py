"""The outline of a document by a CommonMark parser, for documents that cannot be read line by line.

Only block rules are used: inline text is never parsed, and link references and underlined headings are switched off,
because they mean nothing in a `.prose.md` file (a rule under a paragraph would else open an inline entry).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from prose_lang.documents.outline import Block, Heading, Outline, heading_text, info_word

if TYPE_CHECKING:
    from markdown_it.token import Token

#: Levels of lists and quotes that are followed; what stands deeper hides the rest of the document from the parser.
_NESTING = 100
#: A longer line is cut before it is looked at: no heading, fence or marker needs more.
_WIDTH = 10_000


def read_markdown(lines: Sequence[str], first: int) -> Outline:
    """The outline of the lines from `first` on."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"maxNesting": _NESTING})
    markdown.disable(["reference", "lheading"])
    tokens: list[Token] = []
    text = "\n".join(line[:_WIDTH] for line in lines[first:]) + "\n"
    markdown.block.parse(text, markdown, {}, tokens)
    found = Outline([], [])
    quotes = 0
    for token in tokens:
        if token.type == "blockquote_open":
            quotes += 1
        elif token.type == "blockquote_close":
            quotes -= 1
        elif token.map is None or quotes:
            continue
        elif token.type == "heading_open" and token.level == 0:
            line = first + token.map[0]
            found.headings.append(Heading(int(token.tag[1:]), heading_text(lines[line]), line))
        elif token.type == "html_block":
            found.blocks.append(Block(None, first + token.map[0], min(first + token.map[1], len(lines))))
        elif token.type == "fence":
            found.blocks.append(_fence(token, token.map, lines, first))
    return found


def _fence(token: Token, place: Sequence[int], lines: Sequence[str], first: int) -> Block:
    opening, end = first + place[0], min(first + place[1], len(lines))
    text = lines[opening]
    indent = text.index(token.markup[:3])
    info = text[indent:].lstrip(token.markup[0])
    # A closing fence is a line that is neither content nor the opening one.
    closed = place[1] - place[0] - 1 > token.content.count("\n")
    return Block(info_word(info), opening, end, indent, closed)
