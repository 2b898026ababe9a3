"""The examples in the help of each command run as they stand there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import prose_lang
from prose_lang.cli.group import COMMANDS
from prose_lang.cli.main import cli

if sys.platform == "win32":
    pytest.skip("the examples are written for a POSIX shell", allow_module_level=True)

ROOT = Path(prose_lang.__file__).resolve().parent.parent


def examples(*words: str) -> list[str]:
    """The lines after `$ ` in the help of the group or of a command."""
    text = CliRunner().invoke(cli, [*words, "--help"]).stdout
    lines = (line.strip() for line in text.splitlines())
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


#: How examples end that are meant to stop on the way, by what they say: at a limit, where a person has to answer.
STOPPED = {"--max-calls 1": 3, "person=person": 4}
#: A worker takes work until it is stopped, from a server: `test_temporal_workers.py` runs it.
ENDLESS = {"worker"}


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS if name not in ENDLESS)], ids=" ".join)
def test_examples(words: tuple[str, ...], tmp_path: Path) -> None:
    """They run one after the other in one folder: an example may use what one above it made."""
    command = tmp_path / "bin" / "prose"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m prose_lang "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    lines = examples(*words)
    assert any(" ".join(("prose", *words)) in line for line in lines)
    for line in lines:
        done = subprocess.run(
            ["/bin/sh", "-c", line], cwd=tmp_path, env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}, text=True,
            capture_output=True, timeout=30, check=False,
        )  # fmt: skip
        stopped = next((status for words, status in STOPPED.items() if words in line), 0)
        found = (done.returncode, done.stdout != "" or stopped != 0, "error" in done.stderr)
        assert found == (stopped, True, stopped != 0), (line, done.stderr)
