"""Conditions decided by the host: its table of rules, predicates as criteria, and judges of every kind (L30, L31)."""

from __future__ import annotations

from typing import Any

import pytest

from prose_lang import Engine, Limits, Outcome

SINGS = 'let draft = { text: "x" }\nif **draft sings**:\n  return "yes"\nreturn draft'
CHOICE = 'choice **what now**:\n  option "go":\n    return 1\n  option "stop":\n    return 2'

CRITERIA = """---
name: checked
kind: pattern
---

### Slots

- None.

### Config

- `criteria` (string, default: none): when it failed

### Delegation

```prose
let result = { score: 3 }
if criteria says result is a failure:
  return "failed"
return "fine"
```
"""

JUDGE = """---
name: panel
kind: pattern
---

### Slots

- None.

### Requires

- `condition`: what is asked
- `values`: (optional) what it is about

### Delegation

```prose
let verdict = call reviewer
  question: condition
return verdict
```
"""


def outcome_of(body: str, names: dict[str, Any] | None = None, **options: Any) -> Outcome:
    engine = Engine(**options)
    return engine.outcome(engine.loads(body), names or {})


def decisions(outcome: Outcome) -> list[tuple[str, Any, dict[str, Any], str]]:
    return [(item.layer, item.holds, item.values, item.reason) for item in outcome.trace.decisions]


# --- the host's table ------------------------------------------------------------------------------------------------


def test_a_rule_of_the_host_decides_first() -> None:
    outcome = outcome_of(SINGS, conditions={"draft sings": lambda values: values["draft"]["text"] == "x"})
    assert outcome.value == "yes"
    assert decisions(outcome) == [("host", True, {"draft": {"text": "x"}}, "the host's rule")]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('let n = 3\nif n == 4:\n  return "yes"', "n == 4"),
        ('let n = 3\nif n meets 4:\n  return "yes"', "n meets 4"),
        ('let n = {}\nif n explicitly proceeds:\n  return "yes"', "n explicitly proceeds"),
        ('let n = 0\nloop until n == 4:\n  n = n + 1\n  if n == 2:\n    return "no"\nreturn "yes"', "n == 4"),
    ],
)
def test_it_decides_before_every_layer(body: str, text: str) -> None:
    outcome = outcome_of(body, conditions={text: lambda values: True})
    assert outcome.value == "yes"
    assert outcome.trace.decisions[-1].layer == "host"


def test_a_rule_for_one_pattern_wins_over_one_for_all() -> None:
    rules = {"anonymous: draft sings": lambda values: True, "draft sings": lambda values: False}
    assert outcome_of(SINGS, conditions=rules).value == "yes"
    assert outcome_of(SINGS, conditions={"other: draft sings": lambda values: True}).status == "failed"


def test_a_rule_cannot_change_what_the_program_sees() -> None:
    def meddle(values: dict[str, Any]) -> bool:
        values["draft"]["text"] = "changed"
        return False

    assert outcome_of(SINGS, conditions={"draft sings": meddle}).value == {"text": "x"}


def test_a_rule_that_fails_gave_no_usable_answer() -> None:
    outcome = outcome_of(SINGS, conditions={"draft sings": lambda values: 1 / 0})
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.as_diagnostic().line) == ("P402", 2)
    assert outcome.error.message == "the host's rule for “draft sings” failed: ZeroDivisionError: division by zero"


def test_an_asynchronous_rule_is_refused_not_taken_for_true() -> None:
    async def rule(values: dict[str, Any]) -> bool:
        return False

    outcome = outcome_of(SINGS, conditions={"draft sings": rule})
    assert outcome.error is not None
    assert outcome.error.code == "P402"


def test_a_rule_chooses_an_option() -> None:
    assert outcome_of(CHOICE, conditions={"what now": lambda values: "stop"}).value == 2
    assert outcome_of(CHOICE, conditions={"anonymous: what now": lambda values: "go"}).value == 1


def test_a_rule_that_chooses_no_option_is_refused() -> None:
    outcome = outcome_of(CHOICE, conditions={"what now": lambda values: "wait"})
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == (
        "P402",
        "the host's rule for “what now” chose 'wait', which is no option",
    )


def test_a_rule_may_leave_a_choice_to_the_judge() -> None:
    outcome = outcome_of(
        CHOICE,
        conditions={"what now": lambda values: None},
        judge=lambda criteria, options: {"choice": options[0], "reason": criteria},
    )
    assert outcome.value == 1
    assert decisions(outcome) == [("judge", "go", {}, "what now")]


