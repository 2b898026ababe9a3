"""One `prose run`, or one that is gone on with: put the engine together, run, and show what came of it in the form that
was asked for."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from prose_lang.cli.engines import cassette_of, model_settings, script_of_file, services_of_files
from prose_lang.cli.keeping import Keeping, engine_arguments, opened, say_unrecorded
from prose_lang.cli.names import read_names
from prose_lang.cli.options import RUN_SECONDS
from prose_lang.cli.queueing import Queueing, hand_over
from prose_lang.cli.reading import Reader
from prose_lang.cli.status import EXIT, error_without_code
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import CheckError, ProseError
from prose_lang.engine import Engine, Outcome, Pattern
from prose_lang.engine.recorded_names import named_by_data
from prose_lang.handlers import Limits

if TYPE_CHECKING:
    from prose_lang.handlers.trace import Observer


@attrs.frozen
class Going:
    """Which recorded run is gone on with, and how: its id, the beginning of it or `latest`, what `prose resume` says of
    changes and errors, and the words of `prose answer`."""

    run: str
    accept_changes: bool = False
    retry_errors: bool = False
    answers: tuple[str, ...] = ()


@attrs.frozen
class Request:
    """What was asked for on the command line; see `run_options.py`. `after` are the words after `--`.

    Limits that are not given are None, and `"none"` where they are lifted. With `going` a recorded run is gone on with:
    then `source` is None where it is the one of the record.
    """

    source: str | None = None
    names: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    script: str | None = None
    inputs: str | None = None
    model: str | None = None
    allow_model: bool = False
    judge: str | None = None
    no_judge: bool = False
    max_calls: int | str | None = None
    max_tokens: int | str | None = None
    max_cost: float | str | None = None
    timeout: float | str | None = None
    concurrency: int | str | None = None
    cassette: str | None = None
    cassette_mode: str | None = None
    strict: bool | None = None
    output: str = "human"
    ask: bool = False
    keeping: Keeping = attrs.field(factory=Keeping)
    going: Going | None = None
    queueing: Queueing = attrs.field(factory=Queueing)


@attrs.frozen
class Ending:
    """An outcome with what only a person wants to know: why it stopped, how long it took, how to go on from here, and
    whether the run was over before."""

    outcome: Outcome
    stopped: str | None = None
    seconds: float = 0.0
    command: str | None = None
    over: bool = False


def run(request: Request, terminal: Terminal) -> int:
    """Run or go on, show, and give the exit status."""
    with terminal.only_results():
        try:
            ending = _run(request, terminal) if request.going is None else _go_on(request, request.going, terminal)
        except ProseError as error:
            ending = Ending(Outcome("", "invalid", error=error, diagnostics=error.diagnostics))
        if ending is None:
            return 0
        show(ending, request.output, terminal)
        say_unrecorded(ending.outcome, terminal)
        if ending.outcome.status != "invalid":
            _tidy(request, terminal)
    return EXIT[ending.outcome.status]


def _run(request: Request, terminal: Terminal) -> Ending | None:
    """Run, and tell how it ended; None where the run was handed over."""
    reader = Reader()
    given = read_names(request.names, request.after, request.inputs, reader)
    observers = _observers(request, terminal)
    engine = engine_of(request, terminal, reader, observers, **engine_arguments(request.keeping, terminal))
    pattern = reader.pattern(engine, request.source or "")
    if request.ask:
        from prose_lang.cli.asking import ask

        given = {**given, **ask(engine.program(pattern), given)}
    if request.queueing.queue is not None and request.queueing.detach:
        hand_over(engine, pattern, given, request.queueing.queue, request.output, terminal, request.keeping.store)
        return None
    started = time.perf_counter()
    with _listening(observers):
        outcome = engine.outcome(pattern, given)
    return _ended(request, engine, pattern, outcome, started)


def _go_on(request: Request, going: Going, terminal: Terminal) -> Ending:
    from prose_lang.cli.names import read_answers
    from prose_lang.cli.run_list import run_of

    reader = Reader()
    given = read_names(request.names, request.after, request.inputs, reader)
    answers = read_answers(going.answers, reader)
    store = opened(request.keeping, terminal)
    record = run_of(store, going.run)
    observers = _observers(request, terminal)
    engine = engine_of(
        request, terminal, reader, observers, json.loads(record.options), store=store,
        durability=request.keeping.durability, on_store_error=request.keeping.on_store_error,
        cache=request.keeping.cache,
    )  # fmt: skip
    pattern = None if request.source is None else reader.pattern(engine, request.source)
    started = time.perf_counter()
    with _listening(observers):
        outcome = engine.interruptible(
            lambda holder: engine.resuming.outcome_async(
                record.id, given, holder, accept_changes=going.accept_changes, retry_errors=going.retry_errors,
                answers=answers, pattern=pattern,
            )
        )  # fmt: skip
    with ExitStack() as stack:
        if pattern is None and outcome.status == "ok" and request.output == "human":
            with suppress(ProseError):  # its file may be gone by now
                pattern = stack.enter_context(engine.resuming.pattern(record))
        ending = _ended(request, engine, pattern, outcome, started)
    asked_for = going.accept_changes or going.retry_errors
    over = record.status == outcome.status == "ok" and not asked_for
    return attrs.evolve(ending, over=over, seconds=record.seconds + ending.seconds)


def engine_of(
    request: Request,
    terminal: Terminal,
    reader: Reader,
    observers: Sequence[Observer] = (),
    recorded: Mapping[str, Any] = MappingProxyType({}),
    **more: Any,
) -> Engine:
    """The engine that is asked for. What is not given is as `recorded` of the run that is gone on with."""
    model = request.model or recorded.get("model")
    engine = Engine(
        services=services_of_files(request.services),
        script=script_of_file(request.script, reader),
        judge=_judge(request, recorded),
        models=model_settings(terminal, model, allow_models=request.allow_model),
        cassette=cassette_of(request.cassette, request.cassette_mode),
        transport=request.queueing.transport(terminal),
        limits=_limits(request, recorded.get("limits")),
        observers=observers,
        stream=_streams(request, terminal),
        strict=bool(recorded.get("strict")) if request.strict is None else request.strict,
        **more,
    )
    engine.models.keys.told = terminal.hide
    return engine


def _judge(request: Request, recorded: Mapping[str, Any]) -> str | None:
    """The judge by its name. One that data must not name has to be given again (CLI.md)."""
    judge: str | None = recorded.get("judge")
    if request.judge is not None or request.no_judge or judge is None:
        return request.judge
    if not named_by_data(judge):
        raise CheckError(
            "P203", f"the judge was `{judge}`, which a record must not bring back",
            hint=f"give it again: --judge {shlex.quote(judge)}; or go on without one: --no-judge",
        )  # fmt: skip
    return judge


@contextmanager
def _listening(observers: Sequence[Any]) -> Iterator[None]:
    with ExitStack() as stack:
        for observer in observers:
            if hasattr(observer, "__enter__"):
                stack.enter_context(observer)
        yield


def _ended(request: Request, engine: Engine, pattern: Pattern | None, outcome: Outcome, started: float) -> Ending:
    seconds = time.perf_counter() - started
    stopped = None if pattern is None else _why(engine, pattern, outcome, request)
    command = None
    if outcome.status not in ("ok", "invalid"):
        from prose_lang.cli.going_on import command_to_go_on

        command = command_to_go_on(request, engine, outcome)
    return Ending(outcome, stopped, seconds, command)


def _tidy(request: Request, terminal: Terminal) -> None:
    """Take away what is too old, where the project's settings say so: it may be due."""
    from prose_lang.cli.tidying import tidy_daily

    tidy_daily(request.keeping, terminal)


