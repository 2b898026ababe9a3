"""Going on with recorded runs: what is read back, what is made again, and what is refused (L29, L34, L35)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dying_store import DyingStore
from models_fakes import Fake

import prose_lang as prose
from prose_lang import Cassette, Engine, Limits, ModelSettings, Outcome, Price, Quota, Script
from prose_lang.engine.replaying import replayed
from prose_lang.journal import open_store
from prose_lang.testing.clock import run_virtual

STEPS = """\
let log = []
repeat 3 as round:
  let found = call worker
    round: round
  record found in log
return log
"""


def run(engine: Engine, text: str, names: dict[str, Any] | None = None) -> Outcome:
    return run_virtual(engine.outcome_async(engine.loads(text), names or {}))


def resume(engine: Engine, run: str, names: dict[str, Any] | None = None, **how: Any) -> Outcome:
    return run_virtual(engine.resuming.outcome_async(run, names or {}, **how))


def states(folder: Path, run: str) -> dict[str, str]:
    return {entry.key: entry.state for entry in open_store(folder).entries(run)}


class Counting:
    """A service that notes what it was called with, and answers from a list of values and errors, then with its
    input."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls: list[Any] = []
        self.keys: list[str] = []

    async def __call__(self, round: Any = None, **more: Any) -> Any:
        self.calls.append(round)
        call = prose.current_call()
        assert call is not None
        self.keys.append(call.idempotency_key)
        answer = self.answers.pop(0) if self.answers else round
        if isinstance(answer, BaseException):
            raise answer
        return answer


# --- changed sources and inputs (P502) -------------------------------------------------------------------------------

