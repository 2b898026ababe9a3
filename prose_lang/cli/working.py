"""One `prose worker`: its services, its store, and the signals that stop it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import warnings
from collections import Counter
from typing import Any

import attrs

from prose_lang.cli.engines import model_settings, services_of_files
from prose_lang.cli.status import EXIT
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import ProseError
from prose_lang.engine import Engine
from prose_lang.engine.evaluating import evaluations
from prose_lang.engine.interrupts import INTERRUPTED
from prose_lang.journal import Store, open_store
from prose_lang.text import amount
from prose_lang.transports import RunTask
from prose_lang.transports.performing import Performer
from prose_lang.transports.temporal import TemporalDispatch, address_of, check_installed, queue_of
from prose_lang.transports.temporal_worker import GRACE, Deed, TemporalWorker, described


@attrs.frozen
class Request:
    """What was asked for on the command line; see the options of `worker.py`."""

    services: tuple[str, ...]
    queue: str
    slots: int
    runs: int
    store: str | None
    temporal: str | None
    namespace: str


def work(request: Request, terminal: Terminal) -> int:
    """Work until a signal, and give the exit status. Raises ProseError for what keeps it from beginning."""
    address_of(request.temporal, terminal.environ)
    queue_of(request.queue)
    check_installed()
    # The library tells by logging, with tracebacks, of what is told here in words.
    logging.getLogger("temporalio").addHandler(logging.NullHandler())
    logging.getLogger("temporalio").propagate = False
    warnings.filterwarnings("ignore", module="temporalio")
    engine = Engine(services=services_of_files(request.services), models=model_settings(terminal))
    engine.models.keys.told = terminal.hide
    store = None if request.store is None else open_store(request.store)
    try:
        return asyncio.run(_working(request, engine, store, terminal))
    finally:
        if store is not None:
            store.close()


async def _working(request: Request, engine: Engine, store: Store | None, terminal: Terminal) -> int:
    made: Counter[str] = Counter()

    def told(deed: Deed) -> None:
        made[deed.how] += 1
        is_run = isinstance(deed.task, RunTask)
        if terminal.verbosity >= 1 or ((is_run or deed.how in ("refused", "given back")) and not terminal.quiet):
            terminal.say(described(deed))

    def engine_of(*, model: str | None, **how: Any) -> Engine:
        return Engine(
            services=engine.services,
            models=attrs.evolve(engine.models.settings, default=model),
            trace=False,
            on_store_error="stop",
            **how,
        )

    def transport() -> TemporalDispatch:
        return TemporalDispatch(request.queue, address=request.temporal, namespace=request.namespace)

    worker = TemporalWorker(
        request.queue,
        Performer(engine.services, engine.models, store),
        slots=request.slots,
        address=request.temporal,
        namespace=request.namespace,
        evaluator=evaluations(store, transport, engine_of) if store is not None and request.runs else None,
        run_slots=request.runs,
        told=told,
    )
    stop = asyncio.Event()
    begun = False

    def interrupt() -> None:
        if stop.is_set():
            os._exit(INTERRUPTED)
        stop.set()
        if worker.under_way and not terminal.quiet:
            left = amount(worker.under_way, "call")
            terminal.say(f"stopping: {left} under way, {GRACE:g} s to end; once more ends at once")

    def ready() -> None:
        nonlocal begun
        begun = True
        if not terminal.quiet:
            names = ", ".join(engine.services) or "models alone"
            also = f", and {amount(request.runs, 'run')}" if worker.evaluator is not None else ""
            terminal.say(
                f"takes calls of the queue `{request.queue}` from Temporal at {worker.address}, "
                f"{request.slots} at a time{also}: {names}"
            )

    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C ends it at once
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
    try:
        await worker.run(stop, ready)
    except ProseError as error:
        if not begun:
            raise
        terminal.say(error.render(color=terminal.colors(terminal.err)))
        return EXIT["failed"]
    finally:
        await engine.models.release()
    if not terminal.quiet:
        done = made["value"] + made["error"]
        back = f", {made['given back']} given back" if made["given back"] else ""
        terminal.say(f"stopped: {amount(done, 'call')} made{back}")
    return 0
