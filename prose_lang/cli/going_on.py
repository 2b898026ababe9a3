"""The command that goes on with a run: what a person is told when one was interrupted, stopped, or waits for them.

It is complete: what a record must not bring back is named again, as it was written, quoted for a shell. What the record
holds is left out.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prose_lang.cli.names import assignment, upstream
from prose_lang.cli.places import role
from prose_lang.diagnostics import ProseError
from prose_lang.engine.recorded_names import must_be_given_again, named_by_data

if TYPE_CHECKING:
    from prose_lang.cli.running import Request
    from prose_lang.engine import Engine, Outcome

#: Errors for which a service, and not the program, is the reason: calling it again may help.
_OF_SERVICES = frozenset({"P305", "P401", "P404", "P406", "P407", "P408"})
#: Errors after which the same call is tried again anyway, once what was missing is there.
_TRIED_AGAIN = frozenset({"P402", "P403", "P409", "P410", "P501", "P503", "P504"})


def command_to_go_on(request: Request, engine: Engine, outcome: Outcome) -> str | None:
    """The command; None for a run that has no record to go on from. One that breaks off is one."""
    if engine.records is None:
        return None
    try:
        names = json.loads(engine.records.store.run(outcome.run_id).names)
    except ProseError:
        return None
    words = ["prose", "answer" if outcome.status == "waiting" else "resume", outcome.run_id]
    if outcome.status == "waiting":
        words += _answers(outcome)
        words += [word for name in _names_again(request, names) for word in ("--given", name)]
    else:
        words += _names_again(request, names)
    words += _options(request)
    if outcome.status == "limited":
        words += _raised(engine, outcome)
    if outcome.status == "failed":
        words += _mended(outcome)
    return " ".join(word if word.endswith("=…") else shlex.quote(word) for word in words)


def _answers(outcome: Outcome) -> Iterator[str]:
    waiting = [call for call in outcome.trace.calls if call.error is not None and call.error["code"] == "P411"]
    names = [role(call.address) or call.service for call in waiting]
    for call, name in zip(waiting, names, strict=True):
        yield f"{shlex.quote(name if names.count(name) == 1 else call.address)}=…"
    if not waiting:  # a judge is no call of the trace
        yield "judge=…"


def _names_again(request: Request, names: dict[str, Any]) -> Iterator[str]:
    """What has to be given again, as it was written; a secret is not repeated."""
    words = {word.name: f"{word.name}{word.form}{word.text}" for word in map(assignment, request.names)}
    files = {word.name for word in map(assignment, request.names) if word.form == "=@"}
    words.update({word.name: f"{word.name}{word.form}{word.text}" for word in upstream(request.after)})
    for name, text in must_be_given_again(names):
        if name in names["hidden"] and name not in files:
            yield f"{name}=…"
        else:
            yield words.get(name, f"{name}={text}")


def _options(request: Request) -> Iterator[str]:
    """Options that no record holds; what was changed for a run that was gone on with is none of its record either."""
    for file in request.services:
        yield from ("--services", file)
    for option, value in (("--script", request.script), ("--cassette", request.cassette)):
        if value is not None:
            yield from (option, value)
    if request.cassette_mode is not None:
        yield from ("--cassette-mode", request.cassette_mode)
    if request.allow_model:
        yield "--allow-model"
    if request.judge is not None and (request.going is not None or not named_by_data(request.judge)):
        yield from ("--judge", request.judge)
    if request.going is not None:
        yield from _changed(request)
    if request.keeping.store is not None:
        yield from ("--store", request.keeping.store)
    if request.keeping.durability != "normal":
        yield from ("--durability", request.keeping.durability)
    if request.keeping.on_store_error != "continue":
        yield from ("--on-store-error", request.keeping.on_store_error)
    if request.keeping.cache is not None:
        yield from ("--cache", request.keeping.cache)
    yield from request.queueing.words()


def _changed(request: Request) -> Iterator[str]:
    if request.no_judge:
        yield "--no-judge"
    if request.model is not None:
        yield from ("--model", request.model)
    if request.strict is not None:
        yield "--strict" if request.strict else "--no-strict"
    for option, value in (
        ("--max-calls", request.max_calls), ("--max-tokens", request.max_tokens), ("--max-cost", request.max_cost),
        ("--timeout", request.timeout), ("--concurrency", request.concurrency),
    ):  # fmt: skip
        if value is not None:
            yield from (option, value if isinstance(value, str) else f"{value:g}")


def _raised(engine: Engine, outcome: Outcome) -> Iterator[str]:
    """The limit that stopped the run, twice as high."""
    assert outcome.error is not None, "a run that a limit stopped has an error"
    limits, hint, message = engine.limits, outcome.error.hint or "", outcome.error.message
    option: str | None = None
    limit: float | None = None
    if "--max-calls" in hint:
        option, limit = "--max-calls", limits.calls
    elif "--timeout" in hint or "time of" in message:
        option, limit = "--timeout", limits.seconds
    elif "--max-tokens" in hint and "tokens" in message:
        option, limit = "--max-tokens", limits.tokens
    elif "--max-cost" in hint:
        option, limit = "--max-cost", limits.cost or limits.known_cost
    if option is not None and limit is not None:
        yield from (option, f"{2 * limit:.12g}")


def _mended(outcome: Outcome) -> Iterator[str]:
    """What makes a failed run go further: a service that is called again, or a program that was mended."""
    code = outcome.error.code if outcome.error is not None else None
    if code in _OF_SERVICES:
        yield "--retry-errors"
    elif code not in _TRIED_AGAIN:
        yield "--accept-changes"
