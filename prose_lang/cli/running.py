"""One `prose run`: put the engine together, run, and show what came of it in the form that was asked for."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import attrs

from prose_lang.cli.engines import cassette_of, model_settings, script_of_file, services_of_files
from prose_lang.cli.keeping import Keeping, engine_arguments, say_unrecorded
from prose_lang.cli.names import read_names
from prose_lang.cli.reading import Reader
from prose_lang.cli.status import EXIT
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import ProseError
from prose_lang.engine import Engine, Outcome, Pattern
from prose_lang.handlers import Limits

if TYPE_CHECKING:
    from prose_lang.handlers.trace import Observer


@attrs.frozen
class Request:
    """What was asked for on the command line; see the options of `run.py`. `after` are the words after `--`."""

    source: str
    names: tuple[str, ...]
    after: tuple[str, ...]
    services: tuple[str, ...]
    script: str | None
    inputs: str | None
    model: str | None
    allow_model: bool
    judge: str | None
    max_calls: int | None
    max_tokens: int | None
    max_cost: float | str | None  # None is not given, "none" lifts the limit of known cost too
    timeout: float | None
    concurrency: int | None
    cassette: str | None
    cassette_mode: str | None
    strict: bool
    output: str
    ask: bool
    keeping: Keeping = attrs.field(factory=Keeping)


@attrs.frozen
class _Ending:
    """An outcome with what only a person wants to know: why it stopped, and how long it took."""

    outcome: Outcome
    stopped: str | None = None
    seconds: float = 0.0


def run(request: Request, terminal: Terminal) -> int:
    """Run, show, and give the exit status."""
    with terminal.only_results():
        try:
            ending = _run(request, terminal)
        except ProseError as error:
            ending = _Ending(Outcome("", "invalid", error=error, diagnostics=error.diagnostics))
        _show(ending, request.output, terminal)
        say_unrecorded(ending.outcome, terminal)
    return EXIT[ending.outcome.status]


def _run(request: Request, terminal: Terminal) -> _Ending:
    reader = Reader()
    given = read_names(request.names, request.after, request.inputs, reader)
    observers = _observers(request, terminal)
    engine = Engine(
        services=services_of_files(request.services),
        script=script_of_file(request.script, reader),
        judge=request.judge,
        models=model_settings(terminal, request.model, allow_models=request.allow_model),
        cassette=cassette_of(request.cassette, request.cassette_mode),
        limits=_limits(request),
        observers=observers,
        stream=_streams(request, terminal),
        strict=request.strict,
        **engine_arguments(request.keeping, terminal),
    )
    engine.models.keys.told = terminal.hide
    pattern = reader.pattern(engine, request.source)
    if request.ask:
        from prose_lang.cli.asking import ask

        given = {**given, **ask(engine.program(pattern), given)}
    started = time.perf_counter()
    with ExitStack() as stack:
        for observer in observers:
            if hasattr(observer, "__enter__"):
                stack.enter_context(observer)
        outcome = engine.outcome(pattern, given)
    seconds = time.perf_counter() - started
    return _Ending(outcome, _why(engine, pattern, outcome, request), seconds)


def _limits(request: Request) -> Limits:
    cost = request.max_cost
    money: dict[str, Any] = {} if cost is None else {"known_cost": None} if cost == "none" else {"cost": cost}
    return Limits(
        calls=request.max_calls,
        tokens=request.max_tokens,
        seconds=request.timeout,
        concurrency=request.concurrency,
        **money,
    )


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

        observers.append(Progress(terminal, request.source))
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


def _show(ending: _Ending, output: str, terminal: Terminal) -> None:
    match output:
        case "json":
            terminal.write_json(_plain(ending.outcome))
        case "jsonl":
            terminal.write_json({"event": "end", **_plain(ending.outcome)}, one_line=True)
        case _:
            _show_person(ending, terminal)


def _plain(outcome: Outcome) -> Mapping[str, Any]:
    return {**outcome.as_json(), "run_id": outcome.run_id or None}


def _show_person(ending: _Ending, terminal: Terminal) -> None:
    outcome = ending.outcome
    has_value = outcome.status == "ok" and outcome.value is not None
    if has_value:
        from prose_lang.cli.values import written

        terminal.write(written(outcome.value, harmless=terminal.out.isatty()))
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
