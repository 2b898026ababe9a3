"""The rule `unknown-property`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n
from prose_lang.text import Span, did_you_mean, nearest

_AGENT = ("model", "prompt", "persist", "skills", "shape", "context", "retry", "backoff", "timeout", "permissions")
_SESSION = ("prompt", "model", "context", "retry", "backoff", "timeout", "persist", "skills", "shape", "permissions")
_SHAPE = ("self", "delegates", "prohibited")


class UnknownProperty(Rule):
    """
    ## What it does

    An agent, a session or the `shape` of an agent has a property that means nothing there.

    ## Why

    The properties of agents and sessions are a closed list (L29), so a misspelt one is not read: the session runs
    without its model, without its memory, without its limits. The properties of a *call* are inputs and may have any
    name.

    ## Example

    ```prose
    agent reader:
      model: "fast"
      promt: "You read closely."
    return session: reader
      prompt: "Read it."
    ```

    ## Use instead

    ```prose
    agent reader:
      model: "fast"
      prompt: "You read closely."
    return session: reader
      prompt: "Read it."
    ```
    """

    name = "unknown-property"

    def find(self, subject: Subject) -> Iterator[Finding]:
        for node in subject.nodes:
            match node:
                case n.AgentDef(properties=properties):
                    yield from self.look(subject, properties, _AGENT, "an agent")
                case n.Session(properties=properties) | n.Resume(properties=properties):
                    yield from self.look(subject, properties, _SESSION, "a session")
                case _:
                    pass

    def look(
        self, subject: Subject, properties: Sequence[n.Property], known: Sequence[str], what: str
    ) -> Iterator[Finding]:
        for item in properties:
            if item.name not in known:
                close = nearest(item.name, known, 1)
                hint = did_you_mean(close[:1]) or f"it has {', '.join(known)}"
                place = Span(item.start, item.name_end)
                yield self.at(subject, place, f"{what} has no property `{item.name}`", hint)
            elif item.name == "shape":
                yield from self.look(subject, item.nested, _SHAPE, "a shape")
