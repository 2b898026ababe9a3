"""Values (L12): null, boolean, number, text, list, object. Nothing here knows services or syntax.

The program never changes a value, it only rebinds names. Lists and objects are therefore shared freely
inside a run and copied where they leave it (`handout`) and where they come in (`intake`).
"""

from __future__ import annotations

from typing import Any, TypeAlias

#: A value of the language. Objects are dicts with text keys in insertion order.
Value: TypeAlias = Any

#: Nesting and size beyond which a value does not leave or enter a run. They keep a program that builds
#: values out of themselves from exhausting the stack or the memory of its host.
MAX_DEPTH = 200
MAX_NODES = 20_000_000
MAX_TEXT = 256 * 1024 * 1024


class TooLarge(ValueError):
    """A value is nested too deeply or has too many parts to be written out."""


class ServiceRef(str):
    """A reference to a bound service (L17): it reads as the service's name and alone makes a name callable."""

    __slots__ = ("target",)
    target: Any

    def __new__(cls, name: str, target: Any) -> ServiceRef:
        ref = super().__new__(cls, name)
        ref.target = target
        return ref


class GrowingList(list[Any]):
    """The list of a frame that `record` and `append` extend in place (L20).

    Rebinding a list to a copy with one more entry would make n records cost n². A list built by `record` stays
    private to its variable until somebody reads the variable as a whole; from then on `shared` is set and the
    next `record` copies. Nobody can tell the difference but by the clock.
    """

    __slots__ = ("shared",)

    def __init__(self, items: list[Any] | tuple[Any, ...] = ()) -> None:
        super().__init__(items)
        self.shared = False


def kind_of(value: Value) -> str:
    """The name of a value's kind as the language's users know it.

    >>> [kind_of(v) for v in (None, True, 2, "x", [], {})]
    ['null', 'boolean', 'number', 'string', 'list', 'object']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, ServiceRef):
        return "service"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "list"
    return "object"


def truth(value: Value) -> bool:
    """The truth of a value as a condition (L30.1): null, false, 0, "", [] and {} are false."""
    return bool(value)


def equal(left: Value, right: Value) -> bool:
    """Equality of values: kinds never mix (true is not 1), while 1 equals 1.0."""
    kind = type(left)
    if kind is type(right) and kind is not list and kind is not dict:
        return bool(left == right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list):
        if not isinstance(right, list) or len(left) != len(right):
            return False
        return left is right or _equal_nested(left, right)
    if isinstance(left, dict):
        return isinstance(right, dict) and (
            left is right or (left.keys() == right.keys() and _equal_nested(left, right))
        )
    return bool(left == right)


def _equal_nested(left: Any, right: Any) -> bool:
    # An explicit stack: values may be nested deeper than Python recurses.
    pairs = [(left, right)]
    seen = 0
    while pairs:
        a, b = pairs.pop()
        seen += 1
        if seen > MAX_NODES:
            raise TooLarge(f"values of more than {MAX_NODES:,} parts cannot be compared")
        if a is b:
            continue
        if isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pairs.extend((a[key], b[key]) for key in a)
        elif (
            isinstance(a, (list, dict))
            or isinstance(b, (list, dict))
            or isinstance(a, bool)
            or isinstance(b, bool)
            or a != b
        ):
            return False
    return True


def contains(container: Value, item: Value) -> bool | None:
    """`item in container`: an element of a list, a key of an object, a part of a text; None if it makes no sense."""
    if isinstance(container, str):
        return item in container if isinstance(item, str) else None
    if isinstance(container, list):
        return any(equal(item, element) for element in container)
    if isinstance(container, dict):
        return item in container if isinstance(item, str) else None
    return None


def handout(value: Value, depth: int = 0, budget: list[int] | None = None) -> Value:
    """A copy of a value that its receiver may change as it likes; references become the names of their services.

    Raises `TooLarge` for a value nested deeper than `MAX_DEPTH` or of more than `MAX_NODES` parts.
    """
    kind = type(value)
    if kind is str or value is None or kind is float or kind is int or kind is bool:
        return value
    if isinstance(value, str):
        return str(value)
    if depth >= MAX_DEPTH:
        raise TooLarge(f"a value is nested more than {MAX_DEPTH} levels deep")
    budget = budget or [MAX_NODES]
    budget[0] -= len(value) + 1
    if budget[0] <= 0:
        raise TooLarge(f"a value has more than {MAX_NODES:,} parts")
    if isinstance(value, list):
        return [handout(item, depth + 1, budget) for item in value]
    return {key: handout(item, depth + 1, budget) for key, item in value.items()}
