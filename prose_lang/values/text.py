"""Values as text: JSON, interpolation (L10) and numbers read from numeric texts (L30.2)."""

from __future__ import annotations

import json
import math
import re

from prose_lang.values.model import Value, handout

_NUMERIC = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")


def to_json(value: Value) -> str:
    """The JSON of a value, on one line, not escaped to ASCII. Raises `TooLarge` as `handout` does.

    >>> to_json({"a": [1, None, "é"]})
    '{"a": [1, null, "é"]}'
    """
    return json.dumps(handout(value), ensure_ascii=False)


def interpolated(value: Value) -> str:
    """What a value becomes inside a text (L10): a text itself, null nothing, anything else its JSON."""
    if isinstance(value, str):
        return str(value)
    if value is None:
        return ""
    return to_json(value)


def as_number(value: Value) -> float | int | None:
    """A number, or the number that a numeric text spells; None for anything else (L30.2)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, str) and len(value) < 64 and _NUMERIC.fullmatch(value):
        spelled = value.strip()
        number = float(spelled)
        if not math.isfinite(number):
            return None
        return number if "." in spelled or "e" in spelled.lower() else int(spelled)
    return None
