"""Layer 4 of conditions: criteria that may be missing (L30.4). The list is closed.

    text                                                      while CRITERIA is null or empty
    CRITERIA says X is a failure, X [is] failed               no
    CRITERIA says X is acceptable, X [is] accepted            yes, unless X is null or an error

An error is an object with something in its `error`, as `on-fail: "continue"` leaves it. Criteria that are given
abstain: what they say is for the judge. Criteria that are a function or a service decide by being called, which
is the caller's part. Other predicates, and "is not …", are none of these forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import attrs

from prose_lang.conditions.rule import Decided, Reading, Rule
from prose_lang.conditions.shapes import is_empty, is_error
from prose_lang.values import Value

#: The predicates, and whether they ask about a failure.
_PREDICATES = (
    (("is", "a", "failure"), True),
    (("is", "failed"), True),
    (("failed",), True),
    (("is", "acceptable"), False),
    (("is", "accepted"), False),
    (("accepted",), False),
)


@attrs.frozen(eq=False)
class Criteria(Rule):
    """`CRITERIA says X is a failure`, `CRITERIA says X is acceptable`. The operands are the criteria and X."""

    failure: bool

    layer: ClassVar[str] = "criteria"

    def describe(self) -> str:
        criteria, subject = self.parts
        meaning = "no" if self.failure else f"{subject.text} is neither null nor an error"
        return f"if {criteria.text} is null or empty: {meaning}"

    def decide(self, values: Sequence[Value]) -> Decided | None:
        criteria, subject = values
        if not is_empty(criteria):
            return None
        name, text = (part.text for part in self.parts)
        if self.failure:
            return Decided(False, f"{name} is empty, so nothing is a failure")
        if subject is None:
            return Decided(False, f"{text} is null")
        if is_error(subject):
            return Decided(False, f"{text} is an error")
        return Decided(True, f"{name} is empty, and {text} is neither null nor an error")


def read_criteria(reading: Reading) -> tuple[Rule, ...]:
    """The criteria rule of a condition, if its text is one of the closed forms."""
    for phrase, failure in _PREDICATES:
        end = len(reading) - len(phrase)
        if any(reading.lower(end + offset) != word for offset, word in enumerate(phrase)):
            continue
        for says in range(1, end - 1):
            if reading.lower(says) != "says":
                continue
            criteria, subject = reading.path(0, says), reading.operand(says + 1, end)
            if criteria is not None and subject is not None:
                return (Criteria((criteria, subject), failure),)
    return ()
