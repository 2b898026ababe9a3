"""Servers that tests start for themselves, on loopback, in a temporary folder, and that never outlive the tests.

A server is a child of `guard.py`, which ends it when the tests' end of a pipe closes: so also when they were killed.
One that is not installed skips the tests that need it, with the reason; with `PROSE_REQUIRE_SERVERS=1`, as in CI, that
is a failure instead.

A kind of server is a module beside this one with a session-scoped fixture that `conftest.py` imports. `temporal.py` is
the example: find the program (or `missing`), make a `Guarded` one, wait until it answers, yield its address, stop it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import pytest

#: If this variable is 1, a server that is not installed is a failure and no reason to skip.
REQUIRE = "PROSE_REQUIRE_SERVERS"


def missing(reason: str) -> NoReturn:
    """Skip what needs the server, or fail where servers must be there."""
    if os.environ.get(REQUIRE, "") in ("", "0"):
        pytest.skip(reason)
    pytest.fail(f"{reason}, and {REQUIRE} is set", pytrace=False)


def program(name: str) -> str | None:
    """The path of a program: beside this interpreter, where pip puts it, or on the search path."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if os.access(beside, os.X_OK) else shutil.which(name)


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on. Somebody may take one before it is used: be ready to ask again."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class Guarded:
    """A process that ends when this one does. `stop_signal` is what ends it in order; after 10 s it is killed.

    Its output goes to `FOLDER/output`. With `user` (a name) it runs as that one, if this process is root.
    """

    def __init__(
        self, command: Sequence[str], folder: Path, *, stop_signal: int = signal.SIGKILL, user: str | None = None
    ) -> None:
        self.output = folder / "output"
        guard = [sys.executable, "-I", "-S", str(Path(__file__).with_name("guard.py")), str(int(stop_signal))]
        with self.output.open("ab") as output:
            self._guard = subprocess.Popen(
                [*guard, user or "", *command], stdin=subprocess.PIPE, stdout=output, stderr=output,
                cwd=folder, start_new_session=True,
            )  # fmt: skip

    @property
    def running(self) -> bool:
        return self._guard.poll() is None

    def stop(self) -> None:
        """End the process and wait until it is gone."""
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        self._guard.wait(timeout=30)

    def wait_until(self, answers: Callable[[], bool], seconds: float = 20.0) -> bool:
        """Ask until it answers; False if the process has ended instead. Raises TimeoutError."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if answers():
                return True
            if not self.running:
                return False
            time.sleep(0.02)  # a process of its own can tell nothing but by its port
        raise TimeoutError(f"the server did not answer within {seconds:g} s: {self.said()}")

    def said(self) -> str:
        """The end of what it printed."""
        return self.output.read_text(errors="replace")[-2000:]


class Server:
    """What runs a `Guarded` process in a temporary folder. `start` begins it, and what it keeps outlives `stop`."""

    def __init__(self, name: str) -> None:
        self.folder = temporary_folder(name)
        self._process: Guarded | None = None

    def stop(self) -> None:
        """End it at once, as a power cut would: connections break off, and what was under way is lost."""
        if self._process is not None:
            self._process.stop()

    def close(self) -> None:
        """End it and throw away what it keeps."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _said(self) -> str:
        return self._process.said() if self._process is not None else ""


def listens(port: int) -> bool:
    """Whether somebody accepts connections on a port of loopback."""
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0


def temporary_folder(name: str) -> Path:
    """A new folder outside of pytest's own: its paths are short enough for sockets, and it can be given away."""
    return Path(tempfile.mkdtemp(prefix=f"prose-{name}-"))
