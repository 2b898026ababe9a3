"""Brackets as nodes, and which of the author's line breaks inside them are kept.

Kept are the breaks between entries, behind an opening and before a closing bracket, beside binary operators, and those
that comments need. A group with one of these stays on several lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias, TypeGuard

import attrs

from prose_lang.formatter.pieces import Piece, Remark
from prose_lang.formatter.spacing import ARGUMENTS, BINARY, GROUPING, LITERAL

_OPENING = frozenset({"LPAR", "TIGHT_LPAR", "LBRACK", "LBRACE"})
_CLOSING = frozenset({"RPAR", "RBRACK", "RBRACE"})


@attrs.define(eq=False)
class Entry:
    """What stands between two commas, with the comments above it and the one that follows it on its line.

    `comma` is the one behind it, if there was one.
    """

    nodes: list[Node]
    leading: tuple[Remark, ...] = ()
    trailing: str | None = None
    broken: bool = False
    blank: bool = False
    comma: Piece | None = None


@attrs.define(eq=False)
class Group:
    """A pair of brackets with its entries. `breaks` tells that it cannot stand on one line."""

    open: Piece
    entries: list[Entry]
    close: Piece
    breaks: bool = False

    @property
    def role(self) -> str:
        return self.open.role

    @property
    def stacks(self) -> bool:
        """Whether its entries stand one a line where they do not fit on one."""
        return self.role in (LITERAL, ARGUMENTS)

    @property
    def padding(self) -> str:
        """What stands inside the brackets on one line."""
        return " " if self.open.kind == "LBRACE" and self.entries else ""

    @property
    def commented(self) -> bool:
        """Whether there are comments right inside it."""
        return bool(
            self.open.trailing
            or self.close.leading
            or any(entry.leading or entry.trailing is not None for entry in self.entries)
        )

    @property
    def hugs(self) -> bool:
        """Whether it has one entry that the author set right into the brackets and that ends in a group of several
        lines, as in `f({` … `})`; nothing else in it may be broken.
        """
        if len(self.entries) != 1 or self.entries[0].broken or self.close.broken or self.commented:
            return False
        *others, last = self.entries[0].nodes
        return isinstance(last, Group) and last.breaks and not _breaks([*others, last.open])


Node: TypeAlias = Piece | Group


def first_piece(node: Node) -> Piece:
    """The piece that a node begins with."""
    return node if isinstance(node, Piece) else node.open


def last_piece(node: Node) -> Piece:
    """The piece that a node ends with."""
    return node if isinstance(node, Piece) else node.close


def keeps_break(before: Node, after: Node) -> bool:
    """Whether the author's line break between two nodes is kept."""
    if not first_piece(after).broken:
        return False
    if _is_operator(before):
        # A minus alone on its line would begin an entry of its own (L11).
        return not (before.kind == "MINUS" and before.broken)
    return _is_operator(after)


def _is_operator(node: Node) -> TypeGuard[Piece]:
    return isinstance(node, Piece) and node.role == BINARY


def build(pieces: Sequence[Piece]) -> list[Node]:
    """The nodes of a row whose pieces have their roles.

    >>> from prose_lang.formatter.spacing import mark
    >>> pieces = [Piece("NAME", "f"), Piece("TIGHT_LPAR", "("), Piece("NUMBER", "1", broken=True), Piece("RPAR", ")")]
    >>> mark(pieces)
    >>> name, group = build(pieces)
    >>> group.breaks, len(group.entries)
    (True, 1)
    """
    nodes: list[Node] = []
    open_groups: list[tuple[list[Node], Group]] = []
    for piece in pieces:
        if piece.kind in _OPENING:
            group = Group(piece, [], piece)
            nodes.append(group)
            open_groups.append((nodes, group))
            nodes = []
        elif piece.kind in _CLOSING:
            outer, group = open_groups.pop()
            _close(group, nodes, piece)
            nodes = outer
        elif piece.kind == "COMMA" and open_groups:
            _separate(open_groups[-1][1], nodes, piece)
            nodes = []
        else:
            nodes.append(piece)
    return nodes


def _separate(group: Group, nodes: list[Node], comma: Piece) -> None:
    """End an entry at a comma. A second comma behind it separates nothing; its comments stay."""
    if nodes:
        _add(group, nodes)
    elif (first := group.entries[-1].comma) is not None:
        comma.leading = _behind(group.entries[-1], first) + comma.leading
        comma.broken, comma.blank = comma.broken or first.broken, comma.blank or first.blank
    group.entries[-1].comma = comma


def _add(group: Group, nodes: list[Node]) -> None:
    """Add an entry to a group: the comments at its ends are its own, not those of its pieces."""
    first, last = first_piece(nodes[0]), last_piece(nodes[-1])
    _keep_minus(nodes)
    entry = Entry(nodes, first.leading, last.trailing, first.broken, first.blank)
    first.leading, last.trailing = (), None
    if group.entries:
        comma = group.entries[-1].comma
        assert comma is not None, "commas stand between entries"
        entry.broken = entry.broken or comma.broken
        entry.blank = entry.blank or (comma.blank and not entry.leading)
        entry.leading = _behind(group.entries[-1], comma) + entry.leading
    group.entries.append(entry)


def _keep_minus(nodes: list[Node]) -> None:
    """Put a comment that stands below a minus on its line: alone there it would begin an entry of its own (L11)."""
    for minus, operand in pairwise(nodes):
        first = first_piece(operand)
        if _is_operator(minus) and minus.kind == "MINUS" and minus.trailing is None and first.leading:
            minus.trailing, first.leading = first.leading[0].text, first.leading[1:]


def _behind(entry: Entry, comma: Piece) -> tuple[Remark, ...]:
    """Which comments around the comma behind an entry belong above what follows: one can stay on the entry's line."""
    if comma.trailing is None:
        return comma.leading
    if entry.trailing is None and not comma.leading:
        entry.trailing = comma.trailing
        return ()
    return (*comma.leading, Remark(comma.trailing, 0, False))


def _close(group: Group, nodes: list[Node], close: Piece) -> None:
    """End a group at its closing bracket."""
    if nodes:
        _add(group, nodes)
    elif group.entries and (comma := group.entries[-1].comma):
        close.leading = _behind(group.entries[-1], comma) + close.leading
        close.broken = close.broken or comma.broken
    group.close = close
    group.breaks = group.commented or any(_breaks(entry.nodes) for entry in group.entries)
    if group.stacks and group.entries:
        group.breaks = group.breaks or close.broken or any(entry.broken for entry in group.entries)
    elif group.role == GROUPING:
        group.breaks = group.breaks or group.entries[0].broken


def _breaks(nodes: Sequence[Node]) -> bool:
    """Whether there is a line break inside an entry that is kept."""
    for index, node in enumerate(nodes):
        if isinstance(node, Group) and node.breaks:
            return True
        # A bracket's comment is one inside the brackets.
        trailing = last_piece(node).trailing if index < len(nodes) - 1 else None
        if first_piece(node).leading or trailing is not None:
            return True
        if index and keeps_break(nodes[index - 1], node):
            return True
    return False
