"""`parallel:`, `parallel for`, `parallel repeat` (L24, L25): what their branches are, and what the join gives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from prose_lang.diagnostics import RunError
from prose_lang.runtime.compiler.code import Frame, Step, Value
from prose_lang.runtime.compiler.loops import BREATH, pairs_of, whole_count
from prose_lang.runtime.compiler.statements import error_value, value_of
from prose_lang.runtime.completion import Return
from prose_lang.runtime.conversations import Memory
from prose_lang.runtime.parallel import PENDING, Joined, join
from prose_lang.runtime.place import Place, located
from prose_lang.syntax import nodes as n
from prose_lang.values.model import MAX_NODES

if TYPE_CHECKING:
    from prose_lang.runtime.compiler.compiler import Compiler


class Strategy(NamedTuple):
    """The modifiers of a parallel block."""

    name: str
    needed: Value | None
    on_fail: str
    place: Place


def _strategy(c: Compiler, node: n.Parallel | n.ParallelFor | n.ParallelRepeat) -> Strategy:
    name, on_fail = "all", "fail-fast"
    count: Value | None = None
    place = c.place(node)
    for modifier in node.modifiers:
        literal = modifier.value.value if isinstance(modifier.value, n.Literal) else None
        if modifier.name is None:
            name = str(literal)
        elif modifier.name == "on-fail":
            on_fail = str(literal)
        else:
            count, place = c.expression(modifier.value), c.place(modifier)
    return Strategy(name, count, on_fail, place)


async def _needed(strategy: Strategy, f: Frame, branches: int) -> int | None:
    """How many successes decide; None if all branches run to their end."""
    if strategy.name == "all":
        return None
    if strategy.needed is None:
        return 1
    value = await strategy.needed.run(f) if strategy.needed.waits else strategy.needed.run(f)
    need = whole_count(value, strategy.place, "`count`")
    if need > branches:
        strategy.place.fail("P212", f"`count` is {need}, but there are {branches} branches")
    return need


def _settle(strategy: Strategy, joined: Joined, need: int | None, node_place: Place) -> list[Any]:
    """The values of the branches in order, `PENDING` for those that have none; raises where too few succeeded."""
    if need is None:
        if strategy.on_fail == "fail-fast" and joined.errors:
            first = joined.errors[min(joined.errors)]
            first.survivors = [None if value is PENDING else value for value in joined.values]
            raise first
        if strategy.on_fail == "continue":
            return [
                {"error": error_value(joined.errors[number])} if number in joined.errors else value
                for number, value in enumerate(joined.values)
            ]
        return joined.values
    winners = joined.successes[:need]
    if len(winners) < need:
        reasons = "; ".join(f"branch {number}: {error.message}" for number, error in sorted(joined.errors.items()))
        error = RunError(
            "P401",
            f"{len(winners)} of {len(joined.values)} branches succeeded, {need} had to ({reasons})",
            source=node_place.source,
            span=node_place.span,
        )
        error.branch_errors = [joined.errors[number] for number in sorted(joined.errors)]
        raise error
    chosen = set(winners)
    return [value if number in chosen else PENDING for number, value in enumerate(joined.values)]


def _counted(joined: Joined, values: Sequence[Any]) -> list[int]:
    """The branches that count, in order: those that succeeded, of a race the winners."""
    return [number for number, value in enumerate(values) if value is not PENDING and number not in joined.errors]


def _list_value(strategy: Strategy, values: Sequence[Any]) -> Any:
    """The value of a join as a list; of "first" the winner's."""
    if strategy.name == "first":
        return next((value for value in values if value is not PENDING), None)
    return [value for value in values if value is not PENDING]


# --- parallel: -------------------------------------------------------------------------------------------------------


class _Branch(NamedTuple):
    """A branch of `parallel:`: its step, what makes its frame, and the names it publishes with their cells."""

    step: Step
    fork: Callable[[Frame], Frame]
    names: tuple[tuple[str, int], ...]


def compile_parallel(c: Compiler, node: n.Parallel) -> Value:
    """Each statement below is a branch; after the join, the names that they `let` are set around it."""
    strategy, place, site = _strategy(c, node), c.place(node), c.program.sites[node]
    branches = [_branch(c, branch) for branch in node.branches.statements]
    published = [branch for branch in branches if branch.names]
    by_name = len(published) == len(branches) and strategy.name == "all"
    cells = [cell for branch in branches for _, cell in branch.names]
    aliases = {cell: c.program.aliases[cell] for cell in cells if cell in c.program.aliases}

    async def run(f: Frame) -> Any:
        here = f[0]
        frames: list[Frame] = []
        for item in branches:
            frame = item.fork(f)
            frame[0] = here.branch(here.indices, here.memory.branch())
            frames.append(frame)

        async def branch(number: int) -> Any:
            step = branches[number].step
            completion = step.run(frames[number])
            return value_of(await completion if step.waits else completion)

        need = await _needed(strategy, f, len(branches))
        fail_fast = strategy.on_fail == "fail-fast"
        joined = await join(
            branch, len(branches), here.run.live, place, need=need, fail_fast=fail_fast,
            ledger=here.ledger, address=lambda: site.address(here.prefix, here.indices),
        )  # fmt: skip
        values = _settle(strategy, joined, need, place)
        # A branch that failed or lost said nothing to anybody (L29).
        if any(frame[0].memory.changed for frame in frames):
            with located(place):
                here.memory.take(frames[number][0].memory for number in _counted(joined, values))
        whole: dict[str, Any] = {}
        for number, (item, value) in enumerate(zip(branches, values, strict=True)):
            for name, cell in item.names:
                if number in joined.errors:
                    # `continue` gives the error by name, `ignore` null (L24).
                    found = value if strategy.on_fail == "continue" and need is None else None
                else:
                    found = None if value is PENDING else frames[number][cell]
                f[cell] = whole[name] = found
                if cell in aliases:  # what a branch let by a call is known by its single output around it, too
                    f[aliases[cell]] = None if found is None else frames[number][aliases[cell]]
        return whole if by_name else _list_value(strategy, values)

    return Value(run, waits=True)


