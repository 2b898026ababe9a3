"""The rule `score-not-bounded`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_lang.conditions.phrases import Comparison
from prose_lang.diagnostics import Severity
from prose_lang.documents.model import Item
from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk

_BAR = re.compile(r"threshold|cutoff|bar|minimum|score|confidence|quality", re.IGNORECASE)
_SCORE = re.compile(r"score|confidence|rating|probability|similarity|quality|accuracy", re.IGNORECASE)


class ScoreNotBounded(Rule):
    """
    ## What it does

    A config key with a default between 0 and 1 is what a score is compared with, and has neither `min` nor `max`.

    ## Why

    Scores are given from 0 to 1 or from 0 to 100, and people mix them up. Whoever sets this key to 80 is told nothing,
    and every run goes through all its rounds, for no score ever reaches it. With bounds it is P211 before the run (L5).

    ## Example

    <!-- slots: writer, critic; config: rounds=3, threshold=0.8 -->
    ```prose
    let draft = null
    repeat rounds:
      draft = call writer
        draft: draft
      let review = call critic
        draft: draft
      if review.score meets threshold:
        return draft
    return draft
    ```

    ## Use instead

    Bound the key where it is declared: `` - `threshold` (number, default: 0.8, min: 0, max: 1): … ``
    """

    name = "score-not-bounded"
    severity = Severity.NOTE

    def find(self, subject: Subject) -> Iterator[Finding]:
        keys = {base.name: base.item for base in subject.bases("config") if base.item and _is_fraction(base.item)}
        told: set[str] = set()
        for left, right in _compared(subject):
            for bar, other in ((left, right), (right, left)):
                key = _key_of(bar)
                if key in keys and key not in told and (_BAR.search(key) or _SCORE.search(_last_name(other))):
                    told.add(key)
                    yield self.at(
                        subject,
                        keys[key].span,
                        f"a score is compared with `{key}`, and nothing keeps it between 0 and 1",
                        f"bound it: (number, default: {keys[key].default:g}, min: 0, max: 1)",
                    )


def _is_fraction(item: Item) -> bool:
    default = item.default
    return (
        isinstance(default, float)
        and 0 < default < 1
        and item.minimum is None
        and item.maximum is None
        and not item.one_of
    )


def _compared(subject: Subject) -> Iterator[tuple[n.Expression, n.Expression]]:
    """The two sides of every comparison in a condition."""
    for plan in subject.program.conditions.values():
        for rule in plan.rules:
            if isinstance(rule, Comparison):
                yield rule.operands[0], rule.operands[1]
        for node in walk(plan.expression) if plan.expression is not None else ():
            if isinstance(node, n.Binary) and node.operator in (">=", ">", "<", "<="):
                yield node.left, node.right


def _key_of(expression: n.Expression) -> str:
    match expression:
        case n.Name(id=name):
            return name
        case n.Member(object=n.Name(id="config"), name=name):
            return name
        case _:
            return ""


def _last_name(expression: n.Expression) -> str:
    match expression:
        case n.Name(id=name) | n.Member(name=name):
            return name
        case n.Index(object=inner):
            return _last_name(inner)
        case _:
            return ""
