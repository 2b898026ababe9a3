"""What `prose test --coverage` shows and writes. Measuring, the table and the format of lcov are in `testing/`."""

from __future__ import annotations

import os

from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import SourceError
from prose_lang.testing.coverage_data import CoverageReport
from prose_lang.testing.coverage_lcov import lcov
from prose_lang.testing.coverage_table import shortfall, table_lines


def show_coverage(report: CoverageReport, minimum: float | None, terminal: Terminal) -> None:
    """Print the table, and whether it falls short of what is asked for."""
    headings, *lines = table_lines(report)
    terminal.write(terminal.paint("1", headings, terminal.out))
    for line in lines:
        terminal.write(line)
    said = shortfall(report, minimum) if minimum is not None else None
    if said is not None:
        terminal.write(terminal.paint("1;31", said, terminal.out))


def write_lcov(report: CoverageReport, file: str) -> None:
    """Write the report in lcov's format, with paths relative to the working folder. Raises SourceError P103."""
    text = lcov(report, os.getcwd())
    try:
        with open(file, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise SourceError("P103", f"`{file}` cannot be written: {reason}") from None
