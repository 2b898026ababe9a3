"""A recorded run for a person: what it was, then a tree of what happened in it, then how it ended. Or as plain data.

    refine  ok  1a22d820465-97db47
    started  2026-05-17 14:30:12, took 1.21 s, 4 calls
    …
    repeat: 2 rounds  (4 calls, 1.20 s)
      round 1  (2 calls, 0.70 s)
        refiner (plain)  “To apply, use the form.”  (0.30 s)
        …

Values are read of the calls that are shown alone. Of a run that is long the first and the last nodes at each place are
shown, so that the whole fits on a few screens.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from prose_lang.cli.moments import exactly, iso, lasting
from prose_lang.cli.places import called
from prose_lang.cli.run_list import INTERRUPTED, money, status_of, used
from prose_lang.cli.values import brief, clipped, written
from prose_lang.diagnostics.visible import visible
from prose_lang.engine.recorded_outcome import call_record, outcome_of, trace
from prose_lang.journal import UNFINISHED, Entry, RunRecord, Store
from prose_lang.report.run_paths import PASSES
from prose_lang.report.run_tree import LEAVING, Node, tree_of
from prose_lang.text import amount, nearest

if TYPE_CHECKING:
    from prose_lang.cli.terminal import Terminal

#: Lines that a tree may have before it is shortened.
MOST_LINES = 120
#: Lines that one of several nodes should have at least, where it has so many.
_FEW = 12
#: Levels of indentation; what is deeper stands below them.
_LEVELS = 24
_STATUS_STYLES = {"ok": "1;32", "failed": "1;31", "invalid": "1;31"}


class _Line(NamedTuple):
    """A node to be shown, with how many lines there are for it and what stands below."""

    node: Node
    level: int
    room: int


class Tracing:
    """One record, read to be shown."""

    def __init__(
        self, store: Store, record: RunRecord, terminal: Terminal, *, full: bool = False, everything: bool = False
    ) -> None:
        self.store = store
        self.record = record
        self.terminal = terminal
        self.full = full
        self.room = 1 << 60 if everything else MOST_LINES
        self.status = status_of(record, store)
        self.now = time.time()

    # --- plain data --------------------------------------------------------------------------------------------------

    def plain(self) -> dict[str, Any]:
        """The object of `prose run --json`, and what the record knows besides. Raises StoreError."""
        record, store = self.record, self.store
        outcome = outcome_of(record, store)
        found = trace(record.id, store)
        return {
            "run_id": record.id,
            "status": self.status,
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
        yield f"{self._bold(visible(called(node.address, entry.service)))}  {self._took(node)}".rstrip()
        yield f"address  {visible(entry.key)}"
        yield f"started  {exactly(entry.started)}"
        yield from self._whole(entry, "")

    # --- the tree ----------------------------------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        """The lines of the whole. Raises StoreError."""
        entries = self.store.entries(self.record.id)
        decisions = self.store.decisions(self.record.id)
        root = tree_of(self.record.pattern, entries, decisions)
        yield from self._head(root)
        if root.children:
            yield ""
            yield from self._tree(root)
        yield from self._end()

    def _head(self, root: Node) -> Iterator[str]:
        record, terminal = self.record, self.terminal
        style = _STATUS_STYLES.get(self.status, "1;33")
        status = terminal.paint(style, self.status, terminal.out)
        yield f"{self._bold(visible(record.pattern))}  {status}  {record.id}"
        usage = used(record, self.store)
        parts = [f"{exactly(record.started)}, {lasting(record.seconds)}", amount(usage.calls, "call")]
        if usage.tokens_in or usage.tokens_out:
            parts.append(f"{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out")
        if usage.cost != 0:
            parts.append("cost unknown" if usage.cost is None else money(usage.cost))
        yield f"started  {', '.join(parts)}"
        if self.status in (UNFINISHED, INTERRUPTED) and record.status == UNFINISHED:
            ago = lasting(max(0.0, self.now - record.active))
            died = "" if self.status == UNFINISHED else "; its process died"
            yield f"active   {ago} ago{died}"
        source = json.loads(record.source)
        entry = f"#{source['entry']}" if source["entry"] else ""
        name = source["name"] if source["name"].startswith("stdlib:") else source["path"] or source["name"]
        yield f"source   {visible(name)}{visible(entry)}"
        yield from self._given(json.loads(record.names))

    def _given(self, names: dict[str, Any]) -> Iterator[str]:
        """What the run was given, each on a line: services by the texts that name them."""
        texts = {}
        for name, service in names["services"].items():
            several = service if isinstance(service, list) else [service]
            texts[name] = visible(", ".join(str(one["text"]) for one in several))
        room = self.terminal.width - 12
        for name, value in names["values"].items():
            texts[name] = brief(self.terminal.redactor.value(value), max(20, room - len(name)))
        for number, (name, text) in enumerate(texts.items()):
            yield f"{'given' if not number else '':<8} {visible(name)}: {text}"

    def _tree(self, root: Node) -> Iterator[str]:
        """The nodes below, as far as there is room. Without recursion: patterns nest deeper than Python does."""
        waiting: list[_Line | str] = self._shared(root.children, 0, self.room)
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                yield item
                continue
            node, level, room = item
            labels = [self._label(node)]
            while len(node.children) == 1 and node.kind == "pass":  # on the line of what is in it
                node = node.children[0]
                labels.append(self._label(node))
            indent = "  " * min(level, _LEVELS)
            yield from self._shown(node, indent, "  ".join(labels))
            if node.children:
                waiting += self._shared(node.children, level + 1, room - 1)

    def _shared(self, nodes: Sequence[Node], level: int, room: int) -> list[_Line | str]:
        """Nodes with the lines that each may take, in reverse order; what is left out is told."""
        if sum(node.size for node in nodes) <= room:
            return [_Line(node, level, node.size) for node in reversed(nodes)]
        indent = "  " * min(level, _LEVELS)
        average = sum(node.size for node in nodes) / len(nodes)
        most = max(
            0, int(room / max(1.0, min(average, _FEW))) - 1
        )  # of few nodes much is shown, rather than the reverse
        if len(nodes) > max(most, 1):
            head, tail = nodes[: most - most // 3], nodes[len(nodes) - most // 3 :]
            left = nodes[len(head) : len(nodes) - len(tail)]
            told = [f"{indent}{self._dim(self._left_out(left))}"]
        else:
            head, tail, told = nodes, [], []
        given = []
        waiting = len(head) + len(tail)
        for node in (*head, *tail):
            share = min(node.size, max(1, room // max(1, waiting)))
            given.append(_Line(node, level, share))
            room -= share
            waiting -= 1
        lines: list[_Line | str] = [*given[: len(head)], *told, *given[len(head) :]]
        return lines[::-1]

    def _left_out(self, nodes: Sequence[Node]) -> str:
        passes = {node.label.partition(" ")[0] for node in nodes if node.kind == "pass"}
        word = passes.pop() if len(passes) == 1 and all(node.kind == "pass" for node in nodes) else "step"
        what = f"{len(nodes):,} more {word}{'s' * (len(nodes) != 1)}"
        calls = sum(node.calls for node in nodes)
        failed = sum(node.failed for node in nodes)
        inside = amount(calls, "call") + (f", {failed:,} failed" if failed else "")
        return f"… {what} ({inside}); --all shows them"

    # --- one node ----------------------------------------------------------------------------------------------------

    def _label(self, node: Node) -> str:
        if node.kind == "loop":
            word = PASSES[node.label][0]
            passes = amount(len(node.children), word).replace("branchs", "branches")
            label = f"{node.label}: {passes}"
            if node.settled is not None:
                by = ", ".join(str(number + 1) for number in node.settled[:10])
                label += f", decided by {word} {by}" if node.settled else ", decided by none"
            return self._cyan(label)
        if node.kind in ("pass", "part"):
            return self._cyan(node.label)
        if node.kind in ("call", "ask"):
            return visible(called(node.address, node.label) if node.kind == "call" else f"judge ({node.label})")
        if node.kind == "decision":
            return self._decided(node)
        return self._bold(visible(node.label))

    def _shown(self, node: Node, indent: str, label: str) -> Iterator[str]:
        entry = node.entry
        if entry is None or node.kind == "decision":
            took = self._dim(self._below(node)) if node.children else self._dim(self._took(node))
            yield f"{indent}{label}  {took}".rstrip()
            if node.cut_off is not None:
                yield f"{indent}  {self._red(f'cut off: {visible(node.cut_off)}')}"
            return
        took = self._took(node)
        room = max(20, self.terminal.width - len(indent) - len(label) - len(took) - 4)
        line = f"{indent}{label}  {self._gist(entry, room)}  {took}"
        if node.leaving:
            line += self._dim(" while the run was being ended")
        yield line.rstrip()
        if self.full or self.terminal.verbosity > 0:
            yield f"{indent}  {self._dim(visible(node.address))}"
        if self.full:
            yield from self._whole(self.store.resolved(entry), f"{indent}  ")

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
        return f"{self._dim('?')} {text}: {self._bold(visible(answer))} {self._dim(f'({by}: {reason})')}"

    def _gist(self, entry: Entry, room: int) -> str:
        """What came of a call, on one line."""
        if entry.state not in ("value", "error"):
            words = {
                "started": "under way" if self.status == UNFINISHED else "cut off: it had not answered",
                "waiting": "waits for a person",
                "cancelled": "cut off",
                "withheld": "answered with a secret, which is not kept",
            }
            return self._yellow(words[entry.state])
        entry = self.store.resolved(entry)
        result = json.loads(entry.result or "null")
        if entry.state == "value":
            return brief(self.terminal.redactor.value(result), room)
        said = f"failed: {result.get('message', '')} [{result.get('code', '')}]"
        return self._red(clipped(self.terminal.redactor.text(said), room))

    def _took(self, node: Node) -> str:
        entry = node.entry
        if entry is None:
            return ""
        seconds = entry.seconds
        if entry.state == "started" and self.status == UNFINISHED and entry.started:
            seconds = max(0.0, self.now - entry.started)
        parts = [lasting(seconds)] if seconds or entry.final else []
        if entry.attempts > 1:
            parts.append(f"{entry.attempts:,} attempts")
        usage = None if entry.usage is None else json.loads(entry.usage)
        if usage is not None and any(usage[3:]):
            parts.append("from the cache")
        if usage is not None and usage[2] != 0:
            parts.append("cost unknown" if usage[2] is None else money(usage[2]))
        return f"({', '.join(parts)})" if parts else ""

    def _below(self, node: Node) -> str:
        """What the calls below a node took together."""
        parts = [amount(node.calls, "call")]
        if node.failed:
            parts.append(f"{node.failed:,} failed")
        if node.started:
            parts.append(lasting(max(0.0, node.ended - node.started)))
        if node.cost != 0:
            parts.append("cost unknown" if node.cost is None else money(node.cost))
        return f"({', '.join(parts)})"

    def _whole(self, entry: Entry, indent: str) -> Iterator[str]:
        """What a call was given and gave, in full."""
        call = call_record(entry)
        parts: list[tuple[str, Any]] = [("given", {**call.inputs})]
        if call.modifiers:
            parts.append(("with", call.modifiers))
        parts.append(("gave", call.value) if call.error is None else ("failed", call.error))
        harmless = self.terminal.out.isatty()
        for name, value in parts:
            yield f"{indent}{self._bold(name)}"
            for line in written(self.terminal.redactor.value(value), harmless=harmless).splitlines():
                yield f"{indent}  {line}".rstrip()

    # --- the end -----------------------------------------------------------------------------------------------------

    def _end(self) -> Iterator[str]:
        """How the run ended: what it gave, or what went wrong, and its warnings."""
        outcome = outcome_of(self.record, self.store)
        clean, width = self.terminal.redactor, self.terminal.width
        warnings = self.store.warnings(self.record.id)
        error = outcome.get("error")
        if warnings or error or (self.status == "ok"):
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
        elif self.status == "ok":
            yield f"gave     {brief(clean.value(outcome.get('value')), max(20, width - 10))}"

    # --- how it looks ------------------------------------------------------------------------------------------------

    def _bold(self, text: str) -> str:
        return self.terminal.paint("1", text, self.terminal.out)

    def _dim(self, text: str) -> str:
        return self.terminal.paint("2", text, self.terminal.out)

    def _red(self, text: str) -> str:
        return self.terminal.paint("31", text, self.terminal.out)

    def _cyan(self, text: str) -> str:
        return self.terminal.paint("36", text, self.terminal.out)

    def _yellow(self, text: str) -> str:
        return self.terminal.paint("33", text, self.terminal.out)