def _limits(request: Request, recorded: Mapping[str, Any] | None) -> Limits:
    """The limits that are given, in front of those of a record, in front of the usual ones."""
    found: dict[str, Any] = {"seconds": RUN_SECONDS} if recorded is None else dict(recorded)
    given = {
        "calls": request.max_calls,
        "tokens": request.max_tokens,
        "seconds": request.timeout,
        "concurrency": request.concurrency,
        "cost": request.max_cost,
    }
    found.update({name: None if value == "none" else value for name, value in given.items() if value is not None})
    if request.max_cost == "none":
        found["known_cost"] = None
    return Limits(**found)


def _observers(request: Request, terminal: Terminal) -> list[Any]:
    observers: list[Observer] = []
    if request.output == "jsonl":
        from prose_lang.cli.jsonl import JsonLines

        observers.append(JsonLines(terminal))
    if terminal.verbosity >= 1:
        from prose_lang.cli.telling import Telling

        observers.append(Telling(terminal))
    if request.output == "human" and _streams(request, terminal):
        from prose_lang.cli.progress import Progress

        name = request.source or (request.going.run if request.going is not None else "")
        observers.append(Progress(terminal, name))
    return observers


def _streams(request: Request, terminal: Terminal) -> bool:
    """Whether anybody wants to hear answers come: a live line, or a reader of events under `-v`."""
    if request.output == "jsonl":
        return terminal.verbosity >= 1
    return request.output == "human" and terminal.live and not terminal.quiet