PATTERN = """\
---
name: outer
kind: pattern
---
### Requires
- `topic`: string -- what
### Delegation
```prose
let a = call worker
  round: topic
let b = call inner
  topic: "b"
let c = call worker
  round: "c"
return { a: a, b: b, c: c }
```
"""
INNER = """\
---
name: inner
kind: pattern
---
### Requires
- `topic`: string -- what
### Delegation
```prose
return call worker
  round: topic
```
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "prose.toml").touch()
    (folder / "outer.prose.md").write_text(PATTERN)
    (folder / "inner.prose.md").write_text(INNER)
    return folder


def interrupted(folder: Path, *answers: Any) -> str:
    """A run of the pattern whose last call met a limit; gives its id."""
    worker = Counting(*answers)
    engine = Engine(services={"worker": worker}, store=folder / "store", limits=Limits(calls=2))
    outcome = engine.outcome(engine.load("outer.prose.md"), {"topic": "a"})
    assert (outcome.status, worker.calls) == ("limited", ["a", "b"])
    return outcome.run_id


def test_what_changed_is_shown_as_a_difference_and_nothing_is_called(project: Path) -> None:
    run_id = interrupted(project)
    (project / "outer.prose.md").write_text(PATTERN.replace('round: "c"', 'round: "d"'))
    (project / "inner.prose.md").write_text(INNER.replace("return call", "let x = 1\nreturn call"))
    worker = Counting()
    engine = Engine(services={"worker": worker}, store=project / "store")
    outcome = resume(engine, run_id)
    assert (outcome.status, outcome.error and outcome.error.code, worker.calls) == ("invalid", "P502", [])
    assert outcome.error is not None
    assert outcome.error.hint is not None
    lines = outcome.error.hint.splitlines()
    assert lines[0] == "what was recorded (-) and what there is now (+):"
    assert [line for line in lines if line[0] in "+-"] == [
        "--- outer.prose.md", "+++ outer.prose.md", '-  round: "c"', '+  round: "d"',
        "--- inner.prose.md", "+++ inner.prose.md", "+let x = 1",
        "--accept-changes goes on all the same: what still matches is read back",
    ]  # fmt: skip
    assert "changed: its sources" not in outcome.error.message
    assert outcome.error.message.endswith("is not the same any more: its sources changed")


def test_accepted_changes_reuse_what_matches_and_the_record_is_of_them(project: Path) -> None:
    run_id = interrupted(project)
    (project / "outer.prose.md").write_text(PATTERN.replace('topic: "b"', 'topic: "B"'))
    worker = Counting()
    engine = Engine(services={"worker": worker}, store=project / "store")
    outcome = resume(engine, run_id, accept_changes=True)
    assert (outcome.value, worker.calls) == ({"a": "a", "b": "B", "c": "c"}, ["B", "c"])
    address = f"{run_id}:delegation/1.call:inner/delegation/0.call:worker"
    # A service that knows the work by its key must not take it for what it was before.
    assert worker.keys[0].startswith(f"{address}:")
    assert worker.keys[1] == f"{run_id}:delegation/2.call:worker"
    assert run_virtual(replayed(engine, run_id)).diverges is None
    assert resume(Engine(store=project / "store"), run_id).value == outcome.value


def test_a_key_of_a_changed_call_stays_the_same_when_it_is_made_again(project: Path) -> None:
    run_id = interrupted(project)
    (project / "outer.prose.md").write_text(PATTERN.replace("round: topic", "round: topic + topic"))
    store = DyingStore(project / "store", 1)
    first = Counting()
    killed = resume(Engine(services={"worker": first}, store=store), run_id, accept_changes=True)
    assert killed.unrecorded is not None
    second = Counting()
    outcome = resume(Engine(services={"worker": second}, store=project / "store"), run_id)
    assert outcome.value == {"a": "aa", "b": "b", "c": "c"}
    assert second.keys[0] == first.keys[0]
    assert second.keys[0].startswith(f"{run_id}:delegation/0.call:worker:")


def test_changed_inputs_are_told_and_may_be_accepted(project: Path) -> None:
    run_id = interrupted(project)
    engine = Engine(services={"worker": Counting()}, store=project / "store")
    outcome = resume(engine, run_id, {"topic": "z"})
    assert outcome.error is not None
    assert outcome.error.code == "P502"
    assert "what it was given changed" in outcome.error.message
    assert "- topic: a\n+ topic: z" in (outcome.error.hint or "")
    worker = Counting()
    engine = Engine(services={"worker": worker}, store=project / "store")
    outcome = resume(engine, run_id, {"topic": "z"}, accept_changes=True)
    assert (outcome.value, worker.calls) == ({"a": "z", "b": "b", "c": "c"}, ["z", "c"])


def test_a_race_of_a_program_that_changed_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who won is no result of a call: of a changed program it would be a stale answer (L35)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prose.toml").touch()
    text = 'let w = parallel ("first"):\n  call a\n    n: 1\n  call b\n    n: 1\nlet z = call c\n  n: w\nreturn w\n'
    file = tmp_path / "race.prose.md"

    def engine(limit: int, slow: float) -> Engine:
        async def a(n: int) -> str:
            await asyncio.sleep(slow)
            return "a"

        async def b(n: int) -> str:
            await asyncio.sleep(1)
            return "b"

        async def c(n: str) -> str:
            return n

        limits = Limits(calls=limit)
        return Engine(services={"a": a, "b": b, "c": c}, store=tmp_path / "store", limits=limits)

    body = "---\nname: race\nkind: pattern\n---\n### Delegation\n```prose\n{}```\n"
    file.write_text(body.format(text))
    made = engine(2, 5)
    first = run_virtual(made.outcome_async(made.load("race.prose.md"), {}))
    assert first.status == "limited"
    assert resume(engine(9, 0.5), first.run_id).value == "b"  # as it was decided, however fast the other is now
    file.write_text(body.format(text.replace("call b\n    n: 1", "call b\n    n: 2")))
    assert resume(engine(9, 0.5), first.run_id, accept_changes=True).value == "a"


# --- who has it (P503), and what is no run (P501) --------------------------------------------------------------------


def test_a_run_that_another_process_works_on_is_left_alone(tmp_path: Path) -> None:
    engine = Engine(services={"worker": Counting()}, store=tmp_path, limits=Limits(calls=1))
    first = run(engine, STEPS)
    store = open_store(tmp_path)
    hold = store.hold(first.run_id)
    outcome = resume(engine, first.run_id)
    assert (outcome.status, outcome.error and outcome.error.code) == ("invalid", "P503")
    assert run_virtual(replayed(engine, first.run_id)).diverges is None  # which takes nothing
    hold.release()
    assert resume(engine, first.run_id).status == "limited"
    assert not store.held(first.run_id)


def test_a_run_is_free_after_every_way_out(tmp_path: Path) -> None:
    engine = Engine(services={"worker": Counting()}, store=tmp_path, limits=Limits(calls=1))
    first = run(engine, STEPS)
    store = open_store(tmp_path)
    for how in ({}, {"names": {"nobody": 1}}, {"answers": {"x": 1}}, {"replay": True}, {"names": {"a": lambda: 1}}):
        assert resume(engine, first.run_id, **how).status in ("limited", "invalid", "failed")
        assert not store.held(first.run_id)


def test_there_has_to_be_a_run_and_a_store(tmp_path: Path) -> None:
    with pytest.raises(prose.ProseError, match="no record of the run `nothing`") as caught:
        Engine(store=tmp_path).resume("nothing")
    assert caught.value.code == "P501"
    with pytest.raises(ValueError, match="keeps no runs"):
        Engine().resume("nothing")


# --- errors and limits -----------------------------------------------------------------------------------------------


def test_an_error_is_read_back_unless_it_is_to_be_tried_again(tmp_path: Path) -> None:
    worker = Counting(1, OSError("down"))
    first = run(Engine(services={"worker": worker}, store=tmp_path), STEPS)
    assert (first.status, first.usage.calls) == ("failed", 2)
    again = Counting()
    engine = Engine(services={"worker": again}, store=tmp_path)
    outcome = resume(engine, first.run_id)
    assert (outcome.status, outcome.error and outcome.error.message, again.calls) == ("failed", "down", [])
    assert run_virtual(replayed(engine, first.run_id)).diverges is None
    outcome = resume(engine, first.run_id, retry_errors=True)
    assert (outcome.value, again.calls, outcome.usage.calls) == ([1, 2, 3], [2, 3], 4)


def test_branches_that_a_failure_cut_off_run_when_it_is_tried_again(tmp_path: Path) -> None:
    text = "return parallel for x in [1, 2, 3]:\n  call worker\n    round: x\n"

    def engine(down: bool) -> tuple[Engine, list[int]]:
        seen: list[int] = []

        async def worker(round: int) -> int:
            seen.append(round)
            await asyncio.sleep(round if down else 0)
            if down and round == 2:
                raise OSError("down")
            return round * 10

        return Engine(services={"worker": worker}, store=tmp_path), seen

    first = run(engine(True)[0], text)
    assert first.error is not None
    assert first.error.message == "down"
    made, seen = engine(False)
    assert resume(made, first.run_id).status == "failed"
    assert seen == []  # the third had not ended when the second failed: it is not started for nothing
    assert resume(made, first.run_id, retry_errors=True).value == [10, 20, 30]
    assert seen == [2, 3]


def test_what_depended_on_an_error_is_made_anew(tmp_path: Path) -> None:
    text = """\
