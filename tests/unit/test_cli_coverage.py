"""`prose test --coverage`: the table, the percentage that is asked for, JSON and lcov."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prose_lang.cli.main import cli

GRADE = """---
name: grade
kind: pattern
---

### Slots

- `scorer`

### Delegation

```prose
let score = call scorer
if score meets 0.8:
  return "good"
return "poor"
```

## stray

### Delegation

```prose
return 1
```
"""

TEST = """---
name: grade-test
kind: test
subject: grade
---

## good

### Services

```yaml
scorer: [0.9]
```

### Expects

```yaml
value: good
```
"""

TABLE = """
file            statements  missed  outcomes  missed  covered  missing lines
grade.prose.md           5       2         2       1      57%  16, 24
    `score meets 0.8` (line 14): never false
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("grade.prose.md").write_text(GRADE, encoding="utf-8")
    Path("grade.test.prose.md").write_text(TEST, encoding="utf-8")
    return tmp_path


def run(*args: str) -> Result:
    return CliRunner().invoke(cli, ["test", *args])


def test_the_table_stands_before_the_counts() -> None:
    result = run("--coverage")
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"  passed         good\n{TABLE}\n1 scenario in " in result.stdout
    assert "file  " not in run().stdout


def test_too_little_is_a_failure() -> None:
    result = run("--coverage-min", "57.15")
    assert result.exit_code == 1
    assert f"{TABLE}\ncoverage is 57.14%, and 57.15% is asked for\n\n1 scenario in " in result.stdout
    assert run("--coverage-min", "57.14").exit_code == 0
    quiet = run("--coverage-min", "60", "-q")
    assert (quiet.exit_code, quiet.stdout.splitlines()[:2]) == (1, ["", "coverage is 57.14%, and 60% is asked for"])
    assert run("--coverage", "-q").stdout == ""


@pytest.mark.parametrize("percent", ["101", "-1", "nan", "x"])
def test_a_percentage_that_is_none_is_told(percent: str) -> None:
    result = run("--coverage-min", percent)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: invalid value for '--coverage-min'")


def test_a_failing_scenario_and_a_broken_one_weigh_as_ever() -> None:
    Path("grade.test.prose.md").write_text(TEST.replace("value: good", "value: bad"), encoding="utf-8")
    assert run("--coverage-min", "0").exit_code == 1
    Path("grade.test.prose.md").write_text(TEST.replace("scorer: [0.9]", "scorer: 1"), encoding="utf-8")
    assert run("--coverage-min", "100").exit_code == 2


def test_a_subject_that_nothing_of_ran_is_missing() -> None:
    Path("grade.prose.md").write_text(GRADE.replace("- `scorer`", "- `scorer`\n- `other`"), encoding="utf-8")
    result = run("--coverage")
    assert result.exit_code == 2
    assert "grade.prose.md           5       5         2       2       0%  14-17, 25\n" in result.stdout
    assert "    `score meets 0.8` (line 15): never reached\n" in result.stdout


def test_a_library_pattern_counts_as_a_subject_and_not_as_a_part() -> None:
    for name, subject in (("a", "refine"), ("b", "uses")):
        text = f"---\nkind: test\nsubject: {subject}\n---\n### Fixtures\n- `task_brief`: x\n### Services\n```yaml\n"
        text += "refiner: [a]\nevaluator: [{score: 1}]\n```\n### Expects\n- `status`: equals `ok`\n"
        Path(f"{name}.test.prose.md").write_text(text, encoding="utf-8")
    uses = "---\nname: uses\nkind: function\n---\n### Requires\n- `task_brief`: the task\n### Services\n```yaml\n"
    uses += "- name: it\n  pattern: refine\n  with: {refiner: refiner, evaluator: evaluator}\n```\n"
    uses += "### Execution\n```prose\nreturn call it\n  task_brief: task_brief\n```\n"
    Path("uses.prose.md").write_text(uses, encoding="utf-8")
    used = run("--coverage", "b.test.prose.md")
    assert "uses.prose.md           1       0" in used.stdout, used.output
    assert "refine" not in used.stdout
    subject = run("--coverage", "a.test.prose.md")
    assert "stdlib:refine          11       1" in subject.stdout, subject.output


def test_json() -> None:
    told = json.loads(run("--coverage-min", "90", "--json").stdout)
    assert told["exit_status"] == 1
    coverage = told["coverage"]
    assert (coverage["minimum"], coverage["enough"], coverage["percent"]) == (90.0, False, 57.14)
    (file,) = coverage["files"]
    assert (file["file"], file["missing_lines"]) == ("grade.prose.md", [[16, 16], [24, 24]])
    assert file["entries"][0]["conditions"] == [
        {
            "line": 14,
            "keyword": "if",
            "text": "score meets 0.8",
            "outcomes": {"true": 1, "false": 0},
            "missing": ["false"],
        }
    ]
    assert "coverage" not in json.loads(run("--json").stdout)


def test_lcov() -> None:
    result = run("--coverage-report", "out.info", "-q")
    assert (result.exit_code, result.stdout) == (0, "")
    lines = Path("out.info").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["TN:", "SF:grade.prose.md"]
    assert {"FN:12,grade", "FNDA:1,grade", "FNDA:0,stray", "BRDA:14,0,0,1", "BRDA:14,0,1,0", "DA:16,0"} <= set(lines)
    assert lines[-1] == "end_of_record"


def test_an_lcov_file_that_cannot_be_written_is_told(folder: Path) -> None:
    for name, reason in ((str(folder), "is a directory"), ("none/out.info", "no such file or directory")):
        result = run("--coverage-report", name)
        assert result.exit_code == 2
        assert f"`{name}` of --coverage-report cannot be written: {reason}" in result.stderr
        assert "Traceback" not in result.output


def test_an_update_measures_what_it_ran() -> None:
    Path("grade.test.prose.md").write_text(TEST.replace("value: good", "value: bad"), encoding="utf-8")
    result = run("--coverage", "--update")
    assert result.exit_code == 0
    assert "57%  16, 24\n" in result.stdout
