"""Slots, config keys and inputs that speak of the same name (L17, §9 L3).

Published files list every slot and config key once more under Requires. Such an item describes the slot or the key and
is no input of its own; what it says is used where the slot or the key is silent.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from prose_lang.documents.declarations import misfit
from prose_lang.documents.faults import Faults
from prose_lang.documents.model import ANY, MISSING, Item, Slot, Type
from prose_lang.documents.types import is_known
from prose_lang.values import equal


def agree(
    slots: dict[str, Slot], config: dict[str, Item], inputs: dict[str, Item], faults: Faults
) -> tuple[tuple[Slot, ...], tuple[Item, ...], tuple[Item, ...]]:
    """Slots, config keys and the real inputs. A name that is both a slot and a config key is P207."""
    for name in slots.keys() & config.keys():
        later, first = sorted((slots[name].span, config[name].span), reverse=True)
        faults.error(
            "P207",
            f"`{name}` is declared both as a slot and as a config key",
            later,
            f"the other one is on line {faults.source.position(first.start).line}",
        )
    return (
        tuple(_described_slot(slot, inputs.get(slot.name)) for slot in slots.values()),
        tuple(_described_key(item, inputs.get(item.name), faults) for item in config.values()),
        tuple(item for item in inputs.values() if item.name not in slots and item.name not in config),
    )


def _described_slot(slot: Slot, item: Item | None) -> Slot:
    if item is None:
        return slot
    return attrs.evolve(slot, description=slot.description or item.description, many=slot.many or item.type.is_list)


def _described_key(key: Item, item: Item | None, faults: Faults) -> Item:
    if item is None:
        return key
    default = item.default if key.default is MISSING else key.default
    joined = attrs.evolve(
        key,
        description=key.description or item.description,
        optional=key.optional or item.optional,
        default=default,
        minimum=item.minimum if key.minimum is None else key.minimum,
        maximum=item.maximum if key.maximum is None else key.maximum,
        one_of=key.one_of or item.one_of,
    )
    if key.type == ANY:
        joined = attrs.evolve(joined, type=item.type)
    elif item.type != ANY and not _refines(key.type, item.type):
        joined = attrs.evolve(joined, other_types=(item.type,))
        _contradiction(f"is {key.type.text} in Config and {item.type.text} here", item, faults)
    if item.has_default and not equal(item.default, default):
        _contradiction("has another default in Config, which is the one that counts", item, faults)
    if default is not key.default and (fault := misfit(default, joined)):
        faults.error("P211", f"the default of `{item.name}` {fault}", item.span)
    return joined


def _contradiction(what: str, item: Item, faults: Faults) -> None:
    faults.warning("contradiction", f"`{item.name}` {what}", item.span)


def _refines(one: Type, other: Type) -> bool:
    """Whether two types can mean the same: they share a word, or one leaves it open. An integer is a number."""
    if not (_is_definite(one) and _is_definite(other)):
        return True
    return bool(_plain(one.names) & _plain(other.names))


def _is_definite(declared: Type) -> bool:
    return is_known(declared) and all(word != "any" for word, _ in declared.names)


def _plain(names: Iterable[tuple[str, bool]]) -> set[tuple[str, bool]]:
    return {("number" if word == "integer" else word, listed) for word, listed in names}
