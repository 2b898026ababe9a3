"""What a program demands of the results of its calls: the fields it reads, and as what it uses them.

A value that a call gives flows through variables, block parameters and loops; each use on the way says something about
it: `evaluation.score` that there is a field, `score meets threshold` that it is a number, `verdict accepts result` that
there is a decision to read. This is what any service in that place has to keep, and all that is known of the result of
one that has no contract. Nothing is an error here, and what is not understood is not demanded.

Flow is looked at without order: a variable that holds several things in turn demands of each what is asked of any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from prose_lang.conditions import BOOLEAN_FIELDS, TEXT_FIELDS, Rule
from prose_lang.conditions.compounds import Compound, SameValue
from prose_lang.conditions.phrases import Comparison, Equality, HasItem, Kind, State
from prose_lang.conditions.verdicts import Explicit, Says, Verdict
from prose_lang.semantics.program import Program, Site
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import children, walk

#: Deeper parts of a result are not looked at: a value that is fed back into its own call would go on for ever.
_DEEPEST = 4
#: Parts of all results of a program together: a value that goes round through many fields has more than anybody reads.
_MOST = 5_000
#: Rounds until demands have spread along every flow; each moves them one flow on.
_ROUNDS = 30
_OWN_BODIES = (n.Parallel, n.ParallelFor, n.ParallelRepeat, n.Do, n.Stage, n.BlockDef)


@attrs.define(eq=False)
class Demand:
    """What is asked of one value. `kinds` are number, boolean, list, text and object; `words` texts it is compared
    with.

    `decided` tells that an acceptance or rejection is read from it, `said` which words are looked for as its decision,
    `labels` the options of a choice it takes, `optional` that the program asks whether it is there; `low` and `high`
    are the bounds of a config key or input that it is compared with.
    """

    depth: int = 0
    fields: dict[str, Demand] = attrs.field(factory=dict)
    items: Demand | None = None
    kinds: set[str] = attrs.field(factory=set)
    words: dict[str, None] = attrs.field(factory=dict)
    said: dict[str, None] = attrs.field(factory=dict)
    labels: dict[str, None] = attrs.field(factory=dict)
    decided: bool = False
    optional: bool = False
    low: float | None = None
    high: float | None = None
    room: list[int] = attrs.field(factory=lambda: [_MOST])  # how many parts may still be made, shared by all

    def field(self, name: str) -> Demand:
        """What is asked of a field."""
        found = self.fields.get(name)
        if found is None:
            found = self.part()
            if found.depth <= _DEEPEST:
                self.fields[name] = found
        return found

    def entry(self) -> Demand:
        """What is asked of the entries of a list."""
        if self.items is not None:
            return self.items
        found = self.part()
        if found.depth <= _DEEPEST:
            self.items = found
        return found

    def part(self) -> Demand:
        """A part of the value; one that is too deep, or too many, is looked at by nobody."""
        if self.depth >= _DEEPEST or self.room[0] <= 0:
            return Demand(_DEEPEST + 1, room=self.room)
        self.room[0] -= 1
        return Demand(self.depth + 1, room=self.room)

    def absorb(self, other: Demand) -> None:
        """Ask all that is asked of another value, which this one becomes."""
        if other is self or self.depth > _DEEPEST:
            return
        self.kinds |= other.kinds
        self.words.update(other.words)
        self.said.update(other.said)
        self.labels.update(other.labels)
        self.decided |= other.decided
        self.optional |= other.optional
        self.low = other.low if self.low is None else self.low
        self.high = other.high if self.high is None else self.high
        for name, part in tuple(other.fields.items()):
            self.field(name).absorb(part)
        if other.items is not None:
            self.entry().absorb(other.items)

    def size(self) -> int:
        """How much is asked: it grows until everything has spread."""
        own = len(self.kinds) + len(self.words) + len(self.said) + len(self.labels) + self.decided + self.optional
        own += (self.low is not None) + (self.high is not None)
        parts = [*self.fields.values(), *([self.items] if self.items is not None else [])]
        return 1 + own + sum(part.size() for part in parts)


def demands(program: Program) -> Mapping[Site, tuple[str, Demand]]:
    """What is asked of the result of each call, with the name under which it is called.

    The calls of one slot ask together: one service answers them all.
    """
    return _Demands(program).found() if program.body is not None else {}


class _Demands:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.cells: dict[int, Demand] = {}
        self.calls: dict[n.Node, Demand] = {}
        self.actions: dict[n.Node, Demand] = {}
        self.flows: list[tuple[Demand, Demand]] = []
        self.room = [_MOST]

    def found(self) -> dict[Site, tuple[str, Demand]]:
        assert self.program.body is not None
        nodes = list(walk(self.program.body))
        for node in nodes:
            if isinstance(node, (n.Call, n.Invoke)) and node in self.program.calls:
                self.calls[node] = self.demand()
        for node in nodes:
            self.flow(node)
        for node in nodes:
            self.use(node)
        for plan in self.program.conditions.values():
            if plan.expression is not None:
                for node in walk(plan.expression):
                    self.use(node)
                self.truth(plan.expression, plan.labels)
            for rule in plan.rules:
                self.rule(rule)
        before = -1
        for _ in range(_ROUNDS):
            for source, target in self.flows:
                source.absorb(target)
            now = sum(demand.size() for demand in (*self.calls.values(), *self.cells.values(), *self.actions.values()))
            if now == before or self.room[0] <= 0:
                break
            before = now
        return self.by_site()

    def by_site(self) -> dict[Site, tuple[str, Demand]]:
        plans = self.program.calls
        of_slots: dict[int, Demand] = {}
        for node, demand in self.calls.items():
            called = plans[node].target
            if called.slot is not None and not called.shadowed:
                of_slots.setdefault(called.slot, Demand()).absorb(demand)
        made = {}
        for node, demand in self.calls.items():
            called = plans[node].target
            if called.slot is not None and not called.shadowed:
                demand = of_slots[called.slot]
            made[plans[node].site] = (called.name, demand)
        return made

    # --- places ------------------------------------------------------------------------------------------------------

    def cell(self, number: int) -> Demand:
        if number not in self.cells:
            self.cells[number] = self.demand()
        return self.cells[number]

    def demand(self) -> Demand:
        return Demand(room=self.room)

    def place(self, node: n.Node | None) -> Demand | None:
        """What an expression stands for, if it is a way into a variable or a call."""
        match node:
            case n.Name():
                cell = self.program.reads.get(node)
                return self.cell(cell) if cell is not None else None
            case n.Member(object=whole, name=name):
                found = self.place(whole)
                return found.field(name) if found is not None and name != "length" else None
            case n.Index(object=whole, index=index):
                found = self.place(whole)
                if found is None:
                    return None
                if isinstance(index, n.Literal) and isinstance(index.value, str):
                    return found.field(index.value)
                return found.entry()
            case n.Call() | n.Invoke():
                return self.calls.get(node)
            case _:
                return None

    def source(self, node: n.Node | None) -> Demand | None:
        """What a value comes from."""
        known = self.place(node)
        if known is not None or node is None:
            return known
        if node in self.actions:
            return self.actions[node]
        made = self.demand()
        match node:
            case n.ObjectLiteral(entries=entries):
                for entry in entries:
                    self.becomes(entry.value, made.field(entry.key))
            case n.ListLiteral(items=items):
                for item in items:
                    self.becomes(item, made.entry())
            case n.Do(target=target, body=body):
                self.actions[node] = made
                block = self.program.blocks.get(target.id) if target is not None else None
                self.returned(block.body if block is not None else body, made)
            case n.ParallelFor(body=body) | n.ParallelRepeat(body=body) | n.Repeat(body=body) | n.For(body=body):
                self.actions[node] = made
                self.returned(body, made.entry())
            case _:
                return None
        self.actions[node] = made
        return made

    def returned(self, body: n.Body | None, into: Demand) -> None:
        """What a body gives: its `return`s, and its last statement."""
        if body is None:
            return
        stack: list[n.Node] = list(body.statements)
        last = body.statements[-1] if body.statements else None
        if isinstance(last, (n.Evaluate, n.Let)):
            self.becomes(last.value, into)
        while stack:
            node = stack.pop()
            if isinstance(node, n.Return):
                self.becomes(node.value, into)
            elif not isinstance(node, _OWN_BODIES):
                stack.extend(children(node))

    def becomes(self, value: n.Node | None, target: Demand) -> None:
        source = self.source(value)
        if source is not None:
            self.flows.append((source, target))

    # --- flows -------------------------------------------------------------------------------------------------------

    def flow(self, node: n.Node) -> None:
        writes = self.program.writes
        match node:
            case n.Let(name=name, value=value) if name in writes:
                self.becomes(value, self.cell(writes[name]))
            case n.Destructure(names=names, value=value):
                whole = self.source(value)
                for name in names:
                    if whole is not None:
                        self.flows.append((whole.field(name.id), self.cell(writes[name])))
            case n.Assign(name=name, path=path, value=value) if name in writes:
                target: Demand = self.cell(writes[name])
                for part in path:
                    target = target.field(part) if isinstance(part, str) else target.entry()
                self.becomes(value, target)
            case n.Record(value=value, name=name) if name in writes:
                self.becomes(value, self.cell(writes[name]).entry())
            case n.For(variable=variable, iterable=iterable) | n.ParallelFor(variable=variable, iterable=iterable):
                whole = self.place(iterable)
                if whole is not None and variable in writes:
                    whole.kinds.add("list")
                    self.flows.append((whole.entry(), self.cell(writes[variable])))
            case n.Do(target=target_name, arguments=arguments) if target_name is not None:
                block = self.program.blocks.get(target_name.id)
                for argument, parameter in zip(arguments, block.parameters if block else (), strict=False):
                    self.becomes(argument, self.cell(writes[parameter]))
            case _:
                pass

    # --- uses --------------------------------------------------------------------------------------------------------

    def use(self, node: n.Node) -> None:
        match node:
            case n.Member() | n.Index():
                self.place(node)
            case n.Binary(operator="<" | "<=" | ">" | ">=", left=left, right=right):
                self.measured(left, right)
            case n.Binary(operator="-" | "*" | "/", left=left, right=right):
                self.is_a("number", left, right)
            case n.Binary(operator="==" | "!=", left=left, right=right):
                self.compared(left, right)
                self.compared(right, left)
            case n.Binary(operator="in" | "not in", left=n.Literal(value=str() as key), right=whole):
                found = self.place(whole)
                if found is not None:
                    found.field(key).optional = True
            case n.Binary(operator="and" | "or", left=left, right=right):
                self.truth(left)
                self.truth(right)
            case n.Unary(operator="not", operand=operand):
                self.truth(operand)
            case _:
                pass

    def is_a(self, kind: str, *parts: n.Node) -> None:
        for part in parts:
            found = self.place(part)
            if found is not None:
                found.kinds.add(kind)

    def measured(self, left: n.Node, right: n.Node) -> None:
        """Two sides of a comparison are numbers, and what is compared with a bounded one is on its scale."""
        self.is_a("number", left, right)
        for part, other in ((left, right), (right, left)):
            found = self.place(part)
            base = self.program.names.get(other.id) if isinstance(other, n.Name) else None
            if found is not None and base is not None and base.item is not None:
                found.low = base.item.minimum if found.low is None else found.low
                found.high = base.item.maximum if found.high is None else found.high

    def truth(self, node: n.Node, labels: tuple[str, ...] = ()) -> None:
        """A field that is a whole condition is taken for its truth; one that is a whole choice for its label."""
        found = self.place(node)
        if found is not None and labels:
            found.labels.update(dict.fromkeys(labels))
        elif found is not None and isinstance(node, n.Member):
            found.kinds.add("boolean")

    def compared(self, part: n.Node, other: n.Node) -> None:
        found = self.place(part)
        if found is None or not isinstance(other, n.Literal):
            return
        match other.value:
            case bool():
                found.kinds.add("boolean")
            case int() | float():
                found.kinds.add("number")
            case str():
                found.words[other.value] = None
            case _:
                found.optional = True

    def rule(self, rule: Rule) -> None:
        """What a phrase or verdict reads."""
        if isinstance(rule, Compound):
            for part in rule.rules:
                self.rule(part)
            return
        subjects = list(self.subjects(rule.parts[0].expression, rule.layer))
        match rule:
            case Comparison(parts=parts):
                self.measured(parts[0].expression, parts[1].expression)
            case SameValue(parts=parts):
                self.compared(parts[0].expression, parts[1].expression)
                self.compared(parts[1].expression, parts[0].expression)
            case State(state="true" | "false"):
                for subject in subjects:
                    subject.kinds.add("boolean")
            case State():
                for subject in subjects:
                    subject.optional = True
            case Equality(literal=literal):
                for subject in subjects:
                    subject.words[literal] = None
            case Kind(kind=kind):
                for subject in subjects:
                    subject.kinds.add("text" if kind == "string" else kind)
            case HasItem(item=str() as key):
                for subject in subjects:
                    subject.field(key)
            case Explicit(fields=fields):
                for subject in subjects:
                    subject.field(fields[0]).kinds.add("boolean")
            case Says(word=word):
                for subject in subjects:
                    subject.said[word.lower()] = None
            case Verdict():
                for subject in subjects:
                    subject.decided = True
            case _:
                pass

    def subjects(self, expression: n.Expression, layer: str) -> Iterator[Demand]:
        """What a rule is about; a slot's name stands for the results of that slot in a verdict (L30.3)."""
        cell = self.program.reads.get(expression) if isinstance(expression, n.Name) else None
        if layer == "verdict" and cell is not None and cell in self.program.latest:
            for node, demand in self.calls.items():
                if self.program.calls[node].target.slot == cell:
                    yield demand
            return
        found = self.place(expression)
        if found is not None:
            yield found


#: The fields in which a decision is looked for.
DECISION_FIELDS = (*BOOLEAN_FIELDS, *TEXT_FIELDS)
