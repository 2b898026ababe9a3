"""A flow as a picture: one SVG file that needs nothing else, in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from prose_lang.diagnostics.visible import visible, width_of
from prose_lang.report.flow import Flow, Frame, Step
from prose_lang.report.layout import CHARACTER, LINE, PADDING, Box, Line, laid_out
from prose_lang.report.palette import CALL, ENDS, JUDGE, RULE, slot_colors

_MARGIN = 20.0
_STYLE = """\
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #20262c; }
.page { fill: #ffffff; }
.frame { fill: #8090a0; fill-opacity: 0.07; stroke: #8090a0; }
.loop, .parallel { stroke-width: 2; }
.tried, .catch, .finally, .stage { stroke-dasharray: 4 3; }
.line { fill: none; stroke: #5c6670; stroke-width: 1.4; }
.head { fill: #5c6670; }
.outside { fill: #3d454d; }
.heading { font-weight: bold; font-size: 15px; }
@media (prefers-color-scheme: dark) {
  .page { fill: #14181c; }
  .outside { fill: #d5dbe1; }
  .line { stroke: #9aa6b2; }
  .head { fill: #9aa6b2; }
}"""


def to_svg(flow: Flow) -> str:
    """The picture, ended by a line break."""
    return "\n".join(_lines(flow)) + "\n"


def _lines(flow: Flow) -> Iterator[str]:
    area = laid_out(flow)
    legend = list(_legend_entries(flow))
    top = _MARGIN + 2 * LINE
    legend_width = max((width_of(text) for text, _, _ in legend), default=0) * CHARACTER + 3 * PADDING
    width = max(area.width, legend_width, width_of(visible(flow.name)) * CHARACTER * 1.2) + 2 * _MARGIN
    height = top + area.height + _MARGIN + (len(legend) * (LINE + 6.0) + PADDING if legend else 0.0) + _MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
    )
    yield f"<title>{_clean(flow.name)}</title>"
    yield f"<style>\n{_STYLE}\n</style>"
    yield (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>'
    )
    yield f'<rect class="page" x="0" y="0" width="{width:.0f}" height="{height:.0f}"/>'
    yield _text(_MARGIN, _MARGIN + LINE * 0.8, flow.name, "outside heading")
    yield f'<g transform="translate({_MARGIN:g} {top:g})">'
    for box in area.boxes:
        yield from _box(box, flow)
    for line in area.lines:
        yield from _line(line)
    yield "</g>"
    y = top + area.height + _MARGIN + PADDING
    for text, colors, dashed in legend:
        yield _shape("swatch", _MARGIN, y, 16.0, LINE, colors, dashed=dashed)
        yield _text(_MARGIN + 24.0, y + LINE * 0.76, text, "outside")
        y += LINE + 6.0
    yield "</svg>"


def _legend_entries(flow: Flow) -> Iterator[tuple[str, tuple[str, str, str], bool]]:
    for slot in flow.slots:
        yield f"slot {slot}", slot_colors(slot, flow.slots), False
    steps = list(flow.steps())
    if any(step.judged for step in steps):
        yield "the judge may be asked, which costs a call", JUDGE, True
    if any(step.layers and not step.judged for step in steps):
        yield "decided by a rule", RULE, False


def _colors(step: Step, slots: Sequence[str]) -> tuple[str, str, str]:
    if step.slot is not None:
        return slot_colors(step.slot, slots)
    if step.judged:
        return JUDGE
    if step.layers:
        return RULE
    return ENDS if step.kind in ("start", "end", "return", "throw") else CALL


def _box(box: Box, flow: Flow) -> Iterator[str]:
    part = box.part
    if isinstance(part, Frame):
        yield (
            f'<rect class="frame {part.kind}" id="{part.id}" x="{box.x:.1f}" y="{box.y:.1f}" '
            f'width="{box.width:.1f}" height="{box.height:.1f}" rx="8"/>'
        )
        for number, line in enumerate(box.lines):
            yield _text(box.x + PADDING, box.y + PADDING + LINE * (number + 0.6), line, "outside")
        return
    colors = _colors(part, flow.slots)
    yield f'<g class="step {part.kind}" id="{part.id}">'
    yield f"<title>{_clean(f'line {part.line}: ' + ' '.join(part.lines))}</title>"
    round_ends = part.kind in ("start", "end", "return", "leave")
    yield _shape(
        "box", box.x, box.y, box.width, box.height, colors,
        dashed=part.judged, radius=box.height / 2 if round_ends else 3.0,
        slanted=part.kind in ("decision", "choice"),
    )  # fmt: skip
    for number, line in enumerate(box.lines):
        y = box.y + PADDING / 2 + LINE * (number + 0.76)
        yield _text(box.x + box.width / 2, y, line, "", f'text-anchor="middle" style="fill:{colors[2]}"')
    yield "</g>"


def _shape(
    kind: str, x: float, y: float, width: float, height: float, colors: tuple[str, str, str], *,
    dashed: bool = False, radius: float = 3.0, slanted: bool = False,
) -> str:  # fmt: skip
    fill, border, _ = colors
    paint = f'fill="{fill}" stroke="{border}"' + (' stroke-width="2.5" stroke-dasharray="6 3"' if dashed else "")
    if not slanted:
        return (
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'rx="{radius:.1f}" {paint}/>'
        )
    cut, right, bottom, middle = PADDING, x + width, y + height, y + height / 2
    corners = [(x + cut, y), (right - cut, y), (right, middle), (right - cut, bottom), (x + cut, bottom), (x, middle)]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
    return f'<polygon class="{kind}" points="{points}" {paint}/>'


def _line(line: Line) -> Iterator[str]:
    path = " L".join(f"{x:.1f} {y:.1f}" for x, y in line.points)
    arrow = "" if line.joins else ' marker-end="url(#arrow)"'
    yield f'<path class="line" d="M{path}"{arrow}/>'
    if line.label:
        yield _text(line.at[0], line.at[1], line.label, "outside")


def _text(x: float, y: float, text: str, kind: str, more: str = "") -> str:
    name = f" class={quoteattr(kind)}" if kind else ""
    return f'<text{name} x="{x:.1f}" y="{y:.1f}" {more}>{_clean(text)}</text>'.replace(" >", ">", 1)


def _clean(text: str) -> str:
    """A text as XML may hold it: no controls, and markup as text."""
    return escape(visible(text))
