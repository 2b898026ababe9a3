"""A recorded run for a person: what it was, then a tree of what happened in it, then how it ended. Or as plain data.

    refine  ok  1a22d820465-97db47
    started  2026-05-17 14:30:12, took 1.21 s, 4 calls
    …
    repeat: 2 rounds  (4 calls, 1.20 s)
      round 1  (2 calls, 0.70 s)
        refiner (plain)  “To apply, use the form.”  (0.30 s)
        …

Values are read of the calls that are shown alone. Which nodes of a long run those are is `report/run_excerpt.py`, how
they are worded `trace_words.py`, and the page `trace_page.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from prose_lang.cli.moments import exactly, iso, lasting
from prose_lang.cli.places import called
from prose_lang.cli.run_list import INTERRUPTED, money, used
from prose_lang.cli.trace_words import Words
from prose_lang.cli.values import brief, clipped, written
from prose_lang.diagnostics.visible import visible
from prose_lang.engine.recorded_outcome import call_record, outcome_of, trace
from prose_lang.journal import UNFINISHED, Entry, RunRecord, Store
from prose_lang.report.run_excerpt import UNLIMITED, Left, excerpt
from prose_lang.report.run_tree import LEAVING, Node, tree_of
from prose_lang.text import amount, nearest

if TYPE_CHECKING:
    from prose_lang.cli.terminal import Terminal

#: Lines that a tree may have before it is shortened.
MOST_LINES = 120
#: Levels of indentation; what is deeper stands below them.
_LEVELS = 24
_STATUS_STYLES = {"ok": "1;32", "failed": "1;31", "invalid": "1;31"}


class Tracing:
    """One record, read to be shown."""

    def __init__(
        self, store: Store, record: RunRecord, terminal: Terminal, *, full: bool = False, everything: bool = False
    ) -> None:
        self.store = store
        self.record = record
        self.terminal = terminal
        self.full = full
        self.room = UNLIMITED if everything else MOST_LINES
        self.words = Words(store, record, terminal)

    # --- plain data --------------------------------------------------------------------------------------------------

    def plain(self) -> dict[str, Any]:
        """The object of `prose run --json`, and what the record knows besides. Raises StoreError."""
        record, store = self.record, self.store
        outcome = outcome_of(record, store)
        found = trace(record.id, store)
        return {
            "run_id": record.id,
            "status": self.words.status,
            "value": outcome.get("value"),
            "error": outcome.get("error"),
            "diagnostics": outcome.get("diagnostics", []),
            "calls": [call.as_json() for call in found.calls],
            "decisions": [decision.as_json() for decision in found.decisions],
            "warnings": [warning.as_json() for warning in found.warnings],
            "usage": used(record, store).as_json(),
            "pattern": record.pattern,
            "source": json.loads(record.source),
            "given": json.loads(record.names)["values"],
            "options": json.loads(record.options),
            "started": iso(record.started),
            "ended": iso(record.ended),
            "active": iso(record.active),
            "seconds": round(record.seconds, 6),
            "version": record.version,
        }

    def plain_call(self, entry: Entry) -> dict[str, Any]:
        """One call as plain data."""
        return {**call_record(entry).as_json(), "state": entry.state, "started": iso(entry.started)}

    # --- one call ----------------------------------------------------------------------------------------------------

    def call(self, address: str) -> Entry:
        """The call with an address, or with the end of one. Raises BadParameter where none or several are meant."""
        for key in (address, f"{LEAVING}{address}"):
            for entry in self.store.find(self.record.id, key):
                return self.store.resolved(entry)
        entries = self.store.entries(self.record.id, ("call",))
        found = [entry for entry in entries if entry.key.endswith((f"/{address}", f".{address}"))]
        if len(found) == 1:
            return self.store.resolved(found[0])
        if found:
            some = ", ".join(f"`{entry.key}`" for entry in found[:3])
            raise click.BadParameter(
                f"{amount(len(found), 'call')} end with `{address}`: {some}{', …' * (len(found) > 3)}",
                param_hint="'--call'",
            )
        error = click.BadParameter(f"the run {self.record.id} has no call at `{address}`", param_hint="'--call'")
        close = nearest(address, [entry.key for entry in entries[:10_000]])
        hint = f"did you mean `{close[0]}`?" if close else "`prose trace -v` shows the addresses of calls"
        error.hint = hint  # type: ignore[attr-defined]
        raise error

    def one_call(self, entry: Entry) -> Iterator[str]:
        """One call with all that it was given and gave."""
        node = Node("call", entry.service, address=entry.key.removeprefix(LEAVING), entry=entry)
        yield f"{self.words.bold(visible(called(node.address, entry.service)))}  {self.words.took(node)}".rstrip()
        yield f"address  {visible(entry.key)}"
        yield f"started  {exactly(entry.started)}"
        yield from self._whole(entry, "")

    # --- the tree ----------------------------------------------------------------------------------------------------

    def tree(self) -> Node:
        """The run as a tree. Raises StoreError."""
        return tree_of(self.record.pattern, self.store.entries(self.record.id), self.store.decisions(self.record.id))

    def lines(self) -> Iterator[str]:
        """The lines of the whole. Raises StoreError."""
        root = self.tree()
        style = _STATUS_STYLES.get(self.words.status, "1;33")
        status = self.terminal.paint(style, self.words.status, self.terminal.out)
        yield f"{self.words.bold(visible(self.record.pattern))}  {status}  {self.record.id}"
        for name, fact in self.facts(self.terminal.width - 12):
            yield f"{name:<8} {visible(fact)}"
        if root.children:
            yield ""
            yield from self._tree(root)
        yield from self._end()

    def facts(self, room: int) -> Iterator[tuple[str, str]]:
        """What is told of the whole run, each with its name or none; values in about `room` columns."""
        record = self.record
        usage = used(record, self.store)
        parts = [f"{exactly(record.started)}, {lasting(record.seconds)}", amount(usage.calls, "call")]
        if usage.tokens_in or usage.tokens_out:
            parts.append(f"{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out")
        if usage.cost != 0:
            parts.append("cost unknown" if usage.cost is None else money(usage.cost))
        yield "started", ", ".join(parts)
        if record.status == UNFINISHED:
            ago = lasting(max(0.0, self.words.now - record.active))
            died = "; its process died" if self.words.status == INTERRUPTED else ""
            yield "active", f"{ago} ago{died}"
        source = json.loads(record.source)
        entry = f"#{source['entry']}" if source["entry"] else ""
        name = source["name"] if source["name"].startswith("stdlib:") else source["path"] or source["name"]
        yield "source", f"{name}{entry}"
        given = self._given(json.loads(record.names), room)
        yield from ((f"{'given' * (not number)}", text) for number, text in enumerate(given))

    def _given(self, names: dict[str, Any], room: int) -> Iterator[str]:
        """What the run was given: services by the texts that name them, then values."""
        for name, service in names["services"].items():
            several = service if isinstance(service, list) else [service]
            yield f"{name}: {', '.join(str(one['text']) for one in several)}"
        for name, value in names["values"].items():
            yield f"{name}: {brief(self.terminal.redactor.value(value), max(20, room - len(name)))}"

    def _tree(self, root: Node) -> Iterator[str]:
        """The nodes below, as far as there is room."""
        for line in excerpt(root, self.room):
            indent = "  " * min(line.level, _LEVELS)
            if isinstance(line, Left):
                yield f"{indent}{self.words.dim(self.words.left_out(line.nodes))}"
            else:
                yield from self._shown(line.node, indent, "  ".join(map(self.words.label, line.nodes)))

    def _shown(self, node: Node, indent: str, label: str) -> Iterator[str]:
        entry = node.entry
        if entry is None or node.kind == "decision":
            took = self.words.dim(self.words.below(node)) if node.children else self.words.dim(self.words.took(node))
            yield f"{indent}{label}  {took}".rstrip()
            if node.cut_off is not None:
                yield f"{indent}  {self.words.red(f'cut off: {visible(node.cut_off)}')}"
            return
        took = self.words.took(node)
        room = max(20, self.terminal.width - len(indent) - len(label) - len(took) - 4)
        line = f"{indent}{label}  {self.words.gist(entry, room)}  {took}"
        if node.leaving:
            line += self.words.dim(" while the run was being ended")
        yield line.rstrip()
        if self.full or self.terminal.verbosity > 0:
            yield f"{indent}  {self.words.dim(visible(node.address))}"
        if self.full:
            yield from self._whole(self.store.resolved(entry), f"{indent}  ")

    def _whole(self, entry: Entry, indent: str) -> Iterator[str]:
        """What a call was given and gave, in full."""
        call = call_record(entry)
        parts: list[tuple[str, Any]] = [("given", {**call.inputs})]
        if call.modifiers:
            parts.append(("with", call.modifiers))
        parts.append(("gave", call.value) if call.error is None else ("failed", call.error))
        harmless = self.terminal.out.isatty()
        for name, value in parts:
            yield f"{indent}{self.words.bold(name)}"
            for line in written(self.terminal.redactor.value(value), harmless=harmless).splitlines():
                yield f"{indent}  {line}".rstrip()

    # --- the end -----------------------------------------------------------------------------------------------------

    def _end(self) -> Iterator[str]:
        """How the run ended: what it gave, or what went wrong, and its warnings."""
        outcome = outcome_of(self.record, self.store)
        clean, width = self.terminal.redactor, self.terminal.width
        warnings = self.store.warnings(self.record.id)
        error = outcome.get("error")
        if warnings or error or (self.words.status == "ok"):
            yield ""
        for row in warnings[:10]:
            often = f" ({row.times:,} times)" if row.times > 1 else ""
            mark = self.terminal.paint("1;33", f"warning[{row.code}]", self.terminal.out)
            yield f"{mark} {visible(row.file)}:{row.line}: {clipped(clean.text(row.message), width)}{often}"
        if len(warnings) > 10:
            yield f"… {len(warnings) - 10:,} more warnings; --json has them all"
        if error:
            place = f" ({visible(error['file'])}:{error['line']})" if error.get("file") and error.get("line") else ""
            code = self.terminal.paint("1;31", f"error[{error.get('code')}]", self.terminal.out)
            yield f"{code} {visible(clean.text(str(error.get('message'))))}{place}"
        elif self.words.status == "ok":
            yield f"gave     {brief(clean.value(outcome.get('value')), max(20, width - 10))}"
