"""Runs that real processes and signals end, at several moments, and that go on: nothing finished is made again.

Nobody sleeps: a service says by a file that it is there, and goes on when a pipe is opened for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import prose_lang
from prose_lang.journal import open_store

if sys.platform == "win32":
    pytest.skip("signals are those of POSIX", allow_module_level=True)

ROOT = Path(prose_lang.__file__).resolve().parent.parent
PROSE = [sys.executable, "-m", "prose_lang"]

PATTERN = """\
---
name: steps
kind: pattern
---
### Slots
- `worker`
### Delegation
```prose
let log = []
try:
  parallel for x in ["a", "b"]:
    call worker
      step: x
  let c = call worker
    step: "c"
  record c in log
finally:
  let d = call worker
    step: "d"
  record d in log
return log
```
"""
#: `hold` names what is to wait: the step of a call, or a method of the store (`create`, or `write` of the outcome).
SERVICES = """\
import asyncio, os
from pathlib import Path
import prose_lang as prose
from prose_lang.journal.sqlite import SqliteStore

HOLD = Path("hold").read_text().split() if Path("hold").exists() else []

def note(what):
    with open("log", "a") as file:
        file.write(what + "\\n")

def wait_here(what):
    if what in HOLD:
        note("waits " + what)
        with open("gate"):  # a pipe: until somebody opens its other end
            pass

@prose.service
async def worker(step):
    note("begins " + step)
    if step in HOLD:
        note("waits " + step)
        await asyncio.sleep(3600)
    note("ends " + step)
    return step.upper()

create, write = SqliteStore.create, SqliteStore.write

def creating(self, record, sources):
    wait_here("create")
    create(self, record, sources)

def writing(self, changes):
    if any(type(change).__name__ == "Finished" for change in changes):
        wait_here("write")
    write(self, changes)

SqliteStore.create, SqliteStore.write = creating, writing
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prose.toml").touch()
    (tmp_path / "steps.prose.md").write_text(PATTERN)
    (tmp_path / "mine.py").write_text(SERVICES)
    os.mkfifo(tmp_path / "gate")
    return tmp_path


def environment() -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return {**plain, "PYTHONPATH": str(ROOT), "TERM": "xterm"}


#: The processes of the test that runs.
STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.communicate()


def start(folder: Path, *args: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [*PROSE, *args], cwd=folder, env=environment(), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    STARTED.append(process)
    return process


def finish(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROSE, *args], cwd=folder, env=environment(), text=True, capture_output=True, stdin=subprocess.DEVNULL,
        timeout=60, check=False,
    )  # fmt: skip


def log(folder: Path) -> list[str]:
    with contextlib.suppress(FileNotFoundError):
        return (folder / "log").read_text().splitlines()
    return []


def await_line(folder: Path, line: str) -> None:
    deadline = time.monotonic() + 30
    while line not in log(folder):
        assert time.monotonic() < deadline, f"{line!r} never came: {log(folder)}"
        time.sleep(0.005)


def let_go(folder: Path) -> None:
    """Open the other end of the pipe."""
    with open(folder / "gate", "w"):
        pass


RUN = ("run", "steps.prose.md", "--services", "mine.py", "worker=worker")


def go_on(stderr: str) -> list[str]:
    [line] = [line for line in stderr.splitlines() if line.startswith("go on with: prose ")]
    return shlex.split(line.removeprefix("go on with: prose "))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["create", "a", "c", "d"])
def test_an_interrupt_at_any_moment(folder: Path, moment: str, number: signal.Signals) -> None:
    (folder / "hold").write_text(moment)
    process = start(folder, *RUN)
    await_line(folder, f"waits {moment}")
    process.send_signal(number)
    if moment == "create":
        let_go(folder)
    stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (130, "")
    lines = stderr.splitlines()
    assert lines[-2] == "interrupted"
    words = go_on(stderr)
    assert (words[0], words[2:]) == ("resume", ["--services", "mine.py"])
    record = open_store(folder / ".prose" / "runs").run(words[1])
    assert record.status == "interrupted"
    first = log(folder)
    # What was under way was cancelled and waited for, and `finally` was run where the run had come into its block.
    assert ("begins d" in first) == (moment != "create")
    (folder / "hold").unlink()
    done = finish(folder, *words)
    assert (done.returncode, done.stdout) == (0, "- C\n- D\n"), done.stderr
    again = log(folder)[len(first) :]
    ended = {line.split()[1] for line in first if line.startswith("ends")} - {"d"}
    assert not ended & {line.split()[1] for line in again}
    assert {line.split()[1] for line in [*first, *again] if line.startswith("ends")} == {"a", "b", "c", "d"}


