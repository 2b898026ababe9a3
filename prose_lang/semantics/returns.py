"""Which paths through a list of statements end in `return`, and which loops therefore collect (L22, §9 L22)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prose_lang.syntax import nodes as n


class Paths(NamedTuple):
    """What the paths through some statements can do: end in `return`, reach the end, or leave the pass by `break`
    or `continue`. `throw` paths count for nothing."""

    returns: bool
    falls_through: bool
    leaves: bool = False


def paths_of(statements: Sequence[n.Statement]) -> Paths:
    """The paths through a statement list; bodies of their own (`do`, branches, collecting loops) are opaque."""
    returns = leaves = False
    for statement in statements:
        found = _of(statement)
        returns, leaves = returns or found.returns, leaves or found.leaves
        if not found.falls_through:
            return Paths(returns, False, leaves)
    return Paths(returns, True, leaves)


def _of(statement: n.Statement) -> Paths:
    match statement:
        case n.Return():
            return Paths(True, False)
        case n.Throw():
            return Paths(False, False)
        case n.Break() | n.Continue():
            return Paths(False, False, True)
        case n.Evaluate(value=value):
            return _of_action(value)
        case n.Let(value=value) | n.Destructure(value=value) | n.Assign(value=value):
            # A loop here collects: its passes are bodies of their own. Arms of an `if` belong to the body around.
            return Paths(False, True) if isinstance(value, (n.Repeat, n.For)) else _of_action(value)
        case _:
            return Paths(False, True)


def _of_action(value: n.Value) -> Paths:
    match value:
        case n.If(arms=arms, otherwise=otherwise):
            bodies = [arm.body for arm in arms] + ([otherwise] if otherwise else [])
            return _either([paths_of(body.statements) for body in bodies], open_end=otherwise is None)
        case n.Choice(options=options):
            return _either([paths_of(option.body.statements) for option in options], open_end=not options)
        case n.Try(body=body, handler=handler, cleanup=cleanup):
            found = [paths_of(body.statements)]
            if handler is not None:
                found.append(paths_of(handler.statements))
            paths = _either(found, open_end=False)
            if cleanup is not None:
                last = paths_of(cleanup.statements)
                paths = Paths(
                    paths.returns or last.returns,
                    paths.falls_through and last.falls_through,
                    paths.leaves or last.leaves,
                )
            return paths
        case n.Repeat(body=body) | n.For(body=body):
            return Paths(paths_of(body.statements).returns, True)
        case n.Loop(kind=kind, limit=limit, body=body):
            inner = paths_of(body.statements)
            endless = kind == "forever" and limit is None and not inner.leaves
            return Paths(inner.returns, not endless)
        case _:
            return Paths(False, True)


def _either(found: Sequence[Paths], *, open_end: bool) -> Paths:
    return Paths(
        any(paths.returns for paths in found),
        open_end or any(paths.falls_through for paths in found),
        any(paths.leaves for paths in found),
    )


def collects_as_tail(loop: n.Repeat | n.For) -> bool:
    """Whether a loop that is the last statement of a collecting pass or branch collects: all paths return, or none.

    If it collects, so may the loop that ends its own body, whose `return`s then end the passes of that loop alone.
    """
    statements = loop.body.statements
    last = statements[-1] if statements else None
    inner = last.value if isinstance(last, n.Evaluate) else None
    nested = isinstance(inner, (n.Repeat, n.For)) and collects_as_tail(inner)
    paths = paths_of(statements[:-1] if nested else statements)
    return not paths.returns or not (paths.falls_through or paths.leaves)
