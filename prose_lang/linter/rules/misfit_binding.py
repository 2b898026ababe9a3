"""The rule `misfit-binding`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from prose_lang.documents.declarations import misfit
from prose_lang.documents.model import Entry, Item
from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.semantics import CallPlan
from prose_lang.syntax import nodes as n


class MisfitBinding(Rule):
    """
    ## What it does

    A call of a function of the file binds a value written out that does not fit the declared type, bounds or choices.

    ## Why

    A contract says what a function takes (L3, L5). Calls are not stopped for it, since a model may make do with
    anything; but a function with a body that expects a number fails on a text, and a choice that it does not know
    leads nowhere.

    ## Example

    ````markdown
    ---
    name: report
    kind: pattern
    ---

    ### Delegation

    ```prose
    return call summary
      words: "many"
    ```

    ## summary

    ### Parameters

    - `words` (integer, min: 1): how long it may be

    ### Returns

    - `text`: the summary
    ````

    ## Use instead

    ````markdown
    ---
    name: report
    kind: pattern
    ---

    ### Delegation

    ```prose
    return call summary
      words: 200
    ```

    ## summary

    ### Parameters

    - `words` (integer, min: 1): how long it may be

    ### Returns

    - `text`: the summary
    ````
    """

    name = "misfit-binding"

    def find(self, subject: Subject) -> Iterator[Finding]:
        for node, plan in subject.program.calls.items():
            entry = _called(subject, plan)
            if entry is None:
                continue
            items = {item.name: item for item in (*entry.inputs, *entry.config)}
            given: list[tuple[str, n.Value | None]] = [(name, item.value) for name, item in plan.bindings]
            given += [(name, item.value) for name, item in plan.words.items() if name in items]
            arguments = node.arguments if isinstance(node, (n.Call, n.Invoke)) else None
            names = [slot.name for slot in entry.slots] + list(items)
            given += zip(names, arguments or (), strict=False)
            for name, value in given:
                yield from self.look(subject, items.get(name), value)

    def look(self, subject: Subject, item: Item | None, value: n.Value | None) -> Iterator[Finding]:
        plain = _plain(value)
        if item is None or value is None or plain is None:
            return
        wrong = misfit(plain.value, item)
        if wrong is not None:
            yield self.at(subject, value, f"`{item.name}` {wrong}")


def _called(subject: Subject, plan: CallPlan) -> Entry | None:
    """The function of the file that a call reaches, if it is one."""
    target = plan.target
    if target.slot is not None or target.variable is not None:
        return None
    return subject.document.entry(target.name)


@attrs.frozen
class _Plain:
    value: Any


def _plain(value: n.Value | None) -> _Plain | None:
    """A value written out as plain data; None if there are names in it."""
    match value:
        case n.Literal(value=literal):
            return _Plain(literal)
        case n.ListLiteral(items=items):
            found = [_plain(item) for item in items]
            return _Plain([one.value for one in found if one is not None]) if None not in found else None
        case _:
            return None
