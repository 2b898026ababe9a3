"""JSON schemas of answers: made from declared outputs (L3), and a check of values against them.

The check knows what is made here and what pydantic makes of its models; other keywords are documentation. Schemas of
Python classes are made in `annotated.py`.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from prose_lang.documents.model import Item, Type
from prose_lang.documents.types import is_text
from prose_lang.values import kind_of

Schema = Mapping[str, Any]

_WORDS = MappingProxyType(
    {"string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "object": "object"}
)
_RANGE = re.compile(r"(?<![\w.])(?P<low>-?\d+(?:\.\d+)?) ?(?:to|and|\.\.|-|–) ?(?P<high>-?\d+(?:\.\d+)?)(?![\w]|\.\d)")


def of_items(items: Iterable[Item]) -> dict[str, Any]:
    """The schema of an object with the declared outputs. An optional one may be null, so that all can be required.

    >>> from prose_lang.documents.types import parse_type
    >>> from prose_lang.text import Span
    >>> score = Item("score", Span(0, 0), parse_type("number"), "from 0 to 1", False)
    >>> of_items([score])["properties"]
    {'score': {'type': 'number', 'minimum': 0, 'maximum': 1, 'description': 'from 0 to 1'}}
    """
    return an_object({item.name: _or_null(of_item(item)) if item.optional else of_item(item) for item in items})


def an_object(properties: Mapping[str, Schema]) -> dict[str, Any]:
    """The schema of an object with exactly these keys."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def of_item(item: Item) -> dict[str, Any]:
    """The schema of one declared output: its type, bounds, choices and description."""
    schema = of_type(item.type)
    if item.one_of:
        schema = {"enum": list(item.one_of)}
    if schema.get("type") in ("number", "integer"):
        low, high = _bounds(item)
        schema |= {name: bound for name, bound in (("minimum", low), ("maximum", high)) if bound is not None}
    if item.description:
        schema["description"] = " ".join(item.description.split())
    return schema


def _bounds(item: Item) -> tuple[float | None, float | None]:
    """The declared bounds, else those that the description gives in the words `0 to 1`, `0..1`, `between 0 and 1`."""
    if item.minimum is not None or item.maximum is not None:
        return item.minimum, item.maximum
    found = _RANGE.search(item.description)
    if found is None:
        return None, None
    low, high = (float(part) if "." in part else int(part) for part in (found["low"], found["high"]))
    return (low, high) if low < high else (None, None)


def of_type(declared: Type) -> dict[str, Any]:
    """The schema of a declared type; of `any` and of unknown words an empty one, which everything fits.

    >>> from prose_lang.documents.types import parse_type
    >>> of_type(parse_type('"accept" | "reject"')), of_type(parse_type("string[]"))
    ({'type': 'string', 'enum': ['accept', 'reject']}, {'type': 'array', 'items': {'type': 'string'}})
    """
    literals = [word[1:-1] for word, listed in declared.names if word.startswith('"') and not listed]
    kinds: list[dict[str, Any]] = [{"type": "string", "enum": literals}] if literals else []
    for word, listed in declared.names:
        if word.startswith('"'):
            one: dict[str, Any] = {"type": "string", "enum": [word[1:-1]]}
            if not listed:
                continue
        else:
            one = {"type": _WORDS[word]} if word in _WORDS else {}
        kinds.append({"type": "array", "items": one} if listed else one)
    if not kinds or {} in kinds:
        return {}
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


def is_plain_text(items: Iterable[Item]) -> bool:
    """Whether the outputs are one text of any wording, which is then the whole answer."""
    found = list(items)
    if len(found) != 1 or found[0].one_of:
        return False
    declared = found[0].type
    return declared.text == "any" or (is_text(declared) and not any(word.startswith('"') for word, _ in declared.names))


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if not schema:
        return schema
    description = {"description": schema.pop("description")} if "description" in schema else {}
    return {"anyOf": [schema, {"type": "null"}], **description} if schema else description


def is_closed(schema: Schema) -> bool:
    """Whether a provider can hold a model to it letter by letter: every part has a kind, every object lists its keys.

    >>> is_closed({"type": "array", "items": {"type": "string"}}), is_closed({"type": "object"})
    (True, False)
    """
    if "anyOf" in schema:
        return all(is_closed(part) for part in schema["anyOf"])
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return (
                schema.get("additionalProperties") is False
                and set(schema.get("required", ())) == set(properties)
                and all(is_closed(part) for part in properties.values())
            )
        case "array":
            return "items" in schema and is_closed(schema["items"])
        case None:
            return "$ref" in schema or ("enum" in schema and "type" in schema)
        case _:
            return True


