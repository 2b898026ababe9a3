"""What calls have used, as their entries tell it: the text of one call's usage, and the sums over a run (L34, L35)."""

from __future__ import annotations

import json
from collections.abc import Iterable

from prose_lang.handlers.limits import Spent
from prose_lang.journal.records import Entry
from prose_lang.journal.texts import encoded
from prose_lang.runtime.effects import Usage


def usage_text(usage: Usage | None) -> str | None:
    """What an entry keeps of the usage of its call. How many attempts there were stands in the entry itself.

    >>> usage_text(Usage(1, 12, 3, 0.5))
    '[12,3,0.5]'
    """
    if usage is None:
        return None
    plain = [usage.tokens_in, usage.tokens_out, usage.cost]
    return encoded(plain if usage.cached is None else [*plain, usage.cached])


def usage_in(text: str | None) -> Usage | None:
    """What `usage_text` was given, without the number of attempts."""
    return None if text is None else Usage(0, *json.loads(text))


def spent(entries: Iterable[Entry]) -> list[Spent]:
    """What the calls of a run have used so far, those with the same names together. Of what was under way the most that
    it may have taken counts (L34)."""
    found: dict[tuple[str, str], Spent] = {}
    for entry in entries:
        around = (entry.within, entry.service)
        names, calls, tokens, cost = found.get(around) or Spent(
            frozenset((*json.loads(entry.within), entry.service)), 0, 0, 0.0
        )
        usage = usage_in(entry.usage)
        if usage is not None:
            tokens, cost = tokens + usage.tokens_in + usage.tokens_out, cost + (usage.cost or 0.0)
        if not entry.final and entry.reserved is not None:
            more, price = json.loads(entry.reserved)
            tokens, cost = tokens + more, cost + (price or 0.0)
        found[around] = Spent(names, calls + entry.attempts, tokens, cost)
    return list(found.values())


def usage_of(entries: Iterable[Entry]) -> Usage:
    """What a run has used, all its sessions together; the cost is unknown where that of one call is."""
    total = Usage()
    for entry in entries:
        used = usage_in(entry.usage)
        if used is not None:
            total.add(used)
        total.calls += entry.attempts
        if not entry.final and entry.reserved is not None and json.loads(entry.reserved)[1] != 0:
            total.cost = None
    return total
