"""What rules say of a program is so when it runs, and a program that was mended does what it did before.

A call of `probe` is put in where a rule says that nothing ever comes, or that a variable is null.
"""

from __future__ import annotations

from typing import Any

import pytest
from running_programs import Running

from prose_lang.diagnostics import ProseError
from prose_lang.engine import Engine
from prose_lang.linter import Finding, Linted, fix, lint

PROGRAMS = 120
CHUNK = 30


class Witness:
    """Runs programs and keeps what they called."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.engine = Engine(services={"w": self.w, "probe": self.probe})

    async def w(self, x: Any = None) -> Any:
        self.calls.append(("w", x))
        return x

    async def probe(self, v: Any = None) -> int:
        self.calls.append(("probe", v))
        return 1

    def run(self, text: str) -> tuple[Any, list[tuple[str, Any]]]:
        """The result or the code of the error, and the calls."""
        self.calls = []
        try:
            result: Any = self.engine.run(self.engine.loads(text), {}).value
        except ProseError as error:
            result = error.code
        return result, self.calls

    def lint(self, text: str) -> Linted:
        document = self.engine.loads(text).document
        return lint(document, self.engine.environment(document))

    def probed(self, lines: list[str], at: int, like: int, binding: str | None = None) -> list[Any]:
        """What `probe` was given if it is called before line `at`, indented as line `like` is."""
        indent = lines[like][: len(lines[like]) - len(lines[like].lstrip())]
        call = [f"{indent}call probe", *([f"{indent}  v: {binding}"] if binding else [])]
        _, calls = self.run("\n".join([*lines[:at], *call, *lines[at:]]))
        return [value for name, value in calls if name == "probe"]


def check_unreachable(witness: Witness, lines: list[str], finding: Finding) -> None:
    line = (finding.diagnostic.line or 0) - 1
    header = lines[line].lstrip().startswith(("if", "elif", "loop")) and "reached" not in finding.diagnostic.message
    line += header  # of an arm or a loop that never runs, the first statement
    assert witness.probed(lines, line, line) == []


def check_read_before_set(witness: Witness, lines: list[str], finding: Finding) -> None:
    line = (finding.diagnostic.line or 0) - 1
    line -= lines[line].lstrip().startswith("x: ")
    if lines[line].lstrip().startswith(("elif", "loop until")):
        return  # nothing can be put in where these are evaluated
    source = finding.diagnostic.source
    assert source is not None
    name = source.text[finding.span.start : finding.span.end]
    assert witness.probed(lines, line, line, name)[:1] in ([], [None])


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_what_is_said_is_so(first: int) -> None:
    witness = Witness()
    seen: set[str] = set()
    for seed in range(first, first + CHUNK):
        lines = Running(seed).program()
        found = witness.lint("\n".join(lines))
        for finding in found.findings if not found.errors else ():
            if finding.name == "unreachable":
                check_unreachable(witness, lines, finding)
            elif finding.name == "read-before-set":
                check_read_before_set(witness, lines, finding)
            seen.add(finding.name)
    assert {"unreachable", "read-before-set", "re-let"} <= seen


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_a_mended_program_does_what_it_did(first: int) -> None:
    witness = Witness()
    mended = 0
    for seed in range(first, first + CHUNK):
        text = "\n".join(Running(seed).program())
        found = witness.lint(text)
        if found.errors:
            continue
        fixed = fix(found.document, witness.engine.environment)
        mended += len(fixed.mended)
        if fixed.mended:
            assert witness.run(fixed.text) == witness.run(text)
    assert mended
