"""Cassettes: what is recorded, that a replay asks nobody, what a miss says, and that no secret is ever in the file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from models_fakes import Fake

import prose_lang as prose
from prose_lang import Cassette, Engine, ModelSettings, Outcome, ProseError, Provider, Reply, ServiceError
from prose_lang.cassettes.cassette import Mode
from prose_lang.diagnostics import SourceError
from prose_lang.testing.clock import run_virtual

REF = prose.ref("model:openai/x")
PAIR = {"worker": REF, "critic": REF, "task_brief": "a poem", "criteria": "it rhymes"}


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def run(engine: Engine, body: str, names: dict[str, Any] | None = None) -> Outcome:
    pattern = engine.loads(body)
    return run_virtual(engine.outcome_async(pattern, names or {}))


def error_of(engine: Engine, body: str, names: dict[str, Any] | None = None) -> ProseError:
    found = run(engine, body, names).error
    assert found is not None
    return found


class Never:
    """A completion that must not be asked."""

    async def complete(self, request: Any, seconds: float) -> Reply:
        raise AssertionError("a live request")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tapes" / "run.jsonl"


# --- models ----------------------------------------------------------------------------------------------------------


def test_a_replay_gives_the_same_and_asks_nobody(file: Path) -> None:
    fake = Fake("Roses", '{"reason": "no rhyme", "verdict": "reject"}', "Noses", '{"reason": "", "verdict": "accept"}')
    engine = Engine(completion=fake, cassette=Cassette(file, "record"))
    first = engine.run(engine.load("worker-critic"), PAIR)
    taken = lines(file)
    assert [(take["number"], take["service"]) for take in taken] == [(n, "model:openai/x") for n in (1, 2, 3, 4)]
    assert taken[0]["address"].endswith("call:worker")
    assert taken[0]["request"] == fake.requests[0].as_json()
    assert taken[0]["answer"] == {"text": "Roses", "finish": "stop", "tokens_in": 100, "tokens_out": 10}
    before = file.read_bytes()
    for _ in range(2):
        engine = Engine(completion=Never(), cassette=Cassette(file))
        again = engine.run(engine.load("worker-critic"), PAIR)
        assert again.value == first.value == {"result": "Noses", "attempts": 2}
        assert again.usage.as_json() == first.usage.as_json()
        assert [call.address for call in again.trace.calls] == [call.address for call in first.trace.calls]
    assert file.read_bytes() == before


def test_a_replay_needs_no_key_and_live_calls_may_be_off(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = 'session "hi"\nreturn 1'
    assert run(Engine(completion=Fake(), model="openai/x", cassette=Cassette(file, "record")), body).value == 1
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("PROSE_NO_LIVE_CALLS", "1")
    assert run(Engine(model="openai/x", cassette=Cassette(file), live=False), body).value == 1


def test_what_is_asked_again_is_asked_again_in_a_replay_and_its_pauses_take_no_time(file: Path) -> None:
    busy = ServiceError("P406", "too many requests")
    busy.transient, busy.retry_after = True, 90.0
    fake = Fake(busy, "not JSON", '{"score": 7}')
    body = "let a = call judge_it\n  x: 1\nreturn a.score * 2"
    service = prose.model_service("judge_it", model="openai/x")

    def at_all(engine: Engine) -> Outcome:
        return run(engine, body)

    first = at_all(Engine(services=[service], completion=fake, cassette=Cassette(file, "record")))
    assert (first.error, first.value, first.usage.calls) == (None, 14, 3)
    assert lines(file)[0]["answer"] == {
        "error": {"code": "P406", "message": "too many requests", "transient": True, "retry_after": 90.0}
    }
    engine = Engine(services=[service], completion=Never(), cassette=Cassette(file))
    again = asyncio.run(engine.outcome_async(engine.loads(body), {}))  # in real time
    assert (again.value, again.usage.calls) == (14, 3)


def test_equal_requests_are_answered_in_the_order_in_which_they_were_made(file: Path) -> None:
    body = (
        'let all = parallel for i in [1, 2, 3]:\n  call ask\n    q: "?"\n'
        'let last = call ask\n  q: "?"\n'
        "return [all, last]"
    )
    service = prose.model_service("ask", model="openai/x")
    # The first of three that are asked at the same time is answered last.
    waits = iter((0.3, 0.2, 0.1, 0.0))
    answers = iter("abcd")

    class Slow:
        async def complete(self, request: Any, seconds: float) -> Reply:
            answer, wait = next(answers), next(waits)
            await asyncio.sleep(wait)
            return Reply(answer)

    first = run(Engine(services=[service], completion=Slow(), cassette=Cassette(file, "record")), body)
    assert first.value == [["a", "b", "c"], "d"]
    assert [take["number"] for take in lines(file)] == [3, 2, 1, 4]
    cassette = Cassette(file)
    assert run(Engine(services=[service], cassette=cassette), body).value == [["a", "b", "c"], "d"]
    once_more = body.replace("return", 'let more = call ask\n  q: "?"\nreturn')
    error = error_of(Engine(services=[service], cassette=cassette), once_more)
    assert (error.code, error.message) == (
        "P409", "`ask`: the replay has no answer to this request: it was recorded 4 times, and is made once more",
    )  # fmt: skip


def test_the_newest_recording_of_a_request_counts(file: Path) -> None:
    body = "let a = call ask\n  q: 1\nlet b = call ask\n  q: 1\nreturn [a, b]"
    service = prose.model_service("ask", model="openai/x")
    for answers in (("a", "b"), ("c", "d")):
        run(Engine(services=[service], completion=Fake(*answers), cassette=Cassette(file, "record")), body)
    assert len(lines(file)) == 4
    assert run(Engine(services=[service], cassette=Cassette(file)), body).value == ["c", "d"]


def test_parts_have_answers_of_their_own(file: Path) -> None:
    body, service = "return call ask\n  q: 1", prose.model_service("ask", model="openai/x")

    def played(name: str, mode: Mode, answer: str = "") -> Any:
        cassette = Cassette(file, mode)
        engine = Engine(services=[service], completion=Fake(then=answer or AssertionError()), cassette=cassette)
        return run_virtual(engine.outcome_async(engine.loads(body), {}, part=cassette.part(name))).value

    assert [played("one", "record", "a"), played("two", "record", "b")] == ["a", "b"]
    assert [played("one", "replay"), played("two", "replay"), played("renamed", "replay")] == ["a", "b", "b"]


def test_a_miss_shows_how_the_nearest_request_differs(file: Path) -> None:
    body, service = "return call ask\n  q: q\n  tone: tone", prose.model_service("ask", model="openai/x")
    engine = Engine(services=[service], completion=Fake(), cassette=Cassette(file, "record"))
    pattern = engine.loads(f"---\nname: p\nkind: function\n---\n### Parameters\n- `q`: string\n- `tone`: string\n"
                           f"### Execution\n```prose\n{body}\n```\n")  # fmt: skip
    for names in ({"q": "what is far away", "tone": "warm"}, {"q": "name a colour", "tone": "dry"}):
        engine.run(pattern, names)
    error = run_virtual(
        Engine(services=[service], cassette=Cassette(file)).outcome_async(
            pattern, {"q": "name a colour", "tone": "wry"}
        )
    ).error
    assert error is not None
    assert (error.code, error.message) == ("P409", "`ask`: the replay has no answer to this request")
    assert error.hint is not None
    assert error.hint.splitlines() == [
        "record it again: --cassette-mode record",
        "the nearest request that was recorded (-) and this one (+):",
        "- messages[1].content| dry",
        "+ messages[1].content| wry",
    ]


def test_a_miss_is_not_caught_and_not_retried(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("")
    body = 'try:\n  return call ask\n    retry: 3\ncatch:\n  return "caught"'
    error = error_of(Engine(services={"ask": lambda: 1}, cassette=Cassette(file)), body)
    assert (error.code, error.message) == ("P409", "`ask`: the replay has no answer: the cassette is empty")


# --- other services --------------------------------------------------------------------------------------------------


def test_functions_and_their_errors_are_recorded_and_not_called_again(file: Path) -> None:
    calls: list[int] = []

    def halve(n: int) -> float:
        calls.append(n)
        if n % 2:
            raise ArithmeticError(f"{n} is odd")
        return n / 2

    body = (
        "let all = []\nfor n in [4, 3]:\n  try:\n    let half = call halve(n)\n    append half to all\n"
        "  catch as e:\n    append e to all\nreturn all"
    )
    first = run(Engine(services=[halve], cassette=Cassette(file, "record")), body)
    second = run(Engine(services=[halve], cassette=Cassette(file)), body)
    assert first.value == second.value
    assert first.value[0] == 2.0
    assert first.value[1]["message"] == "3 is odd"
    assert calls == [4, 3]
    assert [take["answer"] for take in lines(file)] == [
        {"value": 2.0}, {"error": {"type": "ArithmeticError", "message": "3 is odd"}},
    ]  # fmt: skip
    assert lines(file)[0]["request"] == {"inputs": {"n": 4}}
    error = error_of(Engine(services=[halve], cassette=Cassette(file)), "return call halve(3)")
    assert (error.code, error.hint) == ("P406", "the service `halve` raised ArithmeticError")


def test_commands_are_not_started_again(file: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    slot = prose.ref(f"cmd:touch {mark}")
    engine = Engine(cassette=Cassette(file, "record"))
    pattern = engine.load("refine")
    names = {"refiner": slot, "evaluator": lambda result: {"score": 1}, "task_brief": "x"}
    first = engine.run(pattern, names)
    mark.unlink()
    engine = Engine(cassette=Cassette(file))
    names["evaluator"] = lambda result: 1 / 0
    assert engine.run(engine.load("refine"), names).value == first.value
    assert not mark.exists()


def test_scripted_services_pass_by(file: Path) -> None:
    script = prose.Script.from_data({"writer": ["a", "b"]})
    body = "let a = call writer\nlet b = call helper\nreturn [a, b]"
    for mode in ("record", "replay"):
        engine = Engine(script=script, services={"helper": lambda: "h"}, cassette=Cassette(file, mode))  # type: ignore[arg-type]
        assert run(engine, body).value == ["a", "h"]
    assert [take["service"] for take in lines(file)] == ["helper"]


def test_the_loser_of_a_race_loses_again(file: Path) -> None:
    async def slow() -> str:
        await asyncio.sleep(1)
        return "slow"

    async def fast() -> str:
        await asyncio.sleep(0.01)
        return "fast"

    body = 'let won = parallel ("first"):\n  call slow\n  call fast\nreturn won'
    engine = Engine(services=[slow, fast], cassette=Cassette(file, "record"))
    first = asyncio.run(engine.outcome_async(engine.loads(body), {}))
    again = run(Engine(services=[slow, fast], cassette=Cassette(file)), body)
    assert first.value == again.value
    assert sorted(take["service"] for take in lines(file)) == ["fast", "slow"]
    assert {"cancelled": True} in [take["answer"] for take in lines(file)]
    error = error_of(Engine(services=[slow, fast], cassette=Cassette(file)), "return call slow")
    assert (error.code, "cut off when it was recorded" in error.message) == ("P409", True)


def test_a_timeout_happens_again(file: Path) -> None:
    async def slow() -> str:
        await asyncio.sleep(50)
        return "slow"

    body = "return call slow\n  timeout: 0.05"
    engine = Engine(services=[slow], cassette=Cassette(file, "record"))
    first = asyncio.run(engine.outcome_async(engine.loads(body), {}))
    again = run(Engine(services=[slow], cassette=Cassette(file)), body)
    assert first.error is not None
    assert again.error is not None
    assert (first.error.code, first.error.message) == (again.error.code, again.error.message)
    assert again.error.code == "P408"


def test_a_live_cassette_is_left_alone(file: Path) -> None:
    assert run(Engine(services={"f": lambda: 1}, cassette=Cassette(file, "live")), "return call f").value == 1
    assert not file.exists()


# --- the file --------------------------------------------------------------------------------------------------------


def test_no_secret_gets_into_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-marker-0123456789")
    monkeypatch.setenv("ODD_NAME", "odd-marker-9876543210")
    settings = ModelSettings(default="openai/x", providers={"openai": Provider(key="ODD_NAME")})

    def leak(text: str) -> dict[str, str]:
        return {"sk-marker-0123456789": f"{text} odd-marker-9876543210"}

    def blunt(text: str) -> str:
        raise ValueError("sk-marker-0123456789 is wrong")

    body = (
        'let a = call leak\n  text: "sk-marker-0123456789"\n'
        'let b = session: "odd-marker-9876543210"\n'
        "try:\n  call blunt\n    text: b\ncatch:\n  return a\n"
    ).replace("session: ", "session ")
    fake = Fake("I was given sk-marker-0123456789")
    engine = Engine(services=[leak, blunt], models=settings, completion=fake, cassette=Cassette(file, "record"))
    assert run(engine, body).status == "ok"
    text = file.read_text()
    assert len(lines(file)) == 3
    assert "marker" not in text
    assert text.count("[redacted]") >= 6
    # What is looked up passes the redactor too, so that the requests meet.
    engine = Engine(services=[leak, blunt], models=settings, completion=Never(), cassette=Cassette(file))
    assert run(engine, body).value == {"[redacted]": "[redacted] [redacted]"}


@pytest.mark.parametrize(
    ("text", "code", "message", "line"),
    [
        (None, "P103", "there is no cassette `{}`", None),
        ('{"cassette": 7}\n', "P501",
         "this line is not to be used: it is of version 7, and this program reads version 1", 1),
        ("\nnot JSON\n", "P501", "this line is not to be used: it is not JSON", 2),
        ("[1]\n", "P501", "this line is not to be used: it is no take of a cassette", 1),
        ('{"cassette": 1, "recording": "r", "part": "", "number": 1, "address": "", "service": 3}', "P501",
         "this line is not to be used: its `service` is not a text", 1),
    ],
)  # fmt: skip
def test_a_cassette_that_cannot_be_used(
    file: Path, text: str | None, code: str, message: str, line: int | None
) -> None:
    file.parent.mkdir()
    if text is not None:
        file.write_text(text)
    outcome = run(Engine(services={"f": lambda: 1}, cassette=Cassette(file)), "return call f")
    assert outcome.status == "invalid"
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == (code, message.format(file))
    assert outcome.error.as_json()["line"] == line


def test_a_binary_file_and_a_folder_are_no_cassettes(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\x00\xff\xfe")
    for path, message in ((tmp_path / "b", "is not UTF-8 text (byte 1)"), (tmp_path, "cannot be read: ")):
        with pytest.raises(SourceError, match="cassette") as caught:
            Cassette(path).check()
        assert message in caught.value.message


def test_what_a_crash_left_is_passed_over_and_taken_away(file: Path) -> None:
    body = "return call f"
    run(Engine(services={"f": lambda: 1}, cassette=Cassette(file, "record")), body)
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:-30])
    assert run(Engine(services={"f": lambda: 2}, cassette=Cassette(file)), body).value == 1
    run(Engine(services={"f": lambda: 3}, cassette=Cassette(file, "record")), body)
    assert len(lines(file)) == 2
    assert run(Engine(services={"f": lambda: 2}, cassette=Cassette(file)), body).value == 3


def test_a_file_that_cannot_be_written_stops_the_run(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    engine = Engine(services={"f": lambda: 1}, cassette=Cassette(tmp_path / "f" / "x.jsonl", "record"))
    error = error_of(engine, 'try:\n  return call f\ncatch:\n  return "caught"')
    assert (error.code, "cannot be written" in error.message) == ("P103", True)


def test_line_breaks_of_all_kinds_survive(file: Path) -> None:
    odd = "a\u2028b\x85c\r\nd\x0ce"
    body = "return call f"
    assert run(Engine(services={"f": lambda: odd}, cassette=Cassette(file, "record")), body).value == odd
    assert run(Engine(services={"f": lambda: ""}, cassette=Cassette(file)), body).value == odd


def test_many_write_into_one_file(file: Path) -> None:
    cassette = Cassette(file, "record")
    body = "return parallel for i in numbers:\n  call f(i)".replace("return ", "let a = ") + "\nreturn a"
    engine = Engine(services={"f": lambda i: "x" * 5000 + str(i)}, cassette=cassette)
    text = (
        f"---\nname: p\nkind: function\n---\n### Parameters\n- `numbers`: any\n### Execution\n```prose\n{body}\n```\n"
    )
    names = {"numbers": list(range(300))}
    first = engine.run(engine.loads(text), names)
    assert sorted(take["number"] for take in lines(file)) == list(range(1, 301))
    replayed = Engine(services={"f": lambda i: 0}, cassette=Cassette(file))
    assert replayed.run(replayed.loads(text), names).value == first.value


def test_an_unknown_mode_is_misuse() -> None:
    with pytest.raises(ValueError, match="'tape' is no mode of a cassette; there are live, record, replay"):
        Cassette("x", "tape")  # type: ignore[arg-type]


# --- no live calls ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["engine", "variable"])
@pytest.mark.parametrize("completion", [None, Never()])
def test_no_model_is_asked_where_live_calls_are_off(by: str, completion: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-marker-0123456789")
    if by == "variable":
        monkeypatch.setenv("PROSE_NO_LIVE_CALLS", "1")
    engine = Engine(model="openai/x", completion=completion, live=by != "engine")
    how = {"engine": "the engine has live=False", "variable": "PROSE_NO_LIVE_CALLS is set"}[by]
    message = f"`openai/x` is not asked: live calls of models are switched off ({how})"
    called: list[int] = []
    pattern = engine.load("worker-critic")
    outcome = run_virtual(engine.outcome_async(pattern, {**PAIR, "critic": lambda output: called.append(1)}))
    assert (outcome.status, outcome.usage.calls, called) == ("invalid", 0, [])
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == ("P410", message)
    # Where a model is only found to be needed on the way, it is refused there, and nothing catches that.
    error = error_of(engine, 'try:\n  session "hi"\ncatch:\n  return "caught"')
    assert (error.code, error.message) == ("P410", message)


def test_the_variable_set_to_0_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROSE_NO_LIVE_CALLS", "0")
    assert run(Engine(model="openai/x", completion=Fake("a")), 'session "hi"\nreturn 1').value == 1


def test_a_completion_that_says_it_sends_nothing_may_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROSE_NO_LIVE_CALLS", "1")
    fake = Fake("a")
    fake.live = False  # type: ignore[attr-defined]
    assert run(Engine(model="openai/x", completion=fake), 'session "hi"\nreturn 1').value == 1
