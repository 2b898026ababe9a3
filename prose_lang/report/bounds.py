"""How many calls a run of a pattern makes at least and at most, in terms of its config keys and inputs.

    bounds = call_bounds(engine, engine.load("stdlib:refine"))
    str(bounds.total)                       2 to 2 × max_rounds
    bounds.total.within({"max_rounds": 5})  (2, 10)

The least holds for runs that end with a value, the most for every run. The counting is `walk.py`; nothing runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from prose_lang.diagnostics import CheckError
from prose_lang.engine import Engine, Pattern
from prose_lang.engine.linker import Unit
from prose_lang.report.callees import Callees
from prose_lang.report.counting import ERROR, NOTHING, ON, Component, Tally, any_end
from prose_lang.report.meanings import given
from prose_lang.report.names import offered
from prose_lang.report.quantities import ZERO, Quantity, Symbol
from prose_lang.report.walk import Reason, Walk

#: Larger than any number of calls; what comes out smaller does not depend on what it stands for.
_MANY = 10**15


@attrs.frozen
class Bound:
    """From how many to how many. `high` is infinite where nothing bounds it."""

    low: Quantity
    high: Quantity

    @property
    def exact(self) -> bool:
        """Whether it is always the same number, for what the program is given."""
        return self.low == self.high and all(symbol.name is not None for symbol in self.low.symbols())

    def __str__(self) -> str:
        if self.high == ZERO:
            return "none"
        if self.exact:
            return str(self.low)
        return f"{self.low} or more" if self.high.infinite else f"{self.low} to {self.high}"

    def within(self, values: Mapping[str, Any]) -> tuple[int | None, int | None]:
        """The least and the most for some values; None where one is missing that it depends on, or nothing bounds it.

        A config key or input that is a loop count counts as 1 where it is something that no loop runs by.
        """
        low = self.low.value(lambda symbol: _number(symbol, values))
        if low is None:
            low = self.low.value(lambda symbol: _number(symbol, values) or symbol.least or 0)
        high = self.high.value(lambda symbol: _MANY if (found := _number(symbol, values)) is None else found)
        return low, None if high is None or high >= _MANY else high


@attrs.frozen
class Target:
    """What is called, by kind (slot, service, entry, variable, predicate, model) and name, and how often."""

    kind: str
    name: str
    calls: Bound
    attempts: Bound


@attrs.frozen
class CallBounds:
    """The bounds of a pattern. `spent` is what counts against the run's limit of calls: attempts, and questions to the
    judge, who may be asked twice. `ends` tells whether a run can end with a value at all."""

    targets: tuple[Target, ...]
    total: Bound
    attempts: Bound
    judge: Bound
    spent: Bound
    reasons: tuple[Reason, ...]
    ends: bool
    defaults: Mapping[str, Any]

    @property
    def all(self) -> Iterator[Bound]:
        """Every bound."""
        for target in self.targets:
            yield target.calls
            yield target.attempts
        yield from (self.total, self.attempts, self.judge, self.spent)

    @property
    def changing(self) -> tuple[Symbol, ...]:
        """The symbols that stand for something that only a run shows."""
        found = (symbol for bound in self.all for end in (bound.low, bound.high) for symbol in end.symbols())
        return tuple(dict.fromkeys(symbol for symbol in found if symbol.name is None))


def call_bounds(engine: Engine, pattern: Pattern) -> CallBounds:
    """The bounds of a pattern that is checked and has a body. Raises CheckError with all faults of its file.

    >>> from prose_lang.engine import Engine
    >>> engine = Engine()
    >>> found = call_bounds(engine, engine.load("stdlib:refine"))
    >>> str(found.total), found.total.within({"max_rounds": 5})
    ('2 to 2 × max_rounds', (2, 10))
    """
    linker = engine.linked(pattern)
    unit = Unit(pattern.document, pattern.entry)
    if pattern.entry.body is None:
        raise CheckError("P105", f"`{pattern.entry.name}` has no body that could call anything",
                         source=pattern.document.source, span=pattern.entry.span)  # fmt: skip
    program = linker.program(unit)
    walk = Walk(Callees(linker), engine.max_passes)
    walk.open.append((unit, ""))
    bases = {base.name: given(base) for base in program.bases}
    paths = walk.program(program, bases, offered(program, bases))
    low, high = paths.get(ON, NOTHING).low, any_end(paths)
    if (unit, "") in walk.recursive:
        from prose_lang.report.walk import endless

        high = any_end(endless({ON: Tally(low, high), ERROR: Tally({}, high)}))

    def bound(component: Component) -> Bound:
        return Bound(low.get(component, ZERO), high.get(component, ZERO))

    targets = tuple(
        Target(component[1], component[2], bound(component), bound(("attempts", *component[1:])))
        for component in high
        if component[0] == "calls"
    )
    defaults = {base.name: base.item.default for base in program.bases
                if base.item is not None and base.item.has_default}  # fmt: skip
    reasons = tuple(sorted(walk.reasons, key=lambda reason: (reason.file, reason.line)))
    return CallBounds(targets, bound(("total",)), bound(("attempts",)), bound(("judge",)), bound(("spent",)),
                      reasons, ON in paths, defaults)  # fmt: skip


def _number(symbol: Symbol, values: Mapping[str, Any]) -> int | None:
    """The number that a symbol is for some values; None if it is not among them."""
    if symbol.name is None or symbol.name not in values:
        return None
    value, least = values[symbol.name], symbol.least
    if symbol.length:
        found = len(value) if isinstance(value, (list, tuple, dict)) else 0
    elif isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
        found = 0
    else:
        found = int(value)
    return found if least is None else max(least, found)
