"""The page of `prose trace --html`: what `report/run_page.py` needs to know of a run."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prose_lang.cli.terminal import Terminal
from prose_lang.cli.trace_words import Words
from prose_lang.cli.tracing import Tracing
from prose_lang.engine.recorded_outcome import call_record, outcome_of
from prose_lang.report.run_excerpt import UNLIMITED, Left, excerpt
from prose_lang.report.run_page import Page, Row, to_html

if TYPE_CHECKING:
    from prose_lang.engine import CallRecord
    from prose_lang.report.run_tree import Node
    from prose_lang.values import Value

#: Nodes of a page, unless all are asked for: a browser shows so many without trouble.
MOST_ROWS = 3_000
#: Columns of what came of a call; the whole is below it.
_GIST = 160
#: Characters of a value; `--call` shows longer ones.
_MOST = 20_000
#: Warnings that are told.
_WARNINGS = 50
_BAD = ("failed", "invalid")


def page_text(tracing: Tracing, *, everything: bool) -> str:
    """The page of a run, without secrets. Raises StoreError."""
    return "\n".join(_Rows(tracing, UNLIMITED if everything else MOST_ROWS).lines()) + "\n"


class _Rows:
    """What the page says of one run."""

    def __init__(self, tracing: Tracing, room: int) -> None:
        terminal = Terminal(io.StringIO(), io.StringIO(), {**tracing.terminal.environ, "NO_COLOR": "1"})
        self.tracing = tracing
        self.store = tracing.store
        self.room = room
        self.words = Words(tracing.store, tracing.record, terminal)
        self.clean = tracing.terminal.redactor

    def lines(self) -> Iterator[str]:
        tracing, record = self.tracing, self.tracing.record
        root = tracing.tree()
        began = [moment for moment in (record.started, root.started) if moment]
        page = Page(
            record.pattern,
            self.words.status,
            self.words.status in _BAD,
            [("run", record.id), *tracing.facts(_GIST)],
            self._rows(root),
            min(began, default=0.0),
            root.ended,
            self._after(),
        )
        return to_html(page, self.clean.text)

    def _after(self) -> list[tuple[str, str]]:
        """What is told below the tree."""
        found = [
            ("warning", f"{row.code} {row.file}:{row.line}: {row.message}")
            for row in self.store.warnings(self.tracing.record.id)[:_WARNINGS]
        ]
        outcome = outcome_of(self.tracing.record, self.store)
        error = outcome.get("error")
        if error:
            found.append(("error", f"{error.get('code')}: {error.get('message')}"))
        elif self.words.status == "ok":
            found.append(("gave", self._pretty(outcome.get("value"))))
        return found

    def _rows(self, root: Node) -> Iterator[Row]:
        for line in excerpt(root, self.room):
            if isinstance(line, Left):
                yield Row(line.level, "left", self.words.left_out(line.nodes))
                continue
            node, entry = line.node, line.node.entry
            label = "  ".join(map(self.words.label, line.nodes))
            if entry is None or node.kind == "decision":
                took = self.words.below(node) if node.children else self.words.took(node)
                note = f"cut off: {node.cut_off}" if node.cut_off is not None else ""
                yield Row(line.level, node.kind, label, note, took, bool(note), node.started, node.ended)
                continue
            entry = self.store.resolved(entry)
            gist = self.words.gist(entry, _GIST) + (" while the run was being ended" if node.leaving else "")
            yield Row(
                line.level, node.kind, label, gist, self.words.took(node), entry.state == "error",
                node.started, node.ended, self._parts(node, call_record(entry)),
            )  # fmt: skip

    def _parts(self, node: Node, call: CallRecord) -> list[tuple[str, str]]:
        """What is shown of a call when it is unfolded."""
        parts = [("address", node.address), ("given", self._pretty(call.inputs))]
        if call.modifiers:
            parts.append(("with", self._pretty(call.modifiers)))
        if call.error is None:
            parts.append(("gave", self._pretty(call.value)))
        else:
            parts.append(("failed", self._pretty(call.error)))
        return parts

    def _pretty(self, value: Value) -> str:
        """A value in full, as far as it is not too long. Redacted before it is cut."""
        value = self.clean.value(value)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        left = len(text) - _MOST
        return text if left <= 0 else f"{text[:_MOST]}\n… {left:,} more characters"
