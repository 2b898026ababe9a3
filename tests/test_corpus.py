"""The language corpus: each case of tests/corpus is one test. See tests/corpus/README.md for the formats."""

from __future__ import annotations

from collections import Counter

import pytest
from corpus_harness import Case, check_faults, eval_faults, read_cases
from corpus_trees import SyntaxCase, normal, read_syntax_cases, tree_of, unused_productions

SYNTAX = read_syntax_cases()
CHECK = read_cases("check")
EVAL = read_cases("eval")

#: Rules without a case in check/ or eval/, and where they are tested instead.
ELSEWHERE: dict[str, str] = {}


@pytest.mark.parametrize("case", SYNTAX, ids=lambda case: case.id)
def test_syntax(case: SyntaxCase) -> None:
    assert tree_of(case.program) == normal(case.tree)


@pytest.mark.parametrize("case", CHECK, ids=lambda case: case.id)
def test_check(case: Case) -> None:
    assert list(check_faults(case)) == []


@pytest.mark.parametrize("case", EVAL, ids=lambda case: case.id)
def test_eval(case: Case) -> None:
    assert list(eval_faults(case)) == []


def test_ids_are_unique() -> None:
    ids = Counter(f"{kind}/{case.id}" for kind, cases in (("check", CHECK), ("eval", EVAL)) for case in cases)
    ids.update(f"syntax/{case.id}" for case in SYNTAX)
    assert [name for name, count in ids.items() if count > 1] == []


def test_every_rule_has_a_case() -> None:
    covered = {case.rule for case in (*CHECK, *EVAL)}
    rules = {f"L{number}" for number in range(1, 36)} | {"L13a"}
    assert covered <= rules, "a case names a rule that does not exist"
    assert rules - covered == set(ELSEWHERE)


def test_every_production_of_the_grammar_has_a_case() -> None:
    assert unused_productions(case.program for case in SYNTAX) == []
