"""The tree as text and as JSON, for `prose ast` and for tests of the grammar."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from prose_lang.syntax.nodes import Literal, Node
from prose_lang.syntax.visiting import children, details
from prose_lang.text import Source


def tree_lines(node: Node, source: Source) -> Iterator[str]:
    """The tree, a node a line: its class, what it holds besides nodes, and where it begins and ends."""
    stack = [(node, 0)]
    while stack:
        current, depth = stack.pop()
        start, end = source.position(current.start), source.position(current.end)
        held = "".join(
            f" {name}={_plain(value)}"
            for name, value in details(current).items()
            if value is not False or isinstance(current, Literal)
        )
        yield f"{'  ' * depth}{type(current).__name__}{held}  [{start.line}:{start.column}-{end.line}:{end.column}]"
        stack.extend((child, depth + 1) for child in reversed(tuple(children(current))))


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join("…" if isinstance(item, Node) else _plain(item) for item in value) + ")"
    return json.dumps(value, ensure_ascii=False)


def tree_json(node: Node) -> dict[str, Any]:
    """The tree as plain data: each node an object with `node`, `span` and its fields."""
    plain: dict[str, Any] = {"node": type(node).__name__, "span": [node.start, node.end]}
    for name, value in details(node).items():
        plain[name] = (
            [None if isinstance(item, Node) else item for item in value] if isinstance(value, tuple) else value
        )
    below = [tree_json(child) for child in children(node)]
    if below:
        plain["children"] = below
    return plain
