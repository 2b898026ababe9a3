"""The names a mistyped one may have meant, and the question that hints ask about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def nearest(name: str, candidates: Iterable[str], most: int = 3) -> list[str]:
    """The candidates that look most like `name`, the closest first; at most `most` of them.

    >>> nearest("wroker", ["worker", "critic"])
    ['worker']
    """
    from difflib import get_close_matches  # imported when something is wrong already

    by_folded = {candidate.lower().replace("_", "-"): candidate for candidate in candidates}
    found = get_close_matches(name.lower().replace("_", "-"), by_folded, n=most, cutoff=0.6)
    return [by_folded[folded] for folded in found]


def did_you_mean(names: Sequence[str]) -> str | None:
    """The hint that asks whether one of some names was meant; None where there is none.

    >>> did_you_mean(nearest("wroker", ["worker", "critic"])), did_you_mean([])
    ('did you mean `worker`?', None)
    """
    return f"did you mean {' or '.join(f'`{name}`' for name in names)}?" if names else None
