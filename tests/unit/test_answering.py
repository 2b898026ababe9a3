"""Persons' answers: which call they are for, what they become, and what is refused (P411, L32, L33)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import prose_lang as prose
from prose_lang import Engine, Outcome
from prose_lang.engine import Given
from prose_lang.testing.clock import run_virtual

ASKED = """\
---
name: whole
kind: pattern
---
### Delegation
```prose
BODY
```

## boss
---
kind: function
---
### Requires
- `question`: string -- what is asked
### Ensures
- `amount`: number -- how much
- `urgent`: boolean -- whether at once
- `note`: string -- (optional) anything else

## clerk
---
kind: function
---
### Requires
- `question`: string -- what is asked
### Ensures
- `amount`: integer -- how much
"""


async def asking(question: str = "", **more: Any) -> None:
    raise prose.WaitingError("P411", f"asked: {question}", service="somebody")


def engine(store: Path, **services: Any) -> Engine:
    return Engine(services={"boss": asking, "clerk": asking, "ask": asking, **services}, store=store)


def waiting(store: Path, body: str, **services: Any) -> Outcome:
    made = engine(store, **services)
    text = ASKED.replace("BODY", body.strip()) if "call boss" in body or "call clerk" in body else body
    outcome = run_virtual(made.outcome_async(made.loads(text), {}))
    assert outcome.status == "waiting", outcome.error and outcome.error.render()
    return outcome


def answer(store: Path, run: str, *, text: bool = False, **answers: Any) -> Outcome:
    given = {name: Given(value, text=text) for name, value in answers.items()}
    return run_virtual(engine(store).resuming.outcome_async(run, {}, answers=given))


def refused(store: Path, run: str, *, text: bool = False, **answers: Any) -> list[tuple[str | None, str, str | None]]:
    outcome = answer(store, run, text=text, **answers)
    assert outcome.status == "invalid"
    assert outcome.error is not None
    return [(item.code, item.message, item.hint) for item in outcome.error.diagnostics]


BOSS = 'let found = call boss\n  question: "how much?"\nreturn found'


def test_texts_become_what_the_service_declares(tmp_path: Path) -> None:
    run = waiting(tmp_path, BOSS).run_id
    outcome = answer(tmp_path, run, text=True, amount="12.5", urgent="true", note="17")
    assert outcome.value == {"amount": 12.5, "urgent": True, "note": "17"}


@pytest.mark.parametrize("value", ['{"amount": 1, "urgent": false}', {"amount": 1, "urgent": False}])
def test_an_answer_as_a_whole(tmp_path: Path, value: Any) -> None:
    run = waiting(tmp_path, BOSS).run_id
    assert answer(tmp_path, run, text=isinstance(value, str), boss=value).value == {"amount": 1, "urgent": False}


def test_what_does_not_fit_is_refused_and_the_run_waits_on(tmp_path: Path) -> None:
    run = waiting(tmp_path, BOSS).run_id
    fields = "an answer may be given by its fields: amount=… urgent=… note=…"
    assert refused(tmp_path, run, text=True, amount="12") == [("P203", "the answer for `boss` lacks `urgent`", fields)]
    assert refused(tmp_path, run, text=True, boss="12") == [
        ("P211", "`boss` is to be an object with amount, urgent, note", fields)
    ]
    [(code, message, _)] = refused(tmp_path, run, text=True, amount="many", urgent="true")
    assert (code, message) == ("P211", '`amount` is "many", a string, where number is declared')
    [(code, message, _)] = refused(tmp_path, run, amount=1, urgent="true")
    assert (code, message) == ("P211", '`urgent` is "true", a string, where boolean is declared')
    [(code, message, _)] = refused(tmp_path, run, boss=object())
    assert (code, message[:6]) == ("P211", "`boss`")
    assert answer(tmp_path, run, boss={"amount": 1, "urgent": True}).value["amount"] == 1


def test_a_single_output_is_given_bare_or_by_its_name(tmp_path: Path) -> None:
    body = 'let found = call clerk\n  question: "how much?"\nreturn found + 1'
    for number, (text, answers) in enumerate(
        [(True, {"clerk": "41"}), (True, {"amount": "41"}), (False, {"clerk": {"amount": 41}}), (False, {"clerk": 41})]
    ):
        store = tmp_path / str(number)
        run = waiting(store, body).run_id
        assert answer(store, run, text=text, **answers).value == 42
    run = waiting(tmp_path, body).run_id
    assert refused(tmp_path, run, text=True, clerk="4.5")[0][:2] == (
        "P211", "`clerk` is 4.5, a number, where integer is declared",
    )  # fmt: skip


def test_without_a_declaration_a_text_becomes_what_the_program_uses_it_as(tmp_path: Path) -> None:
    body = """\
