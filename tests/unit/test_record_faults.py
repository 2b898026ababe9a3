"""What a run does whose store fails it: it has its own result, or stops, as the engine was told to; why is told with a
code, and whatever else the store holds can still be gone on with (L35, P501, P503).

What a store itself says of damage, locks and full disks is tested beside the stores.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import prose_lang as prose
from prose_lang.engine.outcome import Outcome
from prose_lang.journal.sqlite_link import FILE

TEXT = """\
let found = []
repeat 6 as n:
  let a = call step
    n: n
  record a in found
return found
"""
VALUE = [10, 20, 30, 40, 50, 60]


class Steps:
    """The service; `at` tells what happens in which step."""

    def __init__(self, at: dict[int, Callable[[], Any]] | None = None) -> None:
        self.at = at or {}
        self.made: list[int] = []

    async def step(self, n: int) -> int:
        self.made.append(n)
        if n in self.at:
            self.at[n]()
        await asyncio.sleep(0)
        return n * 10


def engine_on(store: Path, steps: Steps, stop: bool = False) -> prose.Engine:
    return prose.Engine(services=[steps.step], store=store, on_store_error="stop" if stop else "continue")


def run(engine: prose.Engine) -> Outcome:
    return asyncio.run(engine.outcome_async(engine.loads(TEXT), {}))


def gone_on(store: Path, identity: str, **how: bool) -> tuple[Outcome, list[int]]:
    """How a run goes on in a new process, as far as an engine can tell, and which steps it makes."""
    steps = Steps()
    engine = engine_on(store, steps)
    outcome = asyncio.run(engine.resuming.outcome_async(identity, **how))
    with contextlib.suppress(prose.ProseError):  # one that could not be opened
        engine.resuming.store.close()
    return outcome, steps.made


def finished_run(store: Path) -> str:
    engine = engine_on(store, Steps())
    outcome = run(engine)
    assert (outcome.status, outcome.unrecorded) == ("ok", None)
    engine.resuming.store.close()
    return outcome.run_id


def broken_off_run(store: Path) -> str:
    """A run whose process died in its fourth step: of that there is nothing but that it was begun."""
    copy = store.with_name("as-it-was")

    def as_it_is() -> None:
        shutil.copytree(store, copy)

    outcome = run(engine_on(store, Steps({4: as_it_is})))
    shutil.rmtree(store)
    copy.rename(store)
    return outcome.run_id


@pytest.fixture(autouse=True)
def nothing_said_by_asyncio(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No task ends in an error that nobody looks at."""
    caplog.set_level(logging.WARNING)
    yield
    assert not caplog.records


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "records"


def check(outcome: Outcome, steps: Steps, stop: bool, code: str, says: str, at: int) -> None:
    """What came of a run whose store failed in step `at`."""
    if stop:
        assert outcome.error is not None
        assert (outcome.status, outcome.error.code) == ("failed", code)
        assert says in outcome.error.message
        assert outcome.error.span is not None
        assert steps.made == list(range(1, at + 1))
    else:
        assert (outcome.status, outcome.value, outcome.error) == ("ok", VALUE, None)
        assert steps.made == [1, 2, 3, 4, 5, 6]
    assert outcome.unrecorded is not None
    assert outcome.unrecorded.code == code
    assert says in outcome.unrecorded.message


#: Windows takes no file away that somebody has open.
takes_away = pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be taken away here")
both = pytest.mark.parametrize("stop", [False, True], ids=["continue", "stop"])


# --- under a run ------------------------------------------------------------------------------------------------------


@takes_away
@both
@pytest.mark.parametrize("what", ["folder", "file", "replaced"])
def test_a_store_that_is_deleted_under_a_run(store: Path, what: str, stop: bool) -> None:
    def away() -> None:
        if what == "folder":
            shutil.rmtree(store)
            return
        for path in store.glob(f"{FILE}*"):
            path.unlink()
        if what == "replaced":
            with closing(sqlite3.connect(store / FILE)) as other:
                other.execute("CREATE TABLE mine (x)")

    steps = Steps({3: away})
    engine = engine_on(store, steps, stop)
    outcome = run(engine)
    check(outcome, steps, stop, "P501", "were taken away or replaced", 3)
    if what == "replaced":
        with closing(sqlite3.connect(store / FILE)) as other:
            assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]
            other.execute("DROP TABLE mine")
    # The next run of the same engine is kept where the store is now.
    steps.at.clear()
    later = run(engine)
    assert (later.status, later.unrecorded) == ("ok", None)
    assert engine.replay(later.run_id).value == VALUE
    assert gone_on(store, later.run_id, replay=True)[0].value == VALUE


