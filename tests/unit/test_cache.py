"""The response cache: which calls take an answer of an earlier run, what that costs, and what is never kept (L34)."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from model_server import chat_server, says
from models_fakes import Fake

import prose_lang as prose
from prose_lang import Engine, Limits, ModelSettings, Outcome, Price, Provider, Reply, Request
from prose_lang.journal import Cached, StoreError
from prose_lang.journal.sqlite import SqliteStore
from prose_lang.runtime.events import CallFinished, Event, TextDelta
from prose_lang.testing.clock import run_virtual

SECRET = "sk-marker-0123456789"
PRICES = {"openai/m": Price(input=1.0, output=10.0)}
MODEL = {"w": "model:openai/m"}


class Numbered:
    """A completion that numbers its answers, so that each is seen to be what it is."""

    def __init__(self, before: int = 0) -> None:
        self.count = before
        self.requests: list[Request] = []

    async def complete(self, request: Request, seconds: float) -> Reply:
        self.count += 1
        self.requests.append(request)
        return Reply(f"answer {self.count}", tokens_in=100, tokens_out=10)


def pattern(body: str) -> str:
    slots = "".join(f"- `{name}`\n" for name in ("w", "v") if f"call {name}" in body)
    head = (
        f"---\nname: t\nkind: pattern\n---\n\n### Slots\n\n{slots}" if slots else "---\nname: t\nkind: pattern\n---\n"
    )
    return f"{head}\n### Requires\n\n- `topic`: (optional) what\n\n### Delegation\n\n```prose\n{body}\n```\n"


def run(
    store: Any, completion: Any, body: str = "return call w\n  topic: topic", *, topic: Any = "rain", **options: Any
) -> Outcome:
    slots = options.pop("slots", MODEL)
    options.setdefault("cache", "both")
    options.setdefault("models", ModelSettings(prices=PRICES))
    engine = Engine(completion=completion, store=store, **options)
    loaded = engine.loads(pattern(body))
    given = {name: prose.ref(reference) for name, reference in slots.items() if f"call {name}" in body}
    return engine.outcome(loaded, {**given, "topic": topic})


def rows(store: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(store / "runs.sqlite") as database:
        return database.execute("SELECT key, service, request, result, usage FROM cache ORDER BY made").fetchall()


# --- hits ------------------------------------------------------------------------------------------------------------


def test_an_answer_is_given_again_and_costs_nothing(tmp_path: Path) -> None:
    fake = Numbered()
    first, second = run(tmp_path, fake), run(tmp_path, fake)
    assert (first.value, second.value, len(fake.requests)) == ("answer 1", "answer 1", 1)
    assert first.usage.as_json() == {"calls": 1, "tokens_in": 100, "tokens_out": 10, "cost": 0.0002, "cached": 0}
    assert second.usage.as_json() == {"calls": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0, "cached": 1}
    call = second.as_json()["calls"][0]
    assert (call["value"], call["attempts"], call["cached"]) == ("answer 1", 0, True)
    assert call["usage"] == {"calls": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0, "cached": 1}
    assert "cached" not in first.as_json()["calls"][0]


def test_without_a_cache_nothing_is_kept_and_nothing_is_said_of_it(tmp_path: Path) -> None:
    fake = Numbered()
    outcome = run(tmp_path, fake, cache=None)
    assert rows(tmp_path) == []
    assert outcome.usage.as_json() == {"calls": 1, "tokens_in": 100, "tokens_out": 10, "cost": 0.0002}
    assert run(tmp_path, fake).value == "answer 2"


@pytest.mark.parametrize(
    ("mode", "values", "asked"),
    [("read", ["answer 1", "answer 1"], 1), ("write", ["answer 2", "answer 3"], 3), ("both", ["answer 1"] * 2, 1)],
)
def test_read_takes_and_write_keeps(tmp_path: Path, mode: str, values: list[str], asked: int) -> None:
    fake = Numbered()
    run(tmp_path, fake)
    assert [run(tmp_path, fake, cache=mode).value for _ in range(2)] == values
    assert len(fake.requests) == asked
    assert json.loads(rows(tmp_path)[0][3])["reply"]["text"] == f"answer {asked}"


def test_read_keeps_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, Numbered(), cache="read").usage.cached == 0
    assert rows(tmp_path) == []


@pytest.mark.parametrize(
    "change",
    [
        {"topic": "snow"},
        {"slots": {"w": "model:openai/n"}},
        {"models": ModelSettings(parameters={"openai/m": {"temperature": 0}})},
        {"models": ModelSettings(providers={"openai": Provider(base_url="http://127.0.0.1:9/v1")})},
        {"body": 'return call w\n  topic: topic\n  prompt: "short"'},
    ],
)
def test_whatever_decides_an_answer_is_part_of_the_question(tmp_path: Path, change: dict[str, Any]) -> None:
    fake = Numbered()
    run(tmp_path, fake)
    assert run(tmp_path, fake, **change).value == "answer 2"
    assert run(tmp_path, fake).value == "answer 1"


def test_two_services_have_two_answers(tmp_path: Path) -> None:
    body = "let a = call w\n  topic: topic\nlet b = call v\n  topic: topic\nreturn [a, b]"

    def once(fake: Numbered) -> Outcome:
        engine = Engine(completion=fake, store=tmp_path, cache="both")
        one, two = (prose.model_service(name, model="openai/m", about="Say something.") for name in ("one", "two"))
        return engine.outcome(engine.loads(pattern(body)), {"w": one, "v": two, "topic": "x"})

    fake = Numbered()
    assert [once(fake).value for _ in range(2)] == [["answer 1", "answer 2"]] * 2
    assert len(fake.requests) == 2


# --- samples ---------------------------------------------------------------------------------------------------------

_SAMPLES = {
    "passes": "return parallel repeat 3:\n  return call w\n    topic: topic",
    "branches": "return parallel:\n" + "  call w\n    topic: topic\n" * 3,
    "lines": "".join(f"let {name} = call w\n  topic: topic\n" for name in "abc") + "return [a, b, c]",
    "recursion": (
        'block again(n, l):\n  if n == 0:\n    return l\n  let x = call w\n    topic: "same"\n'
        "  let m = l + [x]\n  return do again(n - 1, m)\nlet found = do again(3, [])\nreturn found"
    ),
}


@pytest.mark.parametrize("body", _SAMPLES.values(), ids=_SAMPLES)
def test_identical_samples_stay_distinct_and_a_run_meets_its_own_again(tmp_path: Path, body: str) -> None:
    fake = Numbered()
    outcomes = [run(tmp_path, fake, body) for _ in range(3)]
    assert [outcome.error for outcome in outcomes] == [None] * 3
    assert [outcome.value for outcome in outcomes] == [["answer 1", "answer 2", "answer 3"]] * 3
    assert len(fake.requests) == 3
    assert [outcome.usage.cached for outcome in outcomes] == [0, 3, 3]


def test_a_larger_ensemble_asks_for_what_is_missing(tmp_path: Path) -> None:
    fake, body = Numbered(), 'return parallel repeat topic:\n  return call w\n    q: "same"'
    assert run(tmp_path, fake, body, topic=2).value == ["answer 1", "answer 2"]
    assert run(tmp_path, fake, body, topic=4).value == [f"answer {number}" for number in (1, 2, 3, 4)]
    assert len(fake.requests) == 4


def test_two_runs_at_once_both_ask(tmp_path: Path) -> None:
    import asyncio

    fake = Fake(seconds=1)
    engine = Engine(completion=fake, store=tmp_path, cache="both")
    loaded = engine.loads(pattern("return call w\n  topic: topic"))
    names = {"w": prose.ref("model:openai/m"), "topic": "rain"}

    async def both() -> list[Outcome]:
        return await asyncio.gather(*(engine.outcome_async(loaded, names) for _ in range(2)))

    assert [outcome.value for outcome in run_virtual(both())] == ["fine", "fine"]
    assert (len(fake.requests), len(rows(tmp_path))) == (2, 1)
    assert run_virtual(engine.outcome_async(loaded, names)).usage.cached == 1


# --- limits ----------------------------------------------------------------------------------------------------------


def test_hits_count_against_no_limit_and_wait_for_nobody(tmp_path: Path) -> None:
    body = 'let a = parallel repeat 4:\n  return call w\n    q: "same"\nlet b = call w\n  q: "new"\nreturn a.length'
    run(tmp_path, Numbered(), body.replace("new", "old"))
    tight = Limits(calls=1, cost=0.05, tokens=5000, concurrency=1, per_service={"model:openai/m": 1})
    rates = ModelSettings(prices=PRICES, providers={"openai": Provider(requests_per_minute=1)})
    fake = Fake()

    async def main() -> tuple[Outcome, float]:
        import asyncio

        engine = Engine(completion=fake, store=tmp_path, cache="both", limits=tight, models=rates)
        outcome = await engine.outcome_async(engine.loads(pattern(body)), {"w": prose.ref("model:openai/m")})
        return outcome, asyncio.get_running_loop().time()

    outcome, seconds = run_virtual(main())
    assert (outcome.value, outcome.usage.calls, outcome.usage.cached, len(fake.requests)) == (4, 1, 4, 1)
    assert seconds < 5


def test_the_bound_of_a_budget_is_no_part_of_the_question(tmp_path: Path) -> None:
    fake = Numbered()
    run(tmp_path, fake, limits=Limits(cost=1.0))
    assert fake.requests[0].parameters["max_tokens"] == 4096
    assert run(tmp_path, fake).usage.cached == 1


def test_a_hit_is_no_attempt_whatever_the_modifiers_say(tmp_path: Path) -> None:
    body = "return call w\n  topic: topic\n  retry: 2\n  backoff: linear\n  timeout: 0.001"
    run(tmp_path, Numbered(), body.replace("0.001", "60"))
    assert run(tmp_path, Numbered(9), body).value == "answer 1"


# --- what is not kept ------------------------------------------------------------------------------------------------

CONTRACT = (
    "---\nname: t\nkind: pattern\n---\n\n### Delegation\n\n```prose\nreturn call rate\n```\n\n## rate\n\n"
    "### Ensures\n\n- `score`: number from 0 to 1\n- `why`: text\n"
)
GOOD, BAD = '{"score": 0.5, "why": "so"}', '{"score": "high"}'


def rated(store: Path, fake: Fake, **options: Any) -> Outcome:
    engine = Engine(completion=fake, store=store, cache="both", model="openai/m", **options)
    return engine.outcome(engine.loads(CONTRACT), {})


def test_what_broke_its_contract_is_not_kept_and_what_came_of_all_requests_is(tmp_path: Path) -> None:
    fake = Fake(BAD, GOOD)
    assert rated(tmp_path, fake).usage.calls == 2
    assert [json.loads(row[3])["reply"]["text"] for row in rows(tmp_path)] == [GOOD]
    again = rated(tmp_path, Fake())
    assert (again.value, again.usage.calls, again.usage.cached) == ({"score": 0.5, "why": "so"}, 0, 1)


def test_errors_are_not_kept(tmp_path: Path) -> None:
    assert rated(tmp_path, Fake(then=BAD)).error.code == "P404"  # type: ignore[union-attr]
    assert rated(tmp_path, Fake(Reply("x", finish="length"))).error.code == "P407"  # type: ignore[union-attr]
    assert rows(tmp_path) == []
    assert rated(tmp_path, Fake(GOOD)).value["score"] == 0.5


def test_an_answer_that_does_not_keep_the_contract_of_now_is_asked_for(tmp_path: Path) -> None:
    rated(tmp_path, Fake(GOOD))
    key, service, request, result, usage = rows(tmp_path)[0]
    kept = result.replace("why", "how")  # as a version with other rules may have kept it
    SqliteStore(tmp_path).put_cached(Cached(key, service, request, kept, usage, 1.0))
    outcome = rated(tmp_path, Fake('{"score": 0.25, "why": "so"}'))
    assert (outcome.value["score"], outcome.usage.calls, outcome.usage.cached) == (0.25, 1, 0)
    assert rated(tmp_path, Fake()).value["score"] == 0.25


@pytest.mark.parametrize("where", ["request", "answer"])
def test_what_held_a_secret_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    topic, answer = (f"my key is {SECRET}", "fine") if where == "request" else ("rain", f"it is {SECRET}")
    fake = Fake(then=answer)
    run(tmp_path, fake, topic=topic)
    assert run(tmp_path, fake, topic=topic).value == answer
    assert (rows(tmp_path), len(fake.requests)) == ([], 2)
    assert SECRET.encode() not in b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_an_answer_that_has_become_a_secret_is_not_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-one")
    run(tmp_path, Fake(f"it is {SECRET}"))
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert run(tmp_path, Fake("fine")).value == "fine"


# --- other services --------------------------------------------------------------------------------------------------


def test_functions_are_cached_only_if_they_say_so(tmp_path: Path) -> None:
    asked: list[str] = []

    @prose.service(cacheable=True)
    def looked_up(topic: str) -> dict[str, Any]:
        asked.append("looked_up")
        return {"topic": topic, "list": [1, None]}

    @prose.service
    def done(topic: str) -> str:
        asked.append("done")
        return topic

    def once() -> Outcome:
        engine = Engine(services=[looked_up, done], store=tmp_path, cache="both")
        body = 'let a = call looked_up\n  topic: "x"\nlet b = call done\n  topic: "y"\nreturn [a, b]'
        return engine.outcome(engine.loads(body), {})

    first, second = once(), once()
    assert first.value == second.value == [{"topic": "x", "list": [1, None]}, "y"]
    assert asked == ["looked_up", "done", "done"]
    assert (second.usage.calls, second.usage.cached) == (1, 1)


def test_functions_of_one_name_are_told_apart(tmp_path: Path) -> None:
    def first(topic: str) -> str:
        return f"first {topic}"

    def second(topic: str) -> str:
        return f"second {topic}"

    mark = prose.service(name="f", cacheable=True)
    assert [once_marked(mark(function), tmp_path) for function in (first, second)] == ["first x", "second x"]


def once_marked(function: Any, store: Path) -> Any:
    engine = Engine(services=[function], store=store, cache="both")
    return engine.outcome(engine.loads('return call f\n  topic: "x"'), {}).value


def script_of(reply: str) -> Any:
    from prose_lang.services import read_script
    from prose_lang.text import Source

    return read_script(Source("s.yaml", f"w: [{reply}]"))


def test_scripted_services_never_are(tmp_path: Path) -> None:
    for reply in ("one", "two"):
        engine = Engine(script=script_of(reply), store=tmp_path, cache="both")
        assert engine.outcome(engine.loads('return call w\n  topic: "x"'), {}).value == reply
    assert rows(tmp_path) == []


# --- judges and sessions ---------------------------------------------------------------------------------------------

JUDGED = "let l = for x in topic:\n  if x is polite:\n    return 1\n  return 0\nreturn l"


def judged(store: Path, fake: Fake, topic: Any) -> Outcome:
    engine = Engine(completion=fake, store=store, cache="both", judge=prose.ref("model:openai/j"))
    return engine.outcome(engine.loads(pattern(JUDGED)), {"topic": topic})


def test_a_judge_says_the_same_wherever_the_question_is_put(tmp_path: Path) -> None:
    yes, no = '{"reason": "so", "holds": true}', '{"reason": "so", "holds": false}'
    assert judged(tmp_path, Fake(yes, no), ["please", "now"]).value == [1, 0]
    outcome = judged(tmp_path, Fake(), ["now", "please", "now"])
    assert (outcome.value, outcome.usage.calls, outcome.usage.cached) == ([0, 1, 0], 0, 2)
    assert outcome.trace.decisions[0].judge == {
        "model": "openai/j", "prompt": "judge-1", "cached": True
    }  # fmt: skip


def test_an_answer_of_a_judge_that_is_none_is_not_kept(tmp_path: Path) -> None:
    service = prose.model_service("odd", model="openai/j", about="Say something.")
    engine = Engine(completion=Fake(then="maybe"), store=tmp_path, cache="both", judge=service)
    outcome = engine.outcome(engine.loads(pattern(JUDGED)), {"topic": ["x"]})
    assert outcome.error is not None
    assert outcome.error.code == "P402"
    assert rows(tmp_path) == []


def test_a_conversation_is_part_of_the_question(tmp_path: Path) -> None:
    body = (
        'agent ann:\n  model: "openai/m"\n  persist: true\nlet a = session: ann\n  prompt: "Hi"\n'
        'let b = resume: ann\n  prompt: "And?"\nlet c = resume: ann\n  prompt: "And?"\nreturn [a, b, c]'
    )
    settings = ModelSettings(allow_models=True, default="openai/m")
    fake = Numbered()
    outcomes = [run(tmp_path, fake, body, models=settings) for _ in range(2)]
    assert [outcome.value for outcome in outcomes] == [["answer 1", "answer 2", "answer 3"]] * 2
    assert (len(fake.requests), outcomes[1].usage.cached) == (3, 3)


# --- the record, cassettes, streams ----------------------------------------------------------------------------------


def test_a_hit_is_on_record_like_any_result(tmp_path: Path) -> None:
    run(tmp_path / "a", Numbered())
    run(tmp_path / "a", Numbered())
    engine = Engine(completion=Fake(), store=tmp_path / "a", models=ModelSettings(prices=PRICES))
    store = engine.resuming.store
    latest = store.runs()[0]
    store.drop_cached()
    names = {"w": prose.ref("model:openai/m")}
    replayed = engine.replay(latest.id, names)
    assert (replayed.value, replayed.usage.calls, replayed.usage.cached) == ("answer 1", 0, 1)
    assert replayed.trace.calls[0].cached
    kept = engine.resume(latest.id, names)
    assert (kept.value, kept.trace.calls[0].attempts, kept.trace.calls[0].cached) == ("answer 1", 0, True)


def test_a_run_that_is_gone_on_with_takes_no_answer_twice(tmp_path: Path) -> None:
    """Session one had the first sample from the cache and stopped at its limit; session two must get the second one."""
    body = 'let a = call w\n  q: "same"\nlet b = call v\n  q: "other"\nlet c = call w\n  q: "same"\nreturn [a, c]'
    slots = {"w": "model:openai/m", "v": "model:openai/n"}
    run(tmp_path, Numbered(), body, slots=slots)
    store = SqliteStore(tmp_path)
    with store._link.writing() as database:
        database.execute("DELETE FROM cache WHERE service = 'model:openai/n'")
    stopped = run(tmp_path, Fake(ServiceDown()), body, slots=slots)
    assert (stopped.status, stopped.usage.cached) == ("failed", 1)
    engine = Engine(completion=Numbered(100), store=tmp_path, cache="both")
    names = {name: prose.ref(reference) for name, reference in slots.items()}
    outcome = engine.resume(stopped.run_id, names, retry_errors=True)
    assert outcome.value == ["answer 1", "answer 3"]
    assert (outcome.usage.calls, outcome.usage.cached) == (2, 2)


class ServiceDown(prose.ServiceError):
    def __init__(self) -> None:
        super().__init__("P406", "it is down")


def test_with_a_cassette_there_is_no_cache(tmp_path: Path) -> None:
    fake, tape = Numbered(), tmp_path / "t.jsonl"
    run(tmp_path / "s", fake)
    for mode in ("record", "replay"):
        outcome = run(tmp_path / "s", fake, cassette=prose.Cassette(tape, mode))
        assert (outcome.value, outcome.usage.cached) == ("answer 2", None)
    assert run(tmp_path / "s", fake).value == "answer 1"


def test_a_hit_tells_its_text_in_one_piece(tmp_path: Path) -> None:
    events: list[Event] = []
    run(tmp_path, Numbered())
    run(tmp_path, Numbered(), observers=[events.append], stream=True)
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["answer 1"]
    [finished] = [event for event in events if isinstance(event, CallFinished)]
    assert (finished.cached, finished.attempts, finished.value) == (True, 0, "answer 1")


# --- stores that fail ------------------------------------------------------------------------------------------------


def test_a_damaged_answer_is_asked_for_again(tmp_path: Path) -> None:
    run(tmp_path, Numbered())
    with sqlite3.connect(tmp_path / "runs.sqlite") as database:
        database.execute("UPDATE cache SET result = replace(result, 'answer', 'anbwer')")
    outcome = run(tmp_path, Numbered(8))
    assert (outcome.value, outcome.uncached) == ("answer 9", None)
    assert run(tmp_path, Numbered()).value == "answer 9"


def test_so_is_one_whose_file_is_damaged_and_the_file_is_mended(tmp_path: Path) -> None:
    long = "x" * 100_000
    run(tmp_path, Fake(long))
    for file in (tmp_path / "files").rglob("*"):
        if file.is_file():
            file.write_bytes(b"y" + file.read_bytes()[1:])
    assert run(tmp_path, Fake(long)).usage.cached == 0
    assert run(tmp_path, Fake(long)).usage.cached == 1


class Failing(SqliteStore):
    """A store whose cache fails: at reading, or at writing."""

    fails: tuple[str, ...] = ()
    tried = 0

    def cached(self, key: str) -> Any:
        self.try_to("cached")
        return super().cached(key)

    def put_cached(self, cached: Any) -> None:
        self.try_to("put_cached")
        super().put_cached(cached)

    def try_to(self, what: str) -> None:
        if what in self.fails:
            self.tried += 1
            raise StoreError("P501", "the disk is gone")


@pytest.mark.parametrize("what", ["cached", "put_cached"])
def test_a_store_that_fails_is_told_once_and_the_run_goes_on(tmp_path: Path, what: str) -> None:
    store = Failing(tmp_path)
    store.fails = (what,)
    outcome = run(store, Numbered(), "return for x in [1, 2, 3]:\n  return call w\n    q: x")
    assert outcome.value == ["answer 1", "answer 2", "answer 3"]
    assert (outcome.uncached.message, store.tried) == ("the disk is gone", 1)  # type: ignore[union-attr]
    assert outcome.unrecorded is None


def test_arguments_that_make_no_sense(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="store="):
        Engine(cache="both")
    with pytest.raises(ValueError, match="'all'"):
        Engine(store=tmp_path, cache="all")  # type: ignore[arg-type]


# --- through litellm -------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
def test_a_real_client_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with chat_server() as server:
        models = ModelSettings(providers={"openai": Provider(base_url=server.url)}, prices=PRICES)
        for streams in (False, True):
            server.begin(says("rain falls"))
            values = [run(tmp_path / str(streams), None, models=models, stream=streams).value for _ in range(2)]
            assert (values, len(server.requests)) == (["rain falls"] * 2, 1)
