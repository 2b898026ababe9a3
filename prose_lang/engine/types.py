"""Given values against declared types (L3, L5): what a command-line text becomes, and what does not fit (P211)."""

from __future__ import annotations

import json
import math
from typing import Any

from prose_lang.documents.model import Item, Type
from prose_lang.values import NotAValue, ServiceRef, Value, as_number, equal, intake, kind_of

#: Words that say nothing about the kind of a value.
_KNOWN = frozenset({"string", "number", "integer", "boolean", "object", "null"})


class Mismatch(ValueError):
    """A value does not fit what is declared; the message says what was wanted."""


def fitted(value: Value, item: Item, *, text: bool) -> Value:
    """A given value as the declared item takes it; `text` tells that it is a command-line text.

    Raises `Mismatch`.
    """
    if isinstance(value, ServiceRef):
        return value  # a predicate or another function given where the file expects data (L30.4)
    types = _types_of(item)
    if text and isinstance(value, str):
        value = _from_text(value, types)
    if value is None:
        return None
    if not any(fits(value, kind) for kind in types):
        raise Mismatch(f"it takes {_wanted(types)}, not {_shown(value)}")
    _within(value, item)
    return value


def _types_of(item: Item) -> tuple[Type, ...]:
    declared = (item.type, *item.other_types)
    if all(not kind.names or all(word == "any" for word, _ in kind.names) for kind in declared):
        # `max_rounds: 3` says its type by its default.
        word = {"boolean": "boolean", "number": "number"}.get(kind_of(item.default)) if item.has_default else None
        if word is not None:
            return (Type(word, ((word, False),)),)
    return declared


def _from_text(text: str, types: tuple[Type, ...]) -> Value:
    """The first reading of a text that fits one of the types; a text that must not be one stays for the check."""
    for kind in types:
        for word, listed in kind.names:
            found = _list_from(text, word) if listed else _one_from(text, word)
            if found is not None:
                return found[0]
    return text


def _list_from(text: str, word: str) -> tuple[Value] | None:
    """A text for `T[]` is JSON if it starts with `[`, else one T (§9 L3)."""
    if text.lstrip().startswith("["):
        return _json(text)
    one = _one_from(text, word)
    return (one[0],) if one is not None else None


def _one_from(text: str, word: str) -> tuple[Value] | None:
    match word:
        case "string":
            return (text,)
        case "number" | "integer":
            number = as_number(text)
            return None if number is None else (number,)
        case "boolean":
            return {"true": (True,), "false": (False,)}.get(text.strip().lower())
        case "object":
            return _json(text) if text.lstrip().startswith("{") else None
        case "null":
            return (None,) if text == "null" else None
        case _:
            return (text,)


def _json(text: str) -> tuple[Value]:
    try:
        return (intake(json.loads(text)),)
    except (ValueError, NotAValue, RecursionError) as error:
        raise Mismatch(f"it is not valid JSON: {error}") from None


def fits(value: Value, kind: Type) -> bool:
    """Whether a value is of a declared type. Where `T[]` is declared a single T is accepted (§9 L3)."""
    if not kind.names:
        return True
    return any(
        (isinstance(value, list) and all(_fits_one(item, word) for item in value)) or _fits_one(value, word)
        if listed
        else _fits_one(value, word)
        for word, listed in kind.names
    )


def _fits_one(value: Value, word: str) -> bool:
    if word.startswith('"'):
        return bool(value == word.strip('"'))
    if word not in _KNOWN:
        return True
    kind = kind_of(value)
    if word == "integer":
        return kind == "number" and math.isfinite(value) and value == int(value)
    return kind == word


def _within(value: Value, item: Item) -> None:
    if item.one_of and not any(equal(value, allowed) for allowed in item.one_of):
        raise Mismatch(f"it is one of {', '.join(_shown(allowed) for allowed in item.one_of)}, not {_shown(value)}")
    if kind_of(value) != "number":
        return
    if item.minimum is not None and value < item.minimum:
        raise Mismatch(f"it is at least {item.minimum:g}, not {_shown(value)}")
    if item.maximum is not None and value > item.maximum:
        raise Mismatch(f"it is at most {item.maximum:g}, not {_shown(value)}")


def _wanted(types: tuple[Type, ...]) -> str:
    return " or ".join(dict.fromkeys(kind.text for kind in types))


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, (list, dict)) else f"a {kind_of(value)}"
    return text if len(text) <= 60 else text[:57] + "…"