@both
def test_a_store_that_another_process_locks_for_long(store: Path, stop: bool) -> None:
    earlier = finished_run(store)
    others: list[sqlite3.Connection] = []

    def lock() -> None:
        others.append(sqlite3.connect(store / FILE, isolation_level=None, check_same_thread=False))
        others[0].execute("BEGIN IMMEDIATE")

    steps = Steps({3: lock})
    engine = engine_on(store, steps, stop)
    impatient(engine)
    ticks = 0

    async def main() -> Outcome:
        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.005)
                ticks += 1

        ticking = asyncio.create_task(tick())
        try:
            return await engine.outcome_async(engine.loads(TEXT), {})
        finally:
            ticking.cancel()

    outcome = asyncio.run(main())
    check(outcome, steps, stop, "P503", "are locked by another process", 3)
    assert ticks >= 10, "the event loop stood still while the lock was waited for"
    others[0].close()
    found, made = gone_on(store, outcome.run_id)
    assert (found.status, found.value, made) == ("ok", VALUE, [3, 4, 5, 6])
    assert gone_on(store, earlier, replay=True)[0].value == VALUE


def impatient(engine: prose.Engine) -> None:
    """Have an engine's store wait for a fifth of a second, and not for ten."""
    store: Any = engine.resuming.store
    store._link.database.execute("PRAGMA busy_timeout = 200")


def test_a_store_that_another_process_locks_for_a_moment(store: Path) -> None:
    others: list[sqlite3.Connection] = []

    def lock() -> None:
        others.append(sqlite3.connect(store / FILE, isolation_level=None, check_same_thread=False))
        others[0].execute("BEGIN IMMEDIATE")
        threading.Timer(0.1, others[0].close).start()

    outcome = run(engine_on(store, Steps({3: lock})))
    assert (outcome.status, outcome.value, outcome.unrecorded) == ("ok", VALUE, None)
    assert gone_on(store, outcome.run_id, replay=True)[0].value == VALUE


@takes_away
@both
def test_a_store_that_fails_under_many_branches_at_once(store: Path, stop: bool) -> None:
    """It is told once, and no branch is left behind."""
    calls = 0

    async def step(n: int) -> int:
        nonlocal calls
        calls += 1
        if calls == 20:
            shutil.rmtree(store)
        await asyncio.sleep(0.001)
        return n

    engine = prose.Engine(services=[step], store=store, on_store_error="stop" if stop else "continue",
                          limits=prose.Limits(concurrency=20))  # fmt: skip
    text = "let found = parallel repeat 100 as n:\n  return call step\n    n: n\nreturn found\n"

    async def main() -> Outcome:
        outcome = await engine.outcome_async(engine.loads(text), {})
        assert len(asyncio.all_tasks()) == 1
        return outcome

    outcome = asyncio.run(main())
    assert outcome.unrecorded is not None
    assert outcome.unrecorded.code == "P501"
    if stop:
        assert outcome.error is not None
        assert (outcome.status, outcome.error.code) == ("failed", "P501")
        assert calls < 100
    else:
        assert (outcome.status, outcome.value, calls) == ("ok", list(range(1, 101)), 100)


@takes_away
@both
def test_a_store_that_fails_does_not_fail_other_stores(tmp_path: Path, stop: bool) -> None:
    """Nor does a program see it: `catch`, `retry` and `on-fail` are about services."""
    away = tmp_path / "away"
    steps = Steps({2: lambda: shutil.rmtree(away)})
    text = (
        "let found = []\nrepeat 4 as n:\n  try:\n    let a = call step\n      n: n\n      retry: 3\n"
        "    record a in found\n  catch as e:\n    record e.code in found\nreturn found\n"
    )
    engine, other = engine_on(away, steps, stop), engine_on(tmp_path / "other", Steps(), stop)

    async def main() -> list[Outcome]:
        return await asyncio.gather(
            engine.outcome_async(engine.loads(text), {}), other.outcome_async(other.loads(text), {})
        )

    mine, others = asyncio.run(main())
    assert (others.value, others.unrecorded) == ([10, 20, 30, 40], None)
    if stop:
        assert mine.error is not None
        assert (mine.error.code, steps.made) == ("P501", [1, 2])
    else:
        assert (mine.value, steps.made) == ([10, 20, 30, 40], [1, 2, 3, 4])


