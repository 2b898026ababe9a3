"""The rule `read-before-set`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.semantics.scopes import published
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk


class ReadBeforeSet(Rule):
    """
    ## What it does

    A variable is read at a place that is reached, at least the first time, before anything has set it.

    ## Why

    A name that the body sets somewhere may be read anywhere and is null until then (L15). In a call null is not sent at
    all (L32), so the first pass of a loop silently differs from the others. Where that is meant, say it: set the
    variable to null before the loop. Branches of one `parallel:` do not see each other's variables, so one that reads
    what another sets always reads null. A variable with the name of an input or a config key starts as that, and is not
    told; neither is a read inside an `if` that a later pass of a loop may reach first, when the variable is set.

    ## Example

    <!-- slots: writer, critic -->
    ```prose
    repeat 3:
      let draft = call writer
        review: review
      let review = call critic
        draft: draft
    return draft
    ```

    ## Use instead

    <!-- slots: writer, critic -->
    ```prose
    let review = null
    repeat 3:
      let draft = call writer
        review: review
      review = call critic
        draft: draft
    return draft
    ```
    """

    name = "read-before-set"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        flow = _Flow(self, subject)
        flow.statements(subject.parsed.body.statements, set())
        return iter(flow.found)


#: What may keep the first pass of a loop from reaching a place in it: an arm, the body of a `try`, an empty loop.
_MAYBE = None


class _Flow:
    """One walk in the order of execution. A state holds the cells that may have been set on some way to a place, each
    loop run through once; a cell that is not in it holds nothing when the place is reached in the first pass.

    `around` are the loops around the place in hand, each as the cells that it sets, with `_MAYBE` between them.
    """

    def __init__(self, rule: ReadBeforeSet, subject: Subject) -> None:
        self.rule = rule
        self.subject = subject
        self.program = subject.program
        self.found: list[Finding] = []
        self.siblings: set[int] = set()  # what other branches of the `parallel:` in hand set
        self.around: list[frozenset[int] | None] = []
        self.tracked = set()
        for node in subject.nodes:
            if isinstance(node, n.Let):
                self.tracked.add(self.program.writes.get(node.name))
            elif isinstance(node, n.Destructure):
                self.tracked.update(self.program.writes.get(name) for name in node.names)
        self.tracked -= {cell for cell, _ in self.program.initial}
        self.tracked.discard(None)

    # --- reads and writes --------------------------------------------------------------------------------------------

    def reads(self, node: n.Node | None, state: set[int]) -> None:
        """Everything that an expression reads."""
        for name in walk(node) if node is not None else ():
            cell = self.program.reads.get(name) if isinstance(name, n.Name) else None
            if cell is None or cell in state or cell not in self.tracked:
                continue
            assert isinstance(name, n.Name)
            comes_round = any(cells is not _MAYBE and cell in cells for cells in self.around)
            if comes_round and not self.is_reached_first(cell):
                continue
            self.tracked.discard(cell)  # told once
            if cell in self.siblings:
                message = f"`{name.id}` is set in another branch, which this one cannot see; it is null here"
                hint = "set it before the block, or read it after"
            else:
                when = ", at least the first time" if comes_round else ""
                message = f"`{name.id}` is read before anything sets it; it is null here{when}"
                hint = f"set it before: let {name.id} = null"
            self.found.append(self.rule.at(self.subject, name, message, hint))

    def is_reached_first(self, cell: int) -> bool:
        """Whether the place in hand is reached before the loops around it, which set a cell further down, do so."""
        certain = True
        for cells in reversed(self.around):
            if cells is _MAYBE:
                certain = False
            elif cell in cells and not certain:
                return False
        return True

    @contextmanager
    def inside(self, cells: frozenset[int] | None) -> Iterator[None]:
        self.around.append(cells)
        yield
        self.around.pop()

    def loop(self, body: n.Body, state: set[int], *, certain: bool) -> None:
        """The body of a loop; `certain` tells that there is a first pass."""
        writes = self.program.writes
        cells = frozenset(writes[node] for node in walk(body) if isinstance(node, n.Name) and node in writes)
        with self.inside(frozenset() if certain else _MAYBE), self.inside(cells):
            self.statements(body.statements, state)

    def condition(self, condition: n.Condition | None, state: set[int]) -> None:
        plan = self.program.conditions.get(condition) if condition is not None else None
        if plan is None:
            return
        self.reads(plan.expression, state)
        for rule in plan.rules:
            for operand in rule.operands:
                self.reads(operand, state)
        for _, expression in plan.reads:
            if expression.start < expression.end:  # else the text names nothing, and the judge is shown all there is
                self.reads(expression, state)

    def writes(self, name: n.Name, state: set[int]) -> None:
        cell = self.program.writes.get(name)
        if cell is not None:
            state.add(cell)

    # --- statements --------------------------------------------------------------------------------------------------

    def statements(self, statements: Sequence[n.Statement], state: set[int]) -> None:
        for statement in statements:
            self.statement(statement, state)

    def statement(self, statement: n.Statement, state: set[int]) -> None:
        match statement:
            case n.Let(name=name, value=value):
                self.value(value, state)
                self.writes(name, state)
            case n.Destructure(names=names, value=value):
                self.value(value, state)
                for name in names:
                    self.writes(name, state)
            case n.Assign(name=name, path=path, value=value):
                for part in path:
                    if not isinstance(part, str):
                        self.reads(part, state)
                self.value(value, state)
                self.writes(name, state)
            case n.Record(value=value, name=name):
                self.reads(value, state)
                self.writes(name, state)
            case n.Evaluate(value=value):
                self.value(value, state)
            case n.Return(value=value) if value is not None:
                self.value(value, state)
            case n.Throw(value=value):
                self.reads(value, state)
            case n.BlockDef(body=body):
                around, self.around = self.around, []
                self.statements(body.statements, set())
                self.around = around
            case n.AgentDef(properties=properties):
                self.properties(properties, state)
            case _:
                pass

    def value(self, value: n.Value, state: set[int]) -> None:
        match value:
            case n.Call(arguments=arguments, properties=properties):
                for argument in arguments or ():
                    self.reads(argument, state)
                self.properties(properties, state)
            case n.Session(prompt=prompt, properties=properties):
                self.reads(prompt, state)
                self.properties(properties, state)
            case n.Resume(properties=properties):
                self.properties(properties, state)
            case n.Pipeline(source=source, stages=stages):
                self.value(source, state)
                for stage in stages:
                    self.statements(stage.body.statements, set(state))
            case n.Do(arguments=arguments, body=body):
                for argument in arguments:
                    self.reads(argument, state)
                if body is not None:
                    self.statements(body.statements, set(state))
            case n.Parallel():
                self.parallel(value, state)
            case n.ParallelFor(iterable=first, modifiers=modifiers, body=body):
                self.branches(first, modifiers, body, state)
            case n.ParallelRepeat(count=first, modifiers=modifiers, body=body):
                self.branches(first, modifiers, body, state)
            case n.Repeat(count=count, body=body):
                self.reads(count, state)
                self.loop(body, state, certain=True)
            case n.For(iterable=iterable, limit=limit, body=body):
                self.reads(iterable, state)
                self.reads(limit, state)
                self.loop(body, state, certain=False)
            case n.Loop(kind=kind, condition=condition, limit=limit, body=body):
                self.reads(limit, state)
                if kind == "while":
                    self.condition(condition, state)
                self.loop(body, state, certain=kind != "while")
                if kind == "until":
                    self.condition(condition, state)
            case n.If(arms=arms, otherwise=otherwise):
                self.condition(arms[0].condition, state)
                with self.inside(_MAYBE):
                    for arm in arms[1:]:
                        self.condition(arm.condition, state)
                bodies = [arm.body for arm in arms]
                self.ways([*bodies, otherwise] if otherwise is not None else bodies, state)
            case n.Choice(criteria=criteria, options=options):
                self.condition(criteria, state)
                self.ways([option.body for option in options], state)
            case n.Try(body=body, handler=handler, cleanup=cleanup):
                with self.inside(_MAYBE):
                    for part in (body, handler, cleanup):
                        if part is not None:
                            self.statements(part.statements, state)
            case _:
                self.reads(value, state)

    def ways(self, bodies: Sequence[n.Body], state: set[int]) -> None:
        """Bodies of which one is taken: what any of them sets may be set afterwards."""
        before = set(state)
        for body in bodies:
            own = set(before)
            with self.inside(_MAYBE):
                self.statements(body.statements, own)
            state |= own

    def parallel(self, node: n.Parallel, state: set[int]) -> None:
        for modifier in node.modifiers:
            self.reads(modifier.value, state)
        given = {self.program.writes[name] for name in published(node.branches) if name in self.program.writes}
        outer, self.siblings = self.siblings, self.siblings | given
        for branch in node.branches.statements:
            self.statement(branch, set(state))
        self.siblings = outer
        state |= given

    def branches(self, first: n.Expression, modifiers: Sequence[n.Modifier], body: n.Body, state: set[int]) -> None:
        self.reads(first, state)
        for modifier in modifiers:
            self.reads(modifier.value, state)
        self.statements(body.statements, set(state))

    def properties(self, properties: Sequence[n.Property], state: set[int]) -> None:
        for item in properties:
            self.properties(item.nested, state)
            if item.value is not None:
                self.value(item.value, state)
