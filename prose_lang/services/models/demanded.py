"""The contract of a call whose service is a model and nothing else.

A bare model has no contract of its own, what a pattern says about its slots is none (§9 L3), and no text of the pattern
may reach a service (L32). What is left is the call: it names its target, sends bindings, and the program then reads
certain fields of the result, or decides by it. The name and those fields make the contract. The fields are the
interface that any service in this place has to keep; asking a model for them tells it no more than a Python function
there has to know. Where nothing is read the answer is a text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prose_lang.runtime.effects import Effect, Session
from prose_lang.semantics.demands import DECISION_FIELDS, Demand
from prose_lang.services.models import judging
from prose_lang.services.models.contract import Contract
from prose_lang.services.models.schema import an_object


def of_call(name: str, effect: Effect) -> Contract:
    """The contract that a call is."""
    if isinstance(effect, Session):
        return Contract(name, role=effect.role or "")
    if effect.kind == "ask":
        return judging.question(name, effect.inputs)
    found = effect.place.home.code.demands.get(effect.site)
    if found is None:
        return Contract(name)
    called, demand = found
    schema, unwrap = schema_of(demand)
    return Contract(called, schema=schema, unwrap=unwrap)


def schema_of(demand: Demand) -> tuple[dict[str, Any] | None, str | None]:
    """The schema of an answer that a demand asks for, and the key to unwrap; None for a text, of which nothing is read.

    >>> schema_of(Demand())
    (None, None)
    >>> found, _ = schema_of(Demand(decided=True))
    >>> found["properties"]["verdict"]["enum"]
    ['accept', 'reject']
    """
    schema = _schema(demand)
    if schema.get("type") == "object":
        return schema, None
    if schema == {"type": "string"}:
        return None, None
    return an_object({"answer": schema}), "answer"


def _schema(demand: Demand) -> dict[str, Any]:
    properties = {name: _field(part) for name, part in demand.fields.items()}
    if (demand.decided or demand.said) and not any(name in properties for name in DECISION_FIELDS):
        reason = {"reason": properties.pop("reason", _TEXT_FIELD)}
        decision = {"decision": _word(demand.said)} if demand.said else {"verdict": dict(_VERDICT)}
        properties = {**reason, **decision, **properties}
    if properties:
        return an_object(properties)
    if demand.items is not None or "list" in demand.kinds:
        return {"type": "array", "items": _schema(demand.items) if demand.items is not None else {"type": "string"}}
    for kind in ("number", "boolean"):
        if kind in demand.kinds:
            bounds = {"minimum": demand.low, "maximum": demand.high} if kind == "number" else {}
            return {"type": kind, **{name: bound for name, bound in bounds.items() if bound is not None}}
    if demand.labels:
        return {"type": "string", "enum": list(demand.labels)}
    return _word(demand.words) if demand.words else {"type": "string"}


def _field(demand: Demand) -> dict[str, Any]:
    schema = _schema(demand)
    return {"anyOf": [schema, {"type": "null"}]} if demand.optional else schema


def _word(words: Iterable[str]) -> dict[str, Any]:
    """A word of an open list: the program names some, and means another by what is left over."""
    named = " or ".join(f'"{word}"' for word in words)
    return {"type": "string", "description": f"one word: {named}, or another where neither is meant"}


_TEXT_FIELD = {"type": "string"}
_VERDICT = {"type": "string", "enum": ["accept", "reject"]}
