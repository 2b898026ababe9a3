"""The object behind pytest's fixture `prose`: runs patterns on scripted services, in virtual time, and knows the calls.

It needs no pytest and may be used without it; `unused` then says which replies nobody took. Collecting test files and
the fixture itself are `plugin.py`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from prose_lang.cassettes import Cassette, Mode, Part
from prose_lang.diagnostics import ProseError
from prose_lang.engine import Engine, Outcome, Pattern
from prose_lang.engine.loops import outside_loop
from prose_lang.handlers import Limits
from prose_lang.runtime.conversations import Memory
from prose_lang.services import Script, ScriptedService, scripted_services
from prose_lang.services.models.settings import ModelSettings
from prose_lang.testing.clock import run_virtual
from prose_lang.testing.coverage import Coverage
from prose_lang.testing.paths import from_here
from prose_lang.text import did_you_mean, nearest
from prose_lang.values import Value

#: A path (relative to the folder), the name of a library pattern, or what `prose_lang.load` gave.
Source: TypeAlias = "str | os.PathLike[str] | Pattern"

_SUFFIX = ".prose.md"


class Prose:
    """Runs patterns for one test.

    `folder` is where paths start; `services` are registered in every run; a `coverage` counts what the runs go through.
    `cassette` records what services that are not scripted answer, or answers in their place; `part` is what this test's
    part of it is called. `models` are the settings of models.
    The runs so far are in `outcomes`, those that ended in an error included.

    >>> prose = Prose(".")
    >>> outcome = prose.run(
    ...     "refine",
    ...     script={"refiner": ["a first draft"], "evaluator": [{"score": 0.9}]},
    ...     task_brief="Say it in one line.",
    ... )
    >>> outcome.value["result"], prose.calls("refiner")
    ('a first draft', [{'task_brief': 'Say it in one line.'}])
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        services: Mapping[str, Any] | None = None,
        *,
        coverage: Coverage | None = None,
        cassette: Cassette | None = None,
        models: ModelSettings | None = None,
        part: str = "",
        cassette_mode: Mode = "replay",
    ) -> None:
        self.folder = Path(folder)
        self.models = models
        self._cassette = cassette
        self._part = part
        self.cassette_mode = cassette_mode
        self._parts: dict[str, Part] = {}
        self.services = dict(services or {})
        self.coverage = coverage
        self._runs: list[_Ran] = []
        self._allowed: set[str] = set()
        self._all_allowed = False

    # --- running -----------------------------------------------------------------------------------------------------

    def run(
        self,
        pattern: Source,
        /,
        names: Mapping[str, Any] | None = None,
        *,
        script: Mapping[str, Any] | Script | None = None,
        services: Mapping[str, Any] | None = None,
        judge: Any = None,
        conditions: Mapping[str, Callable[..., Any]] | None = None,
        limits: Limits | None = None,
        strict: bool = False,
        cassette: str | os.PathLike[str] | Cassette | None = None,
        **more: Any,
    ) -> Outcome:
        """Run a pattern in virtual time and give its outcome.

        `script` holds the replies of scripted services (the form of a script file), which are fresh in each run;
        `services` functions or services by name. A slot that is not given is bound to the service of its name, and a
        function given for a slot is called by the slot's name. A service called `judge` is the judge, unless `judge`
        names another one (L30.5). `cassette` is a recording for this run, a path from the folder: it is played, unless
        `--prose-cassette-mode` says otherwise. Slots, inputs and config keys are keywords, or stand in `names` where
        they are called like an option of this method.

        Raises `ProseError` as `Pattern.run` does, with the partial outcome in `.outcome`, and `RuntimeError` inside a
        running event loop.
        """
        __tracebackhide__ = True
        outside_loop("`prose.run` cannot be used", "`prose.arun`")
        options = _Options(script, services, judge, conditions, limits, strict, cassette)
        ran = self._prepared(pattern, _together(names, more), options)
        return self._ended(ran, run_virtual(ran.alone()))

    async def arun(
        self,
        pattern: Source,
        /,
        names: Mapping[str, Any] | None = None,
        *,
        script: Mapping[str, Any] | Script | None = None,
        services: Mapping[str, Any] | None = None,
        judge: Any = None,
        conditions: Mapping[str, Callable[..., Any]] | None = None,
        limits: Limits | None = None,
        strict: bool = False,
        cassette: str | os.PathLike[str] | Cassette | None = None,
        **more: Any,
    ) -> Outcome:
        """The same for asynchronous tests: on the test's own loop, and so in the time that this loop keeps."""
        __tracebackhide__ = True
        options = _Options(script, services, judge, conditions, limits, strict, cassette)
        ran = self._prepared(pattern, _together(names, more), options)
        return self._ended(ran, await ran.start())

    def load(self, pattern: Source) -> Pattern:
        """The pattern that a path or name means: a file below the folder goes before the library.

        Raises SourceError P103 or P109.
        """
        return self._loaded(Engine(), pattern)

    # --- what happened -----------------------------------------------------------------------------------------------

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes of the runs so far, in their order."""
        return tuple(ran.outcome for ran in self._runs if ran.outcome is not None)

    def calls(self, service: str) -> list[dict[str, Value]]:
        """The inputs of all calls of a service: those of the first run in program order, then the next run's.

        Raises LookupError if no run knew a service of that name, for a check of an empty list would then say nothing.
        """
        called = [call for outcome in self.outcomes for call in outcome.trace.calls]
        known = {call.service for call in called}.union(*(ran.engine.services for ran in self._runs))
        if service not in known:
            close = nearest(service, known)
            said = did_you_mean(close[:1]) or f"there were {', '.join(sorted(known)) or 'none'}"
            raise LookupError(f"no run had a service `{service}`; {said}")
        return [dict(call.inputs) for call in called if call.service == service]

    def allow_unused(self, *services: str) -> None:
        """Replies of these services may be left over; without a name those of all."""
        self._allowed.update(services)
        self._all_allowed = self._all_allowed or not services

    @property
    def unused(self) -> dict[str, int]:
        """How many replies of each service nobody took, in all runs, without those that may be left over."""
        if self._all_allowed:
            return {}
        left: Counter[str] = Counter()
        for ran in self._runs:
            for name, service in ran.scripted.items():
                if name not in self._allowed and (count := len(service.unused())):
                    left[name] += count
        return dict(left)

    def unused_text(self) -> str | None:
        """The replies that are left over, in words; None if there are none."""
        left = [f"`{name}`: {count} {'reply' if count == 1 else 'replies'}" for name, count in self.unused.items()]
        if not left:
            return None
        return f"scripted replies were left over: {', '.join(left)} (prose.allow_unused() lets them be)"

    # --- the parts of a run ------------------------------------------------------------------------------------------

    def _prepared(self, pattern: Source, names: dict[str, Any], options: _Options) -> _Ran:
        scripted = options.scripted()
        registered: dict[str, Any] = dict(pattern.engine.services) if isinstance(pattern, Pattern) else {}
        registered.update(self.services)
        for name in scripted.keys() & (options.services or {}).keys():
            raise ValueError(f"`{name}` is both in `script` and in `services`")
        registered.update(options.services or {})
        registered.update(scripted)
        loaded = self._loaded(Engine(), pattern)
        for slot in loaded.entry.slots:
            given = names.get(slot.name)
            if slot.name not in names and slot.name in registered:
                names[slot.name] = slot.name
            elif _is_function(given):
                registered[slot.name], names[slot.name] = given, slot.name
        judge = options.judge
        if judge is None and "judge" in registered:
            judge = "judge"
        cassette, part = self._part_of(options.cassette)
        engine = Engine(
            services=registered,
            judge=judge,
            conditions=options.conditions,
            limits=options.limits,
            strict=options.strict,
            models=self.models,
            cassette=cassette,
            probe=self.coverage,
        )
        if self.coverage is not None:
            self.coverage.subject(loaded.document, loaded.entry)
        ran = _Ran(attrs.evolve(loaded, engine=engine), engine, names, scripted, part)
        self._runs.append(ran)
        return ran

    def _part_of(self, given: str | os.PathLike[str] | Cassette | None) -> tuple[Cassette | None, Part | None]:
        """The cassette of a run, and this test's part of it: runs of one test go on with one another's."""
        cassette = self._cassette if given is None else given
        if cassette is None:
            return None, None
        if not isinstance(cassette, Cassette):
            cassette = Cassette(self.folder / cassette, self.cassette_mode)
        part = self._parts.setdefault(f"{cassette.mode} {cassette.path}", cassette.part(self._part))
        return part.cassette, part

    def _loaded(self, engine: Engine, pattern: Source) -> Pattern:
        if isinstance(pattern, Pattern):
            return pattern
        if not isinstance(pattern, (str, os.PathLike)):
            raise TypeError(f"a pattern is a path, a name or a loaded pattern, not {type(pattern).__name__}")
        reference = os.fspath(pattern)
        for path in _paths(self.folder, reference):
            return engine.load(path)
        return engine.load(reference if reference.startswith("stdlib:") else f"stdlib:{reference}")

    def _ended(self, ran: _Ran, outcome: Outcome) -> Outcome:
        __tracebackhide__ = True
        ran.outcome = outcome
        if outcome.error is not None:
            error: ProseError = outcome.error
            error.outcome = outcome
            error.add_note(error.render())
            # What a reader of pytest's report wants is the line of the test and the place in the pattern, not the
            # interpreter between them. A failing function of the test's own is the cause, with its own traceback.
            raise error.with_traceback(None)
        return outcome


@attrs.frozen
class _Options:
    """What a run is given besides names."""

    script: Mapping[str, Any] | Script | None
    services: Mapping[str, Any] | None
    judge: Any
    conditions: Mapping[str, Callable[..., Any]] | None
    limits: Limits | None
    strict: bool
    cassette: str | os.PathLike[str] | Cassette | None

    def scripted(self) -> dict[str, ScriptedService]:
        """The scripted services with all their replies unused."""
        if self.script is None:
            return {}
        script = self.script if isinstance(self.script, Script) else Script.from_data(dict(self.script))
        return scripted_services(script)


@attrs.define(eq=False)
class _Ran:
    """A run with what it was made of; `outcome` is None until it has ended."""

    pattern: Pattern
    engine: Engine
    names: Mapping[str, Any]
    scripted: Mapping[str, ScriptedService]
    part: Part | None
    outcome: Outcome | None = None

    async def start(self) -> Outcome:
        return await self.engine.outcome_async(self.pattern, self.names, part=self.part, memory=Memory())

    async def alone(self) -> Outcome:
        """The same as the whole work of a loop."""
        try:
            return await self.start()
        finally:
            await self.engine.models.release()


def _together(names: Mapping[str, Any] | None, more: dict[str, Any]) -> dict[str, Any]:
    for name in (names or {}).keys() & more.keys():
        raise TypeError(f"`{name}` is given twice")
    return {**(names or {}), **more}


def _paths(folder: Path, reference: str) -> Iterator[str]:
    """The path that a reference means, if it means one: what looks like a path, or a file of that name."""
    path, mark, part = reference.partition("#")
    if path.endswith(".md") or os.path.basename(path) != path:
        yield f"{from_here(folder / path)}{mark}{part}"
    elif not path.startswith("stdlib:") and (folder / f"{path}{_SUFFIX}").is_file():
        yield f"{from_here(folder / f'{path}{_SUFFIX}')}{mark}{part}"


def _is_function(thing: Any) -> bool:
    """Whether it is a Python function or the like, which has no name of its own among services."""
    return callable(thing) and not isinstance(thing, type) and not hasattr(thing, "invoke")
