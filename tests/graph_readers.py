"""Strict readers of the graphs that `prose graph` writes: what they do not know is an AssertionError.

They read the part of Mermaid's and DOT's syntax that is written, by the rules of those languages, and give nodes,
frames and edges.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import attrs


@attrs.define
class Graph:
    """What was read: labels of nodes and frames by id, the frame that each stands in, and edges with their labels."""

    nodes: dict[str, str] = attrs.Factory(dict)
    frames: dict[str, str] = attrs.Factory(dict)
    within: dict[str, str | None] = attrs.Factory(dict)
    edges: list[tuple[str, str, str]] = attrs.Factory(list)

    def add(self, name: str, label: str, around: list[str], *, frame: bool = False) -> None:
        assert name not in self.nodes, f"{name} is there twice"
        assert name not in self.frames, f"{name} is there twice"
        (self.frames if frame else self.nodes)[name] = label
        self.within[name] = around[-1] if around else None


# --- Mermaid ---------------------------------------------------------------------------------------------------------

_ID = r"[a-z]+\d*"
_LABEL = r'"((?:[^"#&<>`%\\*$~\n]|#\d+;|<br/>)*)"'
_NODE = re.compile(
    rf"({_ID})(?:\(\[{_LABEL}\]\)|\[\[{_LABEL}\]\]|\{{\{{{_LABEL}\}}\}}|>{_LABEL}\]|\({_LABEL}\)|\[{_LABEL}\])"
)
_FRAME = re.compile(rf"subgraph ({_ID})\[{_LABEL}\]")
_ARROW = re.compile(rf"({_ID}) (?:-->|-\.->)(?:\|{_LABEL}\|)? ({_ID})")
_CLASSDEF = re.compile(r"classDef (\w+) fill:#[0-9a-f]{6},stroke:#[0-9a-f]{6},color:#[0-9a-f]{6}"
                       r"(?:,stroke-width:\dpx,stroke-dasharray:\d \d)?")  # fmt: skip
_CLASS = re.compile(r"class ((?:\w+,)*\w+) (\w+)")
#: Ids that Mermaid takes for something else.
_WORDS = {"end", "graph", "subgraph", "class", "click", "style", "default", "o", "x"}


def _decoded(label: str) -> str:
    text = label.replace("<br/>", "\n")
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), text)


def read_mermaid(text: str) -> Graph:
    """A flowchart as it may be written."""
    first, *lines = text.removesuffix("\n").split("\n")
    assert first == "flowchart TD", first
    graph = Graph()
    open_frames: list[str] = []
    classes: set[str] = set()
    for line in lines:
        content = line.strip()
        if content == "end":
            assert open_frames, "an `end` too many"
            open_frames.pop()
        elif found := _FRAME.fullmatch(content):
            graph.add(found[1], _decoded(found[2]), open_frames, frame=True)
            open_frames.append(found[1])
        elif found := _NODE.fullmatch(content):
            label = next(part for part in found.groups()[1:] if part is not None)
            assert label, f"{found[1]} has no label"
            graph.add(found[1], _decoded(label), open_frames)
        elif found := _ARROW.fullmatch(content):
            graph.edges.append((found[1], found[3], _decoded(found[2] or "")))
        elif found := _CLASSDEF.fullmatch(content):
            classes.add(found[1])
        elif found := _CLASS.fullmatch(content):
            assert found[2] in classes, f"there is no class {found[2]}"
            assert set(found[1].split(",")) <= graph.nodes.keys()
        else:
            raise AssertionError(f"not Mermaid: {line!r}")
    assert not open_frames, "a subgraph is never closed"
    _check(graph)
    assert not _WORDS & {*graph.nodes, *graph.frames}
    return graph


# --- DOT -------------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r'\s*("(?:[^"\\\n]|\\.)*"|->|[A-Za-z_][A-Za-z_0-9]*|\d+|[{}\[\];=,])', re.DOTALL)


class _Dot:
    """A reader by recursive descent, over tokens."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        at = 0
        text = text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            assert found is not None, f"not DOT: {text[at : at + 40]!r}"
            self.tokens.append(found[1])
            at = found.end()
        self.at = 0
        self.graph = Graph()
        self.tails: dict[str, str] = {}

    def take(self, wanted: str | None = None) -> str:
        token = self.tokens[self.at]
        assert wanted is None or token == wanted, f"{token} instead of {wanted}"
        self.at += 1
        return token

    def attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        self.take("[")
        while True:
            name = self.take()
            assert name.isidentifier()
            self.take("=")
            assert name not in found
            found[name] = unquoted(self.take())
            if self.take() == "]":
                return found
            assert self.tokens[self.at - 1] == ","

    def statements(self, around: list[str]) -> None:
        while self.tokens[self.at] != "}":
            word = self.take()
            if word == "subgraph":
                name = self.take()
                assert name.startswith("cluster_")
                self.graph.add(name, "", around, frame=True)
                self.take("{")
                self.statements([*around, name])
                self.take("}")
                continue
            if self.tokens[self.at] == "=":
                self.take()
                value = unquoted(self.take())
                if word == "label":
                    self.graph.frames[around[-1]] = value
            elif self.tokens[self.at] == "->":
                self.take()
                target = self.take()
                facts = self.attributes()
                if "ltail" in facts:
                    assert facts["ltail"] in self.graph.frames
                    assert self.inside(word, facts["ltail"]), "an edge begins at a frame that its node is not in"
                self.graph.edges.append((facts.get("ltail", word), target, facts.get("label", "")))
            elif word in ("graph", "node", "edge"):
                self.attributes()
            else:
                self.graph.add(word, self.attributes()["label"], around)
            self.take(";")

    def inside(self, name: str, frame: str) -> bool:
        around: str | None = name
        while around is not None and around != frame:
            around = self.graph.within[around]
        return around == frame


