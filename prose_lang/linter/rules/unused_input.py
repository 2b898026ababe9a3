"""The rule `unused-input`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject


class UnusedInput(Rule):
    """
    ## What it does

    An input is declared under Requires or Parameters, and the body never reads it.

    ## Why

    Whoever gives it expects that it is used; a required one has to be given for nothing. An input that a text of the
    body speaks of is not told, since the text may be a prompt about it, and neither is one that an instance of the file
    can inherit (L7).

    ## Example

    <!-- slots: writer; inputs: topic, tone -->
    ```prose
    let draft = call writer
      topic: topic
    return { result: draft }
    ```

    ## Use instead

    <!-- slots: writer; inputs: topic, tone -->
    ```prose
    let draft = call writer
      topic: topic
      tone: tone
    return { result: draft }
    ```
    """

    name = "unused-input"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        if subject.program.body is None:
            return
        inherited = _inherited(subject)
        for base in subject.bases("input"):
            if subject.uses(base) or base.name in subject.said_words or inherited is None or base.name in inherited:
                continue
            assert base.item is not None, "inputs are declared"
            yield self.at(subject, base.item.span, f"the body never reads the input `{base.name}`")


def _inherited(subject: Subject) -> set[str] | None:
    """The names that instances of the file may take from the entry around them; None if that is not known."""
    names: set[str] = set()
    for entry in subject.document.entries:
        for instance in entry.instances:
            signature = subject.environment.signature(instance.name)
            if signature is None or signature.open:
                return None
            nested = any(not isinstance(service, str) for slot in instance.slots.values() for service in slot.services)
            if nested:
                return None
            names.update(signature.names)
    return names