let a = null
try:
  a = call worker
    round: 1
catch:
  a = "none"
let b = call worker
  round: a
let c = call worker
  round: 3
return [a, b, c]
"""
    first = run(Engine(services={"worker": Counting(OSError("down"), "b", OSError("down"))}, store=tmp_path), text)
    assert first.status == "failed"
    worker = Counting("a", "b of a", "c")
    outcome = resume(Engine(services={"worker": worker}, store=tmp_path), first.run_id, retry_errors=True)
    assert (outcome.value, worker.calls) == (["a", "b of a", "c"], [1, "a", 3])


def test_a_race_that_was_won_is_not_run_again_for_its_losers_errors(tmp_path: Path) -> None:
    text = """\
let w = parallel ("first"):
  call fails
    n: 1
  call works
    n: 2
let z = call worker
  round: w
return [w, z]
"""

    def engine(down: bool, worker: Counting) -> Engine:
        async def fails(n: int) -> str:
            if down:
                raise OSError("down")
            return "first"

        async def works(n: int) -> str:
            await asyncio.sleep(1)
            return "second"

        return Engine(services={"fails": fails, "works": works, "worker": worker}, store=tmp_path)

    first = run(engine(True, Counting(OSError("down"))), text)
    assert first.status == "failed"
    outcome = resume(engine(False, Counting("z")), first.run_id, retry_errors=True)
    assert outcome.value == ["second", "z"]


def test_the_error_that_is_read_back_is_the_one_that_was_caught(tmp_path: Path) -> None:
    """L27: `e` is the same, down to the attempts and what was thrown."""
    text = """\
