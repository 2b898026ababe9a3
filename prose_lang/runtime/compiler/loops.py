"""Loops (L21, L22). Every loop is a coroutine, even around a body that never waits: it lets others run now and then,
so that an endless computation can be cancelled and timed out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from prose_lang.runtime.compiler.code import Frame, Step, Value
from prose_lang.runtime.completion import BREAK, CONTINUE, Return
from prose_lang.runtime.place import Place
from prose_lang.syntax import nodes as n
from prose_lang.values import kind_of
from prose_lang.values.model import MAX_NODES

if TYPE_CHECKING:
    from prose_lang.runtime.compiler.compiler import Compiler

#: Passes between two occasions for others to run.
BREATH = 512


def whole_count(value: Any, place: Place, what: str = "a loop count") -> int:
    """A loop count (L21): a whole number from 1; anything else is P302."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        shown = "null" if value is None else f"a {kind_of(value)}"
        place.fail("P302", f"{what} is a whole number from 1, not {shown}")
    if value < 1 or value != int(value):
        place.fail("P302", f"{what} is a whole number from 1, not {value}")
    return int(value)


def pairs_of(value: Any, place: Place) -> Iterator[tuple[Any, Any]]:
    """What a `for` runs over, with the second variable: entries with their numbers, keys with their values (L21)."""
    if isinstance(value, list):
        return ((item, index) for index, item in enumerate(list(value)))
    if isinstance(value, dict):
        return iter(list(value.items()))
    shown = "null" if value is None else f"a {kind_of(value)}"
    hint = (
        'a text is one thing; give a list (NAME:=["…", "…"]), or split the text in a service'
        if isinstance(value, str)
        else None
    )
    place.fail("P302", f"`for` runs over a list or an object, not over {shown}", hint)


Setter = Callable[[Frame, Any], None]


def _passes(c: Compiler, node: n.Repeat | n.For) -> tuple[Value, Callable[[Any], Iterator[Any]], Setter, int]:
    """What a counted loop evaluates, the passes that gives, how a pass sets its variables, and the first index."""
    if isinstance(node, n.Repeat):
        place = c.place(node.count)
        cell = c.program.writes[node.variable] if node.variable is not None else None

        def set_counter(f: Frame, item: Any) -> None:
            if cell is not None:
                f[cell] = item

        return c.expression(node.count), lambda value: iter(range(1, whole_count(value, place) + 1)), set_counter, 1
    place = c.place(node.iterable)
    cell = c.program.writes[node.variable]
    index_cell = c.program.writes[node.index] if node.index is not None else None

    def set_pair(f: Frame, item: Any) -> None:
        f[cell] = item[0]
        if index_cell is not None:
            f[index_cell] = item[1]

    return c.expression(node.iterable), lambda value: pairs_of(value, place), set_pair, 0


def _limit(c: Compiler, node: n.For | n.Loop) -> tuple[Value, Place] | None:
    return (c.expression(node.limit), c.place(node.limit)) if node.limit is not None else None


async def _evaluated(value: Value, f: Frame) -> Any:
    return await value.run(f) if value.waits else value.run(f)


def compile_loop(c: Compiler, node: n.Repeat | n.For | n.Loop) -> Step:
    """A plain loop: its passes share the frame, and a `return` in it ends the body around it."""
    if isinstance(node, n.Loop):
        return _open_loop(c, node)
    source, passes, set_variables, first = _passes(c, node)
    body = c.sequence(node.body.statements, None)
    limit = _limit(c, node) if isinstance(node, n.For) else None
    run, waits = body.run, body.waits

    async def loop(f: Frame) -> Any:
        found = await source.run(f) if source.waits else source.run(f)
        most = whole_count(await _evaluated(limit[0], f), limit[1]) if limit is not None else None
        here = f[0]
        outer = here.indices
        for number, item in enumerate(passes(found)):
            if most is not None and number >= most:
                here.run.note("loop-max", here, most)
                break
            here.indices = (*outer, number + first)
            set_variables(f, item)
            completion = run(f)
            if waits:
                completion = await completion
            if completion is not None:
                if completion is BREAK:
                    break
                if completion is not CONTINUE:
                    here.indices = outer
                    return completion
            if not number % BREATH and number:
                await asyncio.sleep(0)
        here.indices = outer
        return None

    return Step(loop, waits=True)


def _open_loop(c: Compiler, node: n.Loop) -> Step:
    """`loop`, `loop until`, `loop while`: to its `max`, which is a normal end, or the run's ceiling, which is P306."""
    place = c.place(node)
    limit = _limit(c, node)
    cell = c.program.writes[node.variable] if node.variable is not None else None
    decider = c.condition(node.condition) if node.condition is not None else None
    until = node.kind == "until"
    body = c.sequence(node.body.statements, None)
    run, waits = body.run, body.waits

    async def loop(f: Frame) -> Any:
        here = f[0]
        bounded = limit is not None
        most = whole_count(await _evaluated(limit[0], f), limit[1]) if limit is not None else here.run.max_passes
        outer = here.indices
        number = 0
        while True:
            if number >= most:
                if not bounded:
                    here.indices = outer
                    place.fail(
                        "P306",
                        f"this loop has no `max` and was stopped after {most:,} passes",
                        "bound it: (max: N)",
                    )
                here.run.note("loop-max", here, most)
                break
            number += 1
            here.indices = (*outer, number)
            if cell is not None:
                f[cell] = number
            if decider is not None and not until:
                holds = decider.quick(f)
                if holds is None:
                    holds = await decider.decide(f)
                if not holds:
                    break
            completion = run(f)
            if waits:
                completion = await completion
            if completion is not None:
                if completion is BREAK:
                    break
                if completion is not CONTINUE:
                    here.indices = outer
                    return completion
            if decider is not None and until:
                holds = decider.quick(f)
                if holds is None:
                    holds = await decider.decide(f)
                if holds:
                    break
            if not number % BREATH:
                await asyncio.sleep(0)
        here.indices = outer
        return None

    return Step(loop, waits=True)


def compile_collecting(c: Compiler, node: n.Repeat | n.For) -> Value:
    """A collecting loop: each pass is a body of its own in the frame around it; the value is the list of theirs."""
    source, passes, set_variables, first = _passes(c, node)
    body = c.body(node.body)
    limit = _limit(c, node) if isinstance(node, n.For) else None
    run, waits, place = body.run, body.waits, c.place(node)

    async def collect(f: Frame) -> Any:
        found = await source.run(f) if source.waits else source.run(f)
        most = whole_count(await _evaluated(limit[0], f), limit[1]) if limit is not None else None
        here = f[0]
        outer = here.indices
        values: list[Any] = []
        for number, item in enumerate(passes(found)):
            if most is not None and number >= most:
                here.run.note("loop-max", here, most)
                break
            here.indices = (*outer, number + first)
            set_variables(f, item)
            completion = run(f)
            if waits:
                completion = await completion
            if completion is BREAK:
                break
            values.append(completion.value if type(completion) is Return else None)
            if not number % BREATH and number:
                if number >= MAX_NODES:
                    place.fail("P304", f"the list would be longer than {MAX_NODES:,} entries")
                await asyncio.sleep(0)
        here.indices = outer
        return values

    return Value(collect, waits=True)
