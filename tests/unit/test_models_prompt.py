"""What a model is told: its contract and its inputs as data, and nothing else of a run (L32)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models_fakes import Fake

import prose_lang as prose
from prose_lang import Engine, ModelSettings, Outcome, Reply
from prose_lang.services.models import prompt
from prose_lang.services.models.contract import Contract

REF = prose.ref("model:openai/m")


def run(fake: Fake, source: str, names: dict[str, Any], **options: Any) -> Outcome:
    engine = Engine(completion=fake, **options)
    loaded = engine.load(source) if source.startswith("stdlib:") else engine.loads(source)
    return engine.outcome(loaded, names)


def sent(fake: Fake, number: int) -> str:
    return "\n".join(message.text for message in fake.requests[number].messages)


# --- blocks ----------------------------------------------------------------------------------------------------------


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True),
        st.text(alphabet="=[] \nabend of:", max_size=80) | st.lists(st.text(max_size=5), max_size=3),
        min_size=1,
        max_size=4,
    ),
    st.text(alphabet="=[ ]\nx", max_size=30),
)
def test_no_input_can_close_its_block_or_pass_for_one(inputs: dict[str, Any], instruction: str) -> None:
    user = prompt.messages(Contract("c"), inputs, instruction)[-1].text
    fences = [line for line in user.split("\n") if line.startswith("=") and line.endswith(" ]")]
    fence = "=" * max(len(line) - len(line.lstrip("=")) for line in fences)
    real = [line for line in user.split("\n") if line.startswith(f"{fence}[ ")]
    wanted = []
    for name, value in inputs.items():
        kind = "text" if isinstance(value, str) else "JSON"
        wanted += [f"{fence}[ {name}: {kind} ]", f"{fence}[ end of {name} ]"]
    assert real == wanted
    for name, value in inputs.items():
        body = user.split(f"{fence}[ {name}: ", 1)[1].split(" ]\n", 1)[1].split(f"\n{fence}[ end of {name} ]")[0]
        assert body == (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def test_the_same_call_has_the_same_digest() -> None:
    fake = Fake()
    for _ in range(2):
        run(fake, "stdlib:race", {"candidates": [REF], "task_brief": "x"})
    first, second = fake.requests
    assert first.digest == second.digest
    assert first.as_json()["model"] == "openai/m"


# --- isolation (L32) -------------------------------------------------------------------------------------------------


def test_a_worker_does_not_know_that_it_will_be_critiqued() -> None:
    refused = '{"reason": "no rhyme", "verdict": "reject"}'
    fake = Fake("first", refused, "second", '{"reason": "ok", "verdict": "accept"}')
    outcome = run(
        fake, "stdlib:worker-critic", {"worker": REF, "critic": REF, "task_brief": "brief", "criteria": "bar"}
    )
    assert outcome.value == {"result": "second", "attempts": 2}
    first, _, second, last = (sent(fake, number) for number in range(4))
    for word in ("critic", "critique", "criteria", "bar", "attempt", "max_rounds", "Worker"):
        assert word not in first
    assert first.endswith("=====[ task_brief: text ]\nbrief\n=====[ end of task_brief ]")
    # The critique is what the program sends: the whole answer, as data.
    assert '=====[ critique: JSON ]\n{"reason": "no rhyme", "verdict": "reject"}' in second
    assert "first" not in second
    assert "criteria" not in second
    assert "no rhyme" not in last
    assert [request.schema is None for request in fake.requests] == [True, False, True, False]


def test_nothing_of_the_pattern_s_text_is_sent() -> None:
    fake = Fake("draft", '{"score": 1, "suggestions": "none"}')
    outcome = run(fake, "stdlib:refine", {"refiner": REF, "evaluator": REF, "task_brief": "brief"})
    assert outcome.value == {"result": "draft", "score": 1, "rounds_used": 1}
    document = Engine().load("refine").document.source.text
    lines = {line.strip() for line in document.splitlines() if len(line.split()) > 2}
    for number in range(2):
        assert not [line for line in sent(fake, number).splitlines() if line.strip() in lines]
    assert "threshold" not in sent(fake, 1)
    assert fake.requests[1].schema is not None
    assert fake.requests[1].schema["properties"]["score"] == {"type": "number", "minimum": 0, "maximum": 1}


def test_instruction_and_context_of_a_call() -> None:
    fake = Fake()
    run(fake, 'return call w\n  a: 1\n  prompt: "Do { this }"\n  context: { b: [2] }', {}, services={"w": _model("w")})
    assert fake.requests[0].messages[1].text == (
        "Do { this }\n\n=====[ a: JSON ]\n1\n=====[ end of a ]\n\n"
        '=====[ context: JSON ]\n{"b": [2]}\n=====[ end of context ]'
    )


def test_a_call_without_anything_still_asks() -> None:
    fake = Fake()
    run(fake, "return call w", {}, services={"w": _model("w")})
    assert [message.text for message in fake.requests[0].messages][1:] == ["Begin."]


def _model(name: str) -> Any:
    return prose.model_service(name, model="openai/m")


# --- entries (L2, L6) ------------------------------------------------------------------------------------------------

SUMMARY = """\
---
name: summary
kind: function
---