let seen = null
try:
  call worker
    round: 1
    retry: 2
catch as e:
  seen = e
let b = call worker
  round: 2
return seen
"""

    def error() -> prose.RunError:
        return prose.RunError("P406", "no", error_name="not-today", service="somebody", thrown={"error": "x", "n": 1})

    engine = Engine(services={"worker": Counting(error(), error(), error())}, store=tmp_path, limits=Limits(calls=3))
    first = run(engine, text)
    assert first.status == "limited"
    outcome = resume(Engine(services={"worker": Counting()}, store=tmp_path), first.run_id)
    assert outcome.value == {
        "name": "not-today", "code": "P406", "message": "no", "service": "somebody", "attempts": 3,
        "value": {"error": "x", "n": 1},
    }  # fmt: skip
    undisturbed = run(Engine(services={"worker": Counting(error(), error(), error())}), text)
    assert outcome.value == undisturbed.value


def test_attempts_that_had_failed_are_not_made_again(tmp_path: Path) -> None:
    text = "let a = call worker\n  round: 1\n  retry: 3\n  backoff: linear\nreturn a\n"
    failing = [OSError("1"), OSError("2"), OSError("3")]
    # Changes: begun 1, failed 1, begun 2, failed 2, begun 3 …
    for left, attempts in ((1, [1, 2, 3, 4]), (2, [2, 3, 4]), (3, [2, 3, 4]), (4, [3, 4]), (5, [3, 4]), (6, [4])):
        folder = tmp_path / str(left)
        killed = run(Engine(services={"worker": Counting(*failing)}, store=DyingStore(folder, left)), text)
        assert killed.unrecorded is not None
        seen: list[int] = []

        async def worker(round: int) -> int:
            call = prose.current_call()
            assert call is not None
            seen.append(call.attempt)  # noqa: B023
            if call.attempt < 4:
                raise OSError(str(call.attempt))
            return round

        assert resume(Engine(services={"worker": worker}, store=folder), killed.run_id).value == 1
        assert seen == attempts


@pytest.mark.parametrize("field", ["calls", "tokens", "cost", "quota"])
def test_limits_count_all_sessions_of_a_run(tmp_path: Path, field: str) -> None:
    """§9 L34. Each request is 100 tokens in and 10 out, a thousandth of a dollar each hundred."""
    settings = ModelSettings(
        prices={"openai/x": Price(input=10.0, output=0.0)},
        default="openai/x",
        parameters={"openai/x": {"max_tokens": 10}},
    )
    text = 'repeat 6 as i:\n  session "number {i}"\nreturn "done"\n'
    limits = {
        "calls": (Limits(calls=2), Limits(calls=4)),
        "tokens": (Limits(tokens=250), Limits(tokens=470)),
        "cost": (Limits(cost=0.0025), Limits(cost=0.0045)),
        "quota": (Limits(quotas={"session": Quota(calls=2)}), Limits(quotas={"session": Quota(calls=4)})),
    }[field]
    counts = []
    run_id = None
    for limit in limits:
        fake = Fake(then="fine")
        engine = Engine(completion=fake, models=settings, store=tmp_path, limits=limit)
        outcome = run(engine, text) if run_id is None else resume(engine, run_id)
        run_id = outcome.run_id
        counts.append(len(fake.requests))
        assert outcome.status == "limited", outcome.error
    fake = Fake(then="fine")
    outcome = resume(Engine(completion=fake, models=settings, store=tmp_path), run_id)
    counts.append(len(fake.requests))
    assert (outcome.value, sum(counts), outcome.usage.calls) == ("done", 6, 6)
    assert min(counts) >= 1, counts
    assert (outcome.usage.tokens_in, outcome.usage.tokens_out) == (600, 60)
    if field in ("calls", "quota"):
        assert counts == [2, 2, 2]


def test_wall_time_counts_all_sessions_of_a_run(tmp_path: Path) -> None:
    async def worker(round: int) -> int:
        await asyncio.sleep(0.15)
        return round

    services = {"worker": worker}
    engine = Engine(services=services, store=tmp_path, limits=Limits(seconds=0.2))
    first = engine.outcome(engine.loads(STEPS), {})
    assert first.status == "limited"
    again = engine.interruptible(lambda holder: engine.resuming.outcome_async(first.run_id, {}, holder))
    assert (again.status, again.usage.calls) == ("limited", first.usage.calls)  # nothing of it is left
    more = Engine(services=services, store=tmp_path, limits=Limits(seconds=30))
    assert more.resume(first.run_id).value == [1, 2, 3]


# --- interrupts and `finally` ----------------------------------------------------------------------------------------

CLEANING = """\
let log = []
try:
  let a = call worker
    round: "a"
  record a in log
  let p = call person
    question: "Well?"
  record p in log
