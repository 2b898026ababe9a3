"""Consoles and Python blocks of `docs/`: runs them in a folder of the page's own, in the order of the page.

    python tests/documentation_sessions.py docs/cli.md      writes what commands print now where that has changed

Read the difference before you commit it, and put `…` for what differs from run to run.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from documentation_harness import ROOT, Fence, fences

_MARK = "---- end of step:"
#: Where the project is installed, pytest finds the plugin itself; in a bare checkout it is named.
_PLUGIN = "" if entry_points(group="pytest11", name="prose") else " -p prose_lang.testing.plugin"
#: The commands that pages use, as modules of this Python.
_COMMANDS = {"prose": "prose_lang", "pytest": f"pytest -p no:cacheprovider{_PLUGIN}"}


class Folder:
    """The folder of a page: its files, its commands and its Python blocks, in the order of the page."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: dict[str, Any] = {"__name__": "documentation"}
        commands = path.parent / "bin"
        commands.mkdir(exist_ok=True)
        for name, words in _COMMANDS.items():
            command = commands / name
            command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {words} "$@"\n')
            command.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if name in ("LANG", "LC_ALL", "TMPDIR")}
        self.environment = {
            **kept,
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(path),
            "COLUMNS": "120",
        }

    def write(self, fence: Fence) -> None:
        assert fence.file is not None
        file = self.path / fence.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(fence.text, encoding="utf-8")
        if fence.text.startswith("#!"):
            file.chmod(0o755)

    def run(self, fence: Fence) -> Iterator[tuple[str, str, str, int]]:
        """The commands of a console block: each with what the page shows, what it prints, and its exit status."""
        steps = list(_steps(fence.text))
        script = "".join(f'{command}\nset -- $?; echo "{_MARK}$1"; (exit $1)\n' for command, _ in steps)
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.path, env=self.environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=60, check=False,
        )  # fmt: skip
        parts = re.split(rf"{re.escape(_MARK)}(\d+)\n", done.stdout)
        assert len(parts) == 2 * len(steps) + 1, f"the shell ended early: {done.stdout}"
        for index, (command, wanted) in enumerate(steps):
            yield command, wanted, parts[2 * index], int(parts[2 * index + 1])

    def console_faults(self, fence: Fence) -> Iterator[str]:
        """What is wrong with a console block: other output, or a failure that the page does not show."""
        unshown = ""
        for command, wanted, output, status in self.run(fence):
            if unshown and command != "echo $?":
                yield unshown
            if not _matches(wanted, output):
                yield f"`{command}` printed:\n{output}"
            unshown = f"`{command}` ended with {status}, and no `echo $?` follows" if status else ""
        if unshown:
            yield unshown

    def python_faults(self, fence: Fence) -> Iterator[str]:
        """What is wrong with a Python block: it fails, or prints something else."""
        if fence.text.startswith(">>> "):
            yield from self.doctest_faults(fence)
            return
        wanted = re.findall(r"(?:^\s*print\(.*\)\s+# |^\s*#> ?)(.*)$", fence.text, re.MULTILINE)
        code = compile("\n" * fence.line + fence.text, str(fence.page), "exec", dont_inherit=True)
        printed = io.StringIO()
        with contextlib.chdir(self.path), _own_modules(self.path), contextlib.redirect_stdout(printed):
            try:
                exec(code, self.names)
            except Exception as error:
                yield f"{type(error).__name__}: {error}"
        found = printed.getvalue()
        if not _matches("".join(f"{line}\n" for line in wanted), found):
            yield f"it printed:\n{found}"

    def doctest_faults(self, fence: Fence) -> Iterator[str]:
        """The same of a block of lines after `>>> `, which is an example of its own."""
        told: list[str] = []
        examples = doctest.DocTestParser().get_doctest(fence.text, {}, fence.id, str(fence.page), fence.line)
        with contextlib.chdir(self.path), _own_modules(self.path):
            doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=told.append)
        if told:
            yield "".join(told)


@contextlib.contextmanager
def _own_modules(path: Path) -> Iterator[None]:
    """Forget the modules that were imported from a folder, which the next page may have by the same names."""
    before = list(sys.path)
    sys.path.insert(0, str(path))  # as for a script that is run there
    try:
        yield
    finally:
        sys.path[:] = before
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(str(path)):
                del sys.modules[name]


def _steps(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what it prints."""
    command, output = "", ""
    continued = False
    for line in text.splitlines():
        if continued:
            command += f"\n{line}"
        elif line.startswith("$ "):
            if command:
                yield command, output
            command, output = line[2:], ""
        else:
            assert command, "a console block begins with `$ `"
            output += f"{line}\n"
            continue
        continued = command.endswith("\\")
    yield command, output


def _matches(wanted: str, found: str) -> bool:
    """Whether an output is the wanted one. Trailing blanks and the number of line breaks at the end do not count."""
    pattern = ""
    lines = wanted.rstrip("\n").split("\n") if wanted.strip() else []
    for line in lines:
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r"[^\n]*?".join(map(re.escape, line.rstrip().split("…"))) + r"[ \t]*\n"
    return re.fullmatch(pattern + r"\n*", found if found.endswith("\n") or not found else f"{found}\n") is not None


def session_faults(page: Path, folder: Path) -> Iterator[str]:
    """What is wrong with the consoles and Python blocks of a page."""
    place = Folder(folder)
    for fence in fences(page):
        if fence.file is not None:
            place.write(fence)
        elif fence.kind == "console":
            for fault in place.console_faults(fence):
                yield f"{fence.id}: {fault}"
        elif fence.kind == "python":
            for fault in place.python_faults(fence):
                yield f"{fence.id}: {fault}"


def renew(page: Path) -> None:
    """Write what the commands of a page print now in the place of what they no longer print."""
    lines = page.read_text(encoding="utf-8").splitlines()
    written: list[str] = []
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "work").mkdir()
        place = Folder(Path(folder) / "work")
        for fence in fences(page):
            if fence.file is not None:
                place.write(fence)
            elif fence.kind == "python":
                list(place.python_faults(fence))
            elif fence.kind == "console":
                written += lines[done : fence.line]
                for command, wanted, output, _ in place.run(fence):
                    kept = wanted if _matches(wanted, output) else output
                    written += [f"$ {command}", *(line.rstrip() for line in kept.rstrip("\n").splitlines())]
                done = fence.line + fence.text.count("\n")
    page.write_text("\n".join([*written, *lines[done:]]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        renew(Path(name).resolve())
