"""The command as a process: Ctrl-C, a reader that goes away, clean standard output, a terminal, a quick start."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import prose_lang

if sys.platform == "win32":
    pytest.skip("signals and terminals are those of POSIX", allow_module_level=True)

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
repeat 3 as round:
  call worker
    round: round
return "done"
```
"""
SERVICES = """\
import asyncio, os, subprocess, sys, time
from pathlib import Path
import prose_lang as prose

@prose.service
def sleeping(round):
    Path("started").touch()
    time.sleep(60)

@prose.service
async def waiting(round):
    Path("started").touch()
    try:
        await asyncio.sleep(60)
    finally:
        Path("cleaned").touch()

@prose.service
def chatty(round):
    print("printed")
    subprocess.run([sys.executable, "-c", "print('from a process')"])
    os.write(1, b"written\\n")
"""
COMMAND = "import os, time; open('started', 'w').write(str(os.getpid())); time.sleep(60)"
#: Slow enough for a live line to be drawn between two answers, also where Python has to compile what draws it.
SLOW = "slow: {always: {returns: ok, delay: 0.7}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "steps.prose.md").write_text(PATTERN)
    (tmp_path / "mine.py").write_text(SERVICES)
    (tmp_path / "child.py").write_text(COMMAND)
    (tmp_path / "slow.yaml").write_text(SLOW)
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return {**plain, "PYTHONPATH": str(ROOT), "TERM": "xterm", **more}


def start(folder: Path, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*PROSE, *args], cwd=folder, env=environment(), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROSE, *args], cwd=folder, env=environment(), text=True, capture_output=True, stdin=subprocess.DEVNULL,
        timeout=30, check=False,
    )  # fmt: skip