finally:
  let c = parallel ("first"):
    call worker
      round: "clean"
    call never
      n: 1
  record c in log
return log
"""


def test_a_finally_that_ran_for_a_person_runs_again_when_the_run_comes_there(tmp_path: Path) -> None:
    async def never(n: int) -> int:
        await asyncio.sleep(1000)
        return n

    worker = Counting()
    engine = Engine(services={"worker": worker, "never": never}, store=tmp_path)
    first = run(engine, CLEANING)
    assert (first.status, worker.calls) == ("waiting", ["a", "clean"])
    # Only what is no part of the end counts: the race in `finally` is to be decided again.
    found = states(tmp_path, first.run_id)
    assert not [key for key in found if key.startswith(("join:", "failure:"))]
    assert next(state for key, state in found.items() if key.startswith("leaving:")) == "value"
    assert run_virtual(replayed(engine, first.run_id)).diverges is None
    outcome = resume(engine, first.run_id, answers={"person": "yes"})
    assert (outcome.value, worker.calls) == (["a", "yes", "clean"], ["a", "clean", "clean"])


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    started = []

    async def worker(round: int) -> int:
        started.append(round)
        await asyncio.sleep(10 if round == 2 and len(started) == 2 else 0)
        return round

    engine = Engine(services={"worker": worker}, store=tmp_path)

    async def main() -> Outcome:
        holder: list[Outcome] = []
        task = asyncio.create_task(engine.outcome_async(engine.loads(STEPS), {}, holder))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return holder[0]

    first = run_virtual(main())
    assert (first.status, open_store(tmp_path).run(first.run_id).status) == ("interrupted", "interrupted")
    assert run_virtual(replayed(engine, first.run_id)).diverges is None
    outcome = resume(engine, first.run_id)
    assert (outcome.value, started, outcome.usage.calls) == ([1, 2, 3], [1, 2, 2, 3], 4)
    assert resume(engine, first.run_id).value == [1, 2, 3]
    assert started == [1, 2, 2, 3]


@pytest.mark.parametrize("moment", ["create", "reopen", "write"])
def test_an_interrupt_while_the_record_is_begun_or_ended_loses_nothing(tmp_path: Path, moment: str) -> None:
    """The interrupt comes while the store works; what it does is awaited, and the run is as it says."""
    worker = Counting()
    inner = open_store(tmp_path)
    ready: list[Callable[[], None]] = []

    class Store:
        def __getattr__(self, name: str) -> Any:
            method = getattr(inner, name)
            if name != moment:
                return method

            def called(*args: Any, **more: Any) -> Any:
                last = name != "write" or any(type(change).__name__ == "Finished" for change in args[0])
                if ready and last:
                    ready.pop()()
                return method(*args, **more)

            return called

    first = None
    if moment == "reopen":
        first = run(Engine(services={"worker": Counting()}, store=tmp_path, limits=Limits(calls=1)), STEPS).run_id
    engine = Engine(services={"worker": worker}, store=Store())  # type: ignore[arg-type]

    async def main() -> Outcome:
        loop = asyncio.get_running_loop()
        holder: list[Outcome] = []
        work = (
            engine.outcome_async(engine.loads(STEPS), {}, holder)
            if first is None
            else engine.resuming.outcome_async(first, {}, holder)
        )
        task = asyncio.create_task(work)
        ready.append(lambda: loop.call_soon_threadsafe(task.cancel))
        with pytest.raises(asyncio.CancelledError):
            await task
        return holder[0]

    ended = asyncio.run(main())
    status = "ok" if moment == "write" else "interrupted"
    assert (ended.status, inner.run(ended.run_id).status, inner.held(ended.run_id)) == (status, status, False)
    assert worker.calls == ([1, 2, 3] if moment == "write" else [])
    assert resume(Engine(services={"worker": worker}, store=tmp_path), ended.run_id).value == [1, 2, 3]


# --- judges ----------------------------------------------------------------------------------------------------------

JUDGED = """\
let x = "text"
if **x is truly fine**:
  let a = call worker
    round: 1
  let b = call worker
    round: 2
  return "fine"
