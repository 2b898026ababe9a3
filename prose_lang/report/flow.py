"""How a program flows, as plain data: steps in frames and columns, and the edges between them.

`parts` is the structure, which is what a program has and what a drawing shows; `edges` are the same as a flat graph,
with the jumps of `break`, `continue` and errors. Both are in the order of the text. Making it of a program is
`flow_builder.py`, writing it down is left to `mermaid.py`, `dot.py` and `svg.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import attrs

from prose_lang.text import Span


@attrs.frozen(eq=False)
class Step:
    """One box.

    `kind` is start, call, session, decision, choice, do, work, return, throw, leave (`break`, `continue`) or end.
    `slot` is the slot that a call goes to, `layers` what can decide a decision; `site` is the place of a call or
    decision in its file, `line` the line it stands on.
    """

    id: str
    kind: str
    lines: tuple[str, ...]
    line: int
    slot: str | None = None
    layers: tuple[str, ...] = ()
    site: Span | None = None

    @property
    def judged(self) -> bool:
        """Whether a judge may be asked, which costs a call."""
        return "judge" in self.layers


@attrs.frozen(eq=False)
class Column:
    """Parts one below the other; `label` says when they are reached (yes, an option, a branch), or is empty."""

    label: str
    parts: tuple[Part, ...]
    goes_on: bool  # whether what follows the whole is reached from here


@attrs.frozen(eq=False)
class Ladder:
    """`if`, `elif`, `else`: each column begins with its decision, or with what leads to it; the last may be an `else`.

    `otherwise` tells whether it is.
    """

    columns: tuple[Column, ...]
    otherwise: bool


@attrs.frozen(eq=False)
class Fork:
    """A choice with its options side by side."""

    head: Step
    columns: tuple[Column, ...]


@attrs.frozen(eq=False)
class Frame:
    """What belongs together. Several columns are branches.

    `kind` is loop, parallel, try, tried, catch, finally, do, pipeline, stage, block, agent or nested.
    """

    id: str
    kind: str
    label: str
    columns: tuple[Column, ...]


Part: TypeAlias = "Step | Ladder | Fork | Frame"


@attrs.frozen
class Edge:
    """From a step or frame to a step. `kind` is next, again, error, or uses (a block or a nested pattern)."""

    source: str
    target: str
    label: str = ""
    kind: str = "next"


@attrs.frozen(eq=False)
class Flow:
    """A program as a graph. `slots` are its slots in the order of the file, `definitions` what its steps use."""

    name: str
    parts: tuple[Part, ...]
    definitions: tuple[Frame, ...]
    edges: tuple[Edge, ...]
    slots: tuple[str, ...]

    @property
    def everything(self) -> tuple[Part, ...]:
        return (*self.parts, *self.definitions)

    def steps(self) -> Iterator[Step]:
        """All steps, in the order of the text."""
        return (part for part in within(self.everything) if isinstance(part, Step))

    def frames(self) -> Iterator[Frame]:
        """All frames, the outer ones first."""
        return (part for part in within(self.everything) if isinstance(part, Frame))


def within(parts: Iterable[Part]) -> Iterator[Part]:
    """Parts and all that stands in them."""
    for part in parts:
        yield part
        if isinstance(part, Fork):
            yield part.head
        if not isinstance(part, Step):
            for column in part.columns:
                yield from within(column.parts)


def first_steps(part: Part) -> tuple[str, ...]:
    """The steps at which a part begins: several if it begins with branches."""
    while not isinstance(part, Step):
        if isinstance(part, Fork):
            return (part.head.id,)
        if isinstance(part, Frame) and part.kind == "parallel":
            return tuple(name for column in part.columns for name in first_steps(column.parts[0]))
        part = part.columns[0].parts[0]
    return (part.id,)
