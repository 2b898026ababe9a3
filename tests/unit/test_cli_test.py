"""`prose test`: what is run, what is said, what is written, and the exit status."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

import prose_lang.cli.scenarios as scenarios
from prose_lang.cli.main import cli

GREET = """\
---
name: greet
kind: pattern
---

### Slots

- `writer`: greets

### Requires

- Pattern instance receives:
    writer: string -- the service
    who: string -- whom

### Delegation

```prose
return call writer
  who: who
```
"""
TESTS = """\
---
kind: test
subject: greet
---

### Fixtures

- `who`: Ann

## greets Ann

### Services

```yaml
writer: [hello Ann]
```

### Expects

```yaml
value: hello Ann
```

## is friendly

### Services

```yaml
writer: [dear Ann]
```

### Expects

- it is friendly
"""
FAILING = TESTS.replace("value: hello Ann", "value: hello Bob")
BROKEN = TESTS.replace("`who`", "`whom`")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("greet.prose.md").write_text(GREET)
    Path("greet.test.prose.md").write_text(TESTS)
    return tmp_path


def run(*args: str, stdin: str | bytes | None = None, **environ: str) -> Result:
    return CliRunner().invoke(cli, ["test", *args], input=stdin, env=environ or None)


def plain(*args: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*args, "--json").stdout)
    return found


def lines(result: Result) -> list[str]:
    return [line for line in result.stdout.splitlines() if line]


def test_a_line_for_each_scenario_and_what_did_not_pass_in_full() -> None:
    result = run()
    assert (result.exit_code, result.stderr) == (0, "")
    found = lines(result)
    assert found[:4] == [
        "greet.test.prose.md",
        "  passed         greets Ann",
        "  not evaluated  is friendly",
        "not evaluated greet.test.prose.md: is friendly",
    ]
    assert found[4] == "warning[not-evaluated]: “it is friendly”: no rule decides it, and there is no judge to ask"
    assert found[5] == "  --> greet.test.prose.md:34:3"
    assert found[-1].startswith("2 scenarios in 0.")
    assert found[-1].endswith(" s: 1 passed, 1 not evaluated")


def test_a_failure_shows_where_and_how_it_differs() -> None:
    Path("greet.test.prose.md").write_text(FAILING)
    result = run("greet.test.prose.md")
    assert result.exit_code == 1
    assert lines(result)[1] == "  FAILED         greets Ann"
    assert (
        "\nFAILED greet.test.prose.md: greets Ann\n"
        "error[failed]: `value` is not what is expected\n"
        "  --> greet.test.prose.md:21:1\n"
        "   |\n"
        "21 | value: hello Bob\n"
        "   | ^^^^^\n"
        '    expected "hello Bob", got "hello Ann"\n'
    ) in result.stdout


def test_what_is_broken() -> None:
    Path("greet.test.prose.md").write_text(BROKEN)
    result = run()
    assert result.exit_code == 2
    assert "  BROKEN         greets Ann\n" in result.stdout
    assert "error[P210] unknown-binding: `greet` takes no `whom`\n  --> greet.test.prose.md:8:4\n" in result.stdout
    assert "   = help: did you mean `who`?\n" in result.stdout
    assert "error[P203] missing-binding: the input `who` is missing\n  --> greet.test.prose.md:10:1\n" in result.stdout
    assert result.stdout.endswith(": 2 broken\n")


def test_quiet() -> None:
    assert lines(run("-q", "-k", "greets")) == []
    Path("greet.test.prose.md").write_text(FAILING)
    found = lines(run("-q"))
    assert found[0] == "  FAILED         greets Ann"
    assert found[-1].endswith("1 failed, 1 not evaluated")


def test_verbose_shows_every_expectation() -> None:
    found = lines(run("-v"))
    assert found[2] == "      passed (exact)  value"
    assert found[4] == "      not evaluated  it is friendly: no rule decides it, and there is no judge to ask"


def test_only_some() -> None:
    assert [one["name"] for one in plain("-k", "FRIENDLY")["scenarios"]] == ["is friendly"]
    assert [one["name"] for one in plain("-k", "greet.test.prose.md::g")["scenarios"]] == ["greets Ann"]
    assert lines(run("-k", "friendly"))[-1].endswith(": 1 not evaluated, 1 left out by -k")
    result = run("-k", "nothing of the kind")
    assert (result.exit_code, "no scenario has “nothing of the kind” in its name" in result.stdout) == (2, True)


def test_stopping_at_the_first_failure() -> None:
    Path("a.test.prose.md").write_text(FAILING)
    report = plain("-x")
    assert [(one["file"], one["verdict"]) for one in report["scenarios"]] == [("a.test.prose.md", "failed")]
    Path("a.test.prose.md").write_text("---\nkind: tset\n---\n")
    report = plain("-x")
    assert (report["exit_status"], report["scenarios"], report["diagnostics"][0]["code"]) == (2, [], "P106")


def test_strict() -> None:
    result = run("--strict")
    assert result.exit_code == 1
    assert "error[failed]: “it is friendly”: not evaluated: no rule decides it" in result.stdout


JUDGE = """\
import prose_lang as prose

