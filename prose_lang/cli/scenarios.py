"""Running the scenarios of many files: what each came to as soon as it is known, the failures in full at the end."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from prose_lang.cli.coverage import Measured, measured
from prose_lang.cli.engines import cassette_of, model_settings, services_of_files
from prose_lang.cli.reading import STDIN, Reader
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import Diagnostic, ProseError, Severity, SourceError
from prose_lang.diagnostics.render import render_all
from prose_lang.diagnostics.visible import visible
from prose_lang.documents.replacing import replace
from prose_lang.engine import Engine
from prose_lang.resources import library_folder, library_names
from prose_lang.testing.checks import Verdict
from prose_lang.testing.clock import run_virtual
from prose_lang.testing.coverage import Coverage
from prose_lang.testing.files import Scenario, TestFile, collect, test_files, test_of
from prose_lang.testing.recording import Change, record
from prose_lang.testing.reporting import report_lines
from prose_lang.testing.running import ScenarioResult, run_scenario
from prose_lang.text import amount

_STYLES = {Verdict.PASSED: "32", Verdict.FAILED: "1;31", Verdict.BROKEN: "1;31", Verdict.NOT_EVALUATED: "33"}
_WORDS = {Verdict.FAILED: "FAILED", Verdict.BROKEN: "BROKEN"}
_WIDTH = len("not evaluated")
#: Seconds of a scenario that are worth a word.
_SLOW = 0.5


@attrs.frozen
class Request:
    """What was asked for on the command line; see the options of `test.py`."""

    paths: tuple[str, ...]
    keyword: str | None
    first: bool
    strict: bool
    services: tuple[str, ...]
    judge: str | None
    cassette: str | None
    cassette_mode: str | None
    update: bool
    junit: str | None
    coverage: bool
    coverage_min: float | None
    coverage_report: str | None
    form: str

    @property
    def measured(self) -> bool:
        """Whether coverage is measured; whoever asks for a part of it asks for it."""
        return self.coverage or self.coverage_min is not None or self.coverage_report is not None


@attrs.define
class Report:
    """What came of all files: results in their order, files that could not be read, what was recorded where."""

    results: list[ScenarioResult] = attrs.Factory(list)
    broken: list[tuple[str, tuple[Diagnostic, ...]]] = attrs.Factory(list)
    updated: list[tuple[str, Change]] = attrs.Factory(list)
    files: int = 0
    left_out: int = 0
    interrupted: bool = False
    seconds: float = 0.0
    coverage: Measured | None = None

    @property
    def exit_status(self) -> int:
        """130 interrupted, 2 broken or nothing run, 1 failed or too little covered, 0 all passed or not evaluated."""
        verdicts = {result.verdict for result in self.results}
        if self.interrupted:
            return 130
        if self.broken or not self.results or Verdict.BROKEN in verdicts:
            return 2
        too_little = self.coverage is not None and self.coverage.shortfall is not None
        return 1 if Verdict.FAILED in verdicts or too_little else 0


def run_tests(request: Request, terminal: Terminal) -> int:
    """Run, show, and give the exit status. Raises ProseError for faults of `--services`, `--judge` and `--junit`."""
    with terminal.only_results():
        coverage = Coverage() if request.measured else None
        engine = Engine(
            services=services_of_files(request.services),
            models=model_settings(terminal),
            cassette=cassette_of(request.cassette, request.cassette_mode),
            probe=coverage,
        )
        engine.models.keys.told = terminal.hide
        work = _Work(request, terminal, engine)
        work.all()
        if coverage is not None:
            subjects = (result.subject for result in work.report.results)
            work.report.coverage = measured(coverage, subjects, request.coverage_min)
        if request.form == "json":
            terminal.write_json(_plain(work.report))
        else:
            for block in _endings(work.report, request, terminal):
                terminal.write(block)
        if request.junit is not None:
            _write_junit(request.junit, work.report, terminal)
        if request.coverage_report is not None and work.report.coverage is not None:
            work.report.coverage.write_lcov(request.coverage_report)
    return work.report.exit_status


class _Work:
    """The running of one file after the other, by one engine: what it keeps of patterns serves all."""

    def __init__(self, request: Request, terminal: Terminal, engine: Engine) -> None:
        self.request = request
        self.terminal = terminal
        self.engine = engine
        self.reader = Reader()
        self.report = Report()
        self.shipped: set[str] = set()  # the library's own files, which are nobody's to change
        if request.judge is not None:
            # A truth that nobody is asked about: the judge is looked up, and one that does not exist is told at once.
            run_virtual(engine.decide_async("known", {"known": True}, judge=request.judge))

    def all(self) -> None:
        started = time.perf_counter()
        try:
            for path in self.files():
                self.file(path)
                if self.stopped:
                    break
        except KeyboardInterrupt:
            self.report.interrupted = True
        self.report.seconds = time.perf_counter() - started

    @property
    def stopped(self) -> bool:
        bad = (Verdict.FAILED, Verdict.BROKEN)
        results = self.report.results
        return self.request.first and bool(self.report.broken or (results and results[-1].verdict in bad))

    def files(self) -> Iterator[str]:
        """The files that the paths mean, each once."""
        seen: set[str] = set()
        for path in self.request.paths:
            try:
                for file in test_files(self.in_the_library(path) or path):
                    real = file if file == STDIN else os.path.realpath(file)
                    if real not in seen:
                        seen.add(real)
                        yield file
            except ProseError as error:
                self.report.broken.append((path, error.diagnostics))

    def in_the_library(self, path: str) -> str | None:
        """The tests of a library pattern that is named and no file."""
        name = path.removeprefix("stdlib:")
        if name not in library_names() or (name == path and os.path.lexists(path)):
            return None
        found = str(library_folder() / f"{name}.test.prose.md")
        self.shipped.add(found)
        return found

    def file(self, path: str) -> None:
        """Run the scenarios of one file that are wanted."""
        try:
            file = self.collected(path)
        except ProseError as error:
            self.report.broken.append((path, error.diagnostics))
            self.line(path, Verdict.BROKEN, "", 0)
            return
        self.report.files += 1
        if not file.scenarios:
            self.report.broken.append((file.name, file.diagnostics))
            self.line(file.name, Verdict.BROKEN, "", 0)
            return
        wanted = [scenario for scenario in file.scenarios if self.wants(scenario)]
        self.report.left_out += len(file.scenarios) - len(wanted)
        if wanted and self.request.form == "text" and not self.terminal.quiet:
            self.terminal.write(self.terminal.paint("1", visible(file.name), self.terminal.out))
        first = len(self.report.results)
        try:
            for scenario in wanted:
                result = self.run(scenario)
                self.report.results.append(result)
                if not self.request.update:
                    self.show(result)
                if self.stopped:
                    break
            if self.request.update and path not in self.shipped:
                self.update(file, first)
        finally:  # Ctrl-C too
            for result in self.report.results[first:] if self.request.update else ():
                self.show(result)  # as it is after the update

    def collected(self, path: str) -> TestFile:
        if path != STDIN:
            return collect(path, self.engine.loader)
        from prose_lang.documents.reader import read_document

        return test_of(read_document(self.reader.source(STDIN, "the test")))

    def wants(self, scenario: Scenario) -> bool:
        keyword = self.request.keyword
        return keyword is None or keyword.casefold() in f"{scenario.file}::{scenario.name}".casefold()

    def show(self, result: ScenarioResult) -> None:
        self.line(result.scenario.name, result.verdict, "  ", result.seconds)
        if self.terminal.verbosity >= 1 and self.request.form == "text":
            for check in result.checks:
                layer = f" ({check.layer})" if check.layer else ""
                reason = f": {check.reason}" if check.reason else ""
                no = "not " if check.negated else ""
                self.terminal.write(visible(f"      {check.verdict.value}{layer}  {no}{check.what}{reason}"))

    def run(self, scenario: Scenario) -> ScenarioResult:
        request, clean = self.request, self.terminal.redactor.value
        return run_scenario(scenario, self.engine, judge=request.judge, strict=request.strict, clean=clean)

    def line(self, name: str, verdict: Verdict, indent: str, seconds: float) -> None:
        if self.request.form != "text" or (self.terminal.quiet and verdict is Verdict.PASSED):
            return
        word = _WORDS.get(verdict, verdict.value)
        shown = self.terminal.paint(_STYLES[verdict], word, self.terminal.out) + " " * (_WIDTH - len(word))
        took = f"  ({seconds:.1f} s)" if seconds >= _SLOW else ""
        self.terminal.write(f"{indent}{shown}  {visible(name)}{took}")

    def update(self, file: TestFile, first: int) -> None:
        """Record what the scenarios of a file gave, and run those that were changed once more."""
        results = self.report.results[first:]
        try:
            recorded = record(file, results, self.terminal.redactor.value)
            if not recorded.changes:
                return
            assert file.path is not None, "standard input is not updated"
            replace(file.path, file.document.source, recorded.text)
            again = collect(file.name, self.engine.loader)
        except ProseError as error:
            self.report.broken.append((file.name, error.diagnostics))
            return
        self.report.updated += [(file.name, change) for change in recorded.changes]
        changed = {change.line for change in recorded.changes}
        now = dict(zip((scenario.text for scenario in file.scenarios), again.scenarios, strict=True))
        for number, result in enumerate(results, first):
            if result.scenario.line in changed:
                self.report.results[number] = self.run(now[result.scenario.text])


# --- showing ---------------------------------------------------------------------------------------------------------


def _endings(report: Report, request: Request, terminal: Terminal) -> Iterator[str]:
    """What is shown at the end: everything that did not pass in full, what was recorded, the counts."""
    color = terminal.colors(terminal.out)
    for result in report.results:
        lines = report_lines(result, color=color)
        if lines and not (terminal.quiet and result.verdict is Verdict.PASSED):
            word = _WORDS.get(result.verdict, result.verdict.value)
            head = terminal.paint(_STYLES[result.verdict], word, terminal.out)
            yield f"\n{head} {visible(result.scenario.file)}: {visible(result.scenario.name)}\n"
            yield "\n".join(lines)
    for _, found in report.broken:
        yield "\n" + render_all(found, color=color)
    if report.updated:
        yield ""
    for file, change in report.updated:
        what = "new section with" if change.new else "recorded"
        place = terminal.paint("32", "updated", terminal.out) + f" {visible(file)}:{change.line}"
        yield f"{place} {visible(change.scenario)}: {what} {', '.join(change.keys)}"
    if report.coverage is not None:
        yield from report.coverage.blocks(terminal)
    if report.interrupted:
        yield "\ninterrupted"
    if not terminal.quiet or report.exit_status not in (0, 130):
        yield f"\n{_summary(report, request)}"


def _summary(report: Report, request: Request) -> str:
    counts = Counter(result.verdict for result in report.results)
    order = (Verdict.PASSED, Verdict.FAILED, Verdict.BROKEN, Verdict.NOT_EVALUATED)
    said = [f"{counts[verdict]:,} {verdict.value}" for verdict in order if counts[verdict]]
    if report.broken:
        number = len(report.broken)
        said.append(f"{amount(number, 'file')} broken")
    if not report.results and not report.broken:
        why = f" has “{visible(request.keyword)}” in its name" if request.keyword is not None else " was run"
        said.append(f"no scenario{why}")
    if report.left_out and report.results:
        said.append(f"{report.left_out:,} left out by -k")
    number = len(report.results)
    return f"{amount(number, 'scenario')} in {report.seconds:.2f} s: {', '.join(said)}"


def _plain(report: Report) -> dict[str, Any]:
    """The report as plain data."""
    counts = Counter(result.verdict for result in report.results)
    return {
        "exit_status": report.exit_status,
        "interrupted": report.interrupted,
        "seconds": round(report.seconds, 6),
        "counts": {verdict.value: counts[verdict] for verdict in Verdict},
        "scenarios": [_plain_result(result) for result in report.results],
        "diagnostics": [item.as_json() for _, found in report.broken for item in found],
        "updated": [
            {"file": file, "scenario": change.scenario, "keys": list(change.keys), "new": change.new}
            for file, change in report.updated
        ],
        **({"coverage": report.coverage.as_json()} if report.coverage is not None else {}),
    }


def _plain_result(result: ScenarioResult) -> dict[str, Any]:
    outcome = result.outcome
    error = outcome.error if outcome is not None else None
    return {
        "file": result.scenario.file,
        "line": result.scenario.line,
        "name": result.scenario.name,
        "verdict": result.verdict.value,
        "seconds": round(result.seconds, 6),
        "status": outcome.status if outcome is not None else None,
        "error": error.as_json() if error is not None else None,
        "checks": [check.as_json() for check in result.checks],
        "unused": [{"service": left.service, "count": left.count, "total": left.total} for left in result.unused],
        "warnings": [item.as_json() for item in outcome.trace.warnings] if outcome is not None else [],
        "diagnostics": [item.as_json() for item in result.faults if item.severity is Severity.ERROR],
    }


def _write_junit(path: str, report: Report, terminal: Terminal) -> None:
    from prose_lang.testing.junit import junit_xml

    found = junit_xml(report.results, report.broken, terminal.redactor.text)
    try:
        Path(path).write_bytes(found)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError("P103", f"`{path}` of --junit cannot be written: {reason.lower()}") from None
