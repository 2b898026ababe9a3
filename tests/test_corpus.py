"""The language corpus: each case of tests/corpus is one test. See tests/corpus/README.md for the formats."""

from __future__ import annotations

from collections import Counter

import pytest
from corpus_harness import Case, check_faults, eval_faults, read_cases, run_case
from corpus_trees import SyntaxCase, normal, read_syntax_cases, tree_of, unused_productions

from prose_lang.testing.coverage import Coverage

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


def test_being_measured_changes_nothing_and_every_count_has_its_place() -> None:
    """Values, calls, decisions, errors and times are those expected without a probe; each decision of the trace is
    counted once; and whatever was counted is a statement or condition that the report lists."""
    decided = 0
    for case in EVAL:
        coverage = Coverage()
        ran = run_case(case, coverage)
        assert list(eval_faults(case, ran)) == [], case.id
        entries = [entry for file in coverage.report().files for entry in file.entries]
        # What happens in the library counts for its own tests only.
        mine = [counts for file, counts in coverage._files.items() if not file.name.startswith("stdlib:")]
        counted = sum(counts.began.total() for counts in mine)
        assert sum(statement.count for entry in entries for statement in entry.statements) == counted, case.id
        conditions = [condition for entry in entries for condition in entry.conditions]
        seen = sum(count for found in conditions if found.keyword != "filter" for _, count in found.outcomes)
        assert len(mine) < len(coverage._files) or seen == len(ran[0].trace.decisions), case.id
        decided += seen
    assert decided > 100


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
