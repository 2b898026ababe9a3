"""What a Python annotation says about an input: the type that programs see, and whether the value is to be rebuilt.

Annotations that cannot be resolved mean nothing rather than failing: a type imported for type checkers only must
not keep a function from being a service.
"""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import inspect
import json
import pathlib
import types
import typing
import uuid
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

import attrs

from prose_lang.documents.model import ANY, Type
from prose_lang.values import kind_of

_PRIMITIVES = MappingProxyType({str: "string", bool: "boolean", int: "integer", float: "number"})
_TEXTUAL = (datetime.date, datetime.time, uuid.UUID, pathlib.PurePath)
_NUMERIC = (datetime.timedelta, decimal.Decimal)
#: Python collections that a list of the language may become; all but `list` itself have to be built.
_PLAIN_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_BUILT_LISTS = (tuple, set, frozenset, collections.deque, collections.abc.Set, collections.abc.MutableSequence)
_LISTS = _PLAIN_LISTS + _BUILT_LISTS

_Word = tuple[str, bool]  # a word of `Type.names`: the base word, and whether a list of it is meant


def resolved_annotations(function: Any, formal: Iterable[inspect.Parameter]) -> dict[str, Any]:
    """The annotation of each parameter, with those written as text looked up where the function was defined."""
    inner = inspect.unwrap(function)
    while hasattr(inner, "func"):  # partials
        inner = inner.func
    if not inspect.isroutine(inner):
        inner = inner.__init__ if inspect.isclass(inner) else type(inner).__call__
    scope = getattr(inspect.unwrap(inner), "__globals__", {})
    return {parameter.name: _resolved(parameter.annotation, scope) for parameter in formal}


def _resolved(annotation: Any, scope: dict[str, Any]) -> Any:
    if annotation is inspect.Parameter.empty:
        return Any
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return typing.get_type_hints(holder, globalns=scope, include_extras=False)["it"]
    except Exception:
        return Any


def declared_type(annotation: Any) -> Type:
    """The language's type of an annotation; what it has no word for is `any`.

    >>> declared_type(list[str] | None).text
    'string[]'
    """
    words = tuple(dict.fromkeys(_words(annotation)))
    if not words or ("any", False) in words:
        return ANY
    return Type(" | ".join(f"{word}[]" if listed else word for word, listed in words), words)


def _words(annotation: Any) -> list[_Word]:
    annotation = _unwrapped(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in (None, type(None)):
        return []
    if _is_union(origin):
        return [word for part in arguments for word in _words(part)]
    if origin is typing.Literal:
        return [word for value in arguments for word in _literal(value)]
    kind = origin or annotation
    if not isinstance(kind, type):
        return [("any", False)]
    if kind in _LISTS:
        parts = [part for part in arguments if part is not Ellipsis]
        inner = _words(parts[0]) if len(parts) == 1 else []
        return [(word if not listed else "any", True) for word, listed in inner] or [("any", True)]
    if _is_named_tuple(kind):
        return [("any", False)]  # a list, as named tuples are written, or an object of its fields
    if issubclass(kind, enum.Enum):
        return [word for member in kind for word in _literal(member.value)]
    if issubclass(kind, collections.abc.Mapping) or typing.is_typeddict(kind) or _is_record(kind):
        return [("object", False)]
    if issubclass(kind, _TEXTUAL):
        return [("string", False)]
    if issubclass(kind, _NUMERIC):
        return [("number", False)]
    return next(([(word, False)] for base, word in _PRIMITIVES.items() if issubclass(kind, base)), [("any", False)])


def _literal(value: Any) -> list[_Word]:
    if value is None:
        return []
    if isinstance(value, str):
        return [(json.dumps(value, ensure_ascii=False), False)]
    return [(_PRIMITIVES.get(type(value), "any"), False)]


def needs_structure(annotation: Any) -> bool:
    """Whether a value has to be rebuilt to be what the annotation says, JSON's own kinds being what they are."""
    annotation = _unwrapped(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal or origin is collections.abc.Callable:
        return False
    kind = origin or annotation
    if isinstance(kind, type):
        if kind in _BUILT_LISTS or _is_record(kind) or issubclass(kind, (enum.Enum, *_TEXTUAL, *_NUMERIC)):
            return True
        if origin and kind not in _LISTS and not issubclass(kind, (collections.abc.Mapping, types.UnionType)):
            return False  # a generic class of the host's own: nobody knows how to build it
    return any(needs_structure(part) for part in arguments)


def _unwrapped(annotation: Any) -> Any:
    """The annotation behind `Annotated`, `NewType`, a type alias or a bounded type variable."""
    while True:
        if typing.get_origin(annotation) is typing.Annotated:
            annotation = typing.get_args(annotation)[0]
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        elif isinstance(annotation, typing.TypeVar):
            annotation = annotation.__bound__ or Any
        elif type(annotation).__name__ == "TypeAliasType":  # `type X = ...`, from Python 3.12 on
            annotation = annotation.__value__
        else:
            return annotation


def _is_union(origin: Any) -> bool:
    return origin is typing.Union or origin is types.UnionType


def _is_record(kind: type) -> bool:
    """A class of named fields: attrs, dataclass, named tuple or pydantic model."""
    if attrs.has(kind) or dataclasses.is_dataclass(kind):
        return True
    return _is_named_tuple(kind) or hasattr(kind, "model_validate")


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


class TypedInput:
    """An input that is rebuilt as what its annotation says before the function sees it."""

    __slots__ = ("_annotation", "_expected", "name")

    def __init__(self, name: str, annotation: Any) -> None:
        self.name = name
        self._annotation = annotation
        self._expected = _one_container(declared_type(annotation))

    def structure(self, value: Any) -> Any:
        """The value as the annotated type; raises `values.hosts.Mismatch` with the part that does not fit."""
        from prose_lang.values.hosts import Mismatch, structure  # loads cattrs, which most runs never need

        # Said here in the user's words; a text would otherwise pass as the list of its characters.
        if self._expected and kind_of(value) != self._expected:
            raise Mismatch(f"it must be {_an(self._expected)}, not {_an(kind_of(value))}")
        return structure(value, self._annotation)


def _an(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _one_container(declared: Type) -> str | None:
    """`list` or `object` where the type is nothing else."""
    if declared.is_list:
        return "list"
    return "object" if all(name == ("object", False) for name in declared.names) else None
