"""The rule `unused-slot`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject


class UnusedSlot(Rule):
    """
    ## What it does

    A slot is declared, and the body neither calls it nor reads its name.

    ## Why

    Every slot must be bound before the pattern can run (L7), so whoever uses it has to find a service for nothing. Most
    often the body calls it by another name.

    ## Example

    The slots are `writer` and `reviewer`.

    <!-- slots: writer, reviewer -->
    ```prose
    let draft = call writer
    return { result: draft }
    ```

    ## Use instead

    The same program, with `writer` as the only slot.

    <!-- slots: writer -->
    ```prose
    let draft = call writer
    return { result: draft }
    ```
    """

    name = "unused-slot"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        if subject.program.body is None:
            return
        for base in subject.bases("slot"):
            if not subject.uses(base):
                assert base.slot is not None, "slots are declared"
                message = f"the body never calls the slot `{base.name}`, and every slot must be bound"
                yield self.at(subject, base.slot.span, message)
