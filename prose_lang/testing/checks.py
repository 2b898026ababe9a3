"""What became of one expectation, and of a scenario as a whole."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

import attrs

from prose_lang.text import Source, Span


class Verdict(enum.Enum):
    """How a scenario or one of its expectations came out. What could not be evaluated has not passed."""

    PASSED = "passed"
    NOT_EVALUATED = "not evaluated"
    FAILED = "failed"
    BROKEN = "broken"


#: From the best to the worst: a scenario is as good as the worst of its expectations.
_ORDER = (Verdict.PASSED, Verdict.NOT_EVALUATED, Verdict.FAILED, Verdict.BROKEN)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of the whole.

    >>> worst([Verdict.PASSED, Verdict.NOT_EVALUATED])
    <Verdict.NOT_EVALUATED: 'not evaluated'>
    """
    return max(verdicts, key=_ORDER.index, default=Verdict.PASSED)


@attrs.frozen(eq=False)
class Check:
    """One expectation and what became of it.

    `what` is the key of an exact expectation, or the text of an item; `layer` is what decided: exact, mechanical,
    expression, phrase, verdict, criteria or judge. `reason` says in one line why it came out as it did, `details` show
    how the expected and the actual differ.
    """

    what: str
    verdict: Verdict
    source: Source
    span: Span
    layer: str = ""
    reason: str = ""
    details: tuple[str, ...] = ()
    negated: bool = False

    def as_json(self) -> dict[str, Any]:
        """The plain form that `prose test --format json` prints."""
        position = self.source.position(self.span.start)
        return {
            "what": self.what,
            "negated": self.negated,
            "verdict": self.verdict.value,
            "layer": self.layer or None,
            "reason": self.reason,
            "details": list(self.details),
            "line": position.line,
            "column": position.column,
        }
