"""What may happen to a store in a folder: each fault has its code, and nothing earlier is lost or believed wrongly."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from servers.stores import Place, ended, entry, record, source

from prose_lang.journal import DAMAGED, Attempt, Begun, Cached, Ended, Finished, Store, StoreError, open_store
from prose_lang.journal.port import LARGE
from prose_lang.journal.records import Decided, Warned
from prose_lang.journal.sqlite import SqliteStore

FILE = "runs.sqlite"


def fill(store: Store, run: str, calls: int = 25) -> None:
    """A run with all that one can have."""
    store.create(record(run), [source(run), source("shared")])
    for number in range(calls):
        k = entry(f"s{number}/r0")
        store.write([Begun(run, k), Ended(run, ended(k, f'"{"z" * (37 * number % 400)}"'))])
        store.write([Decided(run, f"d{number}", "[]", "text", "rules", "true", "{}", "because", None)])
    store.write([Warned(run, "P420", f"m{number}", "f", number, 1) for number in range(calls)])
    store.put_attempt(Attempt(run, "k", 1, "value", '"kept"', None))
    store.put_cached(Cached(run, "s", "1", "2", None, 5.0))
    store.write([Finished(run, "success", '{"value":1}', 5.0)])


#: All reads of a run. What an index has lost must not look as if it had never been.
READS: dict[str, Callable[[Store, str], Any]] = {
    "run": lambda store, run: store.run(run)[:11],
    "runs": lambda store, run: [one[:11] for one in store.runs() if one.id == run and one.status != DAMAGED],
    "sources": lambda store, run: store.sources(run),
    "entries": lambda store, run: store.entries(run),
    "calls": lambda store, run: store.entries(run, ["call"]),
    "sums": lambda store, run: list(store.sums(run)),
    "find": lambda store, run: [store.find(run, f"s{number}/r0")[0] for number in range(25)],
    "decisions": lambda store, run: store.decisions(run),
    "warnings": lambda store, run: store.warnings(run),
    "attempt": lambda store, run: store.attempt(run, "k", 1),
    "cached": lambda store, run: store.cached(run),
}


def truth(store: Store, runs: list[str]) -> dict[tuple[str, str], Any]:
    return {(name, run): read(store, run) for name, read in READS.items() for run in runs}


def attempted(call: Callable[[], Any]) -> Any:
    """What a call gives, or None where it is refused as it should be. Any other error goes on."""
    try:
        return call()
    except StoreError as error:
        if error.code != "P501":
            raise
        return None


def read_or_refused(folder: Path, expected: dict[tuple[str, str], Any]) -> tuple[int, int]:
    """Read everything: how much was given, truly, and how much was refused with P501. Nothing else may happen."""
    store = attempted(lambda: SqliteStore(folder, patience=0.1, make=False))
    if store is None:
        return 0, len(expected)
    given = 0
    with closing(store):
        for (name, run), true in expected.items():
            found = attempted(lambda name=name, run=run: READS[name](store, run))
            # A damaged run is not in the list but as one that is damaged, and a lost answer is asked for again.
            if found is None or (name == "runs" and not found):
                continue
            assert found == true, (name, run)
            given += 1
    return given, len(expected) - given


def refused(call: Callable[[], Any]) -> StoreError:
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value


@pytest.fixture
def filled(folder: Place) -> tuple[Path, dict[tuple[str, str], Any]]:
    """A closed store with two runs, and all that can be read from it."""
    store = folder.open()
    for run in ("one", "two"):
        fill(store, run)
    expected = truth(store, ["one", "two"])
    store.close()
    return Path(folder.where), expected


# --- damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(4))
def test_a_flipped_bit_is_told_and_never_believed(filled: Any, tmp_path: Path, part: int) -> None:
    folder, expected = filled
    data = (folder / FILE).read_bytes()
    chance = random.Random(part)
    copy = tmp_path / "copy"
    copy.mkdir()
    given = refused = 0
    for _ in range(100):
        changed = bytearray(data)
        bit = chance.randrange(len(data) * 8)
        changed[bit // 8] ^= 1 << bit % 8
        (copy / FILE).write_bytes(changed)
        result = read_or_refused(copy, expected)
        given, refused = given + result[0], refused + result[1]
        shutil.rmtree(copy)
        copy.mkdir()
    assert given > 1200  # one bit does not take everything along
    assert refused > 30


def test_a_flipped_bit_in_what_was_written_last_takes_no_more_than_that(folder: Place, tmp_path: Path) -> None:
    child = folder.child("""
