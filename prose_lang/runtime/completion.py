"""How a statement ended: `return`, `break` and `continue` are values, only errors are exceptions.

A statement gives None when it simply ended. The value of the last statement of a body (L23) is the `Return` it would
have been; that of an arm in value position (`let x = if …`) is an `ArmValue`, which a `return` in the arm is not.
"""

from __future__ import annotations

from typing import Any

from prose_lang.text import Span


class Return:
    """`return value`, or the value of a body's last statement; `span` is where the `return` stands."""

    __slots__ = ("span", "value")

    def __init__(self, value: Any, span: Span | None = None) -> None:
        self.value = value
        self.span = span


class ArmValue:
    """The value of the arm taken, in value position."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Signal:
    """`break` or `continue`."""

    __slots__ = ("word",)

    def __init__(self, word: str) -> None:
        self.word = word


BREAK = Signal("break")
CONTINUE = Signal("continue")


class Escape:
    """What a value evaluates to when a statement inside it ends the body or loop around it."""

    __slots__ = ("completion",)

    def __init__(self, completion: Any) -> None:
        self.completion = completion
