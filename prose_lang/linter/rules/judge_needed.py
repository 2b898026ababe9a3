"""The rule `judge-needed`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.diagnostics import Severity
from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject


class JudgeNeeded(Rule):
    """
    ## What it does

    A condition or a choice is in words that no rule can decide, so that a judge is asked each time it is reached.

    ## Why

    A judge is a model or a service of your own: asking it costs a call, its answer may differ from run to run, and
    without one the run ends in P403 (L30). Often the answer is in a value already, and a condition that reads it is
    exact. Where the question really is one of judgement, say so with `# prose: allow[judge-needed]`. Conditions that a
    rule decides and a judge only in odd cases are not told; `prose check --conditions` lists them all.

    ## Example

    <!-- slots: writer, critic -->
    ```prose
    let draft = call writer
    let review = call critic
      draft: draft
    if review has critical concerns:
      draft = call writer
        draft: draft
        review: review
    return draft
    ```

    ## Use instead

    <!-- slots: writer, critic -->
    ```prose
    let draft = call writer
    let review = call critic
      draft: draft
    if review.critical_concerns == true:
      draft = call writer
        draft: draft
        review: review
    return draft
    ```
    """

    name = "judge-needed"
    severity = Severity.NOTE

    def find(self, subject: Subject) -> Iterator[Finding]:
        for condition, plan in subject.program.conditions.items():
            if plan.layers != ("judge",) or condition in subject.slips:
                continue  # a misspelt name is told as such
            if plan.labels:
                message = "a judge chooses among these options each time"
                hint = "exact: let a service answer with the label, and choose by the field that holds it"
            else:
                message = "no rule can decide this condition; a judge is asked each time"
                hint = f"exact: {plan.hint}" if plan.hint else "exact: let a service answer with a field, and test it"
            yield self.at(subject, condition, message, hint)
