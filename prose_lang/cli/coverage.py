"""What `prose test --coverage` shows and writes: a table of files, what was missed in each, and an lcov file.

Measuring is `prose_lang/testing/coverage.py`; when there is something to show is the command's business.
"""

from __future__ import annotations

import os

from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import SourceError
from prose_lang.diagnostics.visible import visible
from prose_lang.testing.coverage_data import CoverageReport, Tally, shown_ranges
from prose_lang.testing.coverage_lcov import lcov

_HEADINGS = ("file", "statements", "missed", "outcomes", "missed", "covered", "missing lines")


def show_coverage(report: CoverageReport, minimum: float | None, terminal: Terminal) -> None:
    """Print the table; below each file the conditions with an outcome that was never seen."""
    if not report.files:
        terminal.write("coverage: no pattern was reached")
        return
    table: list[tuple[str, ...]] = [_HEADINGS]
    notes: list[list[str]] = [[]]
    for file in report.files:
        table.append((visible(file.name), *_numbers(file.tally), shown_ranges(file.missing_lines)))
        notes.append([f"    {visible(condition.describe())}" for condition in file.incomplete])
    if len(report.files) > 1:
        table.append(("all", *_numbers(report.tally), ""))
        notes.append([])
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEADINGS) - 1)]
    for number, (row, below) in enumerate(zip(table, notes, strict=True)):
        cells = [row[0].ljust(widths[0]), *(row[at].rjust(widths[at]) for at in range(1, len(widths)))]
        line = "  ".join([*cells, row[-1]]).rstrip()
        terminal.write(terminal.paint("1", line, terminal.out) if number == 0 else line)
        for note in below:
            terminal.write(note)
    if minimum is not None and not enough(report, minimum):
        said = f"coverage is {exact_percent(report)}%, and {minimum:g}% is asked for"
        terminal.write(terminal.paint("1;31", said, terminal.out))


def enough(report: CoverageReport, minimum: float) -> bool:
    """Whether statements and outcomes together reach the percentage; what is shown is rounded, this is not."""
    return report.tally.percent >= minimum


def exact_percent(report: CoverageReport) -> str:
    """The percentage with up to two decimals, cut off and not rounded: what is too little never looks enough."""
    whole, hundredths = divmod(int(report.tally.percent * 100), 100)
    return f"{whole}.{hundredths:02d}".rstrip("0").rstrip(".")


def write_lcov(report: CoverageReport, file: str) -> None:
    """Write the report in lcov's format, with paths relative to the working folder. Raises SourceError P103."""
    text = lcov(report, os.getcwd())
    try:
        with open(file, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise SourceError("P103", f"`{file}` cannot be written: {reason}") from None


def _numbers(tally: Tally) -> tuple[str, ...]:
    return (
        str(tally.statements),
        str(tally.statements - tally.covered),
        str(tally.outcomes),
        str(tally.outcomes - tally.seen),
        tally.shown_percent,
    )
