"""The rule `re-let`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prose_lang.linter.rule import Finding, Fix, Rule
from prose_lang.linter.structure import Suite
from prose_lang.linter.subject import Subject
from prose_lang.semantics.scopes import published
from prose_lang.syntax import nodes as n
from prose_lang.text import Span
from prose_lang.text.edit import Edit


class ReLet(Rule):
    """
    ## What it does

    A `let` inside a loop, an `if`, a `choice` or a `try` names a variable that a `let` around it has made already.

    ## Why

    A body has one frame, so this `let` makes no new variable: it assigns the one there is, and the loop's next pass
    and the statements after the loop see the new value (L14). Written as an assignment it says so. Without `let` the
    statement does the same, unless it is the last of a body: there a `let` gives the body its value (L23), and the fix
    leaves it alone.

    ## Example

    <!-- slots: writer -->
    ```prose
    let draft = null
    repeat 3:
      let draft = call writer
        draft: draft
    return draft
    ```

    ## Use instead

    <!-- slots: writer -->
    ```prose
    let draft = null
    repeat 3:
      draft = call writer
        draft: draft
    return draft
    ```
    """

    name = "re-let"
    mends = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        made: dict[Suite, dict[str, tuple[int, n.Name]]] = {}
        for suite in subject.structure.suites:
            made[suite] = _made_in(suite)
            for index, statement in enumerate(suite.statements):
                if not isinstance(statement, n.Let) or statement.constant:
                    continue
                name = statement.name
                first = _made_around(name.id, suite, made)
                if first is None:
                    continue
                last = suite.valued and index == len(suite.statements) - 1
                fix = Fix("drop `let`", (Edit(Span(statement.start, name.start), ""),))
                yield self.at(
                    subject,
                    Span(statement.start, name.end),
                    f"`{name.id}` is the variable of line {subject.line(first.start)}; this `let` only assigns it",
                    f"write the assignment: {name.id} = …",
                    None if last else fix,
                )


def _made_in(suite: Suite) -> dict[str, tuple[int, n.Name]]:
    """The variables that the statements of a list make themselves, with the first place of each."""
    made: dict[str, tuple[int, n.Name]] = {}
    for index, statement in enumerate(suite.statements):
        names: Iterable[n.Name] = ()
        match statement:
            case n.Let(name=name, constant=False):
                names = (name,)
            case n.Destructure(names=several, constant=False):
                names = several
            case n.Evaluate(value=n.Parallel(branches=branches)):
                names = published(branches)
            case _:
                pass
        for name in names:
            made.setdefault(name.id, (index, name))
    return made


def _made_around(name: str, suite: Suite, made: Mapping[Suite, Mapping[str, tuple[int, n.Name]]]) -> n.Name | None:
    """Where a statement before this one, in a list around it that shares its frame, makes the variable."""
    while suite.around is not None:
        index, first = made[suite.around].get(name, (suite.at, None))
        if index < suite.at:
            return first
        suite = suite.around
    return None
