"""Pipelines (L28): `| map:`, `| filter:`, `| reduce(acc, x):` one item after the other, `| pmap:` all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from prose_lang.runtime.compiler.code import Frame, Step, Value
from prose_lang.runtime.compiler.loops import BREATH
from prose_lang.runtime.compiler.probe import watched_filter
from prose_lang.runtime.compiler.statements import value_of
from prose_lang.runtime.conversations import Memory
from prose_lang.runtime.parallel import join
from prose_lang.runtime.place import Place, located
from prose_lang.syntax import nodes as n
from prose_lang.values import kind_of

if TYPE_CHECKING:
    from prose_lang.runtime.compiler.compiler import Compiler


def compile_pipeline(c: Compiler, node: n.Pipeline) -> Value:
    """The stages one after the other, each over the whole list that the one before gave."""
    source = c.value(node.source)
    stages = [_Stage(c, stage) for stage in node.stages]
    place = c.place(node.source)

    async def run(f: Frame) -> Any:
        value = await source.run(f) if source.waits else source.run(f)
        for stage in stages:
            value = await stage.run(f, value, place)
        return value

    return Value(run, waits=True)


class _Stage:
    """One compiled stage."""

    def __init__(self, c: Compiler, stage: n.Stage) -> None:
        self.kind = stage.kind
        self.place, self.site = c.place(stage), c.program.sites[stage]
        self.step: Step = c.body(stage.body)
        self.fork = c.fork(stage.body)
        self.cells = [c.program.writes[name] for name in stage.names] or [c.program.items[stage]]
        self.keeps: Callable[[Frame, int, Any], Awaitable[Any]] = self.one
        if stage.kind == "filter" and c.probe is not None:
            self.keeps = watched_filter(self.one, c.probe.decided(c.program, stage))

    async def run(self, f: Frame, value: Any, source: Place) -> Any:
        if not isinstance(value, list):
            shown = "null" if value is None else f"a {kind_of(value)}"
            source.fail("P302", f"`| {self.kind}:` runs over a list, not over {shown}")
        match self.kind:
            case "reduce":
                return await self.reduce(f, value)
            case "pmap":
                return await self.all_at_once(f, value)
            case "filter":
                kept = []
                for number, item in enumerate(value):
                    if await self.keeps(f, number, item):
                        kept.append(item)
                    await _breathe(number)
                return kept
            case _:
                made = []
                for number, item in enumerate(value):
                    made.append(await self.one(f, number, item))
                    await _breathe(number)
                return made

    async def all_at_once(self, f: Frame, items: list[Any]) -> list[Any]:
        """`pmap`: each item is a branch of its own."""
        here = f[0]
        memory, said, indices = here.memory, {}, here.indices

        async def branch(number: int) -> Any:
            own = memory.branch()
            value = await self.one(f, number, items[number], memory=own)
            if own.changed:
                said[number] = own
            return value

        # The stage's own address has a hole for the number of an item; the block as a whole has none.
        joined = await join(
            branch, len(items), here.run.live, self.place,
            ledger=here.ledger, address=lambda: self.site.address(here.prefix, (*indices, len(items))),
        )  # fmt: skip
        if joined.errors:
            raise joined.errors[min(joined.errors)]
        if said:
            with located(self.place):
                memory.take(said[number] for number in sorted(said))
        return joined.values

    async def one(self, f: Frame, number: int, *values: Any, memory: Memory | None = None) -> Any:
        """One step with its own frame; its names hold `values`."""
        frame = self.fork(f)
        frame[0] = f[0].branch((*f[0].indices, number), memory, fresh=self.kind == "pmap")
        for cell, value in zip(self.cells, values, strict=True):
            frame[cell] = value
        completion = self.step.run(frame)
        if self.step.waits:
            completion = await completion
        return value_of(completion)

    async def reduce(self, f: Frame, items: list[Any]) -> Any:
        """Starts with the first item; an empty list gives null (§9 L28)."""
        if not items:
            return None
        found = items[0]
        for number, item in enumerate(items[1:], start=1):
            found = await self.one(f, number, found, item)
            await _breathe(number)
        return found


async def _breathe(number: int) -> None:
    if number and not number % BREATH:
        await asyncio.sleep(0)
