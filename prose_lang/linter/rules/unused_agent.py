"""The rule `unused-agent`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n


class UnusedAgent(Rule):
    """
    ## What it does

    An `agent` is defined, and no `session` or `resume` uses it.

    ## Why

    An agent is a named configuration: without a session it does nothing (L29), and a session that was meant for it runs
    without its model and its prompt.

    ## Example

    ```prose
    agent researcher:
      model: sonnet
      prompt: "You look things up."

    return session "Find three sources."
    ```

    ## Use instead

    ```prose
    agent researcher:
      model: sonnet
      prompt: "You look things up."

    return session: researcher
      prompt: "Find three sources."
    ```
    """

    name = "unused-agent"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        used = {node.agent.id for node in subject.nodes if isinstance(node, (n.Session, n.Resume)) and node.agent}
        for node in subject.nodes:
            if isinstance(node, n.AgentDef) and node.name.id not in used:
                yield self.at(subject, node.name, f"no `session` or `resume` uses the agent `{node.name.id}`")
