"""From a pattern to what can be run: linked, checked, and bound to what it is given; and what of it is kept.

Programs, code, links and bound patterns are the same in every run with the same services, and are made once. What names
mean is `linker.py`, what a run is given is `binding.py`; carrying it out is `running.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from prose_lang.diagnostics import CheckError, Diagnostic, sort_diagnostics
from prose_lang.documents.loader import Loader
from prose_lang.documents.model import FUNCTION_KINDS, Document, Entry
from prose_lang.documents.reader import read_document
from prose_lang.engine.adapting import Adapter
from prose_lang.engine.binding import Binder
from prose_lang.engine.given import Given
from prose_lang.engine.kept import Kept
from prose_lang.engine.linker import Linker, Unit
from prose_lang.engine.pattern import Pattern
from prose_lang.engine.preflight import check_models
from prose_lang.engine.refusals import kind_refused
from prose_lang.runtime.compiler.code import Code
from prose_lang.runtime.compiler.compiler import compile_program
from prose_lang.runtime.compiler.probe import Probe
from prose_lang.runtime.effects import Service
from prose_lang.runtime.patterns import BoundPattern
from prose_lang.runtime.served import ServedContract
from prose_lang.semantics import Program, parse_body
from prose_lang.services import Script, parse_reference, scripted_services
from prose_lang.services.models.models import Models
from prose_lang.services.models.service import ModelService
from prose_lang.syntax import Parsed
from prose_lang.text import Source
from prose_lang.values import ServiceRef, Value

#: What a run is of: a program with its slots bound, or a contract with the service that does its work.
Runnable: TypeAlias = BoundPattern | ServedContract


class Linked(NamedTuple):
    """A checked pattern with its links, and what it was bound to in earlier runs."""

    linker: Linker
    program: Program
    diagnostics: tuple[Diagnostic, ...]
    bound: Kept[Any, tuple[Mapping[str, Any], Runnable, frozenset[Document]]]
    #: What the pattern itself reaches, and of one run what its slots are bound to besides.
    documents: frozenset[Document]

    @property
    def reached(self) -> frozenset[Document]:
        """That, and what its slots have been bound to."""
        return frozenset(self.linker.documents)


class Prepared(NamedTuple):
    """What a run needs before it starts."""

    bound: Runnable
    inputs: dict[str, Value]
    judge: Service | None
    linked: Linked


class Preparing:
    """Links, checks and binds the patterns of one engine.

    `services` are the engine's by name, `script` those that are new in every run; `probe` is told of what compiled code
    goes through.
    """

    def __init__(
        self,
        loader: Loader,
        adapter: Adapter,
        models: Models,
        services: Mapping[str, Service],
        script: Script | None,
        probe: Probe | None,
    ) -> None:
        self._loader = loader
        self._adapt = adapter.service
        self._models = models
        self._services = services
        self._script = script
        self._probe = probe
        self._session = ModelService("session", models)
        self._linking = threading.RLock()  # links are made by one thread at a time, and kept
        self._codes: Kept[Program, Code] = Kept()
        self._links: Kept[Entry, Linked] = Kept()
        self._trees: Kept[Entry, Parsed] = Kept()

    # --- linking and checking ----------------------------------------------------------------------------------------

    def linker(self, registered: Mapping[str, Service] | None = None) -> Linker:
        """What links names anew, to these services or the engine's own."""
        services = self._services if registered is None else registered
        return Linker(self._loader, services, self._adapt, self._compiled, self._models, self._parsed)

    def checked(self, pattern: Pattern, registered: Mapping[str, Service] | None = None) -> Linker:
        """A linker that has been through all bodies and instances of a pattern's document, and has noted faults."""
        linker = self.linker(registered)
        linker.visit(pattern.document)
        linker.program(Unit(pattern.document, pattern.entry))
        for entry in pattern.document.entries:
            for instance in entry.instances:
                linker.check_instance(instance, pattern.document, ())
            if entry.body is not None:
                linker.program(Unit(pattern.document, entry))
        return linker

    def _linked_kept(self, pattern: Pattern, services: Mapping[str, Service] | None) -> Linked:
        """The links of a pattern; the same ones in every run, unless scripted replies make each run's services new."""
        if services is not None:
            return self._linked(pattern, {**self._services, **services})
        if self._script is None:
            linked = self._links.get(pattern.entry)
            if linked is None:
                linked = self._linked(pattern, self._services)
                self._links.keep(pattern.entry, linked)
            return linked
        scripted = {name: service.for_run() for name, service in scripted_services(self._script).items()}
        return self._linked(pattern, {**self._services, **scripted})

    def _linked(self, pattern: Pattern, registered: Mapping[str, Service]) -> Linked:
        entry, document = pattern.entry, pattern.document
        if entry.kind not in FUNCTION_KINDS and entry.kind != "pattern":
            raise kind_refused(document, entry)
        linker = self.checked(pattern, registered)
        diagnostics = sort_diagnostics(linker.found)
        if linker.errors:
            raise CheckError.from_diagnostics(diagnostics)
        program = linker.program(Unit(document, entry))
        return Linked(linker, program, tuple(diagnostics), Kept(), frozenset(linker.documents))

    def _compiled(self, program: Program) -> Code:
        code = self._codes.get(program)
        if code is None:
            code = compile_program(program, self._probe)
            self._codes.keep(program, code)
        return code

    def _parsed(self, document: Document, entry: Entry) -> Parsed:
        """The tree of a body; what its names mean may differ from run to run, the tree does not."""
        tree = self._trees.get(entry)
        if tree is None:
            tree = parse_body(document, entry)
            self._trees.keep(entry, tree)
        return tree

    # --- binding -----------------------------------------------------------------------------------------------------

    def prepared(
        self,
        pattern: Pattern,
        names: Mapping[str, Any],
        services: Mapping[str, Service] | None,
        judge: Any,
        *,
        asks: bool = True,
    ) -> Prepared:
        """Link, check and bind. Raises CheckError with everything that is wrong. With `asks` off no model will be
        asked, and none needs a key. `judge` is a name, a function, a service, or None where there is none."""
        with self._linking:
            linked = self._linked_kept(pattern, services)
            key = _key_of(pattern.entry, names)
            binder = Binder(linked.linker, pattern.document, self._adapt)
            kept = linked.bound.get(key)
            if kept is None and linked.reached > linked.documents:
                # The sources of what it was bound to before are no part of this run (L35).
                linked = self._linked(pattern, linked.linker.registered)
                binder = Binder(linked.linker, pattern.document, self._adapt)
                if services is None and self._script is None:
                    self._links.keep(pattern.entry, linked)
            slots = {} if kept is not None else binder.slots(linked.program, names)
            inputs = binder.values(linked.program, names)
            if binder.found:
                raise CheckError.from_diagnostics(sort_diagnostics([*linked.diagnostics, *binder.found]))
            asked = _judge(binder, judge) if judge is not None else None
            if kept is None:
                unit = Unit(pattern.document, pattern.entry)
                service = linked.linker.unit_service(unit, pattern.entry.name, slots)
                made = service if isinstance(service, BoundPattern) else ServedContract(linked.program, service)
                # The names are kept with it: the key holds identities, which are theirs as long as they live.
                kept = (dict(names), made, linked.reached)
                if asks:
                    check_models(made, asked, self._models, self.sessions(linked.linker.registered))
                    linked.bound.keep(key, kept)
            if linked.documents != kept[2]:
                linked = linked._replace(documents=kept[2])
            return Prepared(kept[1], inputs, asked, linked)

    def bound(self, pattern: Pattern, slots: Mapping[str, Any]) -> BoundPattern:
        """A pattern with its slots bound, and nothing else. Raises CheckError with all that is wrong."""
        with self._linking:
            linked = self._linked_kept(pattern, None)
            binder = Binder(linked.linker, pattern.document, self._adapt)
            bound = binder.slots(linked.program, slots)
            if binder.found:
                raise CheckError.from_diagnostics(sort_diagnostics(binder.found))
            made = linked.linker.unit_service(Unit(pattern.document, pattern.entry), pattern.entry.name, bound)
        assert isinstance(made, BoundPattern), "an entry with a body is a bound pattern"
        return made

    def judge_alone(self, judge: Any, services: Mapping[str, Service] | None) -> Service:
        """The judge of texts that stand in no program. Raises ProseError for one that is none, or has no key."""
        with self._linking:
            linker = self.linker({**self._services, **(services or {})})
            asked = _judge(Binder(linker, read_document(Source("<condition>", "")), self._adapt), judge)
            check_models(None, asked, self._models)
        return asked

    def sessions(self, registered: Mapping[str, Service] | None = None) -> Callable[[str | None], Service]:
        """What does the session of an agent: the service of its name, else that of all sessions, else a model (L29)."""
        services = self._services if registered is None else registered
        others = services.get("session", self._session)
        return lambda agent: services.get(agent, others) if agent is not None else others


def _judge(binder: Binder, judge: Any) -> Service:
    if isinstance(judge, str):
        found: ServiceRef = binder.named(parse_reference(judge, trusted=True))
    elif isinstance(judge, Given):
        found = binder.reference(judge.value, judge.trusted)
    else:
        found = binder.reference(judge, True)
    service: Service = found.target
    return service


def _key_of(entry: Entry, names: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a bound pattern is kept under: the services of its slots, and how far a text that names one is trusted."""
    parts: list[Any] = []
    for slot in entry.slots:
        value, how = names.get(slot.name), (False, False)
        if type(value) is Given:
            value, how = value.value, (value.trusted, value.text)
        if isinstance(value, (list, tuple)):
            parts.append((how, *[one if isinstance(one, str) else id(one) for one in value]))
        else:
            parts.append((how, value) if isinstance(value, str) else id(value))
    return tuple(parts)
