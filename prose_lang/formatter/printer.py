"""Rows as text: indentation, spaces, and which brackets stand on several lines.

Widths count columns of the file, its own indentation included. A group that the author set on one line stays on it if
it fits; one that he set on several lines is set one entry a line. What does not fit and has no entries stays long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from prose_lang.formatter.groups import Entry, Group, Node, build, first_piece, keeps_break, last_piece
from prose_lang.formatter.pieces import Piece, Remark
from prose_lang.formatter.rows import Row
from prose_lang.formatter.spacing import GROUPING, mark

INDENT = 2
WIDTH = 100

_LINE_BREAK = re.compile(r"\r\n|\n|\r")
#: A comment that would show that a bare body is Markdown, if it stood at the start of a line (L2).
_HEADING = re.compile(r"#{3,6} ")
_SPACE = re.compile(r"[ \r\n]")


def print_rows(rows: Iterable[Row], base: int, line_break: str, *, bare: bool = False) -> str:
    """The text of the rows of a program, each line indented by `base` more; `bare` if there is no fence around it.

    >>> from prose_lang.formatter.rows import read_rows
    >>> from prose_lang.syntax import parse
    >>> from prose_lang.text import Source
    >>> parsed = parse(Source("-", "repeat 3 :\\n      call   a\\n        x:{b:c}  # why\\n"))
    >>> print(print_rows(read_rows(parsed, 0), 0, "\\n"), end="")
    repeat 3:
      call a
        x: { b: c }  # why
    """
    printer = _Printer(base, line_break, bare)
    for row in rows:
        printer.row(row)
    return printer.text()


class _Printer:
    def __init__(self, base: int, line_break: str, bare: bool) -> None:
        self.base = base
        self.bare = bare
        self.line_break = line_break
        self.parts: list[str] = []
        self.column = 0
        self.indent = 0  # of the line that is being written
        self.commented = False  # a comment ends the line

    def text(self) -> str:
        if self.parts:
            self.parts.append(self.line_break)
        return "".join(self.parts)

    # --- lines -------------------------------------------------------------------------------------------------------

    def line(self, indent: int, *, blank: bool = False) -> None:
        """Begin a line."""
        if self.parts:
            self.parts.append(self.line_break * (2 if blank else 1))
        self.parts.append(" " * indent)
        self.column = self.indent = indent
        self.commented = False

    def put(self, text: str) -> None:
        """Write on; a text of several lines stands as it is."""
        self.parts.append(text)
        last = _LINE_BREAK.split(text)[-1] if "\n" in text or "\r" in text else None
        self.column = self.column + len(text) if last is None else len(last)

    def comment(self, text: str | None) -> None:
        """End a line in a comment, if there is one."""
        if text is not None:
            self.put(f"  {text}")
            self.commented = True

    def remarks(self, remarks: Iterable[Remark], indent: int, *, opening: bool = False) -> None:
        """Comments on lines of their own; `opening` tells that nothing is to be set apart from the line above."""
        for remark in remarks:
            self.line(indent, blank=remark.blank and not opening)
            self.put(remark.text)
            self.commented = True
            opening = False

    def row(self, row: Row) -> None:
        for note in row.notes:
            shy = self.bare and _HEADING.match(note.text) is not None
            self.line(self.base + INDENT * max(note.depth, shy), blank=note.blank)
            self.put(note.text)
        if not row.pieces:
            return
        mark(row.pieces)
        trailing, row.pieces[-1].trailing = row.pieces[-1].trailing, None
        self.line(self.base + INDENT * row.depth, blank=row.blank)
        self.sequence(build(row.pieces), self.indent + INDENT, "")
        self.comment(trailing)

    # --- brackets ----------------------------------------------------------------------------------------------------

    def sequence(self, nodes: Sequence[Node], deeper: int, rest: str) -> None:
        """Nodes one after the other; where a line must be broken it goes on at `deeper`. `rest` follows unbroken."""
        for index, node in enumerate(nodes):
            first = first_piece(node)
            self.remarks(first.leading, deeper)
            if self.commented or (index and keeps_break(nodes[index - 1], node)):
                self.line(deeper)
            elif index and not first.glued:
                self.put(" ")
            if isinstance(node, Piece):
                self.put(node.text)
            else:
                self.group(node, _unbroken(nodes, index + 1, rest))
            self.comment(last_piece(node).trailing)

    def group(self, group: Group, rest: str) -> None:
        if not group.breaks and (not group.entries or self.fits(_flat(group), rest)):
            self.put(_flat(group))
        elif group.role == GROUPING:
            if group.entries[0].broken:
                self.stack(group, 0)
            else:
                self.flow(group, rest)
        elif not group.stacks or (group.hugs if group.breaks else _is_lone_group(group.entries)):
            self.flow(group, rest)
        else:
            self.stack(group, INDENT)

    def fits(self, text: str, rest: str) -> bool:
        first, *others = _LINE_BREAK.split(text)
        if others:
            return self.column + len(first) <= WIDTH and len(others[-1]) + len(rest) <= WIDTH
        return self.column + len(first) + len(rest) <= WIDTH

    def stack(self, group: Group, deeper: int) -> None:
        """One entry a line; a broken entry goes on `deeper` than it began."""
        base = self.indent
        self.put(group.open.text)
        self.comment(group.open.trailing)
        inner = base + INDENT
        for index, entry in enumerate(group.entries):
            self.remarks(entry.leading, inner, opening=index == 0)
            self.line(inner, blank=entry.blank and (index > 0 or bool(entry.leading)))
            comma = "," if index < len(group.entries) - 1 else ""
            self.entry(entry, inner + deeper, comma, comma)
        self.remarks(group.close.leading, inner, opening=not group.entries)
        self.line(base)
        self.put(group.close.text)

    def flow(self, group: Group, rest: str) -> None:
        """Entries on one line, broken only where that is kept."""
        base = self.indent
        inner = base + INDENT
        self.put(group.open.text)
        self.comment(group.open.trailing)
        for index, entry in enumerate(group.entries):
            self.remarks(entry.leading, inner)
            if self.commented:
                self.line(inner)
            else:
                self.put(" " if index else group.padding)
            if index < len(group.entries) - 1:
                self.entry(entry, inner, ",", ",")
            else:
                self.entry(entry, inner, "", "" if group.padding else group.close.text + rest)
        self.remarks(group.close.leading, inner)
        if self.commented:
            self.line(base)
        else:
            self.put(group.padding)
        self.put(group.close.text)

    def entry(self, entry: Entry, deeper: int, comma: str, rest: str) -> None:
        self.sequence(entry.nodes, deeper, rest)
        self.put(comma)
        self.comment(entry.trailing)


def _is_lone_group(entries: Sequence[Entry]) -> bool:
    """Whether the only thing in the brackets is a group that can itself be set one entry a line."""
    if len(entries) != 1 or len(entries[0].nodes) != 1:
        return False
    node = entries[0].nodes[0]
    return isinstance(node, Group) and node.stacks


def _flat(node: Node) -> str:
    """A node on one line, without comments."""
    if isinstance(node, Piece):
        return node.text
    inside = ", ".join(_joined(entry.nodes) for entry in node.entries)
    return f"{node.open.text}{node.padding}{inside}{node.padding}{node.close.text}"


def _joined(nodes: Sequence[Node]) -> str:
    parts: list[str] = []
    for index, node in enumerate(nodes):
        if index and not first_piece(node).glued:
            parts.append(" ")
        parts.append(_flat(node))
    return "".join(parts)


def _unbroken(nodes: Sequence[Node], index: int, rest: str) -> str:
    """What follows up to the next space."""
    parts: list[str] = []
    for number in range(index, len(nodes)):
        node = nodes[number]
        if not first_piece(node).glued or first_piece(node).leading or last_piece(nodes[number - 1]).trailing:
            return "".join(parts)
        text = _flat(node)
        space = _SPACE.search(text)
        if space:
            return "".join(parts) + text[: space.start()]
        parts.append(text)
    return "".join(parts) + rest
