"""The rule `unreachable`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.semantics.returns import paths_of
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk
from prose_lang.text import Span


class Unreachable(Rule):
    """
    ## What it does

    A statement follows one after which nothing runs, or an arm of an `if` can never be taken.

    ## Why

    After `return`, `throw`, `break`, `continue`, an `if` all of whose arms end so, or an endless `loop`, the rest of
    the list never runs (L22). An arm is never taken after `if true`, under `if false`, or where an arm above asks
    exactly the same. Most often the statement stands one level too deep.

    ## Example

    <!-- slots: writer, notify -->
    ```prose
    let draft = call writer
    return draft
    call notify
      draft: draft
    ```

    ## Use instead

    <!-- slots: writer, notify -->
    ```prose
    let draft = call writer
    call notify
      draft: draft
    return draft
    ```
    """

    name = "unreachable"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        for suite in subject.structure.suites:
            yield from self.after_an_end(subject, suite.statements)
        for node in subject.nodes:
            if isinstance(node, n.If):
                yield from self.arms(subject, node)
            elif isinstance(node, n.Loop) and node.kind == "while" and _truth(subject, node.condition) is False:
                assert node.condition is not None, "`loop while` has a condition"
                yield self.at(subject, node.condition, "this loop never runs: its condition never holds")

    def after_an_end(self, subject: Subject, statements: tuple[n.Statement, ...]) -> Iterator[Finding]:
        end: n.Statement | None = None
        for statement in statements:
            if end is not None and not isinstance(statement, (n.BlockDef, n.AgentDef, n.Use)):
                message = (
                    f"this is never reached: {_said(subject, end)} on line {subject.line(end.start)} ends before it"
                )
                # The first line of it: what is never reached may go on for pages.
                yield self.at(subject, _first_line(subject, statement), message)
                return
            if end is None and not paths_of([statement]).falls_through:
                end = statement

    def arms(self, subject: Subject, node: n.If) -> Iterator[Finding]:
        always: n.Condition | None = None
        asked: dict[str, n.Condition] = {}
        for arm in node.arms:
            condition = arm.condition
            truth = _truth(subject, condition)
            words = " ".join(condition.text.split())
            if always is not None:
                yield self.at(subject, condition, _never(subject, always))
                return
            if truth is False:
                yield self.at(subject, condition, "this arm is never taken: its condition never holds")
            elif truth is None and words in asked:
                line = subject.line(asked[words].start)
                yield self.at(subject, condition, f"this arm is never taken: line {line} asks the same")
            elif _is_exact(subject, condition):
                asked[words] = condition
            if truth is True:
                always = condition
        if always is not None and node.otherwise is not None and node.otherwise.statements:
            first = node.otherwise.statements[0]
            yield self.at(subject, _first_line(subject, first), _never(subject, always))


def _never(subject: Subject, always: n.Condition) -> str:
    return f"this arm is never taken: the condition on line {subject.line(always.start)} always holds"


def _truth(subject: Subject, condition: n.Condition | None) -> bool | None:
    plan = subject.program.conditions.get(condition) if condition is not None else None
    if plan is not None and isinstance(plan.expression, n.Literal) and isinstance(plan.expression.value, bool):
        return plan.expression.value
    return None


def _is_exact(subject: Subject, condition: n.Condition) -> bool:
    """Whether asking again gives the same answer: an expression that calls nothing."""
    plan = subject.program.conditions.get(condition)
    if plan is None or plan.expression is None:
        return False
    return not any(isinstance(node, n.Invoke) for node in walk(plan.expression))


def _said(subject: Subject, end: n.Statement) -> str:
    match end:
        case n.Return() | n.Throw() | n.Break() | n.Continue():
            return f"`{type(end).__name__.lower()}`"
        case n.Evaluate(value=n.Loop()):
            return "the loop without an end"
        case n.Evaluate(value=value):
            return f"every path through the `{type(value).__name__.lower()}`"
        case _:
            return "what stands"


def _first_line(subject: Subject, node: n.Node) -> Span:
    text = subject.document.source.text
    line_end = next((at for at in range(node.start, node.end) if text[at] in "\r\n"), node.end)
    return Span(node.start, line_end)
