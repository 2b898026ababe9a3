"""What a name calls, from the linker of a run that is not made: a service once, or the body of an entry (L7, L17)."""

from __future__ import annotations

import attrs

from prose_lang.documents.model import Document, Instance, InstanceSlot
from prose_lang.engine.linker import Linker, Unit
from prose_lang.report.known import Bodied, Callee, Listed, Meaning, Plain, Range, Reached
from prose_lang.report.quantities import number


@attrs.frozen(eq=False)
class Callees:
    """What the names of documents call. The instances of a document are made once, so that they can be told apart."""

    linker: Linker
    _instances: dict[tuple[Instance, str], Bodied | None] = attrs.field(factory=dict, init=False)
    _entries: dict[Unit, Bodied] = attrs.field(factory=dict, init=False)

    def named(self, name: str, document: Document) -> Callee | None:
        """What a name calls in a document; None if it calls nothing."""
        linker = self.linker
        if name in linker.registered:
            return Plain("service", name)
        instance = linker.instance(name, document)
        if instance is not None:
            return self.instance(instance, document, instance.name)
        unit = linker.unit(name, document)
        if unit is not None:
            return self.entry(unit) if unit.entry.body is not None else Plain("entry", name)
        return Plain("service", name) if linker.built_in(name) is not None else None

    def entry(self, unit: Unit) -> Bodied:
        """The body of an entry, the same one each time."""
        return self._entries.setdefault(unit, Bodied(unit))

    def instance(self, instance: Instance, document: Document, name: str) -> Bodied | None:
        """An instance as a callee; those nested in it are called `outer.slot[k]` (L7)."""
        key = (instance, name)
        if key not in self._instances:
            self._instances[key] = None  # an instance within itself is an error that is told elsewhere (P108)
            unit = self.linker.unit(instance.pattern, document)
            if unit is not None:
                many = {slot.name for slot in unit.entry.slots if slot.many}
                slots = {
                    slot: self._bound(f"{name}.{slot}", bound, document, listed=slot in many)
                    for slot, bound in instance.slots.items()
                }
                self._instances[key] = Bodied(unit, name, slots, dict(instance.config))
        return self._instances[key]

    def _bound(self, name: str, bound: InstanceSlot, document: Document, *, listed: bool) -> Meaning:
        found: list[Callee] = []
        for index, service in enumerate(bound.services):
            if isinstance(service, Instance):
                made = self.instance(service, document, f"{name}[{index}]" if bound.listed else name)
                found += [made] if made is not None else []
            else:
                found.append(self.named(service, document) or Plain("service", service))
        length = number(len(bound.services))
        if listed or (bound.listed and len(found) != 1):
            return Listed(Range(length, length), tuple(found))
        return Reached(tuple(found))
