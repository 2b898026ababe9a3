"""`prose fmt`: what is written, what is said, and the exit status."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import prose_lang.formatter.formatting as formatting
from prose_lang.cli.main import cli
from prose_lang.cli.terminal import Terminal

HEAD = "---\nname: some\nkind: pattern\n---\n\n### Slots\n\n* w\n\n### Delegation\n\n```prose\n"
GOOD = HEAD + "return call w\n```\n"
LOOSE = HEAD + "return   call w\n```\n"
BROKEN = HEAD + "return {  a\n```\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("good.prose.md").write_text(GOOD)
    Path("sub").mkdir()
    Path("sub/loose.prose.md").write_text(LOOSE)
    Path("sub/other.md").write_text(LOOSE)
    return tmp_path


def fmt(*args: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli, ["fmt", *args], input=stdin)


def test_files_and_folders() -> None:
    result = fmt(".")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "formatted sub/loose.prose.md\n2 files: 1 formatted, 1 unchanged\n"
    assert Path("sub/loose.prose.md").read_text() == GOOD
    assert Path("sub/other.md").read_text() == LOOSE
    assert fmt(".").stderr == "2 files: 0 formatted, 2 unchanged\n"


def test_a_file_of_any_name() -> None:
    assert fmt("sub/other.md", "good.prose.md").exit_code == 0
    assert Path("sub/other.md").read_text() == GOOD


def test_check() -> None:
    result = fmt("--check", ".")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "would format sub/loose.prose.md\n2 files: 1 would be formatted, 1 unchanged\n"
    assert Path("sub/loose.prose.md").read_text() == LOOSE
    assert fmt("--check", "good.prose.md").exit_code == 0
    assert fmt("-q", "--check", "sub").stderr == ""


def test_diff() -> None:
    result = fmt("--diff", ".")
    assert (result.exit_code, Path("sub/loose.prose.md").read_text()) == (0, LOOSE)
    assert result.stdout == (
        "--- sub/loose.prose.md\n+++ sub/loose.prose.md (formatted)\n@@ -10,5 +10,5 @@\n"
        " ### Delegation\n \n ```prose\n-return   call w\n+return call w\n ```\n"
    )
    assert fmt("--diff", "--check", ".").exit_code == 1
    assert fmt("--diff", "good.prose.md").stdout == ""


def test_diff_of_a_text_without_a_last_line_break() -> None:
    result = fmt("--diff", "-", stdin="return  1")
    assert result.stdout == (
        "--- <stdin>\n+++ <stdin> (formatted)\n@@ -1 +1 @@\n-return  1\n\\ No newline at end of file\n+return 1\n"
    )


def test_diff_in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = CliRunner().invoke(cli, ["fmt", "--diff", "-"], input="a=1\n", color=True)
    assert "\x1b[31m-a=1\n\x1b[0m\x1b[32m+a = 1\n\x1b[0m" in result.stdout


def test_all() -> None:
    assert fmt("--all", "good.prose.md").exit_code == 0
    assert Path("good.prose.md").read_text() == GOOD.replace("* w", "- `w`")


def test_standard_input() -> None:
    result = fmt("-", stdin="let  x=1\n")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "let x = 1\n", "")
    result = fmt("--check", "-", stdin="let  x=1\n")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "would format <stdin>\n")
    assert fmt("--check", "-", stdin="let x = 1\n").exit_code == 0


def test_standard_input_is_given_back_byte_for_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-1234567890")
    data = '\ufeffreturn  "sk-1234567890 ü"\r\n'.encode()
    assert fmt("-", stdin=data).stdout_bytes == data.replace(b"  ", b" ")


def test_a_stream_without_bytes() -> None:
    out = io.StringIO()
    Terminal(out, io.StringIO(), {}).pass_on("a\r\n")
    assert out.getvalue() == "a\r\n"


def test_syntax_errors_leave_the_file_and_stop_no_other() -> None:
    Path("bad.prose.md").write_text(BROKEN)
    result = fmt("bad.prose.md", "sub", "good.prose.md")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("formatted sub/loose.prose.md\nerror[P102] never-closed: `{` is never closed\n")
    assert "  --> bad.prose.md:13:8\n" in result.stderr
    assert result.stderr.endswith("3 files: 1 formatted, 1 unchanged, 1 with errors\n")
    assert Path("bad.prose.md").read_text() == BROKEN
    assert fmt("--check", "bad.prose.md").exit_code == 2


def test_errors_on_standard_input_write_nothing() -> None:
    result = fmt("-", stdin="return {")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[P102] never-closed: ")


def test_what_cannot_be_read(folder: Path) -> None:
    (folder / "empty").mkdir()
    Path("latin.prose.md").write_bytes(b"return \xff")
    result = fmt("missing.prose.md", "empty", "latin.prose.md", "sub")
    assert result.exit_code == 2
    assert result.stderr.count("error[P103]") == 3
    assert Path("sub/loose.prose.md").read_text() == GOOD


def test_a_refusal_leaves_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formatting, "print_rows", lambda *_, **__: "return call v\n")
    result = fmt("sub")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "error[format-refused]: not formatted, because a word of the program would change\n"
    )
    assert Path("sub/loose.prose.md").read_text() == LOOSE


def test_no_path() -> None:
    assert fmt().exit_code == 2
