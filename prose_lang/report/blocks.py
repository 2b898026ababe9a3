"""Which blocks do which: an order to look at them in, and those that come to themselves again (L28)."""

from __future__ import annotations

from prose_lang.semantics import Program
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk


def _done_by(program: Program) -> dict[str, list[str]]:
    """The blocks that each block does, in the order of the text."""
    return {
        name: [
            node.target.id
            for node in walk(block.body)
            if isinstance(node, n.Do) and node.target is not None and node.target.id in program.blocks
        ]
        for name, block in program.blocks.items()
    }


def innermost_first(program: Program) -> list[str]:
    """The blocks in an order in which those that a block does come before it; on a circle in any."""
    does = _done_by(program)
    order: dict[str, None] = {}
    seen: set[str] = set()
    for name in does:
        stack = [(name, iter(does[name]))] if name not in seen else []
        seen.add(name)
        while stack:
            current, rest = stack[-1]
            ahead = next((other for other in rest if other not in seen), None)
            if ahead is None:
                order[current] = None
                stack.pop()
            else:
                seen.add(ahead)
                stack.append((ahead, iter(does[ahead])))
    return list(order)


def circles(program: Program) -> dict[str, frozenset[str]]:
    """The blocks that come to themselves again, each with all on its circles."""
    does = _done_by(program)
    reach: dict[str, set[str]] = {}
    for name in does:
        seen: set[str] = set()
        ahead = list(does[name])
        while ahead:
            other = ahead.pop()
            if other not in seen:
                seen.add(other)
                ahead.extend(does[other])
        reach[name] = seen
    return {
        name: frozenset(other for other in reach if name in reach[other] and other in reach[name])
        for name in reach
        if name in reach[name]
    }
