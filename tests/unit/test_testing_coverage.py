"""Coverage: what counts as seen, what is missing, and that being measured changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

import prose_lang as prose
from prose_lang import resources
from prose_lang.testing.clock import run_virtual
from prose_lang.testing.coverage import Coverage
from prose_lang.testing.coverage_data import CoverageReport, FileCoverage, Tally, shown_ranges
from prose_lang.testing.coverage_lcov import lcov
from prose_lang.testing.coverage_table import shortfall, table_lines

HEAD = """---
name: {name}
kind: pattern
---

### Slots

- `critic`

### Delegation

```prose
"""


def measured(body: str, *runs: dict[str, Any], **options: Any) -> FileCoverage:
    """What some runs of a bare body see."""
    coverage = Coverage()
    engine = prose.Engine(probe=coverage, **options)
    pattern = engine.loads(body)
    for names in runs:
        run_virtual(engine.outcome_async(pattern, names))
    (file,) = coverage.report().files
    return file


def missing(file: FileCoverage) -> tuple[str, list[str]]:
    return shown_ranges(file.missing_lines), [condition.describe() for condition in file.incomplete]


# --- statements ------------------------------------------------------------------------------------------------------


def test_each_statement_counts_once_and_blocks_agents_and_uses_do_not() -> None:
    body = """agent writer:
  model: sonnet
block greet(who):
  return who
let a = 1
let b = do greet("x")
return a
"""
    file = measured(body, {})
    (entry,) = file.entries
    assert [(statement.line, statement.count) for statement in entry.statements] == [(4, 1), (5, 1), (6, 1), (7, 1)]
    assert file.tally == Tally(statements=4, covered=4)


def test_a_statement_that_fails_has_begun_and_those_after_it_have_not() -> None:
    file = measured("let a = 1\nlet b = [1][5]\nlet c = 2\nreturn c\n", {})
    assert missing(file) == ("3-4", [])


def test_passes_are_counted() -> None:
    (entry,) = measured("let n = 0\nrepeat 3:\n  n = n + 1\nreturn n\n", {}).entries
    assert [statement.count for statement in entry.statements] == [1, 1, 3, 1]


def test_branches_stages_handlers_and_arms_are_statements_of_their_own() -> None:
    body = """parallel:
  let a = 1
  let b = 2
let c = [1, 2] | map:
  item + 1
try:
  throw "no"
catch as e:
  let d = e.message
finally:
  let f = 1
let g = if a == 1:
  "one"
else:
  "other"
parallel for x in [1, 2]:
  let h = x
do:
  let i = 1
return g
"""
    file = measured(body, {})
    (entry,) = file.entries
    assert {statement.line for statement in entry.statements} == {
        1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 15, 16, 17, 18, 19, 20,
    }  # fmt: skip
    assert missing(file) == ("15", ["`a == 1` (line 12): never false"])


def test_ranges_end_where_a_line_between_them_ran() -> None:
    body = "let a = x\nif a == 1:\n  let b = 1\n\n  # a comment\n  let c = 2\nlet d = 3\nif a == 2:\n  return 4\n"
    assert missing(measured(body, {}))[0] == "3-6, 9"


def test_blocks_count_wherever_they_are_called_from_and_one_that_is_not_is_missing() -> None:
    body = """block greet(who):
  if who == "x":
    return "you"
  return who
block never():
  let a = 1
block through(who):
  do greet(who)
parallel:
  let a = do greet("x")
  let b = do through("y")
return [a, b]
"""
    file = measured(body, {})
    assert missing(file) == ("6", [])
    counts = {statement.line: statement.count for statement in file.entries[0].statements}
    assert (counts[2], counts[3], counts[4], counts[8]) == (2, 1, 1, 1)


def test_nested_instances_count_in_the_file_of_their_pattern(tmp_path: Path) -> None:
    body = 'let v = call critic\nif v == "accept":\n  return "done"\nreturn "again"\n```\n'
    (tmp_path / "level.prose.md").write_text(HEAD.format(name="level") + body, encoding="utf-8")
    (tmp_path / "uses.prose.md").write_text(
        """---
name: uses
kind: function
---

### Services

```yaml
- name: first
  pattern: level
  with:
    critic: {name: second, pattern: level, with: {critic: critic}}
```

### Execution

```prose
try:
  return call first
catch as e:
  return e.message
```
""",
        encoding="utf-8",
    )
    coverage = Coverage()
    engine = prose.Engine(probe=coverage, services={"critic": lambda: "accept"})
    outcome = run_virtual(engine.outcome_async(engine.load(tmp_path / "uses.prose.md"), {}))
    assert (outcome.status, outcome.value) == ("ok", "again")
    report = coverage.report()
    assert names_and_lines(report) == [("level.prose.md", [("level", "")]), ("uses.prose.md", [("uses", "21")])]
    assert [found.outcomes for found in report.files[0].entries[0].conditions] == [(("true", 1), ("false", 1))]


