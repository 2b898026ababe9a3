"""Models through litellm, against a server on this machine that misbehaves (L32, L33, L34): what comes of it, and after
exactly how many requests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from model_server import (
    Behaviour,
    ChatServer,
    breaks_off,
    chat_server,
    drips,
    fails,
    gives,
    never_answers,
    resets,
    says,
    sends,
)

import prose_lang as prose
from prose_lang import Engine, Limits, ModelSettings, Outcome, Price, Provider, Quota

pytestmark = [
    # litellm makes its request in a thread, and drops it where the call is cancelled meanwhile.
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]

KEY = "sk-marker-0123456789"
TEXT = "return call writer\n  topic: topic"
CRITIC = "let verdict = call critic\n  output: topic\nif verdict.score meets 0.5:\n  return verdict\nreturn verdict"


@pytest.fixture(scope="module")
def _running() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


@pytest.fixture
def server(_running: ChatServer, monkeypatch: pytest.MonkeyPatch) -> ChatServer:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("prose_lang.handlers.again.FIRST_PAUSE", 0.02)
    _running.begin()
    return _running


def engine_of(server: ChatServer, **options: Any) -> Engine:
    settings = ModelSettings(
        providers={"openai": Provider(base_url=server.url)},
        prices={"openai/m": Price(input=1.0, output=10.0)},
        **options.pop("settings", {}),
    )
    return Engine(models=settings, **options)


def pattern(body: str) -> str:
    slots = "\n".join(f"- `{name}`" for name in ("writer", "critic") if f"call {name}" in body)
    return (
        f"---\nname: t\nkind: pattern\n---\n\n### Slots\n\n{slots}\n\n### Requires\n\n- `topic`: (optional) what\n\n"
        f"### Delegation\n\n```prose\n{body}\n```\n"
    )


def run(server: ChatServer, *script: Behaviour, body: str = TEXT, topic: Any = "rain", **options: Any) -> Outcome:
    always = options.pop("always", None)
    server.begin(*script, always=always)
    engine = engine_of(server, **options)
    loaded = engine.loads(pattern(body))
    slots = {slot.name: prose.ref("model:openai/m") for slot in loaded.entry.slots}
    return engine.outcome(loaded, {**slots, "topic": topic})


def told(outcome: Outcome) -> tuple[str, str | None]:
    return outcome.status, outcome.error.code if outcome.error else None


# --- what a service gives --------------------------------------------------------------------------------------------


def test_a_text_and_what_it_cost(server: ChatServer) -> None:
    outcome = run(server, says("  a poem\n"))
    assert (outcome.value, told(outcome)) == ("a poem", ("ok", None))
    assert outcome.usage.as_json() == {"calls": 1, "tokens_in": 100, "tokens_out": 10, "cost": 0.0002}
    call = outcome.trace.calls[0]
    assert (call.service, call.attempts, call.usage) == ("model:openai/m", 1, {**outcome.usage.as_json(), "calls": 0})
    (request,) = server.requests
    assert (request["model"], "response_format" in request, "temperature" in request) == ("m", False, False)
    assert request["messages"][1]["content"] == "=====[ topic: text ]\nrain\n=====[ end of topic ]"


def test_an_object_with_the_fields_that_the_program_reads(server: ChatServer) -> None:
    outcome = run(server, gives(score=0.75), body=CRITIC)
    assert outcome.value == {"score": 0.75}
    shape = server.requests[0]["response_format"]["json_schema"]
    assert (shape["schema"]["properties"], shape["strict"]) == ({"score": {"type": "number"}}, True)


def test_the_same_in_a_running_loop_and_again(server: ChatServer) -> None:
    server.begin()
    engine = engine_of(server)
    loaded = engine.loads(pattern(TEXT))
    names = {"writer": prose.ref("model:openai/m"), "topic": "rain"}

    async def three() -> list[Any]:
        return [outcome.value for outcome in await asyncio.gather(*(loaded.arun(**names) for _ in range(3)))]

    assert loaded.run(**names).value == "fine"
    assert asyncio.run(three()) == ["fine"] * 3
    assert loaded.run(**names).value == "fine"
    assert len(server.requests) == 5


def test_parameters_that_are_set_are_sent_and_zero_is(server: ChatServer) -> None:
    run(server, settings={"parameters": {"openai/m": {"temperature": 0, "max_tokens": 7, "seed": 0}}})
    (request,) = server.requests
    assert {name: request[name] for name in ("temperature", "max_tokens", "seed")} == {
        "temperature": 0, "max_tokens": 7, "seed": 0,
    }  # fmt: skip
    assert "top_p" not in request


def test_braces_of_a_prompt_arrive_as_they_are_written(server: ChatServer) -> None:
    body = 'return call writer\n  prompt: "Answer with { proceed: boolean, reason: string } about {topic}"'
    run(server, body=body)
    assert server.requests[0]["messages"][-1]["content"] == (
        "Answer with { proceed: boolean, reason: string } about rain"
    )


def test_a_provider_that_takes_no_schema_is_asked_without(server: ChatServer) -> None:
    outcome = run(server, fails(400, "response_format is not supported"), gives(score=1), body=CRITIC)
    assert outcome.value == {"score": 1}
    assert ["response_format" in request for request in server.requests] == [True, False]


# --- failures that may pass ------------------------------------------------------------------------------------------


def test_429_waits_as_long_as_it_is_told(server: ChatServer) -> None:
    began = time.monotonic()
    outcome = run(server, fails(429, Retry_After="0.3"), says("late"))
    assert (outcome.value, len(server.requests)) == ("late", 2)
    assert time.monotonic() - began >= 0.3
    assert outcome.trace.calls[0].attempts == 2
    assert outcome.usage.calls == 2


def test_a_date_to_wait_for_is_measured_by_the_server_s_own_clock(server: ChatServer) -> None:
    dates = {"Retry_After": "Wed, 21 Oct 2015 07:28:30 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}
    outcome = run(server, always=fails(503, **dates), body=TEXT + "\n  timeout: 2")
    assert (told(outcome), len(server.requests)) == (("failed", "P406"), 1)
    assert outcome.error is not None
    assert outcome.error.hint == "the next try would be in 30 s, and the call's timeout is 2 s"


def test_429_with_a_wait_that_is_longer_than_the_call_may_take(server: ChatServer) -> None:
    began = time.monotonic()
    outcome = run(server, always=fails(429, Retry_After="30"), body=TEXT + "\n  timeout: 2")
    assert (told(outcome), len(server.requests)) == (("failed", "P406"), 1)
    assert outcome.error is not None
    assert outcome.error.hint == "the next try would be in 30 s, and the call's timeout is 2 s"
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (fails(500), "P406"), (fails(503), "P406"), (fails(502), "P406"), (fails(429), "P406"), (resets, "P406"),
        (breaks_off, "P406"), (sends(b"{oops"), "P406"), (sends(b"[1]"), "P406"), (sends(b'{"choices": []}'), "P406"),
        (says("x", usage={"prompt_tokens": "many", "completion_tokens": [], "total_tokens": 1}), "P406"),
    ],
    ids=["500", "503", "502", "429", "reset", "cut-body", "no-json", "a-list", "no-choice", "usage-of-words"],
)  # fmt: skip
def test_what_may_pass_is_tried_twice_more(server: ChatServer, behaviour: Behaviour, code: str) -> None:
    outcome = run(server, always=behaviour)
    assert (told(outcome), len(server.requests)) == (("failed", code), 3)
    outcome = run(server, behaviour, behaviour, says("at last"))
    assert (outcome.value, len(server.requests)) == ("at last", 3)
    outcome = run(server, behaviour, always=behaviour, settings={"retries": 0})
    assert (told(outcome), len(server.requests)) == (("failed", code), 1)


def test_the_retries_of_a_program_are_its_own(server: ChatServer) -> None:
    outcome = run(server, always=fails(503), body=TEXT + "\n  retry: 1")
    assert (told(outcome), len(server.requests)) == (("failed", "P406"), 6)
    assert outcome.trace.calls[0].attempts == 6


@pytest.mark.parametrize("behaviour", [never_answers, drips], ids=["slow-first-byte", "drip"])
def test_a_call_takes_no_longer_than_its_timeout(server: ChatServer, behaviour: Behaviour) -> None:
    began = time.monotonic()
    outcome = run(server, always=behaviour, body=TEXT + "\n  timeout: 0.4")
    assert (told(outcome), len(server.requests)) == (("failed", "P408"), 1)
    assert outcome.usage.cost is None, "nobody knows whether it was paid for"
    assert time.monotonic() - began < 1.5


def test_a_request_takes_no_longer_than_it_may(server: ChatServer) -> None:
    outcome = run(server, always=drips, settings={"seconds": 0.2})
    assert (told(outcome), len(server.requests)) == (("failed", "P408"), 3)


# --- refusals that stay ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code"), [(400, "P406"), (401, "P410"), (403, "P410"), (404, "P406"), (422, "P406")]
)
def test_what_stays_refused_is_never_tried_again(server: ChatServer, status: int, code: str) -> None:
    outcome = run(server, always=fails(status, "wrong"), body=TEXT + "\n  retry: 2\n  backoff: linear")
    assert (told(outcome), len(server.requests)) == (("failed", code), 1)
    assert outcome.error is not None
    assert "wrong" in outcome.error.message


def test_a_missing_key_is_told_before_anything_is_sent(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    server.begin()
    engine = Engine()
    loaded = engine.loads(pattern("let a = call writer\ncall critic"))
    names = {"writer": prose.ref("model:openai/m"), "critic": prose.ref("model:anthropic/m")}
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    outcome = engine.outcome(loaded, names)
    assert (outcome.status, [item.message for item in outcome.diagnostics]) == (
        "invalid",
        [
            "there is no key for `openai/m`: OPENAI_API_KEY is not set",
            "there is no key for `anthropic/m`: ANTHROPIC_API_KEY is not set",
        ],
    )


def test_an_unknown_provider_is_told_before_anything_is_sent(capfd: pytest.CaptureFixture[str]) -> None:
    engine = Engine()
    outcome = engine.outcome(engine.loads(pattern(TEXT)), {"writer": prose.ref("model:nobody/m")})
    assert outcome.error is not None
    assert (outcome.status, outcome.error.message) == (
        "invalid", "`nobody/m` cannot be reached: there is no provider `nobody`",
    )  # fmt: skip
    assert capfd.readouterr().out == "", "litellm prints advertisements"


# --- answers that cannot be used -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("not json", "it is not JSON: expecting value (line 1, column 1)"),
        ('{"score": 0.', "it is not JSON: expecting ',' delimiter (line 1, column 12)"),
        ('{"score": "high"}', 'score is "high", which is not a number'),
        ('Sure! {"score": 1}', "there is text before the JSON"),
        ('{"score": 1} Hope it helps', "there is text after the JSON"),
        ('{"grade": 1}', "the answer has no score; grade is not asked for"),
        ('{"score": NaN}', "NaN is not JSON"),
        ('{"score": 1e999}', "1e999 is not JSON"),
        ('{"score": 1, "score": 2}', "`score` is there twice"),
        ("", "it is empty"),
        (None, "it is empty"),
    ],
)
def test_an_answer_that_breaks_the_contract_is_asked_for_twice_more(
    server: ChatServer, text: str | None, problem: str
) -> None:
    outcome = run(server, always=says(text), body=CRITIC)
    assert (told(outcome), len(server.requests)) == (("failed", "P404"), 3)
    assert outcome.error is not None
    assert outcome.error.message == f"`model:openai/m` broke its contract: {problem}"
    assert outcome.trace.calls[0].error == {
        "code": "P404", "name": "broken-contract", "message": outcome.error.message, "answer": text or "",
    } or text is None  # fmt: skip
    assert outcome.usage.as_json() == {"calls": 3, "tokens_in": 300, "tokens_out": 30, "cost": pytest.approx(0.0006)}
    outcome = run(server, says(text), gives(score=1), body=CRITIC)
    assert (outcome.value, len(server.requests)) == ({"score": 1}, 2)
    again = [message for message in server.requests[1]["messages"] if message["role"] != "system"]
    assert [message["role"] for message in again[-2:]] == ["assistant", "user"]
    assert again[-1]["content"].startswith(f"This answer cannot be used: {problem}.")


def test_a_code_fence_around_the_whole_answer_says_nothing(server: ChatServer) -> None:
    outcome = run(server, says('```json\n{"score": 1}\n```'), body=CRITIC)
    assert (outcome.value, len(server.requests)) == ({"score": 1}, 1)


def test_an_empty_text_is_no_answer(server: ChatServer) -> None:
    outcome = run(server, says(" \n"), says("here"))
    assert (outcome.value, len(server.requests)) == ("here", 2)


@pytest.mark.parametrize(
    "behaviour", [says(None, refusal="I will not"), says("x", finish="content_filter")], ids=["refusal", "filter"]
)
def test_a_refusal_is_an_error_and_is_not_argued_with(server: ChatServer, behaviour: Behaviour) -> None:
    for body in (TEXT, CRITIC):
        outcome = run(server, always=behaviour, body=body)
        assert (told(outcome), len(server.requests)) == (("failed", "P406"), 1)


def test_an_answer_that_was_cut_off(server: ChatServer) -> None:
    for body in (TEXT, CRITIC):
        outcome = run(server, always=says('{"score": 1', finish="length"), body=body)
        assert (told(outcome), len(server.requests)) == (("failed", "P407"), 1)
        assert outcome.trace.calls[0].error is not None
        assert outcome.trace.calls[0].error["answer"] == '{"score": 1'


def test_a_huge_answer_is_not_read(server: ChatServer) -> None:
    outcome = run(server, always=says("x" * 3_000_000))
    assert (told(outcome), len(server.requests)) == (("failed", "P404"), 1)
    assert outcome.error is not None
    assert outcome.error.message == "the answer has 3,000,000 characters; at most 2,000,000 are read"


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": -5, "completion_tokens": -1, "total_tokens": -6}, {}])
def test_usage_that_cannot_be_true_is_unknown(server: ChatServer, usage: Any) -> None:
    outcome = run(server, says("x", usage=usage))
    assert outcome.usage.as_json() == {"calls": 1, "tokens_in": 0, "tokens_out": 0, "cost": None}


def test_usage_that_is_unknown_is_settled_at_the_most_it_can_be(server: ChatServer) -> None:
    body = "repeat 9:\n  call writer\n    topic: topic"
    outcome = run(server, always=says("x", usage=None), body=body, limits=Limits(cost=0.2))
    assert told(outcome) == ("limited", "P405")
    assert len(server.requests) == 4  # 4,096 output tokens at $10 a million, and the input


def test_usage_that_is_enormous_ends_the_budget(server: ChatServer) -> None:
    usage = {"prompt_tokens": 10**12, "completion_tokens": 1, "total_tokens": 10**12 + 1}
    body = "call writer\n  topic: topic\ncall writer\n  topic: topic"
    outcome = run(server, always=says("x", usage=usage), body=body, limits=Limits(tokens=100_000))
    assert (told(outcome), len(server.requests)) == (("limited", "P405"), 1)


# --- limits under concurrency (L34) ----------------------------------------------------------------------------------

CROWD = "return parallel repeat 200 as n:\n  return call writer\n    topic: n"


def test_200_branches_make_50_calls(server: ChatServer) -> None:
    outcome = run(server, always=says("x", after=0.05), body=CROWD, limits=Limits(calls=50))
    assert told(outcome) == ("limited", "P405")
    assert len(server.requests) <= 50


def test_retries_count_as_calls(server: ChatServer) -> None:
    outcome = run(server, always=fails(503), body=CROWD, limits=Limits(calls=50))
    assert told(outcome) == ("limited", "P405")
    assert len(server.requests) <= 50


def test_200_branches_stay_within_tokens(server: ChatServer) -> None:
    limits = Limits(tokens=20_000)
    outcome = run(server, always=says("x", after=0.02), body=CROWD, limits=limits)
    assert told(outcome) == ("limited", "P405")
    assert all(request["max_tokens"] == 4096 for request in server.requests)
    # 110 tokens a call are settled, and the last one reserved at most 5,300.
    assert (20_000 - 5_300) // 110 - 1 <= len(server.requests) <= 20_000 // 110


def test_200_branches_stay_within_cost(server: ChatServer) -> None:
    outcome = run(server, always=says("x", after=0.02), body=CROWD, limits=Limits(cost=0.06))
    assert told(outcome) == ("limited", "P405")
    assert 0 < len(server.requests) <= 0.06 / 0.0002
    assert outcome.usage.cost is not None
    assert outcome.usage.cost <= 0.06


def test_200_branches_that_fit_all_run(server: ChatServer) -> None:
    outcome = run(server, body=CROWD, limits=Limits(cost=0.1, concurrency=20))
    assert (told(outcome), len(server.requests)) == (("ok", None), 200)
    assert outcome.usage.cost == pytest.approx(0.04)
    assert server.most_at_once <= 20


def test_a_quota_of_a_service(server: ChatServer) -> None:
    quotas = {"model:openai/m": Quota(calls=3)}
    outcome = run(server, body=CROWD, limits=Limits(quotas=quotas))
    assert told(outcome) == ("limited", "P405")
    assert len(server.requests) <= 3


def test_a_model_without_a_price_is_refused_under_a_limit_of_cost(server: ChatServer) -> None:
    server.begin()
    engine = Engine(models=ModelSettings(providers={"openai": Provider(base_url=server.url)}), limits=Limits(cost=1))
    loaded = engine.loads(pattern(TEXT))
    outcome = engine.outcome(loaded, {"writer": prose.ref("model:openai/gpt-4o"), "topic": "x"})
    assert (told(outcome), len(server.requests)) == (("limited", "P405"), 0)
    outcome = engine_of(server).outcome(loaded, {"writer": prose.ref("model:openai/other"), "topic": "x"})
    assert (outcome.value, outcome.usage.cost) == ("fine", None)


def test_a_cancelled_run_leaves_nothing_behind(server: ChatServer) -> None:
    server.begin(always=never_answers)
    engine = engine_of(server, limits=Limits(seconds=0.5))
    loaded = engine.loads(pattern(CROWD.replace("200", "20")))

    async def main() -> tuple[str, list[str]]:
        outcome = await engine.outcome_async(loaded, {"writer": prose.ref("model:openai/m")})
        own = asyncio.current_task()
        names = [str(task.get_coro()) for task in asyncio.all_tasks() if task is not own]
        return outcome.status, [name for name in names if "LoggingWorker" not in name]

    assert asyncio.run(main()) == ("limited", [])


def test_json_is_what_the_server_sees(server: ChatServer) -> None:
    run(server, topic={"a": [1, None, "é"]})
    assert json.loads(server.requests[0]["messages"][1]["content"].splitlines()[1]) == {"a": [1, None, "é"]}
