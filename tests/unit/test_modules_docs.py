"""`docs/modules.md`: its blocks run and print what they show, and each cell of its table names a test that is there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "modules.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = [
    (match[1], TEXT.count("\n", 0, match.start()) + 1) for match in re.finditer(r"```python\n(.*?)```", TEXT, re.DOTALL)
]
LINKS = sorted(set(re.findall(r"\[`(\w+)`\]\((\.\./tests/[\w/.]+)\)", TEXT)))


@pytest.mark.parametrize(("block", "line"), BLOCKS, ids=[f"line-{line}" for _, line in BLOCKS])
def test_blocks_show_what_they_print(block: str, line: int) -> None:
    made = doctest.DocTestParser().get_doctest(block, {}, "modules.md", str(PAGE), line)
    assert made.examples
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(made)
    assert results.failed == 0


@pytest.mark.parametrize(("name", "file"), LINKS)
def test_each_cell_names_a_test(name: str, file: str) -> None:
    text = (PAGE.parent / file).read_text(encoding="utf-8")
    assert f"def test_{name}(" in text


def test_the_page_names_everything_public() -> None:
    import prose_lang.modules as modules

    internal = {"Assertion", "Attempt", "Failure", "Module", "Reducer", "Step"}
    missing = [name for name in modules.__all__ if name not in internal and f"`{name}" not in TEXT and name not in TEXT]
    assert missing == []
    assert len(LINKS) > 40
