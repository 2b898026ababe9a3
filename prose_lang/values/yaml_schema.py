"""What scalars mean in the core schema of YAML 1.2: `yes` and dates are texts, numbers are JSON's."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType

from prose_lang.values.intake import MAX_INTEGER
from prose_lang.values.model import Value

#: The prefix of the tags that YAML itself defines.
CORE = "tag:yaml.org,2002:"

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = MappingProxyType({"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False})
_TAGGED: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,), "null": (type(None),)}
)
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MOST_DIGITS = 320  # the largest double has 309


class NotJson(ValueError):
    """A scalar has no JSON value; the message says why, and `hint` what helps."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def scalar(text: str, tag: str | None, *, plain: bool) -> Value:
    """The value of a scalar. `plain` tells that it stands without quotes. Raises `NotJson`.

    >>> scalar("1.5", None, plain=True), scalar("1.5", None, plain=False), scalar("1.5", CORE + "str", plain=True)
    (1.5, '1.5', '1.5')
    """
    if tag is None or tag == "!":
        value = _plain(text) if plain and tag is None else text
    else:
        name = tag.removeprefix(CORE)
        value = text if name == "str" else _plain(text)
        if tag == name or type(value) not in _TAGGED.get(name, ()):
            raise NotJson(f"the tag `{tag}` does not fit here")
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise NotJson("a text holds half of a surrogate pair") from None
    return value


def _plain(text: str) -> Value:
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        number = int(text, 0 if text[:2] in ("0o", "0x") else 10) if len(text) <= _MOST_DIGITS else MAX_INTEGER + 1
        if abs(number) <= MAX_INTEGER:
            return number
    elif _FLOAT.fullmatch(text):
        if math.isfinite(real := float(text)):
            return real
    elif not _NO_NUMBER.fullmatch(text):
        return text
    raise NotJson(f"`{text[:40]}` is not a JSON number", "put it in quotes if a text is meant")
