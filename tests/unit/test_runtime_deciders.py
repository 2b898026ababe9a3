"""The host's rule, a predicate or the judge may fail: that is no failure of what they were to decide about (L27)."""

from __future__ import annotations

from typing import Any

import pytest

import prose_lang as prose

CHAIN = """---
name: chain
kind: pattern
---

### Slots

- `helpers`

### Requires

- Pattern instance receives:
    helpers: string[]
    bad_when: string   -- (optional) what is a failure

### Delegation

```prose
for helper in helpers:
  try:
    let answer = call helper
    if bad_when says answer is a failure:
      continue
    return answer
  catch:
    continue
return "nobody"
```
"""


def first() -> str:
    return "one"


def second() -> str:
    return "two"


def run(engine: prose.Engine, **names: Any) -> prose.Outcome:
    return engine.outcome(engine.loads(CHAIN, "chain.prose.md"), {"helpers": [first, second], **names})


def broken(*_: Any, **__: Any) -> bool:
    raise KeyError("mood")


def test_a_predicate_decides() -> None:
    outcome = run(prose.Engine(), bad_when=lambda answer: answer == "one")
    assert outcome.value == "two"
    assert [decision.layer for decision in outcome.trace.decisions] == ["criteria", "criteria"]


def test_a_predicate_that_fails_is_not_caught() -> None:
    outcome = run(prose.Engine(), bad_when=broken)
    assert outcome.error is not None
    assert outcome.error.code == "P402"
    assert outcome.error.message.startswith("`broken` was to decide “bad_when says answer is a failure” and failed: ")
    assert [call.service for call in outcome.trace.calls] == ["first", "broken"]


def test_a_judge_that_fails_is_not_caught() -> None:
    outcome = run(prose.Engine(judge=broken), bad_when="it is rude")
    assert outcome.error is not None
    assert outcome.error.code == "P402"
    assert outcome.error.service == "broken"
    assert [call.service for call in outcome.trace.calls] == ["first"]


@pytest.mark.parametrize("text", ["bad_when says answer is a failure", "chain: bad_when says answer is a failure"])
def test_a_rule_of_the_host_that_fails_is_an_error_with_a_place(text: str) -> None:
    outcome = run(prose.Engine(conditions={text: broken}), bad_when="it is rude")
    assert outcome.error is not None
    assert outcome.error.code == "P402"
    assert outcome.error.message == "the host's rule for “bad_when says answer is a failure” failed: KeyError: 'mood'"
    assert outcome.error.as_diagnostic().line == 22
    assert isinstance(outcome.error.__cause__, KeyError)
