"""What the expressions of one program come to, as far as the text tells: how often a loop runs, how long a list is.

A variable is known if the text sets it once, to something known. Everything else is a symbol with the line it stands
on. Nothing here is a guess: what is not certain is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping

from prose_lang.report.callees import Callees
from prose_lang.report.known import (
    UNKNOWN,
    Bodied,
    Callee,
    Given,
    Known,
    Listed,
    Meaning,
    Plain,
    Range,
    Reached,
    Unknown,
    Whole,
)
from prose_lang.report.quantities import ONE, ZERO, Quantity, largest, number, smallest, symbol
from prose_lang.semantics import CallPlan, Program
from prose_lang.semantics.program import Base
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk

_NOTHING = Range(ZERO, ZERO)


def given(base: Base) -> Meaning:
    """What a name holds that the program gets from outside."""
    if base.slot is not None:
        entry = Plain("slot", base.name)
        if base.slot.many:
            size = symbol(f"length of {base.name}", 1, base.name, length=True)
            return Listed(Range(size, size), (entry,))
        return Reached((entry,))
    item = base.item
    least = int(item.minimum) if item is not None and item.minimum is not None and item.minimum >= 0 else None
    certain = item is not None and (item.default is not None if item.has_default else not item.optional)
    return Given(base.name, least, certain)


class Meanings:
    """The meanings of one program's expressions. `bases` says what its slots, config keys and inputs hold."""

    def __init__(self, program: Program, bases: Mapping[str, Meaning], callees: Callees) -> None:
        self.program = program
        self.bases = bases
        self.callees = callees
        self._cells = {base.cell: base.name for base in program.bases}
        self._starts = {variable: self._cells.get(cell) for variable, cell in program.initial}
        self._writers: dict[int, list[tuple[n.Node, n.Name]]] = {}
        self._busy: set[int] = set()
        self._published_errors: set[n.Node] = set()
        if program.body is not None:
            self._gather(program.body)

    def line(self, node: n.Node) -> int:
        """The line a node stands on."""
        return self.program.source.position(node.start).line

    def text(self, node: n.Node) -> str:
        """A node as it is written, on one line."""
        return " ".join(self.program.source.text[node.start : node.end].split())

    def _gather(self, body: n.Body) -> None:
        for node in walk(body):
            if isinstance(node, n.Name) and node in self.program.writes:
                self._writers.setdefault(self.program.writes[node], [])
        for node in walk(body):
            for name in _written(node):
                if name in self.program.writes:
                    self._writers.setdefault(self.program.writes[name], []).append((node, name))
            if isinstance(node, n.Parallel) and any(
                modifier.name == "on-fail" and isinstance(modifier.value, n.Literal)
                and modifier.value.value == "continue"
                for modifier in node.modifiers
            ):  # fmt: skip
                self._published_errors.update(node.branches.statements)  # an error may stand in their place

    # --- expressions -------------------------------------------------------------------------------------------------

    def of(self, node: n.Value) -> Meaning:
        """What a value is."""
        match node:
            case n.Literal(value=value):
                return Known(value)
            case n.Name():
                return self._name(node)
            case n.Member(object=n.Name() as inner, name=name) if inner in self.program.config_reads:
                return self.bases.get(name, UNKNOWN)
            case n.Member(object=inner, name="length"):
                found = self.of(inner)
                return Whole(found.length) if isinstance(found, Listed) else UNKNOWN
            case n.Index(object=inner):
                found = self.of(inner)
                return Reached(found.entries) if isinstance(found, Listed) and found.entries else UNKNOWN
            case n.ListLiteral(items=items):
                length = number(len(items))
                entries = [self.of(item) for item in items]
                services = [callee for entry in entries if isinstance(entry, Reached) for callee in entry.callees]
                return Listed(Range(length, length), tuple(services))
            case n.Binary(operator=operator, left=left, right=right) if operator in ("+", "-", "*"):
                return _combined(operator, self.of(left), self.of(right))
            case n.ParallelRepeat(count=count, modifiers=modifiers) if _keeps_all(modifiers):
                return Listed(self.count(count))
            case n.ParallelFor(iterable=iterable, modifiers=modifiers) if _keeps_all(modifiers):
                return Listed(self.length(iterable))
            case n.Repeat() | n.For() if node in self.program.collects:
                size = self.passes(node)
                ends_early = any(isinstance(part, n.Break) for part in walk(node.body))
                return Listed(Range(ZERO if ends_early else size.low, size.high))
            case _:
                return UNKNOWN

    def _name(self, node: n.Name) -> Meaning:
        cell = self.program.reads.get(node)
        if cell is None:
            return UNKNOWN
        if cell in self._cells:
            return self.bases.get(self._cells[cell], UNKNOWN)
        return self.variable(cell)

    def variable(self, cell: int) -> Meaning:
        """What a variable holds wherever it is set."""
        writers = self._writers.get(cell, [])
        if len(writers) != 1 or cell in self._busy:
            return UNKNOWN
        self._busy.add(cell)
        try:
            found = self._set_by(*writers[0])
        finally:
            self._busy.discard(cell)
        start = self._starts.get(cell)
        return found if start is None or self.bases.get(start) == found else UNKNOWN

    def _set_by(self, node: n.Node, name: n.Name) -> Meaning:
        match node:
            case n.Let(value=value) if node not in self._published_errors:
                return self.of(value)
            case n.For(variable=variable, iterable=iterable) | n.ParallelFor(variable=variable, iterable=iterable):
                found = self.of(iterable)
                if name is variable and isinstance(found, Listed) and found.entries:
                    return Reached(found.entries)
                return UNKNOWN
            case n.Repeat(count=count) | n.ParallelRepeat(count=count):
                return Whole(Range(ONE, self.count(count).high))
            case n.Loop(limit=limit) if limit is not None:
                return Whole(Range(ONE, self.count(limit).high))
            case _:
                return UNKNOWN

    # --- counts and lengths ------------------------------------------------------------------------------------------

    def count(self, node: n.Expression) -> Range:
        """How often something is done that is done so many times: at least once, or the run ends (P302)."""
        return self._number(node, 1)

    def further(self, node: n.Value) -> Range:
        """How many further attempts there may be."""
        return self._number(node, 0)

    def _number(self, node: n.Value, least: int) -> Range:
        found = self.of(node)
        match found:
            case Known(value=value) if isinstance(value, (int, float)) and not isinstance(value, bool):
                size = number(int(value)) if value >= least and value == int(value) else number(least)
                return Range(size, size)
            case Known():
                return Range(number(least), number(least))
            case Given(name=name, least=low):
                size = symbol(name, max(least, low or 0), name)
                return Range(size, size)
            case Whole(size=size):
                return Range(_from(least, size.low), _from(least, size.high))
            case Listed() | Reached():
                return Range(number(least), number(least))
            case Unknown():
                size = symbol(f"{_short(self.text(node))} (line {self.line(node)})", least)
                return Range(size, size)

    def length(self, node: n.Value) -> Range:
        """How many entries something has that is run over."""
        found = self.of(node)
        match found:
            case Listed(length=length):
                return length
            case Known(value=value):
                size = number(len(value)) if isinstance(value, (list, dict)) else ZERO
                return Range(size, size)
            case Given(name=name):
                size = symbol(f"length of {name}", 0, name, length=True)
                return Range(size, size)
            case Whole() | Reached():
                return _NOTHING
            case Unknown():
                if isinstance(node, n.ObjectLiteral):
                    size = number(len(node.entries))
                else:
                    size = symbol(f"length of {_short(self.text(node))} (line {self.line(node)})", 0)
                return Range(size, size)

    def passes(self, node: n.Repeat | n.For) -> Range:
        """How many passes a counted loop has unless it ends early."""
        if isinstance(node, n.Repeat):
            return self.count(node.count)
        length = self.length(node.iterable)
        if node.limit is None:
            return length
        limit = self.count(node.limit)
        return Range(smallest(length.low, limit.low), smallest(length.high, limit.high))

    # --- calls -------------------------------------------------------------------------------------------------------

    def called(self, plan: CallPlan) -> tuple[Callee, ...]:
        """What a call can reach (L17): several things where only the run tells."""
        target = plan.target
        use = self.program.uses.get(target.name)
        by_name = self.callees.named(use.reference if use is not None else target.name, self.program.document)
        held = self._held(target.variable) if target.variable is not None else ()
        if target.slot is not None:
            bound = self.bases.get(self._cells.get(target.slot, ""), UNKNOWN)
            slot: tuple[Callee, ...] = (Plain("slot", target.name),)
            if isinstance(bound, Reached):
                slot = bound.callees
            elif not isinstance(bound, Listed):  # of a nested pattern: which service it is only its call tells
                slot = (Plain("variable", f"{self.program.entry.name}.{target.name}"),)
            if not target.shadowed:
                return slot
            return held if target.variable is not None and self._certainly_held(target.variable) else (*held, *slot)
        if target.variable is None:
            return (by_name,) if by_name is not None else (Plain("service", target.name),)
        return tuple(dict.fromkeys((*held, by_name) if by_name is not None else held))

    def _meant(self, cell: int) -> Meaning:
        name = self._cells.get(cell)
        return self.bases.get(name, UNKNOWN) if name is not None else self.variable(cell)

    def _certainly_held(self, cell: int) -> bool:
        return isinstance(self._meant(cell), Reached)

    def _held(self, cell: int) -> tuple[Callee, ...]:
        """The services that a variable may hold a reference to. Only slots and what is given hold any."""
        found = self._meant(cell)
        if isinstance(found, Reached):
            return found.callees
        if isinstance(found, Known):
            return ()
        several: list[Callee] = []
        for meaning in self.bases.values():
            callees = meaning.callees if isinstance(meaning, Reached) else ()
            callees = meaning.entries if isinstance(meaning, Listed) else callees
            several += [callee for callee in callees if isinstance(callee, Bodied)]
        return (Plain("variable", self._variable_name(cell)), *several)

    def _variable_name(self, cell: int) -> str:
        writers = self._writers.get(cell)
        return writers[0][1].id if writers else self._cells.get(cell, "a variable")


