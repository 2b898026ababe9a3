"""Taking recorded runs away: those that a user names, and old ones, on demand or once a day.

What may go is never a run that a process works on. Where settings of a project say how much is kept, it is kept so
without being asked for: at most once a day, after a run that was recorded, and for a moment only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from prose_lang.cli.keeping import Keeping, Location, location
from prose_lang.diagnostics import ProseError
from prose_lang.journal import Store, StoreError
from prose_lang.text import amount

if TYPE_CHECKING:
    from prose_lang.cli.record_settings import RecordSettings
    from prose_lang.cli.terminal import Terminal

_DAY = 86_400.0
#: The file in a store whose time tells when it was tidied.
_MARK = "tidied"
#: Bytes of a file that is made smaller on that occasion: meanwhile nobody else can write to it.
_SMALL = 64_000_000
#: Seconds that a run's end may be delayed by tidying. What is left goes after the next run.
_MOMENT = 1.0


@attrs.frozen
class Retention:
    """What is kept: runs that gave a sign of life in the latest `seconds`, and of them the latest `keep`. None is no
    limit."""

    seconds: float | None = None
    keep: int | None = None

    @classmethod
    def of(cls, settings: RecordSettings) -> Retention:
        """What settings say."""
        days = settings.keep_days
        return cls(None if days is None else days * _DAY, settings.keep)


@attrs.define
class Report:
    """What was taken away, or with `dry` would be; `busy` are runs that stayed because a process works on them."""

    runs: list[str] = attrs.Factory(list)
    busy: list[str] = attrs.Factory(list)
    answers: int = 0
    freed: int = 0
    dry: bool = False

    def tell(self, terminal: Terminal) -> int:
        """Say it; gives the exit status."""
        if self.dry:
            for run in self.runs:
                terminal.write(run)
        if not terminal.quiet:
            parts = [amount(len(self.runs), "run")]
            if self.answers:
                parts.append(amount(self.answers, "cached answer"))
            said = f"{' and '.join(parts)} {'would be taken' if self.dry else 'taken'} away"
            terminal.say(said + (f", {_bytes(self.freed)} freed" if self.freed else ""))
        for run in self.busy:
            terminal.say(f"the run {run} stays: a process works on it")
        return 0


def take_away(store: Store, runs: Iterable[str], until: float | None = None) -> Report:
    """Take runs away, one after the other, up to a moment of `time.monotonic`. Raises StoreError."""
    report = Report()
    for run in runs:
        if until is not None and time.monotonic() > until:
            break
        try:
            if store.remove([run]):
                report.runs.append(run)
        except StoreError as error:
            if error.code != "P503" or not store.held(run):
                raise
            report.busy.append(run)
    return report


def too_old(store: Store, retention: Retention, now: float) -> list[str]:
    """The runs that may go, the oldest first. Raises StoreError."""
    if retention == Retention():
        return []
    records = sorted(store.runs(), key=lambda record: (record.active, record.started), reverse=True)
    kept = len(records) if retention.keep is None else retention.keep
    since = float("-inf") if retention.seconds is None else now - retention.seconds
    found = [record.id for place, record in enumerate(records) if place >= kept or record.active < since]
    return found[::-1]


def tidy(store: Store, retention: Retention, *, dry: bool = False) -> Report:
    """Take away what is too old, and what nothing refers to. Raises StoreError."""
    now = time.time()
    runs = too_old(store, retention, now)
    if dry:
        busy = [run for run in runs if store.held(run)]
        return Report([run for run in runs if run not in set(busy)], busy, dry=True)
    report = take_away(store, runs)
    if retention.seconds is not None:
        report.answers = store.drop_cached(now - retention.seconds)
    report.freed = store.clean()
    return report


def tidy_daily(keeping: Keeping, terminal: Terminal) -> None:
    """What a recorded run does in the end: tidy the project's store where its settings ask for it, once a day.

    A fault is told on one line: the run is over and well.
    """
    if keeping.record is False or keeping.store is not None:
        return
    try:
        place = location(keeping, terminal)
        if place.ours and place.settings.limited and "://" not in place.store:
            _tidy_if_due(place)
    except (ProseError, OSError) as error:
        from prose_lang.diagnostics.visible import visible

        message = error.message if isinstance(error, ProseError) else str(error)
        terminal.say(f"{terminal.paint('1;33', 'warning')}: old runs were not taken away: {visible(message)}")


def _tidy_if_due(place: Location) -> None:
    mark, now = Path(place.store, _MARK), time.time()
    try:
        if abs(now - mark.stat().st_mtime) < _DAY:
            return
    except FileNotFoundError:
        if not os.path.isdir(place.store):  # nothing was recorded
            return
    mark.touch()  # first, so that runs which end at the same time do not all do it
    from prose_lang.journal import open_store
    from prose_lang.journal.sqlite_link import FILE

    store = open_store(place.store, make=False)
    try:
        retention = Retention.of(place.settings)
        found = too_old(store, retention, now)
        done = take_away(store, found, time.monotonic() + _MOMENT)
        if retention.seconds is not None:
            store.drop_cached(now - retention.seconds)
        if len(done.runs) + len(done.busy) < len(found):
            os.utime(mark, (0, 0))  # not all of it: it is due again
        elif done.runs and Path(place.store, FILE).stat().st_size < _SMALL:
            store.clean()
    finally:
        store.close()


def _bytes(count: int) -> str:
    """An amount of bytes for a person.

    >>> _bytes(512), _bytes(2_500_000)
    ('512 bytes', '2.5 MB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return amount(count, "byte")