# --- outcomes --------------------------------------------------------------------------------------------------------


def test_an_if_without_else_has_both_outcomes() -> None:
    body = "let n = size\nif n > 3:\n  return 1\nreturn 2\n"
    assert missing(measured(body, {"size": 5})) == ("4", ["`n > 3` (line 2): never false"])
    assert missing(measured(body, {"size": 1})) == ("3", ["`n > 3` (line 2): never true"])
    assert missing(measured(body, {"size": 1}, {"size": 5})) == ("", [])


def test_an_elif_is_reached_only_where_the_arm_before_it_is_not_taken() -> None:
    body = "let n = size\nif n > 3:\n  let a = 1\nelif n > 2:\n  let a = 2\nelse:\n  let a = 3\n"
    file = measured(body, {"size": 5})
    assert missing(file) == ("5-7", ["`n > 3` (line 2): never false", "`n > 2` (line 4): never reached"])
    assert [condition.keyword for condition in file.incomplete] == ["if", "elif"]


def test_loops_count_their_conditions() -> None:
    body = "let n = 0\nloop until n == 2 (max: 5):\n  n = n + 1\nloop while n < 2 (max: 5):\n  n = n + 1\n"
    file = measured(body, {})
    assert missing(file) == ("5", ["`n < 2` (line 4): never true"])
    (until, while_) = file.entries[0].conditions
    assert until.outcomes == (("true", 1), ("false", 1))
    assert (until.keyword, while_.keyword) == ("loop until", "loop while")


def test_a_literal_is_not_asked_for_what_it_cannot_be() -> None:
    file = measured("loop while true (max: 2):\n  let a = 1\nif false:\n  let b = 1\n", {})
    assert [condition.outcomes for condition in file.entries[0].conditions] == [(("true", 2),), (("false", 1),)]
    assert missing(file) == ("4", [])


@pytest.mark.parametrize(("depth", "other"), [("deep", "shallow"), ("shallow", "deep")])
def test_a_choice_counts_its_labels(depth: str, other: str) -> None:
    body = 'let d = depth\nchoice d:\n  option "deep":\n    let a = 1\n  option "shallow":\n    let a = 2\n'
    file = measured(body, {"depth": depth})
    assert missing(file) == ("6" if depth == "deep" else "4", [f'`choice d` (line 2): never "{other}"'])


def test_a_judged_choice_counts_too() -> None:
    body = 'choice **how deep**:\n  option "deep":\n    return 1\n  option "shallow":\n    return 2\n'
    file = measured(body, {}, judge=lambda **asked: {"choice": "deep", "reason": "so"})
    assert missing(file) == ("5", ['`choice how deep` (line 1): never "shallow"'])


def test_a_filter_keeps_and_drops() -> None:
    body = "let xs = sizes\nlet ys = xs | filter:\n  item > 1\nreturn ys\n"
    assert missing(measured(body, {"sizes": [2, 3]})) == ("", ["`filter` (line 2): never dropped"])
    assert missing(measured(body, {"sizes": [0]})) == ("", ["`filter` (line 2): never kept"])
    assert missing(measured(body, {"sizes": []})) == ("3", ["`filter` (line 2): never reached"])
    assert missing(measured(body, {"sizes": [0, 2]})) == ("", [])