def _written(node: n.Node) -> tuple[n.Name, ...]:
    match node:
        case n.Let(name=name) | n.Assign(name=name) | n.Record(name=name):
            return (name,)
        case n.Destructure(names=names) | n.Stage(names=names):
            return names
        case n.For(variable=variable, index=index) | n.ParallelFor(variable=variable, index=index):
            return (variable,) if index is None else (variable, index)
        case n.Repeat(variable=counter) | n.ParallelRepeat(variable=counter) | n.Loop(variable=counter):
            return (counter,) if counter is not None else ()
        case n.Try(name=caught):
            return (caught,) if caught is not None else ()
        case n.BlockDef(parameters=parameters):
            return parameters
        case _:
            return ()


def _keeps_all(modifiers: tuple[n.Modifier, ...]) -> bool:
    """Whether a parallel block gives a value for each of its branches."""
    words = {modifier.value.value for modifier in modifiers if isinstance(modifier.value, n.Literal)}
    return not words & {"first", "any", "ignore"}


def _combined(operator: str, left: Meaning, right: Meaning) -> Meaning:
    if operator == "+" and isinstance(left, Listed) and isinstance(right, Listed):
        low, high = left.length.low + right.length.low, left.length.high + right.length.high
        return Listed(Range(low, high), (*left.entries, *right.entries))
    one, other = _as_whole(left), _as_whole(right)
    if one is None or other is None:
        return UNKNOWN
    if operator == "+" and isinstance(left, Given) and isinstance(right, Given):
        return UNKNOWN  # two numbers, or two lists
    match operator:
        case "+":
            return Whole(Range(one.low + other.low, one.high + other.high))
        case "-":
            return Whole(Range(one.low - other.high, one.high - other.low))
        case _ if all(bound.least is not None and bound.least >= 0 for bound in (one.low, other.low)):
            return Whole(Range(one.low * other.low, one.high * other.high))
        case _:
            return UNKNOWN


def _as_whole(meaning: Meaning) -> Range | None:
    match meaning:
        case Whole(size=size):
            return size
        case Known(value=value) if isinstance(value, (int, float)) and not isinstance(value, bool):
            known = number(int(value))
            return Range(known, known) if value == int(value) else None
        case Given(name=name, least=least):
            open_size = symbol(name, least, name)
            return Range(open_size, open_size)
        case _:
            return None


def _from(least: int, size: Quantity) -> Quantity:
    """A size as it counts: a loop that would have less passes than `least` ends the run."""
    low = size.least
    return size if low is not None and low >= least else largest(number(least), size)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
