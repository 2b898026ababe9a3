"""A text as blocks: running prose that may be edited, and everything that is kept to the letter.

Knows just enough Markdown to leave it alone: fences, indented code, headings, tables, block quotes, front matter,
rules, link definitions and shell lines are kept; paragraphs and list items are prose, without their markers. It is
no Markdown parser: in doubt a line is kept, because an edit lost is cheaper than a document broken.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Block(NamedTuple):
    """A part of a text. The concatenation of `prefix + body + suffix` over all blocks is the text.

    `prose` tells whether `body` may be edited; `prefix` is the indentation or list marker, `suffix` the line end.
    """

    prose: bool
    prefix: str
    body: str
    suffix: str = ""


_FENCE = re.compile(r"[ \t]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?(`{3,}|~{3,})")
_KEPT = re.compile(
    r"""[ \t]*(?:
        \#{1,6}(?:[ \t]|$)          # heading
      | >                           # block quote
      | \|                          # table row
      | (?:[-*_=+][ \t]*){3,}$      # rule, or the underline of a heading
      | \[[^\]]{1,99}\]:[ \t]       # link or footnote definition
      | [$%][ \t]+\S                # shell line
      | <!--
    )""",
    re.VERBOSE,
)
#: Signs of a line of code that stands without a fence; a line that ends like a sentence is none.
_CODE = re.compile(
    r"""
      [;{}][ \t]*$ | [ ](?:==|!=|=>|:=|\+=|&&|\|\|)[ ] | ^[ \t]*[\w.]+[ ]=[ ]\S | ^[ \t]*(?://|@\w+[ \t]*$)
    | \b[A-Za-z_]\w*\((?!(?:e?s|ies|\d{1,3})\))[^\s()]*[,()]
    | \w\([^()]*\):[ \t]*$ | ^[ \t]*(?:import[ ][\w.]+|from[ ][\w.]+[ ]import[ ].*)[ \t]*$
    """,
    re.VERBOSE,
)
_SENTENCE_END = re.compile(r"[.!?][\"'”’)*_]*[ \t]*$")
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:=+|-{2,})[ \t]*$")
_TABLE_RULE = re.compile(r"[ \t]*:?-+:?[ \t]*\|[ \t|:-]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣–]|\d{1,4}[.)]|\(?[a-z]{1,4}\)|\(\d{1,3}\))[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_INDENT = re.compile(r"[ \t]*")


def split_blocks(text: str) -> list[Block]:
    """The blocks of a text, in order; nothing is lost.

    >>> [(block.prose, block.body) for block in split_blocks("# Title\\n\\n- one\\n- two")]
    [(False, '# Title\\n\\n'), (True, 'one'), (True, 'two')]
    """
    return _Splitter(text.splitlines(keepends=True)).blocks()


class _Splitter:
    """One pass over the lines of one text."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.found: list[Block] = []
        self.kept: list[str] = []
        self.prose: list[str] = []
        # Text that is indented as a whole (a triple-quoted brief) is not code.
        self.margin = min((_width(line) for line in lines if line.strip()), default=0)

    def blocks(self) -> list[Block]:
        lines = self.lines
        at = self.front_matter()
        while at < len(lines):
            line = lines[at]
            fence = _FENCE.match(line)
            if fence:
                end = self.fence_end(at, fence.group(1))
                self.keep(lines[at:end])
                at = end
                continue
            if not line.strip() or self.is_kept(at):
                self.keep([line])
            elif _ITEM.match(line):
                self.close_prose()
                self.prose.append(line)
            elif not self.prose and _width(line) >= self.margin + 4:
                self.keep([line])
            else:
                self.prose.append(line)
            at += 1
        self.close_prose()
        self.close_kept()
        return self.found

    def front_matter(self) -> int:
        if not self.lines or self.lines[0].rstrip() != "---":
            return 0
        for at, line in enumerate(self.lines[1:], start=1):
            if line.rstrip() in ("---", "..."):
                self.keep(self.lines[: at + 1])
                return at + 1
        return 0

    def fence_end(self, start: int, mark: str) -> int:
        closing = re.compile(rf"[ \t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
        for at in range(start + 1, len(self.lines)):
            if closing.match(self.lines[at].rstrip("\r\n")):
                return at + 1
        return len(self.lines)

    def is_kept(self, at: int) -> bool:
        line = self.lines[at].rstrip("\r\n")
        if _KEPT.match(line) or " | " in line or _TABLE_RULE.match(line):
            return True
        if _CODE.search(line) and not _SENTENCE_END.search(line):
            return True
        following = self.lines[at + 1].rstrip("\r\n") if at + 1 < len(self.lines) else ""
        return not self.prose and bool(_UNDERLINE.match(following)) and not _ITEM.match(line)

    def keep(self, lines: list[str]) -> None:
        self.close_prose()
        self.kept.extend(lines)

    def close_kept(self) -> None:
        if self.kept:
            self.found.append(Block(False, "", "".join(self.kept)))
            self.kept = []

    def close_prose(self) -> None:
        if not self.prose:
            return
        self.close_kept()
        whole = "".join(self.prose)
        self.prose = []
        marker = _ITEM.match(whole) or _INDENT.match(whole)
        start = marker.end() if marker else 0
        body = whole[start:].rstrip()
        self.found.append(Block(True, whole[:start], body, whole[start + len(body) :]))


def _width(line: str) -> int:
    indent = _INDENT.match(line)
    return len(indent.group().expandtabs(4)) if indent else 0
