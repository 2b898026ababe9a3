"""Damaged rows and contents of any store are told (P501), and hide no others; so are stores that cannot be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from servers.stores import Place, code_of, ended, entry, record, source

from prose_lang.journal import (
    DAMAGED,
    Attempt,
    Begun,
    Cached,
    Ended,
    Finished,
    Store,
    StoreError,
    digest_of,
)
from prose_lang.journal.port import LARGE
from prose_lang.journal.records import Decided, Warned

# --- damage ----------------------------------------------------------------------------------------------------------

_READ: dict[str, Any] = {
    "runs": lambda store, run: store.run(run),
    "run_sources": lambda store, run: store.sources(run),
    "sources": lambda store, run: store.sources(run),
    "entries": lambda store, run: (store.find(run, "k"), store.entries(run)),
    "decisions": lambda store, run: store.decisions(run),
    "warnings": lambda store, run: store.warnings(run),
    "attempts": lambda store, run: store.attempt(run, "k", 1),
}
#: What a row is found by. If that is damaged there is no such row.
_FOUND_BY = {"number", "run", "id", "place", "key", "address"}


def _other(value: Any) -> Any:
    """Something near a value, as damage would leave it."""
    match value:
        case None:
            return "1"
        case str():
            return value[:-1] + chr(ord(value[-1]) ^ 1) if value else "1"
        case _:
            return value + 1


@pytest.mark.parametrize("table", _READ)
def test_a_damaged_row_is_told_and_hides_no_other(place: Place, store: Store, table: str) -> None:
    store.create(record("two"), [source("two")])
    for run in ("one", "two"):
        store.write([
            Ended(run, ended(entry("k", reserved="{}"))), Finished(run, "success", "{}", 7.0),
            Warned(run, "P420", "m", "f", 1, 1), Decided(run, "s", "[]", "t", "rules", "true", "{}", "r", "{}"),
        ])  # fmt: skip
        store.put_attempt(Attempt(run, "k", 1, "value", "1", "{}"))
    store.close()

    def read(run: str) -> Any:
        store = place.open()
        try:
            return _READ[table](store, run)
        finally:
            store.close()

    columns = [name for name in _columns(place, table) if name not in _FOUND_BY]
    columns = [name for name in columns if not (place.postgres and name == "digest" and table != "run_sources")]
    if table == "sources":
        columns = ["text"]
        row = f"digest = '{source('one').digest}'"
    elif table in ("runs", "attempts"):
        row = f"{'id' if table == 'runs' else 'run'} = 'one'"
    else:
        row = "run = (SELECT number FROM <runs> WHERE id = 'one')"
    true = [read(run) for run in ("one", "two")]
    for column in columns:
        name = f'"{column}"'
        ((value,),) = place.sql(f"SELECT {name} FROM <{table}> WHERE {row}")
        place.sql(f"UPDATE <{table}> SET {name} = ? WHERE {row}", _other(value))
        with pytest.raises(StoreError, match="damaged") as caught:
            read("one")
        assert caught.value.code == "P501", column
        assert read("two") == true[1]
        if table == "runs":
            listed = {one.id: one.status for one in place.open().runs()}
            assert listed == {"one": DAMAGED, "two": "success"}, column
        place.sql(f"UPDATE <{table}> SET {name} = ? WHERE {row}", value)
    assert [read(run) for run in ("one", "two")] == true
    assert len(columns) >= {"sources": 1, "runs": 11, "entries": 15}.get(table, 3)


def _columns(place: Place, table: str) -> list[str]:
    if place.postgres:
        rows = place.sql("SELECT column_name FROM information_schema.columns WHERE table_schema = 'prose' "
                         "AND table_name = ? ORDER BY ordinal_position", table)  # fmt: skip
        return [row[0] for row in rows]
    return [row[1] for row in place.sql(f"PRAGMA table_info({table})")]


def test_sums_tell_of_damage_too(place: Place, store: Store) -> None:
    store.write([Ended("one", ended(entry("k")))])
    place.sql("UPDATE <entries> SET usage = '{}'")
    assert code_of(lambda run: list(store.sums(run)), "one") == "P501"


def test_an_entry_of_another_run_is_not_taken_for_ones_own(place: Place, store: Store) -> None:
    store.create(record("two"), [])
    store.write([Ended("one", ended(entry("k"))), Begun("two", entry("other"))])
    place.sql("UPDATE <entries> SET run = (SELECT number FROM <runs> WHERE id = 'two') WHERE key = 'k'")
    assert code_of(place.open().entries, "two") == "P501"
    assert code_of(place.open().find, "two", "k") == "P501"


def test_a_damaged_answer_is_asked_for_again(place: Place, store: Store) -> None:
    good = Cached("good", "s", "1", "2", "{}", 5.0)
    for column, value in Cached("bad", "t", "3", "4", None, 6.0)._asdict().items():
        store.put_cached(good)
        assert store.cached("good") == good
        if column != "key":
            place.sql(f"UPDATE <cache> SET {column} = ?", value)
            assert store.cached("good") is None
    store.put_cached(good)
    assert store.cached("good") == good


def test_an_answer_whose_content_is_missing_is_asked_for_again(place: Place, store: Store) -> None:
    large = '"' + "x" * LARGE + '"'
    store.put_cached(Cached("large", "s", "1", large, "{}", 5.0))
    assert store.cached("large") == Cached("large", "s", "1", large, "{}", 5.0)
    digest = digest_of(large.encode())
    if place.postgres:
        place.sql("DELETE FROM <files>")
    else:
        Path(place.where, "files", digest[:2], digest[2:]).unlink()
    assert store.cached("large") is None


def test_a_missing_or_damaged_content_is_told(place: Place, store: Store) -> None:
    large = '"' + "x" * LARGE + '"'
    store.write([Ended("one", ended(entry("k"), large)), Ended("one", ended(entry("l")))])
    digest = digest_of(large.encode())
    if place.postgres:
        place.sql("UPDATE <files> SET data = set_byte(data, 100, 7)")
    else:
        file = Path(place.where, "files", digest[:2], digest[2:])
        file.write_bytes(large.replace("x", "y", 1).encode())
    k, other = place.open().entries("one")
    assert code_of(store.resolved, k) == "P501"
    assert store.resolved(other) == other
    if place.postgres:
        place.sql("DELETE FROM <files>")
    else:
        file.unlink()
    assert code_of(store.resolved, k) == "P501"
    store.put_file(large.encode())
    assert store.resolved(k).result == large


# --- opening ---------------------------------------------------------------------------------------------------------


def test_a_store_that_must_be_there_is_not_made(place: Place) -> None:
    with pytest.raises(StoreError, match="there are no run records in") as caught:
        place.open(make=False)
    assert caught.value.code == "P501"
    place.open().create(record("one"), [])
    assert [one.id for one in place.open(make=False).runs()] == ["one"]


def test_records_of_a_newer_version_are_refused(place: Place, store: Store) -> None:
    if place.postgres:
        place.sql("INSERT INTO <meta> VALUES (99)")
    else:
        place.sql("PRAGMA user_version = 99")
    for make in (True, False):
        with pytest.raises(StoreError, match="were made by a newer version of this program") as caught:
            place.open(make=make)
        assert caught.value.code == "P501"
        assert caught.value.hint == "their format is 99, and this program reads up to 1"


def test_a_closed_store_says_so(place: Place, store: Store) -> None:
    store.close()
    store.close()
    for call in (lambda: store.runs(), lambda: store.write([Begun("one", entry("k"))])):
        assert code_of(call) == "P501"
    assert place.open().entries("one") == []


def test_processes_make_a_store_at_the_same_time(place: Place) -> None:
    code = "store.create(RunRecord(sys.stdin.readline().strip(), 'p', '1', '{}', '{}', 'x', '1'), [])"
    children = [place.child(code) for _ in range(4)]
    for number, child in enumerate(children):
        child.communicate(f"{number}\n")
    assert [child.returncode for child in children] == [0] * 4
    assert sorted(one.id for one in place.open().runs()) == ["0", "1", "2", "3"]
