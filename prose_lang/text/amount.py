"""How many of something there are, in words."""

from __future__ import annotations


def amount(number: int, what: str) -> str:
    """A number with its noun, in the plural unless it is one.

    >>> amount(1, "file"), amount(2_000, "call")
    ('1 file', '2,000 calls')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
