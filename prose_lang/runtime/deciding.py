"""Deciding a condition that stands in no program, by the code that decides those that do (L30)."""

from __future__ import annotations

from collections.abc import Mapping

from prose_lang.runtime.activation import Activation, Home, Run
from prose_lang.runtime.compiler.code import Code, Frame, Step
from prose_lang.runtime.compiler.compiler import Compiler
from prose_lang.semantics import Alone
from prose_lang.values import Value


async def decide(alone: Alone, values: Mapping[str, Value], run: Run) -> bool:
    """Whether a condition holds for the values of its names; a name without a value is null.

    The decision is told to the run, with its layer and its reason. Raises RunError as the condition of a body would.
    """
    compiler = Compiler(alone.program)
    decider = compiler.condition(alone.condition)
    code = Code(alone.program, Step(lambda f: None), {}, compiler.cells, 8)
    frame: Frame = [None] * compiler.cells
    frame[0] = Activation(run, Home(code, lambda name: None))
    for name, cell in alone.cells.items():
        frame[cell] = values.get(name)
    found = decider.quick(frame)
    return bool(await decider.decide(frame)) if found is None else found
