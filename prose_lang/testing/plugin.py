"""The pytest plugin: collects `*.test.prose.md` files, and gives tests in Python the fixture `prose`.

pytest imports this module at the start of every session of every project beside which prose_lang is installed. It
therefore imports nothing but pytest; what runs scenarios is loaded when there are some to run (`pytest_items.py`), and
what runs patterns for other tests when one asks for it (`fixture.py`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from prose_lang.testing.fixture import Prose

#: What a file that is collected is called.
SUFFIX = ".test.prose.md"

_FAILED = pytest.StashKey[bool]()
_RECORDED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options and settings, all of which begin with `prose`."""
    group = parser.getgroup("prose", "prose: tests of OpenProse patterns (*.test.prose.md)")
    group.addoption(
        "--prose-update",
        action="store_true",
        help="rewrite the recorded expectations (value, calls, status, error) of the *.test.prose.md files that are "
        "run, where they differ from what the run gave",
    )
    group.addoption(
        "--prose-services",
        action="append",
        default=[],
        metavar="FILE",
        help="Python file or module whose @service functions test files and the fixture `prose` can call by name; "
        "repeatable, and added to the setting prose_services",
    )
    group.addoption(
        "--prose-judge",
        metavar="REF",
        help="service that judges what no rule decides, where a scenario scripts no judge of its own",
    )
    group.addoption(
        "--prose-coverage",
        action="store_true",
        help="show which statements and outcomes of patterns were reached, by scenarios and by the fixture `prose`",
    )
    group.addoption(
        "--prose-cassette",
        metavar="FILE",
        help="recording from which services that are not scripted answer, in test files and under the fixture `prose`; "
        "instead of the setting prose_cassette",
    )
    group.addoption(
        "--prose-cassette-mode",
        choices=("live", "record", "replay"),
        default="replay",
        help="what is done with cassettes: replay (unless set), record, or live, which leaves them alone",
    )
    parser.addini("prose_cassette", "recording of what services answer (from the folder of this file)", default="")
    parser.addini(
        "prose_services",
        "Python files (from the folder of this file) or modules whose @service functions *.test.prose.md files and the "
        "fixture `prose` can call by name",
        type="linelist",
        default=[],
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A test file is a collector of its scenarios."""
    return ScenarioFile.from_parent(parent, path=file_path) if file_path.name.endswith(SUFFIX) else None


class ScenarioFile(pytest.File):
    """A test file. pytest makes one for each that lies beside a file it was asked for, so making one costs nothing."""

    def collect(self) -> Iterable[pytest.Item]:
        """The scenarios of the file; see `scenario_items`."""
        from prose_lang.testing.pytest_items import scenario_items

        return scenario_items(self)

    def teardown(self) -> None:
        """Under `--prose-update`, record in the file what its scenarios gave, when the last one has run."""
        if self.config.getoption("prose_update"):
            from prose_lang.testing.pytest_items import write_recorded

            self.config.stash.setdefault(_RECORDED, []).extend(write_recorded(self))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was recorded where, and the table of what was reached."""
    config = terminalreporter.config
    parts = {"recorded": config.stash.get(_RECORDED, [])}
    if config.getoption("prose_coverage"):
        from prose_lang.testing.coverage_table import table_lines
        from prose_lang.testing.pytest_session import session_coverage

        coverage = session_coverage(config)
        parts["coverage"] = table_lines(coverage.report()) if coverage is not None else []
    for name, lines in parts.items():
        if lines:
            terminalreporter.section(f"prose: {name}")
            for line in lines:
                terminalreporter.line(line)


@pytest.fixture
def prose(request: pytest.FixtureRequest) -> Iterator[Prose]:
    """Runs patterns on scripted services, in virtual time: `prose.run("refine", script={...}, task_brief="...")`.

    Paths start at the folder of the test's file; names mean library patterns. `prose.calls("refiner")` gives the inputs
    of a service's calls. Replies that are left over are an error after the test, unless it calls
    `prose.allow_unused()`.
    """
    from prose_lang.diagnostics import ProseError
    from prose_lang.testing.fixture import Prose
    from prose_lang.testing.pytest_session import (
        session_cassette,
        session_coverage,
        session_models,
        session_services,
    )

    config = request.config
    try:
        services, cassette, models = session_services(config), session_cassette(config), session_models(config)
    except ProseError as error:
        pytest.fail(error.render(), pytrace=False)
    made = Prose(
        request.path.parent,
        services,
        coverage=session_coverage(config),
        cassette=cassette,
        models=models,
        part=f"{request.path.name}::{request.node.name}",
        cassette_mode=config.getoption("prose_cassette_mode"),
    )
    yield made
    if not request.node.stash.get(_FAILED, False):  # one failure is told once
        left = made.unused_text()
        if left is not None:
            pytest.fail(left, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Remembers that a test failed, for the fixture."""
    report = yield
    if report.when == "call" and not report.passed and "prose" in getattr(item, "fixturenames", ()):
        item.stash[_FAILED] = True
    return report
