"""The servers that tests start: they come up on loopback, side by side, and never outlive the tests."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from servers import REQUIRE, Guarded, free_ports, listens, missing
from servers.temporal import TemporalServer

_TESTS = Path(__file__).parent.parent
_SERVER = "import socket, sys, time; s = socket.create_server(('127.0.0.1', int(sys.argv[1]))); time.sleep(600)"


def _wait(condition, seconds: float = 20.0) -> bool:
    import time

    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_a_guarded_process_ends_when_it_is_stopped(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    guarded = Guarded([sys.executable, "-c", _SERVER, str(port)], tmp_path)
    assert guarded.wait_until(lambda: listens(port))
    guarded.stop()
    assert not guarded.running
    assert not listens(port)


def test_waiting_for_a_process_that_ended_says_so(tmp_path: Path) -> None:
    guarded = Guarded([sys.executable, "-c", "print('no database here'); raise SystemExit(3)"], tmp_path)
    assert not guarded.wait_until(lambda: False)
    assert guarded.said() == "no database here\n"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_guarded_process_ends_when_the_tests_are_killed(tmp_path: Path, how: signal.Signals) -> None:
    (port,) = free_ports(1)
    text = f"""
import sys, time
from pathlib import Path
from servers import Guarded
guarded = Guarded([sys.executable, "-c", {_SERVER!r}, "{port}"], Path({str(tmp_path)!r}))
time.sleep(600)
"""
    tests = subprocess.Popen([sys.executable, "-c", text], cwd=_TESTS, stderr=subprocess.DEVNULL)
    assert _wait(lambda: listens(port))
    tests.send_signal(how)
    tests.wait()
    assert _wait(lambda: not listens(port))


def test_a_server_that_is_not_installed_skips_or_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REQUIRE, raising=False)
    with pytest.raises(pytest.skip.Exception, match="nothing here"):
        missing("nothing here")
    monkeypatch.setenv(REQUIRE, "1")
    with pytest.raises(pytest.fail.Exception, match="nothing here, and PROSE_REQUIRE_SERVERS is set"):
        missing("nothing here")


def test_two_temporal_servers_run_side_by_side(
    temporal_server: TemporalServer, own_temporal_server: TemporalServer
) -> None:
    assert temporal_server.port != own_temporal_server.port
    assert listens(temporal_server.port)
    assert listens(own_temporal_server.port)
    own_temporal_server.stop()
    assert not listens(own_temporal_server.port)
    assert own_temporal_server.start()
    assert listens(own_temporal_server.port)
