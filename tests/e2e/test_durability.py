"""What `durability` promises of a run, seen from outside by its calls to the system (L35).

`normal`: before a call begins, what earlier ones gave has been handed to the operating system; no death of a process
takes it back. `full`: it has been forced to the disk; the loss of power does not either.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform != "linux" or shutil.which("strace") is None:
    pytest.skip("this test needs strace to see what a process asks of its system", allow_module_level=True)

CALLS = 8
PROGRAM = """\
import os, sys
import prose_lang as prose

@prose.service
async def step(n):
    os.write(lines, f"start {n}\\n".encode())
    os.write(lines, f"end {n}\\n".encode())
    return n * 10

lines = os.open(sys.argv[1] + "/lines", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
engine = prose.Engine(services=[step], store=sys.argv[1] + "/store", durability=sys.argv[2])
text = "repeat 8 as n:\\n  call step\\n    n: n\\n"
outcome = engine.run(engine.loads(text), {})
assert outcome.unrecorded is None
os.write(lines, b"over\\n")
os._exit(0)  # nothing is forced to the disk because the process ends in good order
"""


def traced(folder: Path, durability: str) -> list[str]:
    """What happened, in order: the lines of the service, `log` for a write to the store's log, and `forced` for what
    came back from forcing that to the disk."""
    (folder / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        ["strace", "-f", "-y", "-qq", "-o", str(folder / "trace"), "-e", "trace=write,pwrite64,fsync,fdatasync",
         sys.executable, str(folder / "program.py"), str(folder), durability],
        capture_output=True, text=True,
    )  # fmt: skip
    if "ptrace" in done.stderr and done.returncode:
        pytest.skip("processes cannot be traced here")
    assert done.returncode == 0, done.stderr
    found, pending = list[str](), set[str]()
    for line in (folder / "trace").read_text().splitlines():
        thread, _, what = line.partition(" ")
        what = what.strip()
        if said := re.match(r'write\(\d+<[^>]*/lines>, "(.*?)\\n"', what):
            found.append(said[1])
        elif re.match(r"pwrite64\(\d+<[^>]*runs\.sqlite-wal>", what):
            found.append("log")
        elif re.match(r"f(data)?sync\(\d+<[^>]*runs\.sqlite-wal>", what):
            if what.endswith("<unfinished ...>"):
                pending.add(thread)
            else:
                found.append("forced")
        elif re.match(r"<\.\.\. f(data)?sync resumed>", what) and thread in pending:
            pending.discard(thread)
            found.append("forced")
    return found


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_what_a_call_gave_is_kept_before_the_next_one_begins(tmp_path: Path, durability: str) -> None:
    found = traced(tmp_path, durability)
    for n in range(1, CALLS + 1):
        after = "over" if n == CALLS else f"start {n + 1}"
        between = found[found.index(f"end {n}") : found.index(after)]
        assert "log" in between, f"nothing was written between the end of call {n} and `{after}`"
        if durability == "full":
            last = len(between) - 1 - between[::-1].index("log")
            assert "forced" in between[last:], f"what was written after call {n} was not forced to the disk"
        else:
            assert "forced" not in between
    before = found[: found.index("start 1")]
    assert "log" in before
