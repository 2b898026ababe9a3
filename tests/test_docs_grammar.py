"""The grammar of docs/language/grammar.md is that of the parser: its programs are accepted, and use all of it."""

from __future__ import annotations

import pytest
from corpus_trees import unused_productions
from documentation_grammar import Maker, names_used, read_grammar, words_used
from documentation_harness import DOCS, fences

from prose_lang import Source
from prose_lang.syntax import parse
from prose_lang.syntax.tokens import KEYWORDS

(FENCE,) = (fence for fence in fences(DOCS / "language" / "grammar.md") if fence.kind == "ebnf")
GRAMMAR = read_grammar(FENCE.text)
TERMINALS = {"NAME", "NUMBER", "STRING", "CONDITION", "LINE", "INDENT", "DEDENT", "OPEN"}

#: Productions that the page says in words: keywords that are readable as names, and what stands for a broken line.
IN_WORDS = (
    "name: 1 symbols -> name",
    "key: 1 symbols -> token",
    "loop: 5 symbols -> repeat",  # with modifiers, which are refused (P212)
)


def test_every_name_is_defined_and_used() -> None:
    used = set().union(*map(names_used, GRAMMAR.values()))
    assert used - GRAMMAR.keys() == TERMINALS
    assert GRAMMAR.keys() - used == {"program"}


def test_the_words_are_the_keywords() -> None:
    words = set().union(*map(words_used, GRAMMAR.values()))
    assert {word for word in words if word.isalpha()} == set(KEYWORDS) | set(
        "until while each option map pmap filter reduce to max".split()
    )


@pytest.mark.parametrize("seed", range(40))
def test_programs_of_the_grammar_are_accepted(seed: int) -> None:
    maker = Maker(GRAMMAR, seed)
    for size in (5, 20, 60, 200):
        program = maker.program(size)
        found = [
            f"{item.code} {item.line}:{item.column} {item.message}" for item in parse(Source("-", program)).diagnostics
        ]
        assert found == [], program


def test_programs_of_the_grammar_use_all_of_the_parser() -> None:
    maker = Maker(GRAMMAR, 3)
    kinds = "statement value call session resume do parallel loop if choice try".split()
    unused = unused_productions(maker.program(12, kind) for kind in kinds for _ in range(150))
    assert [line for line in unused if "malformed" not in line and line not in IN_WORDS] == []
