"""The compiler: goes through a Program and hands each node to the file that knows its family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from prose_lang.runtime.compiler import (
    calls,
    conditions,
    expressions,
    loops,
    parallels,
    pipelines,
    sessions,
    statements,
)
from prose_lang.runtime.compiler.code import BlockCode, Code, Frame, Step, Value
from prose_lang.runtime.compiler.probe import Probe, counting, watched
from prose_lang.runtime.completion import ArmValue, Escape, Return
from prose_lang.runtime.place import Place
from prose_lang.semantics import ConditionPlan, Program
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk
from prose_lang.values import GrowingList


def compile_program(program: Program, probe: Probe | None = None) -> Code:
    """The code of a program without errors. A `probe` is told what runs go through; it is compiled in."""
    assert program.body is not None, "only a program with a body is compiled"
    compiler = Compiler(program, probe)
    step = compiler.body(program.body)
    blocks = {
        name: BlockCode(tuple(program.writes[parameter] for parameter in block.parameters), compiler.body(block.body))
        for name, block in program.blocks.items()
    }
    return Code(program, step, blocks, compiler.cells, 8 + 5 * compiler.deepest)


class Compiler:
    """State of one compilation: cells beyond those of the program, and the cell of the error in hand."""

    def __init__(self, program: Program, probe: Probe | None = None) -> None:
        self.program = program
        self.probe = probe
        self.cells = program.cells
        self.caught: int | None = None
        self.depth = 0
        self.deepest = 0

    def cell(self) -> int:
        """A cell for the compiler's own use."""
        self.cells += 1
        return self.cells - 1

    def place(self, node: n.Node) -> Place:
        return Place(self.program.source, node.span)

    # --- statement lists ---------------------------------------------------------------------------------------------

    def body(self, body: n.Body) -> Step:
        """A body of its own: its last statement's value is what it returns (L23)."""
        caught, self.caught = self.caught, None
        step = self.sequence(body.statements, Return)
        self.caught = caught
        return step

    def sequence(self, found: Sequence[n.Statement], tail: type[Return] | type[ArmValue] | None) -> Step:
        """A statement list. `tail` is what the value of the last statement becomes; None drops it."""
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)
        steps = []
        for index, statement in enumerate(found):
            step = statements.compile_statement(self, statement, tail if index == len(found) - 1 else None)
            if step is not None:
                if self.probe is not None:
                    steps.append(counting(self.probe.reached(self.program, statement)))
                steps.append(step)
        self.depth -= 1
        return _in_sequence(steps)

    def fork(self, part: n.Node) -> Callable[[Frame], Frame]:
        """What copies a frame for a body of its own. A list that the body records to is shared from then on: its
        first record there copies it, and nobody around sees that (L18, L20)."""
        writes = self.program.writes
        cells = {writes[node.name] for node in walk(part) if isinstance(node, n.Record) and node.name in writes}

        def copied(f: Frame) -> Frame:
            for cell in cells:
                value = f[cell]
                if type(value) is GrowingList:
                    value.shared = True
            return f.copy()

        return copied if cells else list.copy

    # --- values ------------------------------------------------------------------------------------------------------

    def value(self, node: n.Value) -> Value:
        """A value, right of `=`, after `return` or as a property value: a `repeat` or `for` there collects (L22)."""
        match node:
            case n.Call():
                return calls.compile_call(self, node)
            case n.Session() | n.Resume():
                return sessions.compile_session(self, node)
            case n.Pipeline():
                return pipelines.compile_pipeline(self, node)
            case n.Do():
                return statements.compile_do(self, node)
            case n.Parallel():
                return parallels.compile_parallel(self, node)
            case n.ParallelFor() | n.ParallelRepeat():
                return parallels.compile_fan_out(self, node)
            case n.Repeat() | n.For() if node in self.program.collects:
                return loops.compile_collecting(self, node)
            case n.Repeat() | n.For() | n.Loop() | n.If() | n.Choice() | n.Try():
                return _as_value(self.action(node, ArmValue))
            case _:
                return expressions.compile_expression(self, node)

    def expression(self, node: n.Expression) -> Value:
        return expressions.compile_expression(self, node)

    def invoke(self, node: n.Invoke) -> Value:
        return calls.compile_invoke(self, node)

    def action(
        self, node: n.Repeat | n.For | n.Loop | n.If | n.Choice | n.Try, tail: type[Return] | type[ArmValue] | None
    ) -> Step:
        """A statement that holds others; their completions are its own."""
        match node:
            case n.If():
                return statements.compile_if(self, node, tail)
            case n.Choice():
                return statements.compile_choice(self, node, tail)
            case n.Try():
                return statements.compile_try(self, node, tail)
            case _:
                return loops.compile_loop(self, node)

    def condition(self, node: n.Condition) -> conditions.Decider:
        plan: ConditionPlan = self.program.conditions[node]
        decider = conditions.compile_condition(self, plan)
        return decider if self.probe is None else watched(decider, self.probe.decided(self.program, node))


def _in_sequence(steps: Sequence[Step]) -> Step:
    if not steps:
        return Step(lambda f: None)
    if len(steps) == 1:
        return steps[0]
    if not any(step.waits for step in steps):
        runs = tuple(step.run for step in steps)

        def run_all(f: list[Any]) -> Any:
            for run in runs:
                completion = run(f)
                if completion is not None:
                    return completion
            return None

        return Step(run_all)
    pairs = tuple((step.run, step.waits) for step in steps)

    async def run_waiting(f: list[Any]) -> Any:
        for run, waits in pairs:
            completion = run(f)
            if waits:
                completion = await completion
            if completion is not None:
                return completion
        return None

    return Step(run_waiting, waits=True)


def _as_value(step: Step) -> Value:
    """The value of the arm taken; an arm that ends the body or the loop around it escapes."""

    def outcome(completion: Any) -> Any:
        if completion is None:
            return None
        return completion.value if type(completion) is ArmValue else Escape(completion)

    run = step.run
    if not step.waits:
        return Value(lambda f: outcome(run(f)), escapes=True)

    async def run_waiting(f: list[Any]) -> Any:
        return outcome(await run(f))

    return Value(run_waiting, waits=True, escapes=True)
