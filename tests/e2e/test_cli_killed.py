"""The command killed with SIGKILL, and `prose resume`: twice, and then the run is over. Nothing finished is done again,
and what was under way is done again under the key that it had (L35)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import prose_lang

if sys.platform == "win32":
    pytest.skip("there is no SIGKILL here", allow_module_level=True)

ROOT = Path(prose_lang.__file__).resolve().parent.parent
PATTERN = """\
---
name: steps
kind: pattern
---
### Slots
- `worker`
### Delegation
```prose
let found = []
repeat 6 as n:
  let a = call worker
    n: n
  record a in found
return found
```
"""
SERVICES = """\
import os, time
import prose_lang as prose

@prose.service
def step(n):
    with open("lines", "a") as file:
        file.write(f"{n} {prose.current_call().idempotency_key}\\n")
    if n in (3, 5) and not os.path.exists(f"go-{n}"):
        time.sleep(60)
    return n * 10
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "steps.prose.md").write_text(PATTERN)
    (tmp_path / "mine.py").write_text(SERVICES)
    return tmp_path


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-m", "prose_lang", *words], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path, "PROSE_STORE": str(folder / "records")},
    )  # fmt: skip


def done(folder: Path, *words: str) -> str:
    process = started(folder, *words)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return out


def lines(folder: Path) -> list[str]:
    path = folder / "lines"
    return path.read_text().splitlines() if path.exists() else []


def killed_in(folder: Path, step: int, *words: str) -> None:
    process = started(folder, *words)
    deadline = time.monotonic() + 60
    while not any(line.startswith(f"{step} ") for line in lines(folder)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_a_killed_command_is_gone_on_with(folder: Path) -> None:
    killed_in(folder, 3, "run", "steps.prose.md", "--services", "mine.py", "worker=step")
    (folder / "go-3").touch()
    killed_in(folder, 5, "resume", "latest", "--services", "mine.py")
    (folder / "go-5").touch()
    assert [run["status"] for run in json.loads(done(folder, "runs", "--json"))] == ["interrupted"]
    outcome = json.loads(done(folder, "resume", "latest", "--services", "mine.py", "--json"))
    assert (outcome["status"], outcome["value"]) == ("ok", [10, 20, 30, 40, 50, 60])
    assert outcome["usage"]["calls"] == 8
    steps, keys = zip(*(line.split() for line in lines(folder)), strict=True)
    assert steps == ("1", "2", "3", "3", "4", "5", "5", "6")
    assert (keys[2], keys[5]) == (keys[3], keys[6])
    assert len(set(keys)) == 6
    done(folder, "replay", "latest", "--services", "mine.py")
    assert json.loads(done(folder, "resume", "latest", "--services", "mine.py", "--json"))["value"] == outcome["value"]
    assert len(lines(folder)) == 8
    assert [run["status"] for run in json.loads(done(folder, "runs", "--json"))] == ["ok"]
