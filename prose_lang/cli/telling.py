"""What `-v` tells while a run goes on: each call as it ends, each decision; `-vv` also tracebacks of services."""

from __future__ import annotations

import asyncio
import traceback

from prose_lang.cli.places import passes
from prose_lang.cli.summary import error_text, name_text, result_text
from prose_lang.cli.terminal import Terminal
from prose_lang.cli.values import clipped
from prose_lang.diagnostics.visible import visible
from prose_lang.runtime.events import CallFinished, Decided, Event


class Telling:
    """An observer that says what happens on standard error."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    def __call__(self, event: Event) -> None:
        match event:
            case CallFinished():
                self.finished(event)
            case Decided():
                said = f"{event.text}: {_answer(event.outcome)} ({event.layer}: {event.reason})"
                self.terminal.say(self.placed(event.address, clipped(said, self.terminal.width)))
            case _:
                pass

    def finished(self, event: CallFinished) -> None:
        terminal = self.terminal
        error = _message(event.error)
        name = name_text(event.address, event.service)
        room = terminal.width - len(name) - len(passes(event.address)) - 4
        gave = result_text(
            event.value, error, event.attempts, event.seconds, room, terminal.redactor, recalled=event.recalled
        )
        terminal.say(self.placed(event.address, f"{name}  {gave if error is None else terminal.paint('31', gave)}"))
        if terminal.verbosity >= 2 and event.error is not None:
            for line in traceback_lines(event.error):
                terminal.say(line)

    def placed(self, address: str, text: str) -> str:
        where = passes(address)
        return f"{self.terminal.paint('36', where)}  {text}" if where else text


def traceback_lines(error: BaseException) -> list[str]:
    """The traceback of what a service raised; nothing for an error that is not a Python exception of somebody else."""
    cause = error.__cause__
    if cause is None:
        return []
    return [visible(line) for line in "".join(traceback.format_exception(cause)).splitlines()]


def _message(error: BaseException | None) -> str | None:
    if error is None:
        return None
    cancelled = isinstance(error, asyncio.CancelledError)
    return error_text(getattr(error, "code", None), str(error), cancelled=cancelled)


def _answer(outcome: object) -> str:
    return {True: "yes", False: "no"}[outcome] if isinstance(outcome, bool) else str(outcome)
