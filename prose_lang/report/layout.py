"""Where the boxes of a flow stand when it is drawn: structured programs nest, so nothing has to be searched for.

A sequence is a stack of boxes on one axis, columns stand side by side, and a frame goes around what belongs to it.
Lengths are in pixels. The width of a text is estimated, generously, from its characters. Pictures are made of the
result in `svg.py`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import attrs

from prose_lang.diagnostics.visible import visible, width_of
from prose_lang.report.flow import Column, Flow, Fork, Frame, Ladder, Part, Step

#: Width of a character and height of a line, at the size of the texts.
CHARACTER, LINE = 7.9, 17.0
#: Characters of a line of a box.
WRAP = 34
GAP = 30.0
BETWEEN = 26.0
PADDING = 14.0


@attrs.frozen
class Box:
    """A step or frame with its place: `x` and `y` are of its upper left corner. `lines` is its text, wrapped."""

    part: Step | Frame
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


@attrs.frozen
class Line:
    """A line through some points; it ends in an arrow unless `joins`. `label` stands beside its end or its start."""

    points: tuple[tuple[float, float], ...]
    label: str = ""
    joins: bool = False
    at: tuple[float, float] = (0.0, 0.0)  # where the label stands


@attrs.frozen
class Area:
    """A part that is laid out, at the origin. The axis, on which it is entered and left, is in its middle."""

    width: float
    height: float
    boxes: tuple[Box, ...] = ()
    lines: tuple[Line, ...] = ()
    goes_on: bool = True

    @property
    def axis(self) -> float:
        return self.width / 2

    def moved(self, x: float, y: float) -> tuple[tuple[Box, ...], tuple[Line, ...]]:
        """Its boxes and lines somewhere else."""
        boxes = tuple(attrs.evolve(box, x=box.x + x, y=box.y + y) for box in self.boxes)
        lines = tuple(
            attrs.evolve(
                line, points=tuple((a + x, b + y) for a, b in line.points), at=(line.at[0] + x, line.at[1] + y)
            )
            for line in self.lines
        )
        return boxes, lines


def wrapped(lines: Sequence[str], width: int = WRAP) -> tuple[str, ...]:
    """Texts as lines of at most so many columns, harmless; a word that is too long is broken."""
    found: list[str] = []
    for line in lines:
        for part in textwrap.wrap(visible(line), width, break_on_hyphens=False) or [""]:
            # `textwrap` counts characters; those of East Asian scripts take two columns.
            while width_of(part) > width:
                end = len(part)
                while width_of(part[:end]) > width:
                    end -= 1
                found.append(part[:end])
                part = part[end:]
            found.append(part)
    return tuple(found)


def laid_out(flow: Flow) -> Area:
    """A flow with the definitions that it uses below each other on its right."""
    main = stacked(flow.parts)
    boxes, lines = main.boxes, main.lines
    width, height, below = main.width, main.height, 0.0
    for frame in flow.definitions:
        area = framed(frame)
        more_boxes, more_lines = area.moved(main.width + 2 * BETWEEN, below)
        boxes, lines = (*boxes, *more_boxes), (*lines, *more_lines)
        width = max(width, main.width + 2 * BETWEEN + area.width)
        below += area.height + GAP
    return Area(width, max(height, below - GAP), boxes, lines)


def laid(part: Part) -> Area:
    """One part."""
    match part:
        case Step():
            return step(part)
        case Frame():
            return framed(part)
        case Ladder():
            return ladder(part)
        case Fork():
            return fork(part)


def step(part: Step) -> Area:
    """A box around its text; decisions have slanted ends."""
    lines = wrapped(part.lines)
    slant = 2 * PADDING if part.kind in ("decision", "choice") else 0.0
    width = max(70.0, max(map(width_of, lines)) * CHARACTER + 2 * PADDING + slant)
    height = len(lines) * LINE + PADDING
    goes_on = part.kind not in ("return", "throw", "leave", "end")
    return Area(width, height, (Box(part, 0.0, 0.0, width, height, lines),), (), goes_on)


def stacked(parts: Sequence[Part]) -> Area:
    """Parts one below the other, with arrows between them."""
    areas = [laid(part) for part in parts]
    width = max(area.width for area in areas)
    boxes: tuple[Box, ...] = ()
    lines: tuple[Line, ...] = ()
    y = 0.0
    for number, area in enumerate(areas):
        if number:
            kind = _kind(parts[number])
            if areas[number - 1].goes_on or kind == "finally":
                label = {"catch": "on error", "finally": "in any case"}.get(kind, "")
                label = "yes" if _kind(parts[number - 1]) == "decision" else label
                points = ((width / 2, y), (width / 2, y + GAP))
                # A ladder has a line of its own to its first decision.
                joins = isinstance(parts[number], Ladder)
                lines = (*lines, Line(points, label, joins, at=(width / 2 + 5, y + GAP / 2 + 4)))
            y += GAP
        more_boxes, more_lines = area.moved((width - area.width) / 2, y)
        boxes, lines = (*boxes, *more_boxes), (*lines, *more_lines)
        y += area.height
    goes_on = areas[-1].goes_on
    return Area(width, y, boxes, lines, goes_on)


def _kind(part: Part) -> str:
    return part.kind if isinstance(part, (Step, Frame)) else ""


def framed(part: Frame) -> Area:
    """A frame around its columns, its label on top."""
    areas = [column_of(column) for column in part.columns]
    inner = sum(area.width for area in areas) + BETWEEN * (len(areas) - 1)
    text = f"↻ {part.label}" if part.kind == "loop" else part.label
    label = wrapped([text], max(WRAP, int((inner + PADDING) / CHARACTER))) if text else ()
    width = max(inner, max((width_of(line) for line in label), default=0) * CHARACTER) + 2 * PADDING
    top = PADDING + len(label) * LINE + (4.0 if label else 0.0)
    x = (width - inner) / 2
    boxes: tuple[Box, ...] = ()
    lines: tuple[Line, ...] = ()
    for area in areas:
        more_boxes, more_lines = area.moved(x, top)
        boxes, lines = (*boxes, *more_boxes), (*lines, *more_lines)
        x += area.width + BETWEEN
    height = top + max(area.height for area in areas) + PADDING
    own = Box(part, 0.0, 0.0, width, height, label)
    goes_on = any(column.goes_on for column in part.columns) or part.kind == "tried"
    return Area(width, height, (own, *boxes), lines, goes_on)


def column_of(column: Column) -> Area:
    """The parts of a column."""
    return stacked(column.parts)


def fork(part: Fork) -> Area:
    """A decision with its options below it, side by side."""
    head = step(part.head)
    areas = [column_of(column) for column in part.columns]
    labels = [_room(column.label) for column in part.columns]
    widths = [max(area.width, 2 * label) for area, label in zip(areas, labels, strict=True)]
    inner = sum(widths) + BETWEEN * (len(areas) - 1)
    width = max(inner, head.width)
    boxes, lines = head.moved((width - head.width) / 2, 0.0)
    top = head.height + 2 * GAP
    bottom = top + max(area.height for area in areas)
    x = (width - inner) / 2
    for column, area, room in zip(part.columns, areas, widths, strict=True):
        axis = x + room / 2
        more_boxes, more_lines = area.moved(axis - area.axis, top)
        turn = head.height + GAP * 0.6
        points = ((width / 2, head.height), (width / 2, turn), (axis, turn), (axis, top))
        way = Line(points, column.label, at=(axis + 5, top - GAP * 0.45))
        boxes, lines = (*boxes, *more_boxes), (*lines, *more_lines, way)
        if column.goes_on:
            lines = (*lines, _join(axis, top + area.height, bottom + GAP * 0.6, width / 2))
        x += room + BETWEEN
    return Area(width, bottom + GAP * 0.6, boxes, lines, any(column.goes_on for column in part.columns))


def ladder(part: Ladder) -> Area:
    """Decisions side by side, each with its arm below it, and a way to the next one if it does not hold."""
    areas = [column_of(column) for column in part.columns]
    between = BETWEEN + _room("no")
    lane = 0.0 if part.otherwise else between
    width = sum(area.width for area in areas) + between * (len(areas) - 1) + 2 * lane
    boxes: tuple[Box, ...] = ()
    lines: tuple[Line, ...] = ()
    x, top = lane, GAP
    bottom = top + max(area.height for area in areas) + GAP * 0.6
    before: Box | None = None
    for number, (column, area) in enumerate(zip(part.columns, areas, strict=True)):
        more_boxes, more_lines = area.moved(x, top)
        boxes, lines = (*boxes, *more_boxes), (*lines, *more_lines)
        axis = x + area.axis
        first = more_boxes[0]
        if before is None:
            lines = (*lines, Line(((width / 2, 0.0), (width / 2, GAP * 0.4), (axis, GAP * 0.4), (axis, top))))
        else:
            lines = (*lines, _no(before, x - between * 0.35, first))
        if column.goes_on:
            lines = (*lines, _join(axis, top + area.height, bottom, width / 2))
        if number < len(part.columns) - part.otherwise:
            before = next(box for box in more_boxes if isinstance(box.part, Step) and box.part.kind == "decision")
        x += area.width + between
    if not part.otherwise and before is not None:
        middle, edge = before.y + before.height / 2, width - lane * 0.5
        points = ((before.x + before.width, middle), (edge, middle), (edge, bottom), (width / 2, bottom))
        lines = (*lines, Line(points, "no", joins=True, at=(before.x + before.width + 5, middle - 5)))
    goes_on = not part.otherwise or any(column.goes_on for column in part.columns)
    return Area(width, bottom, boxes, lines, goes_on)


def _no(before: Box, turn: float, first: Box) -> Line:
    """From a decision to the first box of the next column."""
    start, end = before.y + before.height / 2, first.y + min(first.height, 40.0) / 2
    points = ((before.x + before.width, start), (turn, start), (turn, end), (first.x, end))
    return Line(points, "no", at=(before.x + before.width + 5, start - 5))


def _join(x: float, y: float, bottom: float, axis: float) -> Line:
    return Line(((x, y), (x, bottom), (axis, bottom)), joins=True)


def _room(label: str) -> float:
    return width_of(visible(label)) * CHARACTER + 12.0 if label else 0.0