# --- before a run -----------------------------------------------------------------------------------------------------


def newer(store: Path) -> str:
    finished_run(store)
    with closing(sqlite3.connect(store / FILE)) as database:
        database.execute("PRAGMA user_version = 99")
    return "were made by a newer version of this program"


def no_database(store: Path) -> str:
    store.mkdir()
    (store / FILE).write_bytes(b"no database at all, but long enough to look at" * 100)
    return "is no database"


def no_folder(store: Path) -> str:
    store.write_text("a file")
    return "is a file, and run records are kept in a folder"


def a_folder(store: Path) -> str:
    (store / FILE).mkdir(parents=True)
    return "cannot be opened"


@both
@pytest.mark.parametrize("fault", [newer, no_database, no_folder, a_folder])
def test_a_store_that_cannot_be_opened(store: Path, fault: Callable[[Path], str], stop: bool) -> None:
    says = fault(store)
    before = store.read_bytes() if store.is_file() else None
    steps = Steps()
    outcome = run(engine_on(store, steps, stop))
    if stop:
        assert outcome.error is not None
        assert (outcome.status, outcome.error.code, steps.made) == ("invalid", "P501", [])
        assert says in outcome.error.message
    else:
        assert (outcome.status, outcome.value) == ("ok", VALUE)
        assert outcome.unrecorded is not None
        assert outcome.unrecorded.code == "P501"
        assert says in outcome.unrecorded.message
    for how in ({}, {"replay": True}):
        found, made = gone_on(store, "some-run", **how)
        assert found.error is not None
        assert (found.status, found.error.code, made) == ("invalid", "P501", [])
        assert says in found.error.message
    assert before is None or store.read_bytes() == before