@prose.service
def judge(condition: str, values: dict) -> dict:
    print("asked")
    return {"holds": "dear" in values["value"], "reason": "so I think"}

@prose.service
def failing(condition: str, values: dict) -> dict:
    raise ValueError("no idea")
"""


def test_a_judge_of_ones_own() -> None:
    Path("mine.py").write_text(JUDGE)
    result = run("--services", "mine.py", "--judge", "judge", "-v")
    assert (result.exit_code, "asked" in result.stdout, "asked" in result.stderr) == (0, False, True)
    assert "      passed (judge)  it is friendly: so I think\n" in result.stdout
    result = run("--services", "mine.py", "--judge", "failing")
    assert result.exit_code == 2
    assert "`failing` was to decide “it is friendly” and failed: no idea" in result.stdout
    result = run("--judge", "nobody")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[P202] unknown-target: there is no service `nobody`\n")
    assert run("--judge", "py:mine:judge", "--services", "mine.py", "-q").exit_code == 0


def test_faults_of_services() -> None:
    result = run("--services", "nowhere.py")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (
        2, "error[P103] source-unreadable: nowhere.py does not exist",
    )  # fmt: skip


# --- paths -----------------------------------------------------------------------------------------------------------


def test_files_folders_and_each_only_once() -> None:
    Path("sub").mkdir()
    Path("sub/other.test.prose.md").write_text(TESTS.replace("subject: greet", "subject: refine"))
    report = plain("greet.test.prose.md", ".", "./sub/../greet.test.prose.md")
    assert [one["file"] for one in report["scenarios"]] == ["greet.test.prose.md"] * 2 + ["sub/other.test.prose.md"] * 2


def test_standard_input() -> None:
    text = "---\nkind: test\nsubject: refine\n---\n### Fixtures\n- `task_brief`: x\n### Services\n```yaml\n"
    text += "refiner: [a]\nevaluator: [{score: 1}]\n```\n### Expects\n- `result`: is `a`\n"
    result = run("-", stdin=text)
    assert (result.exit_code, lines(result)[:2]) == (0, ["<stdin>", "  passed         anonymous"])
    result = run("-", stdin=text.encode() + b"\xff")
    assert (result.exit_code, "standard input is not UTF-8 text (line 14)" in result.stdout) == (2, True)
    assert run("-", stdin="").exit_code == 2
    result = run("--update", "-", stdin=text)
    assert (result.exit_code, result.stderr.splitlines()[0]) == (
        2, "error: standard input cannot be updated; give a file",
    )  # fmt: skip


def test_no_tests() -> None:
    Path("greet.test.prose.md").unlink()
    result = run()
    assert result.exit_code == 2
    assert "error[P103] source-unreadable: the folder `.` holds no tests\n" in result.stdout
    assert "tests are files NAME.test.prose.md" in result.stdout
    result = run("nowhere.test.prose.md")
    assert (result.exit_code, "there is no file `nowhere.test.prose.md`" in result.stdout) == (2, True)


def test_a_file_that_is_no_test_does_not_keep_the_others_from_being_run() -> None:
    Path("binary.test.prose.md").write_bytes(b"\0\1")
    result = run("greet.prose.md", "binary.test.prose.md", "greet.test.prose.md")
    assert result.exit_code == 2
    assert "  passed         greets Ann\n" in result.stdout
    assert "error[P106] bad-frontmatter: `greet.prose.md` is a pattern, not a test" in result.stdout
    assert "`binary.test.prose.md` is no text file: line 1 holds a NUL byte" in result.stdout
    assert result.stdout.endswith(": 1 passed, 1 not evaluated, 2 files broken\n")


def test_the_library_tests_itself() -> None:
    report = plain("refine", "stdlib:ensemble-synthesizer", "--strict")
    assert report["exit_status"] == 0
    assert {one["verdict"] for one in report["scenarios"]} == {"passed"}
    assert {Path(one["file"]).name for one in report["scenarios"]} == {
        "refine.test.prose.md", "ensemble-synthesizer.test.prose.md",
    }  # fmt: skip
    Path("refine").write_text(TESTS)
    assert [one["file"] for one in plain("refine")["scenarios"]] == ["refine"] * 2  # a file of that name goes first


def test_the_name_of_a_pattern_is_not_that_of_its_test() -> None:
    Path("greet.prose.md").write_text("---\nname: greet\nkind: pattern\n---\n### Delegation\n```prose\nreturn 1\n```\n")
    for name in ("greet", "greet.prose.md"):
        result = run(name)
        assert result.exit_code == 2
        assert "help: did you mean `greet.test.prose.md`?" in result.stdout


# --- recording -------------------------------------------------------------------------------------------------------


def test_update() -> None:
    Path("greet.test.prose.md").write_text(FAILING)
    result = run("--update")
    assert result.exit_code == 0
    assert result.stdout.startswith("greet.test.prose.md\n  passed         greets Ann\n")  # as it is afterwards
    assert "\nupdated greet.test.prose.md:10 greets Ann: recorded value\n" in result.stdout
    assert result.stdout.endswith(": 1 passed, 1 not evaluated\n")
    assert Path("greet.test.prose.md").read_text() == TESTS
    assert "updated" not in run("--update").stdout


def test_update_of_a_scenario_that_expects_nothing_keeps_links_and_permissions() -> None:
    without = TESTS.replace("### Expects\n\n- it is friendly\n", "")
    Path("real.md").write_text(without)
    os.chmod("real.md", 0o640)
    Path("greet.test.prose.md").unlink()
    Path("greet.test.prose.md").symlink_to("real.md")
    report = plain("--update")
    assert report["updated"] == [
        {"file": "greet.test.prose.md", "scenario": "is friendly", "keys": ["value", "calls"], "new": True}
    ]
    assert [one["verdict"] for one in report["scenarios"]] == ["passed", "passed"]
    section = "\n\n### Expects\n\n```yaml\nvalue: dear Ann\ncalls:\n  - [writer, {who: Ann}]\n```\n"
    assert Path("real.md").read_text().rstrip("\n") + "\n" == without.rstrip("\n") + section
    assert Path("greet.test.prose.md").is_symlink()
    assert os.stat("real.md").st_mode & 0o777 == 0o640


def test_update_leaves_what_is_not_chosen_or_broken() -> None:
    Path("greet.test.prose.md").write_text(FAILING)
    assert run("--update", "-k", "friendly").exit_code == 0
    assert Path("greet.test.prose.md").read_text() == FAILING
    broken = FAILING.replace("`who`", "`whom`")
    Path("greet.test.prose.md").write_text(broken)
    assert run("--update").exit_code == 2
    assert Path("greet.test.prose.md").read_text() == broken


def test_update_never_writes_over_what_changed_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("greet.test.prose.md").write_text(FAILING)
    before = scenarios.record

    def record(*args: Any) -> Any:
        Path("greet.test.prose.md").write_text(FAILING + "\nmine\n")
        return before(*args)

    monkeypatch.setattr(scenarios, "record", record)
    result = run("--update")
    assert (result.exit_code, "has changed meanwhile; it was left as it is" in result.stdout) == (2, True)
    assert Path("greet.test.prose.md").read_text() == FAILING + "\nmine\n"


# --- other forms -----------------------------------------------------------------------------------------------------


def test_json() -> None:
    Path("greet.test.prose.md").write_text(FAILING.replace("writer: [dear Ann]", "writer: [dear Ann, 2]"))
    report = plain(".")
    assert list(report) == [
        "exit_status", "interrupted", "seconds", "counts", "scenarios", "diagnostics", "updated",
    ]  # fmt: skip
    assert (report["exit_status"], report["interrupted"]) == (1, False)
    assert report["counts"] == {"passed": 0, "not evaluated": 1, "failed": 1, "broken": 0}
    first, second = report["scenarios"]
    assert {key: first[key] for key in ("file", "line", "name", "verdict", "status", "error", "unused")} == {
        "file": "greet.test.prose.md", "line": 10, "name": "greets Ann", "verdict": "failed", "status": "ok",
        "error": None, "unused": [],
    }  # fmt: skip
    assert first["checks"] == [
        {
            "what": "value", "negated": False, "verdict": "failed", "layer": "exact",
            "reason": "`value` is not what is expected", "details": ['expected "hello Bob", got "hello Ann"'],
            "line": 21, "column": 1,
        }
    ]  # fmt: skip
    assert second["unused"] == [{"service": "writer", "count": 1, "total": 2}]
    assert (second["checks"][0]["verdict"], second["checks"][0]["layer"]) == ("not evaluated", None)


def test_json_of_what_is_broken_and_of_what_failed() -> None:
    Path("greet.test.prose.md").write_text(BROKEN)
    first = plain()["scenarios"][0]
    assert [item["code"] for item in first["diagnostics"]] == ["P210", "P203"]
    Path("greet.test.prose.md").write_text(TESTS.replace("[hello Ann]", "[{raises: out}]"))
    first = plain()["scenarios"][0]
    assert (first["status"], first["error"]["code"], first["error"]["message"]) == ("failed", "P406", "out")


def test_junit() -> None:
    Path("greet.test.prose.md").write_text(FAILING)
    Path("bad.test.prose.md").write_text("nothing")
    result = run("--junit", "report.xml")
    assert result.exit_code == 2
    root = ElementTree.parse("report.xml").getroot()
    assert {name: root.attrib[name] for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3", "failures": "1", "errors": "1", "skipped": "1",
    }  # fmt: skip
    result = run("--junit", "no/such/folder.xml")
    assert (result.exit_code, "`no/such/folder.xml` of --junit cannot be written" in result.stderr) == (2, True)


def test_secrets_appear_nowhere() -> None:
    secret = "sk-0123456789abcdef"
    Path("greet.test.prose.md").write_text(FAILING.replace("[hello Ann]", f"[key {secret}]"))
    for args in (("-v",), ("--json",), ("--junit", "x.xml")):
        result = run(*args, SOME_API_KEY=secret)
        assert secret not in result.stdout
        assert "[redacted]" in result.stdout
    assert secret not in Path("x.xml").read_text()
    before = Path("greet.test.prose.md").read_text()
    result = run("--update", SOME_API_KEY=secret)
    assert (result.exit_code, "it holds a secret, which belongs into no file" in result.stdout) == (2, True)
    assert Path("greet.test.prose.md").read_text() == before


def test_colours_on_demand() -> None:
    result = CliRunner().invoke(cli, ["test"], env={"FORCE_COLOR": "1", "TERM": "xterm"}, color=True)
    assert "  \x1b[32mpassed\x1b[0m         greets Ann\n" in result.stdout


def test_names_that_would_drive_a_terminal_are_harmless() -> None:
    Path("greet.test.prose.md").write_text(TESTS.replace("greets Ann", "greets \x1b[2J"))
    assert "greets ␛[2J" in run().stdout


# --- interrupts ------------------------------------------------------------------------------------------------------


def test_an_interrupt_shows_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    before = scenarios.run_scenario

    def run_scenario(scenario: Any, *args: Any, **options: Any) -> Any:
        if scenario.name == "is friendly":
            raise KeyboardInterrupt
        return before(scenario, *args, **options)

    monkeypatch.setattr(scenarios, "run_scenario", run_scenario)
    Path("greet.test.prose.md").write_text(FAILING)
    result = run("--update", "--junit", "x.xml")
    assert result.exit_code == 130
    assert "  FAILED         greets Ann\n" in result.stdout
    assert "\ninterrupted\n" in result.stdout
    assert Path("greet.test.prose.md").read_text() == FAILING
    assert ElementTree.parse("x.xml").getroot().attrib["tests"] == "1"
    report = plain()
    assert (report["exit_status"], report["interrupted"], len(report["scenarios"])) == (130, True, 1)


# --- other commands --------------------------------------------------------------------------------------------------


def test_check_tells_the_same_faults() -> None:
    Path("greet.test.prose.md").write_text(BROKEN)
    result = CliRunner().invoke(cli, ["check", "greet.test.prose.md", "--json"])
    found = json.loads(result.stdout)["diagnostics"]
    assert result.exit_code == 2
    assert [(item["code"], item["line"]) for item in found] == [("P210", 8), ("P203", 10), ("P203", 24)]
    Path("greet.test.prose.md").write_text(TESTS)
    assert CliRunner().invoke(cli, ["check", "."]).exit_code == 0


@pytest.mark.parametrize("command", [["lint", "."], ["fmt", "--all", "--check", "."], ["lint", "--fix", "."]])
def test_other_commands_take_test_files(command: list[str]) -> None:
    result = CliRunner().invoke(cli, command)
    assert (result.exit_code, result.exception) == (0, None)
    assert Path("greet.test.prose.md").read_text() == TESTS


def test_a_test_is_not_run_by_run() -> None:
    result = CliRunner().invoke(cli, ["run", "greet.test.prose.md"])
    assert result.exit_code == 2
    assert "prose test greet.test.prose.md" in result.stderr
