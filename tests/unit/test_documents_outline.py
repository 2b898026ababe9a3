"""Headings and blocks: the line reader and the Markdown parser must agree wherever the line reader answers."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from prose_lang.documents.markdown import read_markdown
from prose_lang.documents.outline import Block, Heading, read_outline, read_plain

PIECES = (
    "# a", "## b", "### c ###", "### c#", "####", "#no", "####### x", "```prose", "```", "~~~", "~~~~ yaml", "````",
    "``` a`b", "- item", "  more", "    deep", "", "  ", "* x", "1. y", "> q", ">", "text", "---", "***", "- - -",
    "===", "\tx", "  - n", "`code`", "   ```", "    ```", "  ~~~", "#\tt", "+ p", "10) z", "-", "*", "> ```",
    "- ```", " # h", "<!-- x", "-->", "<div>", "```  ", "~~~ `x`",
)  # fmt: skip


def headings(*lines: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read_outline(lines).headings]


def fences(*lines: str) -> list[Block]:
    return [block for block in read_outline(lines).blocks if block.info is not None]


@pytest.mark.parametrize("seed", range(20))
def test_both_readers_agree(seed: int) -> None:
    chance = random.Random(seed)
    answered = 0
    for _ in range(100):
        lines = [chance.choice(PIECES) for _ in range(chance.randint(1, 14))]
        plain = read_plain(lines, 0)
        if plain is not None:
            answered += 1
            assert plain == read_markdown(lines, 0), lines
    assert answered > 20


def test_headings_with_closing_signs() -> None:
    assert headings("# One #", "## Two ##  ", "### C#", "### ###", "#### `four`", "#five", "####### seven") == [
        (1, "One"),
        (2, "Two"),
        (3, "C#"),
        (3, ""),
        (4, "`four`"),
    ]


def test_headings_inside_fences_are_text() -> None:
    assert headings("### A", "```", "### B", "~~~", "```", "### C") == [(3, "A"), (3, "C")]


def test_fences_nested_in_longer_fences_are_text() -> None:
    assert fences("````markdown", "```prose", "let x = 1", "```", "````") == [Block("markdown", 0, 5)]


def test_fence_that_is_never_closed() -> None:
    assert fences("text", "~~~ prose", "x") == [Block("prose", 1, 3, 0, closed=False)]
    assert fences("- ```prose", "  x") == [Block("prose", 0, 2, 2, closed=False)]


def test_fence_in_a_list_item_knows_its_indentation() -> None:
    assert fences("1. do", "", "   ```prose extra", "   x", "   ```") == [Block("prose", 2, 5, 3)]
    assert fences("- ```yaml", "  - a", "  ```", "### B") == [Block("yaml", 0, 3, 2)]


def test_headings_and_fences_in_quotes_and_lists_are_text() -> None:
    assert headings("> ### A", "- x", "  ### B", " ### C") == [(3, "C")]
    assert fences("> ```prose", "> x", "> ```") == []


def test_html_hides_what_stands_in_it() -> None:
    outline = read_outline(["<!--", "### A", "", "### B", "-->", "### C"])
    assert outline.headings == [Heading(3, "C", 5)]
    assert outline.blocks == [Block(None, 0, 5)]


def test_a_rule_under_a_paragraph_is_no_heading() -> None:
    assert headings("A paragraph", "---", "and another", "===") == []


def test_reading_starts_where_it_is_told() -> None:
    outline = read_outline(["---", "# x", "---", "### A", "<b>"], 3)
    assert outline.headings == [Heading(3, "A", 3)]
    assert outline.blocks == [Block(None, 4, 5)]


def test_the_parser_is_not_loaded_for_plain_documents() -> None:
    code = (
        "import sys; from prose_lang.documents.outline import read_outline;"
        "read_outline(['# A', '- x', '```prose', '<b>', '```']); print('markdown_it' in sys.modules);"
        "read_outline(['> ```']); print('markdown_it' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_lists_nested_beyond_all_reason() -> None:
    lines = ["### A", "> ```", "- " * 10_000 + "x", "", ">" * 10_000 + "y", "", "### B"]
    assert read_outline(lines).headings[0] == Heading(3, "A", 0)
