"""Models on the command line: slots and entries bound to them, limits, settings, the requests shown without sending."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from model_server import ChatServer, chat_server, gives, says

from prose_lang.cli.main import cli

SUMMARY = """\
---
name: summary
kind: function
---

### Parameters

- `topic`: string

### Returns

- `summary`: string

### Runtime

- model: fast
"""

NAMED = "let a = call helper\n  model: {model}\nreturn a\n"


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with chat_server() as made:
        yield made


@pytest.fixture
def prose(tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server.begin()
    Path("prose.toml").write_text(
        f'[models.aliases]\nfast = "openai/small"\n[models.providers.openai]\nbase_url = "{server.url}"\n'
        '[models.prices."openai/small"]\ninput = 1\noutput = 10\n'
    )
    Path("summary.prose.md").write_text(SUMMARY)
    return lambda *words: CliRunner().invoke(cli, list(words))


def shown(result: Result) -> Any:
    return json.loads(result.stdout)


def test_worker_and_critic_bound_to_models_just_work(prose: Callable[..., Result], server: ChatServer) -> None:
    server.begin(
        says("Roses"), gives(reason="it does not rhyme", verdict="reject"),
        says("Roses, noses"), gives(reason="it rhymes", verdict="accept"),
    )  # fmt: skip
    result = prose("run", "worker-critic", "worker=model:openai/small", "critic=model:openai/small",
                   "task_brief=Write a poem", "criteria=it rhymes", "--no-judge", "--json")  # fmt: skip
    found = shown(result)
    assert (result.exit_code, found["value"]) == (0, {"result": "Roses, noses", "attempts": 2})
    assert found["usage"] == {"calls": 4, "tokens_in": 400, "tokens_out": 40, "cost": pytest.approx(0.0008)}
    assert found["decisions"][0]["reason"] == 'verdict is "reject"'


def test_a_contract_is_run_by_the_model_that_its_tier_maps_to(prose: Callable[..., Result], server: ChatServer) -> None:
    result = prose("run", "summary.prose.md", "topic=rain")
    assert (result.exit_code, result.stdout) == (0, "fine\n")
    assert "1 call" in result.stderr
    assert "100 tokens in, 10 out, $0.0002" in result.stderr
    assert server.requests[0]["model"] == "small"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--max-tokens", "100"), "this call would go beyond what the run may spend: it may take "),
        (("--max-cost", "0.01"), "this call would go beyond what the run may spend: it may cost $0.04"),
        (("--max-cost", "1", "--model", "openai/unpriced"), "the price of this model is unknown"),
    ],
)
def test_a_limit_stops_a_call_before_it_is_made(
    prose: Callable[..., Result], server: ChatServer, words: tuple[str, ...], message: str
) -> None:
    if "openai/unpriced" in words:
        Path("summary.prose.md").write_text(SUMMARY.partition("### Runtime")[0])
    result = prose("run", "summary.prose.md", "topic=rain", *words, "--json")
    found = shown(result)
    assert (result.exit_code, found["status"], len(server.requests)) == (3, "limited", 0)
    assert found["error"]["message"].startswith(message)


def test_unknown_costs_are_said_to_be_unknown(prose: Callable[..., Result]) -> None:
    Path("summary.prose.md").write_text(SUMMARY.partition("### Runtime")[0])
    result = prose("run", "summary.prose.md", "topic=rain", "--model", "openai/unpriced")
    assert result.exit_code == 0
    assert "cost unknown" in result.stderr


def test_a_model_that_a_file_names_needs_to_be_allowed(prose: Callable[..., Result], server: ChatServer) -> None:
    file = SUMMARY.replace("model: fast", "model: openai/dear")
    Path("summary.prose.md").write_text(file)
    result = prose("run", "summary.prose.md", "topic=x", "--json")
    assert (result.exit_code, shown(result)["error"]["code"], len(server.requests)) == (2, "P410", 0)
    result = prose("run", "summary.prose.md", "topic=x", "--allow-model")
    assert (result.exit_code, server.requests[0]["model"]) == (0, "dear")


@pytest.mark.parametrize("value", ["0", "-1", "many"])
@pytest.mark.parametrize("option", ["--max-cost", "--max-tokens", "--timeout"])
def test_limits_that_are_none(prose: Callable[..., Result], option: str, value: str) -> None:
    result = prose("run", "summary.prose.md", "topic=x", option, value)
    assert result.exit_code == 2
    assert "is not a" in result.stderr


def test_faulty_settings_are_told_at_their_place(prose: Callable[..., Result]) -> None:
    Path("prose.toml").write_text('[models]\ndefault = "a/b"\nretires = 1\n')
    result = prose("run", "summary.prose.md", "topic=x")
    assert result.exit_code == 2
    assert "did you mean `retries`?" in result.stderr
    assert "prose.toml:3" in result.stderr
    assert "faulty settings: there is no setting `retires`" in prose("doctor").stdout


def test_doctor_shows_models_and_limits(prose: Callable[..., Result], server: ChatServer) -> None:
    text = prose("doctor").stdout
    assert "models     default none; fast = openai/small" in text
    assert f"openai at {server.url}" in text
    assert "limits     calls 1,000, tokens none, cost none, known cost $5, seconds 3,600, concurrency none" in text


def test_prompts_are_shown_and_not_sent(prose: Callable[..., Result], server: ChatServer) -> None:
    result = prose("show", "worker-critic", "--prompt", "task_brief=Write.", "criteria=c", "--json")
    first, second = shown(result)
    assert first["messages"][1]["content"] == "=====[ task_brief: text ]\nWrite.\n=====[ end of task_brief ]"
    assert "(the answer to request 1)" in second["messages"][1]["content"]
    assert second["schema"]["properties"]["verdict"]["enum"] == ["accept", "reject"]
    text = prose("show", "summary.prose.md", "--prompt", "topic=rain").stdout
    assert text.startswith("request 1: openai/small\n\n--- system\nYour part is `summary`.")
    assert server.requests == []
    sent = prose("run", "summary.prose.md", "topic=rain")
    assert sent.exit_code == 0
    for message in server.requests[0]["messages"]:
        assert message["content"] in text, "what is shown is what is sent"
    result = prose("show", "summary.prose.md", "--prompt")
    assert (result.exit_code, "the input `topic` is missing" in result.stderr) == (2, True)
    assert prose("show", "worker-critic", "a=b").exit_code == 2
