"""Layer 2 of conditions: phrases with an exact meaning (L30.2). The list is closed.

X and Y are paths (`a.b[0]`) or literals; the words of a phrase may be in any case and on several lines.

    phrase                                    meaning
    X meets Y, X reaches Y, X is at least Y   X >= Y
    X exceeds Y, X is above Y                 X > Y
    X is below Y, X is under Y                X < Y
    X is [not] present, set                   X is not null
    X is [not] absent, missing, null          X is null
    X is [not] empty                          X is null, "", [] or {}
    X is [not] true, false                    X is that boolean; 1 and "true" are not
    X is [not] "literal"                      X == "literal", letter by letter
    X is [not] a list, text, number, …        X is a value of that kind: list, text, number, boolean, object
    X contains Y, X includes Y                Y in X: part of a text, element of a list, key of an object
    X has [no] Y                              the truth of X.Y, if X has that key; yes, if Y is an element of the list X

In the comparisons a text that spells a number counts as that number. Null or another text as X is "no" with a
warning; a Y that is no number, or an X that is a boolean, a list, an object or a service, abstains. `contains`
abstains where `in` would make no sense. In `has`, Y is one word, a literal or a path: a bare word is a key, or the
text of an element, or a name whose value is an element; a missing key and a missing element abstain, for "v has
issues" may well be true of a v that calls them something else. A text that is the JSON of an object is an object here
too, as it is where a property of it is read (L13). A negation or conjunction anywhere else than above makes the text no
phrase at all; conjunctions of whole phrases are read in `compounds.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import ClassVar

import attrs

from prose_lang.conditions.rule import Decided, Reading, Rule, TotalRule, is_path
from prose_lang.conditions.shapes import fields_of, is_empty, shown
from prose_lang.conditions.words import LOGIC_WORDS, word_set
from prose_lang.syntax import nodes
from prose_lang.values import ServiceRef, Value, as_number, contains, equal, kind_of, truth

_COMPARISONS = (
    (("meets",), ">="),
    (("reaches",), ">="),
    (("is", "at", "least"), ">="),
    (("exceeds",), ">"),
    (("is", "above"), ">"),
    (("is", "below"), "<"),
    (("is", "under"), "<"),
)
_STATES = word_set("present set absent missing null empty true false")
#: The kinds by the words people use for them.
_KINDS = {"list": "list", "text": "string", "number": "number", "boolean": "boolean", "object": "object"}
_BARE_WORD = re.compile(r"[^\W\d][\w-]*")


@attrs.frozen(eq=False)
class Comparison(Rule):
    """`X meets Y` and its like; `operator` is `>=`, `>` or `<`, in a conjunction `<=` too."""

    operator: str

    layer: ClassVar[str] = "phrase"

    def describe(self) -> str:
        left, right = self.parts
        return f"{left.text} {self.operator} {right.text}"

    def decide(self, values: Sequence[Value]) -> Decided | None:
        left, right = values
        bar = as_number(right)
        if bar is None:
            return None
        number = as_number(left)
        if number is not None:
            return Decided(self._compare(number, bar), lambda: f"{shown(left)} {self.operator} {shown(right)}")
        if left is None or (isinstance(left, str) and not isinstance(left, ServiceRef)):
            warning = f"{self.parts[0].text} is {shown(left)}, not a number, so `{self.describe()}` does not hold"
            return Decided(False, f"{shown(left)} is not a number", warning)
        return None

    def _compare(self, number: float, bar: float) -> bool:
        match self.operator:
            case ">=":
                return number >= bar
            case ">":
                return number > bar
            case "<":
                return number < bar
            case _:
                return number <= bar


@attrs.frozen(eq=False)
class State(TotalRule):
    """`X is [not] present` and its like."""

    state: str
    negated: bool

    layer: ClassVar[str] = "phrase"

    def describe(self) -> str:
        text = self.parts[0].text
        match self.state:
            case "present" | "set":
                return f"{text} {'==' if self.negated else '!='} null"
            case "empty":
                return f'{text} is {"none" if self.negated else "one"} of null, "", [], {{}}'
            case "true" | "false":
                return f"{text} {'!=' if self.negated else '=='} {self.state}"
            case _:
                return f"{text} {'!=' if self.negated else '=='} null"

    def decide(self, values: Sequence[Value]) -> Decided:
        value = values[0]
        match self.state:
            case "present" | "set":
                found = value is not None
            case "empty":
                found = is_empty(value)
            case "true" | "false":
                found = value is (self.state == "true")
            case _:
                found = value is None
        return Decided(found != self.negated, f"{self.parts[0].text} is {shown(value)}")


@attrs.frozen(eq=False)
class Equality(TotalRule):
    """`X is [not] "literal"`."""

    literal: str
    negated: bool

    layer: ClassVar[str] = "phrase"

    def describe(self) -> str:
        return f"{self.parts[0].text} {'!=' if self.negated else '=='} {shown(self.literal)}"

    def decide(self, values: Sequence[Value]) -> Decided:
        return Decided(
            equal(values[0], self.literal) != self.negated,
            f"{self.parts[0].text} is {shown(values[0])}",
        )


@attrs.frozen(eq=False)
class Kind(TotalRule):
    """`X is [not] a list` and its like; `kind` is the word as it was written."""

    kind: str
    negated: bool

    layer: ClassVar[str] = "phrase"

    def describe(self) -> str:
        return f"the kind of {self.parts[0].text} is {'not ' if self.negated else ''}{self.kind}"

    def decide(self, values: Sequence[Value]) -> Decided:
        value = values[0]
        found = fields_of(value) is not None if self.kind == "object" else kind_of(value) == _KINDS[self.kind]
        return Decided(found != self.negated, f"{self.parts[0].text} is {shown(value)}")


@attrs.frozen(eq=False)
class Containment(Rule):
    """`X contains Y`."""

    layer: ClassVar[str] = "phrase"

    def describe(self) -> str:
        whole, part = self.parts
        return f"{part.text} in {whole.text}"

    def decide(self, values: Sequence[Value]) -> Decided | None:
        whole, part = values
        found = contains(whole, part)
        if found is None:
            return None
        return Decided(found, f"{shown(part)} is {'' if found else 'not '}in {shown(whole)}")


@attrs.frozen(eq=False)
class HasItem(Rule):
    """`X has [no] Y`, Y being the bare word or the literal `item`: a key of X, or an element of it."""

    item: Value
    negated: bool

    layer: ClassVar[str] = "phrase"

    def describe(self) -> str:
        text = self.parts[0].text
        element = f"{shown(self.item)} in {text}, if that is a list that has it"
        if isinstance(self.item, str):
            element = f"the truth of {text}.{self.item}, if there is that key; {element}"
        return f"not ({element})" if self.negated else element

    def decide(self, values: Sequence[Value]) -> Decided | None:
        value = values[0]
        if isinstance(value, list):
            return _has_element(value, self.item, self.negated)
        fields = fields_of(value)
        if fields is None or not isinstance(self.item, str) or self.item not in fields:
            return None
        field = fields[self.item]
        return Decided(truth(field) != self.negated, f"{self.item} is {shown(field)}")


@attrs.frozen(eq=False)
class HasElement(Rule):
    """`X has [no] Y`, Y being read as a path: its value is an element of the list X."""

    negated: bool

    layer: ClassVar[str] = "phrase"

    def describe(self) -> str:
        whole, part = self.parts
        element = f"{part.text} in {whole.text}, if that is a list that has it"
        return f"not ({element})" if self.negated else element

    def decide(self, values: Sequence[Value]) -> Decided | None:
        whole, part = values
        return _has_element(whole, part, self.negated) if isinstance(whole, list) else None


def _has_element(whole: list[Value], part: Value, negated: bool) -> Decided | None:
    if not contains(whole, part):
        return None
    return Decided(not negated, f"{shown(part)} is an element")


def read_phrases(reading: Reading) -> tuple[Rule, ...]:
    """The phrase rules of a condition: those of the one phrase that fits it, if any.

    Paths and literals hold no white space outside brackets and quotes, so no text fits two phrases.
    """
    found = chain(
        _read_comparisons(reading),
        _read_states(reading),
        _read_kinds(reading),
        _read_containment(reading),
        _read_having(reading),
    )
    return next(found, ())


def _read_comparisons(reading: Reading) -> Iterator[tuple[Rule, ...]]:
    for phrase, operator in _COMPARISONS:
        for left, right in reading.around(phrase):
            yield (Comparison((left, right), operator),)


def _read_states(reading: Reading) -> Iterator[tuple[Rule, ...]]:
    negated = reading.lower(-2) == "not"
    verb = len(reading) - (3 if negated else 2)
    left = reading.operand(0, verb)
    if left is None or reading.lower(verb) != "is":
        return
    if reading.lower(-1) in _STATES:
        yield (State((left,), reading.lower(-1), negated),)
    elif reading.lower(-1).startswith('"'):
        right = reading.operand(len(reading) - 1, len(reading))
        if (
            right is not None
            and isinstance(right.expression, nodes.Literal)
            and isinstance(right.expression.value, str)
        ):
            yield (Equality((left,), right.expression.value, negated),)


def _read_kinds(reading: Reading) -> Iterator[tuple[Rule, ...]]:
    """`X is [not] a KIND`, `an` before a vowel or not."""
    negated = reading.lower(-3) == "not"
    verb = len(reading) - (4 if negated else 3)
    left = reading.operand(0, verb)
    if left is not None and reading.lower(verb) == "is" and reading.lower(-2) in ("a", "an"):
        kind = reading.lower(-1)
        if kind in _KINDS:
            yield (Kind((left,), kind, negated),)


def _read_containment(reading: Reading) -> Iterator[tuple[Rule, ...]]:
    for verb in ("contains", "includes"):
        for left, right in reading.around((verb,)):
            yield (Containment((left, right)),)


def _read_having(reading: Reading) -> Iterator[tuple[Rule, ...]]:
    negated = reading.lower(-2) == "no"
    verb = len(reading) - (3 if negated else 2)
    left = reading.operand(0, verb)
    if left is None or reading.lower(verb) != "has" or reading.lower(-1) in LOGIC_WORDS:
        return
    rules: list[Rule] = []
    word = reading.words[-1].text
    right = reading.operand(len(reading) - 1, len(reading))
    if right is not None and isinstance(right.expression, nodes.Literal):
        rules.append(HasItem((left,), right.expression.value, negated))
    else:
        if _BARE_WORD.fullmatch(word):
            rules.append(HasItem((left,), word, negated))
        if right is not None and is_path(right.expression):
            rules.append(HasElement((left, right), negated))
    if rules:
        yield tuple(rules)
