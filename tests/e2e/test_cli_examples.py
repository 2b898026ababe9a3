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


def examples() -> list[str]:
    """The lines after `$ ` in the help of the group and of every command."""
    helps = (CliRunner().invoke(cli, [*name, "--help"]).stdout for name in ((), *((name,) for name in COMMANDS)))
    lines = (line.strip() for text in helps for line in text.splitlines())
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


@pytest.mark.parametrize("line", dict.fromkeys(examples()))
def test_example(line: str, tmp_path: Path) -> None:
    command = tmp_path / "bin" / "prose"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m prose_lang "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=tmp_path, env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}, text=True,
        capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout != "", "error" in done.stderr) == (0, True, False), done.stderr


def test_every_command_has_an_example() -> None:
    shown = examples()
    for name in COMMANDS:
        assert any(f"prose {name}" in line for line in shown), name
