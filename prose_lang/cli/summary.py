"""The end of a run for a person: its calls in program order with what they gave, why it stopped, what it consumed.

Plain lines; colour is the terminal's business. Nothing here is meant to be parsed: `--json` is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from prose_lang.cli.places import called, passes
from prose_lang.cli.values import brief, clipped
from prose_lang.diagnostics.visible import visible, width_of
from prose_lang.text import amount

if TYPE_CHECKING:
    from prose_lang.cli.terminal import Terminal
    from prose_lang.diagnostics import Diagnostic
    from prose_lang.diagnostics.redact import Redactor
    from prose_lang.engine import CallRecord, Outcome, WarningRecord
    from prose_lang.runtime.effects import Usage

#: Calls that are listed; of more the first and the last are.
MOST_CALLS = 40
#: Warnings that are listed.
_MOST_WARNINGS = 10
#: Columns of the name of who was called.
_NAME_WIDTH = 40


def summary(outcome: Outcome, stopped: str | None, seconds: float, terminal: Terminal) -> Iterator[str]:
    """The lines of the summary of a run."""
    if terminal.verbosity < 1:  # `-v` has shown them as they ended
        yield from _calls(outcome.trace.calls, terminal)
    if stopped is not None:
        yield terminal.paint("1", clipped(terminal.redactor.text(stopped), terminal.width))
    yield from _checks([item for item in outcome.diagnostics if item.severity.value == "warning"], terminal)
    yield from _warnings(outcome.trace.warnings, terminal)
    yield terminal.paint("2", usage_text(outcome.usage, seconds))


def result_text(
    value: object,
    error: str | None,
    attempts: int,
    seconds: float,
    room: int,
    redactor: Redactor,
    *,
    recalled: bool = False,
) -> str:
    """What a call gave, or the text of its `error`, in how long, in `room` columns.

    Without an attempt it came from the cache.
    """
    again = f", {attempts} attempts" if attempts > 1 else "" if attempts or error is not None else ", from the cache"
    took = f"({seconds:.2f} s{again}{', read back' if recalled else ''})"
    left = max(20, room - len(took) - 2)
    # Redacted before it is cut: half a secret would not be recognised.
    gist = brief(redactor.value(value), left) if error is None else clipped(redactor.text(error), left)
    return f"{gist}  {took}"


def error_text(code: str | None, message: str, *, cancelled: bool = False) -> str:
    """Why a call gave no value, in the words of `prose trace`.

    >>> error_text("P411", "a person has to answer: Well?"), error_text("P406", "no paper")
    ('waits for a person: Well?', 'failed: no paper')
    """
    if code == "P411":
        return f"waits for a person: {message.removeprefix('a person has to answer: ')}"
    return "cut off" if cancelled else f"failed: {message}"


def name_text(address: str, service: str) -> str:
    """Who was called, for a column of names."""
    return clipped(called(address, service), _NAME_WIDTH)


def usage_text(usage: Usage, seconds: float) -> str:
    """What a run consumed. An unknown cost is said to be unknown, none is not mentioned."""
    parts = [amount(usage.calls, "call")]
    if usage.cached:
        parts.append(f"{usage.cached:,} from the cache")
    parts.append(f"{seconds:.2f} s")
    if usage.tokens_in or usage.tokens_out:
        parts.append(f"{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out")
    if usage.cost is None:
        parts.append("cost unknown")
    elif usage.cost:
        parts.append(f"${usage.cost:.4f}")
    return ", ".join(parts)


def _calls(calls: Sequence[CallRecord], terminal: Terminal) -> Iterator[str]:
    listed: list[CallRecord | None] = list(calls)
    if len(calls) > MOST_CALLS:
        half = MOST_CALLS // 2
        listed = [*calls[:half], None, *calls[-half:]]
    places = [passes(call.address) if call is not None else "" for call in listed]
    margin = min(max(map(len, places), default=0), 30)
    shown = [call for call in listed if call is not None]
    names = max((width_of(name_text(call.address, call.service)) for call in shown), default=0)
    room = terminal.width - margin - names - 4
    before = None
    for call, place in zip(listed, places, strict=True):
        if call is None:
            yield f"… {len(calls) - MOST_CALLS:,} more calls; --json has them all"
            before = None
            continue
        label = clipped(place, 30) if place != before else ""
        before = place
        name = name_text(call.address, call.service)
        error = None
        if call.error is not None:
            cancelled = call.error["name"] == "cancelled"
            error = error_text(call.error["code"], call.error["message"], cancelled=cancelled)
        gave = result_text(
            call.value, error, call.attempts, call.seconds, room, terminal.redactor, recalled=call.recalled
        )
        gave = terminal.paint("31", gave) if error is not None else gave
        line = f"{name}{' ' * (names - width_of(name))}  {gave}"
        yield f"{terminal.paint('36', label)}{' ' * (margin - width_of(label))}  {line}" if margin else line


def _checks(found: Sequence[Diagnostic], terminal: Terminal) -> Iterator[str]:
    """Warnings of the check, each on a line: `prose check` shows them in full."""
    for item in found[:_MOST_WARNINGS]:
        name = item.source.name if item.source is not None else ""
        yield _warning(item.name, f"{name}:{item.line}" if item.line is not None else name, item.message, terminal)
    if len(found) > _MOST_WARNINGS:
        yield f"… {len(found) - _MOST_WARNINGS:,} more; `prose check` shows them"


def _warnings(found: Sequence[WarningRecord], terminal: Terminal) -> Iterator[str]:
    for item in found[:_MOST_WARNINGS]:
        often = f" ({item.count} times)" if item.count > 1 else ""
        yield _warning(item.code, f"{item.file}:{item.line}", f"{item.message}{often}", terminal)
    if len(found) > _MOST_WARNINGS:
        yield f"… {len(found) - _MOST_WARNINGS:,} more warnings; --json has them all"


def _warning(what: str, place: str, message: str, terminal: Terminal) -> str:
    where = f"{visible(place)}: " if place else ""
    return f"{terminal.paint('1;33', f'warning[{what}]')} {where}{visible(' '.join(message.split()))}"
