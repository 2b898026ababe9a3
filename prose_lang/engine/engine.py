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
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import attrs

from prose_lang.diagnostics import (
    CheckError,
    Diagnostic,
    LimitError,
    ProseError,
    SourceError,
    sort_diagnostics,
)
from prose_lang.documents.loader import Loader
from prose_lang.documents.model import FUNCTION_KINDS, Document, Entry
from prose_lang.documents.reader import read_document
from prose_lang.engine.binding import Binder
from prose_lang.engine.conversations import ConversationFiles
from prose_lang.engine.decisions import Decisions
from prose_lang.engine.given import Given
from prose_lang.engine.interrupts import to_its_end
from prose_lang.engine.linker import Linker, Unit
from prose_lang.engine.loops import outside_loop
from prose_lang.engine.outcome import DecisionRecord, Outcome, status_of
from prose_lang.engine.pattern import Pattern
from prose_lang.engine.preflight import check_models
from prose_lang.engine.recalled_replies import recall_replies
from prose_lang.engine.recording import (
    About,
    Continued,
    Recording,
    Records,
    about,
    limits_data,
    recorded_further,
)
from prose_lang.engine.refusals import kind_refused
from prose_lang.engine.resuming import Resuming, still_the_same
from prose_lang.handlers import Limits, Recorder, compose
from prose_lang.handlers.cache import MODES, Cache, Mode
from prose_lang.handlers.clock import LoopClock
from prose_lang.handlers.limits import Limiter
from prose_lang.handlers.trace import Observer
from prose_lang.journal import DURABILITIES, Store, StoreError
from prose_lang.runtime.activation import Run
from prose_lang.runtime.compiler.code import Code
from prose_lang.runtime.compiler.compiler import compile_program
from prose_lang.runtime.compiler.probe import Probe
from prose_lang.runtime.conversations import Memory
from prose_lang.runtime.effects import Service
from prose_lang.runtime.patterns import BoundPattern
from prose_lang.runtime.served import ServedContract
from prose_lang.semantics import Environment, Program, analyze_condition, parse_body
from prose_lang.services import Script, WorkerThreads, as_service, parse_reference, scripted_services
from prose_lang.services.models.completion import Completion
from prose_lang.services.models.definition import ModelDefinition
from prose_lang.services.models.models import Models
from prose_lang.services.models.service import ModelService
from prose_lang.services.models.settings import ModelSettings
from prose_lang.syntax import Parsed
from prose_lang.text import Source
from prose_lang.values import ServiceRef, TooLarge, Value, handout

#: What a run is of: a program with its slots bound, or a contract with the service that does its work.
Runnable: TypeAlias = BoundPattern | ServedContract
if TYPE_CHECKING:
    from prose_lang.cassettes import Cassette, Part
    from prose_lang.handlers.remote import Remote
    from prose_lang.transports import Transport

#: How many bound patterns and adapted functions an engine keeps.
_KEPT = 256


