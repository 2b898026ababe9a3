"""From names to services, for one run: what a body's calls reach, and what slots are bound to (L7, L8, L17).

Linking checks everything that can be reached: the program itself, the functions it calls, the patterns of its
instances. All faults found are reported together, before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from prose_lang.diagnostics import CheckError, Diagnostic, RunError, Severity, SourceError
from prose_lang.documents.loader import Loader
from prose_lang.documents.model import Document, Entry, Instance, InstanceSlot
from prose_lang.engine.scope import Scope
from prose_lang.engine.types import Mismatch, fitted
from prose_lang.resources import library_names
from prose_lang.runtime.compiler.code import Code
from prose_lang.runtime.effects import Service
from prose_lang.runtime.patterns import BoundPattern
from prose_lang.semantics import Program, Signature, analyze, entry_signature, parse_body
from prose_lang.services import CommandService, Reference, resolve_python
from prose_lang.services.builtin import BUILTIN_NAMES, builtin
from prose_lang.services.models.contract import Contract, of_entry, runtime_settings
from prose_lang.services.models.local.catalogue import PROVIDER, local_model
from prose_lang.services.models.models import Models
from prose_lang.services.models.service import ModelService
from prose_lang.services.stand_in import StandIn
from prose_lang.syntax import Parsed
from prose_lang.text import Span, did_you_mean, nearest
from prose_lang.values import ServiceRef, Value


@attrs.frozen(eq=False)
class Unit:
    """An entry with the document it stands in."""

    document: Document
    entry: Entry


class Linker:
    """The links of one run, or of several with the same services.

    `registered` are services by name; they stand in for entries of that name. `adapt` makes a service of a Python
    callable, `compiled` gives the code of a program, `parsed` the tree of a body, `models` do what entries without a
    body ask for. The built-in services come last: every name of the user's wins.
    """

    def __init__(
        self,
        loader: Loader,
        registered: Mapping[str, Service],
        adapt: Callable[..., Service],
        compiled: Callable[[Program], Code],
        models: Models,
        parsed: Callable[[Document, Entry], Parsed] = parse_body,
    ) -> None:
        self.loader = loader
        self.registered = registered
        self.adapt = adapt
        self.compiled = compiled
        self.models = models
        self.parsed = parsed
        self.found: list[Diagnostic] = []
        self._programs: dict[Entry, Program] = {}
        self._services: dict[Any, Service] = {}
        self._checked: set[Instance] = set()
        self._visited: set[Document] = set()
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
            open=own.open,
            outputs=own.outputs,
        )

    @property
    def documents(self) -> list[Document]:
        """Every document that was reached."""
        units = [unit.document for unit in self._units.values() if unit is not None]
        return list(dict.fromkeys((*self._visited, *(made.document for made in self._programs.values()), *units)))

    @property
    def programs(self) -> list[Program]:
        """The checked programs of all bodies that were reached."""
        return list(self._programs.values())

    # --- programs ----------------------------------------------------------------------------------------------------

    def program(self, unit: Unit) -> Program:
        """The checked program of an entry with a body; its faults are noted."""
        known = self._programs.get(unit.entry)
        if known is None:
            # An entry may call itself: while it is looked at, its contract says what it takes. What the body of a
            # pattern reads besides is not known yet.
            declared = attrs.evolve(entry_signature(unit.entry), open=unit.entry.kind == "pattern")
            stand_in = attrs.evolve(_empty_program(unit), signature=declared)
            self._programs[unit.entry] = stand_in
            tree = self.parsed(unit.document, unit.entry)
            known = analyze(unit.document, unit.entry, Scope(self, unit.document), tree)
            told = tuple(self._explained(item, unit.document) for item in known.diagnostics)
            known = self._programs[unit.entry] = attrs.evolve(known, diagnostics=told)
            self.found.extend(told)
            self.reach(known, unit)
        return known

    def reach(self, program: Program, unit: Unit) -> None:
        """Check what a program calls by name."""
        for name in dict.fromkeys(plan.target.name for plan in program.calls.values() if plan.target.static):
            if name in self.registered:
                continue
            if name in program.uses:
                name = program.uses[name].reference  # one that does not resolve has been reported where it stands
            instance = self.instance(name, unit.document)
            if instance is not None:
                self.check_instance(instance, unit.document, ())
                continue
            self.look_at(self.unit(name, unit.document))

    def look_at(self, unit: Unit | None) -> None:
        """Check what is reached: the file that it stands in, once, and its body."""
        if unit is None:
            return
        self.visit(unit.document)
        if unit.entry.body is not None:
            self.program(unit)

    def visit(self, document: Document) -> None:
        """Note what was found wrong with a file when it was read."""
        if document not in self._visited:
            self._visited.add(document)
            self.found.extend(document.diagnostics)

    # --- instances (L7) ----------------------------------------------------------------------------------------------

    def report(
        self,
        code: str,
        message: str,
        document: Document,
        span: Span,
        hint: str | None = None,
        missing: str | None = None,
    ) -> None:
        item = Diagnostic(code, message, document.source, span, hint=hint, missing=missing)
        self.found.append(self._explained(item, document))

    def _explained(self, item: Diagnostic, document: Document) -> Diagnostic:
        """A diagnostic of a name that is not found, with the reason where looking for it told one."""
        name = item.missing
        if name is None:
            return item
        error = self._refused.get((name, document))
        if error is not None:
            return attrs.evolve(item, code=error.code, name="", severity=Severity.ERROR, message=error.message,
                                hint=error.hint)  # fmt: skip
        where = self._where(name, document)
        # A name that is close is a better hint than where others would be looked for, but not than what to install.
        is_path = ":" in name or "/" in name
        if not item.hint or (is_path and where is not None and not where.startswith("looked for")):
            return attrs.evolve(item, hint=where)
        return item

    def _where(self, name: str, document: Document) -> str | None:
        """What would provide a name that means nothing."""
        if ":" in name or "/" in name:
            return self.loader.looked_for(name, document)
        return f"put {name}.prose.md beside this file, or give such a service (--services, --script)"

    def check_instance(
        self, instance: Instance, document: Document, around: Sequence[Instance], name: str = ""
    ) -> None:
        """Report what is wrong with an instance and those nested in it, each once. `name` is what it is called, which
        for one that is nested tells where it stands: `outer.slot[k]`."""
        if instance in self._checked:
            return
        self._checked.add(instance)
        unit = self.unit(instance.pattern, document)
        name = instance.name or name
        where = f"the instance `{name}`"
        if unit is None:
            hint = self.loader.looked_for(instance.pattern, document)
            self.report("P109", f"{where} is of the pattern `{instance.pattern}`, which is not found",
                        document, instance.pattern_span, hint, instance.pattern)  # fmt: skip
            return
        if unit.entry.kind != "pattern":
            self.report("P202", f"{where} is of `{instance.pattern}`, which is a {unit.entry.kind}, not a pattern",
                        document, instance.pattern_span)  # fmt: skip
            return
        self.look_at(unit)
        slots = {slot.name: slot for slot in unit.entry.slots}
        config = {item.name: item for item in unit.entry.config}
        for slot, bound in instance.slots.items():
            if slot not in slots:
                self._unknown(where, "slot", slot, slots, config, document, bound.span)
                continue
            if bound.listed and len(bound.services) > 1 and not slots[slot].many and self._called(unit, slot):
                self.report("P206", f"{where} binds the slot `{slot}` to several services, and it takes one",
                            document, bound.span)  # fmt: skip
            for number, service in enumerate(bound.services):
                if isinstance(service, Instance):
                    inner = nested_name(name, bound, number)
                    self.check_instance(service, document, (*around, instance), inner)
                elif not self.resolves(service, document):
                    close = nearest(service, Scope(self, document).names())
                    hint = did_you_mean(close[:1]) or self._where(service, document)
                    self.report("P202", f"{where} binds `{slot}` to `{service}`, which is not found",
                                document, bound.span, hint, service)  # fmt: skip
                else:
                    self._nested(service, document, (*around, instance))
        for key, value in instance.config.items():
            if key not in config:
                self._unknown(where, "config key", key, config, slots, document, instance.config_spans[key])
                continue
            try:
                fitted(value, config[key], text=False)
            except Mismatch as error:
                self.report("P211", f"{where} sets `{key}`, which {error}", document, instance.config_spans[key])
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
        self.look_at(self.unit(name, document))

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
            hint = did_you_mean(close[:1]) or f"it has {', '.join(known) or 'none'}"
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
            within = next(entry for entry in document.entries if instance in entry.instances)
            return self.instantiate(instance, document, instance.name, within)
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
                                     hint=did_you_mean(close[:1]))  # fmt: skip
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
                             hint=did_you_mean(close[:1]))  # fmt: skip
        return self.unit_service(Unit(document, entry), entry.name)

    def unit_service(
        self,
        unit: Unit,
        name: str,
        slots: Mapping[str, Value] | None = None,
        config: Mapping[str, Value] | None = None,
        within: Entry | None = None,
    ) -> Service:
        """An entry as a service: its body, or work for a model. Only an instance has `config`, and stands `within` an
        entry whose inputs it may inherit (L7). Raises CheckError for an entry that cannot run."""
        broken = [item for item in unit.document.diagnostics if item.severity is Severity.ERROR]
        if broken:
            raise CheckError.from_diagnostics(broken)
        if unit.entry.body is None:
            registered = self.registered.get(unit.entry.name)
            return self.standing_in(registered, unit) if registered is not None else self.by_model(unit, name)
        program = self.program(unit)
        if program.errors:
            raise CheckError.from_diagnostics(program.diagnostics)
        find = self.finder(unit.document)
        return BoundPattern(name, self.compiled(program), slots or {}, config or {}, find, within=within)

    def instantiate(self, instance: Instance, document: Document, name: str, within: Entry) -> Service:
        """An instance as a service; those nested in it are called `outer.slot[k]` (L7). It stands `within` an entry."""
        unit = self.unit(instance.pattern, document)
        assert unit is not None, "instances are checked before they are made"
        slots: dict[str, Value] = {}
        many = {slot.name for slot in unit.entry.slots if slot.many}
        for slot, bound in instance.slots.items():
            references: list[Value] = []
            for number, service in enumerate(bound.services):
                if isinstance(service, Instance):
                    inner = nested_name(name, bound, number)
                    references.append(
                        ServiceRef(service.name or inner, self.instantiate(service, document, inner, within))
                    )
                else:
                    references.append(ServiceRef(service, self.service(service, document)))
            listed = slot in many or (bound.listed and len(references) != 1)
            slots[slot] = references if listed else references[0]
        items = {item.name: item for item in unit.entry.config}
        config = {key: fitted(value, items[key], text=False) for key, value in instance.config.items()}
        return self.unit_service(unit, name, slots, config, within)

    @property
    def errors(self) -> list[Diagnostic]:
        return [item for item in self.found if item.severity is Severity.ERROR]


def nested_name(outer: str, bound: InstanceSlot, number: int) -> str:
    """What a nested instance without a name of its own is called (L7): `outer.slot`, `outer.slot[k]` in a list."""
    return f"{outer}.{bound.name}[{number}]" if bound.listed else f"{outer}.{bound.name}"


def _empty_program(unit: Unit) -> Program:
    return analyze(unit.document, attrs.evolve(unit.entry, body=None))
