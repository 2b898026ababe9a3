"""How many of something there are, in words."""

from __future__ import annotations


def amount(number: int, what: str) -> str:
    """A number with its noun, in the plural unless it is one.

    >>> amount(1, "file"), amount(2_000, "call"), amount(2, "branch")
    ('1 file', '2,000 calls', '2 branches')
    """
    return f"{number:,} {what}{'' if number == 1 else 'es' if what.endswith('ch') else 's'}"