def await_file(path: Path, *, written: bool = False) -> str:
    """What a file holds once it is there, or once something is `written` to it: it is made a moment before."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            text = path.read_text()
            if text or not written:
                return text
        time.sleep(0.01)
    raise AssertionError(f"{path.name} never came")


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("worker", "number"),
    [
        ("sleeping", signal.SIGINT),
        ("waiting", signal.SIGINT),
        ("command", signal.SIGINT),
        ("command", signal.SIGTERM),
    ],
)
def test_an_interrupt_ends_the_run_and_its_processes(folder: Path, worker: str, number: signal.Signals) -> None:
    given = f"worker=cmd:{sys.executable} child.py" if worker == "command" else f"worker={worker}"
    process = start(folder, "run", "steps.prose.md", "--services", "mine.py", given, "--json")
    child = await_file(folder / "started", written=worker == "command")
    began = time.monotonic()
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=20)
    assert time.monotonic() - began < 5  # a second on an idle machine
    outcome = json.loads(stdout)
    assert (process.returncode, outcome["status"], stderr) == (130, "interrupted", "")
    assert len(outcome["calls"]) == 1
    if worker == "waiting":
        assert (folder / "cleaned").exists()
    if worker == "command":
        with pytest.raises(ProcessLookupError):
            os.kill(int(child), 0)


def test_an_interrupted_run_tells_a_person_what_was_done(folder: Path) -> None:
    process = start(folder, "run", "steps.prose.md", "--services", "mine.py", "worker=waiting")
    await_file(folder / "started")
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=20)
    assert (process.returncode, stdout) == (130, "")
    assert stderr.splitlines()[0].startswith("round 1  worker (waiting)  cut off  (")
    *_, said, command = stderr.splitlines()
    assert said == "interrupted"
    assert re.fullmatch(r"go on with: prose resume \S+ --services mine\.py", command)


# --- standard output -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["human", "json"])
def test_standard_output_holds_the_result_and_nothing_else(folder: Path, form: str) -> None:
    done = finish(folder, "run", "steps.prose.md", "--services", "mine.py", "worker=chatty", "--output", form)
    assert done.returncode == 0
    if form == "json":
        assert json.loads(done.stdout)["value"] == "done"
    else:
        assert done.stdout == "done\n"
    for said in ("printed", "from a process", "written"):
        assert done.stderr.count(said) == 3


@pytest.mark.parametrize(
    "args",
    [
        ["explain"],
        ["run", "steps.prose.md", "--script", "slow.yaml", "worker=slow", "--json"],
        ["run", "steps.prose.md", "--script", "slow.yaml", "worker=slow", "--output", "jsonl"],
    ],
)
def test_a_reader_that_goes_away_is_no_error(folder: Path, args: Sequence[str]) -> None:
    process = start(folder, *args)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(timeout=20) == 141


def test_json_lines_come_as_they_happen_and_a_gone_reader_stops_the_run(folder: Path) -> None:
    process = start(folder, "run", "steps.prose.md", "--script", "slow.yaml", "worker=slow", "--output", "jsonl")
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["event"] == "call_started"
    assert process.poll() is None
    process.stdout.close()
    assert process.wait(timeout=20) == 141


def test_what_a_shell_gets_without_python_in_the_way(folder: Path) -> None:
    done = finish(folder, "run", "steps.prose.md")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


# --- a terminal ------------------------------------------------------------------------------------------------------


def on_a_terminal(
    folder: Path, *args: str, keys: bytes = b"", when: bytes = b"", environ: dict[str, str] | None = None
) -> tuple[str, int]:
    """What a terminal is sent, and the exit status; `keys` are pressed once `when` is seen."""
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(PROSE[0], [*PROSE, *args], environment(COLUMNS="100", LINES="30", **(environ or {})))
    sent = b""
    press = 0.0 if keys else float("inf")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if when in sent and time.monotonic() >= press:
            os.write(terminal, keys)
            # Python misses an interrupt in the very moment before it waits for input; a person presses again.
            press = time.monotonic() + 5 if keys == b"\x03" else float("inf")
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            more = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if not more:
            break
        sent += more
    os.close(terminal)
    return sent.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


RUN_SLOWLY = ("run", "steps.prose.md", "--script", "slow.yaml", "worker=slow")


def test_a_live_line_tells_what_goes_on(folder: Path) -> None:
    sent, status = on_a_terminal(folder, *RUN_SLOWLY)
    assert status == 0
    assert re.search(r"steps\.prose\.md · \d\.\d s · round [23] · [12] done · waiting for worker \(slow\)", sent)
    assert "\x1b[?25l" not in sent  # the cursor is left alone
    *_, last = re.split(r"\x1b\[2K", sent)  # the line is gone when the result comes
    assert last.startswith("done\r\n\r\n\x1b[36mround 1\x1b[0m  worker (slow)  “ok”")


@pytest.mark.parametrize(("option", "environ"), [("-q", {}), ("--json", {}), ("-v", {"TERM": "dumb"})])
def test_no_live_line_where_none_is_wanted(folder: Path, option: str, environ: dict[str, str]) -> None:
    sent, status = on_a_terminal(folder, *RUN_SLOWLY, option, environ=environ)
    assert (status, "waiting for" in sent, "\x1b[2K" in sent) == (0, False, False)


def test_lines_of_verbose_runs_stand_above_the_live_line(folder: Path) -> None:
    sent, _ = on_a_terminal(folder, *RUN_SLOWLY, "-v", environ={"NO_COLOR": "1"})
    lines = [part for line in sent.split("\r\n") for part in line.split("\r\x1b[2K")]
    told = [line for line in lines if line.startswith("round")]
    assert [re.sub(r"\d\.\d\d s", "T s", line) for line in told] == [
        f"round {number}  worker (slow)  “ok”  (T s)" for number in (1, 2, 3)
    ]


def test_control_c_on_a_terminal_clears_the_live_line(folder: Path) -> None:
    sent, status = on_a_terminal(folder, *RUN_SLOWLY, keys=b"\x03", when=b"waiting for")
    assert status == 130
    *_, last = re.split(r"\x1b\[2K", sent)
    assert "waiting for" not in last
    assert re.search(r"interrupted\r\ngo on with: prose resume \S+ --script slow\.yaml\r\n\Z", last)


def test_missing_names_are_asked_for(folder: Path) -> None:
    args = ("run", "steps.prose.md", "--script", "slow.yaml", "--ask", "-q")
    sent, status = on_a_terminal(folder, *args, keys=b"slow\n", when=b"worker: ")
    assert (status, sent.endswith("done\r\n")) == (0, True)
    sent, status = on_a_terminal(folder, *args, keys=b"cmd:true\n", when=b"worker: ")
    assert (status, "is only accepted as a literal command-line argument" in sent) == (2, True)
    sent, status = on_a_terminal(folder, *args, keys=b"\x03", when=b"worker: ")
    assert (status, sent.endswith("interrupted\r\n")) == (130, True)


def test_nothing_is_asked_where_nobody_can_answer(folder: Path) -> None:
    done = finish(folder, "run", "steps.prose.md", "--ask")
    assert (done.returncode, "the slot `worker` is not bound" in done.stderr) == (2, True)


# --- a quick start ---------------------------------------------------------------------------------------------------

HEAVY = ("asyncio", "lark", "rich", "cattrs", "ruamel", "markdown_it", "litellm", "attr", "prose_lang.engine")


def imported(folder: Path, *args: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "prose_lang", *args], cwd=folder, env=environment(), text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    return {line.split("|")[-1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize("args", [("--help",), ("run", "--help")])
def test_help_loads_none_of_the_parts(folder: Path, args: Sequence[str]) -> None:
    assert not imported(folder, *args).intersection(HEAVY)


def test_a_scripted_run_loads_no_parser_generator_and_no_display(folder: Path) -> None:
    found = imported(folder, "run", "steps.prose.md", "--script", "slow.yaml", "worker=slow")
    assert "prose_lang.engine" in found
    assert not found.intersection(("lark", "rich", "cattrs", "litellm"))
