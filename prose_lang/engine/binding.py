"""Binding what a run is given to the names of a program: slots to services, inputs and config to values (L7, L17).

Every fault is reported, not the first alone: all missing names at once (P203), names that nothing takes (P210), values
that do not fit (P211), services that are not found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prose_lang.diagnostics import CheckError, Diagnostic, ProseError
from prose_lang.documents.model import Document, Item, Slot
from prose_lang.engine.given import Given
from prose_lang.engine.linker import Linker, Unit
from prose_lang.engine.pattern import Pattern
from prose_lang.engine.types import Mismatch, fitted
from prose_lang.runtime.effects import Service
from prose_lang.semantics import Program
from prose_lang.services import TrustedReference, parse_reference, split_list
from prose_lang.services.references import Reference
from prose_lang.text import Span, did_you_mean, nearest
from prose_lang.values import NotAValue, ServiceRef, Value, intake

#: What is said of a name that resembles none.
_SOURCES = "names are registered (--services) or scripted (--script); a Python function is py:MODULE:FUNCTION"


class Binder:
    """Binds names for one program. `adapt` makes a service of a Python callable."""

    def __init__(self, linker: Linker, document: Document, adapt: Callable[[Any], Service]) -> None:
        self.linker = linker
        self.document = document
        self.adapt = adapt
        self.found: list[Diagnostic] = []

    def fault(
        self, code: str, message: str, span: Span | None, hint: str | None = None, given: Given | None = None
    ) -> None:
        """A fault is told where the value was given, if that is known, else where the name is declared."""
        source = self.document.source if span is not None else None
        if given is not None and given.place is not None:
            source, span = given.place
        self.found.append(Diagnostic(code, message, source, span, hint=hint))

    # --- slots -------------------------------------------------------------------------------------------------------

    def slots(self, program: Program, names: Mapping[str, Any]) -> dict[str, Value]:
        """The services of the slots; missing ones are reported."""
        bound: dict[str, Value] = {}
        for slot in program.entry.slots:
            item = _given(names.get(slot.name))
            if item.value is None:
                if slot.optional:
                    continue
                # A service of the same name is not taken by itself: which one fills a slot is for the caller to say.
                own = slot.name in self.linker.registered
                hint = f"bind it to the service of its name: {slot.name}={slot.name}"
                self.fault("P203", f"the slot `{slot.name}` is not bound", slot.span,
                           hint if own else f"bind it to a service: {slot.name}=…")  # fmt: skip
                continue
            try:
                bound[slot.name] = self.slot(slot, item)
            except ProseError as error:
                self.fault(error.code, f"`{slot.name}`: {error.message}", slot.span, error.hint, item)
            except TypeError as error:
                self.fault("P202", f"`{slot.name}`: {error}", slot.span, given=item)
        return bound

    def slot(self, slot: Slot, item: Given) -> Value:
        value = item.value
        if isinstance(value, str) and slot.many and item.text:
            value = split_list(value)
        if isinstance(value, (list, tuple)):
            references = [self.reference(part, item.trusted) for part in value]
            if not references:
                raise CheckError("P203", "an empty list binds no service")
            return references if slot.many or len(references) > 1 else references[0]
        reference = self.reference(value, item.trusted)
        return [reference] if slot.many else reference

    def reference(self, value: Any, trusted: bool) -> ServiceRef:
        """A reference to whatever was given for a slot. Raises ProseError or TypeError."""
        if isinstance(value, ServiceRef):
            return value
        if isinstance(value, TrustedReference):
            return self.named(value.reference)
        if isinstance(value, str):
            return self.named(parse_reference(value, trusted))
        if isinstance(value, Pattern):
            unit = Unit(value.document, value.entry)
            return ServiceRef(value.name, self.linker.unit_service(unit, value.name))
        service = self.adapt(value)
        return ServiceRef(service.name, service)

    def named(self, reference: Reference) -> ServiceRef:
        """The service that a reference means."""
        service = self.linker.referenced(reference, self.document)
        if service is None:
            close = nearest(reference.text, self.linker.scope(self.document).names())
            hint = did_you_mean(close) or _SOURCES
            raise CheckError("P202", f"there is no service `{reference.text}`", hint=hint)
        return ServiceRef(service.name, service)

    # --- inputs and config -------------------------------------------------------------------------------------------

    def values(self, program: Program, names: Mapping[str, Any]) -> dict[str, Value]:
        """The values of inputs and config keys that were given; missing and unknown names are reported."""
        taken: dict[str, Value] = {}
        refused: set[str] = set()
        known = program.names
        for name, item in names.items():
            base = known.get(name)
            if base is None:
                self.unknown(name, program, list(known), _given(item))
            elif base.kind != "slot":
                declared, given = base.item, _given(item)
                span = declared.span if declared else None
                try:
                    taken[name] = self.value(given, declared)
                    continue
                except Mismatch as error:
                    self.fault("P211", f"`{name}` {error}", span, given=given)
                except (NotAValue, TypeError) as error:
                    self.fault("P211", f"`{name}`: {error}", span, given=given)
                refused.add(name)
        for declared in program.required:
            if taken.get(declared.name) is None and declared.name not in refused:
                what = f"the input `{declared.name}` is missing"
                self.fault("P203", what, declared.span, f"give it: {declared.name}=…")
        return taken

    def value(self, item: Given, declared: Item | None) -> Value:
        value = item.value
        if isinstance(value, (ServiceRef, TrustedReference, Pattern)) or (
            callable(value) and not isinstance(value, type)
        ):
            return self.reference(value, item.trusted)  # a predicate, say (L30.4)
        value = intake(value)
        return value if declared is None else fitted(value, declared, text=item.text)

    def unknown(self, name: str, program: Program, known: list[str], given: Given) -> None:
        close = nearest(name, known)
        hint = did_you_mean(close)
        if hint is None and known:
            hint = "it takes " + ", ".join(known)
        self.fault("P210", f"`{program.entry.name}` takes no `{name}`", None, hint, given)  # it may stand in no file


def _given(item: Any) -> Given:
    return item if type(item) is Given else Given(item)
