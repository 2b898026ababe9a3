"""What holds for every program: formatted it has the same tree and the same comments, and stays as it is from then on.

The proof inside the formatter is not relied on here: trees are compared as `prose ast --json` prints them.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from random_programs import random_program

from prose_lang.diagnostics import ProseError
from prose_lang.formatter import format_source
from prose_lang.formatter.programs import read_programs
from prose_lang.syntax import Parsed, comments, parse
from prose_lang.syntax.printing import tree_json
from prose_lang.text import Source

ROOT = Path(__file__).parents[2]
PROGRAMS = 2_000
CHUNK = 100
#: What is put into texts to break them, or to make something else of them.
PIECES = [
    *" \n\t#:,(){}[]\"*-=.|", "\n  ", "  ", "\r\n", "\r", "in", "as", "not", "**", "***", '"""', "# c\n", "\u00a0",
    "(max: 3)", "\f", "if a:\n", "\\",
]  # fmt: skip


def plain(parsed: Parsed) -> Any:
    """The tree without places."""

    def without_places(node: dict[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in node.items() if key not in ("span", "name_end", "children")}
        return {**kept, "children": [without_places(child) for child in node.get("children", [])]}

    return without_places(tree_json(parsed.body))


def remarks(parsed: Parsed) -> list[str]:
    found = comments(parsed.source.text, parsed.tokens, *parsed.span)
    return [comment.text.rstrip(" \t") for comment in found]


def check(text: str) -> str:
    """Format a text that has no syntax errors and compare; returns the result."""
    source = Source("-", text)
    result = Source("-", format_source(source))
    before, after = read_programs(source), read_programs(result)
    assert [plain(program.parsed) for program in before] == [plain(program.parsed) for program in after]
    assert [remarks(program.parsed) for program in before] == [remarks(program.parsed) for program in after]
    assert format_source(result) == result.text
    return result.text


def published() -> list[Path]:
    """The library, the patterns of the corpus, and every page of the project that shows programs."""
    found = {
        *(ROOT / "stdlib_patterns").glob("*.prose.md"),
        *(ROOT / "tests" / "corpus").rglob("*.prose.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "prose_lang" / "diagnostics" / "pages").glob("*.md"),
        ROOT / "README.md",
    }
    found = {path for path in found if path.name != "not-utf8.prose.md"}  # a faulty file, which nothing can read
    return sorted(path for path in found if "```prose\n" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", published(), ids=lambda path: path.name)
def test_published_files(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    try:
        read_programs(Source(path.name, text))
    except ProseError:
        if "corpus" in path.parts:  # some of its files are faulty on purpose
            return
        raise
    check(text)


@pytest.mark.parametrize("path", sorted((ROOT / "stdlib_patterns").glob("*.prose.md")), ids=lambda path: path.name)
def test_the_library_is_in_style(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    assert format_source(Source(path.name, text), everything=True) == text


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_random_programs(first: int) -> None:
    for seed in range(first, first + CHUNK):
        text = random_program(seed)
        assert not parse(Source("-", text)).diagnostics, f"program {seed} is meant to be valid"
        result = check(text)
        for line in outside_strings(result):
            assert line == line.rstrip(), seed
        assert "\n\n\n" not in "\n".join(outside_strings(result)), seed


def outside_strings(text: str) -> list[str]:
    """The lines of a program without what stands as it is: texts of several lines, and conditions."""
    text = re.sub(r'"""(?:[^"\\]|\\.|"(?!""))*"""|\*\*\*.*?\*\*\*', "x", text, flags=re.DOTALL)
    return text.replace("\r\n", "\n").split("\n")


@pytest.mark.parametrize("first", range(0, 1_500, 250))
def test_mutated_programs(first: int) -> None:
    formatted = 0
    for seed in range(first, first + 250):
        text = mutated(random_program(seed % 500), random.Random(seed))
        try:
            format_source(Source("-", text))
        except ProseError:
            continue  # told, and nothing would be written
        check(text)
        formatted += 1
    assert formatted > 30, "many changes leave a valid program"


@pytest.mark.parametrize("path", sorted((ROOT / "stdlib_patterns").glob("*.prose.md")), ids=lambda path: path.name)
def test_mutated_files(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for seed in range(100):
        changed = mutated(text, random.Random(seed))
        for everything in (False, True):
            try:
                result = format_source(Source("-", changed), everything=everything)
            except ProseError:
                continue
            assert format_source(Source("-", result), everything=everything) == result


def mutated(text: str, choice: random.Random) -> str:
    """A text with one to three small changes."""
    for _ in range(choice.choice([1, 1, 2, 3])):
        at = choice.randrange(len(text) + 1)
        match choice.randrange(4):
            case 0:
                text = text[:at] + text[at + choice.randrange(1, 4) :]
            case 1:
                text = text[:at] + choice.choice(PIECES) + text[at:]
            case 2:
                text = text[:at] + choice.choice(PIECES) + text[at + 1 :]
            case _:
                lines = text.split("\n")
                number = choice.randrange(len(lines))
                line = lines[number]
                lines[number] = choice.choice([f" {line}", line[1:], line * 2, "", line.lstrip()])
                text = "\n".join(lines)
    return text
