"""Values as YAML that a person would have written: what fits on a line in braces, else a line for each part.

Reading it back gives the value again (`values/yaml.py`); whoever writes it into a file proves that first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from prose_lang.values.yaml_schema import NotJson, scalar

#: Columns of a line that holds a list or an object.
WIDTH = 110
#: Texts that mean themselves without quotes, in braces too.
_PLAIN = re.compile(r"[^\W\d](?:[\w .’/%+=()-]*[\w.)%])?")


def yaml_member(key: str, value: Any, indent: int = 0) -> str:
    """A key with its value; lines after the first are indented by `indent` and more.

    >>> print(yaml_member("value", {"result": "a haiku", "score": 0.9, "notes": ["#1", ""]}))
    value: {result: a haiku, score: 0.9, notes: ["#1", ""]}
    >>> print(yaml_member("text", "one\\ntwo\\n"))
    text: |
      one
      two
    """
    return "\n".join(_member(yaml_flow(key), value, indent))


def yaml_calls(calls: list[list[Any]], indent: int = 0) -> str:
    """The calls of a run, one a line where they fit.

    >>> print(yaml_calls([["a", {"x": 1}], ["b", {}]]))
    calls:
      - [a, {x: 1}]
      - [b, {}]
    """
    if not calls:
        return "calls: []"
    return "\n".join(["calls:", *_items(calls, indent + 2)])


def yaml_flow(value: Any) -> str:
    """A value on one line.

    >>> yaml_flow({"a b": [True, "true", 1.5, None]})
    '{a b: [true, "true", 1.5, null]}'
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{yaml_flow(key)}: {yaml_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(yaml_flow, value)) + "]"
    if isinstance(value, str):
        return value if _is_plain(value) else _quoted(value)
    return json.dumps(value)


def _is_plain(text: str) -> bool:
    if len(text) > 1_000 or not _PLAIN.fullmatch(text):
        return False
    try:
        return bool(scalar(text, None, plain=True) == text)
    except NotJson:
        return False


def _quoted(text: str) -> str:
    """JSON is YAML but for the characters that YAML wants escaped."""
    return "".join(_escaped(character) for character in json.dumps(text, ensure_ascii=False))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _member(key: str, value: Any, indent: int) -> Iterator[str]:
    """The lines of a key with its value, the first without indentation."""
    text = yaml_flow(value)
    if isinstance(value, str):
        block = _block(value, indent + 2)
        yield from [f"{key}: {block[0]}", *block[1:]] if block else [f"{key}: {text}"]
    elif not isinstance(value, (dict, list)) or (_fits(value, text, indent + len(key) + 2)):
        yield f"{key}: {text}"
    elif isinstance(value, dict):
        yield f"{key}:"
        yield from _members(value, indent + 2)
    else:
        yield f"{key}:"
        yield from _items(value, indent + 2)


def _members(value: dict[str, Any], indent: int) -> Iterator[str]:
    for key, item in value.items():
        first, *more = _member(yaml_flow(key), item, indent)
        yield " " * indent + first
        yield from more


def _items(value: list[Any], indent: int) -> Iterator[str]:
    start = " " * indent + "- "
    for item in value:
        text = yaml_flow(item)
        if isinstance(item, str):
            block = _block(item, indent + 2)
            yield from [start + block[0], *block[1:]] if block else [start + text]
        elif not isinstance(item, (dict, list)) or _fits(item, text, indent + 2):
            yield start + text
        else:
            inner = _members(item, indent + 2) if isinstance(item, dict) else _items(item, indent + 2)
            first, *more = inner
            yield start + first[indent + 2 :]
            yield from more


def _fits(value: Any, text: str, column: int) -> bool:
    return not value or (column + len(text) <= WIDTH and not _has_lines(value))


def _has_lines(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_lines(item) for item in value.values())
    if isinstance(value, list):
        return any(map(_has_lines, value))
    return isinstance(value, str) and _block(value, 0) is not None


def _block(text: str, indent: int) -> list[str] | None:
    """A text of several lines as a block: its mark, and the lines indented; None if it cannot be one."""
    if "\n" not in text.rstrip("\n") or not text.strip() or text[0] in " \n\t":
        return None
    body = text.rstrip("\n")
    lines = body.split("\n")
    if not all(line.isprintable() and (line == "" or line.rstrip() == line) for line in lines):
        return None
    ends = len(text) - len(body)
    if ends > 1:
        return None
    return ["|" if ends else "|-", *(" " * indent + line if line else "" for line in lines)]
