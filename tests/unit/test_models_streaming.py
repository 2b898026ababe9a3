"""Streaming: the outcomes, errors and numbers of requests are those of whole answers; only that somebody hears them
come."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from model_server import Behaviour, ChatServer, Exchange, chat_server, fails, gives, never_answers, says
from model_stream import breaks_after, end, piece, sends_events, streams

import prose_lang as prose
from prose_lang import Engine, ModelSettings, Outcome, Price, Provider, TextDelta
from prose_lang.cli.main import cli

pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the .* attribute on the instance is deprecated"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]

KEY = "sk-marker-0123456789"
TEXT = "return call writer\n  topic: 1"
SCORE = "let found = call writer\n  topic: 1\nif found.score meets 0.5:\n  return found\nreturn found"


@pytest.fixture(scope="module")
def _running() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


@pytest.fixture
def server(_running: ChatServer, monkeypatch: pytest.MonkeyPatch) -> ChatServer:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("prose_lang.handlers.again.FIRST_PAUSE", 0.02)
    _running.begin()
    return _running


class Heard:
    """An observer that keeps the pieces."""

    def __init__(self) -> None:
        self.deltas: list[TextDelta] = []

    def __call__(self, event: Any) -> None:
        if isinstance(event, TextDelta):
            self.deltas.append(event)

    @property
    def texts(self) -> list[tuple[int, str]]:
        return [(delta.request, delta.text) for delta in self.deltas]


def engine_of(server: ChatServer, **options: Any) -> Engine:
    settings = ModelSettings(
        providers={"openai": Provider(base_url=server.url)}, prices={"openai/m": Price(input=1.0, output=10.0)}
    )
    return Engine(models=settings, **options)


def loaded(engine: Engine, body: str) -> Any:
    return engine.loads(
        f"---\nname: t\nkind: pattern\n---\n\n### Slots\n\n- `writer`\n\n### Delegation\n\n```prose\n{body}\n```\n"
    )


def run(
    server: ChatServer, *script: Behaviour, body: str = TEXT, stream: bool = True, always: Behaviour | None = None
) -> tuple[Outcome, Heard]:
    server.begin(*script, always=always)
    heard = Heard()
    engine = engine_of(server, observers=[heard], stream=stream)
    return engine.outcome(loaded(engine, body), {"writer": prose.ref("model:openai/m")}), heard


def told(outcome: Outcome) -> tuple[str, str | None]:
    return outcome.status, outcome.error.code if outcome.error else None


def test_pieces_are_heard_and_the_outcome_is_that_of_the_whole(server: ChatServer) -> None:
    outcome, heard = run(server, streams("  a ", "po", "em\n"))
    assert (outcome.value, told(outcome)) == ("a poem", ("ok", None))
    assert heard.texts == [(1, "  a "), (1, "po"), (1, "em\n")]
    assert {(delta.number, delta.address, delta.service) for delta in heard.deltas} == {
        (1, "delegation/0.call:writer", "model:openai/m")
    }
    assert outcome.usage.as_json() == {"calls": 1, "tokens_in": 100, "tokens_out": 10, "cost": 0.0002}
    (request,) = server.requests
    assert (request["stream"], request["stream_options"]) == (True, {"include_usage": True})
    with pytest.raises(AttributeError):
        heard.deltas[0].text = "x"  # type: ignore[misc]


def test_nothing_is_streamed_where_nobody_listens(server: ChatServer) -> None:
    outcome, heard = run(server, says("whole"), stream=False)
    assert (outcome.value, heard.texts, "stream" in server.requests[0]) == ("whole", [], False)
    server.begin(says("whole"))
    engine = engine_of(server, stream=True)
    assert engine.outcome(loaded(engine, TEXT), {"writer": prose.ref("model:openai/m")}).value == "whole"
    assert "stream" not in server.requests[0]


def test_tokens_that_nobody_counted_are_unknown(server: ChatServer) -> None:
    outcome, _ = run(server, streams("a", usage=None))
    assert outcome.usage.as_json() == {"calls": 1, "tokens_in": 0, "tokens_out": 0, "cost": None}


def test_an_object_is_read_when_it_is_whole(server: ChatServer) -> None:
    outcome, heard = run(server, streams('{"sco', 're": 0.7', "5}"), body=SCORE)
    assert outcome.value == {"score": 0.75}
    assert "response_format" in server.requests[0]
    assert [text for _, text in heard.texts] == ['{"sco', 're": 0.7', "5}"]


def test_a_broken_object_is_asked_for_again(server: ChatServer) -> None:
    outcome, heard = run(server, streams("Here: ", '{"score": 1}'), streams('{"score": 1}'), body=SCORE)
    assert (outcome.value, len(server.requests)) == ({"score": 1}, 2)
    assert heard.texts == [(1, "Here: "), (1, '{"score": 1}'), (2, '{"score": 1}')]


def test_a_connection_that_is_reset_once(server: ChatServer) -> None:
    outcome, heard = run(server, breaks_after("half "), streams("whole"))
    assert (outcome.value, len(server.requests)) == ("whole", 2)
    assert heard.texts == [(1, "half "), (2, "whole")]
    assert outcome.usage.as_json() == {"calls": 2, "tokens_in": 100, "tokens_out": 10, "cost": None}


@pytest.mark.parametrize(
    ("behaviour", "code", "requests", "answer"),
    [
        (breaks_after("half ", "a word"), "P406", 3, "half a word"),
        (sends_events(piece("half")), "P406", 3, "half"),  # closed without a word of an end
        (sends_events(piece("half"), b"data: {broken\n\n"), "P406", 3, "half"),
        (
            sends_events(piece("half"), b'data: {"error": {"message": "overloaded", "code": 503}}\n\n'),
            "P406",
            3,
            "half",
        ),
        (streams("cut off", finish="length"), "P407", 1, "cut off"),
        (streams("no", finish="content_filter"), "P406", 1, "no"),
        (sends_events(*end()), "P404", 3, None),  # empty
        (fails(500), "P406", 3, None),
        (fails(429), "P406", 3, None),
        (fails(400, "no such thing"), "P406", 1, None),
        (fails(401, "wrong key"), "P410", 1, None),
    ],
    ids=["reset", "closed", "bad-event", "error-event", "length", "filter", "empty", "500", "429", "400", "401"],
)
def test_what_goes_wrong(
    server: ChatServer, behaviour: Behaviour, code: str, requests: int, answer: str | None
) -> None:
    outcome, _ = run(server, always=behaviour)
    assert (told(outcome), len(server.requests)) == (("failed", code), requests)
    error = outcome.trace.calls[0].error
    assert error is not None
    assert error.get("answer") == answer


SLOW: list[tuple[str, Behaviour, str | None]] = [
    ("first-byte", never_answers, None),
    ("first-event", streams("late", first=5.0), None),
    ("between-events", streams("a ", "b ", *["c "] * 100, gap=0.1), "a b "),
]


@pytest.mark.parametrize(("behaviour", "begins"), [row[1:] for row in SLOW], ids=[row[0] for row in SLOW])
def test_the_time_of_a_call_bounds_its_stream(server: ChatServer, behaviour: Behaviour, begins: str | None) -> None:
    run(server, streams("warm"))  # litellm is imported
    began = time.monotonic()
    outcome, _ = run(server, always=behaviour, body=f"{TEXT}\n  timeout: 0.6")
    assert time.monotonic() - began < 2.5
    assert (told(outcome), len(server.requests)) == (("failed", "P408"), 1)
    error = outcome.trace.calls[0].error
    assert error is not None
    assert (error.get("answer") or "").startswith(begins or "")
    assert ("answer" in error) == (begins is not None)


def test_cancelling_a_run_closes_the_connection(server: ChatServer) -> None:
    gone = threading.Event()
    third = asyncio.Event()
    heard = Heard()

    def drips(exchange: Exchange) -> None:
        try:
            streams(*["more "] * 400, gap=0.02)(exchange)
        except OSError:
            gone.set()
            raise

    def watch(event: Any) -> None:
        heard(event)
        if len(heard.deltas) == 3:
            third.set()

    server.begin(always=drips)
    engine = engine_of(server, observers=[watch], stream=True)
    pattern = loaded(engine, TEXT)

    async def cancelled() -> None:
        nonlocal third
        third = asyncio.Event()
        task = asyncio.create_task(pattern.arun(writer=prose.ref("model:openai/m")))
        await asyncio.wait_for(third.wait(), 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert gone.wait(4)  # the server met a closed connection long before its 8 s were over


def test_a_server_that_does_not_stream(server: ChatServer) -> None:
    server.begin(always=says("whole"))
    heard = Heard()
    engine = engine_of(server, observers=[heard], stream=True)
    pattern, slot = loaded(engine, TEXT), {"writer": prose.ref("model:openai/m")}
    assert [engine.outcome(pattern, slot).value for _ in range(2)] == ["whole", "whole"]
    assert ([request.get("stream", False) for request in server.requests], heard.texts) == ([True, False, False], [])


def test_a_server_that_refuses_to_stream(server: ChatServer) -> None:
    outcome, _ = run(server, fails(400, "unknown parameter: stream_options"), says("whole"))
    assert (outcome.value, [request.get("stream", False) for request in server.requests]) == ("whole", [True, False])
    assert outcome.usage.cost == 0.0002


def test_no_key_in_an_error_in_mid_stream(server: ChatServer) -> None:
    def repeats_the_key(exchange: Exchange) -> None:
        said = {"error": {"message": f"bad {exchange.headers['Authorization']}", "code": 500}}
        sends_events(piece("half"), b"data: " + json.dumps(said).encode() + b"\n\n")(exchange)

    outcome, _ = run(server, always=repeats_the_key)
    assert outcome.error is not None
    assert "marker" not in json.dumps(outcome.as_json()) + outcome.error.render() + repr(outcome.error.__cause__)


def test_a_conversation_that_outgrows_its_model(server: ChatServer) -> None:
    body = 'agent poet:\n  persist: true\nsession: poet\n  prompt: "a"\nresume: poet\n  prompt: "b"\n'
    said = "This model's maximum context length is 10 tokens. However, your messages resulted in 20 tokens."
    for behaviour, code in ((fails(400, said), "P406"), (says("cut", finish="length"), "P407")):
        server.begin(says("first"), always=behaviour)
        engine = engine_of(server, model="openai/m")
        outcome = engine.outcome(engine.loads(body), {})
        assert (told(outcome), len(server.requests)) == (("failed", code), 2)
        assert outcome.error is not None
        assert outcome.error.hint == (
            "1 earlier turn was sent along: begin anew with `session:` and a summary as its `context`, or choose a "
            "model that takes more"
        )
    server.begin(always=fails(400, said))
    engine = engine_of(server, model="openai/m")
    assert engine.outcome(engine.loads('session "x"'), {}).error.hint == "send less, or choose a model that takes more"  # type: ignore[union-attr]


def test_a_fast_and_a_whole_answer_are_one(server: ChatServer) -> None:
    streamed, _ = run(server, streams(*'{"score": 1}'), body=SCORE)
    whole, _ = run(server, gives(score=1), body=SCORE, stream=False)
    assert streamed.value == whole.value
    assert streamed.usage.as_json() == whole.usage.as_json()


# --- on the command line ---------------------------------------------------------------------------------------------


def cli_run(server: ChatServer, tmp_path: Any, *words: str) -> Any:
    (tmp_path / "prose.toml").write_text(f'[models.providers.openai]\nbase_url = "{server.url}"\n')
    program = tmp_path / "t.prose"
    program.write_text('agent poet:\n  persist: project\nreturn session: poet\n  prompt: "Moss"\n')
    env = {"OPENAI_API_KEY": KEY}
    return CliRunner().invoke(cli, ["run", "-", "--model", "openai/m", *words], input=program.read_text(), env=env)


def test_events_tell_the_text_under_v_only(server: ChatServer, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    server.begin(streams("Moss ", "is gr", "een. ", KEY[:6], KEY[6:]), always=says("whole"))
    result = cli_run(server, tmp_path, "--output", "jsonl", "-v")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["text"] for event in events if event["event"] == "text"] == ["Moss ", "is ", "green. ", "[redacted]"]
    assert events[-1]["value"] == "Moss is green. [redacted]"
    for words in (("--output", "jsonl"), ("--json",), ("-v",), ()):
        assert "whole" in cli_run(server, tmp_path, *words).stdout
    assert [request.get("stream", False) for request in server.requests] == [True, False, False, False, False]
    kept = (tmp_path / ".prose/agents/poet.json").read_text()
    assert "whole" in kept
    assert "marker" not in kept
