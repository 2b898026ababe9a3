"""What can be known of a value before a run: which value it is, how long a list, which service; or what gives it.

Plain data. Working out what an expression is lies in `meanings.py`, what a name calls in `callees.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import attrs

from prose_lang.engine.linker import Unit
from prose_lang.report.quantities import ONE, Quantity


class Range(NamedTuple):
    """From what to what a number goes."""

    low: Quantity
    high: Quantity


ONCE = Range(ONE, ONE)


@attrs.frozen
class Known:
    """A value that stands in the text."""

    value: Any = attrs.field(eq=repr, hash=False)


@attrs.frozen
class Given:
    """What an input, a config key or a slot of the program was given. `least` is the declared minimum."""

    name: str
    least: int | None
    certain: bool  # whether it cannot be null


@attrs.frozen
class Whole:
    """A number."""

    size: Range


@attrs.frozen
class Listed:
    """A list of that many entries; `entries` are what they can be, where they are services."""

    length: Range
    entries: tuple[Callee, ...] = ()


@attrs.frozen
class Reached:
    """A reference to one of some services."""

    callees: tuple[Callee, ...]


@attrs.frozen
class Unknown:
    """Nothing is known."""


Meaning: TypeAlias = "Known | Given | Whole | Listed | Reached | Unknown"
UNKNOWN = Unknown()


@attrs.frozen
class Plain:
    """Something that one call calls once. `kind` is slot, service, entry, variable, model, or predicate."""

    kind: str
    name: str


@attrs.frozen(eq=False)
class Bodied:
    """An entry with a body: a call of it makes the calls of that body.

    `instance` is the name of the instance that it is, or empty; an instance has slots and config of its own, and takes
    what is missing from the inputs around it (L7).
    """

    unit: Unit
    instance: str = ""
    slots: Mapping[str, Meaning] = attrs.field(factory=dict)
    config: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def name(self) -> str:
        return self.instance or self.unit.entry.name


Callee: TypeAlias = "Plain | Bodied"
