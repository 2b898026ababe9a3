"""The rule `stage-without-value`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.semantics.returns import paths_of
from prose_lang.syntax import nodes as n
from prose_lang.text import Span


class StageWithoutValue(Rule):
    """
    ## What it does

    No path through the body of a `| map:`, `| pmap:`, `| filter:` or `| reduce(…):` gives a value.

    ## Why

    A body gives what it returns, else the value of its last statement; an assignment, a `record` and a plain loop have
    none (L23). So every entry becomes null: `map` gives a list of nulls, `filter` keeps nothing, `reduce` ends in null
    (L28).

    ## Example

    <!-- slots: writer; inputs: topics[] -->
    ```prose
    let texts = topics | map:
      let text = null
      repeat 2:
        text = call writer
          topic: item
          text: text
    return texts
    ```

    ## Use instead

    <!-- slots: writer; inputs: topics[] -->
    ```prose
    let texts = topics | map:
      let text = null
      repeat 2:
        text = call writer
          topic: item
          text: text
      return text
    return texts
    ```
    """

    name = "stage-without-value"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        for node in subject.nodes:
            if not isinstance(node, n.Stage) or not node.body.statements:
                continue
            paths = paths_of(node.body.statements)
            if paths.returns or not paths.falls_through or self.has_value(subject, node.body.statements[-1]):
                continue
            start = subject.document.source.text.find(node.kind, node.start)
            place = Span(start, start + len(node.kind))
            message = f"no path through this `{node.kind}` gives a value, so it gives null for every entry"
            yield self.at(subject, place, message, "end its body in the value, or in `return`")

    def has_value(self, subject: Subject, last: n.Statement) -> bool:
        """Whether a last statement gives its body a value (L23). Of blocks any may; a plain loop never does."""
        match last:
            case n.Evaluate(value=n.Repeat() | n.For() as loop):
                return loop in subject.program.collects
            case n.Evaluate(value=n.Loop()):
                return False
            case n.Evaluate() | n.Let() | n.Destructure() | n.Malformed():
                return True
            case _:
                return False
