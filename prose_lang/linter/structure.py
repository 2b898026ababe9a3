"""The statement lists of a body: which stands in which, which body a `return` in it ends, whose value is taken.

Two relations are told apart. Lists that share a *frame* share their variables (L14); a collecting loop shares the
frame around it, but each of its passes is a *body*, which is what `return` ends (L22).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from prose_lang.syntax import nodes as n


@attrs.frozen(eq=False)
class Suite:
    """A list of statements.

    `around` is the list in the same frame in which it stands, below the statement of index `at`; None where a frame
    begins. `body` is the node whose value a `return` in it gives. `valued` tells whether the value of the last
    statement is taken by anybody (L23).
    """

    statements: tuple[n.Statement, ...]
    around: Suite | None
    at: int
    body: n.Node
    valued: bool


@attrs.frozen(eq=False)
class Structure:
    """All lists of a body in the order of the text, and the actions whose value nobody takes."""

    suites: tuple[Suite, ...]
    untaken: frozenset[n.Node]


def read_structure(body: n.Body, collects: Collection[n.Node]) -> Structure:
    """The structure of an entry's body; `collects` are the loops that collect."""
    walk = _Walk(collects)
    walk.suite(body.statements, None, 0, body, valued=True)
    return Structure(tuple(walk.suites), frozenset(walk.untaken))


class _Walk:
    def __init__(self, collects: Collection[n.Node]) -> None:
        self.collects = collects
        self.suites: list[Suite] = []
        self.untaken: set[n.Node] = set()

    def suite(
        self, statements: tuple[n.Statement, ...], around: Suite | None, at: int, body: n.Node, *, valued: bool
    ) -> None:
        suite = Suite(statements, around, at, body, valued)
        self.suites.append(suite)
        for index, statement in enumerate(statements):
            match statement:
                case n.Let(value=value) | n.Destructure(value=value) | n.Assign(value=value):
                    self.value(value, suite, index, taken=True)
                case n.Return(value=value) if value is not None:
                    self.value(value, suite, index, taken=True)
                case n.Evaluate(value=value):
                    self.value(value, suite, index, taken=valued and index == len(statements) - 1)
                case n.BlockDef(body=inner):
                    self.suite(inner.statements, None, 0, statement, valued=True)
                case n.AgentDef(properties=properties):
                    self.properties(properties, suite, index)
                case _:
                    pass

    def value(self, value: n.Value, suite: Suite, at: int, *, taken: bool) -> None:
        if not taken:
            self.untaken.add(value)
        match value:
            case n.Call(properties=properties) | n.Session(properties=properties) | n.Resume(properties=properties):
                self.properties(properties, suite, at)
            case n.Pipeline(stages=stages):
                for stage in stages:
                    self.suite(stage.body.statements, None, 0, stage, valued=True)
            case n.Do(body=inner) if inner is not None:
                self.suite(inner.statements, None, 0, value, valued=taken)
            case n.Parallel(branches=branches):
                for branch in branches.statements:
                    self.suite((branch,), None, 0, branch, valued=taken)
            case n.ParallelFor(body=inner) | n.ParallelRepeat(body=inner):
                self.suite(inner.statements, None, 0, value, valued=taken)
            case n.Repeat(body=inner) | n.For(body=inner) | n.Loop(body=inner):
                collects = value in self.collects
                self.suite(inner.statements, suite, at, value if collects else suite.body, valued=collects)
            case n.If(arms=arms, otherwise=otherwise):
                bodies = [arm.body for arm in arms] + ([otherwise] if otherwise is not None else [])
                self.nested(bodies, suite, at, taken)
            case n.Choice(options=options):
                self.nested([option.body for option in options], suite, at, taken)
            case n.Try(body=inner, handler=handler, cleanup=cleanup):
                self.nested([inner] if handler is None else [inner, handler], suite, at, taken)
                if cleanup is not None:
                    self.nested([cleanup], suite, at, taken=False)
            case _:
                pass

    def nested(self, bodies: Sequence[n.Body], suite: Suite, at: int, taken: bool) -> None:
        for body in bodies:
            self.suite(body.statements, suite, at, suite.body, valued=taken)

    def properties(self, properties: Sequence[n.Property], suite: Suite, at: int) -> None:
        for item in properties:
            self.properties(item.nested, suite, at)
            if item.value is not None:
                self.value(item.value, suite, at, taken=True)