# Summaries

Say what matters.

### Parameters

- `topic`: string -- what it is about
- `depth` (integer, default: 2): how deep to go

### Returns

- `summary`: string -- the text
- `score`: number -- how sure you are, from 0 to 1
- `verdict`: "good" | "bad"
- `tags`: string[] -- (optional) words

### Runtime

- model: fast

### Strategies

- when unclear: say so

### Errors

- `unclear`: nothing can be said

### Notes

Not for the model.
"""


def test_an_entry_without_a_body_is_a_contract() -> None:
    fake = Fake('{"summary": "s", "score": 0.5, "verdict": "good", "tags": null}')
    settings = ModelSettings(aliases={"fast": "openai/small"})
    outcome = run(fake, SUMMARY, {"topic": "rain"}, model="openai/big", models=settings)
    assert outcome.value == {"summary": "s", "score": 0.5, "verdict": "good"}
    (request,) = fake.requests
    assert request.model == "openai/small"
    system, user = (message.text for message in request.messages)
    for words in (
        "Your part is `summary`.",
        "Say what matters.",
        "- `depth` (integer): how deep to go",
        "## Strategies\n\n- when unclear: say so",
        "## Errors\n\n- `unclear`: nothing can be said",
    ):
        assert words in system
    assert "Not for the model" not in system
    assert "fast" not in system
    assert user.startswith("=====[ topic: text ]\nrain\n=====[ end of topic ]\n\n=====[ depth: JSON ]\n2\n")
    assert request.schema is not None
    properties = request.schema["properties"]
    assert properties["score"] == {
        "type": "number", "minimum": 0, "maximum": 1, "description": "how sure you are, from 0 to 1",
    }  # fmt: skip
    assert properties["verdict"] == {"type": "string", "enum": ["good", "bad"]}
    assert properties["tags"] == {
        "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}], "description": "words",
    }  # fmt: skip


def test_one_textual_output_stays_a_text() -> None:
    source = SUMMARY.partition("- `score`")[0]
    fake = Fake('{"summary": "as it is"}', "plain")
    engine = Engine(completion=fake, model="openai/big")
    loaded = engine.loads(source)
    assert loaded.run(topic="x").value == '{"summary": "as it is"}'
    assert loaded.run(topic="x").value == "plain"
    assert fake.requests[0].schema is None


def test_an_entry_called_from_a_body_and_a_registered_model_in_its_place() -> None:
    source = (
        "---\nname: outer\nkind: pattern\n---\n\n### Delegation\n\n```prose\nreturn call helper\n  n: 3\n```\n\n"
        "## helper\n\n### Parameters\n\n- `n`: number\n\n### Returns\n\n- `twice`: number\n"
    )
    fake = Fake(then='{"twice": 6}')
    assert run(fake, source, {}, model="openai/default").value == 6
    assert run(fake, source, {}, services=[prose.model_service("helper", model="openai/own")]).value == 6
    assert [request.model for request in fake.requests] == ["openai/default", "openai/own"]
    assert fake.requests[0].schema == fake.requests[1].schema
    outcome = run(fake, source, {})
    assert (outcome.status, outcome.error and outcome.error.code) == ("failed", "P410")
    assert outcome.error is not None
    assert outcome.error.as_diagnostic().line == 9


HELPER = """\
---
name: helper
kind: function
---

### Parameters

- `n`: number

### Returns

