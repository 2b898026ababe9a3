"""What a measurement found, as plain data: of each file and entry the statements, the conditions and their outcomes.

A statement is covered when it began, as in other languages; a condition when each of its outcomes was seen: true and
false, each label of a `choice` (L31), kept and dropped of a `filter` (L28). Measuring is `coverage.py`; tables and
exchange formats are made elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

#: The outcomes of a condition that is no choice, as they are written in reports.
TRUE, FALSE = "true", "false"
KEPT, DROPPED = "kept", "dropped"


@attrs.frozen
class Statement:
    """A statement: the line it begins on, and how often it began."""

    line: int
    count: int


@attrs.frozen
class Condition:
    """A condition with its outcomes and how often each was seen.

    `keyword` tells what it belongs to: `if`, `elif`, `loop until`, `loop while`, `choice` or `filter`; `text` is the
    condition as it was written, empty for a filter. An outcome that a literal (`loop while true`) cannot have is not
    asked for.

    >>> condition = Condition("if", "score meets bar", 58, (("true", 2), ("false", 0)))
    >>> condition.missing, condition.describe()
    (('false',), '`score meets bar` (line 58): never false')
    """

    keyword: str
    text: str
    line: int
    outcomes: tuple[tuple[str, int], ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The outcomes that were never seen."""
        return tuple(name for name, count in self.outcomes if not count)

    @property
    def reached(self) -> bool:
        """Whether it was decided at all."""
        return any(count for _, count in self.outcomes)

    def describe(self) -> str:
        """What was not seen, in words."""
        name = self.keyword if not self.text else _short(self.text)
        if self.keyword == "choice":
            name, missing = f"choice {name}", [f'"{label}"' for label in self.missing]
        else:
            missing = list(self.missing)
        what = f"never {' or '.join(missing)}" if self.reached else "never reached"
        return f"`{name}` (line {self.line}): {what}"

    def as_json(self) -> dict[str, Any]:
        return {
            "line": self.line,
            "keyword": self.keyword,
            "text": self.text,
            "outcomes": dict(self.outcomes),
            "missing": list(self.missing),
        }


@attrs.frozen
class Tally:
    """How much there is and how much of it was seen. Tallies are added up with `+`."""

    statements: int = 0
    covered: int = 0
    outcomes: int = 0
    seen: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.statements + other.statements,
            self.covered + other.covered,
            self.outcomes + other.outcomes,
            self.seen + other.seen,
        )

    @property
    def percent(self) -> float:
        """How much of statements and outcomes together was seen; 100 where there is nothing to see.

        >>> Tally(statements=6, covered=5, outcomes=4, seen=2).percent
        70.0
        """
        total = self.statements + self.outcomes
        return 100.0 * (self.covered + self.seen) / total if total else 100.0

    @property
    def exact_percent(self) -> str:
        """The percentage with up to two decimals, cut off and not rounded: what is too little never looks enough.

        >>> Tally(statements=3, covered=2).exact_percent, Tally(statements=1000, covered=23).exact_percent
        ('66.66', '2.3')
        """
        total = self.statements + self.outcomes
        whole, hundredths = divmod(10_000 * (self.covered + self.seen) // total if total else 10_000, 100)
        return f"{whole}.{hundredths:02d}".rstrip("0").rstrip(".")

    @property
    def shown_percent(self) -> str:
        """The percentage without decimals. It is `100%` only when nothing is missing, `0%` only when all is.

        >>> Tally(statements=1000, covered=999).shown_percent, Tally(statements=1000, covered=1).shown_percent
        ('99%', '1%')
        """
        percent = self.percent
        if 0 < percent < 100:
            percent = min(max(round(percent), 1), 99)
        return f"{percent:.0f}%"

    def as_json(self) -> dict[str, Any]:
        return {
            "statements": self.statements,
            "covered": self.covered,
            "outcomes": self.outcomes,
            "outcomes_seen": self.seen,
            "percent": float(self.exact_percent),
        }


@attrs.frozen
class EntryCoverage:
    """An entry of a file; the line its body begins on."""

    name: str
    line: int
    statements: tuple[Statement, ...]
    conditions: tuple[Condition, ...]

    @property
    def tally(self) -> Tally:
        outcomes = [count for condition in self.conditions for _, count in condition.outcomes]
        return Tally(
            len(self.statements),
            sum(statement.count > 0 for statement in self.statements),
            len(outcomes),
            sum(count > 0 for count in outcomes),
        )

    @property
    def started(self) -> int:
        """How often its body began."""
        return self.statements[0].count if self.statements else 0

    @property
    def missing_lines(self) -> tuple[tuple[int, int], ...]:
        """The lines of statements that never began, as ranges, ends included."""
        return line_ranges(self.statements)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "line": self.line,
            **self.tally.as_json(),
            "missing_lines": [list(part) for part in self.missing_lines],
            "conditions": [condition.as_json() for condition in self.conditions],
        }


@attrs.frozen
class FileCoverage:
    """A file with its entries that have bodies, in the order of the text. `path` is absolute; None for a text."""

    name: str
    path: str | None
    entries: tuple[EntryCoverage, ...]

    @property
    def tally(self) -> Tally:
        return sum((entry.tally for entry in self.entries), Tally())

    @property
    def missing_lines(self) -> tuple[tuple[int, int], ...]:
        """The lines of all entries' statements that never began, as ranges, ends included."""
        return tuple(part for entry in self.entries for part in entry.missing_lines)

    @property
    def incomplete(self) -> Iterator[Condition]:
        """The conditions with an outcome that was never seen."""
        return (condition for entry in self.entries for condition in entry.conditions if condition.missing)

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.name,
            **self.tally.as_json(),
            "missing_lines": [list(part) for part in self.missing_lines],
            "entries": [entry.as_json() for entry in self.entries],
        }


@attrs.frozen
class CoverageReport:
    """What was measured: the files, sorted by name."""

    files: tuple[FileCoverage, ...]

    @property
    def tally(self) -> Tally:
        return sum((file.tally for file in self.files), Tally())

    def as_json(self) -> dict[str, Any]:
        return {**self.tally.as_json(), "files": [file.as_json() for file in self.files]}


def line_ranges(statements: Iterable[Statement]) -> tuple[tuple[int, int], ...]:
    """The lines on which a statement never began, as ranges; a range ends where another line's statement did begin.

    >>> line_ranges([Statement(3, 1), Statement(4, 0), Statement(8, 0), Statement(9, 2), Statement(12, 0)])
    ((4, 8), (12, 12))
    """
    found: list[tuple[int, int]] = []
    going = False
    for line, count in sorted(lines_of(statements).items()):
        if not count:
            found.append((found.pop()[0], line) if going else (line, line))
        going = not count
    return tuple(found)


def lines_of(statements: Iterable[Statement]) -> dict[int, int]:
    """How often each line with a statement ran; where several begin on a line, the one that did so least often."""
    lines: dict[int, int] = {}
    for statement in statements:
        lines[statement.line] = min(lines.get(statement.line, statement.count), statement.count)
    return lines


def shown_ranges(ranges: Iterable[tuple[int, int]]) -> str:
    """Ranges of lines as people write them.

    >>> shown_ranges([(4, 8), (12, 12)])
    '4-8, 12'
    """
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:59]}…"
