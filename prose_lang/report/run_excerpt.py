"""The part of a run's tree that is shown: all of it if there is room, else the first and the last nodes at each place.

What is left out is told where it would stand. Of few nodes much is shown, rather than little of many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from prose_lang.report.run_tree import Node

#: Nodes below one of several that are shown at least, where it has so many.
_FEW = 12
#: Room for all.
UNLIMITED = 1 << 60


class Shown(NamedTuple):
    """A node at a level. `nodes` are more than one where a pass holds a single node, which is shown with it; the last
    one's children stand a level below."""

    level: int
    nodes: tuple[Node, ...]

    @property
    def node(self) -> Node:
        """The last of them."""
        return self.nodes[-1]


class Left(NamedTuple):
    """Nodes that are left out."""

    level: int
    nodes: Sequence[Node]


Line: TypeAlias = "Shown | Left"


class _Waiting(NamedTuple):
    node: Node
    level: int
    room: int


def excerpt(root: Node, room: int) -> Iterator[Line]:
    """What is shown of a tree on about `room` lines, without its root. Patterns nest deeper than Python recurses."""
    waiting = _shared(root.children, 0, room)
    while waiting:
        item = waiting.pop()
        if isinstance(item, Left):
            yield item
            continue
        node, level, room = item
        nodes = [node]
        while len(node.children) == 1 and node.kind == "pass":
            node = node.children[0]
            nodes.append(node)
        yield Shown(level, tuple(nodes))
        if node.children:
            waiting += _shared(node.children, level + 1, room - 1)


def _shared(nodes: Sequence[Node], level: int, room: int) -> list[_Waiting | Left]:
    """Nodes with the lines that each may take, in reverse order."""
    size = sum(node.size for node in nodes)
    if size <= room:
        return [_Waiting(node, level, node.size) for node in reversed(nodes)]
    most = max(0, int(room / max(1.0, min(size / len(nodes), _FEW))) - 1)
    head, tail, left = nodes, nodes[:0], nodes[:0]
    if len(nodes) > max(most, 1):
        after = most // 3
        head, tail = nodes[: most - after], nodes[len(nodes) - after :]
        left = nodes[len(head) : len(nodes) - after]
    given: list[_Waiting | Left] = []
    waiting = len(head) + len(tail)
    for node in (*head, *tail):
        if left and len(given) == len(head):
            given.append(Left(level, left))
        share = min(node.size, max(1, room // waiting))
        given.append(_Waiting(node, level, share))
        room -= share
        waiting -= 1
    if left and not tail:
        given.append(Left(level, left))
    return given[::-1]
