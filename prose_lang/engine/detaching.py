"""Runs that no process of the user waits for: put on record here, evaluated by a worker, or by another if that dies.

What such a run is given has to be known wherever it is evaluated: values, registered names, entries, `stdlib:` and
models. A function, a `cmd:`, `py:` or path is of this process or this machine, and a secret is not kept in a record.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics import CheckError, Diagnostic, ProseError, RunError
from prose_lang.engine.given import Given
from prose_lang.engine.new_run import new_run_id
from prose_lang.engine.recording import About, new_record, outcome_data
from prose_lang.journal import Finished, Store
from prose_lang.semantics import Program
from prose_lang.semantics.persistence import RUN, persisted
from prose_lang.services import parse_reference
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk
from prose_lang.text import Span
from prose_lang.transports import RunTask

if TYPE_CHECKING:
    from prose_lang.engine.engine import Engine
    from prose_lang.engine.outcome import Outcome
    from prose_lang.engine.pattern import Pattern

_KNOWN_EVERYWHERE = "a detached run can be given values, registered names, entries of its file, `stdlib:` and models"


async def detached(engine: Engine, pattern: Pattern, names: Mapping[str, Any]) -> str:
    """Check a run, put it on record, and hand it to the workers of the engine's transport; gives its id.

    Raises CheckError with everything that is wrong or cannot be given to another process, StoreError, RunError P504,
    and ValueError for an engine without a store or a transport, or with conditions of its own.
    """
    if engine.records is None or engine.transport is None:
        raise ValueError("a detached run needs Engine(store=…, transport=…)")
    if engine.conditions:
        raise ValueError("a detached run cannot be given conditions of the host's table")
    what, programs = engine.recordable(pattern, names)
    check_conversations(programs)
    models = given_elsewhere(what, engine.judge)
    await engine.transport.open()
    store, run = engine.records.store, new_run_id()
    await asyncio.to_thread(store.create, new_record(run, pattern, what), what.sources)
    try:
        await engine.transport.start(RunTask(run, models))
    except BaseException:
        await asyncio.to_thread(store.remove, [run])
        raise
    return run


def check_conversations(programs: Iterable[Program]) -> None:
    """Raise CheckError P212 for a conversation that is kept in a folder: of this machine, and not of a worker's."""
    found: list[Diagnostic] = []
    for program in programs:
        if program.body is None:
            continue
        for node in walk(program.body):
            if not isinstance(node, (n.AgentDef, n.Session, n.Resume)):
                continue
            scope = persisted(node.properties)
            if scope not in (None, RUN):
                message = f"`persist: {scope}` keeps a conversation in a folder of this machine; workers do not have it"
                hint = "a detached run can keep it in the run: persist: true"
                found.append(Diagnostic("P212", message, program.source, Span(node.start, node.end), hint=hint))
    if found:
        raise CheckError.from_diagnostics(found)


def given_elsewhere(what: About, judge: Any = None) -> dict[str, Any]:
    """The models among what a run is given, which go with it. Raises CheckError for what is of this process alone."""
    found: list[Diagnostic] = []
    models: dict[str, Any] = {}
    for name in what.names["hidden"]:
        found.append(
            Diagnostic("P203", f"`{name}` holds a secret, which no record keeps", None, None, hint=_KNOWN_EVERYWHERE)
        )
    for name, services in what.names["services"].items():
        several = services if isinstance(services, list) else [services]
        if not any(service["again"] for service in several):
            continue
        texts = [service["text"] for service in several]
        away = [f"`{service['text']}`" for service in several if service["again"] and not _is_reference(service)]
        if away:
            message = f"`{name}` is bound to {', '.join(away)}, which other processes do not have"
            found.append(Diagnostic("P203", message, None, None, hint=_KNOWN_EVERYWHERE))
        models[name] = texts if isinstance(services, list) else texts[0]
    if judge is not None and not (isinstance(judge, str) and _everywhere(judge)):
        called = judge if isinstance(judge, str) else getattr(judge, "name", None) or "of this program"
        message = f"the judge `{called}` is one that other processes do not have"
        found.append(Diagnostic("P203", message, None, None, hint=_KNOWN_EVERYWHERE))
    if found:
        raise CheckError.from_diagnostics(found)
    return models


def _is_reference(service: Mapping[str, Any]) -> bool:
    """Whether what a record tells of a slot's service is a reference that means the same everywhere."""
    return service["what"] == "a reference" and all(map(_everywhere, service["text"].split(",")))


def _everywhere(text: str) -> bool:
    try:
        return parse_reference(text, trusted=True).kind in ("model", "local", "name", "library")
    except ProseError:
        return False


def judge_of(options: Mapping[str, Any]) -> str | None:
    """The judge of a record, if it is one that a record may bring back with the user's word: a name or a model.

    Raises RunError P501 for another, which nobody put there who went through `detached`.
    """
    judge = options.get("judge")
    if judge is None or (isinstance(judge, str) and _everywhere(judge)):
        return judge
    raise RunError("P501", f"the record names the judge `{judge}`, which a record must not bring back")


def names_of(task: RunTask) -> dict[str, Given]:
    """What a run is given again by the task that hands it over: models, and services beside them in a list.

    Raises RunError P501 for anything else.
    """
    made: dict[str, Given] = {}
    for name, texts in task.models.items():
        several = texts if isinstance(texts, list) else [texts]
        if not all(isinstance(text, str) and all(map(_everywhere, text.split(","))) for text in several):
            message = f"the run {task.run} was handed over with a binding of `{name}` that names no model"
            raise RunError("P501", message)
        made[name] = Given(texts, text=isinstance(texts, str), trusted=True)
    return made


def put_down(store: Store, run: str, outcome: Outcome) -> None:
    """Write that a detached run could not even begin where it was evaluated. Raises StoreError."""
    store.write([Finished(run, outcome.status, json.dumps(outcome_data(outcome)), time.time())])
