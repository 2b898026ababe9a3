"""`[lint]` of prose.toml, `[tool.prose.lint]` of pyproject.toml: where they are found, faults at their places."""

from __future__ import annotations

from pathlib import Path

import pytest
from linter_texts import linted, marked, pattern

from prose_lang.diagnostics import ProseError, Severity
from prose_lang.linter import RULES, Settings
from prose_lang.linter.configuration import Configurations, read_configuration
from prose_lang.text import Source

PYPROJECT = ("tool", "prose", "lint")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "src/deep").mkdir(parents=True)
    return tmp_path


def ignored(folder: Path) -> set[str]:
    return set(Configurations().settings(folder).ignore)


def test_without_a_file_all_rules_count(project: Path) -> None:
    settings = Configurations().settings(project / "src")
    assert settings == Settings()
    assert [rule.name for rule in settings.rules] == list(RULES)


def test_the_nearest_table_counts(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.prose.lint]\nignore = ["re-let"]\n')
    assert ignored(project / "src/deep") == {"re-let"}
    (project / "src/pyproject.toml").write_text('[project]\nname = "x"\n')
    assert ignored(project / "src/deep") == {"re-let"}, "a file without the table is passed over"
    (project / "src/prose.toml").write_text("[models]\nfast = 1\n")
    assert ignored(project / "src/deep") == {"re-let"}
    (project / "src/pyproject.toml").write_text('[tool.prose.lint]\nignore = ["shadowing"]\n')
    assert ignored(project / "src/deep") == {"shadowing"}
    (project / "src/prose.toml").write_text("[lint]\n")
    assert ignored(project / "src/deep") == set(), "prose.toml before pyproject.toml in one folder"


def test_nothing_above_the_project_counts(project: Path) -> None:
    (project / "prose.toml").write_text('[lint]\nignore = ["re-let"]\n')
    (project / "src/.git").write_text("gitdir: elsewhere\n")
    assert ignored(project / "src/deep") == set()
    dependency = project / "deps/github.com/a/b/patterns"
    dependency.mkdir(parents=True)
    assert ignored(dependency) == set()
    assert ignored(project / "deps") == {"re-let"}


def test_each_file_is_read_once(project: Path) -> None:
    path = project / "prose.toml"
    path.write_text('[lint]\nignore = ["re-let"]\n')
    configurations = Configurations()
    assert configurations.settings(project / "src").ignore == {"re-let"}
    path.unlink()
    assert configurations.settings(project / "src").ignore == {"re-let"}
    assert configurations.settings(project / "src/deep").ignore == {"re-let"}


def test_what_settings_do() -> None:
    text = pattern("let x = 1\nrepeat 2:\n  let x = 2\nloop:\n  break\nreturn x", "slots: w")
    both = read_configuration(
        Source("p", '[lint]\nselect = ["re-let", "unbounded-loop"]\nseverity = {re-let = "error"}'), ("lint",)
    )
    assert both is not None
    found = linted(text, settings=both)
    assert [(one.name, one.diagnostic.severity) for one in found.findings] == [
        ("re-let", Severity.ERROR), ("unbounded-loop", Severity.WARNING),
    ]  # fmt: skip
    assert found.errors == ()
    assert [rule.name for rule in both.over(frozenset({"shadowing"}), frozenset()).rules] == ["shadowing"]
    assert [rule.name for rule in both.over(frozenset(), frozenset({"re-let"})).rules] == ["unbounded-loop"]
    chosen = both.over(frozenset({"shadowing", "re-let"}), frozenset({"re-let"}))
    assert [rule.name for rule in chosen.rules] == ["shadowing"]
    assert chosen.severity == both.severity


@pytest.mark.parametrize(
    "text",
    ['[tool.prose.lint]\nignore = ["re-let"]', '[tool.prose]\nlint = {ignore = ["re-let"]}',
     'tool.prose.lint.ignore = ["re-let"]', '\ufeff[tool."prose".lint]\r\nignore = [\r\n  "re-let",\r\n]'],
)  # fmt: skip
def test_ways_to_write_it(text: str) -> None:
    settings = read_configuration(Source("pyproject.toml", text), PYPROJECT)
    assert settings == Settings(ignore=frozenset({"re-let"}))


