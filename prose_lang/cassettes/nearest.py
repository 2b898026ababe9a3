"""The recorded request that looks most like one that has no answer, and how the two differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from prose_lang.cassettes.take import Take

#: Takes that are looked at closely, and characters of a request that are compared: a miss must not take minutes.
_LOOKED_AT = 200
_COMPARED = 4000
#: Lines of a difference that are shown, and characters of one.
_SHOWN = 24
_WIDTH = 160


def nearest_take(service: str, request: dict[str, Any], takes: Iterable[Take], part: str = "") -> Take | None:
    """The most similar take: of the same service, of any if it has none; of equal ones that of the same part."""
    from difflib import SequenceMatcher

    found = list(takes)
    same = sorted([take for take in found if take.service == service] or found, key=lambda take: take.part == part)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2("\n".join(_lines(service, request))[:_COMPARED].split())
    best, best_ratio = None, -1.0
    for take in reversed(same[-_LOOKED_AT:]):
        matcher.set_seq1("\n".join(_lines(take.service, take.request))[:_COMPARED].split())
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = take, ratio
    return best


def difference(near: Take, service: str, request: dict[str, Any]) -> list[str]:
    """How a request differs from a recorded one: `-` lines were recorded, `+` lines are asked now.

    >>> near = Take("r", "", 1, "a", "critic", {"inputs": {"text": "old"}}, {"value": 1})
    >>> difference(near, "critic", {"inputs": {"text": "new"}})
    ['- inputs.text: old', '+ inputs.text: new']
    """
    return compared(_lines(near.service, near.request), _lines(service, request))


def values_compared(recorded: Any, now: Any) -> list[str]:
    """The same for two values of any kind.

    >>> values_compared({"a": 1, "b": 2}, {"a": 1, "b": 3})
    ['- b: 2', '+ b: 3']
    """
    return compared(list(_written("", recorded)), list(_written("", now)))


def compared(recorded: Sequence[str], now: Sequence[str]) -> list[str]:
    """The lines in which two texts differ; of many, how many more there are."""
    from difflib import unified_diff

    found = [
        f"{line[0]} {line[1:]}"
        for line in unified_diff(recorded, now, n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]
    left = len(found) - _SHOWN
    shown = [line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in found[:_SHOWN]]
    return [*shown, *([f"… and {left:,} more lines"] if left > 0 else [])]


def _lines(service: str, request: dict[str, Any]) -> list[str]:
    """A request as lines that can be compared: a line for each value, and for each line of a text."""
    return list(_written("", request if "messages" in request else {"service": service, **request}))


def _written(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _written(f"{path}.{key}" if path else str(key), item)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _written(f"{path}[{index}]", item)
    elif isinstance(value, str):
        first, *more = value.split("\n")
        yield f"{path}: {first}"
        yield from (f"{path}| {line}" for line in more)
    else:
        yield f"{path}: {json.dumps(value, ensure_ascii=False)}"