store.create(RunRecord("one", "p", "1", "{}", "{}", "x", "1"), [])
for number in range(60):
    store.write([Begun("one", Entry(f"k{number}", "call"))])
say("done"); time.sleep(600)
""")
    assert child.stdout is not None
    assert child.stdout.readline() == "done\n"
    child.kill()
    child.communicate()
    log = Path(folder.where, f"{FILE}-wal").read_bytes()
    assert len(log) > 100_000  # so that what is flipped is what is read
    chance = random.Random(5)
    for number in range(60):
        copy = tmp_path / f"copy{number}"
        copy.mkdir()
        shutil.copy(Path(folder.where, FILE), copy)
        changed = bytearray(log)
        changed[chance.randrange(len(log))] ^= 1 << chance.randrange(8)
        (copy / f"{FILE}-wal").write_bytes(changed)
        store = attempted(lambda copy=copy: SqliteStore(copy))
        if store is not None:
            found = attempted(lambda store=store: store.entries("one")) or []
            assert [one.key for one in found] == [f"k{at}" for at in range(len(found))]  # an earlier moment, whole
            store.close()


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_told(filled: Any, share: float) -> None:
    folder, expected = filled
    file = folder / FILE
    os.truncate(file, int(file.stat().st_size * share))
    given, _ = read_or_refused(folder, expected)
    assert given < len(expected)


def test_a_file_that_is_truncated_under_the_process_is_told(filled: Any) -> None:
    folder, expected = filled
    with closing(SqliteStore(folder)) as store:
        os.truncate(folder / FILE, 8192)
        for (name, run), true in expected.items():
            with suppress(StoreError):
                assert READS[name](store, run) in (true, None, [])
        assert refused(lambda: store.write([Begun("one", entry("new"))])).code == "P501"


@pytest.mark.parametrize("content", [b"this is no database, but a letter to somebody\n" * 50, bytes(range(256)) * 64])
def test_a_file_that_is_no_database_is_told_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    error = refused(lambda: SqliteStore(tmp_path))
    assert error.code == "P501"
    assert error.message.endswith(f"cannot be opened: `{FILE}` is no database")
    assert error.hint is not None
    assert "move the folder away" in error.hint
    assert (tmp_path / FILE).read_bytes() == content


def test_what_cannot_be_a_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "taken" / FILE).mkdir(parents=True)
    for where in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / "taken", "a\0b"):
        assert refused(lambda where=where: SqliteStore(where)).code == "P501"
    assert refused(lambda: open_store("mysql://here/runs")).hint == "a store is a folder, or postgresql://…"
    with pytest.raises(ValueError, match="'some' is no durability; there are normal, full"):
        open_store(tmp_path, durability="some")


# --- taken away ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["deleted", "replaced", "folder"])
def test_a_store_that_is_taken_away_under_the_process_is_told(folder: Place, how: str) -> None:
    store = folder.open()
    fill(store, "one")
    expected = truth(store, ["one"])
    where = Path(folder.where)
    if how == "folder":
        shutil.rmtree(where)
    else:
        (where / FILE).unlink()
    if how == "replaced":
        for left in where.glob(f"{FILE}-*"):
            left.unlink()
        with closing(SqliteStore(where)) as other:
            other.create(record("other"), [])
    for write in (
        lambda: store.write([Begun("one", entry("new"))]),
        lambda: store.create(record("new"), []),
        lambda: store.reopen("one"),
        lambda: store.put_cached(Cached("k", "s", "1", "2", None, 5.0)),
    ):
        error = refused(write)
        assert error.code == "P501"
        assert error.message.endswith("were taken away or replaced")
    for (name, run), true in expected.items():  # what is open can still be read, truly or not at all
        with suppress(StoreError):
            assert READS[name](store, run) == true
    if how == "replaced":
        with closing(SqliteStore(where)) as other:
            assert [one.id for one in other.runs()] == ["other"]


# --- locked ----------------------------------------------------------------------------------------------------------


def test_a_store_that_another_process_locks_is_told(folder: Place) -> None:
    store = folder.open()
    fill(store, "one")
    expected = truth(store, ["one"])
    impatient = SqliteStore(folder.where, patience=0.05)
    other = sqlite3.connect(Path(folder.where, FILE), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    error = refused(lambda: impatient.write([Begun("one", entry("new"))]))
    assert error.code == "P503"
    assert error.message.endswith("are locked by another process")
    assert error.hint == "it was waited for 0.05 s"
    assert truth(impatient, ["one"]) == expected  # reading goes on
    other.execute("COMMIT")
    impatient.write([Begun("one", entry("new"))])
    impatient.close()
    store.close()
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("CREATE TABLE IF NOT EXISTS mine (x)")
    assert refused(lambda: SqliteStore(folder.where, patience=0.05)).code == "P503"
    other.close()
    assert folder.open().find("one", "new") == [entry("new")]


# --- folders that cannot be written to, and full disks ---------------------------------------------------------------


class Disk:
    """A small file system of its own."""

    def __init__(self, folder: Path, size: str) -> None:
        self.folder = folder
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], capture_output=True)
        if done.returncode != 0:
            pytest.skip(f"this test mounts a small tmpfs, which is not possible here: {done.stderr.decode().strip()}")

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", self.folder], check=True)

    def fill(self) -> Path:
        """Leave no room on it; gives the file that takes it."""
        file = self.folder / "other"
        with open(file, "ab", buffering=0) as out, suppress(OSError):
            while True:
                out.write(bytes(1024))
        return file


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    if sys.platform != "linux" or shutil.which("mount") is None:
        pytest.skip("this test mounts a small tmpfs, which Linux can")
    made = Disk(tmp_path / "disk", "8m")
    yield made
    subprocess.run(["umount", "-l", made.folder], check=True)


def test_a_full_disk_is_told_and_earlier_runs_stay(disk: Disk) -> None:
    folder = disk.folder / "records"
    store = SqliteStore(folder)
    fill(store, "one")
    expected = truth(store, ["one"])
    other = disk.fill()
    large = f'"{"x" * LARGE}"'
    for attempt in range(3):
        error = refused(lambda: store.write([Begun("one", entry(f"k{n}", request="1" * 4000)) for n in range(40)]))
        assert error.code == "P501"
        assert error.message.endswith("cannot be written: database or disk is full"), attempt
        error = refused(lambda: store.write([Ended("one", ended(entry("large"), large))]))
        assert error.code == "P501"
        assert error.message.endswith("cannot be written: no space left on device")
        assert refused(lambda: store.put_file(bytes(100_000))).code == "P501"
        assert truth(store, ["one"]) == expected
    assert not list(folder.glob("files/*/.*.tmp"))  # nothing half written is left
    other.unlink()
    store.write([Ended("one", ended(entry("large"), large))])  # it goes on when there is room
    assert store.resolved(store.find("one", "large")[0]).result == large
    fill(store, "two")
    store.close()
    with closing(SqliteStore(folder)) as again:
        found = truth(again, ["one", "two"])
        assert found["run", "two"] == record("two", status="success", outcome='{"value":1}', ended=5.0)[:11]
        assert found["decisions", "one"] == expected["decisions", "one"]
        assert again.find("one", "s3/r0") == [expected["entries", "one"][3]]
    with closing(sqlite3.connect(folder / FILE)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_store_is_opened_on_a_full_disk_or_refused(disk: Disk) -> None:
    folder = disk.folder / "records"
    with closing(SqliteStore(folder)) as store:
        fill(store, "one")
        expected = truth(store, ["one"])
    other = disk.fill()
    for make in (True, False):
        found = attempted(lambda make=make: SqliteStore(folder, make=make))
        if found is not None:
            assert truth(found, ["one"]) == expected
            found.close()
    assert refused(lambda: SqliteStore(disk.folder / "new")).code == "P501"
    other.unlink()
    with closing(SqliteStore(folder)) as store:
        assert truth(store, ["one"]) == expected


def test_a_store_that_is_read_only_is_told_or_read(disk: Disk) -> None:
    folder = disk.folder / "records"
    store = SqliteStore(folder)
    fill(store, "one")
    expected = truth(store, ["one"])
    store.close()
    disk.remount("ro")
    for make in (True, False):
        with closing(SqliteStore(folder, make=make)) as store:
            assert truth(store, ["one"]) == expected
            for write in (
                lambda store=store: store.write([Begun("one", entry("new"))]),
                lambda store=store: store.put_file(b"new"),
                lambda store=store: store.hold("one"),
                lambda store=store: store.remove(["one"]),
            ):
                assert refused(write).code == "P501"
            assert not store.held("one")
    assert refused(lambda: SqliteStore(disk.folder / "new")).code == "P501"
    disk.remount("rw")
    with closing(SqliteStore(folder)) as store:
        store.write([Begun("one", entry("new"))])


# --- durability ------------------------------------------------------------------------------------------------------

_WRITER = """
import os
while sys.stdin.readline():
    if os.fork() == 0:
        store = open_store(sys.argv[1])
        run = f"run{os.getpid()}"
        store.create(RunRecord(run, "p", "1", "{}", "{}", "x", "1"), [])
        say(run)
        for number in range(100000):
            entry = Entry(f"k{number}", "call", request='"' + "r" * (number % 7 * 500) + '"')
            store.write([Begun(run, entry), Ended(run, entry._replace(state="value", result=str(number)))])
            say(number)
    os.wait()
    say("dead")
