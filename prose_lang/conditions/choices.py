"""Choosing a label without a judge (L31): only a value that is a label, letter by letter, decides."""

from __future__ import annotations

from collections.abc import Iterable

from prose_lang.values import Value


def decide_choice(value: Value, labels: Iterable[str]) -> str | None:
    """The label that a value equals; None leaves the choice to the judge.

    >>> decide_choice("deep", ["shallow", "deep"]), decide_choice("Deep, I think", ["shallow", "deep"])
    ('deep', None)
    """
    if not isinstance(value, str):
        return None
    return next((label for label in labels if label == value), None)