def test_an_interrupt_while_the_outcome_is_written_comes_too_late(folder: Path) -> None:
    (folder / "hold").write_text("write")
    process = start(folder, *RUN)
    await_line(folder, "waits write")
    process.send_signal(signal.SIGINT)
    let_go(folder)
    stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout, "interrupted" in stderr) == (0, "- C\n- D\n", False)
    done = finish(folder, "resume", "latest")
    assert (done.returncode, done.stdout, "was over" in done.stderr) == (0, "- C\n- D\n", True)


@pytest.mark.parametrize("moment", ["create", "a", "write"])
def test_the_second_interrupt_does_not_wait(folder: Path, moment: str) -> None:
    """What is held does not end by the first one: the call of `finally`, and the store at its pipe."""
    (folder / "hold").write_text("a d" if moment == "a" else moment)
    process = start(folder, *RUN)
    await_line(folder, f"waits {moment}")
    process.send_signal(signal.SIGINT)
    if moment == "a":
        await_line(folder, "waits d")  # the first one has been heard
    while process.poll() is None:  # two that come at once are one
        process.send_signal(signal.SIGTERM)
        time.sleep(0.005)
    stdout, _ = process.communicate()
    assert (process.returncode, stdout) == (130, "")
    (folder / "hold").unlink()
    words = ["resume", "latest", "--services", "mine.py"]
    if moment == "create":
        assert finish(folder, *words).returncode == 2  # there is no record yet, and nothing was done
        assert "begins a" not in log(folder)
        return
    before = {line.split()[1] for line in log(folder) if line.startswith("ends")} - {"d"}
    first = len(log(folder))
    done = finish(folder, *words)
    assert (done.returncode, done.stdout) == (0, "- C\n- D\n"), done.stderr
    assert not before & {line.split()[1] for line in log(folder)[first:]}


@pytest.mark.parametrize("moment", ["a", "c", "d", "write"])
def test_a_killed_run_goes_on(folder: Path, moment: str) -> None:
    (folder / "hold").write_text(moment)
    process = start(folder, *RUN)
    await_line(folder, f"waits {moment}")
    process.kill()
    process.communicate()
    store = open_store(folder / ".prose" / "runs")
    run = store.runs()[0]
    assert (run.status, store.held(run.id)) == ("running", False)
    ended = [entry for entry in store.entries(run.id) if entry.state == "value" and entry.kind == "call"]
    finished = {json.loads(entry.request)["inputs"]["step"] for entry in ended}
    (folder / "hold").unlink()
    before = len(log(folder))
    done = finish(folder, "resume", run.id, "--services", "mine.py")
    assert (done.returncode, done.stdout) == (0, "- C\n- D\n"), done.stderr
    assert not finished & {line.split()[1] for line in log(folder)[before:]}
    replay = finish(folder, "replay", run.id, "--services", "mine.py")
    assert (replay.returncode, "comes out the same" in replay.stdout) == (0, True)


def test_a_run_that_a_process_works_on_is_left_alone(folder: Path) -> None:
    (folder / "hold").write_text("c")
    process = start(folder, *RUN)
    await_line(folder, "waits c")
    refused = finish(folder, "resume", "latest", "--services", "mine.py", "--json")
    plain = json.loads(refused.stdout)
    assert (refused.returncode, plain["status"], plain["error"]["code"]) == (2, "invalid", "P503")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    (folder / "hold").unlink()
    assert finish(folder, "resume", "latest", "--services", "mine.py").returncode == 0


def test_the_interrupt_as_json(folder: Path) -> None:
    (folder / "hold").write_text("c")
    process = start(folder, *RUN, "--json")
    await_line(folder, "waits c")
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    plain = json.loads(stdout)
    assert (process.returncode, plain["status"], stderr) == (130, "interrupted", "")
    assert plain["error"] == {
        "code": None, "name": "interrupted", "message": "the run was interrupted", "file": None, "line": None,
        "column": None, "service": None, "hint": f"prose resume {plain['run_id']} --services mine.py",
    }  # fmt: skip


