"""One test file during a pytest session: runs its scenarios by their number, and records what they gave.

The file may be run in any order and in parts, as other plugins like; it is written when pytest has done with a part.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from prose_lang.diagnostics.visible import visible
from prose_lang.documents.reader import read_document
from prose_lang.documents.replacing import replace
from prose_lang.engine import Engine
from prose_lang.testing.files import TestFile, test_of
from prose_lang.testing.recording import record
from prose_lang.testing.running import ScenarioResult, run_scenario
from prose_lang.text import Source


@attrs.define(eq=False)
class RunningFile:
    """The file as it was last written, and the results since then by the number of their scenario."""

    test: TestFile
    engine: Engine
    judge: Any
    results: dict[int, ScenarioResult] = attrs.Factory(dict)

    def run(self, number: int) -> ScenarioResult:
        """Run a scenario."""
        return run_scenario(self.test.scenarios[number], self.engine, judge=self.judge)

    def run_and_record(self, number: int) -> ScenarioResult:
        """Run a scenario, and once more with what is going to be recorded of it, if that is anything.

        Raises CheckError P107 where what it gave cannot be written down.
        """
        result = self.run(number)
        self.results[number] = result
        text = record(self.test, [result]).text
        if text == self.test.document.source.text:
            return result
        return run_scenario(self._with(text).scenarios[number], self.engine, judge=self.judge)

    def write(self, path: Path) -> list[str]:
        """Record the results in the file, and say what was recorded. Raises ProseError P103 or P107."""
        recorded = record(self.test, list(self.results.values()))
        self.results.clear()
        if not recorded.changes:
            return []
        name = self.test.name
        replace(path, self.test.document.source, recorded.text)
        self.test = self._with(recorded.text)
        return [
            visible(f"{name}:{change.line}: {change.scenario}: {_done(change.new)} {', '.join(change.keys)}")
            for change in recorded.changes
        ]

    def _with(self, text: str) -> TestFile:
        document = self.test.document
        return test_of(read_document(Source(document.source.name, text), document.path))


def _done(new: bool) -> str:
    return "new section with" if new else "recorded"
