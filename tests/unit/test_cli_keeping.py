"""Where runs are recorded, what the options mean, and what happens where a run cannot be recorded."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prose_lang.cli.keeping import Keeping, engine_arguments, location
from prose_lang.cli.main import cli
from prose_lang.cli.record_settings import RecordSettings
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import CheckError
from prose_lang.journal import Finished, RunRecord, open_store


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def run(*args: str, **environ: str) -> Result:
    return CliRunner().invoke(cli, ["run", "-", *args], input="return 1\n", env=dict(environ))


def where(keeping: Keeping | None = None, **environ: str) -> str:
    return os.path.relpath(location(keeping or Keeping(), Terminal(environ=environ)).store, Path.cwd())


def recorded(folder: str) -> int:
    return len(open_store(folder, make=False).runs()) if os.path.exists(f"{folder}/runs.sqlite") else 0


# --- where -----------------------------------------------------------------------------------------------------------


def test_odd_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert where(Keeping(store="~/kept")) == "../kept"
    assert where(PROSE_STORE="~/kept") == "../kept"
    assert where(PROSE_STORE=" ") == "../data/prose/runs"
    for empty in ("", " "):
        refused = run("--store", empty)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert refused.stderr.startswith("error: --store needs a folder or a URL, and is empty\n")
    Path("a-file").write_text("x")
    refused = run("--store", "a-file")
    assert (refused.exit_code, refused.stdout) == (2, "")
    message = "`a-file` is a file, and run records are kept in a folder"
    assert refused.stderr == f"error[P501] record-unreadable: {message}\n"
    assert os.listdir() == ["a-file"]


def test_the_first_place_that_is_said_counts() -> None:
    assert where() == "../data/prose/runs"
    Path(".prose").mkdir()
    assert where() == ".prose/runs"
    Path("prose.toml").write_text('[runs]\nstore = "kept/here"\n')
    assert where() == "kept/here"
    assert where(PROSE_STORE="elsewhere") == "elsewhere"
    assert where(PROSE_STORE="") == "kept/here"
    assert where(Keeping(store="named"), PROSE_STORE="elsewhere") == "named"


def test_settings_are_those_of_the_folder_or_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pyproject.toml").write_text('[tool.prose.runs]\nstore = "kept"\nkeep-days = 1.5\nkeep = 7\nrecord = false\n')
    Path("inner").mkdir()
    monkeypatch.chdir("inner")
    found = location(Keeping(), Terminal(environ={}))
    assert found.settings == RecordSettings(False, found.store, 1.5, 7)
    assert (os.path.relpath(found.store), found.ours) == ("../kept", True)
    owner = os.stat("..").st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert location(Keeping(), Terminal(environ={})).settings == RecordSettings()


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("store = 1", "P211", "`store` is a folder or a URL"),
        ('store = " "', "P211", "`store` is a folder or a URL"),
        ('store = "../other"', "P211", "`store` leads out of the folder of its file"),
        ('store = "/tmp"', "P211", "`store` leads out of the folder of its file"),
        ('store = "postgresql://u:secret@localhost/d"', "P211", "`store` holds a password"),
        ('store = "postgresql://db.example.org/d"', "P211", "sends what runs are given and come to to db.example.org"),
        ('store = "postgresql:///d?host=db.example.org"', "P211", "`store` does not name its host in its place"),
        ('store = "postgresql://localhost/d?hostaddr=1.2.3.4"', "P211", "`store` does not name its host in its place"),
        ('store = "postgresql://[x/d"', "P211", "`store` is a URL that cannot be read"),
        ('record = "no"', "P211", "`record` is true or false"),
        ("keep-days = 0", "P211", "`keep-days` is a number of days above 0"),
        ("keep-days = true", "P211", "`keep-days` is a number of days above 0"),
        ("keep-days = inf", "P211", "`keep-days` is a number of days above 0"),
        ("keep = 0", "P211", "`keep` is a whole number of runs from 1"),
        ("keep = 1.5", "P211", "`keep` is a whole number of runs from 1"),
        ("keep_days = 3", "P210", "there is no setting `keep_days`"),
    ],
)
def test_settings_that_are_wrong_are_told_at_their_place(text: str, code: str, said: str) -> None:
    Path("prose.toml").write_text(f"[runs]\n{text}\n")
    with pytest.raises(CheckError) as caught:
        where()
    assert caught.value.code == code
    assert said in caught.value.message
    assert caught.value.diagnostics[0].line == 2
    result = run()
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"error[{code}]" in result.stderr


def test_a_table_that_is_none() -> None:
    Path("prose.toml").write_text("runs = 3\n")
    with pytest.raises(CheckError, match="`runs` is a table"):
        where()


def test_a_link_does_not_lead_out_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    Path("link").symlink_to(tmp_path / "other")
    Path("prose.toml").write_text('[runs]\nstore = "link/runs"\n')
    with pytest.raises(CheckError, match="leads out"):
        where()


def test_a_database_that_a_file_names_is_here_or_trusted() -> None:
    def store(**environ: str) -> str:
        return location(Keeping(), Terminal(environ=environ)).store

    Path("prose.toml").write_text('[runs]\nstore = "postgresql://127.0.0.1:5432/runs"\n')
    assert store() == "postgresql://127.0.0.1:5432/runs"
    Path("prose.toml").write_text('[runs]\nstore = "postgresql://me@db.example.org/runs"\n')
    assert store(PROSE_ALLOW_HOSTS="a, db.example.org") == "postgresql://me@db.example.org/runs"


def test_the_password_of_a_url_is_not_shown() -> None:
    terminal = Terminal(environ={})
    location(Keeping(store="postgresql://me:s%65cret-word@localhost/x"), terminal)
    assert terminal.redactor.text("s%65cret-word or secret-word") == "[redacted] or [redacted]"


# --- what options mean -----------------------------------------------------------------------------------------------


def test_runs_are_recorded_unless_told_otherwise(tmp_path: Path) -> None:
    own = str(tmp_path / "data" / "prose" / "runs")
    assert run("-q").exit_code == 0
    assert recorded(own) == 1
    assert run("-q", "--no-record").exit_code == 0
    assert recorded(own) == 1
    Path("prose.toml").write_text("[runs]\nrecord = false\n")
    assert run("-q").exit_code == 0
    assert not os.path.exists(".prose")
    assert run("-q", "--record").exit_code == 0
    assert recorded(".prose/runs") == 1
    assert run("-q", "--store", "s").exit_code == 0
    assert recorded("s") == 1


def test_arguments_of_an_engine() -> None:
    terminal = Terminal(environ={})
    assert engine_arguments(Keeping(record=False), terminal) == {}
    found = engine_arguments(Keeping(durability="full", on_store_error="stop"), terminal)
    assert found == {
        "store": location(Keeping(), terminal).store, "durability": "full", "on_store_error": "stop", "cache": None
    }  # fmt: skip
    assert engine_arguments(Keeping(record=True), terminal)["store"].address.endswith("data/prose/runs")


@pytest.mark.parametrize("form", ["human", "json", "jsonl"])
def test_a_run_goes_on_where_it_cannot_be_recorded(form: str) -> None:
    Path("file").touch()
    result = run("--output", form, "-q", PROSE_STORE="file/runs")
    assert result.exit_code == 0
    assert result.stderr == (
        "warning[P501]: the run could not be recorded to its end: the run records in `file/runs` cannot be opened: "
        "not a directory\n"
    )
    assert (result.stdout if form == "human" else json.loads(result.stdout)["value"]) in ("1\n", 1)


def test_or_ends_if_told_so() -> None:
    Path("file").touch()
    result = run("--on-store-error", "stop", "--json", PROSE_STORE="file/runs")
    assert (result.exit_code, result.stderr) == (2, "")
    assert json.loads(result.stdout)["error"]["code"] == "P501"


@pytest.mark.parametrize("args", [("--record",), ("--store", "file/runs")])
def test_who_insists_on_a_record_gets_one_or_no_run(args: tuple[str, ...]) -> None:
    Path("file").touch()
    result = run(*args, PROSE_STORE="file/runs")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "error[P501] record-unreadable: the run records in `file/runs` cannot be opened: not a directory\n"
    )


def test_a_store_that_another_process_has_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("--store", "s", "-q").exit_code == 0
    monkeypatch.setitem(open_store.__kwdefaults__, "patience", 0.01)
    other = sqlite3.connect("s/runs.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    result = run("--store", "s", "-q")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[P503] run-in-use: the run records in `s` are locked by another process\n")
    other.close()


@pytest.mark.parametrize("content", [b"", b"not a database, and long enough to be read as one" * 50])
def test_a_store_that_is_none(content: bytes) -> None:
    Path("s").mkdir()
    Path("s/runs.sqlite").write_bytes(content)
    result = run("--store", "s", "-q")
    assert (result.exit_code, "error[P501]" in result.stderr) == ((2, True) if content else (0, False))


# --- what is kept how long -------------------------------------------------------------------------------------------

DAY = 86_400.0


def old_runs(folder: str, *days: float) -> None:
    """Runs that ended so many days ago."""
    store = open_store(folder)
    for number, ago in enumerate(days):
        at = time.time() - ago * DAY
        store.create(RunRecord(f"old{number}", "p", "{}", "{}", "{}", "", "", started=at), [])
        store.write([Finished(f"old{number}", "ok", "{}", at)])
    store.close()
    with closing(sqlite3.connect(f"{folder}/runs.sqlite", isolation_level=None)) as database:
        database.execute(
            "UPDATE sessions SET started = r.started, active = r.started FROM runs r WHERE r.number = sessions.run"
        )


def ids(folder: str) -> set[str]:
    return {record.id for record in open_store(folder, make=False).runs() if record.id.startswith("old")}


def test_a_project_is_tidied_once_a_day_if_it_says_so() -> None:
    Path("prose.toml").write_text("[runs]\nkeep-days = 10\n")
    old_runs(".prose/runs", 9, 11, 30)
    assert run("-q").exit_code == 0
    assert ids(".prose/runs") == {"old0"}
    old_runs(".prose/runs2", 30)
    os.rename(".prose/runs", ".prose/first")
    os.rename(".prose/runs2", ".prose/runs")
    Path(".prose/runs/tidied").touch()
    assert run("-q").exit_code == 0
    assert ids(".prose/runs") == {"old0"}  # it was tidied today
    os.utime(".prose/runs/tidied", (time.time() - 1.01 * DAY,) * 2)
    assert run("-q").exit_code == 0
    assert ids(".prose/runs") == set()


def test_the_latest_are_kept() -> None:
    Path("prose.toml").write_text("[runs]\nkeep = 3\n")
    old_runs(".prose/runs", 1, 2, 3, 4)
    assert run("-q").exit_code == 0
    assert ids(".prose/runs") == {"old0", "old1"}  # and the one that was recorded just now


@pytest.mark.parametrize("args", [("--store", "other"), ("--no-record",)])
def test_no_other_store_is_tidied(args: tuple[str, ...]) -> None:
    Path("prose.toml").write_text("[runs]\nkeep = 1\n")
    old_runs("other", 100, 200)
    old_runs(".prose/runs", 100, 200)
    assert run("-q", *args).exit_code == 0
    assert run("-q", PROSE_STORE="other").exit_code == 0
    assert ids("other") == ids(".prose/runs") == {"old0", "old1"}


def test_nothing_is_tidied_unless_settings_say_so() -> None:
    Path("prose.toml").touch()
    old_runs(".prose/runs", 1000)
    assert run("-q").exit_code == 0
    assert ids(".prose/runs") == {"old0"}
    assert not os.path.exists(".prose/runs/tidied")


def test_a_fault_of_tidying_is_no_fault_of_the_run() -> None:
    Path("prose.toml").write_text("[runs]\nkeep = 1\n")
    Path(".prose/runs/tidied").mkdir(parents=True)
    os.utime(".prose/runs/tidied", (0, 0))
    old_runs(".prose/runs", 3)
    with closing(sqlite3.connect(".prose/runs/runs.sqlite", isolation_level=None)) as database:
        database.execute("DROP TABLE attempts")
    result = run("-q")
    assert (result.exit_code, result.stdout) == (0, "1\n")
    assert result.stderr.startswith("warning: old runs were not taken away: the run records in `.prose/runs` cannot")
