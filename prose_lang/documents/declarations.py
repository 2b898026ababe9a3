"""From shapes to declared items: types, defaults and bounds become values; those that do not fit together are told.

A default is read as its type wants it: `default: 3` of a string is the text "3".
"""

from __future__ import annotations

from typing import Any

from prose_lang.documents.faults import Faults
from prose_lang.documents.literals import read_choices, read_default
from prose_lang.documents.model import ANY, MISSING, Item, Type
from prose_lang.documents.shapes import Shape
from prose_lang.documents.types import KNOWN, fits
from prose_lang.values import a_kind_of, equal, to_json

_NUMBER = Type("number", (("number", False),))
_BOOLEAN = Type("boolean", (("boolean", False),))


def make_item(shape: Shape, faults: Faults) -> Item:
    """The item that a shape declares; malformed bounds are P107, a default that does not fit its own key is P211."""
    attributes = shape.attributes
    for message, start, end in attributes.faults:
        faults.error("P107", f"`{shape.name}`: {message}", shape.flow.span(start, end))
    declared = attributes.type or ANY
    default = MISSING if attributes.default is None else read_default(shape.part(attributes.default), declared)
    if attributes.type is None and default is not MISSING:
        declared = _type_of(default)
    one_of = read_choices(shape.part(attributes.one_of), declared) if attributes.one_of else ()
    item = Item(
        name=shape.name,
        span=shape.span,
        type=declared,
        description=shape.description,
        optional=shape.optional or (default is not MISSING and not attributes.required),
        default=default,
        minimum=attributes.minimum,
        maximum=attributes.maximum,
        one_of=one_of,
    )
    if item.minimum is not None and item.maximum is not None and item.minimum > item.maximum:
        bounds = f"the minimum of {item.minimum:g} is more than the maximum of {item.maximum:g}"
        faults.error("P107", f"`{item.name}`: {bounds}", item.span)
    elif attributes.default and (fault := misfit(default, item)):
        faults.error("P211", f"the default of `{item.name}` {fault}", shape.flow.span(*attributes.default))
    return item


def misfit(value: Any, item: Item) -> str | None:
    """What keeps a value from being one of an item, or None if nothing does. Null always may be.

    >>> from prose_lang.documents.types import parse_type
    >>> from prose_lang.text import Span
    >>> rounds = Item("rounds", Span(0, 0), parse_type("integer"), "", False, minimum=1)
    >>> misfit("many", rounds), misfit(0, rounds), misfit(2, rounds)
    ('is "many", a string, where integer is declared', 'is 0, less than the minimum of 1', None)
    """
    if value is None:
        return None
    shown = to_json(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    if not any(fits(value, declared) for declared in (item.type, *item.other_types)):
        expected = " or ".join(declared.text for declared in (item.type, *item.other_types))
        return f"is {shown}, {a_kind_of(value)}, where {expected} is declared"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if item.minimum is not None and value < item.minimum:
            return f"is {shown}, less than the minimum of {item.minimum}"
        if item.maximum is not None and value > item.maximum:
            return f"is {shown}, more than the maximum of {item.maximum}"
    if item.one_of and not any(equal(value, choice) for choice in item.one_of):
        return f"is {shown}, none of {', '.join(to_json(choice) for choice in item.one_of)}"
    return None


def restricts(item: Item) -> bool:
    """Whether an item refuses any value at all.

    >>> from prose_lang.documents.types import parse_type
    >>> from prose_lang.text import Span
    >>> [restricts(Item("x", Span(0, 0), parse_type(text), "", False)) for text in ("integer", "Report", "run")]
    [True, False, False]
    """
    bounded = item.minimum is not None or item.maximum is not None or bool(item.one_of)
    return bounded or not any(
        word not in KNOWN - {"any", "run"} and not word.startswith('"')
        for declared in (item.type, *item.other_types)
        for word, _ in declared.names
    )


def takes_text(item: Item) -> bool:
    """Whether texts are all that is declared, without naming them.

    Files say `string` of whatever a reader gets to see, and services answer with objects and lists: at a call such a
    value is let through, with a warning event (§9 L3).
    """
    words = {word for declared in (item.type, *item.other_types) for word, _ in declared.names}
    return words == {"string"} and not item.one_of


def _type_of(default: Any) -> Type:
    """The type that a key without one gets from its default, so that texts from a command line can be converted."""
    if isinstance(default, bool):
        return _BOOLEAN
    return _NUMBER if isinstance(default, (int, float)) else ANY
