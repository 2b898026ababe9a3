"""A flow in DOT, the language of Graphviz: frames are clusters, and edges to a cluster end at its border."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prose_lang.report.flow import Edge, Flow, Fork, Frame, Part, Step, first_steps
from prose_lang.report.palette import CALL, ENDS, JUDGE, RULE, slot_colors

_SHAPES = {
    "start": "oval", "end": "oval", "return": "oval", "throw": "octagon", "leave": "plaintext", "decision": "hexagon",
    "choice": "hexagon", "session": "component", "do": "cds", "work": "note", "call": "box",
}  # fmt: skip
_STYLES = {"next": "solid", "again": "dashed", "error": "dotted", "uses": "dotted"}


def quoted(text: str) -> str:
    """A text as a DOT string.

    >>> print(quoted('say "so"'))
    "say \\"so\\""
    """
    inner = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"'


def _label(lines: Iterable[str]) -> str:
    """Lines as one label: between them stands the escape for a line break."""
    return '"' + "\\n".join(quoted(" ".join(line.split()))[1:-1] for line in lines) + '"'


def to_dot(flow: Flow) -> str:
    """The graph, ended by a line break."""
    return "\n".join(_lines(flow)) + "\n"


def _lines(flow: Flow) -> Iterator[str]:
    yield f"digraph {quoted(flow.name)} {{"
    yield "  compound=true;"
    yield '  graph [fontname="Helvetica"];'
    yield '  node [fontname="Helvetica", shape=box, style="filled"];'
    yield '  edge [fontname="Helvetica"];'
    for line in _parts(flow.everything, flow):
        yield f"  {line}"
    inside = {frame.id: first_steps(frame)[0] for frame in flow.frames()}
    for edge in flow.edges:
        yield f"  {_edge(edge, inside)}"
    if flow.slots:
        yield "  subgraph cluster_legend {"
        yield '    label="slots";'
        for number, slot in enumerate(flow.slots):
            fill, border, ink = slot_colors(slot, flow.slots)
            yield f'    s{number} [label={quoted(slot)}, fillcolor="{fill}", color="{border}", fontcolor="{ink}"];'
        yield "  }"
    yield "}"


def _parts(parts: Iterable[Part], flow: Flow) -> Iterator[str]:
    for part in parts:
        match part:
            case Step():
                yield _box(part, flow)
            case Frame():
                yield f"subgraph cluster_{part.id} {{"
                yield f"  label={_label([part.label])};"
                yield f'  style="rounded{",dashed" if part.kind in ("tried", "catch", "finally") else ""}";'
                for column in part.columns:
                    for line in _parts(column.parts, flow):
                        yield f"  {line}"
                yield "}"
            case Fork():
                yield _box(part.head, flow)
                for column in part.columns:
                    yield from _parts(column.parts, flow)
            case _:
                for column in part.columns:
                    yield from _parts(column.parts, flow)


def _box(step: Step, flow: Flow) -> str:
    if step.slot is not None:
        fill, border, ink = slot_colors(step.slot, flow.slots)
    elif step.judged:
        fill, border, ink = JUDGE
    elif step.layers:
        fill, border, ink = RULE
    else:
        fill, border, ink = ENDS if step.kind in ("start", "end", "return", "throw") else CALL
    more = ', style="filled,dashed", penwidth=3' if step.judged else ""
    return (
        f"{step.id} [label={_label(step.lines)}, shape={_SHAPES[step.kind]}, "
        f'fillcolor="{fill}", color="{border}", fontcolor="{ink}"{more}];'
    )


def _edge(edge: Edge, inside: Mapping[str, str]) -> str:
    facts = [f"style={_STYLES[edge.kind]}"]
    if edge.label:
        facts.insert(0, f"label={quoted(edge.label)}")
    source = edge.source
    if source in inside:
        facts.append(f"ltail=cluster_{source}")
        source = inside[source]
    return f"{source} -> {edge.target} [{', '.join(facts)}];"
