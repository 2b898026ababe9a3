"""A run with its handlers, before it starts: its counters, its trace, its clock, which do not outlive it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from prose_lang.handlers import Recorder, compose
from prose_lang.handlers.cache import Cache
from prose_lang.handlers.clock import LoopClock
from prose_lang.handlers.limits import Limiter
from prose_lang.runtime.activation import Run
from prose_lang.runtime.conversations import Memory
from prose_lang.runtime.effects import Service

if TYPE_CHECKING:
    from prose_lang.cassettes import Part
    from prose_lang.engine.engine import Engine
    from prose_lang.engine.recording import Recording
    from prose_lang.handlers.remote import Remote


def new_run_id() -> str:
    """An identifier that sorts by time: hexadecimal milliseconds and six random digits."""
    return f"{int(time.time() * 1000):x}-{os.urandom(3).hex()}"


def new_run(
    engine: Engine,
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
    """A run as an engine makes them, and what notes its events; with `keep` off that keeps no calls."""
    clock = LoopClock()
    recorder = Recorder(clock, engine.observers, keep=keep, stream=engine.stream)
    journal = recording.journal if recording is not None else None
    recorder.keeper = journal
    told = keep or bool(engine.observers) or journal is not None
    run = Run(
        run_id=run_id,
        strict=engine.strict,
        max_depth=engine.max_depth,
        max_passes=engine.max_passes,
        judge=judge,
        session=session,
        memory=memory,
        rules=engine.conditions,
        on_warning=recorder.warned,
        on_decision=recorder.decided if told else None,
        on_event=recorder.noted if told else None,
        ledger=journal,
    )
    remote: Remote | None = None
    if engine.transport is not None:
        from prose_lang.handlers.remote import Remote

        store = None if recording is None else recording.store
        remote = Remote(engine.transport, run_id, engine.services, store)
    limiter = Limiter(engine.limits, clock, 0.0 if recording is None else recording.before)
    run.perform, run.perform_composite = compose(
        recorder, limiter, clock, run_id, part, engine.models.keys.redactor, journal,
        recording.spent if recording is not None else (), remote, cache,
    )  # fmt: skip
    return recorder, run