def unquoted(token: str) -> str:
    """What a token of DOT says."""
    if not token.startswith('"'):
        return token
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], token[1:-1])


def read_dot(text: str) -> Graph:
    """A digraph as it may be written; ids of frames are those of Mermaid."""
    reader = _Dot(text)
    reader.take("digraph")
    assert reader.take().startswith('"')
    reader.take("{")
    reader.statements([])
    reader.take("}")
    assert reader.at == len(reader.tokens)

    def plain(name: str) -> str:
        return name.removeprefix("cluster_")

    read = reader.graph
    graph = Graph(
        read.nodes,
        {plain(name): label for name, label in read.frames.items()},
        {plain(name): plain(around) if around else None for name, around in read.within.items()},
        [(plain(source), target, label) for source, target, label in read.edges],
    )
    _check(graph)
    return graph


def _check(graph: Graph) -> None:
    for source, target, _ in graph.edges:
        assert source in graph.nodes or source in graph.frames, f"an edge begins at {source}, which is not there"
        assert target in graph.nodes, f"an edge ends at {target}, which is not there"
    filled = set(graph.within.values())
    assert not [name for name in graph.frames if name not in filled], "a frame is empty"


# --- SVG -------------------------------------------------------------------------------------------------------------

_SVG = "{http://www.w3.org/2000/svg}"


@attrs.frozen
class Rectangle:
    """A box or frame of a picture."""

    kind: str
    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: Rectangle) -> bool:
        return (self.left <= other.left and self.top <= other.top
                and self.right >= other.right and self.bottom >= other.bottom)  # fmt: skip

    def touches(self, other: Rectangle) -> bool:
        return (self.left < other.right and other.left < self.right
                and self.top < other.bottom and other.top < self.bottom)  # fmt: skip


@attrs.frozen
class Picture:
    """What a picture shows: its size, its boxes and frames, the texts, and the number of lines with arrows."""

    width: float
    height: float
    title: str
    rectangles: tuple[Rectangle, ...]
    texts: tuple[str, ...]
    steps: tuple[str, ...]


def read_svg(text: str) -> Picture:
    """A picture; it must be XML, show everything inside its borders, and no box may overlap another."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{_SVG}svg"
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    group = root.find(f"{_SVG}g")
    assert group is not None
    moved = re.fullmatch(r"translate\(([\d.]+) ([\d.]+)\)", group.attrib["transform"])
    assert moved is not None
    x, y = float(moved[1]), float(moved[2])
    found = []
    for element in group.iter():
        kind = element.attrib.get("class", "").split(" ")[0]
        if element.tag == f"{_SVG}rect":
            left, top = float(element.attrib["x"]) + x, float(element.attrib["y"]) + y
            size = float(element.attrib["width"]), float(element.attrib["height"])
            found.append(Rectangle(kind, left, top, left + size[0], top + size[1]))
        elif element.tag == f"{_SVG}polygon":
            points = [tuple(map(float, point.split(","))) for point in element.attrib["points"].split()]
            xs, ys = [point[0] + x for point in points], [point[1] + y for point in points]
            found.append(Rectangle(kind, min(xs), min(ys), max(xs), max(ys)))
        elif element.tag == f"{_SVG}path":
            for a, b in re.findall(r"(-?[\d.]+) (-?[\d.]+)", element.attrib["d"]):
                assert -0.1 <= float(a) + x <= width + 0.1, "a line leaves the picture"
                assert -0.1 <= float(b) + y <= height + 0.1, "a line leaves the picture"
    for number, one in enumerate(found):
        assert one.left >= 0
        assert one.top >= 0
        assert one.right <= width
        assert one.bottom <= height
        for other in found[number + 1 :]:
            if one.touches(other):
                outer, inner = (one, other) if one.holds(other) else (other, one)
                assert outer.holds(inner), f"{one} and {other} overlap"
                assert outer.kind == "frame", f"{inner} stands in the box {outer}"
    title = root.find(f"{_SVG}title")
    assert title is not None
    texts = tuple(element.text or "" for element in root.iter(f"{_SVG}text"))
    steps = tuple(element.attrib["id"] for element in root.iter(f"{_SVG}g")
                  if element.attrib.get("class", "").startswith("step"))  # fmt: skip
    return Picture(width, height, title.text or "", tuple(found), texts, steps)
