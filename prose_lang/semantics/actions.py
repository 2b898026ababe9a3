"""Actions that hold bodies: loops, parallel blocks, `if`, `choice`, `try`, `do` and pipelines (L21–L28)."""

from __future__ import annotations

import abc
from collections.abc import Sequence

from prose_lang.semantics.bodies import Bodies
from prose_lang.semantics.modifiers import check_modifiers
from prose_lang.semantics.scopes import Scope, published
from prose_lang.syntax import nodes as n
from prose_lang.text import Span, did_you_mean, nearest


class Actions(Bodies, abc.ABC):
    """The part of the walk that goes into actions. Calls and conditions are read by the `Resolver`."""

    @abc.abstractmethod
    def call(self, node: n.Call) -> None:
        """Resolve a call."""

    @abc.abstractmethod
    def session(self, node: n.Session | n.Resume) -> None:
        """Resolve a session."""

    @abc.abstractmethod
    def condition(
        self, condition: n.Condition, word: str, labels: tuple[str, ...] = (), *, after: int | None = None
    ) -> None:
        """Plan a condition; in program order it comes before the statements it heads, or `after` so many of them."""

    def value(self, value: n.Value, *, collecting: bool) -> None:
        """A value; a `repeat` or `for` in value position collects (L22)."""
        match value:
            case n.Call():
                self.call(value)
            case n.Session() | n.Resume():
                self.session(value)
            case n.Pipeline(source=source, stages=stages):
                self.value(source, collecting=False)
                for number, stage in enumerate(stages):
                    self.stage(stage, number)
            case n.Do():
                self.do(value)
            case n.Parallel():
                self.parallel(value)
            case n.ParallelFor(variable=variable, index=index, iterable=iterable, modifiers=modifiers, body=body):
                self.expression(iterable)
                self.modifiers(modifiers, len(iterable.items) if isinstance(iterable, n.ListLiteral) else None)
                names = [(name, "is a loop variable") for name in (variable, index) if name is not None]
                self.sites[value] = self.addresses.site(value.span, "parallel")
                with self.addresses.inside(self.addresses.loop("parallel"), None):
                    self.own_body(body, names, tail=True)
            case n.ParallelRepeat(count=count, variable=counter, modifiers=modifiers, body=body):
                self.expression(count)
                self.count(count)
                self.modifiers(modifiers, _literal_count(count))
                names = [(counter, "is a loop variable")] if counter is not None else []
                self.sites[value] = self.addresses.site(value.span, "parallel")
                with self.addresses.inside(self.addresses.loop("parallel"), None):
                    self.own_body(body, names, tail=True)
            case n.Repeat(count=count, variable=counter, body=body):
                self.expression(count)
                self.count(count)
                self.loop(value, "repeat", [counter], body, collecting=collecting)
            case n.For(variable=variable, index=index, iterable=iterable, limit=limit, body=body):
                self.expression(iterable)
                if limit is not None:
                    self.expression(limit)
                    self.count(limit)
                self.loop(value, "for", [variable, index], body, collecting=collecting)
            case n.Loop(condition=condition, limit=limit, variable=counter, body=body):
                if limit is not None:
                    self.expression(limit)
                    self.count(limit)
                else:
                    self.lint("unbounded-loop", "this loop has no `max`", Span(value.start, value.start + 4),
                              hint="bound it: (max: 10)")  # fmt: skip
                self.loop(value, "loop", [counter], body, collecting=False, condition=condition)
            case n.If(arms=arms, otherwise=otherwise):
                for number, arm in enumerate(arms):
                    with self.addresses.inside(f".if{number}", number):
                        self.condition(arm.condition, "if")
                        self.statements(arm.body.statements, tail=False)
                if otherwise is not None:
                    with self.addresses.inside(".else", len(arms)):
                        self.statements(otherwise.statements, tail=False)
            case n.Choice():
                self.choice(value)
            case n.Try():
                self.try_(value)
            case _:
                self.expression(value)

    def loop(
        self,
        node: n.Repeat | n.For | n.Loop,
        word: str,
        names: Sequence[n.Name | None],
        body: n.Body,
        *,
        collecting: bool,
        condition: n.Condition | None = None,
    ) -> None:
        outer = self.scope
        self.scope = Scope(outer, frame=False)
        for name in names:
            if name is not None:
                self.declare_local(name, "is a loop variable")
        if collecting:
            self.collects.add(node)
        self.sites[node] = self.addresses.site(node.span, word)
        open_loop, self.loops[-1] = self.loops[-1], True
        with self.addresses.inside(self.addresses.loop(word), None):
            if condition is not None:
                until = isinstance(node, n.Loop) and node.kind == "until"
                self.condition(condition, word, after=len(body.statements) if until else None)
            self.statements(body.statements, tail=collecting)
        self.loops[-1] = open_loop
        self.scope = outer

    def count(self, expression: n.Expression) -> None:
        """A literal loop count that cannot be one is found before the run (L21)."""
        if isinstance(expression, (n.ListLiteral, n.ObjectLiteral, n.Text)):
            self.report("P302", "a loop count is a whole number from 1", expression)
            return
        if not isinstance(expression, n.Literal):
            return
        value = expression.value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 1 or value != int(value):
            self.report("P302", "a loop count is a whole number from 1", expression)

    def stage(self, stage: n.Stage, number: int) -> None:
        item = n.Name(stage.start, stage.start, "item")
        names = stage.names or (item,)
        with self.addresses.inside(f".{number}{self.addresses.loop(stage.kind)}", number, None):
            self.sites[stage] = self.addresses.site(stage.span, stage.kind)
            self.own_body(stage.body, [(name, "is a pipeline name") for name in names])
        if not stage.names:
            self.items[stage] = self.writes[item]

    def do(self, node: n.Do) -> None:
        if node.body is not None:
            with self.addresses.inside(".do", 0):
                self.own_body(node.body, [])
            return
        target = node.target
        assert target is not None
        for argument in node.arguments:
            self.expression(argument)
        block = self.blocks.get(target.id)
        if block is None:
            if target.id not in self.broken_words:
                close = nearest(target.id, self.blocks)
                known = ", ".join(f"`{name}`" for name in self.blocks)
                hint = f"the blocks are {known}" if known else f"define it: block {target.id}(…):"
                hint = did_you_mean(close[:1]) or hint
                self.report("P202", f"there is no block `{target.id}`", target, hint=hint)
        elif len(node.arguments) != len(block.parameters):
            code = "P203" if len(node.arguments) < len(block.parameters) else "P210"
            wanted = ", ".join(name.id for name in block.parameters) or "nothing"
            self.report(code, f"the block `{target.id}` takes {wanted}; {len(node.arguments)} given", target)
        self.sites[node] = self.addresses.site(node.span, f"do:{target.id}")

    def parallel(self, node: n.Parallel) -> None:
        self.modifiers(node.modifiers, len(node.branches.statements))
        self.sites[node] = self.addresses.site(node.span, "parallel")
        seen: dict[str, n.Name] = {}
        for name in published(node.branches):
            if name.id in seen:
                self.report("P204", f"two branches set `{name.id}`; which one is meant?", name,
                            hint="give each branch a name of its own")  # fmt: skip
            seen.setdefault(name.id, name)
        for index, branch in enumerate(node.branches.statements):
            with self.addresses.inside(f".parallel[{index}]", index):
                outer = self.scope
                self.scope = Scope(outer, frame=True)
                self.open_frame([branch])
                self.loops.append(False)
                constants, self.constants = self.constants, frozenset()
                with self.addresses.inside("/0", 0):
                    self.statement(branch, tail=True)
                self.constants = constants
                self.loops.pop()
                self.scope = outer
        for name in published(node.branches):
            found = self.scope.find(name.id)
            if found is not None and found[0].read_only and found[0].read_only != "is a constant":
                self.report("P208", f"`{name.id}` {found[0].read_only} and is read-only here", name)
            else:
                self.not_constant(name)

    def choice(self, node: n.Choice) -> None:
        labels: set[str] = set()
        self.condition(node.criteria, "choice", labels=tuple(option.label for option in node.options))
        for number, option in enumerate(node.options):
            if option.label in labels:
                self.report("P207", f'the option "{option.label}" stands twice', option)
            labels.add(option.label)
            with self.addresses.inside(f".option{number}", number):
                self.statements(option.body.statements, tail=False)

    def try_(self, node: n.Try) -> None:
        with self.addresses.inside(".try", 0):
            self.statements(node.body.statements, tail=False)
        if node.handler is not None:
            outer = self.scope
            self.scope = Scope(outer, frame=False)
            if node.name is not None:
                self.declare_local(node.name, "is the caught error")
            with self.addresses.inside(".catch", 1):
                self.statements(node.handler.statements, tail=False)
            self.scope = outer
        if node.cleanup is not None:
            with self.addresses.inside(".finally", 2):
                self.statements(node.cleanup.statements, tail=False)

    def modifiers(self, modifiers: Sequence[n.Modifier], branches: int | None) -> None:
        for modifier in modifiers:
            self.expression(modifier.value)
        check_modifiers(self.report, modifiers, branches)


def _literal_count(count: n.Expression) -> int | None:
    """How many branches a literal count means; None if it is none, or no whole number."""
    value = count.value if isinstance(count, n.Literal) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
