"""From the tokens of a program to rows: what will stand on lines of its own, with its depth and the comments above it.

A comment keeps to the block that it stood in. Between the last line of a block and the next line, which stands less
deep, any depth in between may be meant: its column decides.
"""

from __future__ import annotations

import re

import attrs

from prose_lang.formatter.pieces import Piece, Remark, read_trivia
from prose_lang.syntax import Parsed, Token, with_trivia

_OPENING = frozenset({"LPAR", "TIGHT_LPAR", "LBRACK", "LBRACE"})
_CLOSING = frozenset({"RPAR", "RBRACK", "RBRACE"})
_LINE_BREAK = re.compile(r"[\r\n]")


@attrs.frozen
class Note:
    """A comment between two rows, and how deep it stands."""

    text: str
    depth: int
    blank: bool


@attrs.define(eq=False)
class Row:
    """The pieces of one logical line, or of one stage of a pipeline; none of them for what stands at the end."""

    depth: int
    notes: tuple[Note, ...]
    blank: bool
    pieces: list[Piece]


def read_rows(parsed: Parsed, base: int) -> list[Row]:
    """The rows of a program that has no syntax errors, whose lines are indented by `base` more than they mean.

    >>> from prose_lang.syntax import parse
    >>> from prose_lang.text import Source
    >>> rows = read_rows(parse(Source("-", "loop:\\n    # why\\n    break\\n")), 0)
    >>> [(row.depth, [note.text for note in row.notes], [piece.text for piece in row.pieces]) for row in rows]
    [(0, [], ['loop', ':']), (1, ['# why'], ['break']), (0, [], [])]
    """
    reader = _Reader(parsed, base)
    reader.read()
    return reader.rows


class _Reader:
    def __init__(self, parsed: Parsed, base: int) -> None:
        self.parsed = parsed
        self.text = parsed.source.text
        self.base = base
        self.rows: list[Row] = []
        self.columns = [0]  # where the lines of the open blocks began
        self.brackets = 0

    def read(self) -> None:
        span = self.parsed.span
        between = ""  # the trivia since the last line, while the next one has not begun
        steps = 0  # blocks opened since then; less than 0 if some were closed
        line_start = True
        consumed = span.start  # pieces may take trivia in: the stars around conditions
        for trivia, token in with_trivia(self.text, self.parsed.tokens, span.start, span.end):
            start = (token.start if token is not None else span.end) - len(trivia)
            trivia = trivia[max(0, consumed - start) :]
            if line_start:
                between += trivia
                if token is not None and token.kind in ("INDENT", "DEDENT"):
                    steps += 1 if token.kind == "INDENT" else -1
                    continue
                self.begin(token, between, steps)
                between, steps, line_start = "", 0, False
                if token is None:
                    return
                consumed = self.add(token, "", opening=True)
            elif token is None or token.kind == "NEWLINE":
                self.rows[-1].pieces[-1].trailing = read_trivia(trivia, line_start=False).trailing
                line_start = True
            else:
                consumed = self.add(token, trivia)

    def begin(self, token: Token | None, trivia: str, steps: int) -> None:
        """Begin the row of a token, or the one that holds the comments at the end."""
        found = read_trivia(trivia, line_start=True, base=self.base)
        columns = self.columns
        depth = len(columns) - 1 + steps
        if steps > 0:
            notes = [Note(remark.text, depth, remark.blank) for remark in found.remarks]
            assert token is not None, "a block has lines"
            columns.append(max(0, self.parsed.source.position(token.start).column - 1 - self.base))
        else:
            notes = [Note(remark.text, self.depth_of(remark, depth), remark.blank) for remark in found.remarks]
            del columns[depth + 1 :]
        blank = found.blank
        if steps > 0 or not self.rows:  # nothing is set apart from the line that opens the block
            if notes:
                notes[0] = attrs.evolve(notes[0], blank=False)
            else:
                blank = False
        self.rows.append(Row(depth, tuple(notes), blank, []))

    def depth_of(self, remark: Remark, outermost: int) -> int:
        """How deep a comment stands among the blocks that end there."""
        depth = len(self.columns) - 1
        while depth > outermost and self.columns[depth] > remark.column:
            depth -= 1
        return depth

    def add(self, token: Token, trivia: str, *, opening: bool = False) -> int:
        """Add a token to the row; returns the offset after what was taken in."""
        found = read_trivia(trivia, line_start=False, base=self.base)
        row = self.rows[-1]
        if not opening:
            row.pieces[-1].trailing = found.trailing
        if token.kind == "PIPE" and found.broken and not self.brackets:
            notes = tuple(Note(remark.text, row.depth, remark.blank) for remark in found.remarks)
            row = Row(row.depth, notes, found.blank, [])
            self.rows.append(row)
            found = read_trivia("", line_start=False)
        self.brackets += (token.kind in _OPENING) - (token.kind in _CLOSING)
        text, end = self.text[token.start : token.end], token.end
        if token.kind == "COND":
            text, end = self.condition(token, trivia)
        row.pieces.append(Piece(token.kind, text, found.broken, found.blank, found.remarks))
        return end

    def condition(self, token: Token, trivia: str) -> tuple[str, int]:
        """The text of a condition with the stars around it, and where it ends."""
        text = self.text
        if "*" not in trivia:
            return text[token.start : token.end], token.end
        opened = token.start - len(trivia) + trivia.index("*")
        stars = "***" if text.startswith("***", opened) else "**"
        closed = text.index(stars, token.end)
        before, after = text[opened + len(stars) : token.start], text[token.end : closed]
        end = closed + len(stars)
        if _LINE_BREAK.search(before + after):
            return text[opened:end], end  # on lines of its own, as the author set it
        # A star of the text must not become one of the marks around it.
        before = " " if token.text.startswith("*") else ""
        after = " " if token.text.endswith("*") else ""
        return f"{stars}{before}{token.text}{after}{stars}", end
