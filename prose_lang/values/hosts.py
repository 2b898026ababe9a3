"""Host objects that are not plain JSON, through `cattrs` (L12). Imported only when such an object turns up."""

from __future__ import annotations

import datetime
import decimal
import functools
import pathlib
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any, get_type_hints

import cattrs
from cattrs.preconf.json import make_converter

from prose_lang.values.intake import NotAValue
from prose_lang.values.model import MAX_NODES, Value, kind_of


def unstructure(thing: Any, place: str) -> Any:
    """A host object as plain Python whose parts are checked by the caller.

    attrs classes, dataclasses, named tuples, enums, dates and times go by cattrs' conventions, pydantic models by
    `model_dump`, numpy scalars by `item`. Raises `NotAValue` where no honest representation exists.
    """
    try:
        return _unstructured(thing)
    except RecursionError:
        raise NotAValue(f"it contains itself, or is nested too deeply{place}") from None
    except NotAValue as error:
        raise NotAValue(f"{error}{place}") from None
    except Exception as error:  # what its own methods raise
        reason = f"reading it raised {type(error).__name__}"
        raise NotAValue(f"a {type(thing).__name__}{place} is not a value: {reason}") from None


def _unstructured(thing: Any) -> Any:
    if isinstance(thing, (bytes, bytearray, memoryview)):
        raise NotAValue("bytes are not a value; decode them to text first")
    if hasattr(type(thing), "model_fields") and callable(getattr(thing, "model_dump", None)):
        return thing.model_dump()
    if isinstance(thing, Mapping):
        return dict(thing) if isinstance(thing, dict) else {key: thing[key] for key in _bounded(thing)}
    scalar = _numpy_scalar(thing)
    if scalar is not None:
        return scalar
    plain = converter().unstructure(thing)
    if plain is not thing:
        return plain
    for base in (str, int, float):
        if issubclass(type(thing), base):
            return base(thing)
    if isinstance(thing, Sequence):
        return list(_bounded(thing))
    raise NotAValue(f"a {type(thing).__name__} is not a value")


def _bounded(things: Collection[Any]) -> Iterator[Any]:
    """The parts of a collection, as many as it says it has, for it may never end."""
    size = len(things)
    if size > MAX_NODES:
        raise NotAValue(f"it has more than {MAX_NODES:,} parts")
    return islice(things, size)


class Mismatch(ValueError):
    """A value does not have the shape that a host type asks for; the message says which part and why."""


def structure(value: Value, kind: Any) -> Any:
    """A value as an instance of a host type: an attrs class, a pydantic model, `list[datetime]` and the like.

    Numbers and texts are not turned into each other. Raises `Mismatch`, naming every part that does not fit.
    """
    try:
        return converter().structure(value, kind)
    except cattrs.StructureHandlerNotFoundError as error:
        raise TypeError(f"no value can be made into {kind}: {error}") from None
    except RecursionError:
        raise Mismatch("it is nested too deeply") from None
    except Exception as error:
        faults = cattrs.transform_error(error, path="", format_exception=_fault)
        raise Mismatch("; ".join(_readable(fault) for fault in faults)) from None


def _fault(error: BaseException, kind: type | None) -> str:
    if callable(getattr(error, "errors", None)):  # pydantic's own account
        return ", ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())  # type: ignore[attr-defined]
    if isinstance(error, KeyError):
        return "a required part is missing"
    if isinstance(error, TypeError) and isinstance(kind, type):
        return f"it cannot be made into {kind.__name__}"
    return str(error)


def _readable(fault: str) -> str:
    what, _, where = fault.rpartition(" @ ")
    return f"{what} at {where.lstrip('.')}" if where else what


@functools.cache
def converter() -> cattrs.Converter:
    """The converter of results and of typed inputs: cattrs' JSON conventions, but bytes are refused."""
    made = make_converter()

    def refuse_bytes(thing: Any) -> Any:
        raise NotAValue("bytes are not a value; decode them to text first")

    for kind in (bytes, bytearray, memoryview):
        made.register_unstructure_hook(kind, refuse_bytes)
    made.register_unstructure_hook(datetime.time, datetime.time.isoformat)
    made.register_unstructure_hook(datetime.timedelta, datetime.timedelta.total_seconds)
    made.register_unstructure_hook(decimal.Decimal, _from_decimal)
    made.register_unstructure_hook(uuid.UUID, str)
    made.register_unstructure_hook(pathlib.PurePath, str)
    made.register_unstructure_hook_func(lambda kind: _is_set(kind), _from_set)
    _register_structuring(made)
    return made


def _register_structuring(made: cattrs.Converter) -> None:
    """The way back of the types above, for typed inputs of host functions."""
    for kind in (str, bool, int, float):
        made.register_structure_hook(kind, _primitive)
    made.register_structure_hook(datetime.time, lambda value, kind: kind.fromisoformat(value))
    made.register_structure_hook(datetime.timedelta, lambda value, kind: kind(seconds=value))
    made.register_structure_hook(decimal.Decimal, _to_decimal)
    made.register_structure_hook(uuid.UUID, lambda value, kind: kind(value))
    made.register_structure_hook(pathlib.PurePath, lambda value, kind: kind(value))
    made.register_structure_hook_func(
        lambda kind: isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"), _named_tuple
    )
    made.register_structure_hook_func(
        lambda kind: hasattr(kind, "model_validate"), lambda value, kind: kind.model_validate(value)
    )


def _named_tuple(value: Value, kind: Any) -> Any:
    hints = get_type_hints(kind)
    given = value if isinstance(value, dict) else dict(zip(kind._fields, value, strict=False))
    if len(given) != len(value) or given.keys() - set(kind._fields):
        raise ValueError(f"expected the fields {', '.join(kind._fields)}")
    return kind(**{name: converter().structure(item, hints.get(name, Any)) for name, item in given.items()})


def _to_decimal(value: Value, kind: type[decimal.Decimal]) -> decimal.Decimal:
    try:
        return kind(str(value))
    except decimal.InvalidOperation:
        raise ValueError(f"expected a decimal number, got {kind_of(value)}") from None


def _primitive(value: Value, kind: Any) -> Any:
    if kind is bool or isinstance(value, bool):
        fits = kind is bool and isinstance(value, bool)
    elif issubclass(kind, str):
        fits = isinstance(value, str)
    elif issubclass(kind, int):
        fits = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    else:
        fits = isinstance(value, (int, float))
    if not fits:
        raise ValueError(f"expected {kind.__name__}, got {kind_of(value)}")
    return kind(value)


def _is_set(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Set)


def _from_decimal(thing: decimal.Decimal) -> float | int:
    if not thing.is_finite():
        raise NotAValue(f"{thing} is not a JSON number")
    return int(thing) if thing == thing.to_integral_value() else float(thing)


def _from_set(thing: Set[Any]) -> list[Any]:
    # Sets have no order; a result must not differ from run to run.
    try:
        ordered = sorted(thing)
    except TypeError:
        ordered = sorted(thing, key=repr)
    return [converter().unstructure(item) for item in ordered]


def _numpy_scalar(thing: Any) -> float | int | bool | None:
    item = getattr(thing, "item", None)
    if not callable(item) or getattr(thing, "shape", None) != ():
        return None
    plain = item()
    return plain if isinstance(plain, (bool, int, float)) else None
