"""The engine: the one place that assembles the parts. Immutable, shareable between threads and event loops.

    Document ─▶ Linker ─▶ Program ─▶ Code ─▶ BoundPattern ─▶ Run with its handlers ─▶ Outcome

What does not change from run to run (programs, code, bound patterns) is kept; what does (counters, the trace, scripted
replies) is made for each run.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, NamedTuple

import attrs

from prose_lang.diagnostics import (
    CheckError,
    Diagnostic,
    LimitError,
    ProseError,
    SourceError,
    sort_diagnostics,
)
from prose_lang.diagnostics.redact import Redactor
from prose_lang.documents.loader import Loader
from prose_lang.documents.model import FUNCTION_KINDS, Document, Entry
from prose_lang.documents.reader import read_document
from prose_lang.engine.binding import Binder
from prose_lang.engine.conversations import ConversationFiles
from prose_lang.engine.given import Given
from prose_lang.engine.linker import Linker, Unit
from prose_lang.engine.outcome import Outcome, status_of
from prose_lang.engine.pattern import Pattern
from prose_lang.engine.preflight import check_models
from prose_lang.handlers import Limits, Recorder, compose
from prose_lang.handlers.clock import LoopClock
from prose_lang.handlers.limits import Limiter
from prose_lang.handlers.trace import Observer
from prose_lang.runtime.activation import Run
from prose_lang.runtime.compiler.code import Code
from prose_lang.runtime.compiler.compiler import compile_program
from prose_lang.runtime.conversations import Memory
from prose_lang.runtime.effects import Service
from prose_lang.runtime.patterns import BoundPattern, whole_place
from prose_lang.runtime.whole import WholeCall
from prose_lang.semantics import Environment, Program
from prose_lang.services import Script, WorkerThreads, as_service, parse_reference, scripted_services
from prose_lang.services.models.completion import Completion
from prose_lang.services.models.definition import ModelDefinition
from prose_lang.services.models.models import Models
from prose_lang.services.models.service import ModelService
from prose_lang.services.models.settings import ModelSettings
from prose_lang.text import Source
from prose_lang.values import ServiceRef, TooLarge, Value, handout

#: How many bound patterns and adapted functions an engine keeps.
_KEPT = 256


class Engine:
    """Checks and runs patterns on registered services.

    `services` are functions, services or a mapping of them by name; `script` holds scripted services, with counters
    of their own in every run; `judge` answers conditions that no rule decides: a name, a function or a service.
    `conditions` maps the text of a condition (or `NAME: text` for one pattern's) to a predicate over the values it
    names (L30.0). `model` is the default model, `PROVIDER/MODEL` or an alias; `models` says more about models, and
    `completion` answers their requests in litellm's place. `observers` are told every event, and with
    `stream` also the text of models while it comes (`TextDelta`). With `trace` off no calls
    are kept, so that a run of any length needs the same memory. `root` is the project's folder, where it is not to be
    found from the file.

    >>> engine = Engine(services={"shout": lambda text: text.upper()})
    >>> engine.run(engine.loads('call shout\\n  text: "hi"'), {}).value
    'HI'
    """

    def __init__(
        self,
        *,
        services: Iterable[Any] | Mapping[str, Any] = (),
        script: Script | None = None,
        judge: Any = None,
        model: str | None = None,
        models: ModelSettings | None = None,
        completion: Completion | None = None,
        limits: Limits | None = None,
        observers: Iterable[Observer] = (),
        conditions: Mapping[str, Callable[..., Any]] | None = None,
        stream: bool = False,
        strict: bool = False,
        trace: bool = True,
        max_depth: int = 200,
        max_passes: int = 1000,
    ) -> None:
        self._threads = WorkerThreads()
        self._adapted: OrderedDict[tuple[Any, str | None], Service] = OrderedDict()
        self._lock = threading.Lock()
        self._linking = threading.RLock()  # links are made by one thread at a time, and kept
        self.models = Models(_with_default(models or ModelSettings(), model), completion)
        self._session = ModelService("session", self.models)
        self.loader = Loader()
        self.services: Mapping[str, Service] = self._registered(services)
        self.script = script
        self.judge = judge
        self.limits = limits or Limits()
        self.observers = tuple(observers)
        self.conditions = dict(conditions or {})
        self.stream = stream
        self.strict = strict
        self.trace = trace
        self.max_depth = max_depth
        self.max_passes = max_passes
        self._codes: OrderedDict[Program, Code] = OrderedDict()
        self._links: OrderedDict[Entry, _Linked] = OrderedDict()

    # --- loading and checking ----------------------------------------------------------------------------------------

    def load(self, reference: str | os.PathLike[str]) -> Pattern:
        """Load a pattern by path, `stdlib:NAME` or bare library name; `PATH#ENTRY` for an inline entry.

        Raises SourceError if it cannot be found or read. What is wrong inside it is for `check` and `run` to say.
        """
        path, part = os.fspath(reference), ""
        if not path.endswith(".md"):
            path, _, part = path.partition("#")
        document = self.loader.load(path)
        if not part:
            return Pattern(document, document.main, self)
        entry = document.entry(part)
        if entry is None:
            raise SourceError("P109", f"`{path}` has no entry `{part}`")
        return Pattern(document, entry, self)

    def loads(self, text: str, name: str = "<text>") -> Pattern:
        """A pattern from its text: a whole file, or a bare delegation body (L2)."""
        document = read_document(Source(name, text))
        return Pattern(document, document.main, self)

    def check(self, pattern: Pattern) -> list[Diagnostic]:
        """Everything that can be said of a pattern before it is given anything, sorted by position."""
        return sort_diagnostics(self._checked(pattern, self._new_linker(self.services)).found)

    def program(self, pattern: Pattern) -> Program:
        """The checked program of a pattern, errors and all."""
        return self._new_linker(self.services).program(Unit(pattern.document, pattern.entry))

    def environment(self, document: Document) -> Environment:
        """What the bodies of a document can call by name, for tools that look at them without running them."""
        return self._new_linker(self.services).scope(document)

    def _checked(self, pattern: Pattern, linker: Linker) -> Linker:
        linker.found.extend(pattern.document.diagnostics)
        linker.program(Unit(pattern.document, pattern.entry))
        for entry in pattern.document.entries:
            for instance in entry.instances:
                linker.check_instance(instance, pattern.document, ())
            if entry.body is not None:
                linker.program(Unit(pattern.document, entry))
        return linker

    # --- running -----------------------------------------------------------------------------------------------------

    def run(self, pattern: Pattern, names: Mapping[str, Any]) -> Outcome:
        """Run a pattern with slots, inputs and config keys by name; blocks until it ends.

        Raises ProseError with the partial outcome in `.outcome`, and RuntimeError inside a running event loop.
        """
        _outside_loop()
        return _value_or_error(asyncio.run(self._alone(self.outcome_async(pattern, names))))

    async def run_async(self, pattern: Pattern, names: Mapping[str, Any]) -> Outcome:
        """The same inside a running event loop. Cancelling it cancels the run, and waits for its calls."""
        return _value_or_error(await self.outcome_async(pattern, names))

    def outcome(self, pattern: Pattern, names: Mapping[str, Any]) -> Outcome:
        """Like `run`, but never raises for an error of the pattern or its run: the outcome's status tells.

        An interrupt (Ctrl-C, or SIGTERM) cancels the run, waits for its calls, and is a status too.
        """
        _outside_loop()
        from prose_lang.engine.interrupts import run_interruptible

        holder: list[Outcome] = []
        return run_interruptible(self._alone(self.outcome_async(pattern, names, holder)), holder)

    async def _alone(self, work: Coroutine[Any, Any, Outcome]) -> Outcome:
        """The whole work of an event loop: what models keep open for it is closed with it."""
        try:
            return await work
        finally:
            await self.models.release()

    async def outcome_async(
        self, pattern: Pattern, names: Mapping[str, Any], interrupted: list[Outcome] | None = None
    ) -> Outcome:
        """Run and tell how it ended. A cancelled run leaves its partial outcome in `interrupted` and is cancelled."""
        run_id = new_run_id()
        try:
            with self._linking:
                bound, inputs, judge, diagnostics, registered = self._prepare(pattern, names)
        except ProseError as error:
            return Outcome(run_id, "invalid", error=error, diagnostics=error.diagnostics)
        clock = LoopClock()
        recorder = Recorder(clock, self.observers, keep=self.trace, stream=self.stream)
        limiter = Limiter(self.limits, clock)
        run = Run(
            run_id=run_id,
            strict=self.strict,
            max_depth=self.max_depth,
            max_passes=self.max_passes,
            judge=judge,
            session=self._sessions(registered),
            memory=Memory(ConversationFiles(lambda: self.loader.root(pattern.document), self._redactor)),
            rules=self.conditions,
            on_warning=recorder.warned,
            on_decision=recorder.decided if self.trace or self.observers else None,
            on_event=recorder.noted if self.trace or self.observers else None,
        )
        run.perform, run.perform_composite = compose(recorder, limiter, clock, run_id)

        def ended(status: str, value: Value = None, error: ProseError | None = None) -> Outcome:
            found = (*diagnostics, *(error.diagnostics if error is not None else ()))
            made = Outcome(run_id, status, value, error, tuple(found), recorder)
            if error is not None:
                error.outcome = made
            return made

        try:
            value = await self._walk(bound, run, inputs)
        except ProseError as error:
            return ended(status_of(error), error=error)
        except MemoryError:
            place = whole_place(bound.program)
            reason = "the run needs more memory than there is"
            return ended("limited", error=LimitError("P405", reason, source=place.source, span=place.span))
        except asyncio.CancelledError:
            if interrupted is not None:
                interrupted.append(ended("interrupted"))
            raise
        return ended("ok", value)

    async def _walk(self, bound: BoundPattern | WholeCall, run: Run, inputs: Mapping[str, Value]) -> Value:
        """The run itself, within its wall time."""
        place = whole_place(bound.program)
        seconds = self.limits.seconds
        if seconds is None:
            return written_out(await bound.run(run, inputs, place), bound, place)
        scope = asyncio.timeout(seconds)
        try:
            async with scope:
                return written_out(await bound.run(run, inputs, place), bound, place)
        except TimeoutError:
            if not scope.expired():
                raise
            raise LimitError("P405", f"the run's time of {seconds:g} s is over", source=place.source, span=place.span,
                             hint="raise the limit if that is what you want (--timeout)") from None  # fmt: skip

    # --- preparing ---------------------------------------------------------------------------------------------------

    def _prepare(
        self, pattern: Pattern, names: Mapping[str, Any]
    ) -> tuple[
        BoundPattern | WholeCall, dict[str, Value], Service | None, tuple[Diagnostic, ...], Mapping[str, Service]
    ]:
        """Link, check and bind; what services are registered is told too.

        Raises CheckError with everything that is wrong.
        """
        linked = self._linked_kept(pattern)
        key = _key_of(pattern.entry, names)
        binder = Binder(linked.linker, pattern.document, self._adapt)
        kept = linked.bound.get(key)
        slots = {} if kept is not None else binder.slots(linked.program, names)
        inputs = binder.values(linked.program, names)
        if binder.found:
            raise CheckError.from_diagnostics(sort_diagnostics([*linked.diagnostics, *binder.found]))
        judge = self._judge(binder) if self.judge is not None else None
        if kept is None:
            unit = Unit(pattern.document, pattern.entry)
            service = linked.linker.whole(unit, slots)
            made = service if isinstance(service, BoundPattern) else WholeCall(unit.entry.name, linked.program, service)
            check_models(made, judge, self.models, self._sessions(linked.linker.registered))
            # The names are kept with it: the key holds identities, which are theirs as long as they live.
            kept = (dict(names), made)
            self._keep(linked.bound, key, kept)
        return kept[1], inputs, judge, linked.diagnostics, linked.linker.registered

    def _linked_kept(self, pattern: Pattern) -> _Linked:
        """The links of a pattern; the same ones in every run, unless scripted replies make each run's services new."""
        if self.script is None:
            linked = self._links.get(pattern.entry)
            if linked is None:
                linked = self._linked(pattern, self.services)
                self._keep(self._links, pattern.entry, linked)
            return linked
        scripted = {name: service.for_run() for name, service in scripted_services(self.script).items()}
        return self._linked(pattern, {**self.services, **scripted})

    def _linked(self, pattern: Pattern, registered: Mapping[str, Service]) -> _Linked:
        entry, document = pattern.entry, pattern.document
        if entry.kind not in FUNCTION_KINDS and entry.kind != "pattern":
            reason = "is a test" if entry.kind == "test" else f"is a {entry.kind}, which belongs to a standing reactor"
            raise CheckError("P104", f"`{entry.name}` {reason}; it is not run", source=document.source, span=entry.span)
        linker = self._checked(pattern, self._new_linker(registered))
        diagnostics = sort_diagnostics(linker.found)
        if linker.errors:
            raise CheckError.from_diagnostics(diagnostics)
        return _Linked(linker, linker.program(Unit(document, entry)), tuple(diagnostics), OrderedDict())

    def _judge(self, binder: Binder) -> Service:
        if isinstance(self.judge, str):
            found: ServiceRef = binder.named(parse_reference(self.judge, trusted=True))
        elif isinstance(self.judge, Given):
            found = binder.reference(self.judge.value, self.judge.trusted)
        else:
            found = binder.reference(self.judge, True)
        service: Service = found.target
        return service

    def _adapt(self, thing: Any, name: str | None = None) -> Service:
        """A Python callable as a service, the same one each time; a definition as a model service of this engine."""
        if isinstance(thing, ModelDefinition):
            return ModelService(
                name or thing.name, self.models, thing.contract, thing.signature, thing.model,
                parameters=dict(thing.parameters), max_concurrency=thing.max_concurrency,
            )  # fmt: skip
        key = (thing, name)
        try:
            known = self._adapted.get(key)
        except TypeError:  # not hashable
            return as_service(thing, name=name, threads=self._threads)
        if known is None:
            known = as_service(thing, name=name, threads=self._threads)
            self._keep(self._adapted, key, known)
        return known

    def _sessions(self, registered: Mapping[str, Service]) -> Callable[[str | None], Service]:
        """What does the session of an agent: the service of its name, else that of all sessions, else a model (L29)."""
        others = registered.get("session", self._session)
        return lambda agent: registered.get(agent, others) if agent is not None else others

    def _redactor(self) -> Redactor:
        return Redactor.from_environment(self.models.keys.environ, self.models.keys.secrets)

    def _keep(self, kept: OrderedDict[Any, Any], key: Any, value: Any) -> None:
        with self._lock:
            kept[key] = value
            if len(kept) > _KEPT:
                kept.popitem(last=False)

    def _compiled(self, program: Program) -> Code:
        code = self._codes.get(program)
        if code is None:
            code = compile_program(program)
            self._keep(self._codes, program, code)
        return code

    def _new_linker(self, registered: Mapping[str, Service]) -> Linker:
        return Linker(self.loader, registered, self._adapt, self._compiled, self.models)

    def _registered(self, services: Iterable[Any] | Mapping[str, Any]) -> dict[str, Service]:
        pairs = services.items() if isinstance(services, Mapping) else ((None, thing) for thing in services)
        made: dict[str, Service] = {}
        for name, thing in pairs:
            service = self._adapt(thing, name)
            if service.name in made:
                raise ValueError(f"two services are called {service.name!r}")
            made[name or service.name] = service
        return made


def _with_default(settings: ModelSettings, model: str | None) -> ModelSettings:
    return settings if model is None else attrs.evolve(settings, default=model.removeprefix("model:"))


def written_out(value: Value, bound: BoundPattern | WholeCall, place: Any) -> Value:
    """The value of a run as its receiver gets it: a copy, with references written as names."""
    try:
        return handout(value)
    except TooLarge as error:
        place.fail("P305", f"the result of `{bound.name}` cannot be written out: {error}")


def new_run_id() -> str:
    """An identifier that sorts by time: hexadecimal milliseconds and six random digits."""
    return f"{int(time.time() * 1000):x}-{os.urandom(3).hex()}"


class _Linked(NamedTuple):
    """A checked pattern with its links, and what it was bound to in earlier runs."""

    linker: Linker
    program: Program
    diagnostics: tuple[Diagnostic, ...]
    bound: OrderedDict[Any, tuple[Mapping[str, Any], BoundPattern | WholeCall]]


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


def _outside_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("`run` cannot be used inside a running event loop; await `arun` (or `run_async`) instead")


def _value_or_error(outcome: Outcome) -> Outcome:
    if outcome.error is not None:
        outcome.error.outcome = outcome
        raise outcome.error
    return outcome
