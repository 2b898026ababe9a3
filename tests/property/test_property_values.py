"""Laws of values: they survive going in and out, are equal to themselves, and have one text (L10, L12, L13a, L30.2)."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
import enum
import json
import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scale import examples

from prose_lang.runtime.access import parsed_object
from prose_lang.runtime.operators import BINARY, Refused
from prose_lang.values import (
    GrowingList,
    NotAValue,
    ServiceRef,
    TooLarge,
    as_number,
    contains,
    equal,
    handout,
    intake,
    interpolated,
    kind_of,
    to_json,
)
from prose_lang.values.intake import MAX_INTEGER
from prose_lang.values.model import MAX_DEPTH, MAX_NODES

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 3)
atoms = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    atoms, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=20
)


def nested(levels: int, value: Any = 1) -> Any:
    for _ in range(levels):
        value = [value]
    return value


def bomb(levels: int = 60) -> Any:
    """A value of a few parts that is 2^levels parts when it is written out."""
    value: Any = [1]
    for _ in range(levels):
        value = [value, value]
    return value


def grown(value: Any) -> Any:
    """The same value with lists as `record` makes them."""
    if isinstance(value, list):
        return GrowingList([grown(item) for item in value])
    if isinstance(value, dict):
        return {key: grown(item) for key, item in value.items()}
    return value


# --- in and out ------------------------------------------------------------------------------------------------------


@examples(180)
@given(values)
def test_what_comes_in_goes_out_as_it_was(value: Any) -> None:
    before = copy.deepcopy(value)
    taken = intake(value)
    out = handout(taken)
    assert json.dumps(taken) == json.dumps(out) == json.dumps(before)
    assert equal(taken, before)
    assert equal(out, before)


@examples(90)
@given(values)
def test_neither_side_can_change_what_the_other_holds(value: Any) -> None:
    taken = intake(value)
    out = handout(taken)
    before = json.dumps(taken)
    for theirs in (value, out):
        if isinstance(theirs, list):
            theirs.append("changed")
        elif isinstance(theirs, dict):
            theirs["changed"] = True
    assert json.dumps(taken) == before


def outer_lists(value: Any) -> list[Any]:
    return [value, *(found for item in value for found in outer_lists(item))] if isinstance(value, list) else []


@examples(60)
@given(values)
def test_copies_share_no_list(value: Any) -> None:
    taken = intake(value)
    held = {id(item) for item in outer_lists(taken)}
    assert held.isdisjoint(id(item) for item in outer_lists(value))
    assert held.isdisjoint(id(item) for item in outer_lists(handout(taken)))


class Colour(enum.Enum):
    RED = "red"


@attrs.frozen
class Point:
    x: float
    tags: tuple[str, ...]


@dataclasses.dataclass
class Line:
    start: Point
    when: datetime.date


@pytest.mark.parametrize(
    ("thing", "value"),
    [
        ((1, (2, None)), [1, [2, None]]),
        ({3, 1, 2}, [1, 2, 3]),
        (Colour.RED, "red"),
        (Point(0.5, ("a",)), {"x": 0.5, "tags": ["a"]}),
        (Line(Point(1, ()), datetime.date(2024, 1, 2)), {"start": {"x": 1, "tags": []}, "when": "2024-01-02"}),
        (MappingProxyType({"a": range(3)}), {"a": [0, 1, 2]}),
        (GrowingList([GrowingList()]), [[]]),
        (ServiceRef("worker", None), "worker"),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_host_objects_become_plain_values(thing: Any, value: Any) -> None:
    taken = intake(thing)
    assert taken == value
    assert json.dumps(taken) == json.dumps(value)


class Lying:
    """An object that raises where it is looked at, or says that it is something else."""

    def __init__(self, kind: Any) -> None:
        object.__setattr__(self, "kind", kind)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        kind = object.__getattribute__(self, "kind")
        if kind is None:
            raise RuntimeError("none of your business")
        return kind

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class Endless(list[int]):
    def __len__(self) -> int:
        return 10**18


class Broken(dict[str, int]):
    def __len__(self) -> int:
        raise RuntimeError("uncountable")


def cycle() -> Any:
    made: dict[str, Any] = {}
    made["a"] = [(made,)]
    return made


NO_VALUES: dict[str, Callable[[], Any]] = {
    "nan": lambda: math.nan,
    "infinity": lambda: [-math.inf],
    "bytes": lambda: b"x",
    "bytearray": lambda: bytearray(b"x"),
    "memoryview": lambda: memoryview(b"x"),
    "number as key": lambda: {1: 2},
    "null as key": lambda: {None: 1},
    "object": object,
    "class": lambda: int,
    "function": lambda: len,
    "integer": lambda: 2 * MAX_INTEGER,
    "surrogate": lambda: "\ud800",
    "surrogate in a key": lambda: {"\udfff": 1},
    "cycle": cycle,
    "deep": lambda: nested(MAX_DEPTH + 1),
    "very deep": lambda: nested(100_000),
    "set of bytes": lambda: {b"x"},
    "generator": lambda: (item for item in "ab"),
    "long range": lambda: range(10**12),
    "raising class": lambda: Lying(None),
    "said to be a dict": lambda: Lying(dict),
    "said to be a text": lambda: Lying(str),
    "said to be a list": lambda: Lying(list),
    "wrong size": lambda: Endless([1]),
    "complex": lambda: 1j,
    "ellipsis": lambda: ...,
}


@pytest.mark.parametrize("name", NO_VALUES)
def test_what_is_no_value_is_refused_with_a_reason(name: str) -> None:
    for wrapped in (lambda thing: thing, lambda thing: [thing], lambda thing: {"a": (thing,)}):
        with pytest.raises(NotAValue, match=r".{8}"):
            intake(wrapped(NO_VALUES[name]()))


def test_a_collection_that_cannot_be_counted_is_no_crash() -> None:
    with contextlib.suppress(NotAValue):
        assert intake(Broken(a=1)) == {"a": 1}


def test_depth_is_bounded_the_same_in_and_out() -> None:
    deepest = nested(MAX_DEPTH, 1)
    assert equal(handout(intake(deepest)), deepest)
    with pytest.raises(NotAValue):
        intake([deepest])
    with pytest.raises(TooLarge):
        handout([deepest])
    with pytest.raises(TooLarge):
        handout(nested(100_000))


def test_a_value_made_of_itself_is_measured_before_it_is_copied() -> None:
    for value in (bomb(), {"a": bomb()}, nested(100, bomb(60))):
        with pytest.raises(TooLarge):
            handout(value)
        with pytest.raises(TooLarge):
            interpolated(value)
    with pytest.raises(TooLarge):
        to_json(["x" * 10_000_000] * 40)


def test_a_large_value_is_copied_whole() -> None:
    value = [{"n": number, "s": "text", "l": [number]} for number in range(60_000)]
    assert handout(value) == value
    assert 6 * len(value) < MAX_NODES


# --- equality --------------------------------------------------------------------------------------------------------


@examples(120)
@given(values)
def test_equality_is_reflexive_over_copies(value: Any) -> None:
    for other in (value, copy.deepcopy(value), grown(value), intake(value), handout(grown(value))):
        assert equal(value, other)
        assert equal(other, value)


@examples(180)
@given(values, values)
def test_equality_is_symmetric_and_agrees_with_json(left: Any, right: Any) -> None:
    assert equal(left, right) == equal(right, left)
    assert equal(grown(left), grown(right)) == equal(left, right)
    if kind_of(left) != kind_of(right):
        assert not equal(left, right)
    if json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True):
        assert equal(left, right)
    assert BINARY["!="](left, right) is not equal(left, right)


@examples(60)
@given(values, values, values)
def test_equality_is_transitive(one: Any, two: Any, three: Any) -> None:
    if equal(one, two) and equal(two, three):
        assert equal(one, three)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (True, 1, False), (False, 0, False), (0, 0.0, True), (1, 1.0, True), ("1", 1, False), (None, False, False),
        (None, "", False), ([], {}, False), ([True], [1], False), ({"a": True}, {"a": 1}, False), ("", [], False),
        ([1, [2.0]], [1.0, [2]], True), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True), ([1], [1, 2], False),
        (GrowingList([True]), GrowingList([1]), False), (GrowingList([1]), [1.0], True),
        ([[GrowingList([0])]], [[GrowingList([False])]], False), (ServiceRef("a", 1), "a", True),
        (ServiceRef("a", 1), ServiceRef("a", 2), True), (2**70, float(2**70), True), (2**70 + 1, float(2**70), False),
    ],
)  # fmt: skip
def test_kinds_never_mix(left: Any, right: Any, same: bool) -> None:
    assert equal(left, right) is same
    assert equal(right, left) is same
    assert equal({"x": [left]}, {"x": [right]}) is same


def test_comparing_needs_neither_depth_nor_time() -> None:
    assert equal(nested(50_000), nested(50_000))
    assert not equal(nested(50_000, 1), nested(50_000, True))
    assert equal(bomb(), bomb())
    assert not equal(bomb(), [bomb(59), bomb(58)])
    assert equal(GrowingList(nested(20_000)), GrowingList(nested(20_000)))


@examples(90)
@given(st.lists(values, max_size=5), values)
def test_membership_is_equality_with_an_element(items: list[Any], item: Any) -> None:
    assert contains(items, item) is any(equal(item, one) for one in items)
    assert contains([*items, item], copy.deepcopy(item)) is True


# --- texts and numbers -----------------------------------------------------------------------------------------------


@examples(120)
@given(values)
def test_an_interpolated_value_reads_back(value: Any) -> None:
    text = interpolated(value)
    if isinstance(value, str):
        assert text == value
    elif value is None:
        assert text == ""
    else:
        assert "\n" not in text
        assert equal(json.loads(text), value)
        assert text == json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, dict)):
        assert equal(parsed_object(f" {text}\n"), value)


@examples(120)
@given(numbers)
def test_a_number_in_a_text_is_that_number(number: Any) -> None:
    text = json.dumps(number)
    found = as_number(text)
    assert found == number
    assert as_number(f"  {text} ") == found
    assert as_number(number) == number


@examples(180)
@given(st.text(max_size=12) | st.from_regex(r"\s*[+-]?\d*\.?\d*([eE][+-]?\d*)?\s*", fullmatch=True))
def test_any_text_is_a_finite_number_or_none(text: str) -> None:
    found = as_number(text)
    if found is not None:
        assert math.isfinite(found)
        assert float(found) == float(text.strip())
        assert isinstance(found, (int, float))
        assert not isinstance(found, bool)


@pytest.mark.parametrize(
    "text", ["", " ", "1e999", "nan", "inf", "0x10", "1_000", "1 2", "1e", ".", "--1", "true", "9" * 99]
)
def test_what_only_looks_like_a_number_is_none(text: str) -> None:
    assert as_number(text) is None


@pytest.mark.parametrize("value", [True, False, None, [], [1], {}, {"a": 1}])
def test_only_numbers_and_texts_are_numbers(value: Any) -> None:
    assert as_number(value) is None


@examples(120)
@given(st.text(max_size=30) | st.text('[]{}",:0129eE+-. \\u', max_size=30))
def test_any_text_may_be_looked_into(text: str) -> None:
    found = parsed_object(text)
    assert found is None or isinstance(found, (list, dict))
    if found is not None:
        assert json.dumps(intake(found)) == json.dumps(found)


@pytest.mark.parametrize(
    "text",
    ["[" * 1_000_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000, "[" + "9" * 100_000 + "]",
     "[1e999]", "[NaN]", '{"a": Infinity}', '["\\ud800"]', "[1] [2]", "[1,]", "{}}", "[\x00]"],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_json_that_is_a_trap_is_a_plain_text(text: str) -> None:
    assert parsed_object(text) is None


# --- operators -------------------------------------------------------------------------------------------------------


@examples(240)
@given(st.sampled_from(sorted(BINARY)), values | st.just(bomb()), values | st.just(bomb()))
def test_operators_give_a_value_or_refuse(operator: str, left: Any, right: Any) -> None:
    try:
        found = BINARY[operator](left, right)
    except (Refused, TooLarge):
        assert operator not in ("==", "!=")
        return
    if operator in ("+", "-", "*", "/"):
        assert kind_of(found) in ("number", "string", "list")
        if isinstance(found, float):
            assert math.isfinite(found)
    else:
        assert isinstance(found, bool)


@examples(90)
@given(numbers, numbers)
def test_comparisons_of_numbers_agree(left: Any, right: Any) -> None:
    assert BINARY["<"](left, right) is not BINARY[">="](left, right)
    assert BINARY[">"](left, right) is BINARY["<"](right, left)
    assert BINARY["<="](left, right) is (BINARY["<"](left, right) or equal(left, right))


@pytest.mark.parametrize(("start", "operator"), [(3, "*"), (3.5, "*"), (-7, "*"), (MAX_INTEGER, "+"), (-1e308, "+")])
def test_numbers_never_leave_their_range(start: Any, operator: str) -> None:
    def grow(value: Any) -> None:
        for _ in range(2_000):
            value = BINARY[operator](value, value)
            assert math.isfinite(float(value))

    with pytest.raises(Refused):
        grow(start)


@pytest.mark.parametrize(("left", "right"), [(1, 0), (1, 0.0), (MAX_INTEGER, 1e-300), (0, 0), (1e308, 1e-308)])
def test_a_division_without_a_result_is_refused(left: Any, right: Any) -> None:
    with pytest.raises(Refused):
        BINARY["/"](left, right)
