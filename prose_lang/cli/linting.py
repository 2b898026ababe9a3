"""Linting many files: findings and errors in one report, and what was mended in which file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import click

from prose_lang.cli.bar import counted
from prose_lang.cli.checking import files_of
from prose_lang.cli.engines import script_of_file, services_of_files
from prose_lang.cli.reading import STDIN, Reader
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import Diagnostic, ProseError, Severity, sort_diagnostics
from prose_lang.documents.model import Document
from prose_lang.documents.replacing import replace
from prose_lang.engine import Engine, Pattern
from prose_lang.linter import RULES, Finding, Settings, fix, lint
from prose_lang.linter.configuration import Configurations
from prose_lang.text import amount, nearest


@attrs.frozen
class Wanted:
    """What the command line asks for: rules by name, and whether files are mended."""

    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    mend: bool = False


@attrs.frozen
class Report:
    """What was found in all files and is still there, and what was mended."""

    files: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    errors: int
    fixable: frozenset[Diagnostic]
    mended: tuple[Finding, ...]


def rule_names(given: Iterable[str], option: str, ctx: click.Context) -> frozenset[str]:
    """The names that an option lists. Raises UsageError for one that is no rule."""
    names = [name.strip().lower() for text in given for name in text.split(",") if name.strip()]
    for name in names:
        if name not in RULES:
            close = nearest(name, RULES)
            meant = f"; did you mean `{close[0]}`?" if close else "; `prose explain` lists the rules"
            raise click.UsageError(f"{option}: there is no rule `{name}`{meant}", ctx)
    return frozenset(names)


def lint_files(
    paths: Iterable[str], services: Iterable[str], script: str | None, wanted: Wanted, terminal: Terminal
) -> Report:
    """Lint everything that the paths mean. Raises ProseError for faults of `services` and `script` alone."""
    from prose_lang.services import scripted_services

    reader = Reader()
    known: dict[str, Any] = services_of_files(services)
    replies = script_of_file(script, reader)
    if replies is not None:
        known.update(scripted_services(replies))
    work = _Work(Engine(services=known), reader, wanted)
    files: list[str] = []
    for path in paths:
        try:
            files += files_of(path)
        except ProseError as error:
            work.errors += error.diagnostics
    for file in counted(files, terminal, "linting"):
        try:
            work.file(file)
        except ProseError as error:
            work.errors += error.diagnostics
    errors = sort_diagnostics(work.errors)
    return Report(
        tuple(work.files),
        tuple(sort_diagnostics([*errors, *(finding.diagnostic for finding in work.findings)])),
        len(errors),
        frozenset(finding.diagnostic for finding in work.findings if finding.fix is not None),
        tuple(work.mended),
    )


class _Work:
    """The linting of one file after the other."""

    def __init__(self, engine: Engine, reader: Reader, wanted: Wanted) -> None:
        self.engine = engine
        self.reader = reader
        self.wanted = wanted
        self.configurations = Configurations()
        self.files: list[str] = []
        self.errors: list[Diagnostic] = []
        self.findings: list[Finding] = []
        self.mended: list[Finding] = []

    def file(self, file: str) -> None:
        """Lint one file. Raises ProseError if it, or what configures it, cannot be read, or if it cannot be written."""
        document = self.reader.pattern(self.engine, file).document
        self.files.append(document.source.name)
        settings = self.settings(file, document)
        if self.wanted.mend and document.path is not None and not _shipped(document):
            fixed = fix(document, self.engine.environment, settings)
            if fixed.mended:
                replace(document.path, document.source, fixed.text)
                self.mended += fixed.mended
                document = fixed.document
        pattern = Pattern(document, document.main, self.engine)
        self.errors += (item for item in self.engine.check(pattern) if item.severity is Severity.ERROR)
        self.findings += lint(document, self.engine.environment(document), settings).findings

    def settings(self, file: str, document: Document) -> Settings:
        """What counts for a file; the library is nobody's project."""
        settings = Settings()
        if not _shipped(document):
            folder = Path() if file == STDIN or document.path is None else document.path.parent
            settings = self.configurations.settings(folder)
        return settings.over(self.wanted.select, self.wanted.ignore)


def _shipped(document: Document) -> bool:
    return document.source.name.startswith("stdlib:")


# --- showing ---------------------------------------------------------------------------------------------------------


def show(report: Report, form: str, terminal: Terminal) -> None:
    """Print a report as text, JSON or SARIF."""
    match form:
        case "json":
            plain = {
                "files": list(report.files),
                "errors": report.errors,
                "findings": len(report.diagnostics) - report.errors,
                "diagnostics": [{**item.as_json(), "fixable": item in report.fixable} for item in report.diagnostics],
                "fixed": [_fixed(finding) for finding in report.mended],
            }
            terminal.write_json(plain)
        case "sarif":
            from prose_lang import __version__
            from prose_lang.cli.pages import page
            from prose_lang.diagnostics.sarif import to_sarif

            terminal.write_json(to_sarif(report.diagnostics, __version__, page))
        case _:
            for block in _blocks(report, terminal):
                terminal.write(block)


def _fixed(finding: Finding) -> dict[str, Any]:
    item, fix = finding.diagnostic, finding.fix
    assert fix is not None, "what was mended had a fix"
    file = item.source.name if item.source is not None else None
    return {"name": item.name, "file": file, "line": item.line, "column": item.column, "what": fix.what}


def _blocks(report: Report, terminal: Terminal) -> Iterator[str]:
    from prose_lang.diagnostics.render import render_all
    from prose_lang.diagnostics.visible import visible

    if report.diagnostics:
        yield render_all(report.diagnostics, color=terminal.colors(terminal.out))
    if terminal.quiet:
        return
    for one in map(_fixed, report.mended):
        place = visible(f"{one['file']}:{one['line']}:{one['column']}")
        yield f"{terminal.paint('32', 'fixed', terminal.out)} {place} {one['name']}: {one['what']}"
    said = [f"{amount(len(report.files), 'file')} linted"]
    if report.mended:
        said.append(f"{len(report.mended):,} fixed")
    if not report.diagnostics:
        said.append("nothing left" if report.mended else "nothing found")
    elif len(report.diagnostics) == 1:
        said.append(f"1 {report.diagnostics[0].severity.value}")  # several end in their count
    if report.fixable:
        said.append(f"{len(report.fixable):,} can be mended with --fix")
    yield ", ".join(said)
