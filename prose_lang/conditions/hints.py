"""A form that would be exact, for a condition that no rule decides (the hint of P403)."""

from __future__ import annotations

import re
from collections.abc import Container

from prose_lang.conditions.criteria import Criteria
from prose_lang.conditions.phrases import Comparison, Containment, HasElement, HasItem
from prose_lang.conditions.rule import Operand, Parse, Reading, Rule, is_literal, root
from prose_lang.conditions.rules import read_rules
from prose_lang.conditions.verdicts import Says, Verdict
from prose_lang.conditions.words import LOGIC_WORDS, Word, cut
from prose_lang.syntax import nodes

_PLAIN_WORD = re.compile(r"[^\W\d][\w-]*")
_ARTICLES = frozenset(("a", "an", "the", "any"))


def exact_form(condition: nodes.Condition, parse: Parse, names: Container[str]) -> str | None:
    """An expression that asks much the same exactly; None where nothing sensible can be proposed.

    It is a proposal: the field in it is one that the answering service would have to give. `names` are the names
    that mean something where the condition stands.

    >>> def parse(start, end):
    ...     return nodes.Name(start, end, "v") if end == 1 else None
    >>> exact_form(nodes.Condition(0, 23, "v has critical concerns", None), parse, {"v"})
    'v.critical_concerns == true'
    """
    words = cut(condition.text)
    if not words:
        return None
    rule = next((rule for rule in read_rules(condition, parse) if root(rule.operands[0]) in names), None)
    if rule is not None:
        return _instead_of_rule(rule, names)
    reading = Reading(condition, words, parse)
    subject = next((found for end in range(1, len(words)) if (found := reading.path(0, end)) is not None), None)
    if subject is None or root(subject.expression) not in names:
        return None
    return _instead_of_prose(subject, words[len(cut(subject.text) or ()) :], reading)


def _instead_of_rule(rule: Rule, names: Container[str]) -> str | None:
    text = rule.parts[0].text
    match rule:
        case Verdict():
            word = "accept" if rule.accepting else "reject"
            return f'{text}.verdict {"!=" if rule.negated else "=="} "{word}"'
        case Says():
            return f'{text}.decision == "{rule.word}"'
        case Comparison():
            number = text if text.lower().endswith("score") else f"{text}.score"
            return f"{number} {rule.operator} 0.8"
        case Containment():
            part = rule.parts[1]
            known = is_literal(part.expression) or root(part.expression) in names
            return f"{part.text} in {text}" if known else f'"{part.text}" in {text}'
        case HasItem() if isinstance(rule.item, str) and _PLAIN_WORD.fullmatch(rule.item):
            return f"{text}.{rule.item} == {'false' if rule.negated else 'true'}"
        case HasElement():
            return f"{rule.parts[1].text} {'not in' if rule.negated else 'in'} {text}"
        case Criteria():
            return f"{rule.parts[1].text}.{'failed' if rule.failure else 'acceptable'} == true"
        case _:
            return None


def _instead_of_prose(subject: Operand, rest: tuple[Word, ...], reading: Reading) -> str | None:
    """`X is WORDS`, `X has no WORDS`, `X WORDS` ask for a field of X that is named by the words."""
    negated = False
    at = 0
    if rest[0].lower in ("is", "has"):
        at = 1
        if len(rest) > 1 and rest[1].lower == ("not" if rest[0].lower == "is" else "no"):
            negated = True
            at = 2
    if rest[0].lower == "is" and len(rest) == at + 1:
        value = reading.operand(len(reading) - 1, len(reading))
        if value is not None and is_literal(value.expression):
            return f"{subject.text} {'!=' if negated else '=='} {value.text}"
    while at < len(rest) and rest[at].lower in _ARTICLES:
        at += 1
    words = rest[at:]
    if not words or not all(_PLAIN_WORD.fullmatch(word.text) and word.lower not in LOGIC_WORDS for word in words):
        return None
    field = "_".join(word.text for word in words)
    return f"{subject.text}.{field} == {'false' if negated else 'true'}"
