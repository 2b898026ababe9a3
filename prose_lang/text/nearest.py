"""The names a mistyped one may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, candidates: Iterable[str], most: int = 3) -> list[str]:
    """The candidates that look most like `name`, the closest first; at most `most` of them.

    >>> nearest("wroker", ["worker", "critic"])
    ['worker']
    """
    from difflib import get_close_matches  # imported when something is wrong already

    by_folded = {candidate.lower().replace("_", "-"): candidate for candidate in candidates}
    found = get_close_matches(name.lower().replace("_", "-"), by_folded, n=most, cutoff=0.6)
    return [by_folded[folded] for folded in found]
