"""The rule `unused-config`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject


class UnusedConfig(Rule):
    """
    ## What it does

    A config key is declared, and the body reads neither `KEY` nor `config.KEY`.

    ## Why

    Whoever sets it expects a difference and gets none; a key can be read by either name (L17). A key that a text of the
    body speaks of is not told, since the text may be a prompt about it.

    ## Example

    <!-- slots: writer; config: max_rounds=3 -->
    ```prose
    let draft = null
    repeat 5:
      draft = call writer
        draft: draft
    return draft
    ```

    ## Use instead

    <!-- slots: writer; config: max_rounds=3 -->
    ```prose
    let draft = null
    repeat max_rounds:
      draft = call writer
        draft: draft
    return draft
    ```
    """

    name = "unused-config"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        if subject.program.body is None:
            return
        for base in subject.bases("config"):
            if not subject.uses(base) and base.name not in subject.said_words:
                assert base.item is not None, "config keys are declared"
                yield self.at(subject, base.item.span, f"the body never reads the config key `{base.name}`")
