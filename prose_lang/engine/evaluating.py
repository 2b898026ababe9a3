"""The evaluation of a detached run by a worker: from its record, with the worker's services, to its end or let go.

Everything the run is comes from the store, so it does not matter which worker evaluates it, nor whether it is the first
or goes on where another died. Handing it over, and giving it back, is the transport's business.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from prose_lang.diagnostics import RunError
from prose_lang.engine.detaching import judge_of, names_of, put_down
from prose_lang.engine.engine import Engine
from prose_lang.handlers import Limits
from prose_lang.journal import Store
from prose_lang.journal.leaving import LeavableStore
from prose_lang.transports import RunTask, Transport

#: What says something about a worker, its store or the server, and not about the run.
_OTHERS_MAY = frozenset({"P501", "P503", "P504"})


class Leavable(Transport, Protocol):
    """A transport that can let go of the calls of its run."""

    def let_go(self) -> None: ...


class EngineOf(Protocol):
    """What makes the engine of one run: with the worker's services, and how the run's record says that it is made."""

    def __call__(
        self, *, model: str | None, judge: str | None, strict: bool, limits: Limits, store: Store, transport: Transport
    ) -> Engine: ...


class RunEvaluation:
    """See `transports.port.Evaluation`. `transport` is this run's own, and carries its calls."""

    def __init__(self, task: RunTask, store: Store, transport: Leavable, engine_of: EngineOf) -> None:
        self.task = task
        self._leavable = LeavableStore(store)
        self.store = self._leavable.whole
        self.transport = transport
        self.engine_of = engine_of

    async def run(self) -> str:
        """See `Evaluation`. A run whose record breaks off here is given back: another goes on from what there is of it,
        and so does this one once its store answers again."""
        run = self.task.run
        record = await asyncio.to_thread(self.store.run, run)
        engine = self._engine(json.loads(record.options))
        try:
            outcome = await engine.resuming.outcome_async(run, names_of(self.task), recorded_sources=True)
        finally:
            await engine.models.release()
        if outcome.unrecorded is not None:
            raise outcome.unrecorded
        if outcome.error is not None and outcome.error.code in _OTHERS_MAY:
            raise outcome.error
        if outcome.status == "invalid":
            await asyncio.to_thread(put_down, self.store, run, outcome)
        return outcome.status

    def let_go(self) -> None:
        """See `Evaluation`."""
        self._leavable.leave()
        self.transport.let_go()

    def _engine(self, options: Mapping[str, Any]) -> Engine:
        try:
            limits = Limits(**options["limits"])
            model, strict = options["model"], bool(options["strict"])
        except (KeyError, TypeError, ValueError) as error:
            message = f"the record of the run {self.task.run} does not say how it is made: {error}"
            raise RunError("P501", message) from None
        return self.engine_of(
            model=model, judge=judge_of(options), strict=strict, limits=limits, store=self.store,
            transport=self.transport,
        )  # fmt: skip


def evaluations(
    store: Store, transport_of: Callable[[], Leavable], engine_of: EngineOf
) -> Callable[[RunTask], RunEvaluation]:
    """What begins the evaluations of a worker's runs, each with a transport of its own."""
    return lambda task: RunEvaluation(task, store, transport_of(), engine_of)