"""


def test_what_was_written_survives_kill(place: Place) -> None:
    """A process that is killed at any moment loses nothing of what `write` returned for."""
    place.open().close()
    chance = random.Random(9)
    told: dict[str, int] = {}
    with place.child(_WRITER) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        for _ in range(40 if not place.postgres else 10):
            parent.stdin.write("go\n")
            parent.stdin.flush()
            run = parent.stdout.readline().strip()
            last, enough = -1, chance.randrange(60)
            while (line := parent.stdout.readline().strip()) != "dead":
                last = int(line)
                if last == enough:
                    for _ in range(chance.randrange(2000)):
                        pass  # not always at the same step of the next one
                    os.kill(int(run[3:]), signal.SIGKILL)
            told[run] = last
    store = place.open()
    for run, last in told.items():
        found = store.entries(run)
        assert len(found) in (last + 1, last + 2)  # one may have been written and not told
        assert [(one.key, one.result) for one in found] == [(f"k{n}", str(n)) for n in range(len(found))]
        assert not store.held(run)
    assert sum(told.values()) > len(told) * 5


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_full_durability_forces_each_transaction_to_the_disk(folder: Place, durability: str) -> None:
    """Counted from outside, by the calls to the system."""
    folder.open().create(record("one"), [])
    with closing(open_store(folder.where, durability=durability)) as store:
        assert isinstance(store, SqliteStore)
        mode = store._link.database.execute("PRAGMA synchronous").fetchone()[0]
    assert mode == {"normal": 1, "full": 2}[durability]
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed: nobody counts what is forced to the disk")
    code = f"""
import os, sys
from prose_lang.journal import *
store = open_store(sys.argv[1], durability="{durability}")
os.write(2, b"BEGIN MARK")
for number in range(20):
    store.write([Begun("one", Entry(f"k{{number}}", "call"))])
store.put_file(b"x" * 100)
os.write(2, b"END MARK")
os._exit(0)
"""
    log = folder.where + ".log"
    done = subprocess.run(
        ["strace", "-f", "-o", log, "-e", "trace=fsync,fdatasync,write", sys.executable, "-c", code, folder.where],
        capture_output=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    if done.returncode != 0 and b"ptrace" in done.stderr.lower():
        pytest.skip("strace is not allowed to look here")
    assert done.returncode == 0, done.stderr
    between = Path(log).read_text().partition("BEGIN MARK")[2].partition("END MARK")[0]
    forced = re.findall(r"\b(?:fsync|fdatasync)\(", between)
    assert len(forced) >= 22 if durability == "full" else len(forced) <= 2  # 20 transactions, a file and its folder
