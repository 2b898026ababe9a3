"""Access to parts of values (L13): lenient where published files need it, and never silently."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from prose_lang.runtime.place import Place
from prose_lang.values import NotAValue, ServiceRef, intake, kind_of

#: Tells the run of a lenient access: the place, the code it would be under --strict, and what happened.
Warn = Callable[[Place, str, str], None]


def parsed_object(text: str) -> Any:
    """The object or list that a text is the JSON of; None if it is not one."""
    stripped = text.strip()
    if not stripped or (stripped[0], stripped[-1]) not in (("{", "}"), ("[", "]")):
        return None
    try:
        return intake(json.loads(stripped))
    except (ValueError, RecursionError, NotAValue):
        return None


def member(value: Any, name: str, place: Place, warn: Warn) -> Any:
    """`value.name`, where `value` is no object that has the key."""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        warn(place, "P303", f"there is no `{name}` in this object{_keys(value)}")
        return None
    if isinstance(value, list):
        if name == "length":
            return len(value)
        warn(place, "P303", f"a list has no `{name}`")
        return None
    if isinstance(value, str):
        if name == "length":
            return len(value)
        if not isinstance(value, ServiceRef):
            parsed = parsed_object(value)
            if parsed is not None:
                return member(parsed, name, place, warn)
        warn(place, "P303", f"a {kind_of(value)} has no `{name}`")
        return None
    warn(place, "P303", f"{_article(value)} has no `{name}`")
    return None


def single_output(value: Any, name: str) -> Any:
    """`.name` of the result of a service whose single output has that name: the key, if the value or the JSON that it
    is the text of has it, else the value itself (§9 L13)."""
    whole = parsed_object(value) if isinstance(value, str) and not isinstance(value, ServiceRef) else value
    return whole[name] if isinstance(whole, dict) and name in whole else value


def index(value: Any, key: Any, place: Place, warn: Warn) -> Any:
    """`value[key]`."""
    if isinstance(value, list):
        if isinstance(key, str):
            return member(value, key, place, warn)
        return element(value, key, place)
    if isinstance(value, dict):
        if isinstance(key, str):
            if key in value:
                return value[key]
            warn(place, "P303", f'there is no "{key}" in this object{_keys(value)}')
            return None
        place.fail("P304", f"an object is looked into by text, not by {_article(key)}")
    if isinstance(value, str) and isinstance(key, str):
        if key == "length" and not isinstance(value, ServiceRef):
            parsed = parsed_object(value)  # of a text that is JSON, `["length"]` is a key and `.length` never is (§9)
            if isinstance(parsed, dict) and key in parsed:
                return parsed[key]
        return member(value, key, place, warn)
    if isinstance(value, (str, bool, int, float)) and _whole(key) is not None:
        return value  # one brief for all delegates
    warn(place, "P303", f"{_article(value)} has no parts")
    return None


def element(value: list[Any], key: Any, place: Place) -> Any:
    """An element of a list by its number from 0; anything else is an error, strict or not."""
    number = _whole(key)
    if number is None:
        place.fail("P304", f"a list is looked into by a whole number, not by {_article(key)}")
    if not 0 <= number < len(value):
        what = f"it has {len(value)}" if value else "it is empty"
        place.fail("P303", f"there is no entry {number} in this list: {what}", "entries count from 0")
    return value[number]


def changed(value: Any, path: list[Any], new: Any, place: Place) -> Any:
    """A copy of a value in which the part at `path` is `new` (L19). Fields on the way are made where missing."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(key, str):
        if value is None:
            value = {}
        if not isinstance(value, dict):
            place.fail("P304", f"cannot set `{key}` of {_article(value)}")
        return {**value, key: changed(value.get(key), rest, new, place)}
    if not isinstance(value, list):
        place.fail("P304", f"cannot set an entry of {_article(value)}")
    element(value, key, place)
    copy = list(value)
    copy[int(key)] = changed(copy[int(key)], rest, new, place)
    return copy


def _whole(key: Any) -> int | None:
    if isinstance(key, bool) or not isinstance(key, (int, float)) or key != int(key):
        return None
    return int(key)


def _article(value: Any) -> str:
    kind = kind_of(value)
    return kind if kind == "null" else f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _keys(value: dict[str, Any]) -> str:
    names = list(value)[:6]
    if not names:
        return ", which is empty"
    return "; it has " + ", ".join(names) + (", …" if len(value) > 6 else "")
