"""The rule `misfit-binding`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.documents.declarations import misfit, takes_text
from prose_lang.documents.model import Entry, Item
from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.semantics import CallPlan
from prose_lang.semantics.calls import UNKNOWN, constant
from prose_lang.syntax import nodes as n


class MisfitBinding(Rule):
    """
    ## What it does

    A call of a function of the file binds a value written out that is no text, where the function declares a text.

    ## Why

    A contract says what a function takes (L3). Where it takes a number or a list, another kind is an error (P211);
    where it takes a text, other kinds pass with a warning in the trace, because results of services often come as
    objects. A value that is written out is rarely meant so.

    ## Example

    ````markdown
    ---
    name: report
    kind: pattern
    ---

    ### Delegation

    ```prose
    return call summary
      style: 3
    ```

    ## summary

    ### Parameters

    - `style`: string -- how it is to be written

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
      style: "formal"
    ```

    ## summary

    ### Parameters

    - `style`: string -- how it is to be written

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
        if item is None or value is None or not takes_text(item):
            return
        plain = constant(value)
        if plain is UNKNOWN or plain is None:  # null is absent (L32)
            return
        wrong = misfit(plain, item)
        if wrong is not None:
            yield self.at(subject, value, f"`{item.name}` {wrong}")


def _called(subject: Subject, plan: CallPlan) -> Entry | None:
    """The function of the file that a call reaches, if it is one."""
    target = plan.target
    if target.slot is not None or target.variable is not None:
        return None
    return subject.document.entry(target.name)
