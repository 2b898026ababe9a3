"""The walk over a checked program that counts the calls each of its paths makes.

It follows the compiler (`runtime/compiler/`) statement by statement: what runs there is counted here. Three things are
left out: rules of the host (L30.0), which may decide any condition; the run's own limits; and names given as null where
a default stands. What is called through a slot counts as one call, as long as nothing is bound to it that has a body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from prose_lang.report.blocks import circles, innermost_first
from prose_lang.report.callees import Callees
from prose_lang.report.counting import (
    BREAK,
    CONTINUE,
    ERROR,
    NOTHING,
    ON,
    RETURN,
    Component,
    Paths,
    Tally,
    added,
    after,
    any_end,
    as_body,
    both,
    either,
    goes_on,
    joined,
    least_of,
    most_of,
    multiplied,
    repeated,
    then,
)
from prose_lang.report.known import UNKNOWN, Bodied, Callee, Known, Listed, Meaning, Plain, Range
from prose_lang.report.meanings import Meanings
from prose_lang.report.names import bound_names
from prose_lang.report.quantities import INFINITE, ONE, ZERO, Quantity, number
from prose_lang.semantics import CallPlan, ConditionPlan, Program
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import children, walk

#: Bodies that may call each other before it is given up: deeper ones are taken for endless.
_MAX_NESTING = 20


@attrs.frozen
class Reason:
    """Why a bound is open, or what it assumes, with the line it is about."""

    file: str
    line: int
    text: str


class Walk:
    """One counting, over a program and all it reaches. `ceiling` is how many passes a loop without `max` may have."""

    def __init__(self, callees: Callees, ceiling: int) -> None:
        self.callees = callees
        self.ceiling = ceiling
        self.reasons: dict[Reason, None] = {}
        self.open: list[tuple[object, ...]] = []  # the bodies that are being counted, outermost first
        self.recursive: set[tuple[object, ...]] = set()
        self.known: dict[tuple[object, ...], Paths] = {}

    def program(self, program: Program, bases: Mapping[str, Meaning], offered: Mapping[str, Meaning]) -> Paths:
        """The paths of a program with a body, whose names hold what `bases` says."""
        assert program.body is not None, "only a program with a body makes calls"
        return _Body(self, Meanings(program, bases, self.callees), offered).body(program.body)

    def called(self, callee: Bodied, bindings: Mapping[str, Meaning], offered: Mapping[str, Meaning]) -> Paths:
        """The paths of a call of an entry with a body."""
        program = self.callees.linker.program(callee.unit)
        bases, passed_on = bound_names(program, callee, bindings, offered)
        same = (callee.unit, callee.instance)
        key = (*same, tuple(bases.items()), tuple(passed_on.items()))
        if key in self.known:
            return self.known[key]
        if program.body is None:  # a function that calls itself is still being checked
            return goes_on()
        line = program.source.position(program.body.start).line
        if same in self.open:
            self.note(program, line, f"`{callee.name}` calls itself, and nothing in the text says how often")
            self.recursive.update(self.open[self.open.index(same) :])
            return goes_on()
        if len(self.open) >= _MAX_NESTING:
            self.note(
                program, line, f"`{callee.name}` is called more than {_MAX_NESTING} calls deep, which is not counted"
            )
            self.recursive.update(self.open)
            return self._uncounted(program)
        self.open.append(same)
        paths = self.program(program, bases, passed_on)
        self.open.pop()
        if same in self.recursive:
            paths = endless(paths)
            self.recursive.discard(same)
        if not self.recursive:
            self.known[key] = paths
        return paths

    def _uncounted(self, program: Program) -> Paths:
        """The paths of a body that is not looked into: it may call anything."""
        most: dict[Component, Quantity] = dict.fromkeys((("total",), ("attempts",), ("judge",), ("spent",)), INFINITE)
        for plan in program.calls.values():
            for what in ("calls", "attempts"):
                most[what, "service", plan.target.name] = INFINITE
        return {ON: Tally({}, most), ERROR: Tally({}, most)}

    def note(self, program: Program, line: int, text: str) -> None:
        self.reasons.setdefault(Reason(program.source.name, line, text))


def endless(paths: Paths) -> Paths:
    """The paths of something that does itself again: what it counts at all, it may count without end."""
    most = any_end(paths)
    open_end = dict.fromkeys(most, INFINITE)
    return {way: Tally(tally.low, open_end) for way, tally in paths.items()} | {ERROR: Tally({}, open_end)}


class _Body:
    """The counting of one program's statements."""

    def __init__(self, walk: Walk, meanings: Meanings, offered: Mapping[str, Meaning]) -> None:
        self.walk = walk
        self.meanings = meanings
        self.offered = offered
        self.program = meanings.program
        self.blocks: dict[str, Paths] = {}
        self.circles = circles(self.program)
        for name in innermost_first(self.program):
            self.block(name)

    # --- statements --------------------------------------------------------------------------------------------------

    def body(self, body: n.Body) -> Paths:
        """The paths of a body of its own."""
        return as_body(self.statements(body.statements))

    def statements(self, statements: Sequence[n.Statement]) -> Paths:
        paths: Paths = {ON: NOTHING}
        for statement in statements:
            paths = then(paths, self.statement(statement))
        return paths

    def statement(self, statement: n.Statement) -> Paths:
        match statement:
            case n.Let(value=value) | n.Destructure(value=value) | n.Evaluate(value=value):
                return self.value(value)
            case n.Assign(value=value, path=path):
                return self.all([value, *(part for part in path if not isinstance(part, str))])
            case n.Return(value=value):
                paths = self.value(value) if value is not None else goes_on()
                return _turned(paths, RETURN)
            case n.Throw(value=value):
                paths = self.value(value) if value is not None else goes_on()
                return _turned(paths, ERROR)
            case n.Record(value=value):
                return self.value(value)
            case n.Break():
                return {BREAK: NOTHING}
            case n.Continue():
                return {CONTINUE: NOTHING}
            case _:
                return {ON: NOTHING}

    # --- values ------------------------------------------------------------------------------------------------------

    def all(self, values: Sequence[n.Value]) -> Paths:
        """Several values, one after the other."""
        paths = goes_on()
        for value in values:
            paths = then(paths, self.value(value))
        return paths

    def value(self, value: n.Value) -> Paths:
        match value:
            case n.Call():
                return self.call(value)
            case n.Session() | n.Resume():
                return self.session(value)
            case n.Pipeline():
                return self.pipeline(value)
            case n.Do():
                return self.do(value)
            case n.Parallel():
                return self.parallel(value)
            case n.ParallelFor(iterable=iterable):
                return self.fan_out(value, iterable, self.meanings.length(iterable))
            case n.ParallelRepeat(count=count):
                return self.fan_out(value, count, self.meanings.count(count))
            case n.Repeat() | n.For():
                return self.counted(value)
            case n.Loop():
                return self.loop(value)
            case n.If():
                return self.if_(value)
            case n.Choice(criteria=criteria, options=options):
                arms = [self.statements(option.body.statements) for option in options]
                return then(self.condition(criteria), joined(arms))
            case n.Try():
                return self.try_(value)
            case n.Binary(operator="and" | "or", left=left, right=right):
                second = self.value(right)
                return then(self.value(left), joined([goes_on(), second]))
            case n.Invoke(arguments=arguments):
                plan = self.program.calls.get(value)
                paths = self.all(arguments)
                return then(paths, self.reached(plan, arguments)) if plan is not None else paths
            case _:
                if not any(isinstance(part, n.Invoke) for part in walk(value)):
                    return goes_on()
                return self.all([child for child in children(value) if not isinstance(child, n.Body)])  # type: ignore[misc]

    def call(self, node: n.Call) -> Paths:
        plan = self.program.calls[node]
        paths = self.all(node.arguments or ())
        for item in node.properties:
            paths = then(paths, self.property(item))
        return then(paths, self.reached(plan, node.arguments))

    def property(self, item: n.Property) -> Paths:
        if item.value is not None:
            return self.value(item.value)
        paths = goes_on()
        for inner in item.nested:
            paths = then(paths, self.property(inner))
        return paths

    def session(self, node: n.Session | n.Resume) -> Paths:
        paths = goes_on()
        for item in node.properties:
            paths = then(paths, self.property(item))
        further = Range(ZERO, ZERO)
        retry = self.setting(node, "retry")
        if retry is not None:
            further = self.meanings.further(retry)
        return then(paths, _once(Plain("model", "session"), further))

    def setting(self, node: n.Session | n.Resume, name: str) -> n.Value | None:
        """What a session sets under a name, or else its agent (L29)."""
        agent = self.program.agents.get(node.agent.id) if node.agent is not None else None
        for item in (*node.properties, *(agent.properties if agent is not None else ())):
            if item.name == name:
                return item.value
        return None

    # --- calls -------------------------------------------------------------------------------------------------------

    def reached(self, plan: CallPlan, arguments: Sequence[n.Expression] | None) -> Paths:
        """What a call does that has its inputs: one of what its target may be, and that again if it is retried."""
        retry = plan.modifiers.get("retry")
        further = Range(ZERO, ZERO)
        if retry is not None and retry.value is not None:
            further = self.meanings.further(retry.value)
        return joined(self.one_of(callee, plan, arguments, further) for callee in self.meanings.called(plan))

    def one_of(self, callee: Callee, plan: CallPlan, arguments: Sequence[n.Expression] | None, further: Range) -> Paths:
        if isinstance(callee, Plain):
            return _once(callee, further)
        names = self.walk.callees.linker.unit_signature(callee.unit).names
        bindings = {
            name: self.meanings.of(item.value) if item.value is not None else UNKNOWN
            for name, item in (*plan.bindings, *plan.words.items())
        }
        for name, argument in zip(names, arguments or (), strict=False):
            bindings[name] = self.meanings.of(argument)
        paths = self.walk.called(callee, bindings, self.offered)
        if further.high == ZERO:
            return {**goes_on(), **paths} if ON in paths else {ERROR: either([NOTHING, paths.get(ERROR, NOTHING)])}
        again = multiplied(any_end(paths), further.high)
        found = {ERROR: Tally({}, added(any_end(paths), again))}
        if ON in paths:
            found[ON] = Tally(paths[ON].low, added(paths[ON].high, again))
        return found

    # --- conditions --------------------------------------------------------------------------------------------------

    def condition(self, node: n.Condition) -> Paths:
        plan = self.program.conditions[node]
        paths = self.value(plan.expression) if plan.expression is not None else goes_on()
        if "judge" not in plan.layers:
            return paths
        others: list[Paths] = []
        if plan.rules or plan.expression is not None:
            others.append(goes_on())
        predicate = self.predicate(plan)
        if predicate is not None:
            others.append(_once(predicate, Range(ZERO, ZERO)))
        return then(paths, joined([_asked(), *others]))

    def predicate(self, plan: ConditionPlan) -> Plain | None:
        """The service that may stand for criteria (L30.4)."""
        for rule in plan.rules:
            if rule.layer == "criteria":
                found = self.meanings.of(rule.operands[0])
                if isinstance(found, (Known, Listed)):
                    return None
                return Plain("predicate", rule.parts[0].text)
        return None

    # --- branches ----------------------------------------------------------------------------------------------------

    def if_(self, node: n.If) -> Paths:
        rest = self.statements(node.otherwise.statements) if node.otherwise is not None else {ON: NOTHING}
        for arm in reversed(node.arms):
            taken = self.statements(arm.body.statements)
            rest = then(self.condition(arm.condition), joined([taken, rest]))
        return rest

    def try_(self, node: n.Try) -> Paths:
        paths = self.statements(node.body.statements)
        if node.handler is not None and ERROR in paths:
            handled = after(paths[ERROR], self.statements(node.handler.statements))
            paths = joined([paths, handled])  # some errors pass through `catch`
        if node.cleanup is None:
            return paths
        cleanup = self.statements(node.cleanup.statements)
        whole = either(paths.values())
        instead = {way: both(whole, tally) for way, tally in cleanup.items() if way != ON}
        if ON not in cleanup:
            return instead
        return joined([{way: both(tally, cleanup[ON]) for way, tally in paths.items()}, instead])

    # --- loops -------------------------------------------------------------------------------------------------------

    def counted(self, node: n.Repeat | n.For) -> Paths:
        size = self.meanings.passes(node)
        heads: list[n.Value] = [node.count] if isinstance(node, n.Repeat) else [node.iterable]
        if isinstance(node, n.For) and node.limit is not None:
            heads.append(node.limit)
        inner = self.statements(node.body.statements)
        if node in self.program.collects:
            inner = as_body(inner)
        return then(self.all(heads), repeated(inner, size.low, size.high, _one_less(size.high)))

    def loop(self, node: n.Loop) -> Paths:
        if node.limit is not None:
            head, size = self.value(node.limit), self.meanings.count(node.limit)
        else:
            head, size = goes_on(), Range(ONE, number(self.walk.ceiling))
        inner = self.statements(node.body.statements)
        if node.condition is None:
            paths = repeated(inner, size.low, size.high, _one_less(size.high), ends=node.limit is not None)
        else:
            decided = self.condition(node.condition)
            if node.kind == "until":
                ended = dict(inner)
                on = [ended.pop(way) for way in (ON, CONTINUE) if way in ended]
                one_pass = joined([ended, after(either(on), decided)]) if on else ended
                paths = repeated(one_pass, ONE, size.high, _one_less(size.high))
            else:
                one_pass = then(decided, inner)
                paths = repeated(one_pass, ONE, size.high, _one_less(size.high))
                again = [one_pass[way].high for way in (ON, CONTINUE) if way in one_pass]
                passed = multiplied(most_of(again), _one_less(size.high))
                last = decided.get(ON, NOTHING)
                paths = joined([paths, {ON: Tally(last.low, added(passed, last.high))}])
        if node.limit is None and (any_end(inner) or any_end(paths)):
            self.walk.note(
                self.program,
                self.meanings.line(node),
                f"the loop has no `max`: it ends at the latest after {self.walk.ceiling:,} passes, the run's ceiling",
            )
        return then(head, paths)

    # --- parallel ----------------------------------------------------------------------------------------------------

    def fan_out(self, node: n.ParallelFor | n.ParallelRepeat, source: n.Expression, size: Range) -> Paths:
        branch = self.body(node.body)
        name, on_fail, need = self.strategy(node.modifiers)
        most = multiplied(any_end(branch), size.high)
        found: Paths = {ERROR: Tally({}, most)}
        if name != "all":
            if ON in branch:
                found[ON] = Tally(multiplied(branch[ON].low, need.low), most)
        else:
            ends = [branch[way] for way in ((ON,) if on_fail == "fail-fast" else (ON, ERROR)) if way in branch]
            if ends:
                one = either(ends)
                found[ON] = Tally(multiplied(one.low, size.low), multiplied(one.high, size.high))
            elif size.low == ZERO or size.low.least == 0:
                found[ON] = NOTHING
        return then(self.all([source, *self.needs(node.modifiers)]), found)

    def parallel(self, node: n.Parallel) -> Paths:
        branches = [as_body(self.statement(branch)) for branch in node.branches.statements]
        name, on_fail, need = self.strategy(node.modifiers)
        most: Mapping[Component, Quantity] = {}
        for branch in branches:
            most = added(most, any_end(branch))
        found: Paths = {ERROR: Tally({}, most)}
        if name != "all":
            lows = [branch[ON].low for branch in branches if ON in branch]
            if lows:
                found[ON] = Tally(multiplied(least_of(lows), need.low), most)
        else:
            ways = (ON,) if on_fail == "fail-fast" else (ON, ERROR)
            ends = [[branch[way] for way in ways if way in branch] for branch in branches]
            if all(ends):
                whole = NOTHING
                for each in ends:
                    whole = both(whole, either(each))
                found[ON] = whole
        return then(self.all(self.needs(node.modifiers)), found)

    def strategy(self, modifiers: Sequence[n.Modifier]) -> tuple[str, str, Range]:
        """The strategy, what a failure does, and how many successes are needed."""
        name, on_fail, need = "all", "fail-fast", Range(ONE, ONE)
        for modifier in modifiers:
            literal = modifier.value.value if isinstance(modifier.value, n.Literal) else None
            if modifier.name is None:
                name = str(literal)
            elif modifier.name == "on-fail":
                on_fail = str(literal)
            else:
                need = self.meanings.count(modifier.value)
        return name, on_fail, need

    def needs(self, modifiers: Sequence[n.Modifier]) -> list[n.Value]:
        return [modifier.value for modifier in modifiers if not isinstance(modifier.value, n.Literal)]

    # --- blocks and pipelines ----------------------------------------------------------------------------------------

    def do(self, node: n.Do) -> Paths:
        if node.body is not None:
            return self.body(node.body)
        assert node.target is not None
        return then(self.all(node.arguments), self.block(node.target.id))

    def block(self, name: str) -> Paths:
        """The paths of a block; of one that comes to itself again, what it counts has no end."""
        if name in self.blocks:
            return self.blocks[name]
        block = self.program.blocks.get(name)
        if block is None:
            return goes_on()
        circle = self.circles.get(name, frozenset())
        if not circle:
            self.blocks[name] = self.body(block.body)
            return self.blocks[name]
        self.blocks.update(dict.fromkeys(circle, goes_on()))  # a lower bound of what is to be found out
        counted = {other: self.body(self.program.blocks[other].body) for other in circle}
        most = most_of(any_end(paths) for paths in counted.values())
        for other in circle:
            paths = {ON: counted[other].get(ON, NOTHING), ERROR: Tally({}, most)}
            self.blocks[other] = endless({way: Tally(tally.low, most) for way, tally in paths.items()})
            if most:
                line = self.meanings.line(self.program.blocks[other])
                self.walk.note(
                    self.program, line, f"the block `{other}` calls itself, and nothing in the text says how often"
                )
        return self.blocks[name]

    def pipeline(self, node: n.Pipeline) -> Paths:
        paths, size = self.value(node.source), self.meanings.length(node.source)
        for stage in node.stages:
            step = self.body(stage.body)
            if stage.kind == "reduce":
                low = ZERO if size.low.least == 0 else _one_less(size.low)
                passes = Range(low, size.high if size.high.least == 0 else _one_less(size.high))
            else:
                passes = size
            found: Paths = {ERROR: Tally({}, multiplied(any_end(step), passes.high))}
            if ON in step:
                on = step[ON]
                found[ON] = Tally(multiplied(on.low, passes.low), multiplied(on.high, passes.high))
            elif passes.low == ZERO or passes.low.least == 0:
                found[ON] = NOTHING
            paths = then(paths, found)
            if stage.kind == "filter":
                size = Range(ZERO, size.high)
            elif stage.kind == "reduce":
                size = self.meanings.length(stage_value(stage))
        return paths