let found = call ask
  question: "well?"
if found approves:
  return [found.score * 2, found.name, "approved"]
return [found.score * 2, found.name, "not"]
"""
    run = waiting(tmp_path, body).run_id
    assert answer(tmp_path, run, text=True, approved="yes", score="3", name="3").value == [6, "3", "approved"]
    run = waiting(tmp_path / "b", body).run_id
    assert answer(tmp_path / "b", run, text=True, decision="reject", score="3", name="3").value == [6, "3", "not"]


def test_a_text_is_no_answer_where_only_fields_are_read(tmp_path: Path) -> None:
    body = """\
let found = call ask
  question: "well?"
if found.approved:
  return "sent"
return "kept"
"""
    run = waiting(tmp_path, body).run_id
    assert refused(tmp_path, run, text=True, ask="yes") == [
        (
            "P211", "`ask` is to be an object, for the program reads approved of it",
            "an answer may be given by its fields: approved=…",
        )
    ]  # fmt: skip
    [(code, message, _)] = refused(tmp_path, run, text=True, ask="{yes")
    assert (code, message[:25]) == ("P211", "`ask` is not valid JSON: ")
    assert answer(tmp_path, run, text=True, ask='{"approved": true}').value == "sent"
    run = waiting(tmp_path / "b", body).run_id
    assert answer(tmp_path / "b", run, text=True, approved="no").value == "kept"
    run = waiting(tmp_path / "c", body).run_id
    assert answer(tmp_path / "c", run, ask="yes").value == "kept"  # from Python, or by :=, it is what it is


def test_a_name_is_a_service_a_slot_or_an_address(tmp_path: Path) -> None:
    text = """\
---
name: gate
kind: pattern
---
### Slots
- `asker`
### Delegation
```prose
let a = call asker
  question: "one"
return a
```
"""
    made = engine(tmp_path)
    for name in ("asker", "ask", "delegation/0.call:asker"):
        first = run_virtual(made.outcome_async(made.loads(text), {"asker": "ask"}))
        outcome = run_virtual(made.resuming.outcome_async(first.run_id, {}, answers={name: "yes"}))
        assert outcome.value == "yes"


def test_a_call_in_a_nested_pattern_may_wait(tmp_path: Path) -> None:
    text = """\
---
name: whole
kind: function
---
### Services
```yaml
- name: first
  pattern: inner
- name: second
  pattern: inner
```
### Execution
```prose
parallel:
  let a = call first
    topic: "a"
  let b = call second
    topic: "b"
return [a, b]
```

## inner
---
kind: pattern
---
### Requires
- `topic`: string -- what
### Delegation
```prose
block asked(what):
  let found = call ask
    question: what
  return found.verdict + "!"
let said = do asked(topic)
return said
```
"""
    made = engine(tmp_path)
    first = run_virtual(made.outcome_async(made.loads(text), {}))
    assert first.status == "waiting"
    addresses = [call.address for call in first.trace.calls]
    assert len(addresses) == 2
    [(code, message, hint)] = refused(tmp_path, first.run_id, ask="x")
    assert (code, message) == ("P210", "`ask` may be the answer for 2 calls that wait")
    assert hint is not None
    assert hint.splitlines()[1:] == [
        f"`ask` waits at {address}: asked: {topic}" for address, topic in zip(addresses, "ab", strict=True)
    ]
    answers: dict[str, Any] = {addresses[1]: {"verdict": "B"}}
    second = run_virtual(made.resuming.outcome_async(first.run_id, {}, answers=answers))
    assert second.status == "waiting"
    assert answer(tmp_path, first.run_id, verdict="A").value == ["A!", "B!"]


def test_a_person_in_the_place_of_the_judge(tmp_path: Path) -> None:
    body = """\
