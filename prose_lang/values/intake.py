"""Taking in what a host gives: Python objects become values, or the attempt is refused with a reason (L12)."""

from __future__ import annotations

import math
from typing import Any

from prose_lang.values.model import MAX_DEPTH, MAX_NODES, MAX_TEXT, Value

#: Integers beyond the range of a double are not JSON numbers that anybody else could read back.
MAX_INTEGER = 2**1023


class NotAValue(ValueError):
    """A host object cannot be represented as a value; the message says which part and why."""


def intake(thing: Any) -> Value:
    """A host object as a value, in a copy of its own: later changes by the host do not reach the program.

    Plain JSON shapes and tuples are taken directly; attrs classes, dataclasses, pydantic models, enums, datetimes,
    paths, UUIDs, sets and typed mappings through `cattrs`. Raises `NotAValue` for anything else, for a cycle, for
    NaN and infinity, for bytes, and for values that are too large or too deep.

    >>> intake({"score": 0.5, "tags": ("a", "b")})
    {'score': 0.5, 'tags': ['a', 'b']}
    """
    kind = type(thing)
    if thing is None or kind is bool:
        return thing
    if kind is str:
        return thing if len(thing) <= MAX_TEXT and _is_unicode(thing) else _refuse_text(thing, "")
    if kind is float and math.isfinite(thing):
        return thing
    if kind is dict and _is_plain(thing):
        return thing.copy()
    return _Intake().take(thing, 0, "")


def _is_plain(thing: dict[Any, Any]) -> bool:
    """Whether an object holds nothing but short texts and small numbers: what most services answer."""
    if len(thing) > 32:
        return False
    for key, item in thing.items():
        kind = type(item)
        if not (type(key) is str and key.isascii()) or not (
            item is None
            or kind is bool
            or (kind is str and len(item) < 10_000 and item.isascii())
            or (kind is float and -1e300 < item < 1e300)
            or (kind is int and -1_000_000_000 < item < 1_000_000_000)
        ):
            return False
    return True


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _refuse_text(text: str, place: str) -> Value:
    if len(text) > MAX_TEXT:
        raise NotAValue(f"a text of {len(text):,} characters{place} is larger than the {MAX_TEXT:,} allowed")
    raise NotAValue(f"a text{place} holds a lone surrogate and cannot be written as UTF-8")


class _Intake:
    """One walk over one host object; it remembers the containers it is inside of, to see cycles."""

    def __init__(self) -> None:
        self.inside: set[int] = set()
        self.nodes = 0

    def take(self, thing: Any, depth: int, place: str) -> Value:
        kind = type(thing)
        if thing is None or kind is bool:
            return thing
        if kind is str:
            return thing if len(thing) <= MAX_TEXT and _is_unicode(thing) else _refuse_text(thing, _at(place))
        if kind is float:
            if math.isfinite(thing):
                return thing
            raise NotAValue(f"{thing!r}{_at(place)} is not a JSON number")
        if kind is int:
            if -MAX_INTEGER <= thing <= MAX_INTEGER:
                return thing
            raise NotAValue(f"an integer{_at(place)} is beyond the range of numbers")
        if kind is dict or kind is list or kind is tuple:
            return self.container(thing, depth, place)
        return self.other(thing, depth, place)

    def container(self, thing: Any, depth: int, place: str) -> Value:
        if depth >= MAX_DEPTH:
            raise NotAValue(f"it is nested more than {MAX_DEPTH} levels deep")
        if id(thing) in self.inside:
            raise NotAValue(f"it contains itself{_at(place)}")
        self.nodes += len(thing) + 1
        if self.nodes > MAX_NODES:
            raise NotAValue(f"it has more than {MAX_NODES:,} parts")
        self.inside.add(id(thing))
        try:
            if isinstance(thing, dict):
                taken: dict[str, Value] = {}
                for key, item in thing.items():
                    name = key if type(key) is str and key.isascii() else self.key(key, place)
                    taken[name] = self.take(item, depth + 1, f"{place}.{name}")
                return taken
            return [self.take(item, depth + 1, f"{place}[{index}]") for index, item in enumerate(thing)]
        finally:
            self.inside.discard(id(thing))

    def key(self, key: Any, place: str) -> str:
        if issubclass(type(key), str):
            name = str.__str__(key)
            return name if _is_unicode(name) else _refuse_text(name, _at(place))
        raise NotAValue(f"an object key{_at(place)} is a {type(key).__name__}, not a text")

    def other(self, thing: Any, depth: int, place: str) -> Value:
        from prose_lang.values.hosts import unstructure  # loads cattrs, which most runs never need

        if depth >= MAX_DEPTH:
            raise NotAValue(f"it is nested more than {MAX_DEPTH} levels deep")
        if id(thing) in self.inside:
            raise NotAValue(f"it contains itself{_at(place)}")
        self.inside.add(id(thing))
        try:
            return self.take(unstructure(thing, _at(place)), depth + 1, place)
        finally:
            self.inside.discard(id(thing))


def _at(place: str) -> str:
    return f" at {place.lstrip('.')}" if place else ""
