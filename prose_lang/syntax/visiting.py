"""Walking the tree without knowing its classes."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import attrs

from prose_lang.syntax.nodes import Literal, Node


@functools.cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in attrs.fields(kind) if field.name not in ("start", "end"))


def _fields_of(node: Node) -> tuple[str, ...]:
    kind: Any = type(node)  # mypy takes nodes for unhashable classes, since they compare by identity
    return _fields(kind)


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below a node, in the order of the text."""
    for name in _fields_of(node):
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, Node):
                    yield item


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, each before what is below it."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(tuple(children(current))))


def details(node: Node) -> dict[str, Any]:
    """What a node holds besides nodes: names, operators, plain values."""
    found = {}
    for name in _fields_of(node):
        value = getattr(node, name)
        if isinstance(value, Node) or value == () or (value is None and not isinstance(node, Literal)):
            continue
        if isinstance(value, tuple) and all(isinstance(item, Node) for item in value):
            continue
        found[name] = value
    return found
