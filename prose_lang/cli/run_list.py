"""Recorded runs as they are found and listed: which are meant, and how one of them stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from prose_lang.cli.moments import iso, lasting, shown
from prose_lang.cli.status import EXIT
from prose_lang.diagnostics.visible import visible, width_of
from prose_lang.engine.recorded_outcome import outcome_of
from prose_lang.handlers.journal_usage import usage_of
from prose_lang.journal import UNFINISHED, RunFilter, RunRecord, Store, StoreError
from prose_lang.runtime.effects import Usage

if TYPE_CHECKING:
    from prose_lang.cli.terminal import Terminal

INTERRUPTED = "interrupted"
#: How a run may stand: like an outcome, or at work.
STATUSES = (*EXIT, UNFINISHED)
#: What stands for the run that was begun last.
LATEST = "latest"
_COLORS = {"ok": "32", "failed": "31", "invalid": "31", "limited": "33", "waiting": "35", INTERRUPTED: "33"}


def status_of(record: RunRecord, store: Store) -> str:
    """How a run stands. One that is said to be running, and that no process works on, was interrupted: its process
    died."""
    return INTERRUPTED if record.status == UNFINISHED and not store.held(record.id) else record.status


def run_of(store: Store, run: str) -> RunRecord:
    """The run that is meant by its id, by the beginning of it, or by `latest`. Raises StoreError P501."""
    if run != LATEST:
        return store.run(run)
    found = store.runs(RunFilter(limit=1))
    if not found:
        raise StoreError("P501", f"no run is recorded in `{store.address}`")
    return found[0]


class Listed(NamedTuple):
    """A run in a list, with how it stands."""

    record: RunRecord
    status: str


def listed(store: Store, which: RunFilter) -> Iterator[Listed]:
    """The runs that are meant, the latest first. Statuses count as `status_of` tells them. Raises StoreError."""
    wanted, left = which.statuses, -1 if which.limit is None else which.limit
    open_ones = bool({UNFINISHED, INTERRUPTED} & set(wanted))
    if open_ones:  # whether such a run is at work is not in its record
        which = which._replace(statuses=tuple({*wanted, UNFINISHED, INTERRUPTED}), limit=None)
    for record in store.runs(which):
        status = status_of(record, store)
        if wanted and status not in wanted:
            continue
        if not left:
            return
        left -= 1
        yield Listed(record, status)


def used(record: RunRecord, store: Store) -> Usage:
    """What a run has used so far. Raises StoreError."""
    known = outcome_of(record, store).get("usage")
    if known is not None:  # summing up a long run takes its time
        return Usage(**known)
    return usage_of(store.sums(record.id))


def plain(item: Listed, store: Store) -> dict[str, Any]:
    """A run as `prose runs --json` tells it."""
    record = item.record
    return {
        "run_id": record.id,
        "pattern": record.pattern,
        "status": item.status,
        "started": iso(record.started),
        "ended": iso(record.ended),
        "active": iso(record.active),
        "seconds": round(record.seconds, 6),
        "source": json.loads(record.source),
        "usage": used(record, store).as_json(),
        "version": record.version,
    }


_HEAD = ("run", "started", "pattern", "status", "calls", "cost", "took")


@attrs.frozen
class Table:
    """A table of runs for a person."""

    store: Store
    terminal: Terminal
    now: float

    def lines(self, items: Sequence[Listed]) -> Iterator[str]:
        """The lines of the table, its head first."""
        rows = [_HEAD, *map(self._row, items)]
        widths = [max(width_of(row[column]) for row in rows) for column in range(len(_HEAD))]
        for number, row in enumerate(rows):
            cells = [
                f"{' ' * (width - width_of(cell))}{cell}" if column in (4, 5) else self._left(cell, width, number)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            line = "  ".join(cells).rstrip()
            yield self.terminal.paint("2", line, self.terminal.out) if number == 0 else line

    def _row(self, item: Listed) -> tuple[str, ...]:
        record = item.record
        usage = used(record, self.store)
        return (
            record.id,
            shown(record.started, self.now),
            visible(record.pattern),
            item.status,
            f"{usage.calls:,}",
            money(usage.cost),
            lasting(record.seconds),
        )

    def _left(self, cell: str, width: int, number: int) -> str:
        color = _COLORS.get(cell) if number else None
        text = cell if color is None else self.terminal.paint(color, cell, self.terminal.out)
        return text + " " * (width - width_of(cell))


def money(cost: float | None) -> str:
    """US dollars in a column; `?` where they are not known.

    >>> money(0.0), money(0.0123), money(None)
    ('-', '$0.0123', '?')
    """
    return "?" if cost is None else f"${cost:.4f}" if cost else "-"
