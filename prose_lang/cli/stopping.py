"""Why a run went no further: its last decision, if that is what ended a loop or would have (`refine`: the score)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prose_lang.semantics.returns import paths_of
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk

if TYPE_CHECKING:
    from prose_lang.engine import DecisionRecord
    from prose_lang.semantics import Program

_IN_A_LOOP = re.compile(r"\.(repeat|loop|for)\[")


def why_it_stopped(program: Program, decisions: Sequence[DecisionRecord]) -> str | None:
    """The last decision in words; None if the run's end did not hang on it.

    Only the program's own decisions count, not those of patterns that it called.
    """
    places = [
        (re.compile(r"\d+".join(map(re.escape, plan.site.template))), condition)
        for condition, plan in program.conditions.items()
    ]
    for decision in reversed(decisions):
        condition = next((condition for place, condition in places if place.fullmatch(decision.address)), None)
        if condition is None:
            continue
        ends = _ends_when(program, condition)
        if ends is None or not _IN_A_LOOP.search(decision.address):
            return None
        said = f"{decision.text} ({decision.reason})"
        if decision.holds is ends:
            return f"stopped: {said}" if ends else f"stopped, no longer: {said}"
        return f"not met: {said}" if ends else None
    return None


def _ends_when(program: Program, condition: n.Condition) -> bool | None:
    """Which truth of a condition leaves the loop around it; None if neither does."""
    assert program.body is not None
    for node in walk(program.body):
        if isinstance(node, n.Loop) and node.condition is condition:
            return node.kind == "until"
        if isinstance(node, n.Arm) and node.condition is condition:
            paths = paths_of(node.body.statements)
            leaves = paths.returns or _breaks(node.body)
            return True if leaves and not paths.falls_through else None
    return None


def _breaks(body: n.Body) -> bool:
    return any(isinstance(statement, n.Break) for statement in body.statements)
