"""Slots (L4): `` - `worker` (primary): text `` with nested lists of what the service gets and gives.

`(optional)` after the name says that the slot may stay unbound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from prose_lang.documents.faults import Faults
from prose_lang.documents.listing import Line, flow_of
from prose_lang.documents.model import Slot
from prose_lang.documents.sections import Part
from prose_lang.documents.shapes import read_shape

_CONTRACT = re.compile(r"[`*]*(?P<kind>requires|parameters|ensures|returns|maintains)[`*]*:[`*]*\s*", re.IGNORECASE)
_TAKES = frozenset({"requires", "parameters"})


def read_slots(parts: Iterable[Part], faults: Faults) -> dict[str, Slot]:
    """The slots of the Slots sections. An item without a name is P107, for nothing could be bound to it."""
    found: dict[str, Slot] = {}
    for chunk in (chunk for part in parts for chunk in part.chunks() if chunk.is_item):
        contract = [i for i, line in enumerate(chunk.lines) if i and _CONTRACT.match(line.text)]
        end = min(len(chunk.own), *contract[:1], len(chunk.lines))
        shape = read_shape(flow_of(chunk.lines[:end]))
        if shape is None:
            message = "this item of Slots does not start with a name"
            faults.error("P107", message, chunk.flow.whole, "write it as - `name`: what the service does")
        elif shape.name in found:
            faults.twice("slot", shape.name, shape.span, found[shape.name].span)
        else:
            found[shape.name] = Slot(
                shape.name,
                shape.span,
                shape.description,
                shape.type is not None and shape.type.is_list,
                *_contracts(chunk.lines[contract[0] :] if contract else ()),
                primary=shape.attributes.primary,
                optional=shape.attributes.optional,
            )
    return found


def _contracts(lines: Sequence[Line]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the nested `requires:` and `ensures:` say, as one text or as a list of them."""
    requires: list[str] = []
    ensures: list[str] = []
    current = requires
    for line in lines:
        if match := _CONTRACT.match(line.text):
            current = requires if match["kind"].lower() in _TAKES else ensures
            if text := line.text[match.end() :].strip():
                current.append(text)
        elif line.bullet or not current:
            current.append(line.text.strip())
        else:
            current[-1] += f" {line.text.strip()}"
    return tuple(requires), tuple(ensures)
