"""Whether a value is the expected one, and if not, where the two differ, in lines that can be read.

Expected values are those of YAML. The order of an object's keys does not matter, that of a list does; true is not 1,
while 1 is 1.0. An expected text `~0.5` stands for a number that may be off by a billionth.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

_TOLERANT = re.compile(r"~-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_TOLERANCE = 1e-9
_WORD = re.compile(r"[^\W\d][\w-]*")
#: Differences that are shown; nobody reads more before mending the first.
MOST_SHOWN = 10
#: Characters of a value on one line.
WIDTH = 200
#: Lists of more pairs than this are compared place by place, not aligned.
_ALIGNED = 40_000


def same(wanted: Any, got: Any) -> bool:
    """Whether a value is the expected one.

    >>> same({"a": 1, "b": ["~0.3"]}, {"b": [0.1 + 0.2], "a": 1.0}), same(True, 1)
    (True, False)
    """
    if isinstance(wanted, str) and not isinstance(got, str) and _TOLERANT.fullmatch(wanted):
        is_number = isinstance(got, (int, float)) and not isinstance(got, bool)
        return is_number and abs(float(wanted[1:]) - got) <= _TOLERANCE
    if isinstance(wanted, dict):
        return (
            isinstance(got, dict)
            and wanted.keys() == got.keys()
            and all(same(value, got[key]) for key, value in wanted.items())
        )
    if isinstance(wanted, list):
        return isinstance(got, list) and len(wanted) == len(got) and all(map(same, wanted, got))
    if isinstance(wanted, bool) or isinstance(got, bool):
        return wanted is got
    return bool(wanted == got)


def differences(wanted: Any, got: Any) -> tuple[str, ...]:
    """Where two values differ, at most ten places of them.

    >>> print(*differences({"a": [1, 2], "b": "x"}, {"a": [1, 3], "c": "y"}), sep="\\n")
    a[1]: expected 2, got 3
    b: expected "x", but it is missing
    c: "y" was not expected
    """
    return _bounded(_differing("", wanted, got))


def call_differences(wanted: Sequence[Any], got: Sequence[Any]) -> tuple[str, ...]:
    """Which calls differ, are missing or were not expected. An expected call may leave its modifiers out.

    >>> print(*call_differences([["a", {}], ["b", {"x": 1}]], [["b", {"x": 2}, {}]]), sep="\\n")
    call 1 to a is missing: {}
    call 1 to b: x: expected 1, got 2
    """
    return _bounded(_calls_differing(wanted, got))


def shown(value: Any, width: int = WIDTH) -> str:
    """A value as JSON on one line, cut if it is long.

    >>> shown("x" * 300, 30)
    '"xxxxxxxxxx … (302 characters)'
    """
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= width:
        return text
    tail = f" … ({len(text):,} characters)"
    return text[: max(10, width - len(tail))] + tail


def _bounded(lines: Iterator[str]) -> tuple[str, ...]:
    kept: list[str] = []
    more = 0
    for line in lines:
        if len(kept) < MOST_SHOWN or line.startswith("  "):
            if not more:
                kept.append(line)
        else:
            more += 1
    return (*kept, f"… and {more:,} more") if more else tuple(kept)


def _differing(path: str, wanted: Any, got: Any) -> Iterator[str]:
    if same(wanted, got):
        return
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key, value in wanted.items():
            where = _step(path, key)
            if key in got:
                yield from _differing(where, value, got[key])
            else:
                yield f"{where}: expected {shown(value)}, but it is missing"
        for key in got:
            if key not in wanted:
                yield f"{_step(path, key)}: {shown(got[key])} was not expected"
    elif isinstance(wanted, list) and isinstance(got, list):
        for number in range(max(len(wanted), len(got))):
            where = f"{path}[{number}]"
            if number >= len(got):
                yield f"{where}: expected {shown(wanted[number])}, but it is missing"
            elif number >= len(wanted):
                yield f"{where}: {shown(got[number])} was not expected"
            else:
                yield from _differing(where, wanted[number], got[number])
    elif isinstance(wanted, str) and isinstance(got, str) and ("\n" in wanted or "\n" in got):
        yield f"{path or 'it'}: the texts differ (- expected, + got)"
        yield from _text_diff(wanted, got)
    elif isinstance(wanted, str) and isinstance(got, str) and max(len(wanted), len(got)) > WIDTH // 2:
        at = next(
            (at for at, (a, b) in enumerate(zip(wanted, got, strict=False)) if a != b), min(len(wanted), len(got))
        )
        start = max(0, at - 30)
        yield f"{path or 'it'}: the texts differ from character {at + 1} on"
        yield f"  expected {'…' if start else ''}{shown(wanted[start : at + 60])}"
        yield f"  got      {'…' if start else ''}{shown(got[start : at + 60])}"
    else:
        yield f"{path + ': ' if path else ''}expected {shown(wanted)}, got {shown(got)}"


def _step(path: str, key: str) -> str:
    if _WORD.fullmatch(key):
        return f"{path}.{key}" if path else key
    return f"{path}[{shown(key, 60)}]"


def _text_diff(wanted: str, got: str) -> Iterator[str]:
    before, after = wanted.splitlines(), got.splitlines()
    if max(len(before), len(after)) > 2_000:
        at = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), 0)
        before, after = before[at : at + 20], after[at : at + 20]
    lines = [line for line in difflib.unified_diff(before, after, n=1, lineterm="") if line[:3] not in ("---", "+++")]
    if not lines:
        yield "  the line breaks differ"
    for line in lines[:30]:
        yield f"  {line[:1]} {line[1:WIDTH]}" if not line.startswith("@@") else f"  {line}"
    if len(lines) > 30:
        yield f"  … and {len(lines) - 30:,} more lines"


def _calls_differing(wanted: Sequence[Any], got: Sequence[Any]) -> Iterator[str]:
    for step, at, there in _aligned(wanted, got):
        if step == "missing":
            yield f"call {at + 1} to {wanted[at][0]} is missing: {shown(wanted[at][1])}"
        elif step == "surplus":
            yield f"call {there + 1} to {got[there][0]} was not expected: {shown(got[there][1])}"
        else:
            service, inputs, *modifiers = wanted[at]
            other, sent, how = got[there]
            if service != other:
                yield f"call {there + 1}: expected a call to {service} with {shown(inputs)}"
                yield f"  got one to {other} with {shown(sent)}"
                continue
            where = f"call {there + 1} to {service}"
            lines = list(_differing("", inputs, sent))
            if modifiers:
                lines += [f"modifiers: {line}" for line in _differing("", modifiers[0], how)]
            for line in lines:
                yield line if line.startswith("  ") else f"{where}: {line}"


def _fits(wanted: Any, got: Any) -> bool:
    return same(wanted, got if len(wanted) == 3 else got[:2])


def same_calls(wanted: Sequence[Any], got: Sequence[Any]) -> bool:
    """Whether these are the expected calls; modifiers count where they are written."""
    return len(wanted) == len(got) and all(map(_fits, wanted, got))


def _aligned(wanted: Sequence[Any], got: Sequence[Any]) -> Iterator[tuple[str, int, int]]:
    """The steps from the expected calls to the actual ones: `changed`, `missing` or `surplus`, with their places."""
    first = 0
    while first < min(len(wanted), len(got)) and _fits(wanted[first], got[first]):
        first += 1
    last = 0
    while last < min(len(wanted), len(got)) - first and _fits(wanted[-1 - last], got[-1 - last]):
        last += 1
    rows, columns = len(wanted) - first - last, len(got) - first - last
    if len(wanted) == len(got) or rows * columns > _ALIGNED:
        for at in range(max(rows, columns)):
            if at >= rows:
                yield "surplus", -1, first + at
            elif at >= columns:
                yield "missing", first + at, -1
            elif not _fits(wanted[first + at], got[first + at]):
                yield "changed", first + at, first + at
        return
    yield from (
        (what, first + at, first + there) for what, at, there in _edits(wanted[first:], got[first:], rows, columns)
    )


def _edits(wanted: Sequence[Any], got: Sequence[Any], rows: int, columns: int) -> list[tuple[str, int, int]]:
    """The cheapest way from one list to the other: a call to the same service changes more easily than to another."""

    def price(at: int, there: int) -> int:
        if _fits(wanted[at], got[there]):
            return 0
        return 2 if wanted[at][0] == got[there][0] else 5

    costs = [[0] * (columns + 1) for _ in range(rows + 1)]
    for at in range(rows, -1, -1):
        for there in range(columns, -1, -1):
            if at == rows or there == columns:
                costs[at][there] = 3 * (rows - at + columns - there)
            else:
                costs[at][there] = min(
                    price(at, there) + costs[at + 1][there + 1], 3 + costs[at + 1][there], 3 + costs[at][there + 1]
                )
    steps = []
    at = there = 0
    while at < rows or there < columns:
        here = costs[at][there]
        if at < rows and there < columns and here == (paid := price(at, there)) + costs[at + 1][there + 1]:
            if paid:
                steps.append(("changed", at, there))
            at, there = at + 1, there + 1
        elif at < rows and here == 3 + costs[at + 1][there]:
            steps.append(("missing", at, -1))
            at += 1
        else:
            steps.append(("surplus", -1, there))
            there += 1
    return steps
