"""Nearly every slip of the pen that changes a program is told of before it runs, and at the right line (L15, §10)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from checker_mutations import Mutation, Mutations

from prose_lang import Engine
from prose_lang.diagnostics import Severity
from prose_lang.linter import lint
from prose_lang.resources import library_names

SOUND = sorted((Path(__file__).parents[1] / "corpus" / "faults").glob("*/sound.prose.md"))
PROGRAMS = [f"stdlib:{name}" for name in library_names()] + [str(path) for path in SOUND]

#: How many of all mutations have to be told of, and at a right line.
ENOUGH = 0.98


def report_lines(engine: Engine, text: str, name: str) -> set[int]:
    """The lines of the errors and warnings that check and lint tell of a text."""
    pattern = engine.loads(text, name)
    found = list(engine.check(pattern))
    linted = lint(pattern.document, engine.environment(pattern.document))
    found += [one.diagnostic for one in linted.findings]
    return {item.line for item in found if item.line is not None and item.severity is not Severity.NOTE}


def missed(program: str) -> tuple[Counter[str], list[Mutation]]:
    """How many mutations of each kind a program has, and those that are not told of at a right line."""
    engine = Engine()
    document = engine.load(program).document
    counts: Counter[str] = Counter()
    misses = []
    for entry in document.entries:
        if entry.body is not None:
            mutations = Mutations(document, entry, engine.environment(document), program.rsplit("/", 2)[-2:][0])
            for mutation in mutations.all():
                counts[mutation.kind] += 1
                if report_lines(engine, mutation.text, document.source.name).isdisjoint(mutation.right):
                    misses.append(mutation)
    return counts, misses


def test_slips_are_told_of_at_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    misses: list[str] = []
    lost: Counter[str] = Counter()
    for program in PROGRAMS:
        found, unseen = missed(program)
        counts += found
        lost.update(mutation.kind for mutation in unseen)
        misses += [f"{Path(program).parent.name or program}:{one.line}: {one.kind} {one.what}" for one in unseen]
    total = counts.total()
    lines = [f"{kind}: {counts[kind] - lost[kind]} of {counts[kind]}" for kind in sorted(counts)]
    summary = f"{total - len(misses)} of {total} mutations told of ({(total - len(misses)) / total:.2%})"
    with capsys.disabled():
        print("", summary, *lines, *(f"not told of: {miss}" for miss in misses), sep="\n")
    assert total > 800
    assert len(counts) == 6
    assert len(misses) <= (1 - ENOUGH) * total
