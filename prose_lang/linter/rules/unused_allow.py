"""The rule `unused-allow`. Its findings are made in `allowances.py`, because they depend on those of all others."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject


class UnusedAllow(Rule):
    """
    ## What it does

    A comment `# prose: allow[NAME]` silences nothing, or names a rule that does not exist.

    ## Why

    What it was written for has gone, or stands elsewhere: the comment speaks of its own line, or, alone on a line, of
    the statement below it. Left there it would hide the next mistake. A rule that is not selected is not told of, and
    neither is anything in a file with syntax errors.

    ## Example

    <!-- slots: writer -->
    ```prose
    let draft = call writer  # prose: allow[re-let]
    return draft
    ```

    ## Use instead

    <!-- slots: writer -->
    ```prose
    let draft = call writer
    return draft
    ```
    """

    name = "unused-allow"
    mends = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        return iter(())
