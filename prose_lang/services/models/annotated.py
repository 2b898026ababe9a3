"""Contracts from Python: a function's annotations, or attrs classes, dataclasses, pydantic models and typed dicts.

The schema of a pydantic model is its own; of everything else it is made here. What has no schema (a class of the host's
own) is refused, because a model could not be held to it.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Mapping, Sequence, Set
from typing import Any

import attrs

from prose_lang.documents.model import ANY, Type
from prose_lang.semantics.signature import Parameter
from prose_lang.services.annotations import declared_type, resolved_annotations
from prose_lang.services.models.contract import Described
from prose_lang.services.models.schema import Schema, an_object, is_closed

_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number"}


def parameters_of(takes: Any) -> tuple[tuple[Parameter, ...], tuple[Described, ...], dict[str, Any]]:
    """The inputs that a function's parameters, or a class's fields, stand for; and their defaults."""
    if inspect.isclass(takes):
        return _of_fields(takes)
    formal = list(inspect.signature(takes).parameters.values())
    annotations = resolved_annotations(takes, formal)
    parameters, described, defaults = [], [], {}
    for one in formal:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise TypeError(f"a model service names its inputs: `*{one.name}` is none")
        declared = declared_type(annotations[one.name])
        parameters.append(Parameter(one.name, required=one.default is one.empty, type=declared))
        described.append(Described(one.name, _kind(declared)))
        if one.default is not one.empty and one.default is not None:
            defaults[one.name] = one.default
    return tuple(parameters), tuple(described), defaults


def _of_fields(kind: type) -> tuple[tuple[Parameter, ...], tuple[Described, ...], dict[str, Any]]:
    schema = schema_of(kind)
    required = set(schema.get("required", ()))
    hints = typing.get_type_hints(kind)
    parameters, described = [], []
    for name, part in schema.get("properties", {}).items():
        declared = declared_type(hints.get(name, Any))
        parameters.append(Parameter(name, required=name in required, type=declared))
        described.append(Described(name, _kind(declared), part.get("description", "")))
    return tuple(parameters), tuple(described), {}


def _kind(declared: Type) -> str:
    return "" if declared is ANY or declared.text == "any" else declared.text


def answer_schema(gives: Any) -> Schema | None:
    """The schema of an answer of a type; None for plain text. What is no object is wrapped in one, as `answer`.

    >>> answer_schema(str) is None, answer_schema(bool)["required"]
    (True, ['answer'])
    """
    if gives in (str, Any, inspect.Parameter.empty, inspect.Signature.empty):
        return None
    schema = schema_of(gives)
    return schema if schema.get("type") == "object" and "properties" in schema else an_object({"answer": schema})


def is_wrapped(gives: Any) -> bool:
    """Whether `answer_schema` wraps a type."""
    schema = answer_schema(gives)
    return schema is not None and list(schema.get("properties", ())) == ["answer"] and "answer" not in _names(gives)


def _names(kind: Any) -> Sequence[str]:
    return list(typing.get_type_hints(kind)) if inspect.isclass(kind) else ()


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON schema of a Python type. Raises `TypeError` for one that has none.

    >>> schema_of(list[float])
    {'type': 'array', 'items': {'type': 'number'}}
    """
    if typing.get_origin(kind) is typing.Annotated:
        inner, *notes = typing.get_args(kind)
        schema = schema_of(inner)
        text = next((note for note in notes if isinstance(note, str)), None)
        return {**schema, "description": text} if text else schema
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return {}
    if kind in (None, type(None)):
        return {"type": "null"}
    if origin is typing.Union or origin is types.UnionType:
        return {"anyOf": [schema_of(part) for part in arguments]}
    if origin is typing.Literal:
        return _enum(arguments)
    plain = origin or kind
    if not isinstance(plain, type):
        raise TypeError(f"{kind!r} has no JSON schema")
    if plain in _PLAIN:
        return {"type": _PLAIN[plain]}
    if hasattr(plain, "model_json_schema"):
        return _of_pydantic(plain)
    if issubclass(plain, enum.Enum):
        return _enum([member.value for member in plain])
    if typing.is_typeddict(plain) or attrs.has(plain) or dataclasses.is_dataclass(plain):
        return _of_record(plain)
    if issubclass(plain, Mapping):
        return (
            {"type": "object"}
            if len(arguments) < 2
            else {"type": "object", "additionalProperties": schema_of(arguments[1])}
        )
    if issubclass(plain, (Sequence, Set)):
        parts = [part for part in arguments if part is not Ellipsis]
        return {"type": "array", "items": schema_of(parts[0]) if len(parts) == 1 else {}}
    raise TypeError(
        f"{plain.__name__} has no JSON schema: use plain types, attrs classes, dataclasses or pydantic models"
    )


def _enum(values: Sequence[Any]) -> dict[str, Any]:
    kinds = {_PLAIN.get(type(value)) for value in values}
    word = kinds.pop() if len(kinds) == 1 else None
    return {"type": word, "enum": list(values)} if word else {"enum": list(values)}


def _of_record(kind: Any) -> dict[str, Any]:
    properties = {name: schema_of(hint) for name, hint in typing.get_type_hints(kind, include_extras=True).items()}
    schema = an_object(properties)
    if typing.is_typeddict(kind):
        schema["required"] = [name for name in properties if name in kind.__required_keys__]
    return schema


def _of_pydantic(kind: Any) -> dict[str, Any]:
    """The model's own schema. Objects that say nothing about further keys are closed, as providers want them."""
    schema: dict[str, Any] = kind.model_json_schema()
    closed = _closed(schema)
    return closed if is_closed(closed) else schema


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _closed(part) for name, part in schema.items()}
    if made.get("type") == "object" and "properties" in made:
        made.setdefault("additionalProperties", False)
    return made
