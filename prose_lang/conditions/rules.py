"""Layers 2 to 4 of conditions in their order (L30). The tables stand in the modules of the layers.

Layer 0 (the host's table), layer 1 (the whole text as an expression) and the asking of the judge are elsewhere.
"""

from __future__ import annotations

from prose_lang.conditions.compounds import read_compounds
from prose_lang.conditions.criteria import read_criteria
from prose_lang.conditions.phrases import read_phrases
from prose_lang.conditions.rule import Parse, Reading, Rule
from prose_lang.conditions.verdicts import read_verdict
from prose_lang.conditions.words import cut
from prose_lang.syntax import nodes


def read_rules(condition: nodes.Condition, parse: Parse) -> tuple[Rule, ...]:
    """The rules that may decide a condition, in the order in which they are to be asked; none leaves the judge.

    `condition.start` is the offset of the first character of its text; `parse(start, end)` reads that part of the
    host file as an expression.

    >>> def parse(start, end):
    ...     return nodes.Name(start, end, "score meets bar"[start:end])
    >>> [rule] = read_rules(nodes.Condition(0, 15, "score meets bar", None), parse)
    >>> rule.layer, rule.describe(), rule.decide([0.9, 0.8]).holds, rule.decide([0.9, "high"])
    ('phrase', 'score >= bar', True, None)
    """
    words = cut(condition.text)
    if words is None:
        return ()
    reading = Reading(condition, words, parse)
    phrases = read_phrases(reading) or read_compounds(reading)
    return (*phrases, *read_verdict(reading), *read_criteria(reading))
