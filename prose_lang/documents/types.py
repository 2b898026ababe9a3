"""Declared types (L3): reading them, and telling whether a value fits one.

Unknown words, `Json<Report>` and the like, are kept and mean `any`; so does an object written out in braces.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from prose_lang.documents.model import Type
from prose_lang.values import Value

#: The words that are checked. Others are kept as they stand.
KNOWN = frozenset({"string", "number", "integer", "boolean", "object", "any", "run"})
#: What people write for them.
_SYNONYMS = MappingProxyType(
    {"str": "string", "text": "string", "int": "integer", "float": "number", "bool": "boolean", "dict": "object"}
)
_LISTS = frozenset({"array", "list"})
_NULLS = frozenset({"null", "none"})  # an absent value is null for every type, so the word adds nothing

_ATOM = r"(?:[A-Za-z_][\w.-]*(?:<[^<>\s]*(?:<[^<>\s]*>[^<>\s]*)*>)?|\"[^\"\n]*\")(?:\[\])*"
TYPE = re.compile(rf"(?P<tick>`?){_ATOM}(?:[ \t]*\|[ \t]*{_ATOM})*(?P=tick)")
_ALTERNATIVE = re.compile(_ATOM)


def parse_type(text: str) -> Type | None:
    """The type that a text spells, or None if it does not look like one.

    >>> parse_type("string | Report[]").names
    (('string', False), ('Report', True))
    >>> parse_type("the question") is None
    True
    """
    text = text.strip()
    if not TYPE.fullmatch(text):
        return None
    text = text.strip("`")
    names = dict.fromkeys(_name(word) for word in _ALTERNATIVE.findall(text))
    kept = tuple(name for name in names if name[0] not in _NULLS)
    return Type(text, kept) if kept else None


def _name(word: str) -> tuple[str, bool]:
    base = word.removesuffix("[]")
    is_list = base != word
    nested = base.endswith("[]")  # lists of lists are lists of anything
    if not base.startswith('"'):
        base = base.split("<", 1)[0]
        lower = base.lower()
        base = _SYNONYMS.get(lower, lower) if lower in KNOWN | _SYNONYMS.keys() | _LISTS | _NULLS else base
    if base in _LISTS or nested:
        return "any", True
    return base, is_list


def is_known(declared: Type) -> bool:
    """Whether every alternative is a word of the language or a literal, so that the text can hardly mean anything else.

    >>> is_known(parse_type("string[]")), is_known(parse_type("Report"))
    (True, False)
    """
    return all(word in KNOWN or word.startswith('"') for word, _ in declared.names)


def is_text(declared: Type) -> bool:
    """Whether it is a text and nothing else; literals are texts."""
    return all((word == "string" or word.startswith('"')) and not listed for word, listed in declared.names)


def fits(value: Value, declared: Type) -> bool:
    """Whether a value has a declared type. Null fits every type, and a single T fits where `T[]` is declared (§9 L3).

    >>> fits(3, parse_type("integer")), fits(2.5, parse_type("integer")), fits("x", parse_type("string[]"))
    (True, False, True)
    """
    return value is None or any(_fits_word(value, word, listed) for word, listed in declared.names)


def _fits_word(value: Value, word: str, listed: bool) -> bool:
    if listed and isinstance(value, list):
        return all(_fits_word(item, word, False) for item in value)
    if word.startswith('"'):
        return bool(value == word[1:-1])
    match word:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "integer":
            return _fits_word(value, "number", False) and value == int(value)
        case "object":
            return isinstance(value, dict)
    return True