@pytest.mark.parametrize("text", ["", "tool = 3", "[tool]\nprose = 1", "[tool.other]\nx = 1", "[lint]\nignore = 3"])
def test_no_table(text: str) -> None:
    assert read_configuration(Source("pyproject.toml", text), PYPROJECT) is None


@pytest.mark.parametrize(
    ("text", "code", "message", "hint"),
    [
        ("[tool.prose.lint]\n«selct = []", "P210", "the linter has no setting `selct`", "did you mean `select`?"),
        ("[tool.prose.lint]\n«zzz = 1", "P210", "the linter has no setting `zzz`", "it has select, ignore, severity"),
        ('# select relet\n[tool.prose.lint]\nignore = ["re-let"]\nselect = [ # relet\n  "«relet",\n]', "P210",
         "there is no rule `relet`", "did you mean `re-let`?"),
        ("[tool.prose.lint]\nignore = ['re-let', '«zzz']", "P210", "there is no rule `zzz`",
         "`prose explain` lists the rules"),
        ('[tool.prose.lint]\n«select = "re-let"', "P211", "`select` is a list of names of rules",
         'select = ["re-let"]'),
        ("[tool.prose.lint]\n«ignore = [1]", "P211", "`ignore` is a list of names of rules", 'ignore = ["re-let"]'),
        ("[tool.prose.lint]\n«severity = 1", "P211", "`severity` is a table of names of rules",
         'severity = { re-let = "note" }'),
        ('[tool.prose.lint.severity]\n«re-let = "off"', "P211", "the severity of `re-let` is a word",
         "one of error, warning, note; to silence a rule, add it to `ignore`"),
        ('[tool.prose.lint]\nseverity = {«other = "note"}', "P210", "there is no rule `other`",
         "`prose explain` lists the rules"),
        ("[tool]\nprose.lint = 3", "P211", "`tool.prose.lint` is a table", None),
        ("[tool.prose.lint]\nignore = [«\n", "P103", "`pyproject.toml` is not TOML: invalid value", None),
        ("[tool.prose.lint]\nx = «é", "P103", "`pyproject.toml` is not TOML: invalid value", None),
        ("\ufeffx = «é", "P103", "`pyproject.toml` is not TOML: invalid value", None),
        ("a = 1\na« = 2", "P103", "`pyproject.toml` is not TOML: cannot overwrite a value", None),
    ],
)  # fmt: skip
def test_faults_are_told_at_their_places(text: str, code: str, message: str, hint: str | None) -> None:
    clean, expected = marked(text)
    with pytest.raises(ProseError) as caught:
        read_configuration(Source("pyproject.toml", clean), PYPROJECT)
    (item,) = caught.value.diagnostics
    assert (item.code, item.message, item.hint) == (code, message, hint)
    if expected and "[«" not in text and "a« " not in text:
        assert [(item.line, item.column)] == expected
    else:
        assert item.line is not None


def test_all_faults_of_a_file_are_told_together() -> None:
    text = '[lint]\nselect = ["one"]\nignore = ["two"]\nother = 1\nseverity = { three = "x" }\n'
    with pytest.raises(ProseError) as caught:
        read_configuration(Source("prose.toml", text), ("lint",))
    assert [(item.code, item.line) for item in caught.value.diagnostics] == [
        ("P210", 2), ("P210", 3), ("P210", 4), ("P210", 5), ("P211", 5),
    ]  # fmt: skip


def test_files_that_cannot_be_read(project: Path) -> None:
    path = project / "prose.toml"
    path.write_bytes(b"[lint]\n# \xff\n")
    with pytest.raises(ProseError, match=r"^`prose.toml` is not UTF-8$"):
        Configurations().settings(project)


def test_a_configuration_above_the_working_directory_is_named_in_full(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project / "prose.toml"
    path.write_text("[lint]\nx = 1\n")
    monkeypatch.chdir(project / "src")
    with pytest.raises(ProseError) as caught:
        Configurations().settings(project / "src")
    assert caught.value.source is not None
    assert caught.value.source.name == str(path)
