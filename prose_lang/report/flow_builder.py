"""From a checked program to its flow. Statements that call nothing and decide nothing have no box of their own, unless
a body would else be empty.

Every call site, every session and every condition becomes one step. Blocks, agents that call something, and, on
request, nested patterns are drawn once, beside the program, however many steps use them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from prose_lang.diagnostics import CheckError
from prose_lang.engine import Engine, Pattern
from prose_lang.engine.linker import Unit
from prose_lang.report.callees import Callees
from prose_lang.report.flow import Column, Edge, Flow, Fork, Frame, Ladder, Part, Step, first_steps
from prose_lang.report.known import Bodied, Listed, Meaning, Plain, Reached
from prose_lang.report.meanings import Meanings, given
from prose_lang.report.wording import Wording, clipped
from prose_lang.semantics import Program
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import children, walk


class Loose(NamedTuple):
    """An edge that has no target yet."""

    source: str
    label: str = ""
    kind: str = "next"


class Built(NamedTuple):
    """Parts, and the loose edges that lead out of them."""

    parts: tuple[Part, ...]
    out: tuple[Loose, ...]


def flow_of(engine: Engine, pattern: Pattern, *, nested: bool = False) -> Flow:
    """The flow of a pattern; with `nested` those of the entries it calls too. Raises CheckError with all faults."""
    linker = engine.linked(pattern)
    if pattern.entry.body is None:
        raise CheckError("P105", f"`{pattern.entry.name}` has no body to draw",
                         source=pattern.document.source, span=pattern.entry.span)  # fmt: skip
    program = linker.program(Unit(pattern.document, pattern.entry))
    drawing = _Drawing(Callees(linker), engine.max_passes, nested=nested)
    return drawing.flow(program)


class _Drawing:
    """One flow in the making: its edges, its numbers, and the nested programs that are still to be drawn."""

    def __init__(self, callees: Callees, ceiling: int, *, nested: bool) -> None:
        self.callees = callees
        self.ceiling = ceiling
        self.nested = nested
        self.edges: list[Edge] = []
        self.used: dict[tuple[Unit, str], tuple[Bodied, list[str]]] = {}
        self.counts = {"n": 0, "f": 0}
        self.slots: tuple[str, ...] = ()  # of the program that is drawn, not of those it calls

    def flow(self, program: Program) -> Flow:
        assert program.body is not None
        self.slots = tuple(slot.name for slot in program.entry.slots)
        names = [base.name for base in program.bases if base.kind in ("input", "config", "implicit")]
        start = Step(self.id("n"), "start", (program.entry.name, *([clipped(", ".join(names), 80)] if names else [])),
                     program.source.position(program.body.start).line)  # fmt: skip
        meanings = Meanings(program, {base.name: given(base) for base in program.bases}, self.callees)
        builder = _Builder(self, meanings)
        parts, out = builder.sequence(program.body.statements, (Loose(start.id),))
        parts = (start, *parts)
        if out:
            end = builder.step(
                "end", ("end",), program.body.statements[-1] if program.body.statements else program.body, out
            )
            parts = (*parts, end)
        definitions = list(builder.definitions())
        done = 0
        while done < len(self.used):
            callee, users = list(self.used.values())[done]
            done += 1
            definitions += self.callee(callee, users)
        return Flow(program.entry.name, parts, tuple(definitions), tuple(dict.fromkeys(self.edges)), self.slots)

    def id(self, letter: str) -> str:
        self.counts[letter] += 1
        return f"{letter}{self.counts[letter]}"

    def use(self, callee: Bodied, step: Step) -> None:
        """Note that a step calls an entry with a body."""
        if self.nested:
            self.used.setdefault((callee.unit, callee.instance), (callee, []))[1].append(step.id)

    def callee(self, callee: Bodied, users: list[str]) -> Iterator[Frame]:
        """The frames of a nested program: its body, and its blocks."""
        program = self.callees.linker.program(callee.unit)
        if program.body is None or program.errors:
            return
        label = f"{callee.unit.entry.kind} {callee.unit.entry.name}"
        if callee.instance:
            given = [
                f"{slot} = {' | '.join(one.name for one in _services(bound))}" for slot, bound in callee.slots.items()
            ]
            given += [f"{key} = {clipped(str(value), 30)}" for key, value in callee.config.items()]
            label = f"{callee.instance}: instance of {callee.unit.entry.name} ({', '.join(given)})"
        builder = _Builder(self, Meanings(program, callee.slots, self.callees))
        frame = builder.definition("nested", label, program.body)
        for user in users:
            self.edges += [Edge(user, target, "", "uses") for target in first_steps(frame)]
        yield frame
        yield from builder.definitions()


def _services(meaning: Meaning) -> tuple[Plain | Bodied, ...]:
    match meaning:
        case Reached(callees=callees):
            return callees
        case Listed(entries=entries):
            return entries
        case _:
            return ()


class _Builder:
    """The flow of one program's statements."""

    def __init__(self, drawing: _Drawing, meanings: Meanings) -> None:
        self.drawing = drawing
        self.program = meanings.program
        self.meanings = meanings
        self.words = Wording(meanings, drawing.ceiling)
        self.breaks: list[Loose] = []
        self.again: list[Loose] = []
        self.returns: list[Loose] | None = None  # None at the end of which there is nothing more
        self.doing: list[tuple[str, str]] = []  # steps, and the blocks that they do

    # --- boxes and frames --------------------------------------------------------------------------------------------

    def step(
        self, kind: str, lines: Sequence[str], node: n.Node, loose: Sequence[Loose], slot: str | None = None,
        layers: tuple[str, ...] = (),
    ) -> Step:  # fmt: skip
        line = self.program.source.position(node.start).line
        site = node.span if kind in ("call", "session", "decision", "choice") else None
        made = Step(self.drawing.id("n"), kind, tuple(lines), line, slot, layers, site)
        self.lead((made.id,), loose)
        return made

    def lead(self, targets: Sequence[str], loose: Sequence[Loose]) -> None:
        edges = self.drawing.edges
        edges += [Edge(one.source, target, one.label, one.kind) for target in targets for one in loose]

    def column(
        self, label: str, body: Sequence[n.Statement], loose: Sequence[Loose]
    ) -> tuple[Column, tuple[Loose, ...]]:
        """The parts of a body, which has at least one."""
        parts, out = self.sequence(body, loose)
        if not parts:
            made = self.step("work", self.words.work(body), body[0], loose)
            parts, out = (made,), (Loose(made.id),)
        return Column(label, parts, bool(out)), out

    @contextmanager
    def own_body(self) -> Iterator[list[Loose]]:
        """While this lasts, `return` ends the body in hand; gives the edges that lead out of it by one."""
        before = self.returns, self.breaks, self.again
        self.returns, self.breaks, self.again = [], [], []
        yield self.returns
        self.returns, self.breaks, self.again = before

    def framed(self, kind: str, label: str, body: Sequence[n.Statement], loose: Sequence[Loose]) -> Built:
        """A body of its own in a frame."""
        with self.own_body() as returned:
            column, out = self.column("", body, loose)
        return Built((Frame(self.drawing.id("f"), kind, label, (_going_on(column, returned),)),), (*out, *returned))

    def definition(self, kind: str, label: str, body: n.Body) -> Frame:
        """A frame that nothing leads into: it is used."""
        frame = self.framed(kind, label, body.statements, ()).parts[0]
        assert isinstance(frame, Frame)
        return frame

    def definitions(self) -> Iterator[Frame]:
        """The blocks of the program, and its agents where they call something."""
        firsts: dict[str, tuple[str, ...]] = {}
        frames = []
        for name, block in self.program.blocks.items():
            parameters = ", ".join(parameter.id for parameter in block.parameters)
            frame = self.definition("block", f"block {name}({parameters})", block.body)
            firsts[name] = first_steps(frame)
            frames.append(frame)
        for step, name in self.doing:
            self.drawing.edges += [Edge(step, first, "", "uses") for first in firsts.get(name, ())]
        if self.program.body is not None:
            for node in walk(self.program.body):
                if isinstance(node, n.AgentDef) and any(part in self.program.calls for part in walk(node)):
                    parts, _ = self.properties(node.properties, ())
                    column = Column("", parts, True)
                    frames.append(Frame(self.drawing.id("f"), "agent", f"agent {node.name.id}", (column,)))
        return iter(frames)

    # --- statements --------------------------------------------------------------------------------------------------

    def sequence(self, statements: Sequence[n.Statement], loose: Sequence[Loose]) -> Built:
        parts: list[Part] = []
        out = tuple(loose)
        for statement in statements:
            built = self.statement(statement, out)
            parts += built.parts
            out = built.out
        return Built(tuple(parts), out)

    def statement(self, statement: n.Statement, loose: Sequence[Loose]) -> Built:
        match statement:
            case n.Let(name=name, value=value):
                return self.value(value, loose, name.id)
            case n.Destructure(names=names, value=value):
                return self.value(value, loose, ", ".join(name.id for name in names))
            case n.Assign(name=name, path=path, value=value):
                built = self.value(value, loose, name.id)
                return self.also(built, [part for part in path if not isinstance(part, str)])
            case n.Evaluate(value=value):
                return self.value(value, loose)
            case n.Record(value=value, name=name):
                return self.value(value, loose, name.id)
            case n.Return(value=value):
                return self.ending("return", self.words.returned(statement), statement, value, loose)
            case n.Throw(value=value):
                said = f"throw {self.words.text(value, 60)}" if value is not None else "throw"
                return self.ending("throw", (said,), statement, value, loose)
            case n.Break():
                made = self.step("leave", ("break",), statement, loose)
                self.breaks.append(Loose(made.id, "break"))
                return Built((made,), ())
            case n.Continue():
                made = self.step("leave", ("continue",), statement, loose)
                self.again.append(Loose(made.id, "continue"))
                return Built((made,), ())
            case _:
                return Built((), tuple(loose))

    def ending(
        self, kind: str, lines: Sequence[str], node: n.Node, value: n.Value | None, loose: Sequence[Loose]
    ) -> Built:
        before = self.value(value, loose) if value is not None else Built((), tuple(loose))
        made = self.step(kind, lines, node, before.out)
        if kind == "return" and self.returns is not None:
            self.returns.append(Loose(made.id))
        return Built((*before.parts, made), ())

    def also(self, built: Built, values: Sequence[n.Value]) -> Built:
        """What some values do after what was done before."""
        parts, out = list(built.parts), built.out
        for value in values:
            more = self.value(value, out)
            parts += more.parts
            out = more.out
        return Built(tuple(parts), out)

    # --- values ------------------------------------------------------------------------------------------------------

    def value(self, value: n.Value, loose: Sequence[Loose], into: str = "") -> Built:
        match value:
            case n.Call(arguments=arguments, properties=properties):
                before = self.also(Built((), tuple(loose)), arguments or ())
                inner = self.properties(properties, before.out)
                made = self.call(value, inner.out, into)
                return Built((*before.parts, *inner.parts, made), (Loose(made.id),))
            case n.Session(properties=properties) | n.Resume(properties=properties):
                inner = self.properties(properties, loose)
                made = self.step("session", self.words.session(value, into), value, inner.out)
                return Built((*inner.parts, made), (Loose(made.id),))
            case n.Do(target=target, arguments=arguments, body=body):
                if body is not None:
                    return self.framed("do", "do", body.statements, loose)
                assert target is not None
                before = self.also(Built((), tuple(loose)), arguments)
                said = ", ".join(self.words.text(argument, 30) for argument in arguments)
                made = self.step("do", (f"do {target.id}({said})", *([f"→ {into}"] if into else [])), value, before.out)
                self.doing.append((made.id, target.id))
                return Built((*before.parts, made), (Loose(made.id),))
            case n.Pipeline():
                return self.pipeline(value, loose)
            case n.Parallel():
                return self.parallel(value, loose)
            case n.ParallelFor(iterable=source) | n.ParallelRepeat(count=source):
                before = self.also(Built((), tuple(loose)), [source, *(one.value for one in value.modifiers)])
                built = self.framed("parallel", self.words.parallel(value), value.body.statements, before.out)
                return Built(before.parts + built.parts, built.out) if built.out else _tolerant(before, built, value)
            case n.Repeat() | n.For():
                return self.counted(value, loose)
            case n.Loop():
                return self.loop(value, loose)
            case n.If():
                return self.if_(value, loose)
            case n.Choice():
                return self.choice(value, loose)
            case n.Try():
                return self.try_(value, loose)
            case n.Invoke(arguments=arguments):
                before = self.also(Built((), tuple(loose)), arguments)
                if value not in self.program.calls:
                    return before
                made = self.call(value, before.out, "")
                return Built((*before.parts, made), (Loose(made.id),))
            case _:
                if not any(isinstance(part, n.Invoke) for part in walk(value)):
                    return Built((), tuple(loose))
                return self.also(Built((), tuple(loose)), list(children(value)))  # type: ignore[arg-type]

    def properties(self, properties: Sequence[n.Property], loose: Sequence[Loose]) -> Built:
        built = Built((), tuple(loose))
        for item in properties:
            more = self.properties(item.nested, built.out)
            built = Built((*built.parts, *more.parts), more.out)
            if item.value is not None:
                built = self.also(built, [item.value])
        return built

    def call(self, node: n.Call | n.Invoke, loose: Sequence[Loose], into: str) -> Step:
        plan = self.program.calls[node]
        callees = self.meanings.called(plan)
        slots = [callee.name for callee in callees if isinstance(callee, Plain) and callee.kind == "slot"]
        own = [slot for slot in slots if slot in self.drawing.slots] if len(slots) == len(callees) else []
        made = self.step("call", self.words.call(plan, into), node, loose, own[0] if own else None)
        for callee in callees:
            if isinstance(callee, Bodied):
                self.drawing.use(callee, made)
        return made

    # --- decisions ---------------------------------------------------------------------------------------------------

    def decision(self, node: n.Condition, word: str, loose: Sequence[Loose]) -> tuple[tuple[Part, ...], Step]:
        """The decision of a condition, after what is called in it."""
        plan = self.program.conditions[node]
        before = self.value(plan.expression, loose) if plan.expression is not None else Built((), tuple(loose))
        kind = "choice" if plan.labels else "decision"
        made = self.step(kind, self.words.decision(plan, word), node, before.out, None, plan.layers)
        return before.parts, made

    def if_(self, node: n.If, loose: Sequence[Loose]) -> Built:
        columns: list[Column] = []
        out: list[Loose] = []
        incoming = tuple(loose)
        for number, arm in enumerate(node.arms):
            before, made = self.decision(arm.condition, "if" if not number else "elif", incoming)
            column, ends = self.column("", arm.body.statements, (Loose(made.id, "yes"),))
            columns.append(Column("yes", (*before, made, *column.parts), bool(ends)))
            out += ends
            incoming = (Loose(made.id, "no"),)
        if node.otherwise is not None:
            column, ends = self.column("no", node.otherwise.statements, incoming)
            columns.append(column)
            return Built((Ladder(tuple(columns), True),), (*out, *ends))
        return Built((Ladder(tuple(columns), False),), (*out, *incoming))

    def choice(self, node: n.Choice, loose: Sequence[Loose]) -> Built:
        before, head = self.decision(node.criteria, "choice", loose)
        columns: list[Column] = []
        out: list[Loose] = []
        for option in node.options:
            label = clipped(option.label, 40)
            column, ends = self.column(label, option.body.statements, (Loose(head.id, label),))
            columns.append(column)
            out += ends
        return Built((*before, Fork(head, tuple(columns))), tuple(out))

    def try_(self, node: n.Try, loose: Sequence[Loose]) -> Built:
        column, out = self.column("", node.body.statements, loose)
        frames: list[Part] = [Frame(self.drawing.id("f"), "tried", "try", (column,))]
        failed = Loose(frames[0].id if isinstance(frames[0], Frame) else "", "error", "error")
        ends = list(out)
        if node.handler is not None:
            label = f"catch as {node.name.id}" if node.name is not None else "catch"
            column, caught = self.column("", node.handler.statements, (failed,))
            frames.append(Frame(self.drawing.id("f"), "catch", label, (column,)))
            ends += caught
        if node.cleanup is not None:
            through = ends or [Loose(failed.source, "in any case", "next")]
            column, last = self.column("", node.cleanup.statements, tuple(through))
            frames.append(Frame(self.drawing.id("f"), "finally", "finally", (column,)))
            ends = list(last) if ends else []
        parts = {"try": node.body, "catch": node.handler, "finally": node.cleanup}
        label = ", ".join(word for word, part in parts.items() if part is not None)
        return Built(
            (Frame(self.drawing.id("f"), "try", label, (Column("", tuple(frames), bool(ends)),)),), tuple(ends)
        )

    # --- loops -------------------------------------------------------------------------------------------------------

    def looped(
        self, node: n.Repeat | n.For | n.Loop, loose: Sequence[Loose],
        make: Callable[[Sequence[Loose]], tuple[tuple[Part, ...], tuple[Loose, ...], tuple[Loose, ...]]],
    ) -> Built:  # fmt: skip
        """The frame of a loop. `make` gives the parts of a pass, what leads to the next one, and what leads out."""
        before = self.breaks, self.again
        self.breaks, self.again = [], []
        parts, back, out = make(loose)
        back = (*back, *self.again)
        out = (*out, *self.breaks)
        self.breaks, self.again = before
        for first in first_steps(parts[0]):
            self.drawing.edges += [Edge(one.source, first, one.label or "again", "again") for one in back]
        label = self.words.loop(node, collects=node in self.program.collects)
        name = self.drawing.id("f")
        if not out and isinstance(node, n.For):  # every pass ends the body, but there may be none
            out = (Loose(name, "no entries"),)
        return Built((Frame(name, "loop", label, (Column("", parts, bool(out)),)),), out)

    def counted(self, node: n.Repeat | n.For, loose: Sequence[Loose]) -> Built:
        heads: list[n.Value] = [node.count] if isinstance(node, n.Repeat) else [node.iterable]
        if isinstance(node, n.For) and node.limit is not None:
            heads.append(node.limit)
        head = self.also(Built((), tuple(loose)), heads)

        def one_pass(loose: Sequence[Loose]) -> tuple[tuple[Part, ...], tuple[Loose, ...], tuple[Loose, ...]]:
            if node not in self.program.collects:
                column, out = self.column("", node.body.statements, loose)
                return column.parts, out, (*out, *self.again)
            before, self.returns = self.returns, []
            column, out = self.column("", node.body.statements, loose)
            ends = (*out, *self.returns)
            self.returns = before
            return column.parts, ends, (*ends, *self.again)

        built = self.looped(node, head.out, one_pass)
        return Built((*head.parts, *built.parts), built.out)

    def loop(self, node: n.Loop, loose: Sequence[Loose]) -> Built:
        head = self.also(Built((), tuple(loose)), [node.limit] if node.limit is not None else [])

        def one_pass(loose: Sequence[Loose]) -> tuple[tuple[Part, ...], tuple[Loose, ...], tuple[Loose, ...]]:
            if node.condition is None:
                column, out = self.column("", node.body.statements, loose)
                return column.parts, out, (*out, *self.again) if node.limit is not None else ()
            if node.kind == "while":
                before, made = self.decision(node.condition, "while", loose)
                column, out = self.column("", node.body.statements, (Loose(made.id, "yes"),))
                return (*before, made, *column.parts), out, (Loose(made.id, "no"),)
            column, out = self.column("", node.body.statements, loose)
            before, made = self.decision(node.condition, "until", (*out, *self.again))
            self.again = []
            return (*column.parts, *before, made), (Loose(made.id, "no"),), (Loose(made.id, "yes"),)

        built = self.looped(node, head.out, one_pass)
        return Built((*head.parts, *built.parts), built.out)

    # --- parallel blocks and pipelines -------------------------------------------------------------------------------

    def parallel(self, node: n.Parallel, loose: Sequence[Loose]) -> Built:
        head = self.also(Built((), tuple(loose)), [modifier.value for modifier in node.modifiers])
        columns: list[Column] = []
        out: list[Loose] = []
        for number, branch in enumerate(node.branches.statements):
            with self.own_body() as returned:
                column, ends = self.column(f"branch {number}", [branch], head.out)
            columns.append(_going_on(column, returned))
            out += [*ends, *returned]
        frame = Frame(self.drawing.id("f"), "parallel", self.words.parallel(node), tuple(columns))
        return Built((*head.parts, frame), tuple(out)) if out else _tolerant(head, Built((frame,), ()), node)

    def pipeline(self, node: n.Pipeline, loose: Sequence[Loose]) -> Built:
        built = self.value(node.source, loose)
        stages: list[Part] = []
        out = built.out
        for stage in node.stages:
            names = ", ".join(name.id for name in stage.names)
            label = f"{stage.kind}({names})" if names else f"{stage.kind}: each item"
            made = self.framed("stage", label, stage.body.statements, out)
            stages += made.parts
            out = made.out
        label = f"pipeline over {self.words.text(node.source, 60)}"
        frame = Frame(self.drawing.id("f"), "pipeline", label, (Column("", tuple(stages), bool(out)),))
        return Built((*built.parts, frame), out)


def _tolerant(before: Built, built: Built, node: n.Parallel | n.ParallelFor | n.ParallelRepeat) -> Built:
    """A parallel block all of whose branches end in an error, which may be what is kept of them (L24)."""
    literals = {modifier.value.value for modifier in node.modifiers if isinstance(modifier.value, n.Literal)}
    frame = built.parts[0]
    assert isinstance(frame, Frame)
    if not literals & {"continue", "ignore"} or literals & {"first", "any"}:
        return Built((*before.parts, frame), ())
    columns = tuple(Column(column.label, column.parts, True) for column in frame.columns)
    kept = Frame(frame.id, frame.kind, frame.label, columns)
    return Built((*before.parts, kept), (Loose(frame.id, "errors", "error"),))


def _going_on(column: Column, returned: Sequence[Loose]) -> Column:
    """A column of a body of its own, where a `return` leads on."""
    return Column(column.label, column.parts, column.goes_on or bool(returned))
