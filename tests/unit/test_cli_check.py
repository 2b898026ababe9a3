"""`prose check`: one report for many files, in three forms, and what decides each condition."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prose_lang.cli.main import cli

GOOD = """\
---
name: good
kind: pattern
---

### Slots

- `critic`

### Delegation

```prose
let draft = call helper
repeat 3:
  if critic accepts draft:
    return { result: draft }
  if draft reads well:
    return { result: draft }
  if 1 < 2:
    return { result: draft }
return { result: draft }
```

## helper

### Returns

- `text`: a text
"""
BAD = "---\nname: bad\nkind: pattern\n---\n\n### Delegation\n\n```prose\nlet x = {y}\nreturn unknown(1)\n```\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("good.prose.md").write_text(GOOD)
    Path("sub").mkdir()
    Path("sub/bad.prose.md").write_text(BAD)
    Path(".hidden").mkdir()
    Path(".hidden/no.prose.md").write_text(BAD)
    return tmp_path


def check(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["check", *args], input=stdin)


def test_no_problems(folder: Path) -> None:
    result = check("good.prose.md", "refine")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "2 files checked, no problems\n", "")
    assert check("good.prose.md").stdout == "1 file checked, no problems\n"
    assert check("-q", "good.prose.md").stdout == ""


def test_a_folder_stands_for_its_files(folder: Path) -> None:
    result = check(".")
    assert result.exit_code == 2
    assert "sub/bad.prose.md:10:8" in result.stdout
    assert "no.prose.md" not in result.stdout
    assert "2 files checked" in result.stdout.splitlines()[-1]


def test_standard_input() -> None:
    result = check("-", stdin="return (1")
    assert result.exit_code == 2
    assert "  --> <stdin>:1:8\n" in result.stdout
    assert result.stdout.endswith("\n1 file checked, 1 error\n")


def test_what_cannot_be_read_does_not_keep_the_rest_from_being_checked(folder: Path) -> None:
    Path("empty").mkdir()
    result = check("nowhere.prose.md", "empty", "good.prose.md", "--json")
    report = json.loads(result.stdout)
    assert (result.exit_code, report["files"], report["errors"]) == (2, ["good.prose.md"], 2)
    assert [item["code"] for item in report["diagnostics"]] == ["P103", "P103"]


def test_json(folder: Path) -> None:
    report = json.loads(check("sub", "--format", "json").stdout)
    assert report["files"] == ["sub/bad.prose.md"]
    assert report["errors"] == len([item for item in report["diagnostics"] if item["severity"] == "error"]) > 0
    assert ("P202", 10) in [(item["code"], item["line"]) for item in report["diagnostics"]]


def test_sarif(folder: Path) -> None:
    result = check("sub", "--format", "sarif")
    log = json.loads(result.stdout)
    assert (result.exit_code, log["version"]) == (2, "2.1.0")
    assert "P202" in [item["ruleId"] for item in log["runs"][0]["results"]]


def test_conditions_are_listed(folder: Path) -> None:
    for option in ("--conditions", "-v"):
        lines = check("good.prose.md", option).stdout.splitlines()
        assert lines[0] == "good.prose.md"
        assert lines[1].startswith("  line 15   critic accepts draft  verdict: ")
        assert lines[2].startswith("  line 17   draft reads well      judge may be asked")
        assert lines[3] == "  line 19   1 < 2                 expression"
    conditions = json.loads(check("good.prose.md", "--json").stdout)["conditions"]
    assert [(item["line"], item["text"], item["judge"]) for item in conditions][1:] == [
        (17, "draft reads well", True), (19, "1 < 2", False),
    ]  # fmt: skip
    assert conditions[2]["layers"] == ["expression"]


def test_names_of_services_and_scripts_are_known(folder: Path) -> None:
    Path("s.yaml").write_text("scripted: [1]")
    Path("s.py").write_text("import prose_lang as p\n@p.service\ndef mine(x): return x\n")
    body = "let a = call scripted\nlet b = call mine\n  x: a\nreturn b\n"
    assert check("-", stdin=body).exit_code == 2
    assert check("-", "--services", "s.py", "--script", "s.yaml", stdin=body).exit_code == 0


def test_strict_makes_warnings_count() -> None:
    body = "let a = 0\nloop:\n  a = a + 1\n  if a > 3:\n    return a\n"
    lenient = check("-", stdin=body)
    assert lenient.exit_code == 0
    assert lenient.stdout.startswith("warning[unbounded-loop]: this loop has no `max`\n")
    assert lenient.stdout.endswith("\n1 file checked, 1 warning\n")
    assert check("-", "--strict", stdin=body).exit_code == 2


def test_a_path_is_needed() -> None:
    result = check()
    assert (result.exit_code, result.stderr.splitlines()[0]) == (2, "error: missing argument 'PATH...'")
