"""What closures are made of: frames, compiled values and steps, and the code of a whole program."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import attrs

from prose_lang.semantics import Program, Site
from prose_lang.semantics.demands import Demand, demands

#: A frame: cell 0 holds the activation, the others the values of names (`semantics/program.py`).
Frame: TypeAlias = list[Any]


class Value(NamedTuple):
    """A compiled value: call it with a frame; `waits` tells to await what comes back.

    `escapes` tells that what comes back may be an `Escape`.
    """

    run: Callable[[Frame], Any]
    waits: bool = False
    escapes: bool = False


class Step(NamedTuple):
    """A compiled statement or statement list: call it with a frame; it gives a completion."""

    run: Callable[[Frame], Any]
    waits: bool = False


class BlockCode(NamedTuple):
    """A compiled block (L28): the cells of its parameters, and its body."""

    cells: tuple[int, ...]
    step: Step


@attrs.frozen(eq=False)
class Code:
    """A compiled program. `cells` is the length of its frames, `weight` how many Python frames its walk stacks up."""

    program: Program
    step: Step
    blocks: Mapping[str, BlockCode]
    cells: int
    weight: int

    @functools.cached_property
    def demands(self) -> Mapping[Site, tuple[str, Demand]]:
        """What the program asks of the results of its calls; worked out for the first service that has no contract."""
        return demands(self.program)
