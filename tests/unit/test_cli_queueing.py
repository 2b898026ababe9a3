"""`prose run --queue`, `--detach` and `prose worker` on the command line: what is refused, and what is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import click
import pytest
from servers import free_ports
from servers.temporal import TemporalServer

from prose_lang import Engine
from prose_lang.cli.main import cli
from prose_lang.cli.queueing import Queueing, hand_over
from prose_lang.cli.terminal import Terminal


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = cli.main([*words], standalone_mode=False)
    said = capsys.readouterr()
    return status, said.out, said.err


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROSE_TEMPORAL", raising=False)
    (tmp_path / "p.prose.md").write_text(
        "---\nname: p\nkind: pattern\n---\n\n### Delegation\n\n```prose\nreturn 1\n```\n"
    )
    return "p.prose.md"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--detach"], "--detach hands the run to the workers of a --queue NAME, and there is none"),
        (["--temporal", "h:1"], "--temporal says where the server of a --queue NAME is, and there is none"),
        (["--queue", "q", "--detach", "--script", "s.yaml"], "--detach and --script exclude each other"),
        (["--queue", "q", "--detach", "--cassette", "c"], "--detach and --cassette exclude each other"),
    ],
)
def test_options_that_do_not_go_together(
    program: str, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    status, out, err = run(capsys, "run", program, *words)
    assert (status, out) == (2, "")
    assert f"error: {said}" in err


def test_a_run_that_is_handed_over_has_no_events(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "run", program, "--queue", "q", "--detach", "--output", "jsonl")
    assert (status, json.loads(out)["error"]["message"]) == (2, "--detach has no events to print; use --output json")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--queue", "q", "--temporal", "nowhere"], "`nowhere` is no address of a Temporal server"),
        (["--queue", " "], "` ` cannot be the name of a queue"),
        (["--queue", "a/runs"], "`a/runs` ends in /runs, which is for whole runs"),
    ],
)
def test_what_cannot_be_a_server_or_a_queue(
    program: str, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    for command in (["run", program], ["worker"]):
        status, out, err = run(capsys, *command, *words)
        assert (status, out) == (2, "")
        assert f"error[P504] engine-unreachable: {said}" in err


def test_a_server_that_is_not_there_is_told_before_anything_runs(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("temporalio")
    address = f"127.0.0.1:{free_ports(1)[0]}"
    status, out, _ = run(capsys, "run", program, "--queue", "q", "--temporal", address, "--json")
    assert status == 2
    found = json.loads(out)
    assert (found["status"], found["error"]["code"]) == ("invalid", "P504")


def test_the_library_that_is_missing_is_named(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "temporalio" else find(name, *a))
    for command in (["run", program], ["worker"]):
        status, _, err = run(capsys, *command, "--queue", "q")
        assert status == 2
        assert "error[P504] engine-unreachable: Temporal cannot be reached: temporalio is not installed" in err
        assert "pip install 'openprose-lang[temporal]'" in err


def test_a_queue_without_a_worker_is_told(
    program: str, capsys: pytest.CaptureFixture[str], temporal_server: TemporalServer
) -> None:
    queue = f"empty-{uuid4().hex[:8]}"
    words = ["run", program, "--queue", queue, "--temporal", temporal_server.address]
    status, out, err = run(capsys, *words)
    assert (status, out) == (0, "1\n")
    assert f"no worker takes calls of the queue `{queue}` yet: `prose worker --queue {queue}` is one" in err
    assert run(capsys, *words, "-q") == (0, "1\n", "")


def test_a_run_is_handed_over_and_its_number_is_printed(
    program: str, capsys: pytest.CaptureFixture[str], temporal_server: TemporalServer, tmp_path: Path
) -> None:
    queue = f"detached-{uuid4().hex[:8]}"
    transport = Queueing(queue, temporal_server.address, detach=True).transport(Terminal())
    engine = Engine(store=tmp_path / "store", transport=transport)
    hand_over(engine, engine.load(program), {}, queue, "human", Terminal(), "my runs")
    said = capsys.readouterr()
    number = said.out.strip()
    assert engine.records is not None
    assert engine.records.store.run(number).status == "running"
    assert (
        f"handed to the workers of the queue `{queue}`: `prose trace {number} --store 'my runs'` shows how it goes"
        in said.err
    )
    hand_over(engine, engine.load(program), {}, queue, "json", Terminal())
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["status"] == "running"
    assert engine.records.store.run(found["run_id"]).status == "running"


def test_a_run_that_would_have_no_record_cannot_be_handed_over(program: str) -> None:
    engine = Engine()
    with pytest.raises(click.UsageError, match="a detached run is evaluated from its record, and none is kept"):
        hand_over(engine, engine.load(program), {}, "q", "human", Terminal())


def test_the_words_that_go_on_with_a_run() -> None:
    assert Queueing().words() == []
    assert Queueing("q", "h:1", "n", detach=True).words() == ["--queue", "q", "--temporal", "h:1", "--namespace", "n"]