- `twice`: number
"""


def test_a_model_with_a_contract_of_its_own_in_the_place_of_an_entry() -> None:
    fake = Fake('{"answer": {"twice": 6}}')
    own = prose.model_service("helper", model="openai/own", gives=dict[str, int | str], about="Double it.")
    outcome = run(fake, HELPER, {"n": 3}, services=[own], limits=prose.Limits(tokens=20_000))
    assert outcome.value == 6
    assert "Double it." in fake.requests[0].messages[0].text
    assert dict(fake.requests[0].parameters) == {"max_tokens": 4096}, "the budget sees it"


def test_a_scripted_service_in_the_place_of_the_whole_file() -> None:
    script = prose.Script.from_data({"summary": [{"summary": "s", "score": 1, "verdict": "good"}]})
    assert run(Fake(), SUMMARY, {"topic": "x"}, script=script).value["summary"] == "s"


# --- sessions (L29) --------------------------------------------------------------------------------------------------


def test_sessions_are_calls_of_the_default_model() -> None:
    body = """
agent writer:
  model: fast
  prompt: "You write"
  skills: ["x"]
let a = session: writer
  prompt: "Write { verse }"
  context: { b: [1] }
let b = session "A poem"
  retry: 1
return [a, b]
"""
    fake = Fake("one", "two")
    outcome = run(fake, body, {}, model="openai/big", models=ModelSettings(aliases={"fast": "openai/small"}))
    assert outcome.value == ["one", "two"]
    first, second = fake.requests
    assert (first.model, second.model) == ("openai/small", "openai/big")
    assert first.messages[0].text.startswith("You write\n\n## Inputs")
    assert first.messages[1].text == ('Write { verse }\n\n=====[ context: JSON ]\n{"b": [1]}\n=====[ end of context ]')
    assert [(message.role, message.text) for message in second.messages] == [("user", "A poem")]
    assert [call.service for call in outcome.trace.calls] == ["session", "session"]
    assert outcome.trace.calls[0].address == "delegation/1.session"


def test_resume_sends_what_was_said_as_messages() -> None:
    body = """
agent writer:
  prompt: "You write"
  persist: true
session: writer
  prompt: "One"
  context: ["x ===== y"]
return resume: writer
  prompt: "Two"
"""
    fake = Fake("first", "second")
    outcome = run(fake, body, {}, model="openai/m")
    assert outcome.value == "second"
    first, second = ([(message.role, message.text) for message in request.messages] for request in fake.requests)
    assert second == [*first, ("assistant", "first"), ("user", "Two")]
    assert first[1] == ("user", 'One\n\n======[ context: JSON ]\n["x ===== y"]\n======[ end of context ]')


def test_the_rule_about_inputs_stays_while_the_conversation_holds_some() -> None:
    body = """
agent writer:
  persist: true
session: writer
  prompt: "One"
resume: writer
  prompt: "Two"
  context: 1
resume: writer
  prompt: "Three"
"""
    fake = Fake()
    run(fake, body, {}, model="openai/m")
    assert [request.messages[0].role for request in fake.requests] == ["user", "system", "system"]
    assert fake.requests[1].messages[0] == fake.requests[2].messages[0]


# --- a judge that is a bare model ------------------------------------------------------------------------------------


def test_a_bare_model_as_judge_answers_in_the_judge_s_form() -> None:
    fake = Fake('{"reason": "plainly", "holds": true}', '{"reason": "r", "choice": "b"}')
    body = """
let text = "hi"
if **text is cheerful**:
  choice **what fits**:
    option "a":
      return 1
    option "b":
      return 2
"""
    outcome = run(fake, body, {}, judge=REF)
    assert outcome.value == 2
    assert outcome.usage.calls == 2
    assert fake.requests[1].schema is not None
    assert fake.requests[1].schema["properties"]["choice"]["enum"] == ["a", "b"]


def test_usage_of_a_scripted_reply_counts() -> None:
    fake = Fake(Reply("x", tokens_in=7, tokens_out=3))
    outcome = run(fake, "return call w", {}, services={"w": prose.model_service("w", model="openai/gpt-4o")})
    assert outcome.usage.as_json() == {
        "calls": 1, "tokens_in": 7, "tokens_out": 3, "cost": pytest.approx(7 * 2.5e-6 + 3 * 1e-5),
    }  # fmt: skip