class Engine:
    """Checks and runs patterns on registered services.

    `services` are functions, services or a mapping of them by name; `script` holds scripted services, with counters
    of their own in every run; `judge` answers conditions that no rule decides: a name, a function or a service.
    `conditions` maps the text of a condition (or `NAME: text` for one pattern's) to a predicate over the values it
    names (L30.0). `model` is the default model, `PROVIDER/MODEL` or an alias; `models` says more about models, and
    `completion` answers their requests in litellm's place. With `live` off (or `PROSE_NO_LIVE_CALLS` set) no model is
    ever asked (P410). `transport` carries calls of registered services and models to workers (`prose worker`), instead
    of doing them here. `cassette` records what services answer, or answers in their place. `observers` are told every
    event, and with `stream` also the text of models while it comes (`TextDelta`). With `trace` off no calls are kept,
    so that a run of any length needs the same memory. A `probe` is told which statements the runs go through and how
    conditions fall (`prose_lang.testing.coverage`). `max_depth` and `max_passes` are the ceilings of P307 and P306.

    `store`, a folder, a URL or a store, is where runs are recorded, so that they can be gone on with (`resume`).
    `durability` is `normal`, where a finished call survives the death of the process, or `full`, where it survives the
    loss of power. `on_store_error` is `continue`, where a run that cannot be recorded goes on without, or `stop`.
    `cache` is `read`, `write` or `both`: answers of models are taken from that store, kept there, or both.

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
        cassette: Cassette | None = None,
        transport: Transport | None = None,
        live: bool = True,
        limits: Limits | None = None,
        observers: Iterable[Observer] = (),
        conditions: Mapping[str, Callable[..., Any]] | None = None,
        stream: bool = False,
        strict: bool = False,
        trace: bool = True,
        max_depth: int = 200,
        max_passes: int = 1000,
        probe: Probe | None = None,
        store: str | os.PathLike[str] | Store | None = None,
        durability: str = "normal",
        on_store_error: str = "continue",
        cache: Mode | None = None,
    ) -> None:
        self._threads = WorkerThreads()
        self._adapted: OrderedDict[tuple[Any, str | None], Service] = OrderedDict()
        self._lock = threading.Lock()
        self._linking = threading.RLock()  # links are made by one thread at a time, and kept
        replayed = cassette is not None and cassette.mode == "replay"
        settings = _with_default(models or ModelSettings(), model)
        self.models = Models(settings, completion, live=live, replayed=replayed, elsewhere=transport is not None)
        self.transport = None if replayed else transport
        self.cassette = cassette.part() if cassette is not None else None
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
        self.probe = probe
        if durability not in DURABILITIES or on_store_error not in ("continue", "stop"):
            raise ValueError("durability is normal or full, on_store_error is continue or stop")
        self.records = Records(store, durability, stop=on_store_error == "stop") if store is not None else None
        if cache is not None and cache not in MODES:
            raise ValueError(f"cache is {', '.join(MODES)}, or None; not {cache!r}")
        if cache is not None and store is None:
            raise ValueError("cached answers are kept in a store: give one (store=…)")
        self.cache = cache
        self._codes: OrderedDict[Program, Code] = OrderedDict()
        self._links: OrderedDict[Entry, _Linked] = OrderedDict()
        self._trees: OrderedDict[Entry, Parsed] = OrderedDict()

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
        return self.checked(pattern)[0]

    def checked(self, pattern: Pattern) -> tuple[list[Diagnostic], list[Program]]:
        """What `check` says, and the programs of all bodies of the pattern's document in their order."""
        linker = self._checked(pattern, self._new_linker(self.services))
        document = pattern.document
        programs = [linker.program(Unit(document, entry)) for entry in document.entries if entry.body is not None]
        return sort_diagnostics(linker.found), programs

    def program(self, pattern: Pattern) -> Program:
        """The checked program of a pattern, errors and all."""
        return self._new_linker(self.services).program(Unit(pattern.document, pattern.entry))

    def linked(self, pattern: Pattern) -> Linker:
        """What links a pattern's names, for tools that look at it. Raises CheckError with all faults of the file."""
        linker = self._checked(pattern, self._new_linker(self.services))
        if linker.errors:
            raise CheckError.from_diagnostics(sort_diagnostics(linker.found))
        return linker

    def environment(self, document: Document) -> Environment:
        """What the bodies of a document can call by name, for tools that look at them without running them."""
        return self._new_linker(self.services).scope(document)

    def service(self, thing: Any) -> Service:
        """What a slot would be bound to: a function or another callable as a service, a service as it is.

        Raises CheckError P202 for anything else.

        >>> Engine().service(len).name
        'len'
        """
        return self._adapt(thing)

    def bound(self, pattern: Pattern, slots: Mapping[str, Any]) -> BoundPattern:
        """A pattern with its slots bound, as a service: what it is called with are its inputs and config keys.

        Its calls belong to the run that calls it. Raises CheckError with all that is wrong.
        """
        with self._linking:
            linked = self._linked_kept(pattern, None)
            binder = Binder(linked.linker, pattern.document, self._adapt)
            bound = binder.slots(linked.program, slots)
            if binder.found:
                raise CheckError.from_diagnostics(sort_diagnostics(binder.found))
            made = linked.linker.unit_service(Unit(pattern.document, pattern.entry), pattern.entry.name, bound)
        assert isinstance(made, BoundPattern), "an entry with a body is a bound pattern"
        return made

    def _checked(self, pattern: Pattern, linker: Linker) -> Linker:
        linker.visit(pattern.document)
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
        outside_loop("`run` cannot be used", "`arun` (or `run_async`)")
        return _value_or_error(asyncio.run(self._alone(self.outcome_async(pattern, names))))

    async def run_async(self, pattern: Pattern, names: Mapping[str, Any]) -> Outcome:
        """The same inside a running event loop. Cancelling it cancels the run, and waits for its calls."""
        return _value_or_error(await self.outcome_async(pattern, names))

    def outcome(self, pattern: Pattern, names: Mapping[str, Any], *, memory: Memory | None = None) -> Outcome:
        """Like `run`, but never raises for an error of the pattern or its run: the outcome's status tells.

        `memory` is that of `outcome_async`. An interrupt (Ctrl-C, or SIGTERM) cancels the run, waits for its calls, and
        is a status too.
        """
        return self.interruptible(lambda holder: self.outcome_async(pattern, names, holder, memory=memory))

    async def _alone(self, work: Coroutine[Any, Any, Outcome]) -> Outcome:
        """The whole work of an event loop: what models keep open for it is closed with it."""
        try:
            return await work
        finally:
            await self.models.release()

    async def outcome_async(
        self,
        pattern: Pattern,
        names: Mapping[str, Any],
        interrupted: list[Outcome] | None = None,
        *,
        services: Mapping[str, Service] | None = None,
        judge: Any = None,
        part: Part | None = None,
        memory: Memory | None = None,
        continued: Continued | None = None,
    ) -> Outcome:
        """Run and tell how it ended. A cancelled run leaves its partial outcome in `interrupted` and is cancelled.

        `services` are known in this run alone, in front of the engine's own and in the place of its script; `judge`
        is asked instead of the engine's. So the caller of a scripted run knows which replies were left. `part` is one
        of the engine's cassette that is this run's own. `memory` holds its conversations, in the place of the files in
        which they are kept (L29): nothing of a test, or of a run that is made to be looked at, belongs there; nor is
        such a run recorded. `continued` is a run that is gone on with (`resuming.py`).
        """
        part = part or self.cassette
        run_id = new_run_id() if continued is None else continued.record.id
        recording: Recording | None = None
        notes: list[StoreError] = []
        uncached: list[StoreError] = []
        cancelled = False
        try:
            if part is not None:
                part.cassette.check()
                if continued is not None and part.records:
                    part = recorded_further(part, continued.record)
            frozen = continued is not None and continued.frozen
            if self.transport is not None and not frozen:
                await self.transport.open()
            with self._linking:
                bound, inputs, asked, linked = self._prepare(pattern, names, services, judge, asks=not frozen)
            if self.records is not None and memory is None:
                redactor = self.models.keys.redactor
                what = about(pattern, linked.documents, names, inputs, self._options(judge, part), redactor())
                if continued is not None:
                    continued = self._taken_up(continued, what, bound, linked)
                    if not frozen:
                        services_known = linked.linker.registered.values()
                        recall_replies(services_known, self.records.store, run_id)
                begun = Recording.begin(self.records, run_id, pattern, what, redactor, notes.append, continued)
                recording, cancelled = await to_its_end(begun)
        except ProseError as error:
            if continued is not None and continued.hold is not None:
                continued.hold.release()
            return Outcome(run_id, "invalid", error=error, diagnostics=error.diagnostics)
        diagnostics = linked.diagnostics
        if memory is None:
            files = self.conversations(pattern, keep=continued is None or not continued.frozen)
            memory = Memory(files) if recording is None else recording.memory(files)
        cache = self._cache_of(recording, part, uncached.append)
        recorder, run = self._new_run(
            run_id, asked, part, keep=self.trace,
            session=self._sessions(linked.linker.registered), memory=memory, recording=recording, cache=cache,
        )  # fmt: skip

        def ended(status: str, value: Value = None, error: ProseError | None = None) -> Outcome:
            found = (*diagnostics, *(error.diagnostics if error is not None else ()))
            made = Outcome(run_id, status, value, error, tuple(found), recorder)
            if error is not None:
                error.outcome = made
            return made

        async def done(made: Outcome, *, cancelled: bool = False) -> Outcome:
            """Its record is ended with it, whatever else happens: an interrupt that comes now is told afterwards."""
            if cache is not None:
                cache.close()
            if recording is not None:
                _, again = await to_its_end(recording.finish(made))
                cancelled = cancelled or again
                made.unrecorded = notes[0] if notes else None
                made.uncached = uncached[0] if uncached else None
            if cancelled:
                if interrupted is not None:
                    interrupted.append(made)
                raise asyncio.CancelledError
            return made

        if cancelled:
            return await done(ended("interrupted"), cancelled=True)
        try:
            value = await self._walk(bound, run, inputs, 0.0 if recording is None else recording.before)
        except ProseError as error:
            return await done(ended(status_of(error), error=error))
        except MemoryError:
            place = bound.place
            reason = "the run needs more memory than there is"
            full = LimitError("P405", reason, source=place.source, span=place.span)
            return await done(ended("limited", error=full))
        except asyncio.CancelledError:
            return await done(ended("interrupted"), cancelled=True)
        return await done(ended("ok", value))

    def _taken_up(self, continued: Continued, what: About, bound: Runnable, linked: _Linked) -> Continued:
        """What is to be known of a run before it is gone on with: that it is the same, and what persons have answered.

        Raises ProseError P502 where it is not, and what is wrong with the answers.
        """
        assert self.records is not None, "a run that is gone on with has a store"
        store = self.records.store
        continued = still_the_same(continued, store, what)
        if continued.answers:
            from prose_lang.engine.answering import put_answers

            redactor = self.models.keys.redactor()
            put_answers(store, continued.record.id, continued.answers, bound, linked.linker, redactor)
        return continued

    async def _walk(self, bound: Runnable, run: Run, inputs: Mapping[str, Value], before: float) -> Value:
        """The run itself, within its wall time; `before` is how long earlier sessions have worked, in seconds."""
        place = bound.place
        seconds = self.limits.seconds
        if seconds is None:
            return written_out(await bound.run(run, inputs, place), bound, place)
        scope = asyncio.timeout(max(0.0, seconds - before))
        try:
            async with scope:
                return written_out(await bound.run(run, inputs, place), bound, place)
        except TimeoutError:
            if not scope.expired():
                raise
            raise LimitError("P405", f"the run's time of {seconds:g} s is over", source=place.source, span=place.span,
                             hint="raise the limit if that is what you want (--timeout)") from None  # fmt: skip

    def memory(self, pattern: Pattern, *, keep: bool = True) -> Memory:
        """The conversations that are kept where a pattern's project keeps them. With `keep` off they are read only."""
        return Memory(self.conversations(pattern, keep=keep))

    def conversations(self, pattern: Pattern, *, keep: bool = True) -> ConversationFiles:
        """The files of these conversations."""
        redactor = self.models.keys.redactor
        return ConversationFiles(lambda: self.loader.root(pattern.document), redactor, keep=keep)

    def _options(self, judge: Any, part: Part | None) -> dict[str, Any]:
        """How a run is made, as its record tells it."""
        judge = self.judge if judge is None else judge
        return {
            "limits": limits_data(self.limits),
            "strict": self.strict,
            "judge": judge if isinstance(judge, str) else None,
            "model": self.models.settings.default,
            "recording": part.recording if part is not None and part.records else None,
        }

    def _cache_of(
        self, recording: Recording | None, part: Part | None, told: Callable[[StoreError], None]
    ) -> Cache | None:
        """The cache of a run: of one that is on record, is no replay, and has no cassette."""
        if self.cache is None or recording is None or recording.store is None or recording.journal is None:
            return None
        if recording.journal.frozen or (part is not None and (part.replays or part.records)):
            return None
        return Cache(recording.store, self.cache, self.models.keys.redactor, told)

    def _new_run(
        self,
        run_id: str,
        judge: Service | None,
        part: Part | None,
        *,
        keep: bool,
        session: Callable[[str | None], Service],
        memory: Memory,
        recording: Recording | None = None,
        cache: Cache | None = None,
    ) -> tuple[Recorder, Run]:
        """A run with its handlers, and what records it."""
        clock = LoopClock()
        recorder = Recorder(clock, self.observers, keep=keep, stream=self.stream)
        journal = recording.journal if recording is not None else None
        recorder.keeper = journal
        told = keep or bool(self.observers) or journal is not None
        run = Run(
            run_id=run_id,
            strict=self.strict,
            max_depth=self.max_depth,
            max_passes=self.max_passes,
            judge=judge,
            session=session,
            memory=memory,
            rules=self.conditions,
            on_warning=recorder.warned,
            on_decision=recorder.decided if told else None,
            on_event=recorder.noted if told else None,
            ledger=journal,
        )
        remote: Remote | None = None
        if self.transport is not None:
            from prose_lang.handlers.remote import Remote

            store = None if recording is None else recording.store
            remote = Remote(self.transport, run_id, self.services, store)
        limiter = Limiter(self.limits, clock, 0.0 if recording is None else recording.before)
        run.perform, run.perform_composite = compose(
            recorder, limiter, clock, run_id, part, self.models.keys.redactor, journal,
            recording.spent if recording is not None else (), remote, cache,
        )  # fmt: skip
        return recorder, run

    # --- going on ----------------------------------------------------------------------------------------------------

    def resume(
        self, run: str, names: Mapping[str, Any] = MappingProxyType({}), *,
        accept_changes: bool = False, retry_errors: bool = False,
    ) -> Outcome:  # fmt: skip
        """Go on with a run of the engine's store; blocks until it ends.

        `names` are given again where the record must not bring them back: functions, `cmd:`, `py:`, models, paths.
        Finished calls are read back, those that were under way are made again. The outcome of a run that is over is
        given back as it was. With `accept_changes` sources and inputs may have changed: what still matches is read
        back. With `retry_errors` calls that failed are made again.

        Raises ProseError: P501 for a run that is not there, P502 where its sources or inputs have changed, P503 while
        another process works on it, and what the run itself raises.
        """
        outside_loop("`resume` cannot be used", "`resume_async`")
        work = self.resuming.outcome_async(run, names, accept_changes=accept_changes, retry_errors=retry_errors)
        return _value_or_error(asyncio.run(self._alone(work)))

    async def resume_async(
        self, run: str, names: Mapping[str, Any] = MappingProxyType({}), *,
        accept_changes: bool = False, retry_errors: bool = False,
    ) -> Outcome:  # fmt: skip
        """The same inside a running event loop."""
        work = self.resuming.outcome_async(run, names, accept_changes=accept_changes, retry_errors=retry_errors)
        return _value_or_error(await work)

    def replay(self, run: str, names: Mapping[str, Any] = MappingProxyType({})) -> Outcome:
        """Run a recorded run again from its record alone: no service is called, and nothing is written.

        Raises ProseError: P409 where the record has no answer, P502 where something else is asked than was recorded,
        and what the run itself raised.
        """
        outside_loop("`replay` cannot be used", "`replay_async`")
        return _value_or_error(asyncio.run(self._alone(self.resuming.outcome_async(run, names, replay=True))))

    async def replay_async(self, run: str, names: Mapping[str, Any] = MappingProxyType({})) -> Outcome:
        """The same inside a running event loop."""
        return _value_or_error(await self.resuming.outcome_async(run, names, replay=True))

    def answer(self, run: str, answers: Mapping[str, Any], names: Mapping[str, Any] = MappingProxyType({})) -> Outcome:
        """Put a person's answer into the record of a run that waits for it (P411), and go on; blocks until it ends.

        `answers` are by the service that asks, the name by which the program calls it, or the address of the call; or
        the fields of one answer that the program reads. `names` are those of `resume`. Calls that wait and are not
        answered go on waiting.

        Raises ProseError: P210 where nothing waits by that name, P211 and P203 where an answer is not what the service
        that asks declares; then nothing is written. And what `resume` raises, P411 among it.
        """
        outside_loop("`answer` cannot be used", "`answer_async`")
        return _value_or_error(asyncio.run(self._alone(self.resuming.outcome_async(run, names, answers=answers))))

    async def answer_async(
        self, run: str, answers: Mapping[str, Any], names: Mapping[str, Any] = MappingProxyType({})
    ) -> Outcome:
        """The same inside a running event loop."""
        return _value_or_error(await self.resuming.outcome_async(run, names, answers=answers))

    def detach(self, pattern: Pattern, names: Mapping[str, Any]) -> str:
        """Put a run on record and hand it to the workers of the engine's transport; gives its id.

        What it comes to stands in the record (`prose trace`). See `engine/detaching.py` for what it can be given, and
        for the errors.
        """
        outside_loop("`detach` cannot be used", "`detach_async`")
        return asyncio.run(self.detach_async(pattern, names))

    async def detach_async(self, pattern: Pattern, names: Mapping[str, Any]) -> str:
        """The same inside a running event loop."""
        from prose_lang.engine.detaching import detached

        return await detached(self, pattern, names)

    def recordable(self, pattern: Pattern, names: Mapping[str, Any]) -> tuple[About, list[Program]]:
        """What a record tells of a run before it starts, and the programs it is made of.

        Raises CheckError with everything that is wrong.
        """
        with self._linking:
            _, inputs, _, linked = self._prepare(pattern, names, None, None)
        redactor = self.models.keys.redactor()
        what = about(pattern, linked.documents, names, inputs, self._options(None, None), redactor)
        return what, linked.linker.programs

    def interruptible(self, work: Callable[[list[Outcome]], Coroutine[Any, Any, Outcome]]) -> Outcome:
        """The outcome of what `work` begins, interrupts being a status of it as in `outcome`. It is given the list that
        a run which is interrupted leaves its outcome in."""
        outside_loop("a run cannot be begun so", "`outcome_async`")
        from prose_lang.engine.interrupts import run_interruptible

        holder: list[Outcome] = []
        return run_interruptible(self._alone(work(holder)), holder)

    @property
    def resuming(self) -> Resuming:
        """What goes on with runs, replays and answers them."""
        return Resuming(self)

    # --- deciding ----------------------------------------------------------------------------------------------------

    async def decide_async(
        self,
        text: str,
        own: Mapping[str, Value],
        others: Mapping[str, Value] = MappingProxyType({}),
        *,
        services: Mapping[str, Service] | None = None,
        judge: Any = None,
        part: Part | None = None,
    ) -> DecisionRecord:
        """Decide a text by the layers that decide the conditions of programs (L30), judge included.

        `own` and `others` are the names that it can read. A judge is shown those that the text names, and all of `own`
        where it names none. `services`, `judge` and `part` are those of `outcome_async`; a run's limits hold for one
        decision.

        Raises CheckError P112 for an empty text, RunError where deciding failed (P304), P402 where the judge did, and
        P403 where there is none.
        """
        alone = analyze_condition(Source("<condition>", text), own, others)
        return await self.decisions(services=services, judge=judge, part=part).decide(alone, own, others)

    def decisions(
        self, *, services: Mapping[str, Service] | None = None, judge: Any = None, part: Part | None = None
    ) -> Decisions:
        """What decides several texts within one run; for use on a running event loop. See `decide_async`.

        Raises ProseError for a judge that is none, or has no key.
        """
        asked = None
        judge = self.judge if judge is None else judge
        if judge is not None:
            with self._linking:
                linker = self._new_linker({**self.services, **(services or {})})
                nowhere = read_document(Source("<condition>", ""))
                asked = self._judge(Binder(linker, nowhere, self._adapt), judge)
                check_models(None, asked, self.models)
        part = part or self.cassette
        if part is not None:
            part.cassette.check()
        recorder, run = self._new_run(
            new_run_id(), asked, part, keep=True, session=self._sessions(self.services), memory=Memory()
        )
        return Decisions(recorder, run)

    # --- preparing ---------------------------------------------------------------------------------------------------

    def faults(
        self, pattern: Pattern, names: Mapping[str, Any], services: Mapping[str, Service] | None = None
    ) -> list[Diagnostic]:
        """What would keep a pattern from running with these names, as running it would tell; nothing is run."""
        try:
            with self._linking:
                self._prepare(pattern, names, services, None)
        except ProseError as error:
            return list(error.diagnostics)
        return []

    def _prepare(
        self,
        pattern: Pattern,
        names: Mapping[str, Any],
        services: Mapping[str, Service] | None,
        judge: Any,
        *,
        asks: bool = True,
    ) -> tuple[Runnable, dict[str, Value], Service | None, _Linked]:
        """Link, check and bind. Raises CheckError with everything that is wrong. With `asks` off no model will be
        asked, and none needs a key."""
        linked = self._linked_kept(pattern, services)
        key = _key_of(pattern.entry, names)
        binder = Binder(linked.linker, pattern.document, self._adapt)
        kept = linked.bound.get(key)
        if kept is None and linked.reached > linked.documents:
            # The sources of what it was bound to before are no part of this run (L35).
            linked = self._linked(pattern, linked.linker.registered)
            binder = Binder(linked.linker, pattern.document, self._adapt)
            if services is None and self.script is None:
                self._keep(self._links, pattern.entry, linked)
        slots = {} if kept is not None else binder.slots(linked.program, names)
        inputs = binder.values(linked.program, names)
        if binder.found:
            raise CheckError.from_diagnostics(sort_diagnostics([*linked.diagnostics, *binder.found]))
        judge = self.judge if judge is None else judge
        asked = self._judge(binder, judge) if judge is not None else None
        if kept is None:
            unit = Unit(pattern.document, pattern.entry)
            service = linked.linker.unit_service(unit, pattern.entry.name, slots)
            made = service if isinstance(service, BoundPattern) else ServedContract(linked.program, service)
            # The names are kept with it: the key holds identities, which are theirs as long as they live.
            kept = (dict(names), made, linked.reached)
            if asks:
                check_models(made, asked, self.models, self._sessions(linked.linker.registered))
                self._keep(linked.bound, key, kept)
        return kept[1], inputs, asked, linked._replace(documents=kept[2])

    def _linked_kept(self, pattern: Pattern, services: Mapping[str, Service] | None) -> _Linked:
        """The links of a pattern; the same ones in every run, unless scripted replies make each run's services new."""
        if services is not None:
            return self._linked(pattern, {**self.services, **services})
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
            raise kind_refused(document, entry)
        linker = self._checked(pattern, self._new_linker(registered))
        diagnostics = sort_diagnostics(linker.found)
        if linker.errors:
            raise CheckError.from_diagnostics(diagnostics)
        program = linker.program(Unit(document, entry))
        return _Linked(linker, program, tuple(diagnostics), OrderedDict(), frozenset(linker.documents))

    def _judge(self, binder: Binder, judge: Any) -> Service:
        if isinstance(judge, str):
            found: ServiceRef = binder.named(parse_reference(judge, trusted=True))
        elif isinstance(judge, Given):
            found = binder.reference(judge.value, judge.trusted)
        else:
            found = binder.reference(judge, True)
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

    def _keep(self, kept: OrderedDict[Any, Any], key: Any, value: Any) -> None:
        with self._lock:
            kept[key] = value
            if len(kept) > _KEPT:
                kept.popitem(last=False)

    def _compiled(self, program: Program) -> Code:
        code = self._codes.get(program)
        if code is None:
            code = compile_program(program, self.probe)
            self._keep(self._codes, program, code)
        return code

    def _new_linker(self, registered: Mapping[str, Service]) -> Linker:
        return Linker(self.loader, registered, self._adapt, self._compiled, self.models, self._parsed)

    def _parsed(self, document: Document, entry: Entry) -> Parsed:
        """The tree of a body; what its names mean may differ from run to run, the tree does not."""
        tree = self._trees.get(entry)
        if tree is None:
            tree = parse_body(document, entry)
            self._keep(self._trees, entry, tree)
        return tree

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


def written_out(value: Value, bound: Runnable, place: Any) -> Value:
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
    bound: OrderedDict[Any, tuple[Mapping[str, Any], Runnable, frozenset[Document]]]
    #: What the pattern itself reaches, and of one run what its slots are bound to besides.
    documents: frozenset[Document]

    @property
    def reached(self) -> frozenset[Document]:
        """That, and what its slots have been bound to."""
        return frozenset(self.linker.documents)


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


def _value_or_error(outcome: Outcome) -> Outcome:
    if outcome.error is not None:
        outcome.error.outcome = outcome
        raise outcome.error
    return outcome
