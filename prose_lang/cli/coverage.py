"""What `prose test --coverage` shows and writes. Measuring, the table and lcov's format are in `testing/`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import SourceError
from prose_lang.engine import Pattern
from prose_lang.testing.coverage import Coverage
from prose_lang.testing.coverage_data import CoverageReport
from prose_lang.testing.coverage_lcov import lcov
from prose_lang.testing.coverage_table import shortfall, table_lines


@attrs.frozen(eq=False)
class Measured:
    """The coverage of all scenarios that ran, and the percentage that is asked for, if one is."""

    report: CoverageReport
    minimum: float | None

    @property
    def shortfall(self) -> str | None:
        """What to say if less is covered than is asked for; None if enough is."""
        return shortfall(self.report, self.minimum) if self.minimum is not None else None

    def blocks(self, terminal: Terminal) -> Iterator[str]:
        """The table, and what it falls short of. Quiet terminals get the latter alone."""
        if not terminal.quiet:
            headings, *lines = table_lines(self.report)
            yield "\n".join(["", terminal.paint("1", headings, terminal.out), *lines])
        if self.shortfall is not None:
            yield "\n" + terminal.paint("1;31", self.shortfall, terminal.out)

    def as_json(self) -> dict[str, Any]:
        """The plain form that `prose test --format json` prints."""
        return {"minimum": self.minimum, "enough": self.shortfall is None, **self.report.as_json()}

    def write_lcov(self, file: str) -> None:
        """Write the report in lcov's format, with paths from the working folder. Raises SourceError P103."""
        text = lcov(self.report, os.getcwd())
        try:
            with open(file, "w", encoding="utf-8", newline="\n") as out:
                out.write(text)
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise SourceError("P103", f"`{file}` of --coverage-report cannot be written: {reason}") from None


def measured(coverage: Coverage, subjects: Iterable[Pattern | None], minimum: float | None) -> Measured:
    """What was measured. The subjects of the tests count whether or not something of them ran."""
    for subject in subjects:
        if subject is not None:
            coverage.subject(subject.document, subject.entry)
    return Measured(coverage.report(), minimum)
