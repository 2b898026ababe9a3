"""The operators on values (L13a): what they give, and when they refuse (P304)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from prose_lang.values import contains, equal, kind_of
from prose_lang.values.intake import MAX_INTEGER
from prose_lang.values.model import MAX_NODES, MAX_TEXT


class Refused(Exception):
    """An operation makes no sense for its operands; the message says why."""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _checked(number: Any) -> Any:
    if isinstance(number, float):
        if not math.isfinite(number):
            raise Refused("the result is beyond the range of numbers")
    elif not -MAX_INTEGER <= number <= MAX_INTEGER:
        raise Refused("the result is beyond the range of numbers")
    return number


def _refuse(verb: str, left: Any, right: Any) -> Refused:
    return Refused(f"cannot {verb} {_a(left)} and {_a(right)}")


def _a(value: Any) -> str:
    kind = kind_of(value)
    return kind if kind == "null" else f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def add(left: Any, right: Any) -> Any:
    """Numbers add; two texts and two lists join; nothing else does."""
    if _is_number(left) and _is_number(right):
        return _checked(left + right)
    if isinstance(left, str) and isinstance(right, str):
        if len(left) + len(right) > MAX_TEXT:
            raise Refused(f"the text would be longer than {MAX_TEXT:,} characters")
        return str(left) + str(right)
    if isinstance(left, list) and isinstance(right, list):
        if len(left) + len(right) > MAX_NODES:
            raise Refused(f"the list would be longer than {MAX_NODES:,} entries")
        return [*left, *right]
    raise _refuse("add", left, right)


def subtract(left: Any, right: Any) -> Any:
    if _is_number(left) and _is_number(right):
        return _checked(left - right)
    raise _refuse("subtract", left, right)


def multiply(left: Any, right: Any) -> Any:
    if _is_number(left) and _is_number(right):
        return _checked(left * right)
    raise _refuse("multiply", left, right)


def divide(left: Any, right: Any) -> Any:
    """Two integers that divide evenly give an integer, so that counts stay counts."""
    if not (_is_number(left) and _is_number(right)):
        raise _refuse("divide", left, right)
    if right == 0:
        raise Refused("division by zero")
    if isinstance(left, int) and isinstance(right, int) and left % right == 0:
        return left // right
    try:
        return _checked(left / right)
    except OverflowError:
        raise Refused("the result is beyond the range of numbers") from None


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def run(left: Any, right: Any) -> bool:
        if (_is_number(left) and _is_number(right)) or (isinstance(left, str) and isinstance(right, str)):
            return compare(left, right)
        raise _refuse("compare", left, right)

    return run


def is_in(left: Any, right: Any) -> bool:
    found = contains(right, left)
    if found is None:
        raise Refused(f"cannot look for {_a(left)} in {_a(right)}")
    return found


def negate(value: Any) -> Any:
    if not _is_number(value):
        raise Refused(f"cannot negate {_a(value)}")
    return -value


#: Every binary operator but `and` and `or`, which do not evaluate both sides.
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "<": _ordered(lambda left, right: left < right),
    "<=": _ordered(lambda left, right: left <= right),
    ">": _ordered(lambda left, right: left > right),
    ">=": _ordered(lambda left, right: left >= right),
    "in": is_in,
    "not in": lambda left, right: not is_in(left, right),
}