@pytest.mark.parametrize(
    ("condition", "names", "judge"),
    [
        ("n > 3", {"size": 5}, None),  # L30.1
        ("n is at least 3", {"size": 5}, None),  # L30.2
        ("n says accept", {"size": "accept"}, None),  # L30.3
        ("n sounds right", {"size": 5}, lambda **asked: {"holds": True, "reason": "so"}),  # L30.5
    ],
)
def test_whatever_layer_decides_is_counted(condition: str, names: dict[str, Any], judge: Any) -> None:
    file = measured(f"let n = size\nif {condition}:\n  return 1\n", names, judge=judge)
    assert [found.outcomes for found in file.entries[0].conditions] == [(("true", 1), ("false", 0))]


def test_a_rule_of_the_host_is_counted() -> None:  # L30.0
    file = measured("let n = 1\nif n sounds right:\n  n\n", {}, conditions={"n sounds right": lambda values: False})
    assert [found.outcomes for found in file.entries[0].conditions] == [(("true", 0), ("false", 1))]


def test_a_condition_that_could_not_be_decided_has_no_outcome() -> None:
    file = measured("let n = 1\nif n sounds right:\n  n\n", {})
    assert missing(file) == ("3", ["`n sounds right` (line 2): never reached"])


# --- files and entries -----------------------------------------------------------------------------------------------


def project(folder: Path) -> Path:
    """A pattern with an inline entry that it calls, one that nobody calls, and a pattern beside it."""
    (folder / "outer.prose.md").write_text(
        HEAD.format(name="outer")
        + """let a = call helper
let b = call inner
  critic: critic
return { a: a, b: b }
```

## helper

### Execution

```prose
return 1
```

## stray

### Execution

```prose
let c = 1
return c
```
""",
        encoding="utf-8",
    )
    (folder / "inner.prose.md").write_text(
        HEAD.format(name="inner") + "let v = call critic\nif v accepts:\n  return 1\nreturn 2\n```\n", encoding="utf-8"
    )
    return folder / "outer.prose.md"


def run_project(folder: Path, coverage: Coverage) -> None:
    engine = prose.Engine(probe=coverage, services={"judge": lambda: "accept"})
    outcome = run_virtual(engine.outcome_async(engine.load(project(folder)), {"critic": lambda: "accept"}))
    assert outcome.status == "ok", outcome.error


def names_and_lines(report: CoverageReport) -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (Path(file.name).name, [(entry.name, shown_ranges(entry.missing_lines)) for entry in file.entries])
        for file in report.files
    ]


def test_patterns_called_by_patterns_and_entries_nobody_reached_count(tmp_path: Path) -> None:
    coverage = Coverage()
    run_project(tmp_path, coverage)
    report = coverage.report()
    assert names_and_lines(report) == [
        ("inner.prose.md", [("inner", "16")]),
        ("outer.prose.md", [("outer", ""), ("helper", ""), ("stray", "32-33")]),
    ]
    assert [condition.describe() for condition in report.files[0].incomplete] == ["`v accepts` (line 14): never false"]
    assert report.tally == Tally(statements=10, covered=7, outcomes=2, seen=1)
    assert (report.tally.percent, report.tally.shown_percent) == (100 * 8 / 12, "67%")


def test_a_file_by_two_names_and_from_two_engines_is_one_record(tmp_path: Path, monkeypatch: Any) -> None:
    coverage = Coverage()
    run_project(tmp_path, coverage)
    monkeypatch.chdir(tmp_path)
    engine = prose.Engine(probe=coverage)
    pattern = engine.load("./inner.prose.md")
    run_virtual(engine.outcome_async(pattern, {"critic": lambda: "reject"}))
    inner, _ = coverage.report().files
    assert inner.tally == Tally(statements=4, covered=4, outcomes=2, seen=2)


def test_a_library_pattern_counts_only_as_a_subject() -> None:
    coverage = Coverage()
    engine = prose.Engine(probe=coverage)
    refine = engine.load("stdlib:refine")
    names = {"refiner": lambda: "x", "evaluator": lambda result: {"score": 0.9}, "task_brief": "t"}
    run_virtual(engine.outcome_async(refine, names))
    assert coverage.report().files == ()
    coverage.subject(refine.document, refine.entry)
    (file,) = coverage.report().files
    assert file.name == "stdlib:refine"
    assert [found.outcomes for found in file.entries[0].conditions] == [(("true", 1), ("false", 0))]


