"""What all modules have in common: they are called with named inputs, remember their attempts, and are services.

A module is a library pattern with its slots bound to adapters. Called by itself it is a run of the interpreter; bound
to a slot, registered as a service or wrapped by another module it is a nested pattern of the run around it, with that
run's limits, trace and cancellation. A module holds no counters: what belongs to a run is in the pattern's frame.

Not here: what single modules read from the value of their pattern.
"""

from __future__ import annotations

import asyncio
import functools
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prose_lang.diagnostics import ProseError, RunError, ServiceError
from prose_lang.engine import Engine, Outcome, Pattern
from prose_lang.engine.loops import outside_loop
from prose_lang.modules.attempts import Attempt, History, ModuleRun
from prose_lang.modules.calling import Task, checked_inputs, task_of
from prose_lang.modules.errors import AttemptsError
from prose_lang.runtime.effects import Call, Effect, Service
from prose_lang.runtime.patterns import BoundPattern
from prose_lang.semantics.signature import Signature
from prose_lang.values import TooLarge, Value, handout


class Module(ABC):
    """Something that is called with named inputs and gives a prediction.

    Subclasses say which pattern runs them, with what in its slots and config, and what its value means.

    >>> from prose_lang.modules import pipeline
    >>> async def double(number): return 2 * number
    >>> made = pipeline([double, double])
    >>> isinstance(made, Module), made(number=1)
    (True, 4)
    """

    composite = True
    #: Its attempts have sample numbers of their own; one from outside would make them all the same.
    numbers_its_own = True

    def __init__(
        self,
        name: str,
        signature: Signature,
        engine: Engine,
        pattern: Pattern,
        slots: Mapping[str, Any],
        config: Mapping[str, Value],
    ) -> None:
        self.name = name
        self.signature = signature
        self.engine = engine
        self._pattern = pattern
        self._slots = dict(slots)
        self._config = {key: value for key, value in config.items() if value is not None}
        self._history = History()
        self._kept: BoundPattern | None = None
        self._of_runs: weakref.WeakKeyDictionary[Any, BoundPattern] = weakref.WeakKeyDictionary()

    # --- what subclasses say -----------------------------------------------------------------------------------------

    def given(self, task: Task) -> dict[str, Value]:
        """What the pattern is given of a run's inputs."""
        return {"task_brief": task}

    @abstractmethod
    def read(self, value: Value) -> ModuleRun:
        """What the pattern's value means."""

    def read_failure(self, thrown: Mapping[str, Any]) -> tuple[Attempt, ...] | None:
        """The attempts that an error of the pattern tells of; None if it is none of the module's own."""
        return None

    # --- calling -----------------------------------------------------------------------------------------------------

    def __call__(self, /, **inputs: Any) -> Any:
        """Run it and give the prediction; blocks until it is there.

        Raises ProseError, and RuntimeError inside a running event loop, where `acall` is to be awaited.
        """
        return self.run(**inputs).prediction

    async def acall(self, /, **inputs: Any) -> Any:
        """The same inside a running event loop. Cancelling it cancels the run, and waits for its calls.

        >>> from prose_lang.modules import module
        >>> async def double(number): return 2 * number
        >>> asyncio.run(module(double).acall(number=2))
        4
        """
        return (await self.arun(**inputs)).prediction

    def run(self, /, **inputs: Any) -> ModuleRun:
        """Run it and give all there is to know: the prediction, the attempts, the outcome with its trace.

        >>> from prose_lang.modules import refine
        >>> async def double(number): return 2 * number
        >>> run = refine(double, n=1).run(number=2)
        >>> run.prediction, len(run.attempts), run.outcome.usage.calls
        (4, 1, 1)
        """
        outside_loop("a module cannot be waited for", "`acall`")
        return asyncio.run(self.arun(**inputs))

    async def arun(self, /, **inputs: Any) -> ModuleRun:
        """The same inside a running event loop."""
        values = checked_inputs(self.name, self.signature, inputs)
        names = {**self._slots, **self._config, **self.given(task_of(values, None))}
        outcome = await self.engine.outcome_async(self._pattern, names)
        if outcome.error is not None:
            raise self._failed(outcome.error, outcome)
        return self._ended(outcome.value, outcome)

    async def invoke(self, effect: Effect) -> Any:
        """Run it as a service: a nested pattern of the run that calls it."""
        bound = self._bound(effect)
        given = self.given(task_of(effect.inputs, effect.modifiers.prompt))
        call = Call(effect.site, effect.place, effect.indices, bound, {**self._config, **given})
        try:
            value = await bound.invoke(call)
        except RunError as error:
            raise self._failed(error, None) from error.__cause__
        try:
            own = handout(value)
        except TooLarge as error:
            raise ServiceError("P305", f"the prediction of `{self.name}` cannot be kept: {error}",
                               service=self.name) from None  # fmt: skip
        return self._ended(own, None).prediction

    def _bound(self, effect: Effect) -> BoundPattern:
        """The pattern with its slots bound; scripted services count their replies for each run anew."""
        if self.engine.script is not None:
            run = effect.place.run
            if run not in self._of_runs:
                self._of_runs[run] = self.engine.bound(self._pattern, self._slots)
            return self._of_runs[run]
        if self._kept is None:
            self._kept = self.engine.bound(self._pattern, self._slots)
        return self._kept

    def _ended(self, value: Value, outcome: Outcome | None) -> ModuleRun:
        try:
            found = self.read(value)
        except AttemptsError as error:
            self._history.ended(error.history, outcome)
            error.outcome = outcome
            raise
        run = ModuleRun(found.prediction, found.attempts, found.best, outcome)
        self._history.ended(run.attempts, outcome)
        return run

    def _failed(self, error: ProseError, outcome: Outcome | None) -> ProseError:
        """The error of a run as the module's own, if it is, with its attempts."""
        if not isinstance(error, RunError):
            return error
        thrown = error.thrown if error.code == "P308" and isinstance(error.thrown, dict) else None
        attempts = self.read_failure(handout(thrown)) if thrown is not None else None
        if attempts is None:
            self._history.ended((), outcome)
            return error
        made = AttemptsError(
            error.code,
            f"`{self.name}`: {error.message}{_last_of(attempts)}",
            history=attempts,
            error_name=error.error_name,
            source=error.source,
            span=error.span,
            service=self.name,
        )
        made.outcome = outcome
        self._history.ended(attempts, outcome)
        return made

    # --- many rows ---------------------------------------------------------------------------------------------------

    def map(
        self,
        rows: Iterable[Mapping[str, Any]],
        *,
        concurrency: int = 8,
        progress: bool | Callable[[int, int | None, int], None] | None = None,
    ) -> list[Any]:
        """Run it once for each row of named inputs, and give the predictions in the order of the rows.

        A row that fails has its error, a `ProseError`, in its place. At most `concurrency` rows are under way at once.
        `progress` is a function that is told how many rows are done, of how many (None if nobody knows) and how many
        failed; by default a line says so if standard error is a terminal.

        >>> from prose_lang.modules import refine
        >>> async def double(number): return 2 * number
        >>> results = refine(double, n=1).map([{"number": 1}, {"numbr": 2}, {"number": 3}])
        >>> results[0], results[1].code, results[2]
        (2, 'P210', 6)
        """
        outside_loop("a module cannot be waited for", "`amap`")
        return asyncio.run(self.amap(rows, concurrency=concurrency, progress=progress))

    async def amap(
        self,
        rows: Iterable[Mapping[str, Any]],
        *,
        concurrency: int = 8,
        progress: bool | Callable[[int, int | None, int], None] | None = None,
    ) -> list[Any]:
        """The same inside a running event loop."""
        from prose_lang.modules.rows import run_rows

        return await run_rows(self, rows, concurrency, progress)

    # --- looking back ------------------------------------------------------------------------------------------------

    def attempts(self, all: bool = False) -> list[Attempt]:
        """The attempts of the run that ended last; with `all` those of the last 1,000 runs, in the order they ended.

        >>> from prose_lang.modules import refine
        >>> made = refine(lambda number: 2 * number, n=1)
        >>> made(number=1), made(number=2)
        (2, 4)
        >>> [attempt.prediction for attempt in made.attempts()], len(made.attempts(all=True))
        ([4], 2)
        """
        return self._history.attempts(all)

    def feedback_history(self, all: bool = False) -> list[str]:
        """The feedback that was written in the run that ended last; with `all` in the last 1,000 runs.

        >>> from prose_lang.modules import refine
        >>> made = refine(lambda number, feedback: len(feedback), n=2, reward_fn=lambda prediction, inputs: 0)
        >>> made(number=1), made.feedback_history()
        (16, ['The last answer scored 0. It was: 16. Give a better one.'])
        """
        return [attempt.written for attempt in self._history.attempts(all) if attempt.written is not None]

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the run that ended last, with its trace; None before, and for a run inside another."""
        return self._history.outcome

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"the module `{self.name}` holds functions and an engine, and cannot be pickled or copied; "
                        "make it anew where it is to run")  # fmt: skip

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}({', '.join(self.signature.names)})>"


def _last_of(attempts: tuple[Attempt, ...]) -> str:
    last = next((attempt for attempt in reversed(attempts) if attempt.error is not None), None)
    return f"; the last: {last.error}" if last is not None and str(last.error) else ""


@functools.cache
def shared_engine() -> Engine:
    """The engine of modules that are given none, made when it is first needed. It holds no state of any run."""
    return Engine()


def engine_for(engine: Engine | None, parts: Iterable[Any]) -> Engine:
    """The engine that a module runs on: the one it was given, else that of the first pattern or module it wraps."""
    if engine is not None:
        return engine
    return next((part.engine for part in parts if isinstance(part, (Pattern, Module))), None) or shared_engine()


def library(engine: Engine, name: str) -> Pattern:
    """A pattern of the library on an engine, which keeps its text and its links."""
    return engine.load(f"stdlib:{name}")


def named(what: str, parts: Iterable[Service]) -> str:
    """The name of a module made of others, not longer than a line.

    >>> named("pipeline", [Engine().service(len), Engine().service(abs)])
    'pipeline(len, abs)'
    """
    name = f"{what}({', '.join(one.name for one in parts)})"
    return name if len(name) <= 80 else f"{name[:77]}..."


def part(thing: Any, engine: Engine) -> Service:
    """Something callable as a part of a module: a module or service as it is, a pattern, a function.

    Raises CheckError P202 for anything else.
    """
    if isinstance(thing, Pattern):
        from prose_lang.modules.wrapping import module

        return module(thing)
    return engine.service(thing)
