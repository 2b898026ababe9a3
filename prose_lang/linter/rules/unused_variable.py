"""The rule `unused-variable`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Fix, Rule
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n
from prose_lang.text import Span
from prose_lang.text.edit import Edit


class UnusedVariable(Rule):
    """
    ## What it does

    A variable is set and never read; or a counter, an index or a caught error has a name that nothing reads.

    ## Why

    Either its value was meant to be used and is not, or the name can go: `call notify` alone calls, `repeat 3:` alone
    repeats. A `let` that gives a body or a `parallel:` its value is used (L23, L24), and so are the variables of a
    frame in which a judge is shown all of them (L30). Names that begin with `_` are never told.

    ## Example

    <!-- slots: writer, notify -->
    ```prose
    let draft = call writer
    let told = call notify
      draft: draft
    return draft
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

    name = "unused-variable"
    mends = True
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        writes = Counter(subject.program.writes.values())
        reported: set[int] = set()
        for suite in subject.structure.suites:
            for index, statement in enumerate(suite.statements):
                if suite.valued and index == len(suite.statements) - 1:
                    continue
                match statement:
                    case n.Let(name=name, value=value):
                        fix = None
                        if isinstance(value, (n.Call, n.Session, n.Resume)) and self.written_once(
                            subject, name, writes
                        ):
                            fix = Fix(f"drop `let {name.id} =`", (Edit(Span(statement.start, value.start), ""),))
                        yield from self.variable(subject, name, reported, fix)
                    case n.Destructure(names=names):
                        for name in names:
                            yield from self.variable(subject, name, reported, None)
                    case _:
                        pass
        for node in subject.nodes:
            match node:
                case n.Repeat(variable=n.Name() as name) | n.Loop(variable=n.Name() as name):
                    yield from self.local(subject, name, f"drop `as {name.id}`")
                case n.ParallelRepeat(variable=n.Name() as name) | n.Try(name=n.Name() as name):
                    yield from self.local(subject, name, f"drop `as {name.id}`")
                case n.For(index=n.Name() as name) | n.ParallelFor(index=n.Name() as name):
                    yield from self.local(subject, name, f"drop `, {name.id}`")
                case _:
                    pass

    def written_once(self, subject: Subject, name: n.Name, writes: Counter[int]) -> bool:
        return writes[subject.program.writes[name]] == 1

    def variable(self, subject: Subject, name: n.Name, reported: set[int], fix: Fix | None) -> Iterator[Finding]:
        cell = subject.program.writes.get(name)
        if cell is None or cell in reported or cell in subject.read_cells or name.id.startswith("_"):
            return
        reported.add(cell)
        hint = f"drop `let {name.id} =` if the call is made for what it does" if fix else None
        yield self.at(subject, name, f"`{name.id}` is set and never read", hint, fix)

    def local(self, subject: Subject, name: n.Name, hint: str) -> Iterator[Finding]:
        cell = subject.program.writes.get(name)
        if cell is not None and cell not in subject.read_cells and not name.id.startswith("_"):
            yield self.at(subject, name, f"nothing reads `{name.id}`", hint)
