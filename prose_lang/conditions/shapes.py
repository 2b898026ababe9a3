"""What rules see in a value: the fields of an object, one word, an error, emptiness; and how they show a value."""

from __future__ import annotations

import json
import re
from typing import Any

from prose_lang.values import ServiceRef, Value, truth

_ONE_WORD = re.compile(r"\s*(\w[\w-]*)[.!]?\s*")
_LONGEST_WORD = 100
_LONGEST_SHOWN = 60


def fields_of(value: Value) -> dict[str, Value] | None:
    """The fields of an object, or of a text that is the JSON of one (L13); None if there are none to speak of.

    JSON that names a key twice is no object here: which of the two was meant cannot be known.

    >>> fields_of('{"proceed": true}'), fields_of("proceed")
    ({'proceed': True}, None)
    """
    if isinstance(value, dict):
        return value
    if not isinstance(value, str) or isinstance(value, ServiceRef):
        return None
    text = value.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        parsed = json.loads(text, parse_constant=_refuse, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made


def one_word(value: Value) -> str | None:
    """The word that a text consists of, in lower case; white space around it and a final `.` or `!` do not count.

    >>> one_word("Accept."), one_word("not accepted"), one_word("")
    ('accept', None, None)
    """
    if not isinstance(value, str) or isinstance(value, ServiceRef) or len(value) > _LONGEST_WORD:
        return None
    match = _ONE_WORD.fullmatch(value)
    return match[1].lower() if match else None


def is_empty(value: Value) -> bool:
    """Empty in the language's sense (L30.2): null, "", [] or {}; 0 and false are not."""
    return value is None or (isinstance(value, (str, list, dict)) and not value)


def is_error(value: Value) -> bool:
    """Whether a value is what `on-fail: "continue"` leaves of a failure (L24): an object with an `error` in it.

    `{error: null}` is the record of something that went well.
    """
    fields = fields_of(value)
    return fields is not None and truth(fields.get("error"))


def shown(value: Value) -> str:
    """A value in a few characters, for reasons and warnings.

    >>> shown(0.5), shown("high"), shown([1, 2])
    ('0.5', '"high"', 'a list of 2')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if type(value) is int or type(value) is float:
        return repr(value)
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    if isinstance(value, str):
        head = value[: _LONGEST_SHOWN + 1]
        plain = head.isprintable() and '"' not in head and "\\" not in head  # conditions are decided often
        text = f'"{head}"' if plain else json.dumps(head, ensure_ascii=False)
        return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 2] + '…"'
    return json.dumps(value)
