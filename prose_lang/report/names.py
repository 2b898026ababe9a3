"""What the names of a called body hold, and what it offers to the instances in it (L7)."""

from __future__ import annotations

from collections.abc import Mapping

from prose_lang.report.known import UNKNOWN, Bodied, Given, Known, Listed, Meaning, Reached
from prose_lang.semantics import Program


def offered(program: Program, bases: Mapping[str, Meaning]) -> dict[str, Meaning]:
    """What a program offers to the instances it calls: its inputs without a default (L7)."""
    return {
        base.name: bases[base.name]
        for base in program.bases
        if base.kind in ("input", "implicit") and not (base.item is not None and base.item.has_default)
    }


def bound_names(
    program: Program, callee: Bodied, bindings: Mapping[str, Meaning], offered: Mapping[str, Meaning]
) -> tuple[dict[str, Meaning], dict[str, Meaning]]:
    """What the names of a called body hold, and what it offers to the instances in it (L7)."""
    inherits = bool(callee.instance)
    around = offered if inherits else {}
    bases: dict[str, Meaning] = {}
    passed_on = dict(around)
    for base in program.bases:
        name, item = base.name, base.item
        default = Known(item.default if item is not None and item.has_default else None)
        if base.kind == "slot":
            bound = bindings.get(name, UNKNOWN)
            bases[name] = callee.slots.get(name, bound if isinstance(bound, (Reached, Listed)) else UNKNOWN)
            continue
        if name in bindings and (inherits or _certain(bindings[name]) or default == Known(None)):
            found = bindings[name]
        elif name in bindings:
            found = UNKNOWN  # null is not sent, and then the default counts
        elif name in callee.config:
            found = Known(callee.config[name])
        elif name in around:
            found = around[name] if _certain(around[name]) or default == Known(None) else UNKNOWN
        else:
            found = default
        bases[name] = found
        if base.kind != "config" and found != Known(None) and not (item is not None and item.has_default):
            passed_on[name] = found
    return bases, passed_on


def _certain(meaning: Meaning) -> bool:
    """Whether a value is certainly not null."""
    match meaning:
        case Known(value=value):
            return value is not None
        case Given(certain=certain):
            return certain
        case _:
            return meaning != UNKNOWN
