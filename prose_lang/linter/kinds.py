"""Which kinds of values an expression can have, as far as literals and declared types tell (L3, L12, L13a).

A kind is one of null, boolean, number, string, list, object. What services return is never known, so most expressions
have no answer; an answer holds in every run. Nothing is said of single values beyond their kind.
"""

from __future__ import annotations

from collections.abc import Iterable

from prose_lang.documents.model import Item
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n
from prose_lang.values import kind_of

Kinds = frozenset[str]

_WORDS = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "object": "object"}
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not in"})
_TOO_DEEP = 50


class KindReader:
    """The kinds of the expressions of one entry.

    A name has the kinds of everything that the body sets it to; an input or a config key that the body never sets has
    those of its declared type, and may be null.
    """

    def __init__(self, subject: Subject) -> None:
        program = subject.program
        self.program = program
        self.bases = {base.cell: base for base in program.bases}
        self.values: dict[int, list[n.Value | None]] = {}  # what a variable's cell is set to; None for the unknown
        self.recorded: set[int] = set()  # cells that `record` makes lists of
        self.starts = dict(program.initial)
        let: set[n.Name] = set()
        for node in subject.nodes:
            match node:
                case n.Let(name=name, value=value) | n.Assign(name=name, path=(), value=value):
                    self.values.setdefault(program.writes.get(name, -1), []).append(value)
                    let.add(name)
                case n.Record(name=name):
                    self.recorded.add(program.writes.get(name, -1))
                    let.add(name)
                case _:
                    pass
        for name, cell in program.writes.items():
            if name not in let:
                self.values.setdefault(cell, []).append(None)
        self.known: dict[int, Kinds | None] = {}

    def of(self, value: n.Value | None, depth: int = 0) -> Kinds | None:
        """The kinds that a value can have; None if it can have any."""
        if depth > _TOO_DEEP:
            return None
        match value:
            case n.Literal(value=literal):
                return frozenset({kind_of(literal)})
            case n.Text():
                return frozenset({"string"})
            case n.Repeat() | n.For():
                return frozenset({"list"}) if value in self.program.collects else None
            case n.ListLiteral():
                return frozenset({"list"})
            case n.ObjectLiteral():
                return frozenset({"object"})
            case n.Unary(operator=operator):
                return frozenset({"boolean" if operator == "not" else "number"})
            case n.Binary(operator=operator, left=left, right=right):
                return self.of_binary(operator, left, right, depth)
            case n.Name():
                return self.of_name(value, depth)
            case _:
                return None

    def of_binary(self, operator: str, left: n.Expression, right: n.Expression, depth: int) -> Kinds | None:
        if operator in _COMPARISONS:
            return frozenset({"boolean"})
        if operator in ("-", "*", "/"):
            return frozenset({"number"})
        both = _union([self.of(left, depth + 1), self.of(right, depth + 1)])
        return both & {"number", "string", "list"} if operator == "+" and both is not None else both

    def of_name(self, name: n.Name, depth: int) -> Kinds | None:
        cell = self.program.reads.get(name)
        if cell is None:
            return None
        if cell not in self.known:
            self.known[cell] = None  # while it is looked at: a name may be set to something made of itself
            found = self.of_cell(cell, depth)
            self.known[cell] = found | {"list"} if found is not None and cell in self.recorded else found
        return self.known[cell]

    def of_cell(self, cell: int, depth: int = 0) -> Kinds | None:
        """The kinds of what a cell starts with or is set to, without what `record` makes of it."""
        base = self.bases.get(cell)
        if base is not None:
            return None if base.item is None or cell in self.values else _of_item(base.item)
        if cell not in self.values:
            return None
        start = self.starts.get(cell)
        first = frozenset({"null"}) if start is None else self.of_cell(start, depth + 1)
        return _union([first, self.set_to(cell, depth)])

    def set_to(self, cell: int, depth: int = 0) -> Kinds | None:
        """The kinds of what the body sets a cell to."""
        values = self.values.get(cell, ())
        return _union([self.of(value, depth + 1) if value is not None else None for value in values])


def _union(found: Iterable[Kinds | None]) -> Kinds | None:
    kinds: set[str] = set()
    for one in found:
        if one is None:
            return None
        kinds |= one
    return frozenset(kinds)


def _of_item(item: Item) -> Kinds | None:
    """The kinds of a declared type. Where `T[]` is declared one T is taken too (§9 L3)."""
    found = {"null"}
    for declared in (item.type, *item.other_types):
        for word, listed in declared.names:
            kind = "string" if word.startswith('"') else _WORDS.get(word)
            if kind is None:
                return None
            found |= {kind, "list"} if listed else {kind}
    return frozenset(found)
