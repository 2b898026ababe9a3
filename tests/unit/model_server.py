"""A server on 127.0.0.1 that speaks the OpenAI chat API, and misbehaves as it is told. Requests are counted as they
come.

A behaviour is a function of the exchange. `server.script` holds those of the next requests; `server.always` the one
after.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Exchange"], None]


class Exchange(BaseHTTPRequestHandler):
    """One request and its answer."""

    protocol_version = "HTTP/1.1"
    server: ChatServer

    def log_message(self, *parts: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(self.body)
            self.server.under_way += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.under_way)
            behaviour = self.server.script.popleft() if self.server.script else self.server.always
        try:
            behaviour(self)
        except OSError:
            self.close_connection = True  # the client has gone: it gave up, or was cancelled
        finally:
            with self.server.lock:
                self.server.under_way -= 1

    def send(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response_only(status)
        if "Date" not in (headers or {}):
            self.send_header("Date", self.date_time_string())
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


class ChatServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.script: deque[Behaviour] = deque()
        self.always: Behaviour = says("fine")
        self.under_way = self.most_at_once = 0
        self.over = threading.Event()  # who lets a client wait waits for this, so that no thread outlives a test

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def begin(self, *script: Behaviour, always: Behaviour | None = None) -> None:
        """Forget what was, and behave like this."""
        self.over.set()
        self.over = threading.Event()
        self.requests = []
        self.script = deque(script)
        self.always = always or says("fine")
        self.under_way = self.most_at_once = 0

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a reset is what some tests are about


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    server = ChatServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


# --- behaviours ------------------------------------------------------------------------------------------------------

USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def completion(text: str | None, usage: Any = USAGE, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": finish,
                     "message": {"role": "assistant", "content": text, **message}}],
        **({"usage": usage} if usage is not None else {}),
    }  # fmt: skip


def says(text: str | None, after: float = 0.0, **options: Any) -> Behaviour:
    def answer(exchange: Exchange) -> None:
        if after:
            exchange.server.over.wait(after)
        exchange.send(200, json.dumps(completion(text, **options)).encode())

    return answer


def gives(**fields: Any) -> Behaviour:
    return says(json.dumps(fields))


def fails(status: int, message: str = "no", **headers: str) -> Behaviour:
    """An error; `{key}` in the message is the key that was sent."""

    def answer(exchange: Exchange) -> None:
        said = message.replace("{key}", exchange.headers.get("Authorization", ""))
        data = json.dumps({"error": {"message": said, "type": "t", "code": "c"}}).encode()
        exchange.send(status, data, {name.replace("_", "-"): value for name, value in headers.items()})

    return answer


def sends(data: bytes) -> Behaviour:
    """A body that is no answer."""
    return lambda exchange: exchange.send(200, data)


def breaks_off(exchange: Exchange) -> None:
    """A body that is shorter than announced."""
    exchange.send_response(200)
    exchange.send_header("Content-Length", "1000")
    exchange.end_headers()
    exchange.wfile.write(b'{"choices": [')
    exchange.close_connection = True


def resets(exchange: Exchange) -> None:
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.connection.close()
    exchange.close_connection = True


def never_answers(exchange: Exchange) -> None:
    exchange.server.over.wait(30)
    exchange.close_connection = True


def drips(exchange: Exchange) -> None:
    """A byte now and then, so that no wait for the next byte is ever long."""
    exchange.send_response(200)
    exchange.send_header("Content-Type", "application/json")
    exchange.send_header("Content-Length", "100000")
    exchange.end_headers()
    until = time.monotonic() + 30
    while not exchange.server.over.wait(0.02) and time.monotonic() < until:
        exchange.wfile.write(b" ")
        exchange.wfile.flush()
