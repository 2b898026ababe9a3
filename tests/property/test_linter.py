"""What holds for every text: what is found has a place in it, and mending makes it no worse and comes to an end."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from random_programs import random_program

from prose_lang.documents.reader import read_document
from prose_lang.linter import RULES, Linted, fix, lint
from prose_lang.semantics import Nothing
from prose_lang.text import Source

PROGRAMS = 200
CHUNK = 25
PIECES = [*' \n\t#:,(){}[]"*-=.|', "\n  ", "in", '"""', "let ", "return ", "# prose: allow[re-let]", "parallel:\n"]


def linted(text: str) -> Linted:
    found = lint(read_document(Source("x.prose.md", text)))
    for finding in found.findings:
        assert 0 <= finding.span.start <= finding.span.end <= len(text)
        assert finding.name in RULES
        assert finding.diagnostic.message
    return found


def told(found: Linted) -> Counter[str]:
    return Counter([*(item.name for item in found.errors), *(finding.name for finding in found.findings)])


def mend(text: str) -> None:
    before = linted(text)
    fixed = fix(before.document, lambda _: Nothing())
    after = linted(fixed.text)
    assert told(after) <= told(before)
    assert (fixed.text == text) == (not fixed.mended)
    again = fix(after.document, lambda _: Nothing())
    assert (again.text, again.mended) == (fixed.text, ())


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_random_programs(first: int) -> None:
    for seed in range(first, first + CHUNK):
        mend(random_program(seed))


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_broken_programs(first: int) -> None:
    for seed in range(first, first + CHUNK):
        chance = random.Random(seed)
        text = random_program(seed)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(PIECES) + text[at + chance.randint(0, 3) :]
        mend(text)
