"""Given values against declared types (L3, L5): what a command-line text becomes, and what does not fit (P211)."""

from __future__ import annotations

import json

from prose_lang.documents.declarations import misfit
from prose_lang.documents.model import Item, Type
from prose_lang.values import NotAValue, ServiceRef, Value, as_number, intake


class Mismatch(ValueError):
    """A value does not fit what is declared. The message is what to say after its name: `is "many", where …`."""


def fitted(value: Value, item: Item, *, text: bool) -> Value:
    """A given value as the declared item takes it; `text` tells that it is a command-line text.

    Raises `Mismatch`.
    """
    if isinstance(value, ServiceRef):
        return value  # a predicate or another function given where the file expects data (L30.4)
    if text and isinstance(value, str):
        value = _from_text(value, (item.type, *item.other_types))
    if value is None:
        return None
    wrong = misfit(value, item)
    if wrong is not None:
        raise Mismatch(wrong)
    return value


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
            if number is not None and word == "integer" and number == int(number):
                number = int(number)  # `3.0` counts three times like `3`, and is written like it
            return None if number is None else (number,)
        case "boolean":
            return {"true": (True,), "false": (False,)}.get(text.strip().lower())
        case "object":
            return _json(text) if text.lstrip().startswith("{") else None
        case _ if word.startswith('"'):
            return (text,) if text == word[1:-1] else None
        case _:
            return (text,)


def _json(text: str) -> tuple[Value]:
    try:
        return (intake(json.loads(text)),)
    except (ValueError, NotAValue, RecursionError) as error:
        raise Mismatch(f"is not valid JSON: {error}") from None
