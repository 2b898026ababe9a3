"""What programs demand of the results of their calls: the contract of a slot that is bound to a bare model."""

from __future__ import annotations

from typing import Any

import pytest

from prose_lang import Engine
from prose_lang.resources import library_names
from prose_lang.semantics.demands import demands
from prose_lang.services.models.demanded import schema_of

TEXT = {"type": "string"}
VERDICT = {"reason": TEXT, "verdict": {"type": "string", "enum": ["accept", "reject"]}}


def demanded(source: str, target: str) -> Any:
    """The properties that are asked of a call, or the schema that is wrapped; None for a text."""
    engine = Engine()
    program = engine.program(engine.load(source) if source.startswith("stdlib:") else engine.loads(pattern(source)))
    assert not program.errors
    found = [demand for name, demand in demands(program).values() if name == target]
    assert found, "it is called"
    schema, unwrap = schema_of(found[0])
    if schema is None:
        return None
    return schema["properties"] if unwrap is None else schema["properties"][unwrap]


def pattern(body: str) -> str:
    return (
        "---\nname: t\nkind: pattern\n---\n\n### Slots\n\n- `s`\n\n"
        "### Config\n\n- `bar` (number, default: 3, min: 1, max: 5)\n\n"
        f"### Delegation\n\n```prose\n{body}\n```\n"
    )


def optional(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


@pytest.mark.parametrize(
    ("body", "schema"),
    [
        ("return call s", None),
        ("let x = call s\nreturn x", None),
        ("let x = call s\nreturn x.length", None),
        ("let x = call s\nreturn [x.note, x.deep.part]",
         {"note": TEXT, "deep": {"type": "object", "properties": {"part": TEXT}, "required": ["part"],
                                 "additionalProperties": False}}),
        ("let x = call s\nif x.score meets bar:\n  return 1",
         {"score": {"type": "number", "minimum": 1, "maximum": 5}}),
        ("let x = call s\nlet y = x.score\nif y >= bar:\n  return 1",
         {"score": {"type": "number", "minimum": 1, "maximum": 5}}),
        ("let x = call s\nif x >= bar:\n  return 1", {"type": "number", "minimum": 1, "maximum": 5}),
        ("let x = call s\nfor y in x.parts:\n  call s\n    z: y.name", {"parts": {
            "type": "array", "items": {"type": "object", "properties": {"name": TEXT}, "required": ["name"],
                                       "additionalProperties": False}}}),
        ("let x = call s\nfor y in x:\n  call s\n    z: y", {"type": "array", "items": TEXT}),
        ("let x = call s\nif x accepts the draft:\n  return 1", VERDICT),
        ("let x = call s\nif x.accepted:\n  return 1", {"accepted": {"type": "boolean"}}),
        ("let x = call s\nif x is accepted:\n  return x.approved", {"approved": TEXT}),
        ("let x = call s\nif x does not explicitly proceed:\n  return 1", {"proceed": {"type": "boolean"}}),
        ("let x = call s\nif x.note is absent:\n  return 1", {"note": optional(TEXT)}),
        ("let x = call s\nif \"note\" in x:\n  return x.note", {"note": optional(TEXT)}),
        ("let { a, b } = call s\nreturn a", {"a": TEXT, "b": TEXT}),
        ("block f(p):\n  return p.inner\nlet x = call s\nreturn do f(x)", {"inner": TEXT}),
        ("let x = call s\nchoice **x**:\n  option \"a\":\n    return 1\n  option \"b\":\n    return 2",
         {"type": "string", "enum": ["a", "b"]}),
        ("let x = call s\nif s accepts it:\n  return x", VERDICT),
        ("let xs = parallel repeat 3:\n  return call s\nfor x in xs:\n  if x.good:\n    return x",
         {"good": {"type": "boolean"}}),
        ("let x = null\nrepeat 9:\n  x = call s\n    before: x\n  if x.done:\n    break",
         {"done": {"type": "boolean"}}),
    ],
)  # fmt: skip
def test_what_is_read_of_a_result_is_demanded(body: str, schema: Any) -> None:
    assert demanded(body, "s") == schema


@pytest.mark.parametrize(
    ("source", "target", "schema"),
    [
        ("worker-critic", "worker", None),
        ("worker-critic", "critic", VERDICT),
        ("refine", "refiner", None),
        ("refine", "evaluator", {"score": {"type": "number", "minimum": 0, "maximum": 1}, "suggestions": TEXT}),
        ("guard", "guard", {"reason": TEXT, "proceed": {"type": "boolean"}}),
        ("best-of-n", "scorer", {"score": {"type": "number"}}),
        ("plan-execute-verify", "planner", {"steps": {"type": "array", "items": TEXT}}),
        ("oversight", "arbiter", {
            "reason": TEXT, "adjusted_brief": optional(TEXT),
            "decision": {**TEXT, "description": 'one word: "abort" or "adjust", or another where neither is meant'}}),
        ("ensemble-synthesizer", "synthesizer", None),
    ],
)  # fmt: skip
def test_library_patterns(source: str, target: str, schema: Any) -> None:
    assert demanded(f"stdlib:{source}", target) == schema


def test_every_library_pattern_is_understood() -> None:
    engine = Engine()
    for name in library_names():
        program = engine.program(engine.load(f"stdlib:{name}"))
        assert len(demands(program)) == len(program.calls)


def test_a_value_that_goes_round_through_many_fields_is_bounded() -> None:
    body = "let x = call s\nrepeat 3:\n" + "\n".join(f"  x = x.f{number}" for number in range(60)) + "\nreturn x"
    assert list(demanded(body, "s")) == [f"f{number}" for number in range(60)]
