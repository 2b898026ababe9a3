"""The rule `lost-value`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n


class LostValue(Rule):
    """
    ## What it does

    A `return` gives a value to a parallel branch or a `do:`, and nobody takes the value of that block.

    ## Why

    A branch and a `do:` are bodies of their own: `return` in them ends the branch, not the pattern (L14, L22). Where
    the block stands as a statement of its own and is not the last of a body, what its branches return is dropped. A
    bare `return`, or one of null, only ends the branch and is not told.

    ## Example

    <!-- slots: writer; inputs: topics[] -->
    ```prose
    parallel for topic in topics:
      return call writer
        topic: topic
    return { result: "done" }
    ```

    ## Use instead

    <!-- slots: writer; inputs: topics[] -->
    ```prose
    let texts = parallel for topic in topics:
      return call writer
        topic: topic
    return { result: texts }
    ```
    """

    name = "lost-value"

    def find(self, subject: Subject) -> Iterator[Finding]:
        structure = subject.structure
        given: dict[n.Node, list[n.Return]] = {}
        for suite in structure.suites:
            for statement in suite.statements:
                if isinstance(statement, n.Return) and not _is_nothing(statement.value):
                    given.setdefault(suite.body, []).append(statement)
        for node in subject.nodes:
            if node not in structure.untaken:
                continue
            bodies: tuple[n.Node, ...]
            match node:
                case n.Parallel(branches=branches):
                    bodies, what = branches.statements, "`parallel:`"
                case n.ParallelFor():
                    bodies, what = (node,), "`parallel for`"
                case n.ParallelRepeat():
                    bodies, what = (node,), "`parallel repeat`"
                case n.Do(body=n.Body()):
                    bodies, what = (node,), "`do:`"
                case _:
                    continue
            found = [statement for body in bodies for statement in given.get(body, ())]
            if found:
                first = min(found, key=lambda statement: statement.start)
                message = f"this value is lost: nobody takes the value of the {what} on line {subject.line(node.start)}"
                word = subject.document.source.text[node.start : node.end].split(maxsplit=1)[0]
                yield self.at(subject, first, message, f"take it: let results = {word} …")


def _is_nothing(value: n.Value | None) -> bool:
    return value is None or (isinstance(value, n.Literal) and value.value is None)