def _branch(c: Compiler, statement: n.Statement) -> _Branch:
    caught, c.caught = c.caught, None
    step = c.sequence([statement], Return)
    c.caught = caught
    match statement:
        case n.Let(name=name):
            names: tuple[n.Name, ...] = (name,)
        case n.Destructure(names=several):
            names = several
        case _:
            names = ()
    return _Branch(step, c.fork(statement), tuple((name.id, c.program.writes[name]) for name in names))


# --- parallel for, parallel repeat -----------------------------------------------------------------------------------


def compile_fan_out(c: Compiler, node: n.ParallelFor | n.ParallelRepeat) -> Value:
    """The same body for every entry or number; the value is the list of theirs in input order."""
    strategy, place, site = _strategy(c, node), c.place(node), c.program.sites[node]
    if isinstance(node, n.ParallelFor):
        source, count_place = c.expression(node.iterable), c.place(node.iterable)
        cell: int | None = c.program.writes[node.variable]
        index_cell = c.program.writes[node.index] if node.index is not None else None
    else:
        source, count_place = c.expression(node.count), c.place(node.count)
        cell = c.program.writes[node.variable] if node.variable is not None else None
        index_cell = None
    repeating = isinstance(node, n.ParallelRepeat)
    step = c.body(node.body)
    step_run, waits, fork = step.run, step.waits, c.fork(node.body)

    async def run(f: Frame) -> Any:
        found = await source.run(f) if source.waits else source.run(f)
        items: Sequence[Any]
        items = range(1, _branches(found, count_place) + 1) if repeating else list(pairs_of(found, count_place))
        here = f[0]
        outer = here.indices

        def frame_of(number: int) -> Frame:
            frame = fork(f)
            frame[0] = here.branch((*outer, number))
            item: Any = items[number]
            if repeating:
                if cell is not None:
                    frame[cell] = item
                return frame
            frame[cell or 0], second = item
            if index_cell is not None:
                frame[index_cell] = second
            return frame

        need = await _needed(strategy, f, len(items))
        if not items:
            return _settle(strategy, Joined([], {}), need, place)
        if waits:
            said: dict[int, Memory] = {}

            async def branch(number: int) -> Any:
                frame = frame_of(number)
                memory = frame[0].memory = here.memory.branch()
                completion = await step_run(frame)
                if memory.changed:  # only those are kept: there may be very many branches
                    said[number] = memory
                return completion.value if type(completion) is Return else None

            fail_fast = strategy.on_fail == "fail-fast"
            joined = await join(
                branch, len(items), here.run.live, place, need=need, fail_fast=fail_fast,
                ledger=here.ledger, address=lambda: site.address(here.prefix, outer),
            )  # fmt: skip
            values = _settle(strategy, joined, need, place)
            if said:
                with located(place):
                    here.memory.take(said[number] for number in _counted(joined, values) if number in said)
        else:
            joined = await _one_by_one(lambda number: step_run(frame_of(number)), len(items), need, strategy)
            values = _settle(strategy, joined, need, place)
        return _list_value(strategy, values)

    return Value(run, waits=True)


def _branches(value: Any, place: Place) -> int:
    """How many branches `parallel repeat` has; their values stand in one list, however few run at a time."""
    count = whole_count(value, place)
    if count > MAX_NODES:
        place.fail("P302", f"a parallel block has at most {MAX_NODES:,} branches, not {value}")
    return count


async def _one_by_one(run: Callable[[int], Any], count: int, need: int | None, strategy: Strategy) -> Joined:
    """Branches that wait for nothing need no tasks; the first ones win every race."""
    values: list[Any] = [PENDING] * count
    errors: dict[int, RunError] = {}
    succeeded = 0
    for number in range(count):
        try:
            values[number] = value_of(run(number))
            succeeded += 1
        except RunError as error:
            if not error.catchable:
                raise
            errors[number] = error
            if need is None and strategy.on_fail == "fail-fast":
                break
        if need is not None and succeeded >= need:
            break
        if not (number + 1) % BREATH:
            await asyncio.sleep(0)
    return Joined(values, errors)