return "not fine"
"""


def test_what_a_judge_said_is_read_back(tmp_path: Path) -> None:
    asked = []

    def judge(**question: Any) -> dict[str, Any]:
        asked.append(question)
        return {"holds": len(asked) == 1, "reason": "it is"}

    limits = Limits(calls=2)
    first = run(Engine(services={"worker": Counting()}, judge=judge, store=tmp_path, limits=limits), JUDGED)
    assert (first.status, len(asked)) == ("limited", 1)
    outcome = resume(Engine(services={"worker": Counting()}, judge=judge, store=tmp_path), first.run_id)
    assert (outcome.value, len(asked)) == ("fine", 1)
    assert [decision.reason for decision in outcome.trace.decisions] == ["it is"]


def test_what_a_model_judged_is_read_back_without_a_key(tmp_path: Path) -> None:
    fake = Fake('{"reason": "it is said so", "holds": true}')
    limits = Limits(calls=2)
    first = run(
        Engine(services={"worker": Counting()}, completion=fake, judge="model:openai/x", store=tmp_path, limits=limits),
        JUDGED,
    )
    assert (first.status, len(fake.requests)) == ("limited", 1)
    outcome = resume(
        Engine(services={"worker": Counting()}, completion=fake, judge="model:openai/x", store=tmp_path), first.run_id
    )
    assert (outcome.value, len(fake.requests)) == ("fine", 1)
    assert outcome.usage.tokens_in == 100
    replay = run_virtual(
        replayed(Engine(services={"worker": Counting()}, judge="model:openai/x", store=tmp_path), first.run_id)
    )
    assert replay.diverges is None


def test_a_judge_whose_answers_were_of_no_use_is_asked_again(tmp_path: Path) -> None:
    """P402 is no outcome: with a judge that has been mended the run goes on."""
    bad, good = [], []
    engine = Engine(services={"worker": Counting()}, judge=lambda **q: bad.append(1) or "hm", store=tmp_path)
    first = run(engine, JUDGED)
    assert (first.error and first.error.code, len(bad)) == ("P402", 2)
    assert run_virtual(replayed(engine, first.run_id)).diverges is None

    def judge(**question: Any) -> dict[str, Any]:
        good.append(1)
        return {"holds": False, "reason": "no"}

    outcome = resume(Engine(services={"worker": Counting()}, judge=judge, store=tmp_path), first.run_id)
    assert (outcome.value, len(good), outcome.usage.calls) == ("not fine", 1, 3)


def test_each_question_to_a_judge_has_a_key_of_its_own(tmp_path: Path) -> None:
    keys = []

    def judge(**question: Any) -> Any:
        call = prose.current_call()
        assert call is not None
        keys.append(call.idempotency_key.partition(":")[2])
        return "hm" if len(keys) == 1 else {"holds": True, "reason": "it is"}

    outcome = run(Engine(services={"worker": Counting()}, judge=judge, store=tmp_path), JUDGED)
    assert (outcome.value, keys) == ("fine", ["delegation/1.if0.if", "delegation/1.if0.if#1"])


def test_a_run_without_the_judge_it_needs_goes_on_with_one(tmp_path: Path) -> None:
    first = run(Engine(services={"worker": Counting()}, store=tmp_path), JUDGED)
    assert first.error is not None
    assert first.error.code == "P403"
    script = Script.from_data({"judge": [{"holds": True, "reason": "scripted"}]})
    engine = Engine(services={"worker": Counting()}, script=script, judge="judge", store=tmp_path)
    assert resume(engine, first.run_id).value == "fine"


# --- scripts and cassettes -------------------------------------------------------------------------------------------

SCRIPTED = """\
let all = parallel for x in [1, 2, 3]:
  let a = call poet
    n: x
  let b = call poet
    n: a
  return b
