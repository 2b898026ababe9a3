"""Layer 3 of conditions: reading one decision out of what a reviewer answered (L30.3). The list is closed.

    text                                                      holds when the decision in X is
    X accepts, approves, certifies, passes  [free text]       an acceptance
    X rejects, fails  [free text]                             a rejection
    X [is] [not] accepted, approved, certified, passed        an acceptance (not: it is none)
    X [is] [not] rejected, failed                             a rejection (not: it is none)
    X says WORD                                               that word
    X does not explicitly WORD                                anything but X.WORD == true
    X does explicitly WORD, X explicitly WORDs                X.WORD == true

X is a path. The free text names what is judged and decides nothing; a negation, a conjunction, a hedge or a second
verb in it makes the text none of these forms.

The decision in X is, in this order:

    null                                            none yet: the form without "not" is "no"
    the first boolean of the fields                 true accepts, false rejects
        accepted approved certified passed proceed
    the first text of the fields                    one word of the lists below, else abstain
        verdict decision status outcome
    X itself, a text                                one word of the lists below, else abstain
    anything else                                   abstain: a bare true could be the answer to any question

    accepting   accept accepted approve approved certify certified pass passed yes
    rejecting   reject rejected fail failed revise no

Words are compared whole and in any case; "not accepted" is two words and abstains. A text that is the JSON of an
object is that object. `says` looks at the texts only, takes any one word, and `accept` and `accepted` (and so on)
are one word to it. `explicitly` never abstains: whatever is not exactly true is not explicit.

Left to the caller: a value that was unwrapped from its callable's only declared output `x` (L33) is handed in as
`{x: value}` if `x` is one of the fields, or the word after `explicitly` — only the caller knows that name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import attrs

from prose_lang.conditions.rule import Decided, Reading, Rule, TotalRule
from prose_lang.conditions.shapes import fields_of, one_word, shown
from prose_lang.conditions.words import LOGIC_WORDS, is_free_text, word_set
from prose_lang.values import Value

#: The fields that hold a decision, each list in the order in which it is searched.
BOOLEAN_FIELDS = ("accepted", "approved", "certified", "passed", "proceed")
TEXT_FIELDS = ("verdict", "decision", "status", "outcome")

ACCEPTING = word_set("accept accepted approve approved certify certified pass passed yes")
REJECTING = word_set("reject rejected fail failed revise no")

#: Verbs and participles of the closed forms, and whether they ask for an acceptance.
_VERBS: Mapping[str, bool] = MappingProxyType(
    {"accepts": True, "approves": True, "certifies": True, "passes": True, "rejects": False, "fails": False}
)
_PARTICIPLES: Mapping[str, bool] = MappingProxyType(
    {"accepted": True, "approved": True, "certified": True, "passed": True, "rejected": False, "failed": False}
)
_BASE_FORMS: Mapping[str, str] = MappingProxyType(
    {
        "accepted": "accept",
        "approved": "approve",
        "certified": "certify",
        "passed": "pass",
        "rejected": "reject",
        "failed": "fail",
    }
)
_SAID = re.compile(r'"?(\w[\w-]*)"?')
_FIELD = re.compile(r"[^\W\d][\w-]*")


@attrs.frozen
class Decision:
    """What a value says: whether it accepts, and where that was read."""

    accepts: bool
    reason: str


def read_decision(value: Value) -> Decision | None:
    """The decision in a value that is not null; None if it holds none that can be read exactly.

    >>> read_decision({"accepted": False, "verdict": "accept"})
    Decision(accepts=False, reason='accepted is false')
    >>> read_decision("It is not accepted, sorry") is None
    True
    """
    fields = fields_of(value)
    if fields is not None:
        for name in BOOLEAN_FIELDS:
            if isinstance(fields.get(name), bool):
                return Decision(fields[name], f"{name} is {shown(fields[name])}")
    text, place = _text_of(value, fields)
    word = one_word(text)
    if word in ACCEPTING:
        return Decision(True, f"{place} is {shown(text)}")
    if word in REJECTING:
        return Decision(False, f"{place} is {shown(text)}")
    return None


def _text_of(value: Value, fields: dict[str, Value] | None) -> tuple[Value, str]:
    if fields is None:
        return value, "the answer"
    name = next((name for name in TEXT_FIELDS if isinstance(fields.get(name), str)), None)
    return (None, "") if name is None else (fields[name], name)


@attrs.frozen(eq=False)
class Verdict(Rule):
    """`X accepts …`, `X is not accepted`: whether the decision in X is the wanted one."""

    accepting: bool
    negated: bool

    layer: ClassVar[str] = "verdict"

    def describe(self) -> str:
        text = self.parts[0].text
        booleans, texts = " | ".join(BOOLEAN_FIELDS), " | ".join(TEXT_FIELDS)
        wanted, words = ("true", "an accepting word") if self.accepting else ("false", "a rejecting word")
        meaning = f"{text}.({booleans}) is {wanted}, else {text}.({texts}) or {text} itself is {words}"
        return f"not ({meaning})" if self.negated else meaning

    def decide(self, values: Sequence[Value]) -> Decided | None:
        if values[0] is None:
            return Decided(self.negated, f"{self.parts[0].text} has no result yet")
        decision = read_decision(values[0])
        if decision is None:
            return None
        return Decided((decision.accepts == self.accepting) != self.negated, decision.reason)


@attrs.frozen(eq=False)
class Says(Rule):
    """`X says WORD`: whether the decision in X is that one word."""

    word: str

    layer: ClassVar[str] = "verdict"

    def describe(self) -> str:
        text = self.parts[0].text
        return f'{text}.({" | ".join(TEXT_FIELDS)}) or {text} itself is the word "{self.word}"'

    def decide(self, values: Sequence[Value]) -> Decided | None:
        if values[0] is None:
            return Decided(False, f"{self.parts[0].text} has no result yet")
        text, place = _text_of(values[0], fields_of(values[0]))
        word = one_word(text)
        if word is None:
            return None
        return Decided(_base_form(word) == _base_form(self.word.lower()), f"{place} is {shown(text)}")


@attrs.frozen(eq=False)
class Explicit(TotalRule):
    """`X does not explicitly WORD`: whether X.WORD is exactly true, or exactly that is wanting."""

    fields: tuple[str, ...]
    negated: bool

    layer: ClassVar[str] = "verdict"

    def describe(self) -> str:
        return f"{self.parts[0].text}.{self.fields[0]} {'!=' if self.negated else '=='} true"

    def decide(self, values: Sequence[Value]) -> Decided:
        found = fields_of(values[0])
        if found is None:
            return Decided(self.negated, f"{self.parts[0].text} is {shown(values[0])}, not an object")
        name = next((name for name in self.fields if name in found), None)
        if name is None:
            return Decided(self.negated, f"{self.parts[0].text} has no {self.fields[0]}")
        return Decided((found[name] is True) != self.negated, f"{name} is {shown(found[name])}")


def _base_form(word: str) -> str:
    return _BASE_FORMS.get(word, word)


def read_verdict(reading: Reading) -> tuple[Rule, ...]:
    """The verdict rule of a condition, if its text is one of the closed forms."""
    rule = _read_verb(reading) or _read_participle(reading) or _read_says(reading) or _read_explicit(reading)
    return () if rule is None else (rule,)


def _read_verb(reading: Reading) -> Rule | None:
    for at in range(1, len(reading)):
        accepting = _VERBS.get(reading.lower(at))
        if accepting is None:
            continue
        subject = reading.path(0, at)
        if subject is not None and is_free_text(reading.words[at + 1 :]):
            return Verdict((subject,), accepting, negated=False)
    return None


def _read_participle(reading: Reading) -> Rule | None:
    accepting = _PARTICIPLES.get(reading.lower(-1))
    if accepting is None:
        return None
    end = len(reading) - 1
    negated = reading.lower(end - 1) == "not"
    end -= negated
    end -= reading.lower(end - 1) == "is"
    subject = reading.path(0, end)
    return None if subject is None else Verdict((subject,), accepting, negated)


def _read_says(reading: Reading) -> Rule | None:
    if reading.lower(-2) != "says":
        return None
    word = _SAID.fullmatch(reading.words[-1].text)
    subject = reading.path(0, len(reading) - 2)
    # "no" is something that reviewers say; "says not" and "says never" are halves of a sentence.
    if word is None or subject is None or (word[1].lower() in LOGIC_WORDS and word[1].lower() != "no"):
        return None
    return Says((subject,), word[1])


def _read_explicit(reading: Reading) -> Rule | None:
    if reading.lower(-2) != "explicitly":
        return None
    word = reading.words[-1].text if _FIELD.fullmatch(reading.words[-1].text) else ""
    if not word or word.lower() in LOGIC_WORDS:
        return None
    end = len(reading) - 2
    does = negated = False
    if reading.lower(end - 1) == "not":
        does = negated = True
        end -= 1
        if reading.lower(end - 1) != "does":
            return None
        end -= 1
    elif reading.lower(end - 1) == "does":
        does = True
        end -= 1
    subject = reading.path(0, end)
    if subject is None:
        return None
    # "X explicitly proceeds" has the same field in mind as "X does explicitly proceed".
    third_person = not does and word.endswith("s") and len(word) > 1
    return Explicit((subject,), (word[:-1], word) if third_person else (word,), negated)
