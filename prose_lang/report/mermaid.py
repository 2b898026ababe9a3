"""A flow as a Mermaid flowchart, for documents that draw it themselves.

Texts stand in quotes; what Mermaid would read in them all the same is written as a character code. Ids are numbers in
the order of the text (`n3`, `f1`), so that a changed program changes few lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prose_lang.report.flow import Flow, Fork, Frame, Part, Step
from prose_lang.report.palette import CALL, ENDS, JUDGE, RULE, slot_colors

#: What is read inside quotes: quotes and codes themselves, HTML, directives, formulas, escapes, and Markdown.
_READ = re.compile(r"""["#&<>`%\\*$~]|(?<![^\W_])_|_(?![^\W_])|(?<=\])\(|(?<=:)/(?=/)|^[-+](?=\s)|(?<=^\d)[.)](?=\s)""")
_SHAPES = {
    "start": ("([", "])"), "end": ("([", "])"), "return": ("([", "])"), "throw": (">", "]"), "leave": ("([", "])"),
    "decision": ("{{", "}}"), "choice": ("{{", "}}"), "session": ("[[", "]]"), "do": ("[[", "]]"), "work": ("(", ")"),
    "call": ("[", "]"),
}  # fmt: skip
_ARROWS = {"next": "-->", "again": "-.->", "error": "-.->", "uses": "-.->"}


def escaped(text: str) -> str:
    """A text as it may stand in a quoted label, on one line.

    >>> escaped('say "end" [1]')
    'say #34;end#34; [1]'
    """
    return _READ.sub(lambda found: f"#{ord(found[0])};", " ".join(text.split()))


def to_mermaid(flow: Flow) -> str:
    """The flowchart, ended by a line break."""
    return "\n".join(_lines(flow)) + "\n"


def _lines(flow: Flow) -> Iterator[str]:
    yield "flowchart TD"
    for line in _parts(flow.everything):
        yield f"  {line}"
    for edge in flow.edges:
        label = f'|"{escaped(edge.label)}"|' if edge.label else ""
        yield f"  {edge.source} {_ARROWS[edge.kind]}{label} {edge.target}"
    if flow.slots:
        yield '  subgraph legend["slots"]'
        for number, slot in enumerate(flow.slots):
            yield f'    s{number}["{escaped(slot)}"]'
        yield "  end"
    yield from _styles(flow)


def _parts(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        match part:
            case Step():
                yield _box(part)
            case Frame():
                label = escaped(part.label) or " "
                yield f'subgraph {part.id}["{label}"]'
                for column in part.columns:
                    for line in _parts(column.parts):
                        yield f"  {line}"
                yield "end"
            case Fork():
                yield _box(part.head)
                for column in part.columns:
                    yield from _parts(column.parts)
            case _:
                for column in part.columns:
                    yield from _parts(column.parts)


def _box(step: Step) -> str:
    opened, closed = _SHAPES[step.kind]
    return f'{step.id}{opened}"{"<br/>".join(map(escaped, step.lines))}"{closed}'


def _styles(flow: Flow) -> Iterator[str]:
    """The classes: one for each slot, and those of decisions; only what occurs."""
    members: dict[str, list[str]] = {}
    for number in range(len(flow.slots)):
        members[f"slot{number}"] = [f"s{number}"]
    for step in flow.steps():
        members.setdefault(_class(step, flow), []).append(step.id)
    for name, ids in members.items():
        if name.startswith("slot"):
            fill, border, ink = slot_colors(flow.slots[int(name[4:])], flow.slots)
        else:
            fill, border, ink = {"judge": JUDGE, "rule": RULE, "ends": ENDS}.get(name, CALL)
        extra = ",stroke-width:3px,stroke-dasharray:6 3" if name == "judge" else ""
        yield f"  classDef {name} fill:{fill},stroke:{border},color:{ink}{extra}"
        yield f"  class {','.join(ids)} {name}"


def _class(step: Step, flow: Flow) -> str:
    if step.slot is not None:
        return f"slot{flow.slots.index(step.slot)}"
    if step.judged:
        return "judge"
    if step.layers:
        return "rule"
    return "ends" if step.kind in ("start", "end", "return", "throw") else "plain"
