"""Test files as pytest sees them: each scenario is an item (`path::scenario`).

What a scenario says and how it came out is the same as under `prose test`; here it becomes what pytest knows: passed,
failed, skipped with a reason (not evaluated), a collection error (no scenario of the file can be run), or a warning
(replies that nobody took). Loaded when the first test file is
collected.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import pytest

from prose_lang.diagnostics import Diagnostic, ProseError, Severity
from prose_lang.diagnostics.render import render_all
from prose_lang.diagnostics.visible import visible
from prose_lang.testing.checks import Verdict
from prose_lang.testing.files import collect
from prose_lang.testing.giving import subject_of
from prose_lang.testing.paths import from_here
from prose_lang.testing.plugin import ScenarioFile
from prose_lang.testing.pytest_running import RunningFile
from prose_lang.testing.pytest_session import session_coverage, session_engine
from prose_lang.testing.reporting import report_lines
from prose_lang.testing.running import ScenarioResult

_RUNNING = pytest.StashKey[RunningFile]()


class UnusedRepliesWarning(pytest.PytestWarning):
    """Scripted replies of a scenario that no call took."""


class ScenarioFailed(Exception):
    """A scenario that failed or could not be run. It carries what there is to say, and is shown without a traceback."""

    def __init__(self, result: ScenarioResult) -> None:
        super().__init__(summary(result))
        self.result = result


def scenario_items(file: ScenarioFile) -> list[ScenarioItem]:
    """The scenarios of a file in their order.

    Raises `CollectError`, with the places of all faults, for a file of which no scenario can be run.
    """
    try:
        engine = session_engine(file.config)
        test = collect(from_here(file.path), engine.loader)
        if not test.scenarios or all(scenario.faults for scenario in test.scenarios):
            raise file.CollectError(_rendered(test.diagnostics))
        subject_of(test.document, engine)
    except ProseError as error:
        raise file.CollectError(_rendered(error.diagnostics)) from None
    running = RunningFile(test, engine, file.config.getoption("prose_judge"))
    file.stash[_RUNNING] = running
    return [
        ScenarioItem.from_parent(file, name=scenario.name, number=number, running=running)
        for number, scenario in enumerate(test.scenarios)
    ]


def write_recorded(file: ScenarioFile) -> list[str]:
    """Record in a test file what its scenarios gave, and say what that was; fails where it cannot be written."""
    try:
        return file.stash[_RUNNING].write(file.path)
    except ProseError as error:
        pytest.fail(error.render(), pytrace=False)


class ScenarioItem(pytest.Item):
    """Runs one scenario of a file, by its number."""

    def __init__(self, *, number: int, running: RunningFile, **given: Any) -> None:
        super().__init__(**given)
        self.number = number
        self.running = running

    def runtest(self) -> None:
        """Run the scenario; whatever is not a pass leaves as an exception that pytest knows how to count."""
        update = self.config.getoption("prose_update")
        result = self.running.run_and_record(self.number) if update else self.running.run(self.number)
        coverage = session_coverage(self.config)
        if coverage is not None and result.subject is not None:
            coverage.subject(result.subject.document, result.subject.entry)
        if result.verdict is not Verdict.BROKEN:
            for left in result.unused:
                self.warn(UnusedRepliesWarning(left.said))
        if result.verdict in (Verdict.FAILED, Verdict.BROKEN):
            raise ScenarioFailed(result)
        if result.verdict is Verdict.NOT_EVALUATED:
            skipped = pytest.skip.Exception(summary(result))
            skipped._use_item_location = True  # the place of the scenario is shown, not of this line
            raise skipped

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report that `prose test` shows; only a bug of ours has a traceback."""
        if isinstance(excinfo.value, ScenarioFailed):
            return ScenarioReport(excinfo.value.result)
        if isinstance(excinfo.value, ProseError):
            return excinfo.value.render()
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The place of the scenario, with a line that counts from 0."""
        return self.path, self.running.test.scenarios[self.number].line - 1, self.name


@attrs.frozen
class Crash:
    """Where and why, in one line: what pytest shows in its summary, and JUnit files hold as the message."""

    path: str
    lineno: int
    message: str


class ScenarioReport:
    """What pytest shows of a scenario; coloured on a terminal only, never in a file."""

    def __init__(self, result: ScenarioResult) -> None:
        self.result = result
        self.reprcrash = Crash(result.scenario.file, result.scenario.line, summary(result))

    def toterminal(self, tw: Any) -> None:
        """Write the report to a terminal writer of pytest."""
        for line in report_lines(self.result, color=tw.hasmarkup):
            tw.line(line)

    def __str__(self) -> str:
        return "\n".join(report_lines(self.result))


def summary(result: ScenarioResult) -> str:
    """Why a scenario did not pass, in one line: the first of its faults or expectations."""
    if result.faults:
        said = next((item for item in result.faults if item.severity is Severity.ERROR), result.faults[0]).message
    else:
        check = result.with_verdict(result.verdict)[0]
        said = check.reason if check.layer in ("exact", "strict") else f"“{check.what}”: {check.reason}"
    return visible(" ".join(f"{result.verdict.value}: {said}".split()))


def _rendered(found: Iterable[Diagnostic]) -> str:
    return render_all([item for item in found if item.severity is Severity.ERROR])