let last = call poet
  n: 9
  retry: 1
if **it went truly well**:
  return { all: all, last: last }
return null
"""


def test_a_script_is_in_step_wherever_the_run_was_killed(tmp_path: Path) -> None:
    data = {
        "poet": [
            {"when": {"n": 2}, "returns": "two", "delay": 3}, {"returns": "one", "delay": 1},
            {"returns": "three", "delay": 2}, "one again", "two again", "three again", {"raises": "busy"}, "last",
        ],
        "judge": [{"holds": True, "reason": "scripted"}],
    }  # fmt: skip
    script = Script.from_data(data)
    whole = run(Engine(script=script, judge="judge"), SCRIPTED)
    assert whole.value["last"] == "last"
    for left in range(40):
        folder = tmp_path / str(left)
        killed = run(Engine(script=script, judge="judge", store=DyingStore(folder, left)), SCRIPTED)
        if killed.unrecorded is None:
            break
        outcome = resume(Engine(script=script, judge="judge", store=folder), killed.run_id)
        assert outcome.status == "ok", (left, outcome.error and outcome.error.render())
        assert outcome.value["last"] == "last"
        assert outcome.value == whole.value, left
    else:
        raise AssertionError("it never came to its end")


def test_a_scripted_entry_is_in_step_as_well(tmp_path: Path) -> None:
    text = """\
---
name: whole
kind: pattern
---
### Delegation
```prose
let a = call poet
  n: 1
let b = call poet
  n: 1
let c = call poet
  n: 1
return [a, b, c]
```

## poet
---
kind: function
---
### Requires
- `n`: number -- which
### Ensures
- `poem`: the poem
"""
    script = Script.from_data({"poet": [{"poem": "one"}, "two", {"poem": "three"}]})
    engine = Engine(script=script, store=tmp_path, limits=Limits(calls=2))
    first = run(engine, text)
    assert first.status == "limited"
    outcome = resume(Engine(script=script, store=tmp_path), first.run_id)
    assert outcome.value == ["one", "two", "three"]


def test_a_cassette_is_in_step_as_well(tmp_path: Path) -> None:
    """Equal requests are answered in the order of the recording; what the record knows is left out of it."""
    text = 'let a = session "Hi"\nlet b = session "Hi"\nlet c = session "Hi"\nreturn [a, b, c]\n'
    fake = Fake("one", "two", "three")
    tape = tmp_path / "tape.jsonl"
    whole = run(Engine(completion=fake, model="openai/x", cassette=Cassette(tape, "record")), text)
    assert whole.value == ["one", "two", "three"]
    for calls in (1, 2):
        store = tmp_path / str(calls)
        first = run(Engine(model="openai/x", cassette=Cassette(tape), store=store, limits=Limits(calls=calls)), text)
        assert first.status == "limited"
        outcome = resume(Engine(model="openai/x", cassette=Cassette(tape), store=store), first.run_id)
        assert outcome.value == whole.value


def test_a_cassette_that_is_recorded_over_several_sessions_is_one_recording(tmp_path: Path) -> None:
    """Equal requests of all sessions stand in it, and of a call that was cut off only what it gave in the end."""
    text = """\
let a = session "Hi"
let b = session "Hi"
let c = session "Hi"
let d = call worker
  round: 1
  retry: 1
return [a, b, c, d]
"""
    tape = tmp_path / "tape.jsonl"

    def engine(fake: Fake, mode: str = "record") -> Engine:
        services = {"worker": Counting(OSError("busy"), "d")}
        cassette = Cassette(tape, mode)  # type: ignore[arg-type]
        return Engine(services=services, completion=fake, model="openai/x", cassette=cassette, store=tmp_path / "runs")

    async def cut_off() -> str:
        holder: list[Outcome] = []
        made = engine(Fake("one", "two", seconds=10))
        task = asyncio.create_task(made.outcome_async(made.loads(text), {}, holder))
        await asyncio.sleep(15)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return holder[0].run_id

    run_id = run_virtual(cut_off())
    assert [json.loads(line)["answer"].get("cancelled") for line in tape.read_text().splitlines()] == [None, True]
    outcome = resume(engine(Fake("two", "three")), run_id)
    assert outcome.value == ["one", "two", "three", "d"]
    assert len({json.loads(line)["recording"] for line in tape.read_text().splitlines()}) == 1
    replay = Engine(services={"worker": Counting()}, model="openai/x", cassette=Cassette(tape))
    assert run(replay, text).value == outcome.value


# --- conversations ---------------------------------------------------------------------------------------------------

TALK = """\
agent poet:
  persist: project
