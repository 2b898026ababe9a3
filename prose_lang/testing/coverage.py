"""Coverage: which statements of patterns began while they ran, and which way their conditions fell.

A `Coverage` is handed to every engine whose runs are to be counted (`Engine(probe=coverage)`); it may be shared by
engines, runs and threads. What the runs of one file found is one record, however often the file was loaded. Nothing is
measured inside services: what a Python function does is for Python's own tools.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from prose_lang import resources
from prose_lang.documents.model import Document, Entry
from prose_lang.semantics import Program, parse_body
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk
from prose_lang.testing.coverage_data import (
    DROPPED,
    FALSE,
    KEPT,
    TRUE,
    Condition,
    CoverageReport,
    EntryCoverage,
    FileCoverage,
    Statement,
)
from prose_lang.testing.paths import from_here
from prose_lang.text import Source
from prose_lang.values import truth

#: What stands in a body and does nothing when it is reached.
_DECLARATIONS = (n.BlockDef, n.AgentDef, n.Use, n.Malformed)


class Coverage:
    """Counts what the runs of some engines go through.

    >>> from prose_lang import Engine
    >>> coverage = Coverage()
    >>> engine = Engine(probe=coverage)
    >>> pattern = engine.loads('let n = size\\nif n > 3:\\n  return "many"\\nreturn "few"')
    >>> engine.run(pattern, {"size": 1}).value
    'few'
    >>> (file,) = coverage.report().files
    >>> file.missing_lines, [condition.describe() for condition in file.incomplete]
    (((3, 3),), ['`n > 3` (line 2): never true'])
    """

    def __init__(self) -> None:
        self._files: dict[_File, _Counts] = {}

    # --- what the compiler asks for (`runtime/compiler/probe.py`) -----------------------------------------------------

    def reached(self, program: Program, node: n.Statement) -> Callable[[], None]:
        """What counts that a statement began."""
        began, key = self._counts(program.document).began, node.start

        def count() -> None:
            began[key] += 1

        return count

    def decided(self, program: Program, node: n.Condition | n.Stage) -> Callable[[Any], None]:
        """What counts the outcomes of a condition, or of a filter."""
        outcomes, key = self._counts(program.document).outcomes, node.start
        words = (KEPT, DROPPED) if isinstance(node, n.Stage) else (TRUE, FALSE)

        def count(outcome: Any) -> None:
            outcomes[key, outcome if isinstance(outcome, str) else words[not outcome]] += 1

        return count

    # --- what counts --------------------------------------------------------------------------------------------------

    def subject(self, document: Document, entry: Entry | None = None) -> None:
        """Say what a test is about: it is reported even if nothing of it ran.

        Library patterns and entries of test files are reported only if they are the subject of some test.
        """
        self._counts(document).subjects.add((entry or document.main).name)

    def report(self) -> CoverageReport:
        """What was found so far. Of a file of the user's that some run was compiled from, every entry with a body
        counts: an entry that no test reaches is what one wants to know of."""
        found = []
        for file, counts in self._files.items():
            document, borrowed = counts.document, _is_library(counts.document) or counts.document.kind == "test"
            entries = [
                _entry(document, entry, counts)
                for entry in document.entries
                if entry.body is not None and (not borrowed or entry.name in counts.subjects)
            ]
            if entries:
                found.append(FileCoverage(file.name, file.path, tuple(entries)))
        return CoverageReport(tuple(sorted(found, key=lambda file: (file.name, file.path or ""))))

    def _counts(self, document: Document) -> _Counts:
        path = str(document.path) if document.path is not None else None
        # A file may be known by several names (`a.prose.md`, `./a.prose.md`), the first one is told; two texts that
        # were given as texts may share one.
        key = _File(_name_of(document), path, path or document.source.name, document.source.text)
        return self._files.setdefault(key, _Counts(document))


@attrs.frozen
class _File:
    """What tells files apart. The text belongs to it: after a change the lines of old counts mean nothing."""

    name: str = attrs.field(eq=False)
    path: str | None = attrs.field(eq=False)
    place: str
    text: str = attrs.field(repr=False)


@attrs.define(eq=False)
class _Counts:
    """What was counted in a file, by the offset at which a statement or condition begins."""

    document: Document
    began: Counter[int] = attrs.field(factory=Counter)
    outcomes: Counter[tuple[int, str]] = attrs.field(factory=Counter)
    subjects: set[str] = attrs.field(factory=set)


def _name_of(document: Document) -> str:
    """The name as the user knows it, or a brief one where the file was found by its whole path."""
    name = document.source.name
    if document.path is None or not os.path.isabs(name):
        return name
    if _is_library(document):
        return f"stdlib:{document.path.name.removesuffix('.prose.md')}"
    return from_here(document.path)


def _is_library(document: Document) -> bool:
    return document.path is not None and document.path.parent == resources.library_folder()


def _entry(document: Document, entry: Entry, counts: _Counts) -> EntryCoverage:
    assert entry.body is not None
    source, body = document.source, parse_body(document, entry).body
    statements = sorted(node.start for node in _statements(body))
    asked = sorted(_conditions(body), key=lambda found: found[1].start)
    return EntryCoverage(
        entry.name,
        source.position(entry.body.fence_span.start).line,
        tuple(Statement(source.position(start).line, counts.began[start]) for start in statements),
        tuple(_condition(source, keyword, node, labels, counts) for keyword, node, labels in asked),
    )


def _condition(
    source: Source, keyword: str, node: n.Condition | n.Stage, labels: tuple[str, ...], counts: _Counts
) -> Condition:
    return Condition(
        keyword,
        node.text if isinstance(node, n.Condition) else "",
        source.position(node.start).line,
        tuple((label, counts.outcomes[node.start, label]) for label in labels),
    )


def _statements(body: n.Body) -> Iterator[n.Statement]:
    """The statements of a body, those of blocks, arms, branches and stages included."""
    for node in walk(body):
        if isinstance(node, n.Body):
            yield from (statement for statement in node.statements if not isinstance(statement, _DECLARATIONS))


def _conditions(body: n.Body) -> Iterator[tuple[str, n.Condition | n.Stage, tuple[str, ...]]]:
    """The conditions of a body: what each belongs to, its node, and the outcomes it can have."""
    for node in walk(body):
        match node:
            case n.If(arms=arms):
                for number, arm in enumerate(arms):
                    yield "elif" if number else "if", arm.condition, _truths(arm.condition)
            case n.Loop(condition=n.Condition() as condition, kind=kind):
                yield f"loop {kind}", condition, _truths(condition)
            case n.Choice(criteria=criteria, options=options):
                yield "choice", criteria, tuple(dict.fromkeys(option.label for option in options))
            case n.Stage(kind="filter"):
                yield "filter", node, (KEPT, DROPPED)
            case _:
                pass


def _truths(condition: n.Condition) -> tuple[str, ...]:
    if isinstance(condition.expression, n.Literal):
        return (TRUE if truth(condition.expression.value) else FALSE,)
    return (TRUE, FALSE)