# --- between two sessions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", [False, True], ids=["file", "log"])
@takes_away
def test_a_flipped_bit_is_told_or_does_not_matter(store: Path, tmp_path: Path, log: bool) -> None:
    """Whichever bit it is: what a run goes on from is what was recorded, or it does not go on. It never comes to
    something else, nor to an error of Python.

    What is still in SQLite's log counts up to the first damaged page of it, and what came later is made again.
    """
    finished = finished_run(store)
    broken = broken_off_run(store)
    if not log:
        with closing(sqlite3.connect(store / FILE)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    name = f"{FILE}-wal" if log else FILE
    whole = (store / name).read_bytes()
    rng = random.Random(4)
    told = 0
    for number in range(60):
        place = tmp_path / f"flipped-{number}"
        shutil.copytree(store, place)
        damaged = bytearray(whole)
        at = rng.randrange(len(whole))
        damaged[at] ^= 1 << rng.randrange(8)
        (place / name).write_bytes(damaged)
        for identity, how in ((finished, {"replay": True}), (broken, {"replay": False})):
            outcome, made = gone_on(place, identity, **how)
            if outcome.error is None:
                assert (outcome.status, outcome.value) == ("ok", VALUE), at
                assert made == [] if how["replay"] else (log or set(made) <= {4, 5, 6}), at
            else:
                told += 1
                assert outcome.error.code in ("P501", "P502", "P409"), (at, outcome.error)
                assert outcome.error.message.isprintable()
        shutil.rmtree(place)
    assert told >= 5


@takes_away
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 0.999])
def test_a_truncated_store(store: Path, share: float) -> None:
    finished = finished_run(store)
    broken = broken_off_run(store)
    with closing(sqlite3.connect(store / FILE)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = (store / FILE).read_bytes()
    (store / FILE).write_bytes(data[: int(len(data) * share)])
    for identity, how in ((finished, {"replay": True}), (broken, {"replay": False})):
        outcome, made = gone_on(store, identity, **how)
        if outcome.error is None:  # what was cut off may be of no use to it
            assert share > 0.5
            assert (outcome.status, outcome.value) == ("ok", VALUE)
            assert set(made) <= {4, 5, 6}
        else:
            assert (outcome.error.code, made) == ("P501", [])


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_content_that_is_missing_or_damaged(store: Path, damage: str) -> None:
    """What is too large for the file of the store stands beside it: who needs it is told, nobody else."""
    made: list[int] = []

    async def large(n: int) -> str:
        made.append(n)
        return str(n) * 100_000

    engine = prose.Engine(services=[large], store=store)
    pattern = engine.loads("let a = call large\n  n: 1\nlet b = call large\n  n: 2\nreturn [a.length, b.length]\n")
    outcome = asyncio.run(engine.outcome_async(pattern, {}))
    other = finished_run(store)
    assert asyncio.run(engine.resuming.outcome_async(outcome.run_id, replay=True)).value == [100_000, 100_000]
    for path in [path for path in (store / "files").rglob("*") if path.is_file()]:
        if path.read_bytes()[1:2] == b"2":
            path.unlink() if damage == "missing" else path.write_bytes(path.read_bytes()[:-1] + b"!")
    made.clear()
    found = asyncio.run(engine.resuming.outcome_async(outcome.run_id, replay=True))
    assert found.error is not None
    assert (found.error.code, made) == ("P501", [])
    assert gone_on(store, other, replay=True)[0].value == VALUE


# --- disks ------------------------------------------------------------------------------------------------------------


class Disk:
    """A file system of four megabytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", folder], capture_output=True)
        if done.returncode:
            pytest.skip("nothing can be mounted here")

    def remount(self, how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", self.folder], check=True)

    def fill(self) -> None:
        with open(self.folder / "rubbish", "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(512))

    def free(self) -> None:
        (self.folder / "rubbish").unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    if sys.platform != "linux" or shutil.which("mount") is None:
        pytest.skip("a small tmpfs is for Linux")
    made = Disk(tmp_path / "disk")
    yield made
    subprocess.run(["umount", "-l", made.folder], check=True)


@both
def test_a_disk_that_is_full_under_a_run(disk: Disk, stop: bool) -> None:
    store = disk.folder / "records"
    earlier = finished_run(store)
    large = "x" * 60_000
    steps = Steps({3: disk.fill})

    async def step(n: int) -> str:
        await steps.step(n)
        return large + str(n)

    text = TEXT.replace("record a in found", "record a.length in found")
    engine = prose.Engine(services=[step], store=store, on_store_error="stop" if stop else "continue")
    outcome = asyncio.run(engine.outcome_async(engine.loads(text), {}))
    assert outcome.unrecorded is not None
    assert outcome.unrecorded.code == "P501"
    assert "full" in outcome.unrecorded.message
    if stop:
        assert outcome.error is not None
        assert (outcome.status, outcome.error.code) == ("failed", "P501")
        assert steps.made[-1] < 6
    else:
        assert (outcome.status, outcome.value, steps.made) == ("ok", [60_001] * 6, [1, 2, 3, 4, 5, 6])
    # A run that begins on the full disk is told the same, and who reads is not troubled.
    late = run(engine_on(store, Steps(), stop))
    assert (late.error or late.unrecorded).code == "P501"  # type: ignore[union-attr]
    assert late.status == ("invalid" if stop else "ok")
    disk.free()
    steps.at.clear()
    kept = steps.made.copy()
    steps.made.clear()
    found = asyncio.run(engine.resuming.outcome_async(outcome.run_id))
    assert (found.status, found.value) == ("ok", [60_001] * 6)
    assert steps.made[0] in (3, 4, 5), "what was recorded before is made again"
    assert kept[: steps.made[0]] == list(range(1, steps.made[0] + 1))
    assert gone_on(store, earlier, replay=True)[0].value == VALUE
    with closing(sqlite3.connect(store / FILE)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@both
def test_a_store_that_is_read_only(disk: Disk, stop: bool) -> None:
    store = disk.folder / "records"
    earlier = finished_run(store)
    disk.remount("ro")
    steps = Steps()
    outcome = run(engine_on(store, steps, stop))
    error = outcome.error if stop else outcome.unrecorded
    assert error is not None
    assert error.code == "P501"
    assert (outcome.status, steps.made) == (("invalid", []) if stop else ("ok", [1, 2, 3, 4, 5, 6]))
    disk.remount("rw")
    assert gone_on(store, earlier, replay=True)[0].value == VALUE
