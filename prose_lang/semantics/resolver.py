"""The walk that says what every name, call and condition of a body means (L14–L18, L22, L35).

It finds all faults in one pass. Names that stand in conditions and interpolations are resolved last, because they
create no implicit inputs (L15) but may read one that a binding creates. Calls are looked at in `calls.py`, conditions
in `conditions.py`; the rules of scopes are in `scopes.py`, those of collecting loops in `returns.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain

from prose_lang.diagnostics import Diagnostic, Severity
from prose_lang.documents.model import Document, Entry
from prose_lang.semantics.addressing import Addresses
from prose_lang.semantics.calls import check_call, plan_call
from prose_lang.semantics.conditions import plan_condition
from prose_lang.semantics.environment import Environment
from prose_lang.semantics.modifiers import check_modifiers
from prose_lang.semantics.persistence import BadScope, is_storable, persisted
from prose_lang.semantics.program import Base, CallPlan, ConditionPlan, Site, Target
from prose_lang.semantics.returns import collects_as_tail
from prose_lang.semantics.scopes import Scope, Variable, declarations, published
from prose_lang.syntax import ExpressionParser, Parsed
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk
from prose_lang.text import Span, nearest
from prose_lang.values import as_number

_ARITHMETIC = re.compile(r"-\d|\d-")
#: How a text begins that tells a reader which value belongs in its place.
_PLACEHOLDER = re.compile(r"(?:the )?(?:number|count|list|array|name) of \w", re.IGNORECASE)


class Resolver:
    """One walk over one body. The tables it fills become the Program's."""

    def __init__(self, document: Document, entry: Entry, parsed: Parsed, environment: Environment) -> None:
        self.document = document
        self.entry = entry
        self.source = parsed.source
        self.parsed = parsed
        self.broken_words = parsed.broken_words
        self.environment = environment
        self.parse_expression = ExpressionParser(parsed.source)
        self.is_pattern = entry.kind == "pattern"
        self.diagnostics: list[Diagnostic] = []
        self.cells = 1  # cell 0 is the activation's
        self.bases: dict[str, Base] = {}
        self.initial: list[tuple[int, int]] = []
        self.unbased: dict[str, list[int]] = {}  # variables that start null, unless an implicit input gets their name
        self.reads: dict[n.Name, int] = {}
        self.config_reads: set[n.Name] = set()
        self.writes: dict[n.Name, int] = {}
        self.sites: dict[n.Node, Site] = {}
        self.calls: dict[n.Node, CallPlan] = {}
        self.conditions: dict[n.Condition, ConditionPlan] = {}
        self.collects: set[n.Node] = set()
        self.growing: set[int] = set()
        self.aliases: dict[int, int] = {}
        self.latest: dict[int, int] = {}
        self.items: dict[n.Stage, int] = {}
        self.blocks: dict[str, n.BlockDef] = {}
        self.agents: dict[str, n.AgentDef] = {}
        self.uses: dict[str, n.Use] = {}
        self.called: list[tuple[n.Call, CallPlan]] = []
        self.unprovided: set[str] = set()
        self.later: list[tuple[Scope, Callable[[], None]]] = []
        self.loops = [False]  # whether a loop of the body in hand is open, for `break` and `continue`
        self.constants: frozenset[int] = frozenset()  # the cells of the constants that the lists in hand have set
        self.scope = Scope(None, frame=True)
        section = "delegation" if self.is_pattern else "execution"
        self.addresses = Addresses(self.source, section)
        for kind, names in (
            ("slot", [(slot.name, None, slot) for slot in entry.slots]),
            ("config", [(item.name, item, None) for item in entry.config]),
            ("input", [(item.name, item, None) for item in entry.inputs]),
        ):
            for name, item, slot in names:
                if name not in self.bases:
                    self.bases[name] = Base(name, kind, self.cell(), item, slot)

    # --- small things ------------------------------------------------------------------------------------------------

    def cell(self) -> int:
        self.cells += 1
        return self.cells - 1

    def report(self, code: str, message: str, node: n.Node | Span, hint: str | None = None) -> None:
        span = node if isinstance(node, Span) else node.span
        self.diagnostics.append(Diagnostic(code, message, self.source, span, hint=hint))

    def lint(self, name: str, message: str, node: n.Node | Span, hint: str | None = None) -> None:
        span = node if isinstance(node, Span) else node.span
        self.diagnostics.append(
            Diagnostic(None, message, self.source, span, name=name, severity=Severity.WARNING, hint=hint)
        )

    def nearest(self, name: str, candidates: Iterable[str]) -> list[str]:
        """The names that look most like one, for a hint; after a hundred reports nobody reads any."""
        return nearest(name, candidates) if len(self.diagnostics) < 100 else []

    def known_names(self) -> list[str]:
        return [*dict.fromkeys([*self.scope.visible(), *self.bases])]

    # --- bodies and statement lists ----------------------------------------------------------------------------------

    def resolve(self, body: n.Body) -> None:
        """Resolve the whole body, then what had to wait for it."""
        self.open_frame(body.statements)
        self.hoist(body)
        self.statements(body.statements, tail=False)
        for scope, task in self.later:
            self.scope = scope
            task()
        for call, plan in self.called:
            check_call(self, call, plan)

    def hoist(self, body: n.Body) -> None:
        """Blocks, agents and uses are known everywhere, wherever they stand (L28: blocks call each other)."""
        for statement in walk(body):
            match statement:
                case n.BlockDef(name=name):
                    if name.id in self.blocks:
                        self.report("P207", f"the block `{name.id}` is defined twice", name)
                    self.blocks.setdefault(name.id, statement)
                case n.AgentDef(name=name):
                    if name.id in self.agents:
                        self.report("P207", f"the agent `{name.id}` is defined twice", name)
                    self.agents.setdefault(name.id, statement)
                case n.Use(alias=alias, reference=reference):
                    name_text = alias.id if alias else reference.rstrip("/").rsplit("/", 1)[-1]
                    if name_text in self.uses:
                        self.report("P207", f"`{name_text}` is declared twice", alias or statement)
                    self.uses.setdefault(name_text, statement)
                case _:
                    pass

    def open_frame(self, statements: Sequence[n.Statement]) -> None:
        """Give the variables of a body their cells in the frame scope that is the current scope."""
        names: dict[str, Variable] = {}
        for name, constant in declarations(statements):
            known = names.get(name.id)
            why = "is a constant" if constant or (known and known.read_only) else ""
            if known is not None:
                names[name.id] = Variable(name.id, known.cell, why)
                continue
            outer = self.scope.parent.find(name.id) if self.scope.parent else None
            if outer is not None:
                # The row of the body is a copy of the one around it: the same cell starts with the outer value (L18).
                cell = outer[0].cell
            else:
                cell = self.cell()
                base = self.bases.get(name.id)
                if base is not None:
                    self.initial.append((cell, base.cell))
                else:
                    self.unbased.setdefault(name.id, []).append(cell)
            names[name.id] = Variable(name.id, cell, why)
        self.scope.names.update(names)

    def own_body(
        self, body: n.Body, parameters: Sequence[tuple[n.Name, str]], *, tail: bool = False, sealed: bool = False
    ) -> None:
        """A body with a frame of its own, and names that are read-only in it.

        A `sealed` body (a block's) sees nothing of the bodies around it but the base names (§9 L14).
        """
        outer = self.scope
        self.scope = Scope(None if sealed else outer, frame=False)
        for name, why in parameters:
            self.declare_local(name, why)
        self.scope = Scope(self.scope, frame=True)
        self.open_frame(body.statements)
        self.loops.append(False)
        constants, self.constants = self.constants, frozenset()
        self.statements(body.statements, tail=tail)
        self.constants = constants
        self.loops.pop()
        self.scope = outer

    def declare_local(self, name: n.Name, why: str) -> None:
        if name.id in self.scope.names:
            self.report("P207", f"`{name.id}` is declared twice here", name)
            return
        cell = self.cell()
        self.scope.names[name.id] = Variable(name.id, cell, why)
        self.writes[name] = cell

    def statements(self, statements: Sequence[n.Statement], *, tail: bool) -> None:
        """A statement list; in a collecting pass or branch its last loop may collect (`tail`, L22)."""
        declared: dict[str, n.Name] = {}
        constants = self.constants
        for index, statement in enumerate(statements):
            for name in _declared_by(statement):
                if name.id in declared:
                    self.report(
                        "P207",
                        f"`{name.id}` is declared twice in the same list of statements",
                        name,
                        hint=f"assign to it instead: {name.id} = …",
                    )
                else:
                    self.not_constant(name)
                declared.setdefault(name.id, name)
            with self.addresses.inside(f"/{index}", index):
                self.statement(statement, tail=tail and index == len(statements) - 1)
            if isinstance(statement, (n.Let, n.Destructure)) and statement.constant:
                self.constants |= {self.writes[name] for name in _declared_by(statement) if name in self.writes}
        self.constants = constants

    def not_constant(self, name: n.Name) -> None:
        """A `let` of a constant that stands before it, in a list around, would assign it (L14, L16)."""
        found = self.scope.find(name.id)
        if found is not None and found[0].cell in self.constants:
            self.report("P208", f"`{name.id}` is a constant and is read-only", name)

    def statement(self, statement: n.Statement, *, tail: bool) -> None:
        match statement:
            case n.Let(name=name, value=value):
                self.value(value, collecting=True)
                self.declare(name)
            case n.Destructure(names=names, value=value):
                self.value(value, collecting=True)
                for name in names:
                    self.declare(name)
            case n.Assign(name=name, path=path, value=value):
                self.value(value, collecting=True)
                for part in path:
                    if not isinstance(part, str):
                        self.expression(part)
                self.write(name, "assign")
            case n.Evaluate(value=value):
                collecting = tail and isinstance(value, (n.Repeat, n.For)) and collects_as_tail(value)
                self.value(value, collecting=collecting)
            case n.Return(value=value):
                if value is not None:
                    self.value(value, collecting=True)
                    self.placeholders(value)
            case n.Throw(value=value):
                if value is not None:
                    self.expression(value)
            case n.Record(value=value, name=name):
                self.expression(value)
                self.write(name, "record")
                if name in self.writes:
                    self.growing.add(self.writes[name])
            case n.Break() | n.Continue():
                word = "break" if isinstance(statement, n.Break) else "continue"
                if not self.loops[-1]:
                    self.report("P101", f"`{word}` stands in no loop of this body", statement)
            case n.BlockDef(name=name, parameters=parameters, body=body):
                self.block(name, parameters, body)
            case n.AgentDef(properties=properties):
                self.persistence(properties, statement.name)
                self.properties(properties)
            case n.Use() | n.Malformed():
                pass

    def placeholders(self, value: n.Value) -> None:
        """`attempts: "number of attempts"`: published files describe a value so; a text is a text (§9 L6)."""
        for entry in value.entries if isinstance(value, n.ObjectLiteral) else ():
            text = entry.value
            if isinstance(text, n.Literal) and isinstance(text.value, str) and _PLACEHOLDER.match(text.value):
                message = f"`{entry.key}` is returned as this text itself, not as what it describes"
                self.lint("placeholder-text", message, text, hint="write the expression that gives the value")

    def block(self, name: n.Name, parameters: Sequence[n.Name], body: n.Body) -> None:
        around, self.addresses = self.addresses, Addresses(self.source, "")
        self.own_body(body, [(parameter, "is a parameter") for parameter in parameters], sealed=True)
        self.addresses = around

    # --- names -------------------------------------------------------------------------------------------------------

    def declare(self, name: n.Name) -> None:
        for scope in self.scope.chain():
            found = scope.names.get(name.id)
            if scope.frame:
                if found is not None:
                    self.writes[name] = found.cell
                return
            if found is not None:
                self.report(
                    "P208",
                    f"`{name.id}` {found.read_only} and is read-only here",
                    name,
                    hint="choose another name for the new variable",
                )
                self.writes[name] = found.cell
                return

    def write(self, name: n.Name, what: str) -> None:
        """An assignment, `record` or `append` to an existing variable."""
        found = self.scope.find(name.id)
        if found is None:
            self.write_nowhere(name, what)
            return
        variable, own = found
        if variable.read_only:
            self.report("P208", f"`{name.id}` {variable.read_only} and is read-only", name)
        elif not own:
            self.report(
                "P205",
                f"`{name.id}` belongs to the body around this one and cannot be changed from here",
                name,
                hint=f"return the value to the body around, or make a copy first: let {name.id} = {name.id}",
            )
        self.writes[name] = variable.cell

    def write_nowhere(self, name: n.Name, what: str) -> None:
        base = self.bases.get(name.id)
        if base is not None:
            article = {"slot": "a slot", "config": "a config key"}.get(base.kind, "an input")
            self.report(
                "P208",
                f"`{name.id}` is {article} and is read-only",
                name,
                hint=f"make a variable of it first: let {name.id} = {name.id}",
            )
            self.writes[name] = base.cell
            return
        if name.id == "config":
            self.report("P208", "`config` stands for the config keys and is read-only", name)
            self.writes[name] = self.cell()
            return
        if name.id in self.broken_words:
            self.writes[name] = self.cell()
            return
        close = self.nearest(name.id, self.scope.visible())
        hint = (
            f"did you mean `{close[0]}`?"
            if close
            else f"declare it first: let {name.id} = {'[]' if what == 'record' else '…'}"
        )
        self.report("P201", f"nothing declares `{name.id}`", name, hint=hint)
        self.writes[name] = self.cell()

    def lookup(self, name: str) -> int | None:
        """The cell that a name is read from, or None."""
        found = self.scope.find(name)
        if found is not None:
            return found[0].cell
        base = self.bases.get(name)
        return base.cell if base is not None else None

    def read(self, name: n.Name, *, implicit: bool = True) -> None:
        cell = self.lookup(name.id)
        if cell is not None:
            self.reads[name] = cell
            return
        if name.id == "config":
            self.config_reads.add(name)
            return
        if name.id in self.broken_words:
            self.reads[name] = self.cell()
            return
        arithmetic = self.arithmetic_hint(name.id)
        if implicit and self.is_pattern and arithmetic is None:
            base = Base(name.id, "implicit", self.cell())
            self.bases[name.id] = base
            self.initial += [(variable, base.cell) for variable in self.unbased.pop(name.id, ())]
            self.reads[name] = base.cell
            self.lint(
                "undeclared-input",
                f"nothing declares `{name.id}`; it is taken as an optional input",
                name,
                hint=f"declare it under Requires: {name.id}: string -- (optional) …",
            )
            return
        self.unknown(name, arithmetic)

    def unknown(self, name: n.Name, arithmetic: str | None = None) -> None:
        hint = arithmetic
        if hint is None:
            close = self.nearest(name.id, chain(self.scope.visible(), self.bases))
            hint = "did you mean " + " or ".join(f"`{one}`" for one in close) + "?" if close else None
        self.report("P201", f"nothing declares `{name.id}`", name, hint=hint)
        self.reads[name] = self.cell()

    def arithmetic_hint(self, name: str) -> str | None:
        """`n-1` is one name (L9); whoever writes it mostly means a difference (L15)."""
        if "-" not in name:
            return None
        parts = name.split("-")
        known = [self.lookup(part) is not None or as_number(part) is not None for part in parts]
        if all(known) or _ARITHMETIC.search(name):
            return f"a minus needs spaces around it: {' - '.join(parts)}"
        return None

    # --- expressions -------------------------------------------------------------------------------------------------

    def expression(self, expression: n.Expression) -> None:
        match expression:
            case n.Literal():
                pass
            case n.Name():
                self.read(expression)
            case n.Text(parts=parts):
                for part in parts:
                    if not isinstance(part, str):
                        self.later.append((self.scope, partial(self.interpolation, part)))
            case n.Member(object=inner):
                self.expression(inner)
                self.note_alias(expression)
            case n.Index(object=inner, index=index):
                self.expression(inner)
                self.expression(index)
            case n.ListLiteral(items=items):
                for item in items:
                    self.expression(item)
            case n.ObjectLiteral(entries=entries):
                seen: set[str] = set()
                for entry in entries:
                    if entry.key in seen:
                        self.report("P207", f"the key `{entry.key}` stands twice in this object", entry)
                    seen.add(entry.key)
                    self.expression(entry.value)
            case n.Unary(operand=operand):
                self.expression(operand)
            case n.Binary(left=left, right=right):
                self.expression(left)
                self.expression(right)
            case n.Invoke(target=target, arguments=arguments):
                for argument in arguments:
                    self.expression(argument)
                self.invoke(expression, target)

    def interpolation(self, part: n.Expression) -> None:
        name = part
        while isinstance(name, n.Member):
            self.note_alias(name)
            name = name.object
        if isinstance(name, n.Name):
            self.read(name, implicit=False)

    def note_alias(self, member: n.Member) -> None:
        """`x.out` may be the single output of the call that set `x` (§9 L13): give `x` a cell to remember that in."""
        if isinstance(member.object, n.Name):
            found = self.scope.find(member.object.id)
            if found is not None and not found[0].read_only and found[0].cell not in self.aliases:
                self.aliases[found[0].cell] = self.cell()

    def invoke(self, node: n.Invoke, target: n.Name) -> None:
        site = self.addresses.site(node.span, f"call:{target.id}")
        plan = CallPlan(self.target(target), site, (), {}, {})
        self.calls[node] = plan
        signature = self.environment.signature(target.id)
        if signature is None and plan.target.slot is None and plan.target.variable is None:
            self.unknown_target(target)

    def target(self, name: n.Name) -> Target:
        found = self.scope.find(name.id)
        base = self.bases.get(name.id)
        slot = base.cell if base is not None and base.kind == "slot" else None
        variable = found[0].cell if found is not None else None
        if variable is None and base is not None and base.kind != "slot":
            variable = base.cell  # an input or a config key may hold a reference
        static = self.environment.signature(name.id) is not None or name.id in self.uses
        shadowed = found is not None and found[0].read_only not in ("", "is a constant")
        return Target(name.id, name.span, slot, variable, static, shadowed)

    def unknown_target(self, name: n.Name) -> None:
        if name.id in self.broken_words:
            return
        if name.id in self.entry.services:
            if name.id not in self.unprovided:  # said once, and not at each of its calls
                advice = f"put {name.id}.prose.md beside this file, or give such a service (--services, --script)"
                self.report("P202", f"Services lists `{name.id}`, and nothing provides it", name, advice)
            self.unprovided.add(name.id)
            return
        candidates = [base.name for base in self.bases.values() if base.kind == "slot"]
        candidates += self.environment.names()
        # Of the variables, those of loops may hold a service; a result cannot be called.
        candidates += [name for scope in self.scope.chain() for name, held in scope.names.items() if held.read_only]
        close = self.nearest(name.id, dict.fromkeys(candidates))
        hint = "did you mean " + " or ".join(f"`{one}`" for one in close) + "?" if close else None
        if hint is None and name.id in self.blocks:
            hint = f"`{name.id}` is a block: do {name.id}(…)"
        self.report("P202", f"there is nothing called `{name.id}` to call", name, hint=hint)

    # --- values ------------------------------------------------------------------------------------------------------

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
                self.modifiers(modifiers, None)
                names = [(name, "is a loop variable") for name in (variable, index) if name is not None]
                self.sites[value] = self.addresses.site(value.span, "parallel")
                with self.addresses.inside(self.addresses.loop("parallel"), None):
                    self.own_body(body, names, tail=True)
            case n.ParallelRepeat(count=count, variable=counter, modifiers=modifiers, body=body):
                self.expression(count)
                self.count(count)
                self.modifiers(modifiers, None)
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
                hint = f"did you mean `{close[0]}`?" if close else "define it: block name(parameters):"
                self.report("P202", f"there is no block `{target.id}`", target, hint=hint)
        elif len(node.arguments) != len(block.parameters):
            code = "P203" if len(node.arguments) < len(block.parameters) else "P210"
            wanted = ", ".join(name.id for name in block.parameters) or "nothing"
            self.report(code, f"the block `{target.id}` takes {wanted}; {len(node.arguments)} given", target)
        self.sites[node] = self.addresses.site(node.span, f"do:{target.id}")

    def parallel(self, node: n.Parallel) -> None:
        self.modifiers(node.modifiers, len(node.branches.statements))
        seen: dict[str, n.Name] = {}
        for name in published(node.branches):
            if name.id in seen:
                self.report("P204", f"two branches set `{name.id}`; which one is meant?", name)
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

    # --- calls and conditions ----------------------------------------------------------------------------------------

    def call(self, node: n.Call) -> None:
        if node.arguments is not None:
            for argument in node.arguments:
                self.expression(argument)
        target = self.target(node.target)
        if node.quoted:
            target = Target(node.target.id, node.target.span, None, None, True)
            if self.environment.signature(node.target.id) is None:
                self.report("P109", f"`{node.target.id}` does not resolve", node.target)
        with self.addresses.inside("", len(node.properties)):  # it starts after the calls among its properties
            site = self.addresses.site(node.span, f"call:{node.target.id}")
        self.properties(node.properties)
        plan = plan_call(target, site, node.properties)
        self.calls[node] = plan
        listed = target.name in self.entry.services  # a result of the same name does not hide that nothing gave it
        if target.slot is None and not target.static and (target.variable is None or listed):
            self.unknown_target(node.target)
        self.called.append((node, plan))

    def properties(self, properties: Sequence[n.Property]) -> None:
        seen: set[str] = set()
        for number, item in enumerate(properties):
            if item.name in seen:
                self.report("P209", f"`{item.name}` is bound twice", Span(item.start, item.name_end))
            seen.add(item.name)
            with self.addresses.inside(f".{item.name}", number):
                self.properties(item.nested)
                if item.value is None:
                    continue
                if isinstance(item.value, n.Name) and is_symbol(item.name, item.value.id, self.lookup):
                    continue
                self.value(item.value, collecting=True)

    def session(self, node: n.Session | n.Resume) -> None:
        agent = node.agent
        if agent is not None and agent.id not in self.agents and agent.id not in self.broken_words:
            close = nearest(agent.id, self.agents)
            hint = f"did you mean `{close[0]}`?" if close else f"define it: agent {agent.id}:"
            self.report("P202", f"there is no agent `{agent.id}`", agent, hint=hint)
        if isinstance(node, n.Session) and node.prompt is not None:
            self.expression(node.prompt)
        self.persistence(node.properties, agent)
        word = "session" if isinstance(node, n.Session) else "resume"
        self.sites[node] = self.addresses.site(node.span, word)
        self.properties(node.properties)

    def persistence(self, properties: Sequence[n.Property], agent: n.Name | None) -> None:
        try:
            scope = persisted(properties)
        except BadScope as error:
            self.report("P212", str(error), error.node, hint="write persist: true, or persist: project")
            return
        if scope not in (None, "run") and agent is not None and not is_storable(agent.id):
            message = f"`{agent.id}` cannot name the file that keeps its conversation"
            self.report("P212", message, agent, hint="use the letters a to z, digits, `_` and `-`, up to 64 of them")

    def condition(
        self, condition: n.Condition, word: str, labels: tuple[str, ...] = (), *, after: int | None = None
    ) -> None:
        """A condition; in program order it comes before the statements it heads, or `after` so many of them."""
        with self.addresses.inside("", -1 if after is None else after):
            site = self.addresses.site(condition.span, word)
            addresses, path, order = self.addresses, self.addresses.path, self.addresses.order

        def plan() -> None:
            self.addresses, addresses.path, addresses.order = addresses, path, order
            plan_condition(self, condition, site, labels)

        self.later.append((self.scope, plan))

    def names_resolve(self, expression: n.Expression) -> bool:
        """Whether every name in an expression means something here; names to call included."""
        called = {node.target for node in walk(expression) if isinstance(node, n.Invoke)}
        for node in walk(expression):
            if isinstance(node, n.Name):
                if node in called:
                    if self.environment.signature(node.id) is None:
                        return False
                elif self.lookup(node.id) is None and node.id != "config" and node.id not in self.broken_words:
                    return False
        return True


def is_symbol(key: str, word: str, lookup: Callable[[str], int | None]) -> bool:
    """Whether a bare word is a symbol, not a name (L9): `model: sonnet`, `persist: project`, `backoff: linear`."""
    if key in ("persist", "backoff"):
        return True
    return key == "model" and lookup(word) is None


def _declared_by(statement: n.Statement) -> Sequence[n.Name]:
    """What a statement of a list declares. The `let`s under a `parallel:` stand in a list of their own (§9 L14)."""
    match statement:
        case n.Let(name=name):
            return (name,)
        case n.Destructure(names=names):
            return names
        case _:
            return ()
