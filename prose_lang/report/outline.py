"""A flow as a few indented lines, for a terminal: which calls are made inside of what, and where a run ends.

What calls nothing and decides no end is left out: work on values, and errors that nothing in the program catches. The
whole flow, with every decision and every edge, is what `prose graph` draws.

    repeat max_rounds as round
      call refiner → draft
      call evaluator → evaluation
      if score meets threshold
        return { result, score, rounds_used }
    return { result, score, rounds_used }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prose_lang.report.flow import Column, Flow, Fork, Frame, Ladder, Part, Step, within
from prose_lang.report.wording import clipped

_CALLS = frozenset({"call", "session"})
_ENDS = frozenset({"return", "leave"})
#: What a parallel block does unless it says something else.
_USUAL = ": all, on-fail fail-fast"
#: Characters of a `throw`.
_THROWN = 60


def outline_of(flow: Flow) -> list[str]:
    """The lines of an outline: the body, then the blocks that call something."""
    outline = _Outline(flow)
    lines = [*outline.parts(flow.parts, "", False)]
    for frame in flow.definitions:
        lines += outline.frame(frame, "", False)
    return lines


class _Outline:
    """The lines of one flow. `caught` tells whether something around a part catches what is thrown there."""

    def __init__(self, flow: Flow) -> None:
        self.calling: frozenset[str] = frozenset()  # the blocks that call something, directly or by other blocks
        blocks = {frame.label.removeprefix("block "): frame for frame in flow.definitions if frame.kind == "block"}
        while True:
            found = frozenset(_name(label) for label, frame in blocks.items() if self.calls([frame]))
            if found == self.calling:
                break
            self.calling = found

    def is_call(self, step: Step) -> bool:
        return step.kind in _CALLS or (step.kind == "do" and _name(step.lines[0].removeprefix("do ")) in self.calling)

    def calls(self, parts: Sequence[Part]) -> bool:
        return any(isinstance(part, Step) and self.is_call(part) for part in within(parts))

    def tells(self, parts: Sequence[Part], caught: bool) -> bool:
        return any(isinstance(part, Step) and self.told(part, caught) for part in within(parts))

    def told(self, step: Step, caught: bool) -> bool:
        return self.is_call(step) or step.kind in _ENDS or (caught and step.kind == "throw")

    def parts(self, parts: Sequence[Part], indent: str, caught: bool) -> Iterator[str]:
        for part in parts:
            match part:
                case Step(kind="decision"):  # of a loop; those of an `if` are taken out of its arms
                    yield f"{indent}{_decision(part)}"
                case Step():
                    if self.told(part, caught):
                        yield f"{indent}{_said(part)}"
                case Ladder():
                    yield from self.ladder(part, indent, caught)
                case Fork():
                    if any(self.tells(column.parts, caught) for column in part.columns):
                        yield f"{indent}{_decision(part.head)}"
                        for column in part.columns:
                            yield f"{indent}  {column.label}"
                            yield from self.parts(column.parts, f"{indent}    ", caught)
                case Frame():
                    yield from self.frame(part, indent, caught)

    def frame(self, frame: Frame, indent: str, caught: bool) -> Iterator[str]:
        """A frame if something is called in it, and what follows an error if something is told there."""
        if not self.calls([frame]) and not (frame.kind in ("catch", "finally") and self.tells([frame], caught)):
            return
        if frame.kind == "try":  # the frame around `try`, `catch` and `finally`, which say it all
            yield from self.columns(frame.columns, indent, caught)
            return
        yield f"{indent}{frame.label.removesuffix(_USUAL)}"
        inside = frame.kind == "tried" or (caught and frame.kind not in ("block", "nested"))
        yield from self.columns(frame.columns, f"{indent}  ", inside)

    def columns(self, columns: Sequence[Column], indent: str, caught: bool) -> Iterator[str]:
        for column in columns:
            yield from self.parts(column.parts, indent, caught)

    def ladder(self, ladder: Ladder, indent: str, caught: bool) -> Iterator[str]:
        """The arms up to the last one that tells something, each under its decision."""
        arms = []
        for index, column in enumerate(ladder.columns):
            is_else = ladder.otherwise and index == len(ladder.columns) - 1
            decision = None if is_else else next(part for part in column.parts if _is_decision(part))
            rest = tuple(part for part in column.parts if part is not decision)
            arms.append((_decision(decision) if decision is not None else "else", rest))
        while arms and not self.tells(arms[-1][1], caught):
            arms.pop()
        for head, rest in arms:
            yield f"{indent}{head}"
            if self.tells(rest, caught):
                yield from self.parts(rest, f"{indent}  ", caught)
            else:
                yield f"{indent}  …"


def _is_decision(part: Part) -> bool:
    return isinstance(part, Step) and part.kind == "decision"


def _name(label: str) -> str:
    return label.split("(", 1)[0].strip()


def _decision(step: Part) -> str:
    assert isinstance(step, Step)
    return f"{step.lines[0]}{' (may ask the judge)' if step.judged else ''}"


def _said(step: Step) -> str:
    """A step on one line: what it is, and where its result goes."""
    if step.kind == "throw":
        return clipped(step.lines[0], _THROWN)
    return " ".join([step.lines[0], *(line for line in step.lines[1:] if line.startswith("→ "))])
