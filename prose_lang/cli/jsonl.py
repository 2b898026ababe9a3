"""`--output jsonl`: every event of a run as one JSON object on a line of its own, as it happens."""

from __future__ import annotations

import signal
from typing import Any

from prose_lang.cli.hearing import Pieces
from prose_lang.cli.terminal import ReaderGone, Terminal
from prose_lang.diagnostics import ProseError
from prose_lang.runtime.events import CallFinished, CallStarted, Decided, Event, Noted, TextDelta, Warned
from prose_lang.values import TooLarge, handout


class JsonLines:
    """An observer that writes events to standard output. When nobody reads them any more the run is interrupted.

    Texts that come in pieces are written in pieces of whole words, so that no secret passes in two halves.
    """

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.gone = False
        self.pieces = Pieces()

    def __call__(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            for piece in self.pieces.next(event):
                self.put(piece)
            return
        if isinstance(event, CallFinished):
            for piece in self.pieces.rest(event.number):
                self.put(piece)
        self.put(event)

    def put(self, event: Event) -> None:
        """Write one event."""
        if self.gone:
            return
        try:
            self.terminal.write_json(event_json(event), one_line=True)
        except ReaderGone:
            self.gone = True
            signal.raise_signal(signal.SIGTERM)  # as if whoever closed the pipe had asked for it


def event_json(event: Event) -> dict[str, Any]:
    """An event as plain data.

    >>> event_json(Warned("P303", "no such key", "a.prose.md", 3))
    {'event': 'warning', 'code': 'P303', 'message': 'no such key', 'file': 'a.prose.md', 'line': 3}
    """
    match event:
        case CallFinished():
            plain = {"event": "call_finished", **_call(event)}
            if event.error is None:
                plain["value"] = _plain(event.value)
            else:
                plain["error"] = _error(event.error, event.heard)
            return {
                **plain,
                "attempts": event.attempts,
                "seconds": round(event.seconds, 6),
                "usage": event.usage,
                **({"recalled": True} if event.recalled else {}),
                **({"cached": True} if event.cached else {}),
            }
        case CallStarted():
            inputs = {name: _plain(value) for name, value in event.inputs.items()}
            return {"event": "call_started", **_call(event), "inputs": inputs}
        case TextDelta():
            return {
                "event": "text",
                "number": event.number,
                "address": event.address,
                "service": event.service,
                "request": event.request,
                "text": event.text,
            }
        case Decided():
            return {
                "event": "decision",
                "address": event.address,
                "text": event.text,
                "layer": event.layer,
                "holds": event.outcome,
                "values": {name: _plain(value) for name, value in event.values.items()},
                "reason": event.reason,
                **({} if event.judge is None else {"judge": event.judge}),
            }
        case Warned():
            return {
                "event": "warning",
                "code": event.code,
                "message": event.message,
                "file": event.file,
                "line": event.line,
            }
        case Noted():
            return {"event": "note", "what": event.what, "detail": _plain(event.detail)}


def _call(event: CallStarted) -> dict[str, Any]:
    return {"number": event.number, "kind": event.kind, "address": event.address, "service": event.service}


def _error(error: BaseException, heard: str | None = None) -> dict[str, Any]:
    plain: dict[str, Any]
    if isinstance(error, ProseError):
        plain = {"code": error.code, "name": error.name, "message": error.message}
    else:
        plain = {"code": None, "name": "cancelled", "message": "the call was cancelled"}
    answer = getattr(error, "answer", None)
    answer = heard if answer is None else answer
    return plain if answer is None else {**plain, "answer": answer}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseException):
        return _error(value)
    try:
        return handout(value)
    except TooLarge as error:
        return f"({error})"
