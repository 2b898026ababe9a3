"""Runs survive (L35): sixty of them, each killed with SIGKILL several times at random moments, come to what they would
have come to, and nothing that had finished is done again. Then all are replayed, without a single call.

    pytest tests/e2e/test_surviving.py                      the same moments as far as the machine's pace allows
    PROSE_KILL_SEED=7 pytest tests/e2e/test_surviving.py    other ones; `random` for new ones each time

What has happened is told by a file that services write to (`surviving_services.py`), what is known by the store. That
is looked at between two sessions, in a copy: so it is the next session that finds what a killed process left behind.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import attrs
import pytest
from shuffled import run_shuffled
from surviving_programs import TASKS, Task
from surviving_services import Line, Lines, read_lines
from surviving_zygote import engine_of, told, undisturbed

from prose_lang.journal import Entry, open_store
from prose_lang.journal.sqlite_link import FILE

if sys.platform == "win32" or not hasattr(os, "fork"):
    pytest.skip("there is no SIGKILL here, and no fork", allow_module_level=True)

HERE = Path(__file__).parent
SEED = os.environ.get("PROSE_KILL_SEED", "5")
#: Sessions at the same time. Most of the time of one is waiting.
AT_ONCE = 5
#: Seconds after which an answer has to be on record. It takes a turn of the event loop and one transaction, some
#: milliseconds; where the file's log is moved into the file the disk is waited for, on a busy machine for tenths of a
#: second. `check_order` below knows no time.
SOON = 0.5


@attrs.define
class Life:
    """What is known of one run by those who watch it. `final` holds the entries that were on record at last."""

    task: Task
    wanted: dict[str, Any]
    run: str | None = None
    final: dict[str, Entry] = attrs.field(factory=dict)
    outcome: dict[str, Any] | None = None
    kills: int = 0


@attrs.define
class Group:
    """Runs that share a store, a process and its ends. `kills` are those that are still to come."""

    folder: Path
    lives: list[Life]
    kills: int
    rng: random.Random
    read: int = 0  # lines that were looked at
    seen: int = 0  # answers that were long enough ago to be looked for on record
    way: str = "never"  # how the session under way is to be killed

    def job(self) -> dict[str, Any]:
        """The next session."""
        runs = [[life.task.kind.name, life.task.seed, life.run] for life in self.lives]
        kill = self.moment() if self.kills > 0 else None
        self.way = kill[0] if kill else "never"
        return {"folder": str(self.folder), "runs": runs, "kill": kill}

    def moment(self) -> list[Any]:
        """When the next session is killed: early for the first times, so that there is something left for others."""
        rng = self.rng
        left = max(1, sum(life.wanted["lines"] // 2 - len(life.final) for life in self.lives if life.outcome is None))
        if any(life.task.kind.name == "tail" for life in self.lives):
            return ["after", SOON + 0.4 + rng.random() * 0.4]
        part = rng.choice([0.1, 0.3] if self.lives[0].kills < 2 else [0.1, 0.3, 1.0, 2.1])
        kind = rng.choice(["lines", "steps", "after"])
        if kind == "lines":
            return [kind, rng.randint(1, 1 + int(left * part))]
        if kind == "steps":
            return [kind, rng.randint(1, 300 + int(150 * left * part))]
        return [kind, 0.003 + rng.random() * (0.05 + left * part * 0.005)]


def groups(folder: Path, seed: str) -> list[Group]:
    """Four groups of six runs, and each other run for itself."""
    rng = random.Random(seed)
    lives = [Life(task, undisturbed(task, folder / "undisturbed")) for task in TASKS]
    rng.shuffle(lives)
    parts = [lives[start : start + 6] for start in range(0, 24, 6)] + [[life] for life in lives[24:]]
    made = []
    for number, part in enumerate(parts):
        place = folder / f"group-{number}"
        place.mkdir()
        made.append(Group(place, part, rng.randint(3, 6), random.Random(f"{seed}/{number}")))
    return made


class Sessions:
    """The zygote, and what it tells."""

    def __init__(self) -> None:
        path = os.pathsep.join(filter(None, [str(HERE.parent.parent), os.environ.get("PYTHONPATH")]))
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "surviving_zygote.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        self.told: SimpleQueue[bytes] = SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.told.put(line)
        self.told.put(b"")

    def begin(self, job: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(job).encode() + b"\n")
        self.process.stdin.flush()

    def ended(self) -> dict[str, Any]:
        """The next session that has ended, by its folder."""
        line = self.told.get(timeout=100)
        assert line, "the zygote has ended"
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()  # then it kills what is left, and ends
        assert self.process.wait(20) == 0


@pytest.fixture
def sessions() -> Iterator[Sessions]:
    made = Sessions()
    yield made
    made.close()


# --- what has to hold -------------------------------------------------------------------------------------------------


def looked_at(group: Group, scratch: Path) -> dict[str, dict[str, Entry]]:
    """The entries of all runs of a group, by run and key, as the next session will find them."""
    scratch.mkdir()
    for suffix in ("", "-wal"):
        path = group.folder / "store" / f"{FILE}{suffix}"
        if path.exists():
            shutil.copy(path, scratch)
    found: dict[str, dict[str, Entry]] = {}
    if not (scratch / FILE).exists():
        return found
    database = sqlite3.connect(scratch / FILE)
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.close()
    store = open_store(scratch)
    for record in store.runs():
        found[record.id] = {entry.key: entry for entry in store.entries(record.id)}
        source, names = json.loads(record.source), json.loads(record.names)["values"]
        tags = {names.get("task_brief"), source["name"], *Path(source["path"] or ".").parts}
        (life,) = [life for life in group.lives if life.task.tag in tags]
        assert life.run in (None, record.id), "a run was begun a second time"
        life.run = record.id
    store.close()
    shutil.rmtree(scratch)
    return found


def check_session(group: Group, ended: float, entries: dict[str, dict[str, Entry]]) -> None:
    """What a session has done, and what it has left on record."""
    lines = read_lines(group.folder)
    new, group.read = lines[group.read :], len(lines)
    for life in group.lives:
        now = {key: entry for key, entry in entries.get(life.run or "", {}).items() if entry.final}
        for line in [line for line in new if line.run == life.run]:
            if line.what == "start":
                assert line.entry not in life.final, f"{line} was on record as finished"
            if line.what == "end" and line.time < ended - SOON:
                group.seen += 1
                assert line.entry in now, f"{line} was not on record {ended - line.time:.3f} s later"
        for key, entry in life.final.items():
            assert now.get(key) == entry, "what is on record as finished has changed"
        life.final = now
        if life.task.kind.one:
            check_order([line for line in lines if line.run == life.run], now)
    assert {line.run for line in lines} <= {life.run for life in group.lives}, "a call of a run without a record"


def check_order(lines: list[Line], now: dict[str, Entry]) -> None:
    """Where each call begins after all before it have ended, those are on record by then, however fast it goes."""
    last = {line.key: number for number, line in enumerate(lines) if line.what == "start"}
    latest = max(last.values(), default=0)
    for number, line in enumerate(lines):
        if line.what != "start" and number < latest and last[line.key] != latest:
            assert line.entry in now, f"{line} was not on record when the next call began"


def check_end(life: Life, lines: list[Line]) -> int:
    """What a run came to, and what it has paid for it; gives how many calls were made again after a kill, under the key
    that they had before."""
    wanted, outcome, kind = life.wanted, life.outcome, life.task.kind
    assert outcome is not None
    assert outcome["unrecorded"] is None
    assert [outcome["status"], outcome["error"]] == [wanted["status"], wanted["error"]]
    if kind.fits is None:
        assert outcome["value"] == wanted["value"]
    else:
        assert kind.fits(outcome["value"]), outcome["value"]
    if kind.steady:
        for part in ("calls", "decisions", "warnings"):
            assert outcome[part] == wanted[part], part
    asked: dict[str, str] = {}
    for line in lines:
        assert asked.setdefault(line.key, line.asked) == line.asked, "one key for two different requests"
    starts = Counter(line.entry for line in lines if line.what == "start")
    for key, count in starts.items():
        most = wanted["attempts"].get(key, 1) + life.kills  # attempts that failed are not made again either
        assert count <= most, f"{key} was begun {count} times, {life.kills} times was it killed"
    return sum(count > wanted["attempts"].get(key, 1) for key, count in starts.items())


def check_done_once(folder: Path, lines: list[Line]) -> int:
    """A service that tells by the key that it has done its work does it once, however often it is asked."""
    remembered = Lines(folder)
    keys = {line.key for line in lines if line.service == "tally"}
    assert all(remembered.times(key) == 1 for key in keys)
    return len(keys)


def check_replay(life: Life, folder: Path, seed: int) -> None:
    """The run comes out of its record alone, in whatever order things happen."""
    lines = Lines()
    engine, known = engine_of(lines, folder / "store")
    names = {name: known[name] for name in life.task.kind.functions}
    assert life.run is not None
    assert life.outcome is not None
    outcome = run_shuffled(engine.resuming.outcome_async(life.run, names, replay=True), seed)
    found = json.loads(json.dumps(told(outcome)))
    for part in ("status", "value", "error", "decisions", "warnings"):
        assert found[part] == life.outcome[part], (life.task.tag, part)
    if life.task.kind.steady:
        assert found["calls"] == life.outcome["calls"], life.task.tag
    else:  # of a race only those who won are there
        assert [call for call in life.outcome["calls"] if call in found["calls"]] == found["calls"], life.task.tag
    again = run_shuffled(engine.resuming.outcome_async(life.run, names), seed)
    recorded = json.loads(json.dumps(told(again)))  # the outcome and the trace as the record tells them
    for part in ("status", "value", "error", *(["calls", "decisions", "warnings"] if life.task.kind.steady else [])):
        assert recorded[part] == life.outcome[part], (life.task.tag, part)
    assert lines.count == 0, "a service was called"


# --- the test ---------------------------------------------------------------------------------------------------------


def test_sixty_runs_survive_being_killed(tmp_path: Path, sessions: Sessions) -> None:
    seed = str(random.randrange(10**6)) if SEED == "random" else SEED
    print(f"PROSE_KILL_SEED={seed}")
    began = time.monotonic()
    every = groups(tmp_path, seed)
    by_folder = {str(group.folder): group for group in every}
    waiting, under_way, looks = list(every), 0, 0
    killed: Counter[str] = Counter()
    while waiting or under_way:
        while waiting and under_way < AT_ONCE:
            sessions.begin(waiting.pop(0).job())
            under_way += 1
        notice = sessions.ended()
        ended = time.monotonic()
        under_way, looks = under_way - 1, looks + 1
        group = by_folder[notice["folder"]]
        errors = group.folder / "errors"
        assert not errors.exists() or not errors.read_text(), errors.read_text()
        assert (notice["signal"], notice["code"]) in ((9, None), (None, 0)), notice
        check_session(group, ended, looked_at(group, tmp_path / f"look-{looks}"))
        if notice["signal"]:
            killed[group.way] += 1
            group.kills -= 1
            for life in group.lives:
                life.kills += 1
            waiting.append(group)
            continue
        found = json.loads((group.folder / "outcomes").read_text())
        for life in group.lives:
            life.outcome = found.pop(life.task.tag)
        assert not found
    again = done = 0
    for number, group in enumerate(every):
        lines = read_lines(group.folder)
        for life in group.lives:
            again += check_end(life, [line for line in lines if line.run == life.run])
            done += check_done_once(group.folder, [line for line in lines if line.run == life.run])
            check_replay(life, group.folder, number)
    kills = [life.kills for group in every for life in group.lives]
    seen = sum(group.seen for group in every)
    print(f"{sum(killed.values())} processes killed {dict(killed)}, each run {min(kills)} to {max(kills)} times")
    print(f"{sum(kills)} in all; {again} calls made again; {seen} answers looked for by time")
    print(f"{time.monotonic() - began:.1f} s")
    assert len(kills) == 60
    assert sum(kills) >= 180
    assert sum(count >= 2 for count in kills) >= 50
    assert min(killed[way] for way in ("lines", "steps", "after")) >= 15, killed
    assert again >= 60
    assert done >= 100
    assert seen >= 30
