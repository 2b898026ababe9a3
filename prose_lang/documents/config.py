"""Config keys (L5): `` - `max_rounds` (integer, default: 3): text `` and the shorter ways to write that."""

from __future__ import annotations

from collections.abc import Iterable

from prose_lang.documents.declarations import make_item
from prose_lang.documents.faults import Faults
from prose_lang.documents.model import Item
from prose_lang.documents.sections import Part
from prose_lang.documents.shapes import read_shape

_HINT = "write it as - `name` (type, default: value): what it is for"


def read_config(parts: Iterable[Part], faults: Faults) -> dict[str, Item]:
    """The keys of the Config sections. An item without a name is P107, for its default would be lost in silence."""
    found: dict[str, Item] = {}
    for chunk in (chunk for part in parts for chunk in part.chunks() if chunk.is_item):
        shape = read_shape(chunk.flow, config=True)
        if shape is None:
            faults.error("P107", "this item of Config does not start with a name", chunk.flow.whole, _HINT)
            continue
        item = make_item(shape, faults)
        if not shape.marked and item.name[0].isupper() and not item.has_default:
            continue  # "Note: …"
        if item.name in found:
            faults.twice("config key", item.name, item.span, found[item.name].span)
        else:
            found[item.name] = item
    return found
