"""Helpers for tests: scenarios of test files (`prose test`), runs of patterns, coverage, a clock not to be waited for.

    collect(path)               the scenarios of a test file
    run_scenario(scenario, …)   runs one and says whether it came out as expected
    report_lines(result)        what a person is told of it
    Prose(folder)               runs patterns on scripted services; pytest's fixture `prose` is one
    Coverage()                  counts what the runs of engines go through
    run_virtual(coroutine)      an event loop whose time takes no time

Importing this module loads none of them; each name loads what it needs when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prose_lang.testing.checks import Check, Verdict
    from prose_lang.testing.clock import run_virtual
    from prose_lang.testing.coverage import Coverage
    from prose_lang.testing.files import Scenario, TestFile, collect, test_files
    from prose_lang.testing.fixture import Prose
    from prose_lang.testing.reporting import report_lines
    from prose_lang.testing.running import ScenarioResult, Unused, run_scenario, scenario_faults

__all__ = [
    "Check",
    "Coverage",
    "Prose",
    "Scenario",
    "ScenarioResult",
    "TestFile",
    "Unused",
    "Verdict",
    "collect",
    "report_lines",
    "run_scenario",
    "run_virtual",
    "scenario_faults",
    "test_files",
]

_HOMES = {
    "prose_lang.testing.checks": "Check Verdict",
    "prose_lang.testing.clock": "run_virtual",
    "prose_lang.testing.coverage": "Coverage",
    "prose_lang.testing.files": "Scenario TestFile collect test_files",
    "prose_lang.testing.fixture": "Prose",
    "prose_lang.testing.reporting": "report_lines",
    "prose_lang.testing.running": "ScenarioResult Unused run_scenario scenario_faults",
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
