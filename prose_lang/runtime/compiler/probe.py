"""The hook of measuring: what a probe is asked for while a program is compiled, and how that gets into the code.

Without a probe the compiled code is what it always is, to the last closure, so that nothing is paid for a measurement
nobody makes. With one, a step that counts stands before each statement, and conditions tell how they fell. The walk
knows of neither. Counting and reporting are the probe's own business (`prose_lang/testing/coverage.py`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol

from prose_lang.runtime.compiler.code import Frame, Step
from prose_lang.semantics import Program
from prose_lang.syntax import nodes as n

if TYPE_CHECKING:
    from prose_lang.runtime.compiler.conditions import Decider


class Probe(Protocol):
    """What measures. It is asked once for each node of a program that is compiled; what it gives is called whenever
    a run gets there, in whatever run and thread, and must neither fail nor take long."""

    def reached(self, program: Program, node: n.Statement) -> Callable[[], None]:
        """What to call each time a statement begins."""

    def decided(self, program: Program, node: n.Condition | n.Stage) -> Callable[[Any], None]:
        """What to call with each outcome: a truth value, or the label of a choice (L31). The outcome of a `filter`
        stage is whether an item is kept (L28)."""


def counting(note: Callable[[], None]) -> Step:
    """The step that stands before a statement. A step of its own makes no stack taller, as one around it would."""
    return Step(lambda f: note())


def watched(decider: Decider, note: Callable[[Any], None]) -> Decider:
    """The same condition, telling each decision, whichever layer makes it (L30)."""
    inner, inner_decide = decider.quick, decider.decide

    def quick(f: Frame) -> bool | None:
        holds = inner(f)
        if holds is not None:
            note(holds)
        return holds

    async def decide(f: Frame) -> Any:
        outcome = await inner_decide(f)
        note(outcome)
        return outcome

    return decider._replace(quick=quick, decide=decide)


def watched_filter(
    one: Callable[[Frame, int, Any], Awaitable[Any]], note: Callable[[Any], None]
) -> Callable[[Frame, int, Any], Awaitable[Any]]:
    """The step of a `filter` stage, telling whether it keeps its item."""

    async def kept(f: Frame, number: int, item: Any) -> Any:
        value = await one(f, number, item)
        note(bool(value))
        return value

    return kept
