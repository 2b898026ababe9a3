"""Conjunctions of whole phrases (L30.2): `a is present and b is empty`, `x is a list or x is null`.

A conjunction is understood only if each of its parts, taken by itself, is a phrase with a subject of its own, or a
comparison of two paths or literals (`n < limit`). Then it means what its parts mean, from left to right, and where one
part decides the whole, those behind it are not asked. `and` and `or` are not mixed, for people read such a mixture in
both ways. Anything else is left to the judge: in `x contains bread and butter` the second part says nothing by itself,
and in `x exceeds a and b` it is a mere name.

A comparison here reads numbers as phrases do: a text that spells a number counts as that number, and null or another
text on the left of `<` and its like is "no" with a warning. `==` and `!=` compare any two values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import ClassVar

import attrs

from prose_lang.conditions.phrases import Comparison, read_phrases
from prose_lang.conditions.rule import Decided, Operand, Reading, Rule, TotalRule, is_literal, is_path
from prose_lang.conditions.shapes import shown
from prose_lang.syntax import nodes
from prose_lang.values import Value, equal

_CONJUNCTIONS = ("and", "or")


@attrs.frozen(eq=False)
class SameValue(TotalRule):
    """`X == Y` and `X != Y` as a part of a conjunction."""

    negated: bool

    layer: ClassVar[str] = "phrase"

    def describe(self) -> str:
        left, right = self.parts
        return f"{left.text} {'!=' if self.negated else '=='} {right.text}"

    def decide(self, values: Sequence[Value]) -> Decided:
        left, right = values
        same = equal(left, right)
        return Decided(same != self.negated, f"{shown(left)} is {'' if same else 'not '}{shown(right)}")


@attrs.frozen(eq=False)
class Compound(Rule):
    """Phrases joined by `and`, or by `or`; `parts` are those of all of them in a row."""

    rules: tuple[Rule, ...]
    word: str

    layer: ClassVar[str] = "phrase"

    @property
    def total(self) -> bool:
        return all(rule.total for rule in self.rules)

    def describe(self) -> str:
        return f" {self.word} ".join(f"({rule.describe()})" for rule in self.rules)

    def decide(self, values: Sequence[Value]) -> Decided | None:
        rest = iter(values)
        return self.decide_in_turn(lambda count: list(islice(rest, count)))

    def decide_in_turn(self, read: Callable[[int], list[Value]]) -> Decided | None:
        """The same, reading operands part by part: `read(count)` gives the values of the next so many. What is never
        asked is never read, so `x is present and x.a is empty` does not look for an `a` in nothing."""
        ends = self.word == "or"  # the answer of a part that decides the whole
        reasons, warning = [], None
        for rule in self.rules:
            found = rule.decide(read(len(rule.parts)))
            if found is None:
                return None
            reasons.append(found.reason)
            warning = warning or found.warning
            if found.holds == ends:
                return Decided(ends, found.reason, warning)
        return Decided(not ends, "; ".join(reasons), warning)


def read_compounds(reading: Reading) -> tuple[Rule, ...]:
    """The one rule of a conjunction whose parts are all understood; none otherwise."""
    at = [index for index in range(len(reading)) if reading.lower(index) in _CONJUNCTIONS]
    words = {reading.lower(index) for index in at}
    if len(words) != 1:
        return ()
    rules: list[Rule] = []
    for first, after in zip([-1, *at], [*at, len(reading)], strict=True):
        part = attrs.evolve(reading, words=reading.words[first + 1 : after])
        found = read_phrases(part) or _read_comparison(part)
        if len(found) != 1:
            return ()  # nothing, or a phrase that can be read in two ways
        rules += found
    return (Compound(tuple(part for rule in rules for part in rule.parts), tuple(rules), words.pop()),)


def _read_comparison(part: Reading) -> tuple[Rule, ...]:
    """A part that is a comparison of two paths or literals."""
    if not part.words:
        return ()
    start, offset = part.words[0].start, part.condition.start
    expression = part.parse(offset + start, offset + part.words[-1].end)
    if not isinstance(expression, nodes.Binary):
        return ()
    sides = (expression.left, expression.right)
    if not all(is_path(side) or is_literal(side) for side in sides):
        return ()
    text = part.condition.text
    operands = tuple(Operand(side, text[side.start - offset : side.end - offset]) for side in sides)
    match expression.operator:
        case "==" | "!=":
            return (SameValue(operands, expression.operator == "!="),)
        case "<" | "<=" | ">" | ">=":
            return (Comparison(operands, expression.operator),)
        case _:
            return ()
