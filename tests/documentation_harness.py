"""Reads the pages of `docs/`, runs every example in them, and says what is wrong with each.

What a page may hold, and what is done with it (the readers' version of this stands in docs/language/README.md):

    ```prose          the body of a pattern. The paragraph below it may claim what comes of it; without a claim it must
                      be free of errors when every name it calls is a slot.
                        Gives `JSON`.                         its value, without any service
                        Fails with `P304` at line 2.          the error that ends the run
                        Refused with `P201` at line 3.        everything that `prose check` says, in order
                        Lint: `re-let` at line 3.             everything that `prose lint` says, in order
    ````markdown      a whole file, or sections of one (then the rest is made up); the same claims
    ```yaml           what begins with `# run` runs the example above it, and says with which services and inputs and
                      what comes of it: the keys of tests/corpus/README.md, and `gives`, `fails`, `line` for `expect`;
                      what begins with `# shows` is what `prose show --json` tells of the example above it, in part;
                      anything else must be YAML
    ```console        commands after `$ `, run by bash in a folder of the page's own, with all they print; `…` stands
                      for any part of a line, alone on a line for any lines. Only a command that `$ echo $?` follows
                      may fail
    ```python         run in the same folder; what it prints stands behind `print(…)` after `# `, or in lines `#> …`
    ```json, toml     must be such
    ```ebnf           a grammar (documentation_grammar.py)

Under a line that is a file's name, as in "`greet.prose.md`:", a fence is that file: it is written to the page's folder,
in the order of the page. A fence of another kind is a fault: no example is left unchecked.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
from corpus_harness import Case, eval_faults
from ruamel.yaml import YAML

from prose_lang import Engine, Pattern
from prose_lang.cli.describing import describe
from prose_lang.linter import lint

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

#: Kinds of fences that show nothing to check unless they are files.
KINDS = frozenset("prose markdown yaml console python json toml ebnf".split())

_FENCE = re.compile(r"(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_FILE_NAME = re.compile(r"`([\w./-]+)`:")
_CLAIM = re.compile(
    r"(?P<what>Gives|Fails with|Refused with|Lint:) (?P<ticks>`+)(?P<said>.+?)(?P=ticks)(?P<rest>[^.]*)"
)
_AT_LINE = re.compile(r"at line (\d+)")
_CODE = re.compile(r"`([\w-]+)`(?: at line (\d+))?")
_CALLED = re.compile(r"\bcall ([A-Za-z_][\w-]*)")
_RUN_KEYS = frozenset(
    "slots requires config inputs texts script bind options "
    "gives fails line message status calls addresses attempts decisions warns seconds".split()
)
_EXPECTED = ("line", "message", "status", "calls", "addresses", "attempts", "decisions", "warns", "seconds")


@attrs.frozen
class Fence:
    """A fenced block: its first word, its text, the line of its first mark, the file it is, and the text around it."""

    page: Path
    line: int
    kind: str
    text: str
    file: str | None
    below: str

    @property
    def id(self) -> str:
        page = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page.name
        return f"{page}:{self.line}"

    @property
    def claim(self) -> re.Match[str] | None:
        """What the paragraph below says of it."""
        return _CLAIM.match(self.below)


def pages() -> list[Path]:
    """The pages of the documentation that are written by hand."""
    return sorted(path for path in DOCS.rglob("*.md") if path.name != "diagnostics.md")


def fences(page: Path) -> list[Fence]:
    """The fences of a page; one that is indented or never closed is a mistake of the page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found: list[Fence] = []
    at = 0
    while at < len(lines):
        match = _FENCE.match(lines[at])
        if match is None:
            assert "```" not in lines[at], f"{page}:{at + 1}: a fence begins at the start of its line"
            at += 1
            continue
        end = next((n for n in range(at + 1, len(lines)) if lines[n] == match["marks"]), None)
        assert end is not None, f"{page}:{at + 1}: the fence is never closed"
        above = next((line for line in reversed(lines[:at]) if line.strip()), "")
        file = _FILE_NAME.fullmatch(above)
        rest = itertools.dropwhile(lambda line: not line.strip(), lines[end + 1 :])
        below = " ".join(itertools.takewhile(str.strip, rest))
        text = "".join(f"{line}\n" for line in lines[at + 1 : end])
        found.append(Fence(page, at + 1, match["info"].strip(), text, file[1] if file else None, below))
        at = end + 1
    return found


# --- programs and files ----------------------------------------------------------------------------------------------


