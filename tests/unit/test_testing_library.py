"""The tests of the library's patterns: each pattern has some, and they pass as strictly as can be."""

from __future__ import annotations

import pytest

from prose_lang import Engine
from prose_lang.resources import library_folder, library_names
from prose_lang.testing import Scenario, Verdict, collect, report_lines, run_scenario

FOLDER = library_folder()
SCENARIOS = [
    pytest.param(scenario, id=f"{name}: {scenario.name}")
    for name in library_names()
    for scenario in collect(FOLDER / f"{name}.test.prose.md").scenarios
]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_library(scenario: Scenario, engine: Engine) -> None:
    result = run_scenario(scenario, engine, strict=True)
    assert result.verdict is Verdict.PASSED, "\n".join(report_lines(result))
    assert result.checks


def test_every_pattern_has_tests_and_every_test_a_pattern() -> None:
    tested = {path.name.removesuffix(".test.prose.md") for path in FOLDER.glob("*.test.prose.md")}
    assert tested == set(library_names())


def test_the_library_lists_no_tests() -> None:
    assert not [name for name in library_names() if "test" in name]
    assert not [name for name in Engine().loader.names(Engine().load("refine").document) if name.endswith(".test")]
