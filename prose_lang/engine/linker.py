"""From names to services, for one run: what a body's calls reach, and what slots are bound to (L7, L8, L17).

Linking checks everything that can be reached: the program itself, the functions it calls, the patterns of its
instances. All faults found are reported together, before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from prose_lang.diagnostics import CheckError, Diagnostic, RunError, Severity, SourceError
from prose_lang.documents.loader import Loader
from prose_lang.documents.model import Document, Entry, Instance
from prose_lang.engine.types import Mismatch, fitted
from prose_lang.resources import library_names
from prose_lang.runtime.compiler.code import Code
from prose_lang.runtime.effects import Service
from prose_lang.runtime.patterns import BoundPattern
from prose_lang.semantics import Program, Signature, analyze, entry_signature
from prose_lang.services import CommandService, Reference, resolve_python
from prose_lang.services.builtin import BUILTIN_NAMES, builtin
from prose_lang.services.models.contract import Contract, of_entry, runtime_settings
from prose_lang.services.models.local.catalogue import PROVIDER, local_model
from prose_lang.services.models.models import Models
from prose_lang.services.models.service import ModelService
from prose_lang.services.stand_in import StandIn
from prose_lang.text import Span, nearest
from prose_lang.values import ServiceRef, Value


@attrs.frozen(eq=False)
class Unit:
    """An entry with the document it stands in."""

    document: Document
    entry: Entry


class Scope:
    """What can be called by name from one document. Checking asks it for signatures, the run for services."""

    def __init__(self, linker: Linker, document: Document) -> None:
        self.linker = linker
        self.document = document

    def signature(self, name: str) -> Signature | None:
        """What a call of a name may bind; None if it calls nothing."""
        unit = self.linker.unit(name, self.document)
        if name in self.linker.registered:
            return entry_signature(unit.entry) if unit is not None else self.linker.registered[name].signature
        instance = self.linker.instance(name, self.document)
        if instance is not None:
            return self.linker.instance_signature(instance, self.document)
        if unit is not None:
            return self.linker.unit_signature(unit)
        built_in = self.linker.built_in(name)
        return built_in.signature if built_in is not None else None

    def names(self) -> Iterable[str]:
        """The names that can be called, for hints."""
        yield from self.linker.registered
        for entry in self.document.entries:
            for instance in entry.instances:
                yield instance.name
        yield from self.linker.loader.names(self.document)
        yield from BUILTIN_NAMES


class Linker:
    """The links of one run, or of several with the same services.

    `registered` are services by name; they stand in for entries of that name. `adapt` makes a service of a Python
    callable, `compiled` gives the code of a program, `models` do what entries without a body ask for. The built-in
    services come last: every name of the user's wins.
    """

    def __init__(
        self,
        loader: Loader,
        registered: Mapping[str, Service],
        adapt: Callable[..., Service],
        compiled: Callable[[Program], Code],
        models: Models,
    ) -> None:
        self.loader = loader
        self.registered = registered
        self.adapt = adapt
        self.compiled = compiled
        self.models = models
        self.found: list[Diagnostic] = []
        self._programs: dict[Entry, Program] = {}
        self._services: dict[Any, Service] = {}
        self._checked: set[Any] = set()
        self._refused: dict[tuple[str, Document], SourceError] = {}
        self._units: dict[tuple[str, Document], Unit | None] = {}

    # --- names -------------------------------------------------------------------------------------------------------

    def unit(self, name: str, document: Document) -> Unit | None:
        """The entry that a name means in a document (L8)."""
        if (name, document) not in self._units:
            self._units[name, document] = self._resolved(name, document)
        return self._units[name, document]

    def _resolved(self, name: str, document: Document) -> Unit | None:
        try:
            found = self.loader.resolve(name, document)
        except SourceError as error:
            self._refused[name, document] = error  # told where the name stands
            return None
        if isinstance(found, Entry):
            return Unit(document, found)
        return Unit(found, found.main) if found is not None else None

    def instance(self, name: str, document: Document) -> Instance | None:
        """The instance of that name, in any entry of the document."""
        for entry in document.entries:
            for instance in entry.instances:
                if instance.name == name:
                    return instance
        return None

    def unit_signature(self, unit: Unit) -> Signature:
        return self.program(unit).signature if unit.entry.body is not None else entry_signature(unit.entry)

    def instance_signature(self, instance: Instance, document: Document) -> Signature | None:
        unit = self.unit(instance.pattern, document)
        if unit is None:
            return Signature(open=True)  # the instance itself is reported
        own = self.unit_signature(unit)
        bound = {*instance.slots, *instance.config}
        # What an instance leaves open may come from the caller's inputs (L7): nothing is missing before the run.
        return Signature(
            tuple(
                attrs.evolve(parameter, required=False) for parameter in own.parameters if parameter.name not in bound
            )
            + tuple(attrs.evolve(parameter, required=False) for parameter in own.parameters if parameter.name in bound),
            outputs=own.outputs,
        )

    # --- programs ----------------------------------------------------------------------------------------------------

    def program(self, unit: Unit) -> Program:
        """The checked program of an entry with a body; its faults are noted."""
        known = self._programs.get(unit.entry)
        if known is None:
            # A function may call itself: while it is looked at, its contract says what it takes.
            stand_in = attrs.evolve(_empty_program(unit), signature=entry_signature(unit.entry))
            self._programs[unit.entry] = stand_in
            known = analyze(unit.document, unit.entry, Scope(self, unit.document))
            told = tuple(self._explained(item, unit.document) for item in known.diagnostics)
            known = self._programs[unit.entry] = attrs.evolve(known, diagnostics=told)
            self.found.extend(told)
            self.reach(known, unit)
        return known

    def reach(self, program: Program, unit: Unit) -> None:
        """Check what a program calls by name."""
        names = {plan.target.name: plan.target.span for plan in program.calls.values() if plan.target.static}
        for name in names:
            if name in self.registered:
                continue
            use = program.uses.get(name)
            if use is not None:
                name = use.reference
                if not self.resolves(name, unit.document):
                    self.report("P109", f"`{name}` does not resolve", unit.document, use.span)
            instance = self.instance(name, unit.document)
            if instance is not None:
                self.check_instance(instance, unit.document, ())
                continue
            callee = self.unit(name, unit.document)
            if callee is not None and callee.entry.body is not None:
                self.program(callee)

    # --- instances (L7) ----------------------------------------------------------------------------------------------

    def report(self, code: str, message: str, document: Document, span: Span, hint: str | None = None) -> None:
        self.found.append(self._explained(Diagnostic(code, message, document.source, span, hint=hint), document))

    def _explained(self, item: Diagnostic, document: Document) -> Diagnostic:
        """A diagnostic of a name that is not found, with the reason where looking for it told one."""
        for (name, origin), error in self._refused.items():
            if origin is document and item.code in ("P109", "P202") and f"`{name}`" in item.message:
                return attrs.evolve(item, code=error.code, name="", message=error.message, hint=error.hint)
        return item

    def check_instance(self, instance: Instance, document: Document, around: Sequence[Instance]) -> None:
        """Report what is wrong with an instance and those nested in it, each once."""
        if instance in self._checked:
            return
        self._checked.add(instance)
        unit = self.unit(instance.pattern, document)
        where = f"the instance `{instance.name}`"
        if unit is None:
            close = nearest(instance.pattern, self.loader.names(document))
            hint = f"did you mean `{close[0]}`?" if close else None
            self.report("P109", f"{where} is of the pattern `{instance.pattern}`, which is not found",
                        document, instance.pattern_span, hint)  # fmt: skip
            return
        if unit.entry.kind != "pattern":
            self.report("P202", f"{where} is of `{instance.pattern}`, which is a {unit.entry.kind}, not a pattern",
                        document, instance.pattern_span)  # fmt: skip
            return
        self.program(unit)
        slots = {slot.name: slot for slot in unit.entry.slots}
        config = {item.name: item for item in unit.entry.config}
        for name, bound in instance.slots.items():
            if name not in slots:
                self._unknown(where, "slot", name, slots, config, document, bound.span)
                continue
            if bound.listed and len(bound.services) > 1 and not slots[name].many and self._called(unit, name):
                self.report("P206", f"{where} binds the slot `{name}` to several services, and it takes one",
                            document, bound.span)  # fmt: skip
            for service in bound.services:
                if isinstance(service, Instance):
                    self.check_instance(service, document, (*around, instance))
                elif not self.resolves(service, document):
                    close = nearest(service, Scope(self, document).names())
                    hint = f"did you mean `{close[0]}`?" if close else None
                    self.report("P202", f"{where} binds `{name}` to `{service}`, which is not found",
                                document, bound.span, hint)  # fmt: skip
                else:
                    self._nested(service, document, (*around, instance))
        for name, value in instance.config.items():
            if name not in config:
                self._unknown(where, "config key", name, config, slots, document, instance.config_spans[name])
                continue
            try:
                fitted(value, config[name], text=False)
            except Mismatch as error:
                self.report("P211", f"{where} sets `{name}`, which {error}", document, instance.config_spans[name])
        missing = [f"`{slot.name}`" for slot in slots.values() if not (slot.optional or slot.name in instance.slots)]
        if missing:
            what = "slot" if len(missing) == 1 else "slots"
            self.report("P203", f"{where} does not bind the {what} {', '.join(missing)}", document, instance.span)

    def _called(self, unit: Unit, name: str) -> bool:
        targets = (plan.target for plan in self.program(unit).calls.values())
        return any(target.name == name and target.slot and not target.shadowed for target in targets)

    def _nested(self, name: str, document: Document, around: Sequence[Instance]) -> None:
        if name in self.registered:
            return
        nested = self.instance(name, document)
        if nested is not None:
            # A pattern inside an instance of itself is fine; an instance inside itself never ends.
            if nested in around:
                self.report("P108", f"the instance `{nested.name}` contains itself", document, nested.pattern_span)
                return
            self.check_instance(nested, document, around)
            return
        unit = self.unit(name, document)
        if unit is not None and unit.entry.body is not None:
            self.program(unit)

    def _unknown(
        self,
        where: str,
        what: str,
        name: str,
        known: Mapping[str, object],
        others: Mapping[str, object],
        document: Document,
        span: Span,
    ) -> None:
        close = nearest(name, known)
        if name in others:
            hint: str | None = f"`{name}` belongs under `{'config' if what == 'slot' else 'with'}:`"
        else:
            hint = f"did you mean `{close[0]}`?" if close else f"it has {', '.join(known) or 'none'}"
        self.report("P210", f"{where} has no {what} `{name}`", document, span, hint)

    # --- services ----------------------------------------------------------------------------------------------------

    def resolves(self, name: str, document: Document) -> bool:
        return (
            name in self.registered
            or self.instance(name, document) is not None
            or self.unit(name, document) is not None
            or name in BUILTIN_NAMES
        )

    def finder(self, document: Document) -> Callable[[str], Service | None]:
        """What finds the services that a document's bodies call by name."""
        return partial(self.service, document=document)

    def service(self, name: str, document: Document) -> Service | None:
        """The service that a name calls; None if it calls nothing."""
        key = (name, document)
        known = self._services.get(key)
        if known is None:
            made = self._make(name, document)
            if made is None:
                return None
            known = self._services[key] = made
        return known

    def _make(self, name: str, document: Document) -> Service | None:
        registered = self.registered.get(name)
        if registered is not None:
            unit = self.unit(name, document)
            if unit is None or unit.entry.kind == "pattern":
                return registered
            return self.standing_in(registered, unit)
        instance = self.instance(name, document)
        if instance is not None:
            return self.instantiate(instance, document, instance.name)
        unit = self.unit(name, document)
        return self.unit_service(unit, name) if unit is not None else self.built_in(name)

    def standing_in(self, service: Service, unit: Unit) -> Service:
        """A registered service in the place of an entry: the entry's contract holds, and a bare model is told it."""
        signature = entry_signature(unit.entry)
        if isinstance(service, ModelService):
            if service.contract is None:
                return self.by_model(unit, service.name, service)
            return attrs.evolve(service, signature=signature)
        return StandIn(service, signature)

    def by_model(self, unit: Unit, name: str, service: ModelService | None = None) -> ModelService:
        """An entry without a body as work for a model: the one it is bound to, or the engine's default (L6)."""
        contract = attrs.evolve(of_entry(unit.document, unit.entry), name=name)
        tier = runtime_settings(unit.document, unit.entry).get("model")
        model = service or ModelService(name, self.models)
        return model.with_contract(name, contract, entry_signature(unit.entry), tier)

    def built_in(self, name: str) -> Service | None:
        """A built-in service."""
        function = builtin(name)
        if function is None:
            return None
        key = (name, None)
        if key not in self._services:
            self._services[key] = self.adapt(function, name=name)
        return self._services[key]

    def scope(self, document: Document) -> Scope:
        """The names that can be called from a document."""
        return Scope(self, document)

    def referenced(self, reference: Reference, document: Document) -> Service | None:
        """The service that a reference means; None if a name means nothing. Raises ProseError."""
        match reference.kind:
            case "python":
                return self.adapt(resolve_python(reference))
            case "command":
                return CommandService(reference.target, hidden=self.models.settings.key_names)
            case "model":
                return ModelService(reference.text, self.models, model=reference.target)
            case "local":
                try:
                    found_model = local_model(reference.target)
                except RunError as error:
                    raise CheckError(error.code, error.message, hint=error.hint) from None
                return ModelService(
                    reference.text, self.models, model=f"{PROVIDER}/{found_model.name}", max_concurrency=1,
                    usual=Contract(reference.text, role=found_model.role, examples=found_model.examples),
                    usual_parameters=found_model.role_parameters,
                )  # fmt: skip
            case "file":
                return self._file(reference)
            case "library":
                found = self.loader.resolve(f"stdlib:{reference.target}", document)
                if found is None:
                    close = nearest(reference.target, library_names())
                    raise CheckError("P109", f"the library has no pattern `{reference.target}`",
                                     hint=f"did you mean `{close[0]}`?" if close else None)  # fmt: skip
                assert isinstance(found, Document), "a `stdlib:` name means a file"
                return self.unit_service(Unit(found, found.main), reference.target)
            case _:
                return self.service(reference.target, document)

    def _file(self, reference: Reference) -> Service:
        document = self.loader.load_path(reference.target)
        if reference.part is None:
            return self.unit_service(Unit(document, document.main), document.name)
        entry = document.entry(reference.part)
        if entry is None:
            close = nearest(reference.part, [entry.name for entry in document.entries[1:]])
            raise CheckError("P109", f"`{reference.target}` has no entry `{reference.part}`",
                             hint=f"did you mean `{close[0]}`?" if close else None)  # fmt: skip
        return self.unit_service(Unit(document, entry), entry.name)

    def unit_service(
        self, unit: Unit, name: str, slots: Mapping[str, Value] | None = None, config: Mapping[str, Value] | None = None
    ) -> Service:
        """An entry as a service: its body, or work for a model. Only an instance has `config`, and inherits (L7)."""
        if unit.entry.body is None:
            return self.by_model(unit, name)
        program = self.program(unit)
        if program.errors:
            raise CheckError.from_diagnostics(program.diagnostics)
        find, inherits = self.finder(unit.document), config is not None
        return BoundPattern(name, self.compiled(program), slots or {}, config or {}, find, inherits=inherits)

    def whole(self, unit: Unit, slots: Mapping[str, Value]) -> Service:
        """An entry as the whole of a run; one without a body may have a service of its name in its place."""
        registered = self.registered.get(unit.entry.name) if unit.entry.body is None else None
        if registered is not None:
            return self.standing_in(registered, unit)
        return self.unit_service(unit, unit.entry.name, slots)

    def instantiate(self, instance: Instance, document: Document, name: str) -> Service:
        """An instance as a service; those nested in it are called `outer.slot[k]` (L7)."""
        unit = self.unit(instance.pattern, document)
        assert unit is not None, "instances are checked before they are made"
        slots: dict[str, Value] = {}
        many = {slot.name for slot in unit.entry.slots if slot.many}
        for slot, bound in instance.slots.items():
            references: list[Value] = []
            for number, service in enumerate(bound.services):
                if isinstance(service, Instance):
                    inner = f"{name}.{slot}[{number}]" if bound.listed else f"{name}.{slot}"
                    references.append(ServiceRef(service.name or inner, self.instantiate(service, document, inner)))
                else:
                    references.append(ServiceRef(service, self.service(service, document)))
            listed = slot in many or (bound.listed and len(references) != 1)
            slots[slot] = references if listed else references[0]
        items = {item.name: item for item in unit.entry.config}
        config = {key: fitted(value, items[key], text=False) for key, value in instance.config.items()}
        return self.unit_service(unit, name, slots, config)

    @property
    def errors(self) -> list[Diagnostic]:
        return [item for item in self.found if item.severity is Severity.ERROR]


def _empty_program(unit: Unit) -> Program:
    return analyze(unit.document, attrs.evolve(unit.entry, body=None))
