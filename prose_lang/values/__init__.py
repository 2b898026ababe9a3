"""The value model of the language (L12): JSON's, no other."""

from prose_lang.values.intake import NotAValue, intake
from prose_lang.values.model import (
    GrowingList,
    ServiceRef,
    TooLarge,
    Value,
    a_kind_of,
    contains,
    equal,
    handout,
    kind_of,
    truth,
)
from prose_lang.values.text import as_number, interpolated, to_json

__all__ = [
    "GrowingList",
    "NotAValue",
    "ServiceRef",
    "TooLarge",
    "Value",
    "a_kind_of",
    "as_number",
    "contains",
    "equal",
    "handout",
    "intake",
    "interpolated",
    "kind_of",
    "to_json",
    "truth",
]
