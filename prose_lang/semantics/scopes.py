"""Scopes: what a name means at a place in a body (L14–L17). The resolver builds them; nothing else needs them.

A *frame scope* belongs to a body of its own and holds the variables that its statements declare, wherever they stand
(L14). A *local scope* holds names that live in a part of a body and are read-only there: loop variables, block
parameters, catch and pipeline names (L16).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prose_lang.syntax import nodes as n


class Variable(NamedTuple):
    """A name of a scope: its cell, and why it is read-only ("" if it is not)."""

    name: str
    cell: int
    read_only: str = ""


class Scope:
    """One scope in the chain from the inside out; `frame` tells which kind it is."""

    __slots__ = ("frame", "names", "parent")

    def __init__(self, parent: Scope | None, *, frame: bool) -> None:
        self.parent = parent
        self.frame = frame
        self.names: dict[str, Variable] = {}

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it that can be seen from here."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, name: str) -> tuple[Variable, bool] | None:
        """The variable that a name means, and whether it belongs to the innermost frame."""
        own = True
        for scope in self.chain():
            found = scope.names.get(name)
            if found is not None:
                return found, own
            if scope.frame:
                own = False
        return None

    def own_frame(self) -> Scope:
        """The frame scope of the innermost body."""
        return next(scope for scope in self.chain() if scope.frame)

    def visible(self) -> Iterator[str]:
        """All names that are seen from here."""
        for scope in self.chain():
            yield from scope.names


def declarations(statements: Iterable[n.Statement]) -> Iterator[tuple[n.Name, bool]]:
    """The names that `let` and `const` declare in a frame, wherever they stand in it; with whether by `const`.

    Bodies of their own (L14) are not entered; of a `parallel:` the names that its branches publish count (L24).
    """
    for statement in statements:
        match statement:
            case n.Let(name=name, value=value, constant=constant):
                yield name, constant
                yield from _inside(value)
            case n.Destructure(names=names, value=value, constant=constant):
                for name in names:
                    yield name, constant
                yield from _inside(value)
            case n.Assign(value=value) | n.Evaluate(value=value):
                yield from _inside(value)
            case n.Return(value=value) if value is not None:
                yield from _inside(value)
            case _:
                pass


def _inside(value: n.Value) -> Iterator[tuple[n.Name, bool]]:
    match value:
        case n.Repeat(body=body) | n.For(body=body) | n.Loop(body=body):
            yield from declarations(body.statements)
        case n.If(arms=arms, otherwise=otherwise):
            for arm in arms:
                yield from declarations(arm.body.statements)
            if otherwise is not None:
                yield from declarations(otherwise.statements)
        case n.Choice(options=options):
            for option in options:
                yield from declarations(option.body.statements)
        case n.Try(body=body, handler=handler, cleanup=cleanup):
            for part in (body, handler, cleanup):
                if part is not None:
                    yield from declarations(part.statements)
        case n.Parallel(branches=branches):
            for name in published(branches):
                yield name, False
        case n.Call(properties=properties) | n.Session(properties=properties) | n.Resume(properties=properties):
            for item in properties:
                if item.value is not None:
                    yield from _inside(item.value)
        case _:
            pass


def published(branches: n.Body) -> Iterator[n.Name]:
    """The names that the branches of a `parallel:` set in the frame around it: only of branches that are `let`s."""
    for branch in branches.statements:
        if isinstance(branch, n.Let):
            yield branch.name
        elif isinstance(branch, n.Destructure):
            yield from branch.names