def test_what_a_command_is_told_of_its_call(folder: Path) -> None:
    tell = "import os, json; print(json.dumps({n: os.environ[n] for n in os.environ if n.startswith('PROSE_')}))"
    text = "let a = call worker\n  step: 1\nlet b = call worker\n  step: 2\n  retry: 1\nreturn [a, b]\n"
    head = "---\nname: told\nkind: pattern\n---\n### Slots\n- `worker`\n### Delegation\n"
    (folder / "told.prose.md").write_text(f"{head}```prose\n{text}```\n")
    worker = f"worker=cmd:{shlex.join([sys.executable, '-c', tell])}"
    plain = json.loads(finish(folder, "run", "told.prose.md", worker, "--json").stdout)
    run = plain["run_id"]
    for number, told in enumerate(plain["value"]):
        address = f"delegation/{number}.call:worker"
        assert {name: told[name] for name in told if name != "PROSE_STORE"} == {
            "PROSE_RUN": run, "PROSE_ADDRESS": address, "PROSE_ATTEMPT": "1",
            "PROSE_IDEMPOTENCY_KEY": f"{run}:{address}",
        }  # fmt: skip


# --- a full disk -----------------------------------------------------------------------------------------------------

MANY = """\
---
name: many
kind: pattern
---
### Slots
- `worker`
### Requires
- `n`: integer -- how many
### Delegation
```prose
let all = parallel repeat n as i:
  call worker
    step: "abcdefghijklmnopqrstuvwxyz"
call worker
  step: "z"
return all.length
```
"""
LARGE = """\
import prose_lang as prose

@prose.service
def worker(step):
    return step * 1000
"""


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of half a megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root mounts a disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this system lets nobody mount a disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_full_disk_ends_the_record_and_not_the_run(folder: Path, small: Path) -> None:
    (folder / "many.prose.md").write_text(MANY)
    (folder / "large.py").write_text(LARGE)
    store = ("--store", str(small / "runs"))
    given = ("many.prose.md", "--services", "large.py", "worker=worker")
    earlier = json.loads(finish(folder, "run", *given, "n:=2", *store, "--json").stdout)
    assert earlier["status"] == "ok"
    done = finish(folder, "run", *given, "n:=40", *store, "--max-calls", "none", "-q")
    assert (done.returncode, done.stdout) == (0, "40\n")
    assert done.stderr.startswith("warning[P501]: the run could not be recorded to its end: ")
    stopped = finish(folder, "run", *given, "n:=40", *store, "--on-store-error", "stop", "--json")
    plain = json.loads(stopped.stdout)
    assert (stopped.returncode, plain["status"], plain["error"]["code"]) == (1, "failed", "P501")
    assert "disk is full" in plain["error"]["message"]
    # Its record breaks off and is a record: once there is room, the run goes on.
    command = plain["error"]["hint"].splitlines()[-1]
    assert command == f"prose resume {plain['run_id']} --services large.py {shlex.join(store)} --on-store-error stop"
    subprocess.run(["mount", "-o", "remount,size=8m", small], check=True)
    assert finish(folder, *shlex.split(command)[1:]).stdout == "40\n"
    # What was there is there, and can be read.
    again = finish(folder, "replay", earlier["run_id"], "--services", "large.py", *store)
    assert (again.returncode, "comes out the same (3 calls)" in again.stdout) == (0, True), again.stderr


def test_a_store_that_becomes_read_only(folder: Path, small: Path) -> None:
    (folder / "hold").write_text("c")
    store = ("--store", str(small / "runs"))
    process = start(folder, *RUN, *store, "-q")
    await_line(folder, "waits c")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    (folder / "hold").unlink()
    subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    refused = finish(folder, "resume", "latest", "--services", "mine.py", *store)
    assert (refused.returncode, "error[P501]" in refused.stderr) == (2, True), refused.stderr
    subprocess.run(["mount", "-o", "remount,rw", small], check=True)
    assert finish(folder, "resume", "latest", "--services", "mine.py", *store).returncode == 0
