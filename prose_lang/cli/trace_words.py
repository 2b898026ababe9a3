"""The words for what happened in a recorded run: what a node of its tree is, what came of it, and what it took."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prose_lang.cli.moments import lasting
from prose_lang.cli.places import called
from prose_lang.cli.run_list import money, status_of
from prose_lang.cli.values import brief, clipped
from prose_lang.diagnostics.visible import visible
from prose_lang.journal import UNFINISHED, Entry, RunRecord, Store
from prose_lang.report.run_paths import PASSES
from prose_lang.report.run_tree import Node
from prose_lang.text import amount

if TYPE_CHECKING:
    from prose_lang.cli.terminal import Terminal


class Words:
    """Words for the nodes of one run, painted for standard output. `status` is how the run stands."""

    def __init__(self, store: Store, record: RunRecord, terminal: Terminal) -> None:
        self.store = store
        self.terminal = terminal
        self.status = status_of(record, store)
        self.now = time.time()

    def label(self, node: Node) -> str:
        """What a node is; of a decision also how it fell."""
        if node.kind == "loop":
            word = PASSES[node.label][0]
            label = f"{node.label}: {amount(len(node.children), word)}"
            if node.winners is not None:
                label += f", decided by {_numbered(word, node.winners)}"
            if node.failures is not None:
                label += f", ended when {_numbered(word, node.failures)} failed"
            return self.cyan(label)
        if node.kind in ("pass", "part"):
            return self.cyan(node.label)
        if node.kind in ("call", "ask"):
            return visible(called(node.address, node.label) if node.kind == "call" else f"judge ({node.label})")
        if node.kind == "decision":
            return self._decided(node)
        return self.bold(visible(node.label))

    def _decided(self, node: Node) -> str:
        row = node.decision
        assert row is not None, "it is a decision"
        outcome = json.loads(row.outcome)
        answer = {True: "yes", False: "no"}[outcome] if isinstance(outcome, bool) else str(outcome)
        model = json.loads(row.judge).get("model") if row.judge is not None else None
        by = f"{row.layer} {model}" if model else row.layer
        clean = self.terminal.redactor
        room = self.terminal.width
        text = clipped(clean.text(row.text), max(30, room // 2))
        if row.layer == "expression":  # why is what it read
            reason = brief(clean.value(json.loads(row.values)), max(30, room // 2))
        else:
            reason = clipped(clean.text(row.reason), max(30, room // 2))
        return f"{self.dim('?')} {text}: {self.bold(visible(answer))} {self.dim(f'({by}: {reason})')}"

    def gist(self, entry: Entry, room: int) -> str:
        """What came of a call, on one line."""
        if entry.state not in ("value", "error"):
            words = {
                "started": "under way" if self.status == UNFINISHED else "cut off: it had not answered",
                "waiting": "waits for a person",
                "cancelled": "cut off",
                "withheld": "answered with a secret, which is not kept",
            }
            return self.yellow(words[entry.state])
        entry = self.store.resolved(entry)
        result = json.loads(entry.result or "null")
        if entry.state == "value":
            return brief(self.terminal.redactor.value(result), room)
        said = f"failed: {result.get('message', '')} [{result.get('code', '')}]"
        return self.red(clipped(self.terminal.redactor.text(said), room))

    def took(self, node: Node) -> str:
        """What a call took, in brackets; empty where that is not known."""
        entry = node.entry
        if entry is None:
            return ""
        seconds = entry.seconds
        if entry.state == "started" and self.status == UNFINISHED and entry.started:
            seconds = max(0.0, self.now - entry.started)
        parts = [lasting(seconds)] if seconds or entry.final else []
        if entry.attempts > 1:
            parts.append(f"{entry.attempts:,} attempts")
        if node.cost != 0 or entry.usage is not None:
            usage = None if entry.usage is None else json.loads(entry.usage)
            if usage is not None and any(usage[3:]):
                parts.append("from the cache")
            if usage is not None and usage[2] != 0:
                parts.append("cost unknown" if usage[2] is None else money(usage[2]))
        return f"({', '.join(parts)})" if parts else ""

    def below(self, node: Node) -> str:
        """What the calls below a node took together."""
        parts = [amount(node.calls, "call")]
        if node.failed:
            parts.append(f"{node.failed:,} failed")
        if node.started:
            parts.append(lasting(max(0.0, node.ended - node.started)))
        if node.cost != 0:
            parts.append("cost unknown" if node.cost is None else money(node.cost))
        return f"({', '.join(parts)})"

    def left_out(self, nodes: Sequence[Node]) -> str:
        """How much was left out."""
        passes = {node.label.partition(" ")[0] for node in nodes if node.kind == "pass"}
        word = passes.pop() if len(passes) == 1 and all(node.kind == "pass" for node in nodes) else "step"
        what = amount(len(nodes), word).replace(" ", " more ", 1)
        calls = sum(node.calls for node in nodes)
        failed = sum(node.failed for node in nodes)
        inside = amount(calls, "call") + (f", {failed:,} failed" if failed else "")
        return f"… {what} ({inside}); --all shows them"

    # --- how it looks ------------------------------------------------------------------------------------------------

    def bold(self, text: str) -> str:
        return self.terminal.paint("1", text, self.terminal.out)

    def dim(self, text: str) -> str:
        return self.terminal.paint("2", text, self.terminal.out)

    def red(self, text: str) -> str:
        return self.terminal.paint("31", text, self.terminal.out)

    def cyan(self, text: str) -> str:
        return self.terminal.paint("36", text, self.terminal.out)

    def yellow(self, text: str) -> str:
        return self.terminal.paint("33", text, self.terminal.out)


def _numbered(word: str, numbers: Sequence[int]) -> str:
    """Branches by their numbers.

    >>> _numbered("branch", [0, 2]), _numbered("branch", [])
    ('branch 1, 3', 'none')
    """
    if not numbers:
        return "none"
    more = ", …" if len(numbers) > 10 else ""
    return f"{word} {', '.join(str(number + 1) for number in numbers[:10])}{more}"
