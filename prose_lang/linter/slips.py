"""Slips in conditions: misspelt names and operators, which send to a judge what would be exact (L15, L30)."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import NamedTuple

from prose_lang.conditions import read_rules, root
from prose_lang.semantics import ConditionPlan, Program
from prose_lang.syntax import ExpressionParser
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk
from prose_lang.text import Source, nearest

_WORD = re.compile(r"(?<![\w.-])[^\W\d]\w*(?:-+\w+)*")
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_SIGN = re.compile(r"(?<![=<>!])(?:=>|=<|=|&&|\|\|)(?![=<>])")
_MEANT = MappingProxyType({"=": "==", "=>": ">=", "=<": "<=", "&&": "and", "||": "or"})
_ENDINGS = ("s", "es", "d", "ed", "ing", "ly", "er", "'s")
_LONGEST = 300


class Slip(NamedTuple):
    """A word or a sign of a condition, its offset in the condition's text, and what it looks like."""

    word: str
    start: int
    meant: str


def slip_of(plan: ConditionPlan, program: Program) -> Slip | None:
    """The first word or sign that, were it what it looks like, would let the condition be decided without a judge."""
    if plan.layers != ("judge",) or len(plan.text) > _LONGEST:
        return None
    known = {base.name for base in program.bases} | {name.id for name in program.writes}
    text = plan.text
    strings = [match.span() for match in _STRING.finditer(text)]
    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if word in known or len(word) < 3 or any(a < start < b for a, b in strings):
            continue
        for name in nearest(word, known):
            if not _is_form_of(word, name) and _decides(text[:start] + name + text[match.end() :], known, plan):
                return Slip(word, start, name)
    signs = [match for match in _SIGN.finditer(text) if not any(a < match.start() < b for a, b in strings)]
    mended = text
    for match in reversed(signs):
        mended = mended[: match.start()] + _MEANT[match[0]] + mended[match.end() :]
    if signs and _decides(mended, known, plan):
        return Slip(signs[0][0], signs[0].start(), _MEANT[signs[0][0]])
    return None


def _is_form_of(word: str, name: str) -> bool:
    """Whether one of two words is the other in another form: "drafts" is English beside a variable `draft`."""
    short, long = sorted((word.lower(), name.lower()), key=len)
    return any(long in (short + ending, short.removesuffix("e") + ending) for ending in _ENDINGS)


def _decides(text: str, known: set[str], plan: ConditionPlan) -> bool:
    """Whether a condition of that text could be decided without a judge (L30)."""
    parse = ExpressionParser(Source(plan.site.source.name, text))

    def operand(start: int, end: int) -> n.Expression | None:
        found = parse(start, end)
        return found if found is not None and _named(found, known) else None

    whole = operand(0, len(text))
    if plan.labels:
        return whole is not None
    if whole is not None:
        return True
    rules = read_rules(n.Condition(0, len(text), text, None), operand)
    return any(all(root(one) in (None, "config", *known) for one in rule.operands) for rule in rules)


def _named(expression: n.Expression, known: set[str]) -> bool:
    return all(node.id in known or node.id == "config" for node in walk(expression) if isinstance(node, n.Name))