def program_faults(fence: Fence, runs: Sequence[Fence], files: dict[str, str]) -> Iterator[str]:
    """What is wrong with a prose or markdown fence, its claim, and the `# run` and `# shows` blocks below it.

    `files` are the pattern files that stand further up on the page.
    """
    claim = fence.claim
    if claim is not None and claim["what"] == "Gives":
        wanted = json.loads(claim["said"])
        yield from _run(fence, {"expect": {"value": wanted}}, files)
    elif claim is not None and claim["what"] == "Fails with":
        line = _AT_LINE.search(claim["rest"])
        expect = {"error": claim["said"], **({"line": int(line[1])} if line else {})}
        yield from _run(fence, {"expect": expect}, files)
    elif claim is not None:
        checking = claim["what"] == "Refused with"
        found = _checked(fence, files) if checking else _linted(fence)
        said = [(name, int(line) if line else None) for name, line in _CODE.findall(fence.below.split(". ")[0])]
        shown = [(name, line if wanted[1] else None) for (name, line), wanted in zip(found, said, strict=False)]
        if len(found) != len(said) or shown != said:
            yield f"the page says {said}, found {found}"
    if claim is None or claim["what"] == "Lint:":
        errors = [item for item in _checked(fence, files) if item[0].startswith("P")]
        if errors and not runs:
            yield f"it has errors: {errors}"
    for block in runs:
        yield from _block_faults(fence, block, files)


def _block_faults(fence: Fence, block: Fence, files: dict[str, str]) -> Iterator[str]:
    data = YAML(typ="safe", pure=True).load(block.text) or {}
    if block.text.startswith("# shows"):
        described = describe(_pattern(fence))
        if not _holds(data, described):
            yield f"line {block.line}: `prose show --json` tells {json.dumps(described, ensure_ascii=False)}"
        return
    unknown = data.keys() - _RUN_KEYS
    if unknown or not data.keys() & {"gives", "fails", "status"}:
        yield f"line {block.line}: unknown keys {sorted(unknown)}, or neither gives, fails nor status"
        return
    expect = {key: data[key] for key in _EXPECTED if key in data}
    for key, name in (("gives", "value"), ("fails", "error")):
        if key in data:
            expect[name] = data[key]
    case = {key: data[key] for key in ("inputs", "texts", "script", "bind", "options") if key in data}
    config = data.get("config", {})
    case["declare"] = {
        "requires": data.get("requires", []),
        "config": [f"`{name}` (default: {json.dumps(value)}): a setting" for name, value in config.items()],
    }
    judge = data.get("options", {}).get("judge")
    case["slots"] = data.get("slots", [name for name in data.get("script", {}) if name != judge])
    for fault in _run(fence, {**case, "expect": expect}, files):
        yield f"line {block.line}: {fault}"


def _run(fence: Fence, data: dict[str, Any], files: dict[str, str]) -> Iterator[str]:
    text: dict[str, Any] = {"body": fence.text} if fence.kind == "prose" else {"file": whole_file(fence)}
    if fence.kind == "markdown":
        data = {key: value for key, value in data.items() if key not in ("slots", "declare")} | {
            "bind": {
                slot.name: slot.name for slot in _pattern(fence).entry.slots if slot.name in data.get("script", {})
            }
            | data.get("bind", {})
        }
        if files:
            text["beside"] = files
    yield from eval_faults(Case(fence.id, {"id": fence.line, "rule": "", **text, **data}))


def whole_file(fence: Fence) -> str:
    """The text of a file; what is only sections gets a head, and a body where none is there."""
    text = fence.text
    if text.startswith("---"):
        return text
    head = "---\nname: example\nkind: pattern\n---\n\n"
    has_body = "### Delegation" in text or "### Execution" in text
    return head + text + ("" if has_body else "\n### Delegation\n\n```prose\nreturn null\n```\n")


def _pattern(fence: Fence) -> Pattern:
    if fence.kind == "markdown":
        return Engine().loads(whole_file(fence), "example.prose.md")
    slots = "".join(f"- `{name}`\n" for name in dict.fromkeys(_CALLED.findall(fence.text))) or "- None.\n"
    head = f"---\nname: example\nkind: pattern\n---\n\n### Slots\n\n{slots}\n### Delegation\n\n"
    return Engine().loads(f"{head}```prose\n{fence.text}```\n", "example.prose.md")


def _first_line(fence: Fence, pattern: Pattern) -> int:
    if fence.kind == "markdown":
        return 1
    return pattern.document.source.text.splitlines().index("```prose") + 2


def _checked(fence: Fence, files: dict[str, str] | None = None) -> list[tuple[str, int | None]]:
    """The errors of a fence, by code and line. A file is looked at where its neighbours are."""
    if files and fence.kind == "markdown":
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                Path(folder, name).write_text(text, encoding="utf-8")
            path = Path(folder, fence.file or "example.prose.md")
            path.write_text(whole_file(fence), encoding="utf-8")
            engine = Engine()
            found = engine.check(engine.load(str(path)))
            return [(item.code or "", item.line) for item in found if item.code]
    pattern = _pattern(fence)
    first = _first_line(fence, pattern)
    found = pattern.engine.check(pattern)
    return [(item.code, item.line - first + 1 if item.line else None) for item in found if item.code]


