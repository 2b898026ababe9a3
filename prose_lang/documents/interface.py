"""Inputs and outputs (L3): the items of the interface sections, and what is promised there in prose.

An item with a name is a declaration; anything else is kept as a guarantee. Prose that happens to start with one word
and a colon ("Deterministic: the responses agree") is told from a declaration by its capital letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import attrs

from prose_lang.documents.declarations import make_item
from prose_lang.documents.faults import Faults
from prose_lang.documents.listing import Chunk, Line, flow_of, nested_text
from prose_lang.documents.model import Item
from prose_lang.documents.sections import Part
from prose_lang.documents.shapes import Shape, read_shape

INPUTS = ("requires", "parameters")
OUTPUTS = ("ensures", "returns", "maintains")
#: Sections whose prose is promised.
PROMISES = (*INPUTS, *OUTPUTS, "invariants")

_OUTPUT_BLOCK = re.compile(r"pattern (?:instance )?returns:$", re.IGNORECASE)
#: Words that open a promise and are no outputs.
_PROMISING = frozenset({"postcondition", "immaterial"})


@attrs.define(eq=False)
class Interface:
    """What the interface sections declare, and the guarantees as pairs of section and text."""

    inputs: dict[str, Item] = attrs.Factory(dict)
    outputs: dict[str, Item] = attrs.Factory(dict)
    guarantees: list[tuple[str, str]] = attrs.Factory(list)


def read_interface(parts: Iterable[Part], faults: Faults) -> Interface:
    """The declared items of the sections. A repeated input is P207; a repeated output is one more promise about it."""
    reader = _Reader(faults)
    for part in parts:
        if part.key in PROMISES:
            for chunk in part.chunks():
                reader.chunk(chunk, part)
    return reader.found


class _Reader:
    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.found = Interface()

    def chunk(self, chunk: Chunk, part: Part) -> None:
        if part.key == "invariants" or not (chunk.is_item or _opens_block(chunk, part.key)):
            self.promise(chunk, part)
        elif _opens_block(chunk, part.key):
            self.block(chunk.lines[1:], part)
        else:
            self.item(chunk, part)

    def block(self, lines: Sequence[Line], part: Part) -> None:
        """The items of an indented block; a line deeper than the first one continues the item above it."""
        groups: list[list[Line]] = []
        for line in lines:
            starts = line.column <= lines[0].column and (line.bullet or _declared([line], part.key) is not None)
            if starts or not groups:
                groups.append([])
            groups[-1].append(line)
        for group in groups:
            self.item(Chunk(tuple(group)), part)

    def item(self, chunk: Chunk, part: Part) -> None:
        shape = _declared(chunk.own, part.key)
        if shape is None or (part.key in OUTPUTS and shape.name in self.found.outputs):
            self.promise(chunk, part)
            return
        item = make_item(shape, self.faults)
        if chunk.nested:
            item = attrs.evolve(item, description=f"{item.description}\n{nested_text(chunk.nested)}".strip())
        items = self.found.inputs if part.key in INPUTS else self.found.outputs
        if item.name in items:
            self.faults.twice("input", item.name, item.span, items[item.name].span)
        else:
            items[item.name] = item

    def promise(self, chunk: Chunk, part: Part) -> None:
        if text := chunk.text:
            self.found.guarantees.append((part.section.name, text))


def _opens_block(chunk: Chunk, key: str) -> bool:
    """Whether items stand indented below a line such as "Pattern instance receives:"."""
    text = chunk.lines[0].text.rstrip()
    if key in OUTPUTS:
        return _OUTPUT_BLOCK.match(text) is not None
    if not text.endswith(":"):
        return False
    shape = read_shape(flow_of(chunk.lines[:1]))
    return shape is None or (not shape.marked and shape.name[0].isupper())


def _declared(lines: Sequence[Line], key: str) -> Shape | None:
    """The shape of some lines if it is meant as a declaration in a section."""
    shape = read_shape(flow_of(lines))
    if shape is None or shape.marked:
        return shape
    if shape.name in _PROMISING or (shape.name[0].isupper() and not shape.typed):
        return None
    if shape.separator == ":" or (key in INPUTS and (shape.separator or lines[0].bullet)):
        return shape
    return None
