"""A key appears nowhere: not in what is printed in any form, not in tracebacks, not in files."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from model_server import Behaviour, ChatServer, chat_server, fails, says, sends

import prose_lang as prose
from prose_lang import Engine, ModelSettings, Outcome, ProseError, Provider
from prose_lang.cli.main import cli

MARKER = "MARKER-of-a-key-0123456789"

pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with chat_server() as made:
        yield made


@pytest.fixture
def project(tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("prose_lang.handlers.again.FIRST_PAUSE", 0.01)
    # A name that looks like no key at all: it is the settings that say what it holds.
    (tmp_path / "prose.toml").write_text(f'[models.providers.openai]\nbase_url = "{server.url}"\nkey = "ENTRANCE"\n')
    monkeypatch.setenv("ENTRANCE", MARKER)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path


ECHOES: list[Behaviour] = [
    fails(401, "Incorrect API key provided: {key}"),
    fails(400, "bad header {key}"),
    fails(500, "crashed with {key} in hand"),
    fails(429, "slow down, {key}", Retry_After="0"),
    sends(f'{{"error": "{MARKER}"'.encode()),
    says(f"the key is {MARKER}", finish="length"),
    says(None, refusal=f"not for {MARKER}"),
    says(f"the key is {MARKER}"),
]


def prose_run(*words: str) -> Result:
    names = ["worker=model:openai/m", "critic=model:openai/m", "task_brief=x", "criteria=y"]
    env = {"ENTRANCE": MARKER}
    return CliRunner().invoke(cli, ["run", "worker-critic", *names, *words], env=env)


@pytest.mark.parametrize("behaviour", ECHOES)
def test_no_output_of_a_run_holds_the_key(project: Path, server: ChatServer, behaviour: Behaviour) -> None:
    for words in (("--json",), ("--output", "jsonl"), ("-vv",), ()):
        server.begin(always=behaviour)
        result = prose_run(*words)
        assert server.requests, "it was asked"
        assert result.exit_code == 1
        assert MARKER not in result.output + result.stderr
        assert ("[redacted]" in result.output + result.stderr) or behaviour not in ECHOES[:4]
        assert result.exception is None or isinstance(result.exception, SystemExit)
    for file in project.rglob("*"):
        if file.is_file():
            assert MARKER not in file.read_text("utf-8", "replace")


def test_other_commands_name_it_only(project: Path) -> None:
    for words in (
        ["doctor"],
        ["doctor", "--json"],
        ["show", "worker-critic", "--prompt", "task_brief=x", "criteria=y"],
    ):
        result = CliRunner().invoke(cli, words, env={"ENTRANCE": MARKER})
        assert result.exit_code == 0
        assert MARKER not in result.output
    assert "ENTRANCE" in CliRunner().invoke(cli, ["doctor"]).output


@pytest.mark.parametrize("behaviour", ECHOES[:5])
def test_no_traceback_of_the_api_holds_the_key(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour
) -> None:
    monkeypatch.setattr("prose_lang.handlers.again.FIRST_PAUSE", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", MARKER)
    server.begin(always=behaviour)
    engine = Engine(models=ModelSettings(providers={"openai": Provider(base_url=server.url)}))
    loaded = engine.loads("---\nname: t\nkind: pattern\n---\n\n### Slots\n\n- `w`\n\n### Delegation\n\n"
                          "```prose\ncall w\n```\n")  # fmt: skip
    with pytest.raises(ProseError) as caught:
        loaded.run(w=prose.ref("model:openai/m"))
    assert MARKER not in everything(caught.value)
    assert caught.value.__cause__ is not None
    outcome: Outcome = caught.value.outcome
    assert MARKER not in json.dumps(outcome.as_json())

    async def again() -> str:
        try:
            await loaded.arun(w=prose.ref("model:openai/m"))
        except ProseError as error:
            return everything(error)
        raise AssertionError("it fails")

    assert MARKER not in asyncio.run(again())


def everything(error: BaseException) -> str:
    """The error as Python shows it, with all that hangs on it."""
    seen: list[str] = []
    waiting: list[Any] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None:
            seen += [*traceback.format_exception(one), repr(one), repr(vars(one))]
            waiting += [one.__cause__, one.__context__]
    return "".join(seen)
