"""Places for run records in tests: the same tests run on a folder and on a database of PostgreSQL."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prose_lang.journal import Entry, RunRecord, SourceText, Store, StoreError, open_store

#: What a process of its own starts with: `store` is open, `say` prints a line at once.
_HEAD = """
import sys, time
from prose_lang.journal import *
def say(*what):  # at once, wherever Python is told to buffer nothing: who says it may be killed any moment
    sys.stdout.write(" ".join(map(str, what)) + "\\n")
    sys.stdout.flush()
store = open_store(sys.argv[1])
"""

#: A table in a statement for both.
_TABLE = re.compile(r"<(\w+)>")


class Place:
    """Where a store is. `where` is what `open_store` takes."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._opened: list[Store] = []

    @property
    def postgres(self) -> bool:
        return self.where.startswith("postgresql://")

    def open(self, **options: Any) -> Store:
        """The store, closed when the test is over."""
        store = open_store(self.where, **options)
        self._opened.append(store)
        return store

    def sql(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        """Do a statement behind the store's back. Parameters are `?`, and tables stand as `<entries>`."""
        if self.postgres:
            import psycopg

            text = _TABLE.sub(r"prose.\1", statement).replace("?", "%s")
            with psycopg.connect(self.where, autocommit=True) as link:
                cursor = link.execute(text, given)
                return cursor.fetchall() if cursor.description else []
        link = sqlite3.connect(Path(self.where, "runs.sqlite"), isolation_level=None)
        try:
            return link.execute(_TABLE.sub(r"\1", statement), given).fetchall()
        finally:
            link.close()

    def child(self, code: str, *given: str, stdout: Any = subprocess.PIPE) -> subprocess.Popen[str]:
        """A process of its own with the store open; see `_HEAD`. What is `given` is in `sys.argv[2:]`."""
        return subprocess.Popen(
            [sys.executable, "-c", _HEAD + code, self.where, *given], text=True,
            stdin=subprocess.PIPE, stdout=stdout, cwd=Path(__file__).parents[2],
        )  # fmt: skip

    def age_files(self) -> None:
        """Make all contents look as if they were given two hours ago."""
        if self.postgres:
            self.sql("UPDATE <files> SET used = used - interval '2 hours'")
            return
        import os

        for file in Path(self.where, "files").glob("*/*"):
            then = file.stat().st_mtime - 7200
            os.utime(file, (then, then))

    def close(self) -> None:
        for store in self._opened:
            store.close()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Each kind of store in turn."""
    where = str(tmp_path / "records") if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    found = Place(where)
    yield found
    found.close()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Place]:
    """A store in a folder."""
    found = Place(str(tmp_path / "records"))
    yield found
    found.close()


@pytest.fixture
def database(postgres_url: str) -> Iterator[Place]:
    """A store in a database."""
    found = Place(postgres_url)
    yield found
    found.close()


@pytest.fixture
def store(place: Place) -> Store:
    """Each kind of store in turn, with the run `one`."""
    made = place.open()
    made.create(record("one"), [source("one")])
    return made


def code_of(call: Any, *given: Any) -> str:
    """The code of the StoreError that a call raises."""
    with pytest.raises(StoreError) as caught:
        call(*given)
    return caught.value.code


def keys(entries: list[Entry]) -> list[str]:
    """The keys of entries, in their order."""
    return [one.key for one in entries]


def record(run: str, **changed: Any) -> RunRecord:
    """A run as it begins."""
    base = RunRecord(
        run, "refine", '{"reference":"refine"}', '{"task":"a poem"}', "{}", "ab" * 20, "0.1.0", started=1e9
    )
    return base._replace(**changed)


def source(run: str) -> SourceText:
    """The source of a run's pattern."""
    return SourceText(f"{run}.prose.md", f"/somewhere/{run}.prose.md", f"{run}.prose.md", f"# {run}\n")


def entry(key: str, **changed: Any) -> Entry:
    """A call that is under way."""
    base = Entry(key, "call", "model:x", "cd" * 20, f'{{"task":"{key}"}}', started=1e9 + 0.25, position="[0,1]",
                 within='[["refine",null]]')  # fmt: skip
    return base._replace(**changed)


def ended(begun: Entry, result: str = '"done"', **changed: Any) -> Entry:
    """What came of it."""
    base = begun._replace(state="value", result=result, attempts=1, usage='{"calls":1}', seconds=1.5)
    return base._replace(**changed)
