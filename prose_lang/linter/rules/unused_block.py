"""The rule `unused-block`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk


class UnusedBlock(Rule):
    """
    ## What it does

    A `block` is defined, and no `do` outside of it runs it.

    ## Why

    A block runs where `do NAME(…)` stands and nowhere else (L28); a block that runs only itself never runs.

    ## Example

    <!-- slots: writer -->
    ```prose
    block polish(draft):
      return call writer
        draft: draft

    let draft = call writer
    return draft
    ```

    ## Use instead

    <!-- slots: writer -->
    ```prose
    block polish(draft):
      return call writer
        draft: draft

    let draft = call writer
    return do polish(draft)
    ```
    """

    name = "unused-block"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        runs = _runs(subject.nodes)
        for name, block in subject.program.blocks.items():
            if runs[name] == _runs(walk(block))[name]:
                yield self.at(subject, block.name, f"no `do` runs the block `{name}`")


def _runs(nodes: Iterable[n.Node]) -> Counter[str]:
    """How often each block is run."""
    return Counter(node.target.id for node in nodes if isinstance(node, n.Do) and node.target is not None)