def test_a_file_that_was_found_by_its_whole_path_is_named_briefly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    coverage, engine = Coverage(), prose.Engine()
    for path in (project(tmp_path), resources.library_folder() / "refine.prose.md"):
        coverage.subject(engine.load(path).document)
    assert [file.name for file in coverage.report().files] == ["outer.prose.md", "stdlib:refine"]


def test_a_subject_that_never_ran_counts_as_missing(tmp_path: Path) -> None:
    coverage = Coverage()
    pattern = prose.Engine().load(project(tmp_path))
    coverage.subject(pattern.document)
    (file,) = coverage.report().files
    assert file.tally == Tally(statements=6)
    assert file.tally.shown_percent == "0%"


def test_nothing_measured_is_complete() -> None:
    report = Coverage().report()
    assert (report.files, report.tally.percent) == ((), 100.0)


def test_json_holds_lines_and_outcomes() -> None:
    file = measured("let n = 1\nif n > 3:\n  return 1\nreturn 2\n", {})
    assert CoverageReport((file,)).as_json() == {
        "statements": 4, "covered": 3, "outcomes": 2, "outcomes_seen": 1, "percent": 66.66,
        "files": [
            {
                "file": "<text>", "statements": 4, "covered": 3, "outcomes": 2, "outcomes_seen": 1, "percent": 66.66,
                "missing_lines": [[3, 3]],
                "entries": [
                    {
                        "name": "anonymous", "line": 1,
                        "statements": 4, "covered": 3, "outcomes": 2, "outcomes_seen": 1, "percent": 66.66,
                        "missing_lines": [[3, 3]],
                        "conditions": [
                            {"line": 2, "keyword": "if", "text": "n > 3", "outcomes": {"true": 0, "false": 1},
                             "missing": ["true"]},
                        ],
                    }
                ],
            }
        ],
    }  # fmt: skip


# --- lcov ------------------------------------------------------------------------------------------------------------


def test_lcov_holds_entries_lines_and_branches(tmp_path: Path) -> None:
    coverage = Coverage()
    run_project(tmp_path, coverage)
    assert (
        lcov(coverage.report(), tmp_path)
        == """\
TN:
SF:inner.prose.md
FN:12,inner
FNDA:1,inner
FNF:1
FNH:1
BRDA:14,0,0,1
BRDA:14,0,1,0
BRF:2
BRH:1
DA:13,1
DA:14,1
DA:15,1
DA:16,0
LF:4
LH:3
end_of_record
TN:
SF:outer.prose.md
FN:12,outer
FN:23,helper
FN:31,stray
FNDA:1,outer
FNDA:1,helper
FNDA:0,stray
FNF:3
FNH:2
DA:13,1
DA:14,1
DA:16,1
DA:24,1
DA:32,0
DA:33,0
LF:6
LH:4
end_of_record
"""
    )


def test_lcov_of_what_was_never_reached_and_of_texts() -> None:
    file = measured("let n = x\nif n sounds right:\n  n\n", {})
    assert lcov(CoverageReport((file,))) == ""  # a text is no file
    path = "/elsewhere/a.prose.md"
    text = lcov(CoverageReport((attrs.evolve(file, path=path),)), "/base")
    assert f"SF:{path}\n" in text
    assert "BRDA:2,0,0,-\nBRDA:2,0,1,-\nBRF:2\nBRH:0\n" in text


# --- the table -------------------------------------------------------------------------------------------------------


def test_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project(Path())
    coverage = Coverage()
    engine = prose.Engine(probe=coverage)
    run_virtual(engine.outcome_async(engine.load("outer.prose.md"), {"critic": lambda: "accept"}))
    assert (
        "\n".join(table_lines(coverage.report()))
        == """\
file            statements  missed  outcomes  missed  covered  missing lines
inner.prose.md           4       1         2       1      67%  16
    `v accepts` (line 14): never false
outer.prose.md           6       2         0       0      67%  32-33
all                     10       3         2       1      67%"""
    )


def test_a_table_of_nothing() -> None:
    assert table_lines(CoverageReport(())) == ["no pattern was reached"]


def test_what_is_too_little_never_looks_enough() -> None:
    file = measured("let n = 1\nif n > 3:\n  return 1\nreturn 2\n", {})
    report = CoverageReport((file,))
    assert shortfall(report, 66.67) == "coverage is 66.66%, and 66.67% is asked for"
    assert shortfall(report, 66.66) is None
