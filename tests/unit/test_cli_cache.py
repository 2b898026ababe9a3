"""`--cache` of `prose run`: what it says for people and for programs, and what it does not go together with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from model_server import ChatServer, chat_server, says

from prose_lang.cli.main import cli

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
let all = parallel repeat 2:
  return call writer
    who: who
return all
```
"""
RUN = ("run", "greet.prose.md", "writer=model:openai/small", "who=Ann", "--store", "kept")


@pytest.fixture(scope="module")
def _running() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


@pytest.fixture
def server(_running: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ChatServer:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "greet.prose.md").write_text(GREET, encoding="utf-8")
    (tmp_path / "prose.toml").write_text(f'[models.providers.openai]\nbase_url = "{_running.url}"\n', encoding="utf-8")
    _running.begin(always=says("Hello"))
    return _running


def prose(*arguments: str) -> Result:
    return CliRunner().invoke(cli, [*arguments])


def test_a_second_run_asks_nothing_and_says_so(server: ChatServer) -> None:
    first, second = (prose(*RUN, "--cache", "both", "--json") for _ in range(2))
    assert (first.exit_code, second.exit_code, len(server.requests)) == (0, 0, 2)
    plain = json.loads(second.stdout)
    assert plain["value"] == ["Hello", "Hello"]
    assert plain["usage"] == {"calls": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0, "cached": 2}
    assert [(call["attempts"], call["cached"]) for call in plain["calls"]] == [(0, True)] * 2
    assert "cached" not in json.loads(prose(*RUN, "--json").stdout)["usage"]


def test_what_a_person_is_told(server: ChatServer) -> None:
    prose(*RUN, "--cache", "write")
    told = prose(*RUN, "--cache", "read").stderr
    assert told.count(", from the cache)") == 2
    assert "0 calls, 2 from the cache, " in told
    assert prose(*RUN, "--cache", "read", "-v").stderr.count(", from the cache)") == 2


def test_the_record_says_so(server: ChatServer) -> None:
    for _ in range(2):
        prose(*RUN, "--cache", "both")
    run_id = json.loads(prose("runs", "--store", "kept", "--json").stdout)[0]["run_id"]
    told = prose("trace", run_id, "--store", "kept").stdout
    assert told.count(", from the cache)") == 2
    assert all(
        call["cached"] for call in json.loads(prose("trace", run_id, "--store", "kept", "--json").stdout)["calls"]
    )


def test_a_run_that_is_gone_on_with_may_take_from_it(server: ChatServer) -> None:
    prose(*RUN, "--cache", "both")
    stopped = json.loads(prose(*RUN, "--max-calls", "1", "--json").stdout)
    assert stopped["status"] == "limited"
    gone_on = prose("resume", stopped["run_id"], "writer=model:openai/small", "--store", "kept", "--max-calls", "9",
                    "--cache", "read", "--json")  # fmt: skip
    usage = json.loads(gone_on.stdout)["usage"]
    assert (usage["calls"], usage["cached"]) == (1, 2)  # one was under way when the limit ended the run


def test_events_say_it_too(server: ChatServer) -> None:
    prose(*RUN, "--cache", "both")
    events = [json.loads(line) for line in prose(*RUN, "--cache", "both", "--output", "jsonl").stdout.splitlines()]
    finished = [event for event in events if event["event"] == "call_finished"]
    assert [(event["attempts"], event["cached"]) for event in finished] == [(0, True)] * 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--cache", "all"], "'all' is not one of 'read', 'write', 'both'"),
        (["--cache", "both", "--no-record"], "--cache and --no-record exclude each other"),
        (["--cache", "both", "--cassette", "c.jsonl"], "--cache and --cassette exclude each other"),
    ],
)
def test_what_does_not_go_together(server: ChatServer, options: list[str], said: str) -> None:
    found = prose(*RUN[:-2], *options)
    assert found.exit_code == 2
    assert said in " ".join(found.stderr.split())
    assert server.requests == []


def test_a_cassette_that_is_left_alone_does(server: ChatServer) -> None:
    found = prose(*RUN, "--cache", "both", "--cassette", "c.jsonl", "--cassette-mode", "live", "--json")
    assert json.loads(found.stdout)["usage"]["cached"] == 0


def test_settings_that_record_nothing_do_not_keep_from_caching(server: ChatServer, tmp_path: Path) -> None:
    with (tmp_path / "prose.toml").open("a", encoding="utf-8") as file:
        file.write("\n[runs]\nrecord = false\n")
    for cached in (0, 2):
        assert json.loads(prose(*RUN[:-2], "--cache", "both", "--json").stdout)["usage"]["cached"] == cached
