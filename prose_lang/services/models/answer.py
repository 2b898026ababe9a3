"""Reading an answer strictly: the text it is, or the JSON that was asked for. Nothing is ever scraped out of prose
(L33).

One thing is forgiven: a code fence around the whole answer, which says nothing. Text around it does, and is a problem.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from prose_lang.services.models.schema import Schema, faults
from prose_lang.values import Value

#: Characters of an answer. What is longer is not read and not asked for again.
LONGEST = 2_000_000

_FENCED = re.compile(r"```[\w-]*[ \t]*\n(?P<inside>.*)\n```", re.DOTALL)
_MOST_FAULTS = 5


class Unusable(ValueError):
    """An answer is not what was asked for; the message says why, as one would tell whoever gave it."""


def read(text: str | None, schema: Schema | None) -> Value:
    """The value of an answer. Raises `Unusable`.

    >>> read('{"score": 1}', {"type": "object"}), read(" fine ", None)
    ({'score': 1}, 'fine')
    """
    stripped = (text or "").strip()
    if not stripped:
        raise Unusable("it is empty")
    if schema is None:
        return stripped
    fenced = _FENCED.fullmatch(stripped)
    value = _json(fenced["inside"] if fenced else stripped)
    found = faults(value, schema)
    if found:
        more = [f"and {len(found) - _MOST_FAULTS} more faults"] if len(found) > _MOST_FAULTS else []
        raise Unusable("; ".join([*found[:_MOST_FAULTS], *more]))
    return _without_nulls(value)


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_float, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise Unusable("there is text after the JSON") from None
        if error.pos == 0 and "{" in text:
            raise Unusable("there is text before the JSON") from None
        said = f"{error.msg[:1].lower()}{error.msg[1:]}"
        raise Unusable(f"it is not JSON: {said} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise Unusable("it is nested too deeply") from None


def _refuse(constant: str) -> NoReturn:
    raise Unusable(f"{constant} is not JSON")


def _float(text: str) -> float:
    number = float(text)
    return number if abs(number) < float("inf") else _refuse(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise Unusable(f"`{name}` is there twice")
        made[name] = value
    return made


def _without_nulls(value: Any) -> Any:
    """Optional outputs that the model left out, which it can only say with null."""
    return {name: item for name, item in value.items() if item is not None} if isinstance(value, dict) else value
