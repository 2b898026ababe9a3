"""`prose lint`: findings and errors of many files in three forms, mending, selection and configuration."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prose_lang.cli.bar import FEW, counted
from prose_lang.cli.main import cli
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import SourceError
from prose_lang.documents.replacing import replace
from prose_lang.text import Source

HEAD = "---\nname: some\nkind: pattern\n---\n\n### Slots\n\n- `w`\n\n### Delegation\n\n```prose\n"
RE_LET = HEAD + "let x = null\nrepeat 2:\n  let x = call w\n    x: x\nreturn x\n```\n"
MENDED = RE_LET.replace("  let x", "  x")
CLEAN = HEAD + "return call w\n```\n"
BROKEN = HEAD + "return call nothing\n```\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    Path("clean.prose.md").write_text(CLEAN)
    Path("sub").mkdir()
    Path("sub/relet.prose.md").write_text(RE_LET)
    return tmp_path


def lint(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["lint", *args], input=stdin)


def test_nothing_found(folder: Path) -> None:
    result = lint("clean.prose.md", "refine")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "2 files linted, nothing found\n", "")
    assert lint("-q", "clean.prose.md").stdout == ""


def test_a_finding(folder: Path) -> None:
    result = lint(".")
    assert result.exit_code == 1
    assert result.stdout == (
        "warning[re-let]: `x` is the variable of line 13; this `let` only assigns it\n"
        "  --> sub/relet.prose.md:15:3\n"
        "   |\n"
        "14 | repeat 2:\n"
        "15 |   let x = call w\n"
        "   |   ^^^^^\n"
        "16 |     x: x\n"
        "   |\n"
        "   = help: write the assignment: x = …\n"
        "2 files linted, 1 warning, 1 can be mended with --fix\n"
    )


def test_errors_are_told_too_and_weigh_more(folder: Path) -> None:
    Path("broken.prose.md").write_text(BROKEN)
    result = lint(".")
    assert result.exit_code == 2
    assert "error[P202] unknown-target" in result.stdout
    assert "warning[re-let]" in result.stdout
    assert "warning[unused-slot]: the body never calls the slot `w`, and every slot must be bound" in result.stdout
    assert result.stdout.endswith("\n1 error, 2 warnings\n3 files linted, 1 can be mended with --fix\n")


def test_what_cannot_be_read_does_not_keep_the_rest_from_being_linted(folder: Path) -> None:
    Path("empty").mkdir()
    result = lint("nowhere.prose.md", "empty", "sub", "--json")
    report = json.loads(result.stdout)
    assert (result.exit_code, report["files"], report["errors"]) == (2, ["sub/relet.prose.md"], 2)
    assert [item["code"] for item in report["diagnostics"]] == ["P103", "P103", None]


def test_json(folder: Path) -> None:
    report = json.loads(lint("sub", "--format", "json").stdout)
    assert (report["files"], report["errors"], report["findings"]) == (["sub/relet.prose.md"], 0, 1)
    assert report["diagnostics"] == [
        {"code": None, "name": "re-let", "severity": "warning", "file": "sub/relet.prose.md", "line": 15, "column": 3,
         "message": "`x` is the variable of line 13; this `let` only assigns it", "fixable": True,
         "hint": "write the assignment: x = …"}
    ]  # fmt: skip
    assert report["fixed"] == []


def test_sarif_describes_the_rules(folder: Path) -> None:
    Path("judged.prose.md").write_text(HEAD + "let x = call w\nif x reads well:\n  return 1\nreturn 2\n```\n")
    (run,) = json.loads(lint(".", "--format", "sarif").stdout)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["judge-needed", "re-let"]
    assert rules[0]["help"]["markdown"].startswith("# judge-needed\n\nA condition or a choice")
    assert "shortDescription" not in rules[0]
    assert [(item["ruleId"], item["level"]) for item in run["results"]] == [
        ("judge-needed", "note"), ("re-let", "warning"),
    ]  # fmt: skip


def test_fix(folder: Path) -> None:
    result = lint("--fix", ".")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "fixed sub/relet.prose.md:15:3 re-let: drop `let`\n2 files linted, 1 fixed, nothing left\n"
    )
    assert Path("sub/relet.prose.md").read_text() == MENDED
    assert Path("clean.prose.md").read_text() == CLEAN
    assert sorted(path.name for path in Path("sub").iterdir()) == ["relet.prose.md"]
    assert lint("--fix", ".").stdout == "2 files linted, nothing found\n"


def test_fix_tells_what_is_left(folder: Path) -> None:
    Path("sub/relet.prose.md").write_text(RE_LET.replace("- `w`\n", "- `w`\n- `v`\n"))
    result = lint("--fix", "sub", "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [item["name"] for item in report["diagnostics"]] == ["unused-slot"]
    assert report["fixed"] == [
        {"name": "re-let", "file": "sub/relet.prose.md", "line": 16, "column": 3, "what": "drop `let`"}
    ]


def test_what_is_not_mended(folder: Path) -> None:
    assert lint("--fix", "--ignore", "re-let", "sub").exit_code == 0
    assert Path("sub/relet.prose.md").read_text() == RE_LET
    refused = lint("--fix", "-", stdin="return 1")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("error: standard input cannot be mended; give a file\n")
    assert lint("--fix", "refine").exit_code == 0


def test_bytes_of_a_file_stay(folder: Path) -> None:
    data = ("\ufeff" + RE_LET.replace("x: x", "x: x  # é")).replace("\n", "\r\n").encode()
    path = Path("sub/relet.prose.md")
    path.write_bytes(data)
    path.chmod(0o640)
    Path("link.prose.md").symlink_to(path)
    assert lint("--fix", "link.prose.md").exit_code == 0
    assert path.read_bytes() == data.replace(b"  let x", b"  x")
    assert path.stat().st_mode & 0o777 == 0o640
    assert Path("link.prose.md").is_symlink()


def test_a_file_that_changed_meanwhile_is_left_as_it_is(folder: Path) -> None:
    path = Path("clean.prose.md")
    with pytest.raises(SourceError, match="has changed meanwhile"):
        replace(path, Source("clean.prose.md", "something else"), "new")
    assert path.read_text() == CLEAN
    assert sorted(os.listdir()) == [".git", "clean.prose.md", "sub"]


def test_a_file_that_cannot_be_written_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("prose_lang.documents.replacing.os.replace", refuse)
    result = lint("--fix", ".")
    assert result.exit_code == 2
    assert "error[P103] source-unreadable: `sub/relet.prose.md` cannot be written: permission denied" in result.stdout
    assert sorted(os.listdir("sub")) == ["relet.prose.md"]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ([], ["re-let", "unused-slot"]),
        (["--select", "re-let"], ["re-let"]),
        (["--select", "shadowing, Unused-Slot"], ["unused-slot"]),
        (["--select", "re-let", "--select", "unused-slot", "--ignore", "re-let"], ["unused-slot"]),
        (["--ignore", "unused-slot,re-let"], []),
    ],
)
def test_selection(folder: Path, options: list[str], names: list[str]) -> None:
    Path("sub/relet.prose.md").write_text(RE_LET.replace("- `w`\n", "- `w`\n- `v`\n"))
    result = lint("sub", "--json", *options)
    assert sorted(item["name"] for item in json.loads(result.stdout)["diagnostics"]) == names
    assert result.exit_code == bool(names)


def test_unknown_rules_are_refused() -> None:
    result = lint("--select", "relet", "refine")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: --select: there is no rule `relet`; did you mean `re-let`?\n")


def test_configuration_of_each_file(folder: Path) -> None:
    Path("pyproject.toml").write_text('[tool.prose.lint]\nignore = ["re-let"]\n')
    assert lint(".").exit_code == 0
    assert lint("--select", "re-let", ".").exit_code == 1
    Path("sub/prose.toml").write_text('[lint.severity]\nre-let = "error"\n')
    result = lint(".")
    assert result.exit_code == 1, "an error in the pattern is something else"
    assert result.stdout.startswith("error[re-let]: ")
    piped = lint("-", stdin="let x = 1\nif x > 0:\n  let x = 2\nreturn x\n")
    assert piped.exit_code == 0, "standard input belongs to the working directory"


def test_a_faulty_configuration_is_told_once(folder: Path) -> None:
    Path("prose.toml").write_text('[lint]\nignore = ["relet"]\n')
    result = lint(".")
    assert result.exit_code == 2
    assert result.stdout == (
        "error[P210] unknown-binding: there is no rule `relet`\n"
        "  --> prose.toml:2:12\n"
        "   |\n"
        " 1 | [lint]\n"
        ' 2 | ignore = ["relet"]\n'
        "   |            ^^^^^\n"
        "   |\n"
        "   = help: did you mean `re-let`?\n"
        "2 files linted, 1 error\n"
    )
    assert lint("refine").exit_code == 0, "the library is nobody's project"


def test_names_of_services_and_scripts_are_known(folder: Path) -> None:
    Path("s.yaml").write_text("scripted: [1]")
    Path("s.py").write_text("import prose_lang as p\n@p.service\ndef mine(x): return x\n")
    body = "let a = call scripted\nlet b = call mine\n  x: a\nreturn b\n"
    assert lint("-", stdin=body).exit_code == 2
    assert lint("-", "--services", "s.py", "--script", "s.yaml", stdin=body).exit_code == 0


def test_a_check_respects_the_comments(folder: Path) -> None:
    body = "loop:  # prose: allow[unbounded-loop]\n  break\nloop:\n  break\nreturn 1\n"
    result = CliRunner().invoke(cli, ["check", "--strict", "--json", "-"], input=body)
    assert [(item["name"], item["line"]) for item in json.loads(result.stdout)["diagnostics"]] == [
        ("unbounded-loop", 3)
    ]


def test_explain_knows_the_rules() -> None:
    def explain(*args: str) -> Result:
        return CliRunner().invoke(cli, ["explain", *args])

    page = explain("Re-Let")
    assert (page.exit_code, page.stdout.splitlines()[0]) == (0, "# re-let")
    assert "<!--" not in page.stdout
    assert "\n      re-let                   A `let` inside a loop" in explain().stdout
    both = explain("judge-needed").stdout
    assert both.startswith("# judge-needed\n")
    assert "\n\n# P403 judge-needed\n" in both
    assert explain("P403").stdout.startswith("# P403 judge-needed\n")
    assert "did you mean `re-let`?" in explain("relet").stderr


def test_a_fence_in_a_longer_fence_is_shown_as_code() -> None:
    page = CliRunner().invoke(cli, ["explain", "ignored-fence"], env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[2m````markdown\x1b[0m" in page
    assert "\x1b[36m```prosescript\x1b[0m" in page
    assert "\x1b[36m### Execution\x1b[0m" in page


def test_names_of_rules_are_completed() -> None:
    env = {"_PROSE_COMPLETE": "bash_complete", "COMP_WORDS": "prose lint --select re-let,sha", "COMP_CWORD": "3"}
    assert CliRunner().invoke(cli, [], env=env).stdout == "plain,re-let,shadowing\n"


def test_kinds_that_are_not_run_are_linted(folder: Path) -> None:
    Path("g.prose.md").write_text("---\nname: g\nkind: gateway\n---\n\n### Requires\n\n- `x`: text\n")
    assert lint("g.prose.md").stdout == "1 file linted, nothing found\n"


# --- the bar ---------------------------------------------------------------------------------------------------------


class _Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("number", "tty", "quiet", "shown"),
    [(FEW, True, False, True), (FEW - 1, True, False, False), (FEW, False, False, False), (FEW, True, True, False)],
)
def test_a_bar_on_a_terminal_for_many_files(number: int, tty: bool, quiet: bool, shown: bool) -> None:
    err = _Tty() if tty else io.StringIO()
    terminal = Terminal(io.StringIO(), err, {"COLUMNS": "80"})
    terminal.verbosity = -1 if quiet else 0
    assert list(counted(list(range(number)), terminal, "linting")) == list(range(number))
    assert ("linting" in err.getvalue() and f"{number}/{number}" in err.getvalue()) is shown


def test_the_bar_goes_when_it_is_interrupted() -> None:
    err = _Tty()
    items = counted(list(range(FEW)), Terminal(io.StringIO(), err, {}), "linting")
    next(items)
    items.close()  # type: ignore[attr-defined]
    assert "\x1b[?25h" in err.getvalue(), "the cursor is back"
