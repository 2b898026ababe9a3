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


#: So many parts are looked at without asking whether they are the same ones again and again.
_FEW = 200_000
_ATOMS = frozenset({str, int, float, bool, type(None)})
_SMALL = _ATOMS - {str}
_TOO_DEEP = f"a value is nested more than {MAX_DEPTH} levels deep"


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


def a_kind_of(value: Value) -> str:
    """The same with its article, as a message says it.

    >>> [a_kind_of(v) for v in (None, "x", {})]
    ['null', 'a string', 'an object']
    """
    kind = kind_of(value)
    return kind if kind == "null" else f"an {kind}" if kind == "object" else f"a {kind}"


def truth(value: Value) -> bool:
    """The truth of a value as a condition (L30.1): null, false, 0, "", [] and {} are false."""
    return bool(value)


def equal(left: Value, right: Value) -> bool:
    """Equality of values: kinds never mix (true is not 1), while 1 equals 1.0."""
    kind = type(left)
    if kind is type(right) and kind in _ATOMS:
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
    steps = 0
    compared: set[tuple[int, int]] = set()
    while pairs:
        a, b = pairs.pop()
        steps += 1
        if steps > MAX_NODES:
            raise TooLarge(f"values of more than {MAX_NODES:,} parts cannot be compared")
        if a is b:
            continue
        if steps > _FEW and isinstance(a, (list, dict)):
            # Large values are often few parts many times over; a pair that was gone through needs no second time.
            if (id(a), id(b)) in compared:
                continue
            compared.add((id(a), id(b)))
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

    Raises `TooLarge` for a value nested deeper than `MAX_DEPTH` or of more than `MAX_NODES` parts, 16 characters of
    text counting as one; `budget` holds another number of parts.
    """
    kind = type(value)
    if kind in _ATOMS:
        return value
    if isinstance(value, str):
        return str(value)
    return _copied(value, depth, [_FEW, value] if budget is None else list(budget))


def _copied(value: Any, depth: int, budget: list[Any]) -> Any:
    if isinstance(value, str):
        budget[0] -= len(value) >> 4
        if budget[0] <= 0:
            _extend(budget)
        return value if type(value) is str else str(value)
    if depth >= MAX_DEPTH:
        raise TooLarge(_TOO_DEEP)
    budget[0] -= len(value) + 1
    if budget[0] <= 0:
        _extend(budget)
    if isinstance(value, list):
        return [item if type(item) in _SMALL else _copied(item, depth + 1, budget) for item in value]
    return {key: item if type(item) in _SMALL else _copied(item, depth + 1, budget) for key, item in value.items()}


def _extend(budget: list[Any]) -> None:
    """Go on with a large value once it has been measured: a list of itself, sixty times over, is small until then."""
    if len(budget) == 1 or _measured(budget.pop(), 0, {})[0] > MAX_NODES:
        raise TooLarge(f"a value has more than {MAX_NODES:,} parts")
    budget[0] += MAX_NODES


def _measured(value: Any, depth: int, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """The parts that a copy would have, and how deeply they are nested; a part that occurs often is looked at once."""
    found = known.get(id(value))
    if found is None:
        if depth >= MAX_DEPTH:
            raise TooLarge(_TOO_DEEP)
        size, height = len(value) + 1, 0
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, str):
                size += len(item) >> 4
            elif isinstance(item, (list, dict)):
                inner = _measured(item, depth + 1, known)
                size, height = size + inner[0], max(height, inner[1])
        found = known[id(value)] = size, height + 1
    if depth + found[1] > MAX_DEPTH:
        raise TooLarge(_TOO_DEEP)
    return found