let a = session: poet
  prompt: "one"
let b = resume: poet
  prompt: "two"
let c = resume: poet
  prompt: "three"
return [a, b, c]
"""


def said(fake: Fake) -> list[list[str]]:
    return [[message.text for message in request.messages if message.role != "system"] for request in fake.requests]


def test_a_conversation_is_gone_on_with_from_where_the_run_found_it(project: Path) -> None:
    before = run(Engine(completion=Fake("zero"), model="openai/x"), TALK.replace("let b", "return a\nlet b"))
    assert before.status == "ok"
    whole = Fake("A", "B", "C")
    first = Engine(completion=whole, model="openai/x", store=project / "store", limits=Limits(calls=2))
    stopped = run(first, TALK)
    assert stopped.status == "limited"
    fake = Fake("C")
    engine = Engine(completion=fake, model="openai/x", store=project / "store")
    outcome = resume(engine, stopped.run_id)
    assert outcome.value == ["A", "B", "C"]
    assert [text for text in said(fake)[0] if text in "ABC"] == ["A", "B"]
    kept = json.loads((project / ".prose" / "agents" / "poet.json").read_text())
    assert [turn["answer"] for turn in kept["turns"]] == ["A", "B", "C"]


def test_a_replay_does_not_look_at_what_became_of_a_conversation(project: Path) -> None:
    first = run(Engine(completion=Fake("A", "B", "C"), model="openai/x", store=project / "store"), TALK)
    assert first.status == "ok"
    more = 'agent poet:\n  persist: project\nreturn resume: poet\n  prompt: "four"\n'
    assert run(Engine(completion=Fake("D"), model="openai/x"), more).value == "D"
    file = project / ".prose" / "agents" / "poet.json"
    before = file.read_bytes()
    replay = run_virtual(replayed(Engine(model="openai/x", store=project / "store"), first.run_id))
    assert (replay.diverges, replay.outcome.value) == (None, ["A", "B", "C"])
    assert file.read_bytes() == before


# --- secrets ---------------------------------------------------------------------------------------------------------


def test_secrets_are_given_again_and_calls_that_gave_one_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_API_KEY", 'sk-"1234\\5678')
    monkeypatch.setenv("SOME_PASSWORD", "12345678")
    secret = 'sk-"1234\\5678'
    text = """\
---
name: whole
kind: pattern
---
### Requires
- `token`: string -- a key
- `number`: number -- a number with a secret in it
### Delegation
```prose
let a = call worker
  round: token
let b = call worker
  round: number
let c = call worker
  round: "no {token}"
return [a, b.n, c]
```
"""
    worker = Counting(f"with {secret}", {"n": 12345678, "t": "x"}, OSError(f"not with {secret}"))
    first = run(Engine(services={"worker": worker}, store=tmp_path), text, {"token": secret, "number": 123456789})
    assert first.status == "failed"
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert b"1234\\" not in file.read_bytes()
    again = Counting()
    engine = Engine(services={"worker": again}, store=tmp_path)
    outcome = resume(engine, first.run_id)
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == (
        "P203", "`token` held a secret, which the record does not keep",
    )  # fmt: skip
    outcome = resume(engine, first.run_id, {"token": secret})
    assert (outcome.error and outcome.error.message, again.calls) == ("not with [redacted]", [secret, 123456789])
    assert recorded_is_readable(tmp_path, first.run_id)


def recorded_is_readable(folder: Path, run: str) -> bool:
    from prose_lang.engine.recorded_outcome import trace

    found = trace(run, open_store(folder))
    return len(found.calls) == 3
