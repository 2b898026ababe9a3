"""The rule `unused-use`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n


class UnusedUse(Rule):
    """
    ## What it does

    A `use` gives a name to something that the body never calls.

    ## Why

    What `use` names must be found before the body can run (L8), so a name that nothing calls can only do harm.

    ## Example

    <!-- slots: writer -->
    ```prose
    use "stdlib:refine" as improve

    return call writer
    ```

    ## Use instead

    <!-- slots: writer -->
    ```prose
    return call writer
    ```
    """

    name = "unused-use"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        own = {statement.alias for statement in subject.program.uses.values()}
        named = {node.id for node in subject.nodes if isinstance(node, n.Name) and node not in own}
        for name, statement in subject.program.uses.items():
            if name not in named:
                yield self.at(subject, statement, f"nothing calls `{name}`")
