"""The rule `misspelt-condition`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.text import Span


class MisspeltCondition(Rule):
    """
    ## What it does

    A condition goes to a judge only because a word in it is no name here: one that is spelt almost like a name, or one
    that a field is read of (`draft.score`), or that an operator compares; or because it compares with `=`, `=>`, `&&`
    or `||`, which are no operators.

    ## Why

    A condition whose names all mean something is exact; with an unknown word it is plain language, for a judge (L15,
    L30). So a slip of the pen turns `score meets threshold` into a question that is asked again and again, or ends the
    run in P403. Told only where the condition would be decided without a judge if it were spelt as it seems meant.

    ## Example

    <!-- slots: writer, critic; config: rounds=3 -->
    ```prose
    let draft = null
    repeat rounds:
      draft = call writer
        draft: draft
      let review = call critic
        draft: draft
      if review.score >= 8 and reveiw.verdict == "done":
        return draft
    return draft
    ```

    ## Use instead

    <!-- slots: writer, critic; config: rounds=3 -->
    ```prose
    let draft = null
    repeat rounds:
      draft = call writer
        draft: draft
      let review = call critic
        draft: draft
      if review.score >= 8 and review.verdict == "done":
        return draft
    return draft
    ```
    """

    name = "misspelt-condition"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        for condition, slip in subject.slips.items():
            start = condition.start + slip.start
            what = "is no name here" if slip.word[0].isalpha() or slip.word[0] == "_" else "is no operator"
            message = f"`{slip.word}` {what}, so a judge is asked what this condition means"
            hint = f"did you mean `{slip.meant}`?" if slip.meant else f"set it before: let {slip.word} = …"
            yield self.at(subject, Span(start, start + len(slip.word)), message, hint)