def stage_value(stage: n.Stage) -> n.Value:
    """What stands for the result of a `reduce`, of which nothing is known."""
    return n.Name(stage.start, stage.end, "the result of reduce")


def _once(callee: Plain, further: Range) -> Paths:
    calls: dict[Component, Quantity] = {("calls", callee.kind, callee.name): ONE, ("total",): ONE}
    tries = ("attempts", callee.kind, callee.name)
    low = {**calls, tries: ONE, ("attempts",): ONE, ("spent",): ONE}
    most = ONE + further.high
    high = {**calls, tries: most, ("attempts",): most, ("spent",): most}
    return {ON: Tally(low, high), ERROR: Tally({}, high)}


def _asked() -> Paths:
    """The judge, who may be asked a second time where the first answer cannot be read (L30.5)."""
    low: dict[Component, Quantity] = {("judge",): ONE, ("spent",): ONE}
    high: dict[Component, Quantity] = {("judge",): ONE, ("spent",): number(2)}
    return {ON: Tally(low, high), ERROR: Tally({}, high)}


def _turned(paths: Paths, way: str) -> Paths:
    """The paths of a value at which something ends."""
    rest = {other: tally for other, tally in paths.items() if other != ON}
    return joined([rest, {way: paths[ON]}]) if ON in paths else rest


def _one_less(size: Quantity) -> Quantity:
    return size - ONE