# --- judges ----------------------------------------------------------------------------------------------------------


def test_a_function_judges() -> None:
    def judge(condition: str, values: dict[str, Any]) -> dict[str, Any]:
        return {"holds": values["draft"] == {"text": "x"}, "reason": condition}

    outcome = outcome_of(SINGS, judge=judge)
    assert decisions(outcome) == [("judge", True, {"draft": {"text": "x"}}, "draft sings")]
    assert (outcome.trace.calls, outcome.usage.calls) == ((), 1)


def test_an_asynchronous_function_judges_conditions_and_choices() -> None:
    async def judge(
        condition: str | None = None, criteria: str | None = None, options: list[str] | None = None
    ) -> dict[str, Any]:
        return {"choice": "stop", "reason": "r"} if options else {"holds": False, "reason": "r"}

    assert outcome_of(CHOICE, judge=judge).value == 2
    assert outcome_of(SINGS, judge=judge).value == {"text": "x"}


def test_a_registered_name_judges() -> None:
    outcome = outcome_of(SINGS, services={"critic": lambda condition: {"holds": True, "reason": "r"}}, judge="critic")
    assert outcome.value == "yes"


def test_a_pattern_judges_and_its_calls_are_calls() -> None:
    engine = Engine(services={"reviewer": lambda question: {"holds": True, "reason": question}})
    judge = engine.loads(JUDGE)
    engine = Engine(services=engine.services, judge=judge)
    outcome = engine.outcome(engine.loads(SINGS), {})
    assert outcome.value == "yes"
    assert [(call.service, call.address) for call in outcome.trace.calls] == [
        ("reviewer", "delegation/1.if0.if/delegation/0.call:reviewer")
    ]
    assert decisions(outcome) == [("judge", True, {"draft": {"text": "x"}}, "draft sings")]
    assert outcome.usage.calls == 1


@pytest.mark.parametrize(
    "answer", [True, "yes", {"holds": "yes", "reason": "r"}, {"holds": True}, {"holds": 1, "reason": "r"}, None, []]
)
def test_an_answer_of_another_shape_is_asked_for_once_more(answer: Any) -> None:
    asked: list[str] = []

    def judge(condition: str) -> Any:
        asked.append(condition)
        return answer

    outcome = outcome_of(SINGS, judge=judge)
    assert outcome.error is not None
    assert (outcome.error.code, asked, outcome.usage.calls) == ("P402", ["draft sings"] * 2, 2)


def test_questions_count_in_the_limit() -> None:
    asked: list[str] = []

    def judge(condition: str) -> Any:
        asked.append(condition)
        return {"holds": False, "reason": "r"}

    outcome = outcome_of("parallel repeat 9:\n  if **it sings**:\n    1", judge=judge, limits=Limits(calls=4))
    assert (outcome.status, len(asked) <= 4, outcome.usage.calls) == ("limited", True, 4)


def test_no_judge_is_asked_where_a_rule_decides() -> None:
    def judge(condition: str) -> Any:
        raise AssertionError(condition)

    body = """
let review = { verdict: "accept", score: 9 }
if review accepts:
  if review.score meets 8:
    if review has score:
      return "exact"
"""
    outcome = outcome_of(body, judge=judge)
    assert outcome.value == "exact"
    assert [item.layer for item in outcome.trace.decisions] == ["verdict", "phrase", "phrase"]


# --- criteria --------------------------------------------------------------------------------------------------------


def test_a_predicate_given_as_criteria_decides() -> None:
    outcome = outcome_of(CRITERIA, {"criteria": lambda result: result["score"] < 5})
    assert outcome.value == "failed"
    assert decisions(outcome) == [("criteria", True, {"result": {"score": 3}}, "the predicate <lambda>")]


def test_an_asynchronous_predicate_decides_too() -> None:
    async def low(result: dict[str, int]) -> bool:
        return result["score"] < 2

    assert outcome_of(CRITERIA, {"criteria": low}).value == "fine"


def test_a_predicate_answers_with_a_boolean() -> None:
    outcome = outcome_of(CRITERIA, {"criteria": lambda result: "yes"})
    assert outcome.error is not None
    assert outcome.error.code == "P402"


def test_without_criteria_nothing_is_a_failure() -> None:
    outcome = outcome_of(CRITERIA)
    assert outcome.value == "fine"
    assert [item.layer for item in outcome.trace.decisions] == ["criteria"]