# --- checking --------------------------------------------------------------------------------------------------------


def faults(value: Any, schema: Schema) -> list[str]:
    """What keeps a value from fitting a schema, each with its place; none if it fits.

    >>> faults({"score": 2}, an_object({"score": {"type": "number", "maximum": 1}}))
    ['score is 2, more than the maximum of 1']
    """
    return list(_faults(value, schema, "", schema.get("$defs", {})))


def _faults(value: Any, schema: Schema, place: str, shared: Mapping[str, Schema]) -> Iterator[str]:
    if "$ref" in schema:
        yield from _faults(value, shared.get(schema["$ref"].rpartition("/")[2], {}), place, shared)
        return
    for word in ("anyOf", "oneOf"):
        if word in schema:
            found = [list(_faults(value, part, place, shared)) for part in schema[word]]
            if all(found):
                # What the likeliest alternative finds says most: the one of the value's own kind.
                own = [part for part, of in zip(found, schema[word], strict=True) if _is_kind(value, of.get("type"))]
                yield from min(own or found, key=len)
            return
    here = place or "the answer"
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if kind is not None and not any(_is_kind(value, one) for one in kinds):
        yield f"{here} is {_shown(value)}, which is not {' or '.join(map(_a, kinds))}"
        return
    for part in schema.get("allOf", ()):
        yield from _faults(value, part, place, shared)
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if choices is not None and not any(
        value == one and isinstance(value, bool) == isinstance(one, bool) for one in choices
    ):
        yield f"{here} is {_shown(value)}, which is none of {', '.join(map(_shown, choices))}"
        return
    if isinstance(value, dict):
        yield from _faults_of_object(value, schema, place, shared)
    elif isinstance(value, list):
        yield from _faults_of_size(len(value), schema, here, "Items", "entries")
        items = schema.get("items")
        if isinstance(items, Mapping):
            for number, item in enumerate(value):
                yield from _faults(item, items, f"{place}[{number}]" if place else f"entry {number}", shared)
    elif isinstance(value, str):
        yield from _faults_of_size(len(value), schema, here, "Length", "characters")
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and not re.search(pattern, value):
            yield f"{here} is {_shown(value)}, which does not match {pattern}"
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _faults_of_number(value, schema, here)


def _faults_of_object(
    value: Mapping[str, Any], schema: Schema, place: str, shared: Mapping[str, Schema]
) -> Iterator[str]:
    properties = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        yield f"{place or 'the answer'} has no {', '.join(missing)}"
    others = schema.get("additionalProperties")
    for name, item in value.items():
        where = f"{place}.{name}" if place else name
        if name in properties:
            yield from _faults(item, properties[name], where, shared)
        elif others is False:
            yield f"{where} is not asked for"
        elif isinstance(others, Mapping):
            yield from _faults(item, others, where, shared)


def _faults_of_size(size: int, schema: Schema, here: str, word: str, what: str) -> Iterator[str]:
    if size < schema.get(f"min{word}", 0):
        yield f"{here} has {size} {what} and needs {schema[f'min{word}']}"
    if size > schema.get(f"max{word}", size):
        yield f"{here} has {size} {what} and may have {schema[f'max{word}']}"


def _faults_of_number(value: float, schema: Schema, here: str) -> Iterator[str]:
    for word, bad, said in (
        ("minimum", operator.lt, "less than the minimum of"),
        ("maximum", operator.gt, "more than the maximum of"),
        ("exclusiveMinimum", operator.le, "not above"),
        ("exclusiveMaximum", operator.ge, "not below"),
    ):
        if word in schema and bad(value, schema[word]):
            yield f"{here} is {_shown(value)}, {said} {schema[word]}"


def _is_kind(value: Any, kind: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match kind:
        case None:
            return False
        case "number":
            return number
        case "integer":
            return number and value == int(value)
        case "array":
            return isinstance(value, list)
        case _:
            return bool(kind_of(value) == kind)


def _a(kind: str) -> str:
    word = {"array": "list", "string": "text"}.get(kind, kind)
    return word if word == "null" else f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
