"""A recorded run as a tree: patterns, blocks, loops and their passes around what was called and decided in them.

It is made of the rows of a store, and reads no value: a run of a hundred thousand calls is put together in seconds.
How it looks is for whoever shows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from prose_lang.journal import Entry
from prose_lang.journal.records import Decided
from prose_lang.report.run_paths import settled_at, steps

#: What stands before the address of a call that was made because its run was being ended.
LEAVING = "leaving:"
_ASK = "ask:"


@attrs.define(eq=False)
class Node:
    """What happened at one place. `kind` is that of `run_paths.Step`, or `run`, `call`, `ask` or `decision`.

    Of what stands below: `calls` are the attempts that were made, `failed` the calls that gave an error, `cost` is in
    US dollars (None where one is unknown), `started` and `ended` are Unix times, 0 where nothing tells them, and `size`
    is the number of nodes, this one included.
    """

    kind: str
    label: str
    parent: Node | None = attrs.field(default=None, repr=False)
    address: str = ""
    entry: Entry | None = attrs.field(default=None, repr=False)
    decision: Decided | None = attrs.field(default=None, repr=False)
    #: Of a loop of branches, which count from 0: those that won a race, and those whose failure ended it.
    winners: tuple[int, ...] | None = None
    failures: tuple[int, ...] | None = None
    #: Of a pattern: why its time was up.
    cut_off: str | None = None
    children: list[Node] = attrs.field(factory=list, repr=False)
    calls: int = 0
    failed: int = 0
    cost: float | None = 0.0
    started: float = 0.0
    ended: float = 0.0
    size: int = 1

    @property
    def leaving(self) -> bool:
        """Whether it was called only because the run was being ended."""
        return self.entry is not None and self.entry.key.startswith(LEAVING)


def tree_of(name: str, entries: Iterable[Entry], decisions: Sequence[Decided]) -> Node:
    """The tree of a run; its leaves are in program order (L35)."""
    entries = list(entries)
    root = Node("run", name)
    inner: dict[str, Node] = {}
    made = [root]
    for leaf in sorted(_leaves(entries, decisions), key=_order):
        around = root
        for step in steps(leaf.address):
            known = inner.get(step.key)
            if known is None:
                known = inner[step.key] = Node(step.kind, step.label, around, step.key)
                around.children.append(known)
                made.append(known)
            around = known
        leaf.parent = around
        around.children.append(leaf)
        made.append(leaf)
    for node in reversed(made):  # what stands below comes later
        _count(node)
    _settle(entries, inner)
    return root


def _leaves(entries: Sequence[Entry], decisions: Sequence[Decided]) -> Iterator[Node]:
    """Calls, decisions with the question that a judge was asked, and questions that came to no decision."""
    asked: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.kind == "call":
            yield Node("call", entry.service, address=entry.key.removeprefix(LEAVING), entry=entry)
        elif entry.kind == "ask":
            asked.setdefault(entry.position, []).append(entry)
    for row in decisions:
        found = asked.get(row.position)
        yield Node("decision", row.text, address=row.address, decision=row, entry=found.pop(0) if found else None)
    for rest in asked.values():
        for entry in rest:
            address = entry.key.removeprefix(LEAVING).removeprefix(_ASK).partition("#")[0]
            # That of a model is the digest of what it is asked; where it was asked is not on record.
            yield Node("ask", entry.service, address=address if "/" in address else "", entry=entry)


def _order(node: Node) -> list[int]:
    text = node.decision.position if node.decision is not None else node.entry.position if node.entry else "[]"
    found: list[int] = json.loads(text)
    return found


def _count(node: Node) -> None:
    """Count what a node holds itself, and add all of it to the node around it; those below have added theirs."""
    entry = node.entry
    if entry is not None:
        node.calls += entry.attempts
        node.failed += entry.state == "error"
        usage = None if entry.usage is None else json.loads(entry.usage)
        unknown = not entry.final and entry.reserved is not None and json.loads(entry.reserved)[1] != 0
        _add_cost(node, None if unknown else 0.0 if usage is None else usage[2])
        node.started, node.ended = entry.started, entry.started + entry.seconds
    around = node.parent
    if around is None:
        return
    around.calls += node.calls
    around.failed += node.failed
    around.size += node.size
    _add_cost(around, node.cost)
    if node.started:
        around.started = min(around.started or node.started, node.started)
        around.ended = max(around.ended, node.ended)


def _add_cost(node: Node, cost: float | None) -> None:
    node.cost = None if node.cost is None or cost is None else node.cost + cost


def _settle(entries: Sequence[Entry], inner: dict[str, Node]) -> None:
    """Note at the nodes what was settled there."""
    for entry in entries:
        address = entry.key.removeprefix(f"{entry.kind}:")
        if entry.kind in ("join", "failure"):
            node, data = inner.get(settled_at(address)), _data(entry)
            if node is not None and data is not None:
                succeeded, failed = data
                if entry.kind == "join":
                    node.winners = tuple(succeeded)
                else:
                    node.failures = tuple(failed)
        elif entry.kind == "timeout":
            place, _, attempt = address.rpartition("@")
            number = int(attempt) if attempt.isdigit() else 1
            node = inner.get(place if number < 2 else f"{place}.retry[{number - 1}]")
            if node is not None:
                node.cut_off = str((_data(entry) or {}).get("message", ""))


def _data(entry: Entry) -> Any:
    text = entry.result or "null"
    return None if text.startswith("@") else json.loads(text)
