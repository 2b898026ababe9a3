"""The engine: the one place that assembles the parts. Immutable, shareable between threads and event loops.

    Document ─▶ Linker ─▶ Program ─▶ Code ─▶ BoundPattern ─▶ Run with its handlers ─▶ Outcome

What does not change from run to run (programs, code, bound patterns) is kept (`preparing.py`); what does (counters, the
trace, scripted replies) is made for each run (`running.py`). Here is what a host calls.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from prose_lang.diagnostics import CheckError, Diagnostic, ProseError, SourceError, sort_diagnostics
from prose_lang.documents.loader import Loader
from prose_lang.documents.model import Document
from prose_lang.documents.reader import read_document
from prose_lang.engine.adapting import Adapter
from prose_lang.engine.conversations import ConversationFiles
from prose_lang.engine.decisions import Decisions
from prose_lang.engine.linker import Linker, Unit
from prose_lang.engine.loops import outside_loop
from prose_lang.engine.new_run import new_run, new_run_id
from prose_lang.engine.outcome import DecisionRecord, Outcome
from prose_lang.engine.pattern import Pattern
from prose_lang.engine.preparing import Preparing
from prose_lang.engine.recording import About, Continued, Records
from prose_lang.engine.resuming import Resuming
from prose_lang.engine.running import Running, told_before
from prose_lang.handlers import Limits
from prose_lang.handlers.cache import MODES, Mode
from prose_lang.handlers.trace import Observer
from prose_lang.journal import DURABILITIES, Store
from prose_lang.runtime.compiler.probe import Probe
from prose_lang.runtime.conversations import Memory
from prose_lang.runtime.effects import Service
from prose_lang.runtime.patterns import BoundPattern
from prose_lang.semantics import Environment, Program, analyze_condition
from prose_lang.services import Script
from prose_lang.services.models.completion import Completion
from prose_lang.services.models.models import Models
from prose_lang.services.models.settings import ModelSettings
from prose_lang.text import Source
from prose_lang.values import Value

if TYPE_CHECKING:
    from prose_lang.cassettes import Cassette, Part
    from prose_lang.transports import Transport


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
        replayed = cassette is not None and cassette.mode == "replay"
        settings = _with_default(models or ModelSettings(), model)
        self.models = Models(settings, completion, live=live, replayed=replayed, elsewhere=transport is not None)
        self.transport = None if replayed else transport
        self.cassette = cassette.part() if cassette is not None else None
        self.loader = Loader()
        self._adapter = Adapter(self.models)
        self.services: Mapping[str, Service] = self._adapter.registered(services)
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
        self._preparing = Preparing(self.loader, self._adapter, self.models, self.services, script, probe)

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
        linker = self._preparing.checked(pattern)
        document = pattern.document
        programs = [linker.program(Unit(document, entry)) for entry in document.entries if entry.body is not None]
        return sort_diagnostics(linker.found), programs

    def faults(
        self, pattern: Pattern, names: Mapping[str, Any], services: Mapping[str, Service] | None = None
    ) -> list[Diagnostic]:
        """What would keep a pattern from running with these names, as running it would tell; nothing is run."""
        try:
            self._preparing.prepared(pattern, names, services, self.judge)
        except ProseError as error:
            return list(error.diagnostics)
        return []

    def program(self, pattern: Pattern) -> Program:
        """The checked program of a pattern, errors and all."""
        return self._preparing.linker().program(Unit(pattern.document, pattern.entry))

    def linked(self, pattern: Pattern) -> Linker:
        """What links a pattern's names, for tools that look at it. Raises CheckError with all faults of the file."""
        linker = self._preparing.checked(pattern)
        if linker.errors:
            raise CheckError.from_diagnostics(sort_diagnostics(linker.found))
        return linker

    def environment(self, document: Document) -> Environment:
        """What the bodies of a document can call by name, for tools that look at them without running them."""
        return self._preparing.linker().scope(document)

    def service(self, thing: Any) -> Service:
        """What a slot would be bound to: a function or another callable as a service, a service as it is.

        Raises CheckError P202 for anything else.

        >>> Engine().service(len).name
        'len'
        """
        return self._adapter.service(thing)

    def bound(self, pattern: Pattern, slots: Mapping[str, Any]) -> BoundPattern:
        """A pattern with its slots bound, as a service: what it is called with are its inputs and config keys.

        Its calls belong to the run that calls it. Raises CheckError with all that is wrong.
        """
        return self._preparing.bound(pattern, slots)

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
        run = Running(self, self._preparing, pattern, part or self.cassette, memory, continued, interrupted)
        return await run.outcome(names, services, self.judge if judge is None else judge)

    def memory(self, pattern: Pattern, *, keep: bool = True) -> Memory:
        """The conversations that are kept where a pattern's project keeps them. With `keep` off they are read only."""
        return Memory(self.conversations(pattern, keep=keep))

    def conversations(self, pattern: Pattern, *, keep: bool = True) -> ConversationFiles:
        """The files of these conversations."""
        redactor = self.models.keys.redactor
        return ConversationFiles(lambda: self.loader.root(pattern.document), redactor, keep=keep)

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
        prepared = self._preparing.prepared(pattern, names, None, self.judge)
        what = told_before(self, pattern, names, prepared, self.judge, None)
        return what, prepared.linked.linker.programs

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
        judge = self.judge if judge is None else judge
        asked = None if judge is None else self._preparing.judge_alone(judge, services)
        part = part or self.cassette
        if part is not None:
            part.cassette.check()
        session = self._preparing.sessions()
        recorder, run = new_run(self, new_run_id(), asked, part, keep=True, session=session, memory=Memory())
        return Decisions(recorder, run)


def _with_default(settings: ModelSettings, model: str | None) -> ModelSettings:
    return settings if model is None else attrs.evolve(settings, default=model.removeprefix("model:"))


def _value_or_error(outcome: Outcome) -> Outcome:
    if outcome.error is not None:
        outcome.error.outcome = outcome
        raise outcome.error
    return outcome
