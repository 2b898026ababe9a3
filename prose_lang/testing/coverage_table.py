"""A measurement as people read it: a table of files, and below each what its conditions never did.

Names and texts are as they stand in files; making control characters visible is done here, colours are not.
"""

from __future__ import annotations

from prose_lang.diagnostics.visible import visible
from prose_lang.testing.coverage_data import CoverageReport, Tally, shown_ranges

_HEADINGS = ("file", "statements", "missed", "outcomes", "missed", "covered", "missing lines")


def table_lines(report: CoverageReport) -> list[str]:
    """The lines of the table; the first one holds the headings.

    >>> from prose_lang.testing.coverage_data import EntryCoverage, FileCoverage, Statement
    >>> entry = EntryCoverage("main", 4, (Statement(5, 1), Statement(6, 0)), ())
    >>> print(*table_lines(CoverageReport((FileCoverage("a.prose.md", None, (entry,)),))), sep="\\n")
    file        statements  missed  outcomes  missed  covered  missing lines
    a.prose.md           2       1         0       0      50%  6
    """
    if not report.files:
        return ["no pattern was reached"]
    table: list[tuple[tuple[str, ...], list[str]]] = [(_HEADINGS, [])]
    for file in report.files:
        row = (visible(file.name), *_numbers(file.tally), shown_ranges(file.missing_lines))
        table.append((row, [f"    {visible(condition.describe())}" for condition in file.incomplete]))
    if len(report.files) > 1:
        table.append((("all", *_numbers(report.tally), ""), []))
    widths = [max(len(row[column]) for row, _ in table) for column in range(len(_HEADINGS) - 1)]
    lines = []
    for row, below in table:
        cells = [row[0].ljust(widths[0]), *(row[at].rjust(widths[at]) for at in range(1, len(widths)))]
        lines += ["  ".join([*cells, row[-1]]).rstrip(), *below]
    return lines


def shortfall(report: CoverageReport, minimum: float) -> str | None:
    """What to say if statements and outcomes together do not reach a percentage; None if they do.

    >>> shortfall(CoverageReport(()), 100) is None
    True
    """
    if report.tally.percent >= minimum:
        return None
    return f"coverage is {report.tally.exact_percent}%, and {minimum:g}% is asked for"


def _numbers(tally: Tally) -> tuple[str, ...]:
    return (
        str(tally.statements),
        str(tally.statements - tally.covered),
        str(tally.outcomes),
        str(tally.outcomes - tally.seen),
        tally.shown_percent,
    )
