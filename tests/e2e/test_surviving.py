"""Runs survive (L35): sixty of them, each killed with SIGKILL several times at random moments, come to what they would have
come to, and nothing that had finished is done again.

    pytest tests/e2e/test_surviving.py                      the same moments as far as the machine's pace allows
    PROSE_KILL_SEED=7 pytest tests/e2e/test_surviving.py    other ones; `random` for new ones each time

What has happened is told by a file that services write to (`surviving_services.py`), what is known by the store, which is
looked at between two sessions, in a copy: so it is the next session that finds what a killed process left behind.
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

if sys.platform == "win32" or not hasattr(os, "fork"):
    pytest.skip("a process that is killed by a signal, and one that is forked, are those of POSIX", allow_module_level=True)

from surviving_programs import TASKS, Task
from surviving_services import Line, read_lines
from surviving_zygote import engine_of, told, undisturbed

from prose_lang.journal import Entry, open_store
from prose_lang.journal.sqlite import FILE
from prose_lang.runtime.effects import Effect

HERE = Path(__file__).parent
SEED = os.environ.get("PROSE_KILL_SEED", "5")
#: Sessions at the same time. Most of the time of one is waiting.
AT_ONCE = 5
#: Seconds after which an answer has to be on record. It takes a turn of the event loop and one transaction, some
#: milliseconds; where the file's log is moved into the file the disk is waited for, on a busy machine for tenths of a
#: second. The test of order below knows no time.
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
    moments: Counter[str] = attrs.field(factory=Counter)

    def job(self) -> dict[str, Any]:
        """The next session."""
        runs = [[life.task.kind.name, life.task.seed, life.run] for life in self.lives]
        return {"folder": str(self.folder), "runs": runs, "kill": self.moment() if self.kills > 0 else None}

    def moment(self) -> list[Any]:
        """When the next session is killed."""
        rng = self.rng
        left = max(1, sum(life.wanted["lines"] // 2 - len(life.final) for life in self.lives if life.outcome is None))
        if any(life.task.kind.name == "tail" for life in self.lives):
            return ["after", 0.6 + rng.random() * 0.3]
        kind = rng.choice(["lines", "lines", "steps", "steps", "after"])
        if kind == "lines":
            return [kind, rng.randint(1, 1 + int(left * rng.choice([0.3, 1.0, 1.6])))]
        if kind == "steps":
            return [kind, rng.randint(1, 300 + 60 * int(left * rng.choice([0.1, 1.0])))]
        return [kind, 0.004 + rng.random() * (0.04 + left * rng.choice([0.0005, 0.003]))]


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
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE.parent.parent), os.environ.get("PYTHONPATH")]))}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "surviving_zygote.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        self.told: SimpleQueue[bytes] = SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.told.put(line)
        self.told.put(b"")

    def begin(self, group: Group) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(group.job()).encode() + b"\n")
        self.process.stdin.flush()

    def ended(self) -> dict[str, Any]:
        line = self.told.get(timeout=100)
        assert line, "the zygote has ended"
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        self.process.communicate(timeout=20)


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
    if not (scratch / FILE).exists():
        return {}
    database = sqlite3.connect(scratch / FILE)
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.close()
    store = open_store(scratch)
    found: dict[str, dict[str, Entry]] = {}
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
        mine = [line for line in lines if line.call[0] == life.run]
        for line in new:
            if line.what == "start" and line.call[0] == life.run:
                assert line.call[1] not in life.final, f"{line} was on record as finished"
        now = {key: entry for key, entry in entries.get(life.run or "", {}).items() if entry.final}
        for key, entry in life.final.items():
            assert now.get(key) == entry, "what is on record as finished has changed"
        life.final = now
        answered = {line.key: line for line in mine if line.what == "end"}
        for line in answered.values():
            if line.time < ended - SOON:
                group.seen += 1
                assert line.call[1] in now, f"{line} was not on record {ended - line.time:.3f} s later"
        if life.task.kind.one:
            check_order(mine, now)
    assert {line.call[0] for line in lines} <= {life.run for life in group.lives}, "a call of a run without a record"


def check_order(lines: list[Line], now: dict[str, Entry]) -> None:
    """Where each call begins after all before it have ended, they are on record before it begins, however fast it is."""
    starts = [line for line in lines if line.what == "start"]
    for line in lines:
        if line.what != "start" and any(later.time > line.time and later.key != line.key for later in starts):
            assert line.call[1] in now, f"{line} was not on record when the next call began"


def check_end(life: Life, lines: list[Line], sessions: int) -> None:
    """What a run came to, and what it has paid for it."""
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
    starts = Counter(line.call[1] for line in lines if line.what == "start")
    for key, count in starts.items():
        needed = wanted["attempts"].get(key, 1)
        assert count <= needed + life.kills, f"{key} was begun {count} times, {life.kills} times was it killed"


# --- the tests --------------------------------------------------------------------------------------------------------


def test_sixty_runs_survive_being_killed(tmp_path: Path, sessions: Sessions) -> None:
    seed = str(random.randrange(10**6)) if SEED == "random" else SEED
    print(f"PROSE_KILL_SEED={seed}")
    began = time.monotonic()
    waiting = groups(tmp_path, seed)
    every = list(waiting)
    by_folder = {str(group.folder): group for group in every}
    killed: Counter[str] = Counter()
    under_way: dict[str, str] = {}
    looks = 0
    while waiting or under_way:
        while waiting and len(under_way) < AT_ONCE:
            group = waiting.pop(0)
            job = group.job()
            assert sessions.process.stdin is not None
            sessions.process.stdin.write(json.dumps(job).encode() + b"\n")
            sessions.process.stdin.flush()
            under_way[str(group.folder)] = job["kill"][0] if job["kill"] else "never"
        notice = sessions.ended()
        ended = time.monotonic()
        group, way = by_folder[notice["folder"]], under_way.pop(notice["folder"])
        errors = group.folder / "errors"
        assert not errors.read_text(), errors.read_text()
        assert (notice["signal"], notice["code"]) in ((9, None), (None, 0)), notice
        looks += 1
        check_session(group, ended, looked_at(group, tmp_path / f"look-{looks}"))
        if notice["signal"]:
            killed[way] += 1
            for life in group.lives:
                life.kills += 1
            group.kills -= 1
        else:
            group.kills = 0
            for tag, outcome in json.loads((group.folder / "outcomes").read_text()).items():
                (life,) = [life for life in group.lives if life.task.tag == tag]
                life.outcome = outcome
        if any(life.outcome is None for life in group.lives):
            waiting.append(group)
    for group in every:
        lines = read_lines(group.folder)
        for life in group.lives:
            check_end(life, [line for line in lines if line.call[0] == life.run], 0)
    kills = sum(life.kills for group in every for life in group.lives)
    seen = sum(group.seen for group in every)
    print(f"{sum(killed.values())} processes with {kills} runs killed ({dict(killed)}); {seen} answers looked for by "
          f"time; {time.monotonic() - began:.1f} s")  # fmt: skip
    assert all(killed[way] >= 15 for way in ("lines", "steps", "after")), killed
    assert kills >= 180
    assert seen >= 30
