"""Checking many files: all faults in one report, and for each condition the layers that can decide it (L30)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

from prose_lang.cli.engines import script_of_file, services_of_files
from prose_lang.cli.reading import STDIN, Reader
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import Diagnostic, ProseError, Severity, SourceError, sort_diagnostics
from prose_lang.engine import Engine
from prose_lang.semantics import ConditionPlan, Program
from prose_lang.text import amount

_SUFFIX = ".prose.md"


@attrs.frozen
class Condition:
    """A condition of a file, and what can decide it."""

    file: str
    line: int
    entry: str
    plan: ConditionPlan

    @property
    def judged(self) -> bool:
        """Whether a judge may be asked."""
        return "judge" in self.plan.layers

    @property
    def meaning(self) -> str:
        """The layers that can decide it, with what they mean."""
        plan = self.plan
        said = []
        if plan.expression is not None:
            said.append("value: the label that it equals" if plan.labels else "expression")
        else:
            said.extend(f"{rule.layer}: {rule.describe()}" for rule in plan.rules)
        if self.judged:
            said.append("judge may be asked" + (f" (an exact form: {plan.hint})" if plan.hint else ""))
        return "; ".join(said)

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "line": self.line,
            "entry": self.entry,
            "text": self.plan.text,
            "layers": list(self.plan.layers),
            "meaning": self.meaning,
            "judge": self.judged,
            "exact_form": self.plan.hint,
        }


@attrs.frozen
class Report:
    """What was found in all files."""

    files: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    conditions: tuple[Condition, ...]

    def count(self, severity: Severity) -> int:
        return sum(item.severity is severity for item in self.diagnostics)

    @property
    def errors(self) -> int:
        return self.count(Severity.ERROR)

    @property
    def warnings(self) -> int:
        return self.count(Severity.WARNING)


def check(paths: Iterable[str], services: Iterable[str], script: str | None) -> Report:
    """Check everything that the paths mean. Raises ProseError for faults of `services` and `script` alone."""
    from prose_lang.services import scripted_services

    reader = Reader()
    known: dict[str, Any] = services_of_files(services)
    replies = script_of_file(script, reader)
    if replies is not None:
        known.update(scripted_services(replies))
    engine = Engine(services=known)
    files: list[str] = []
    found: list[Diagnostic] = []
    conditions: list[Condition] = []
    for path in paths:
        try:
            for file in files_of(path):
                pattern = reader.pattern(engine, file)
                files.append(pattern.document.source.name)
                diagnostics, programs = engine.checked(pattern)
                found.extend(_unsilenced(diagnostics))
                if pattern.document.test is not None:
                    from prose_lang.testing.files import test_of
                    from prose_lang.testing.running import scenario_faults

                    found.extend(scenario_faults(test_of(pattern.document), engine))
                conditions.extend(condition for program in programs for condition in _conditions(program))
        except ProseError as error:
            found.extend(error.diagnostics)
    return Report(tuple(files), tuple(sort_diagnostics(found)), tuple(conditions))


def _unsilenced(found: list[Diagnostic]) -> list[Diagnostic]:
    """Without the lints that comments silence. The linter is loaded only where there may be such a comment."""
    if not any(item.code is None and item.source is not None and "prose:" in item.source.text for item in found):
        return found
    from prose_lang.linter.allowances import without_silenced

    return without_silenced(found)


def files_of(path: str) -> Iterator[str]:
    """The files that a path means; whatever is no folder means itself. Hidden folders are not looked into."""
    if path == STDIN or not os.path.isdir(path):
        yield path
        return
    found = False
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(_SUFFIX):
                found = True
                yield str(Path(folder, name))
    if not found:
        raise SourceError("P103", f"the folder `{path}` holds no {_SUFFIX} files")


def _conditions(program: Program) -> Iterator[Condition]:
    source = program.source
    for plan in sorted(program.conditions.values(), key=lambda plan: plan.site.span):
        yield Condition(source.name, source.position(plan.site.span.start).line, program.entry.name, plan)


# --- showing ---------------------------------------------------------------------------------------------------------


def show(report: Report, form: str, conditions: bool, terminal: Terminal) -> None:
    """Print a report as text, JSON or SARIF."""
    match form:
        case "json":
            plain = {
                "files": list(report.files),
                "errors": report.errors,
                "warnings": report.warnings,
                "diagnostics": [item.as_json() for item in report.diagnostics],
                "conditions": [item.as_json() for item in report.conditions],
            }
            terminal.write_json(plain)
        case "sarif":
            from prose_lang import __version__
            from prose_lang.cli.pages import page
            from prose_lang.diagnostics.sarif import to_sarif

            terminal.write_json(to_sarif(report.diagnostics, __version__, page))
        case _:
            for block in _blocks(report, conditions, terminal):
                terminal.write(block)


def _blocks(report: Report, conditions: bool, terminal: Terminal) -> Iterator[str]:
    from prose_lang.diagnostics.render import render_all

    if report.diagnostics:
        yield render_all(report.diagnostics, color=terminal.colors(terminal.out)) + "\n"
    if conditions:
        yield from _condition_lines(report.conditions)
    if terminal.quiet:
        return
    number = len(report.files)
    files = f"{amount(number, 'file')} checked"
    match report.diagnostics:
        case ():
            yield f"{files}, no problems"
        case (only,):
            yield f"{files}, 1 {only.severity.value}"
        case _:
            yield files  # the diagnostics end in their count


def _condition_lines(conditions: Iterable[Condition]) -> Iterator[str]:
    from prose_lang.cli.values import clipped
    from prose_lang.diagnostics.visible import visible

    by_file: dict[str, list[Condition]] = {}
    for item in conditions:
        by_file.setdefault(item.file, []).append(item)
    for file, items in by_file.items():
        yield visible(file)
        width = min(60, max(len(item.plan.text) for item in items))
        for item in items:
            text = clipped(item.plan.text, width)
            yield f"  line {item.line:<4} {text:<{width}}  {visible(item.meaning)}"
        yield ""