def _why(engine: Engine, pattern: Pattern, outcome: Outcome, request: Request) -> str | None:
    if request.output != "human" or outcome.status != "ok" or not outcome.trace.decisions:
        return None
    from prose_lang.cli.stopping import why_it_stopped

    return why_it_stopped(engine.program(pattern), outcome.trace.decisions)


# --- showing ---------------------------------------------------------------------------------------------------------


def show(ending: Ending, output: str, terminal: Terminal) -> None:
    """Show how it ended, in the form that was asked for."""
    match output:
        case "json":
            terminal.write_json(_plain(ending))
        case "jsonl":
            terminal.write_json({"event": "end", **_plain(ending)}, one_line=True)
        case _:
            _show_person(ending, terminal)


def _plain(ending: Ending) -> Mapping[str, Any]:
    """The object of `--json`. The command that goes on with the run is the last line of `error.hint`."""
    outcome = ending.outcome
    plain = {**outcome.as_json(), "run_id": outcome.run_id or None}
    if outcome.status == "interrupted":
        plain["error"] = error_without_code("interrupted", "the run was interrupted", ending.command)
    elif ending.command is not None and plain["error"] is not None:
        hints = [hint for hint in (plain["error"]["hint"], ending.command) if hint is not None]
        plain["error"] = {**plain["error"], "hint": "\n".join(hints)}
    return plain


def _show_person(ending: Ending, terminal: Terminal) -> None:
    outcome = ending.outcome
    has_value = outcome.status == "ok" and outcome.value is not None
    if has_value:
        from prose_lang.cli.values import written

        terminal.write(written(outcome.value, harmless=terminal.out.isatty()))
    if ending.over:
        if not terminal.quiet:
            terminal.say(f"the run {outcome.run_id} was over; this is what it gave")
        return
    if outcome.status != "invalid" and not terminal.quiet:
        from prose_lang.cli.summary import summary

        if has_value and terminal.out.isatty() and terminal.err.isatty():
            terminal.say("")
        for line in summary(outcome, ending.stopped, ending.seconds, terminal):
            terminal.say(line)
        if outcome.error is not None:
            terminal.say("")
    if outcome.status == "interrupted":
        terminal.say("interrupted")
    elif outcome.error is not None:
        terminal.say(outcome.error.render(color=terminal.colors(terminal.err)))
    elif not has_value and not terminal.quiet:
        terminal.say("the result is null")
    if ending.command is not None and (outcome.status == "interrupted" or not terminal.quiet):
        mended = "once that is mended, " if "--accept-changes" in ending.command and outcome.status == "failed" else ""
        terminal.say(f"{mended}go on with: {ending.command}")
