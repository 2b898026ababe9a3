"""`prose new`: what is written is sound, in style and tested; what is there is never touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prose_lang.cli.main import cli
from prose_lang.cli.starting import STARTERS


def prose(*args: object) -> Result:
    return CliRunner().invoke(cli, [str(arg) for arg in args])


@pytest.mark.parametrize("kind", ["pattern", "function"])
def test_what_is_written_passes_everything(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "patterns"
    result = prose("new", "second-opinion", "--kind", kind, "--into", folder)
    files = [folder / "second-opinion.prose.md", folder / "second-opinion.test.prose.md"]
    assert (result.exit_code, result.stdout) == (0, "".join(f"wrote {file}\n" for file in files))
    assert result.stderr == f"try it: prose test {files[1]}\n"
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert text.startswith(f"---\nname: {file.name.removesuffix('.prose.md').replace('.', '-')}\n")
        assert "starter" not in text.lower()
    assert prose("check", "--json", folder).exit_code == 0
    assert prose("lint", folder).exit_code == 0
    assert prose("fmt", "--check", "--all", folder).exit_code == 0
    tested = prose("test", folder, "--strict")
    assert tested.exit_code == 0, tested.output


@pytest.mark.parametrize("kind", ["pattern", "function"])
def test_the_tests_reach_everything(kind: str, tmp_path: Path) -> None:
    prose("new", "second-opinion", "--kind", kind, "--into", tmp_path)
    assert prose("test", tmp_path, "--coverage", "--coverage-min", "100").exit_code == 0


def test_every_kind_has_its_texts() -> None:
    assert sorted(path.name for path in STARTERS.iterdir()) == [
        "function.prose.md", "function.test.prose.md", "pattern.prose.md", "pattern.test.prose.md",
    ]  # fmt: skip


@pytest.mark.parametrize("suffix", [".prose.md", ".test.prose.md"])
def test_nothing_is_overwritten(suffix: str, tmp_path: Path) -> None:
    there = tmp_path / f"mine{suffix}"
    there.write_text("precious", encoding="utf-8")
    result = prose("new", "mine", "--into", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"`{there}` is there already; nothing was written" in result.stderr
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [(there.name, "precious")]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("MyPattern", "`prose new my-pattern` would do"),
        ("my pattern.prose.md", "`prose new my-pattern` would do"),
        ("sub/deep/mine.test.prose.md", "`prose new mine --into sub/deep` says where to"),
        ("../mine", "`prose new mine --into ..` says where to"),
        ("2nd-try", "`prose new nd-try` would do"),
        ("a--b", "`prose new a-b` would do"),
        ("ñ", None),
        ("", None),
    ],
)
def test_names_that_will_not_do(name: str, hint: str | None, tmp_path: Path) -> None:
    result = prose("new", name, "--into", tmp_path)
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert f"`{name}` cannot be the name of a pattern file" in result.stderr
    assert (hint is None) == ("help:" not in result.stderr)
    assert hint is None or hint in result.stderr


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    result = prose("new", "mine", "--into", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"`{file}` is no folder" in result.stderr
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        assert "cannot be written: permission denied" in prose("new", "mine", "--into", tmp_path).stderr