def _linted(fence: Fence) -> list[tuple[str, int | None]]:
    pattern = _pattern(fence)
    first = _first_line(fence, pattern)
    found = lint(pattern.document, pattern.engine.environment(pattern.document)).findings
    # What a snippet leaves out for brevity is no finding of its page.
    made_up = {"undeclared-input", "unused-slot"} if fence.kind == "prose" else set()
    named = {name for name, _ in _CODE.findall(fence.below)}
    shown = [item.diagnostic for item in found if item.name not in made_up or item.name in named]
    return [(item.name, item.line - first + 1 if item.line else None) for item in shown]


def _holds(wanted: Any, found: Any) -> bool:
    """Whether what is wanted is part of what was found: the keys that are given, every item of a list."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and _holds(wanted[key], found[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(wanted) == len(found) and all(map(_holds, wanted, found))
    return bool(wanted == found) and isinstance(wanted, bool) == isinstance(found, bool)


# --- consoles and scripts --------------------------------------------------------------------------------------------


class Folder:
    """The folder of a page: its files, its commands and its Python blocks, in the order of the page."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: dict[str, Any] = {"__name__": "documentation"}
        command = path.parent / "bin" / "prose"
        command.parent.mkdir(exist_ok=True)
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m prose_lang "$@"\n')
        command.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if name in ("LANG", "LC_ALL", "TMPDIR")}
        self.environment = {
            **kept,
            "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
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

    def console_faults(self, fence: Fence) -> Iterator[str]:
        """What is wrong with a console block: other output, or a failure that the page does not show."""
        steps = list(_steps(fence.text))
        mark = "---- end of step:"
        script = "".join(f'{command}\nset -- $?; echo "{mark}$1"; (exit $1)\n' for command, _ in steps)
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.path, env=self.environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=60, check=False,
        )  # fmt: skip
        parts = re.split(rf"{re.escape(mark)}(\d+)\n", done.stdout)
        if len(parts) != 2 * len(steps) + 1:
            yield f"the shell ended early: {done.stdout}"
            return
        for index, (command, wanted) in enumerate(steps):
            output, status = parts[2 * index], int(parts[2 * index + 1])
            asked = index + 1 < len(steps) and steps[index + 1][0] == "echo $?"
            if not _matches(wanted, output):
                yield f"`{command}` printed:\n{output}"
            if status and not asked:
                yield f"`{command}` ended with {status}, and no `echo $?` follows"

    def python_faults(self, fence: Fence) -> Iterator[str]:
        """What is wrong with a Python block: it fails, or prints something else."""
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


@contextlib.contextmanager
def _own_modules(path: Path) -> Iterator[None]:
    """Forget the modules that were imported from a folder, which the next page may have by the same names."""
    before = list(sys.path)
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


# --- pages -----------------------------------------------------------------------------------------------------------


def data_faults(fence: Fence) -> Iterator[str]:
    """What is wrong with a fence of data, or of a kind that nothing checks."""
    try:
        if fence.kind == "yaml":
            YAML(typ="safe", pure=True).load(fence.text)
        elif fence.kind == "json":
            json.loads(fence.text)
        elif fence.kind == "toml":
            tomllib.loads(fence.text)
        elif fence.file is None and fence.kind not in KINDS:
            yield f"nothing checks a fence of the kind `{fence.kind}`"
    except Exception as error:
        yield f"it is not {fence.kind}: {error}"


def is_block(fence: Fence) -> bool:
    """Whether a fence says what comes of the example above it."""
    return fence.kind == "yaml" and fence.text.startswith(("# run\n", "# shows\n"))


def programs(page: Path) -> Iterator[tuple[Fence, list[Fence], dict[str, str]]]:
    """The examples of a page with the blocks below each, and the pattern files above it."""
    found = fences(page)
    files: dict[str, str] = {}
    for index, fence in enumerate(found):
        if fence.kind in ("prose", "markdown"):
            yield fence, list(itertools.takewhile(is_block, found[index + 1 :])), dict(files)
        if fence.file is not None and fence.file.endswith(".prose.md"):
            files[fence.file] = fence.text


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


def stray_blocks(page: Path) -> Iterator[str]:
    """`# run` blocks that stand under no example."""
    before: Fence | None = None
    for fence in fences(page):
        if is_block(fence) and (before is None or not (is_block(before) or before.kind in ("prose", "markdown"))):
            yield f"{fence.id}: there is no example above it"
        before = fence
