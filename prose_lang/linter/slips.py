"""Slips in conditions: misspelt names and operators, which send to a judge what would be exact (L15, L30)."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import NamedTuple

from prose_lang.conditions import read_rules, root
from prose_lang.semantics import ConditionPlan
from prose_lang.syntax import ExpressionParser
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk
from prose_lang.text import Source, nearest

_WORD = re.compile(r"(?<![\w.-])[^\W\d]\w*(?:-+\w+)*")
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_SIGN = re.compile(r"(?<![=<>!])(?:=>|=<|=|&&|\|\|)(?![=<>])")
_MEANT = MappingProxyType({"=": "==", "=>": ">=", "=<": "<=", "&&": "and", "||": "or"})
_FILES = "md|txt|json|yaml|csv|py|com|org"
#: A word with a field behind its dot; names of files and hosts look the same.
_FIELD_OF = re.compile(rf"(?<![\w.-])(?P<word>[^\W\d]\w*(?:-+\w+)*)(?=\.(?!(?:{_FILES})\b)[^\W\d])")
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_ENDINGS = ("s", "es", "ed", "ing", "ly", "er", "'s")
_LONGEST = 300
#: Where there are more names than this, none is looked for that a word may have been meant for.
_MOST_NAMES = 500


class Slip(NamedTuple):
    """A word or a sign of a condition, its offset in the condition's text, and what it looks like, or ""."""

    word: str
    start: int
    meant: str


def slip_of(plan: ConditionPlan) -> Slip | None:
    """The first word or sign that, were it what it looks like, would let the condition be decided without a judge."""
    if plan.layers != ("judge",) or len(plan.text) > _LONGEST:
        return None
    known = {"config", *plan.visible}
    text = plan.text
    strings = [match.span() for match in _STRING.finditer(text)]

    def quoted(place: int) -> bool:
        return any(start < place < end for start, end in strings)

    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if word in known or quoted(start):
            continue
        for name in nearest(word, known) if len(known) <= _MOST_NAMES else ():
            if not _is_form_of(word, name) and _decides(text[:start] + name + text[match.end() :], known, plan):
                return Slip(word, start, name)
    unknown = [slip for slip in _operands(text) if slip.word not in known and not quoted(slip.start)]
    if unknown and _decides(text, known | {slip.word for slip in unknown}, plan):
        return unknown[0]
    signs = [match for match in _SIGN.finditer(text) if not quoted(match.start())]
    mended = text
    for match in reversed(signs):
        mended = mended[: match.start()] + _MEANT[match[0]] + mended[match.end() :]
    if signs and _decides(mended, known, plan):
        return Slip(signs[0][0], signs[0].start(), _MEANT[signs[0][0]])
    return None


def _operands(text: str) -> list[Slip]:
    """The words that can only be meant as names: a field of them is read, or an operator compares them."""
    found = {match.start(): match["word"] for match in _FIELD_OF.finditer(text)}
    expression = ExpressionParser(Source("", text))(0, len(text))
    for node in walk(expression) if expression is not None else ():
        if isinstance(node, n.Binary) and node.operator in _COMPARISONS:
            for side in (node.left, node.right):
                if isinstance(side, n.Name):
                    found[side.start] = side.id
    return [Slip(word, start, "") for start, word in sorted(found.items())]


def _is_form_of(word: str, name: str) -> bool:
    """Whether one of two words is the other in another form: "drafts" is English beside a variable `draft`."""
    short, long = sorted((word.lower(), name.lower()), key=len)
    stem = short.removesuffix("e")
    return any(long in (short + ending, stem + ending) for ending in _ENDINGS if not short.endswith(ending[0]))


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
    return any(all(root(one) in (None, *known) for one in rule.operands) for rule in rules)


def _named(expression: n.Expression, known: set[str]) -> bool:
    return all(node.id in known for node in walk(expression) if isinstance(node, n.Name))
