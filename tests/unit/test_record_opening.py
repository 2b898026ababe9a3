"""Opening a store that is not there yet, several at the same time: all of them find it (L35)."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path

import prose_lang as prose
from prose_lang.journal import Store, open_store
from prose_lang.journal.sqlite_link import FILE


def test_many_open_a_new_store_at_once(tmp_path: Path) -> None:
    failures: list[BaseException] = []
    for number in range(20):
        together = threading.Barrier(6)
        made: list[Store] = []

        def opening(folder: Path, together: threading.Barrier, made: list[Store]) -> None:
            together.wait()
            try:
                made.append(open_store(folder))
            except BaseException as error:
                failures.append(error)

        folder = tmp_path / f"a{number}" / "store"
        threads = [threading.Thread(target=opening, args=(folder, together, made)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        for store in made:
            store.close()


def test_one_that_makes_the_file_is_waited_for(tmp_path: Path) -> None:
    """SQLite itself does not wait where a file is about to have a log for the first time."""
    (tmp_path / "store").mkdir()
    other = sqlite3.connect(tmp_path / "store" / FILE, check_same_thread=False)
    other.execute("CREATE TABLE elsewhere (x)")
    other.execute("INSERT INTO elsewhere VALUES (1)")  # a transaction that is not over
    over = threading.Timer(0.1, other.rollback)
    over.start()
    open_store(tmp_path / "store").close()
    over.join()
    other.close()


def test_runs_that_begin_at_once_share_one_store(tmp_path: Path) -> None:
    async def echo(x: int) -> int:
        return x

    engine = prose.Engine(services=[echo], store=tmp_path / "new" / "store")
    pattern = engine.loads("let a = call echo\n  x: 1\nreturn a")

    async def main() -> list[prose.Outcome]:
        return await asyncio.gather(*(engine.outcome_async(pattern, {}) for _ in range(12)))

    outcomes = asyncio.run(main())
    assert [outcome.unrecorded for outcome in outcomes] == [None] * 12
    assert {record.id for record in engine.resuming.store.runs()} == {outcome.run_id for outcome in outcomes}
    assert {record.status for record in engine.resuming.store.runs()} == {"ok"}
