"""The rule `lone-backoff`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n
from prose_lang.text import Span


class LoneBackoff(Rule):
    """
    ## What it does

    A call or a session has `backoff`, and no `retry`.

    ## Why

    `backoff` says how long to wait before each further attempt, and without `retry` there is none (L32): a failure is
    final at once, although the line looks as if it were not.

    ## Example

    <!-- slots: writer -->
    ```prose
    return call writer
      backoff: exponential
    ```

    ## Use instead

    <!-- slots: writer -->
    ```prose
    return call writer
      retry: 3
      backoff: exponential
    ```
    """

    name = "lone-backoff"

    def find(self, subject: Subject) -> Iterator[Finding]:
        agents = {node.name.id: node.properties for node in subject.nodes if isinstance(node, n.AgentDef)}
        for node in subject.nodes:
            match node:
                case n.Call(properties=properties):
                    yield from self.look(subject, properties, ())
                case n.Session(properties=properties, agent=agent) | n.Resume(properties=properties, agent=agent):
                    yield from self.look(subject, properties, agents.get(agent.id, ()) if agent is not None else ())
                case _:
                    pass

    def look(self, subject: Subject, own: Sequence[n.Property], given: Sequence[n.Property]) -> Iterator[Finding]:
        found = next((item for item in own if item.name == "backoff"), None)
        if found is None or any(item.name == "retry" for item in (*own, *given)):
            return
        if isinstance(found.value, n.Name) and found.value.id == "none":
            return
        place = Span(found.start, found.name_end)
        yield self.at(
            subject, place, "`backoff` without `retry` does nothing", "say how many further attempts: retry: 3"
        )