let x = "a text"
let log = []
if **x is truly fine**:
  record "fine" in log
choice **what to do with x**:
  option "keep":
    record "keep" in log
  option "drop":
    record "drop" in log
return log
"""
    made = Engine(judge=asking, store=tmp_path)
    first = run_virtual(made.outcome_async(made.loads(body), {}))
    assert first.status == "waiting"

    def said(**answers: Any) -> Outcome:
        given = {name: Given(value, text=True) for name, value in answers.items()}
        return run_virtual(made.resuming.outcome_async(first.run_id, {}, answers=given))

    wrong = said(judge="perhaps")
    assert (wrong.status, wrong.error and wrong.error.message) == ("invalid", "`judge` is to be yes or no")
    second = said(holds="yes", reason="I like it")
    assert second.status == "waiting"
    assert (second.trace.decisions[0].holds, second.trace.decisions[0].reason) == (True, "I like it")
    wrong = said(judge="burn")
    assert (wrong.error and wrong.error.message) == "`judge` is to be one of keep, drop"
    assert said(judge="drop").value == ["fine", "drop"]


def test_the_built_in_person_in_the_place_of_the_judge(tmp_path: Path) -> None:
    body = """\
let said = call ask
  question: "well?"
if said approves:
  return "sent"
return "kept"
"""
    run = waiting(tmp_path, body).run_id
    failed = answer(tmp_path, run, text=True, ask="yes, send it")
    assert (failed.status, failed.error and failed.error.code) == ("failed", "P403")
    made = Engine(services={"ask": asking}, judge="person", store=tmp_path)
    asked = run_virtual(made.resuming.outcome_async(run, {}))
    assert asked.status == "waiting"
    assert asked.error is not None
    assert asked.error.message.startswith("a person has to answer: Does this hold? said approves\n")
    assert asked.error.hint == "show it to somebody; `prose answer RUN judge=…` goes on with what they say"
    assert run_virtual(made.answer_async(run, {"judge": True})).value == "sent"


def test_a_secret_is_no_answer_that_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "sk-12345678")
    run = waiting(tmp_path, 'return call ask\n  question: "key?"\n').run_id
    [(code, message, _)] = refused(tmp_path, run, ask="it is sk-12345678")
    assert (code, message) == ("P211", "the answer for `ask` holds a secret, which no record keeps")


def test_the_interface_of_the_engine(tmp_path: Path) -> None:
    def more(x: str) -> str:
        return f"{x}!"

    body = 'let a = call ask\n  question: "well?"\nlet b = call more\n  x: a\nreturn b\n'
    run = waiting(tmp_path, body, more=more).run_id
    made = engine(tmp_path, more=more)
    with pytest.raises(prose.CheckError) as caught:
        made.answer(run, {"nobody": 1})
    assert caught.value.code == "P210"
    assert made.answer(run, {"ask": "yes"}).value == "yes!"
    assert made.replay(run).value == "yes!"


def test_inside_a_loop(tmp_path: Path) -> None:
    made = engine(tmp_path)
    pattern = made.loads('let a = call ask\n  question: "one"\nlet b = call ask\n  question: "two"\nreturn [a, b]\n')

    async def main() -> None:
        with pytest.raises(prose.WaitingError) as caught:
            await made.run_async(pattern, {})
        run = caught.value.outcome.run_id
        with pytest.raises(RuntimeError, match="answer_async"):
            made.answer(run, {"ask": 1})
        with pytest.raises(prose.WaitingError, match="asked: two"):
            await made.answer_async(run, {"ask": 1})
        assert (await made.answer_async(run, {"ask": 2})).value == [1, 2]
        assert (await made.resume_async(run)).value == [1, 2]
        assert (await made.replay_async(run)).value == [1, 2]

    run_virtual(main())
