"""Ctrl-C in the middle of `prose test`: what is running is cancelled and awaited, what was done is shown."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("signals are those of POSIX", allow_module_level=True)

from test_cli_process import await_file, start

SERVICES = """\
import asyncio, time
from pathlib import Path
import prose_lang as prose

@prose.service
def sleeping(round):
    Path("started").touch()
    time.sleep(60)

@prose.service
async def waiting(round):
    process = await asyncio.create_subprocess_exec("sleep", "60")  # what is outside takes real time
    Path("started").touch()
    try:
        await process.wait()
    finally:
        process.kill()
        Path("cleaned").touch()
"""
TESTS = """\
---
kind: test
subject: own
---
## own
### Slots
- `worker`
### Delegation
```prose
return call worker
  round: 1
```
## quick
### Services
```yaml
worker: [done]
```
### Expects
- equals "done"
## endless
### Fixtures
- `worker`: NAME
### Expects
- `value`: exists
"""


@pytest.mark.parametrize("name", ["waiting", "sleeping"])
def test_an_interrupt_ends_the_tests(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.py").write_text(SERVICES)
    (tmp_path / "own.test.prose.md").write_text(TESTS.replace("NAME", name))
    process = start(tmp_path, "test", "--services", "mine.py")
    await_file(tmp_path / "started")
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=20)
    assert time.monotonic() - began < 5
    assert (process.returncode, stderr) == (130, "")
    lines = [line for line in stdout.splitlines() if line]
    assert lines[:3] == ["own.test.prose.md", "  passed         quick", "interrupted"]
    assert (tmp_path / "cleaned").exists() is (name == "waiting")
