"""A measurement in the format of lcov, which editors and continuous integration read.

An entry is a function, a line with statements a line, a condition a block of branches with one branch for each of its
outcomes. Texts that come from no file are left out, since the format names files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from prose_lang.testing.coverage_data import Condition, CoverageReport, FileCoverage, lines_of


def lcov(report: CoverageReport, base: str | os.PathLike[str] | None = None) -> str:
    """The text of a tracefile. Paths of files below the folder `base` are relative to it, others absolute.

    >>> from prose_lang.testing.coverage_data import EntryCoverage, Statement
    >>> entry = EntryCoverage("main", 4, (Statement(5, 1), Statement(6, 0)), ())
    >>> print(lcov(CoverageReport((FileCoverage("a.prose.md", "/p/a.prose.md", (entry,)),)), "/p"), end="")
    TN:
    SF:a.prose.md
    FN:4,main
    FNDA:1,main
    FNF:1
    FNH:1
    DA:5,1
    DA:6,0
    LF:2
    LH:1
    end_of_record
    """
    folder = os.path.abspath(base) if base is not None else None
    lines: list[str] = []
    for file in report.files:
        if file.path is not None:
            lines += ["TN:", f"SF:{_shown(file.path, folder)}", *_records(file), "end_of_record"]
    return "".join(f"{line}\n" for line in lines)


def _records(file: FileCoverage) -> Iterator[str]:
    # Two entries of a file may have one name, functions of the format may not.
    names = [entry.name for entry in file.entries]
    functions = [
        (entry.line, name if names.count(name) == 1 else f"{name} (line {entry.line})", entry.started)
        for entry, name in zip(file.entries, names, strict=True)
    ]
    yield from (f"FN:{line},{name}" for line, name, _ in functions)
    yield from (f"FNDA:{count},{name}" for _, name, count in functions)
    yield f"FNF:{len(functions)}"
    yield f"FNH:{sum(count > 0 for _, _, count in functions)}"
    conditions = [condition for entry in file.entries for condition in entry.conditions]
    if conditions:
        for number, condition in enumerate(conditions):
            yield from _branches(condition, number)
        outcomes = [count for condition in conditions for _, count in condition.outcomes]
        yield f"BRF:{len(outcomes)}"
        yield f"BRH:{sum(count > 0 for count in outcomes)}"
    counts = lines_of(statement for entry in file.entries for statement in entry.statements)
    yield from (f"DA:{line},{count}" for line, count in sorted(counts.items()))
    yield f"LF:{len(counts)}"
    yield f"LH:{sum(count > 0 for count in counts.values())}"


def _branches(condition: Condition, block: int) -> Iterator[str]:
    for branch, (_, count) in enumerate(condition.outcomes):
        yield f"BRDA:{condition.line},{block},{branch},{count if condition.reached else '-'}"


def _shown(path: str, folder: str | None) -> str:
    if folder is None:
        return path
    try:
        inside = os.path.commonpath([path, folder]) == folder
    except ValueError:  # another drive
        return path
    return os.path.relpath(path, folder).replace(os.sep, "/") if inside else path
