"""`prose judge-check`: what is asked and shown, and the exit status."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from model_server import ChatServer, chat_server, fails, gives, says

from prose_lang.cli.main import cli

TABLE = """\
- condition: verdict accepts result
  values: {verdict: "Fine by me", result: "x"}
  expected: true
- condition: verdict accepts result
  values: {verdict: "Not yet", result: "x"}
  expected: false
- condition: score meets 1
  values: {score: 2}
  expected: true
"""
YES = {"holds": True, "reason": "it says so"}
MODEL = ("--judge", "model:openai/small")


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with chat_server() as made:
        yield made


@pytest.fixture
def prose(tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server.begin()
    Path("prose.toml").write_text(
        f'[models.providers.openai]\nbase_url = "{server.url}"\n'
        '[models.prices."openai/small"]\ninput = 1\noutput = 10\n'
    )
    Path("t.yaml").write_text(TABLE)
    return lambda *words: CliRunner().invoke(cli, ["judge-check", *words])


def script(first: bool, second: bool) -> tuple[str, str, str, str]:
    replies = [{"holds": first, "reason": "one"}, {"holds": second, "reason": "two"}]
    Path("s.yaml").write_text(json.dumps({"referee": replies}))
    return ("--script", "s.yaml", "--judge", "referee")


def test_full_agreement(prose: Callable[..., Result]) -> None:
    result = prose("t.yaml", *script(True, False))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "3 cases",
        "  by rules      1, of which 1 as expected; nobody was asked",
        "  by the judge  2, of which 2 as expected: 100.0 %",
        "  used          2 calls, 0 tokens in, 0 out, $0.0000",
    ]
    assert prose("t.yaml", *script(True, False), "-q").stdout == "\n"
    told = prose("t.yaml", *script(True, False), "-v").stdout.splitlines()
    assert told[2] == "agrees t.yaml:7 “score meets 1”: (phrase) 2 >= 1"


def test_a_disagreement_has_its_reason_and_the_percentage_decides(prose: Callable[..., Result]) -> None:
    result = prose("t.yaml", *script(True, True))
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0] == "disagrees t.yaml:4 “verdict accepts result”: false is expected, and the judge says true: two"
    assert lines[-1] == "the judge agrees in 50.0 % of what it was asked, and 90 % are wanted"
    assert prose("t.yaml", *script(True, True), "--min", "50").exit_code == 0
    found = json.loads(prose("t.yaml", *script(True, True), "--min", "51", "--json").stdout)
    assert (found["agrees"], found["percent"], found["rules"]) == (False, 50.0, {"cases": 1, "agree": 1})
    assert [case["layer"] for case in found["cases"]] == ["judge", "judge", "phrase"]


def test_a_rule_that_disagrees_is_excused_by_no_percentage(prose: Callable[..., Result]) -> None:
    Path("t.yaml").write_text("- {condition: score meets 1, values: {score: 2}, expected: false}\n")
    result = prose("t.yaml", "--min", "0")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == (
        "disagrees t.yaml:1 “score meets 1”: false is expected, and the rule (phrase) says true: 2 >= 1"
    )


def test_a_table_of_rules_needs_no_judge(prose: Callable[..., Result]) -> None:
    Path("t.yaml").write_text("- {condition: score meets 1, values: {score: 2}, expected: true}\n")
    result = prose("t.yaml")
    assert (result.exit_code, result.stdout) == (
        0, "1 case\n  by rules      1, of which 1 as expected; nobody was asked\n",
    )  # fmt: skip


def test_a_model_is_told_with_the_version_of_its_prompt(prose: Callable[..., Result], server: ChatServer) -> None:
    server.begin(always=gives(**YES))
    result = prose("t.yaml", *MODEL)
    assert result.exit_code == 1
    assert "  by the judge  2, of which 1 as expected: 50.0 % (openai/small, prompt judge-1)" in result.stdout
    assert "2 calls, 200 tokens in, 20 out, $0.0004" in result.stdout
    assert len(server.requests) == 2


def test_no_usable_answer_is_no_agreement(prose: Callable[..., Result], server: ChatServer) -> None:
    server.begin(always=says("Well …"))
    result = prose("t.yaml", *MODEL)
    assert result.exit_code == 1
    assert "true is expected, and there is no answer: P402: `model:openai/small` was to decide" in result.stdout
    assert len(server.requests) == 4  # each once more


def test_what_keeps_it_from_being_done(prose: Callable[..., Result], server: ChatServer) -> None:
    result = prose("t.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error[P403]" in result.stderr
    result = prose("t.yaml", *MODEL, "--max-cost", "0.000001")
    assert (result.exit_code, "error[P405]" in result.stderr, server.requests) == (3, True, [])
    server.begin(always=fails(401))
    result = prose("t.yaml", *MODEL)
    assert (result.exit_code, "error[P410]" in result.stderr) == (2, True)
    for words in ((), ("t.yaml", "--builtin"), ("t.yaml", "--min", "101"), ("t.yaml", "--min", "nan"),
                  ("t.yaml", "--cassette-mode", "record"), ("none.yaml",)):  # fmt: skip
        result = prose(*words)
        assert (result.exit_code, result.stdout) == (2, ""), words
    Path("t.yaml").write_text("- {condition: a}\n")
    assert "t.yaml:1" in prose("t.yaml").stderr


def test_the_shipped_table_is_recorded_and_replayed(
    prose: Callable[..., Result], server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.begin(always=gives(**YES))
    recorded = prose("--builtin", *MODEL, "--cassette", "c.jsonl", "--cassette-mode", "record")
    assert (recorded.exit_code, len(server.requests)) == (1, 42)
    monkeypatch.setenv("PROSE_NO_LIVE_CALLS", "1")
    replayed = prose("--builtin", *MODEL, "--cassette", "c.jsonl")
    assert (replayed.exit_code, replayed.stdout, len(server.requests)) == (1, recorded.stdout, 42)
    assert "42, of which 19 as expected: 45.2 %" in replayed.stdout
