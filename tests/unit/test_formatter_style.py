"""The style, case by case: the texts of `tests/corpus/format`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prose_lang.formatter import format_source
from prose_lang.text import Source

CORPUS = Path(__file__).parents[1] / "corpus" / "format"
TITLE = re.compile(r"^={10,}\n(.+)\n={10,}\n", re.MULTILINE)
DIVIDER = re.compile(r"^-{10,}\n", re.MULTILINE)


def cases() -> list[tuple[str, str, str]]:
    """Title, text as written and text as formatted of every case."""
    found = []
    for path in sorted(CORPUS.glob("*.txt")):
        parts = TITLE.split(path.read_text(encoding="utf-8"))
        for title, text in zip(parts[1::2], parts[2::2], strict=True):
            written, *formatted = DIVIDER.split(text)
            found.append((f"{path.stem}: {title}", written, formatted[0] if formatted else written))
    return found


@pytest.mark.parametrize(("written", "formatted"), [pytest.param(*rest, id=title) for title, *rest in cases()])
def test_case(written: str, formatted: str) -> None:
    assert format_source(Source("-", written)) == formatted
    assert format_source(Source("-", formatted)) == formatted


def test_there_are_cases() -> None:
    assert len(cases()) > 20
    assert len({title for title, _, _ in cases()}) == len(cases())
