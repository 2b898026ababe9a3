"""`--cassette` of `prose run` and `prose test`, and the switch that keeps every model from being asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from model_server import ChatServer, chat_server, gives, says

from prose_lang.cli.main import cli

RUN = ("run", "worker-critic", "worker=model:openai/small", "critic=model:openai/small", "task_brief=Write a poem",
       "criteria=it rhymes", "--json")  # fmt: skip
KEY = "marker-0123456789-key"

GREET = """---
name: greet
kind: pattern
---

### Slots

- `writer`: greets

### Requires

- Pattern instance receives:
    who: string -- whom

### Delegation

```prose
return call writer
  who: who
```
"""
TESTS = """---
kind: test
subject: greet
---

### Fixtures

- `writer`: helper

## greets Ann

### Fixtures

- `who`: Ann

### Expects

- the result is a greeting of Ann

## greets Ben

### Fixtures

- `who`: Ben

### Expects

```yaml
value: Hello Ben
```
"""
SERVICES = """
import prose_lang as prose

def note(what):
    with open("asked.txt", "a") as file:
        file.write(what + chr(10))

@prose.service
def helper(who: str) -> str:
    note(who)
    return "Hello " + who

@prose.service
def referee(condition: str, values: dict) -> dict:
    note("referee")
    return {"holds": True, "reason": "it is"}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with chat_server() as made:
        yield made


@pytest.fixture
def prose(tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    Path("prose.toml").write_text(f'[models.providers.openai]\nbase_url = "{server.url}"\n')
    return lambda *words: CliRunner().invoke(cli, list(words))


def test_a_run_is_recorded_and_replayed_without_a_request(
    prose: Callable[..., Result], server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.begin(says(f"Roses {KEY}"), gives(reason="it rhymes", verdict="accept"))
    recorded = prose(*RUN, "--cassette", "c.jsonl", "--cassette-mode", "record")
    assert (recorded.exit_code, len(server.requests)) == (0, 2)
    assert KEY not in Path("c.jsonl").read_text() + recorded.output
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("PROSE_NO_LIVE_CALLS", "1")
    replayed = prose(*RUN, "--cassette", "c.jsonl")
    assert (replayed.exit_code, len(server.requests)) == (0, 2)
    first, second = json.loads(recorded.stdout), json.loads(replayed.stdout)
    assert second["value"] == {"result": "Roses [redacted]", "attempts": 1} == first["value"]
    for call in (*first["calls"], *second["calls"]):
        del call["seconds"]
    assert first["calls"] == second["calls"]
    missed = prose(*(word.replace("poem", "story") for word in RUN), "--cassette", "c.jsonl")
    error = json.loads(missed.stdout)["error"]
    assert (missed.exit_code, error["code"], error["service"]) == (1, "P409", "model:openai/small")
    assert error["hint"].splitlines()[-3:-1] == [  # the last one is the command that goes on with the run
        "- messages[1].content| Write a poem", "+ messages[1].content| Write a story",
    ]  # fmt: skip


def test_wrong_uses(prose: Callable[..., Result], server: ChatServer) -> None:
    server.begin()
    for words, said in (
        (("--cassette", "none.jsonl"), "there is no cassette `none.jsonl`"),
        (("--cassette-mode", "record"), "and there is none"),
        (("--cassette", "c", "--cassette-mode", "tape"), "'tape' is not one of 'live', 'record', 'replay'"),
    ):
        result = prose(*RUN, *words)
        assert (result.exit_code, said in result.output, server.requests) == (2, True, [])


def test_no_live_calls(prose: Callable[..., Result], server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.begin()
    monkeypatch.setenv("PROSE_NO_LIVE_CALLS", "1")
    result = prose(*RUN)
    error = json.loads(result.stdout)["error"]
    assert (result.exit_code, error["code"], server.requests) == (2, "P410", [])
    assert "live calls of models are switched off (PROSE_NO_LIVE_CALLS is set)" in error["message"]
    shown = prose("show", "worker-critic", "--prompt", "task_brief=Write.", "criteria=c")
    assert (shown.exit_code, "Write." in shown.stdout) == (0, True), "what is shown is not sent"
    assert "PROSE_NO_LIVE_CALLS" in prose("doctor").stdout


def test_scenarios_are_recorded_and_replayed(prose: Callable[..., Result]) -> None:
    Path("greet.prose.md").write_text(GREET)
    Path("greet.test.prose.md").write_text(TESTS)
    Path("mine.py").write_text(SERVICES)
    words = ("test", "--services", "mine.py", "--judge", "referee", "--cassette", "c.jsonl")
    assert "there is no cassette" in prose(*words).stderr
    recorded = prose(*words, "--cassette-mode", "record")
    assert (recorded.exit_code, "2 passed" in recorded.stdout) == (0, True)
    asked = Path("asked.txt").read_text()
    assert asked == "Ann\nreferee\nBen\n"
    replayed = prose(*words, "-v")
    assert (replayed.exit_code, Path("asked.txt").read_text()) == (0, asked)
    assert "passed (judge)  the result is a greeting of Ann: it is" in replayed.stdout
    takes = [json.loads(line) for line in Path("c.jsonl").read_text().splitlines()]
    assert [(take["part"], take["service"]) for take in takes] == [
        ("greet.test.prose.md::greets Ann", "helper"),
        ("greet.test.prose.md::greets Ann", "referee"),
        ("greet.test.prose.md::greets Ben", "helper"),
    ]
    Path("greet.test.prose.md").write_text(TESTS.replace("`who`: Ben", "`who`: Bob"))
    missed = prose(*words)
    assert (missed.exit_code, Path("asked.txt").read_text()) == (1, asked)
    assert "- inputs.who: Ben" in missed.stdout
    assert "+ inputs.who: Bob" in missed.stdout
