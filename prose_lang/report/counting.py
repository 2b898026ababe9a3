"""How many calls the paths through a piece of program make: tallies from a least to a most, for each way it can end.

A piece ends by going on, by `return`, `break` or `continue`, or by an error. What it has done until then is a tally for
each of these ways; a way that is missing is impossible. An error can strike anywhere, so that its least is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from prose_lang.report.quantities import ZERO, Quantity, largest, smallest

#: What is counted: ("calls", kind, name), ("attempts", kind, name), ("total",), ("attempts",), ("judge",), ("spent",).
Component: TypeAlias = tuple[str, ...]
Counts: TypeAlias = Mapping[Component, Quantity]

ON, RETURN, BREAK, CONTINUE, ERROR = "on", "return", "break", "continue", "error"


class Tally(NamedTuple):
    """The least and the most of what is counted; what is not there is nothing."""

    low: Counts
    high: Counts


Paths: TypeAlias = dict[str, Tally]

NOTHING = Tally({}, {})


def goes_on() -> Paths:
    """What counts nothing and can fail."""
    return {ON: NOTHING, ERROR: NOTHING}


# --- counts ----------------------------------------------------------------------------------------------------------


def _merged(one: Counts, other: Counts, how: Callable[[Quantity, Quantity], Quantity]) -> Counts:
    if one is other and how is not _sum:
        return one
    found = {}
    for component in dict.fromkeys((*one, *other)):
        quantity = how(one.get(component, ZERO), other.get(component, ZERO))
        if quantity != ZERO:
            found[component] = quantity
    return found


def _sum(one: Quantity, other: Quantity) -> Quantity:
    return one + other


def added(one: Counts, other: Counts) -> Counts:
    """Both, one after the other."""
    if not other:
        return one
    return _merged(one, other, _sum) if one else other


def multiplied(counts: Counts, by: Quantity) -> Counts:
    """The same so many times."""
    return {component: quantity for component, one in counts.items() if (quantity := one * by) != ZERO}


def least_of(counts: Iterable[Counts]) -> Counts:
    """No more than any of several."""
    found: Counts | None = None
    for one in counts:
        found = one if found is None else _merged(found, one, smallest)
    return found or {}


def most_of(counts: Iterable[Counts]) -> Counts:
    """No less than any of several."""
    found: Counts | None = None
    for one in counts:
        found = one if found is None else _merged(found, one, largest)
    return found or {}


# --- tallies and paths -----------------------------------------------------------------------------------------------


def both(one: Tally, other: Tally) -> Tally:
    """One, and then the other."""
    return Tally(added(one.low, other.low), added(one.high, other.high))


def either(tallies: Iterable[Tally]) -> Tally:
    """One of several."""
    found = list(tallies)
    if len(found) == 1:
        return found[0]
    return Tally(least_of(one.low for one in found), most_of(one.high for one in found))


def joined(several: Iterable[Paths]) -> Paths:
    """The paths of one of several pieces."""
    found: dict[str, list[Tally]] = {}
    for paths in several:
        for way, tally in paths.items():
            found.setdefault(way, []).append(tally)
    return {way: either(tallies) for way, tallies in found.items()}


def after(tally: Tally, paths: Paths) -> Paths:
    """The paths of a piece before which something was done."""
    if tally is NOTHING:
        return paths
    return {way: both(tally, one) for way, one in paths.items()}


def then(first: Paths, second: Paths) -> Paths:
    """The paths of two pieces, one after the other."""
    if ON not in first:
        return first
    rest = {way: tally for way, tally in first.items() if way != ON}
    return joined([rest, after(first[ON], second)])


def any_end(paths: Paths) -> Counts:
    """The most that can be done, however it ends."""
    return most_of(tally.high for tally in paths.values())


def as_body(paths: Paths) -> Paths:
    """The paths of a body of its own: its `return` is where it goes on (L14)."""
    ends = [paths[way] for way in (ON, RETURN, CONTINUE) if way in paths]
    found = {ON: either(ends)} if ends else {}
    if ERROR in paths:
        found[ERROR] = paths[ERROR]
    if BREAK in paths:  # of a collecting pass
        found[BREAK] = paths[BREAK]
    return found


def repeated(one_pass: Paths, low: Quantity, high: Quantity, minus_one: Quantity, *, ends: bool = True) -> Paths:
    """The paths of a plain loop of from `low` to `high` passes, `minus_one` being one less than `high`.

    `ends` tells whether it goes on when the passes are over; otherwise that is an error.
    """
    before = [one_pass[way] for way in (ON, CONTINUE) if way in one_pass]
    found: list[Paths] = []
    passed: Counts = {}
    if before:
        whole = either(before)
        over = Tally(multiplied(whole.low, low), multiplied(whole.high, high))
        passed = multiplied(whole.high, minus_one)
        found.append({ON: over} if ends else {ERROR: Tally({}, over.high)})
    elif low == ZERO or low.least == 0:
        found.append({ON: NOTHING})
    for way, to in ((BREAK, ON), (RETURN, RETURN)):
        if way in one_pass:
            found.append({to: Tally(one_pass[way].low, added(passed, one_pass[way].high))})
    # Where there is no pass at all these come out too small, but then nothing ends in one either.
    if ERROR in one_pass:
        found.append({ERROR: Tally({}, added(passed, one_pass[ERROR].high))})
    return joined(found)
