"""`prose runs`: the list and what it is narrowed by, taking runs away by name, by age and by number."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from prose_lang.cli.main import cli
from prose_lang.cli.moments import moment, shown, span
from prose_lang.cli.run_list import STATUSES
from prose_lang.cli.runs import command
from prose_lang.journal import Begun, Cached, Ended, Entry, Finished, RunRecord, Store, open_store

DAY = 86_400.0
#: Runs with their patterns, statuses and how many days ago they began.
RUNS = [
    ("r1", "refine", "ok", 40.0),
    ("r2", "refine", "failed", 20.0),
    ("r3", "triage", "waiting", 3.0),
    ("r4", "triage", "running", 2.0),
    ("r5", "refine-twice", "running", 1.0),
    ("r6", "refine", "interrupted", 0.5),
]


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def prose(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["runs", *args], input=stdin)


@pytest.fixture
def store(alone: None) -> Store:
    """A store with these runs; r4 is at work, and the process of r5 has died."""
    made = open_store("s")
    for run, pattern, status, ago in RUNS:
        made.create(
            RunRecord(run, pattern, '{"name": "x", "path": null, "entry": ""}', "{}", "{}", "", "1.2",
                      started=time.time() - ago * DAY), []
        )  # fmt: skip
        call = Entry("delegation/0.call:w", "call", "w", state="value", result="1", attempts=2, usage="[1, 2, 0.5]")
        made.write([Begun(run, call._replace(state="started", result=None)), Ended(run, call)])
        if status != "running":
            outcome = '{"usage": {"calls": 2, "tokens_in": 1, "tokens_out": 2, "cost": 0.5}}'
            made.write([Finished(run, status, outcome, time.time())])
    with closing(sqlite3.connect("s/runs.sqlite", isolation_level=None)) as database:
        database.execute(
            "UPDATE sessions SET started = r.started, active = r.started + 60 FROM runs r WHERE r.number = sessions.run"
        )
    made.hold("r4")
    return made


def ids(*args: str) -> list[str]:
    result = prose("--store", "s", "--json", *args)
    assert (result.exit_code, result.stderr) == (0, "")
    return [run["run_id"] for run in json.loads(result.stdout)]


# --- the list --------------------------------------------------------------------------------------------------------


def test_the_table(store: Store) -> None:
    result = prose("--store", "s")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["run", "started", "pattern", "status", "calls", "cost", "took"]
    assert [line[0] for line in lines[1:]] == ["r6", "r5", "r4", "r3", "r2", "r1"]
    assert [line[-7] for line in lines[1:]] == ["interrupted", "interrupted", "running", "waiting", "failed", "ok"]
    assert lines[2][-8:] == ["refine-twice", "interrupted", "2", "$0.5000", "1", "min", "0", "s"]
    assert result.stderr == ""


def test_json(store: Store) -> None:
    found = json.loads(prose("--store", "s", "--json", "--limit", "2").stdout)
    assert [(run["run_id"], run["status"]) for run in found] == [("r6", "interrupted"), ("r5", "interrupted")]
    assert list(found[0]) == [
        "run_id", "pattern", "status", "started", "ended", "active", "seconds", "source", "usage", "version",
    ]  # fmt: skip
    assert (found[1]["ended"], found[1]["seconds"], found[1]["version"]) == (None, 60.0, "1.2")
    assert found[1]["usage"] == {"calls": 2, "tokens_in": 1, "tokens_out": 2, "cost": 0.5}


@pytest.mark.parametrize(
    ("args", "runs"),
    [
        ((), "r6 r5 r4 r3 r2 r1"),
        (("--pattern", "refine"), "r6 r5 r2 r1"),
        (("--pattern", "e%"), ""),
        (("--status", "ok"), "r1"),
        (("--status", "ok", "--status", "failed"), "r2 r1"),
        (("--status", "interrupted"), "r6 r5"),
        (("--status", "running"), "r4"),
        (("--status", "running", "--status", "waiting", "--limit", "1"), "r4"),
        (("--status", "interrupted", "--limit", "1"), "r6"),
        (("--since", "36h"), "r6 r5"),
        (("--until", "10d"), "r2 r1"),
        (("--since", "4d", "--until", "36h"), "r4 r3"),
        (("--limit", "3"), "r6 r5 r4"),
    ],
)
def test_what_the_list_is_narrowed_by(store: Store, args: tuple[str, ...], runs: str) -> None:
    assert ids(*args) == runs.split()


def test_the_statuses_of_the_option_are_all_there_are() -> None:
    (status,) = [option for option in command.params if option.name == "status"]
    assert isinstance(status.type, click.Choice)
    assert tuple(status.type.choices) == STATUSES


def test_more_than_are_listed(store: Store) -> None:
    result = prose("--store", "s", "--limit", "5")
    assert len(result.stdout.splitlines()) == 6
    assert result.stderr == "… and more; --limit 10 lists more of them\n"
    assert prose("--store", "s", "--limit", "6").stderr == ""


def test_none() -> None:
    for args in ((), ("-q",)):
        result = prose(*args)
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr == ("" if args else f"no run is recorded in `{Path.cwd()}/data/prose/runs`\n")
    assert prose("--json").stdout == "[]\n"
    assert not Path("data").exists()
    missing = prose("--store", "nowhere")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert missing.stderr == "error[P501] record-unreadable: there are no run records in `nowhere`\n"
    open_store("s").close()
    assert prose("--store", "s").stderr == "no run is recorded in `s`\n"
    assert prose("--store", "s", "--status", "ok").stderr == "no run like that is recorded in `s`\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--since", "soon"), "invalid value for '--since': 'soon' is not a time: 2026-05-17, 2026-05-17T14:30, or"),
        (("--until", "2026-02-30"), "invalid value for '--until': '2026-02-30' is not a time"),
        (("--limit", "0"), "invalid value for '--limit'"),
        (("--status", "great"), "invalid value for '--status'"),
        (("r1",), "`prose runs` has no `r1`, only rm and gc; one run is shown by `prose trace r1`"),
        (("--json", "gc"), "options of the list do not belong to `gc`"),
        (("rm",), "either name runs or take --all of them"),
        (("rm", "r1", "--all"), "either name runs or take --all of them"),
        (("gc", "--older-than", "old"), "'old' is not a span of time, such as 30d, 12h or 90m"),
    ],
)
def test_wrong_use(args: tuple[str, ...], said: str) -> None:
    result = prose(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert said in result.stderr


# --- taking away -----------------------------------------------------------------------------------------------------


def test_runs_are_taken_away_by_name(store: Store) -> None:
    result = prose("rm", "r1", "r3", "r3", "--store", "s")
    assert (result.exit_code, result.stdout, result.stderr.partition(",")[0].strip()) == (0, "", "2 runs taken away")
    assert prose("--store", "s", "rm", "latest", "-q").output == ""
    assert ids() == ["r5", "r4", "r2"]


def test_one_that_is_not_there_keeps_all(store: Store) -> None:
    result = prose("rm", "r1", "r9", "--store", "s")
    assert result.exit_code == 2
    assert "there is no record of the run `r9`" in result.stderr
    assert len(ids()) == 6


def test_one_at_work_stays(store: Store) -> None:
    result = prose("rm", "r4", "r1", "--store", "s")
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1] == "the run r4 stays: a process works on it"
    assert ids() == ["r6", "r5", "r4", "r3", "r2"]


def test_all_are_taken_away_if_somebody_says_so(store: Store) -> None:
    refused = prose("rm", "--all", "--store", "s", stdin="y\n")
    assert refused.exit_code == 2
    assert "error: --all takes away everything: add --yes" in refused.stderr
    assert len(ids()) == 6
    assert prose("rm", "--all", "--yes", "--store", "s").exit_code == 0
    assert ids() == ["r4"]
    assert prose("rm", "--all", "--yes").stderr.startswith("no run is recorded in ")


@pytest.mark.parametrize(
    ("args", "left"),
    [
        (("--older-than", "30d"), "r6 r5 r4 r3 r2"),
        (("--older-than", "36h"), "r6 r5 r4"),
        (("--older-than", "1h"), "r4"),
        (("--keep", "2"), "r6 r5 r4"),
        (("--keep", "0"), "r4"),
        (("--older-than", "10d", "--keep", "5"), "r6 r5 r4 r3"),
        (("--older-than", "100w", "--keep", "100"), "r6 r5 r4 r3 r2 r1"),
    ],
)
def test_what_is_old_goes(store: Store, args: tuple[str, ...], left: str) -> None:
    gone = [run for run in ("r1", "r2", "r3", "r4", "r5", "r6") if run not in left.split()]
    dry = prose("gc", "--dry-run", *args, "--store", "s")
    assert sorted(dry.stdout.split()) == gone
    assert len(ids()) == 6
    result = prose("gc", *args, "--store", "s")
    assert (result.exit_code, result.stdout) == (0, "")
    assert ids() == left.split()


def test_the_age_is_that_of_the_latest_sign_of_life(store: Store) -> None:
    store.reopen("r1")
    store.write([Finished("r1", "ok", "{}", time.time())])
    prose("gc", "--older-than", "10d", "--store", "s")
    assert "r1" in ids()
    assert "r2" not in ids()


def test_answers_of_that_age_go_too_and_so_does_what_nothing_refers_to(store: Store) -> None:
    for key, ago in (("old", 40.0), ("new", 1.0)):
        store.put_cached(Cached(key, "s", "{}", "1", None, time.time() - ago * DAY))
    digest = store.put_file(b"x" * 100_000)
    (path,) = [path for path in Path("s/files").rglob("*") if path.is_file()]
    os.utime(path, (0, 0))
    result = prose("gc", "--older-than", "30d", "--store", "s")
    assert result.stderr.startswith("1 run and 1 cached answer taken away, ")
    assert result.stderr.endswith(" freed\n")
    assert (store.cached("old"), store.cached("new") is None, path.exists()) == (None, False, False), digest


def test_settings_say_what_is_old_where_options_do_not(store: Store) -> None:
    assert prose("gc", "--store", "s").stderr.startswith("0 runs taken away")
    Path("prose.toml").write_text("[runs]\nkeep-days = 10\nkeep = 3\n")
    assert prose("gc", "--dry-run", "--store", "s").stdout.split() == ["r1", "r2", "r3"]
    assert prose("gc", "--dry-run", "--older-than", "30d", "--store", "s").stdout.split() == ["r1"]
    assert prose("gc").stderr == f"no run is recorded in `{Path.cwd()}/.prose/runs`\n"


# --- times -----------------------------------------------------------------------------------------------------------


def test_moments() -> None:
    day = moment("2026-05-17")
    assert moment("2026-05-17", end=True) - day in (82_800.0, 86_400.0, 90_000.0)  # where clocks are changed
    assert moment("2026-05-17T01:30") == moment("2026-05-17T01:30", end=True) == moment("2026-05-17 01:30:00")
    assert moment("2026-05-17T00:00:00+00:00") == 1_778_976_000.0
    assert abs(moment("2h") - (time.time() - 7_200)) < 5
    assert (span("1.5h"), span("2w"), span("10s")) == (5_400.0, 1_209_600.0, 10.0)
    for text in ("", "2", "d", "-1d", "2026", "99999-01-01"):
        with pytest.raises(click.BadParameter):
            moment(text) if text != "2" else span(text)


def test_how_moments_are_shown() -> None:
    noon = moment("2026-05-17T12:00")
    assert shown(noon, noon + 60) == "today 12:00"
    assert shown(noon, noon + DAY) == "yesterday 12:00"
    assert shown(noon, noon + 2 * DAY) == "2026-05-17 12:00"
    assert shown(noon, noon - 2 * DAY) == "2026-05-17 12:00"
