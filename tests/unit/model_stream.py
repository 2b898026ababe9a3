"""Streams of the server in `model_server.py`, good and bad ones."""

from __future__ import annotations

import json
from typing import Any

from model_server import USAGE, Behaviour, Exchange, resets


def piece(text: str | None = None, finish: str | None = None, **delta: Any) -> bytes:
    """One chunk of a text."""
    said = {**({} if text is None else {"content": text}), **delta}
    return _event({"choices": [{"index": 0, "delta": said, "finish_reason": finish}]})


def _event(parts: dict[str, Any]) -> bytes:
    plain = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **parts}
    return b"data: " + json.dumps(plain).encode() + b"\n\n"


def end(finish: str = "stop", usage: Any = USAGE) -> tuple[bytes, ...]:
    counted = () if usage is None else (_event({"choices": [], "usage": usage}),)
    return (piece(finish=finish), *counted, b"data: [DONE]\n\n")


def sends_events(*events: bytes, first: float = 0.0, gap: float = 0.0, then: Behaviour | None = None) -> Behaviour:
    """Events after `first` seconds, `gap` seconds apart; `then` is what becomes of the connection."""

    def answer(exchange: Exchange) -> None:
        over = exchange.server.over
        if first:
            over.wait(first)
        exchange.send_response_only(200)
        exchange.send_header("Content-Type", "text/event-stream")
        exchange.send_header("Connection", "close")
        exchange.end_headers()
        for event in events:
            exchange.wfile.write(event)
            exchange.wfile.flush()
            if gap:
                over.wait(gap)
        exchange.close_connection = True
        if then is not None:
            then(exchange)

    return answer


def streams(*texts: str, finish: str = "stop", usage: Any = USAGE, **options: Any) -> Behaviour:
    """An answer in pieces."""
    return sends_events(piece("", role="assistant"), *map(piece, texts), *end(finish, usage), **options)


def breaks_after(*texts: str) -> Behaviour:
    """A connection that is reset in the middle of an answer."""

    def reset_later(exchange: Exchange) -> None:
        exchange.server.over.wait(0.1)  # a reset takes back what has not been read yet
        resets(exchange)

    return sends_events(*map(piece, texts), then=reset_later)
