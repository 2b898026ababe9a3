"""What an SQLite store says to its database: the columns of records, and the statements of each change.

Not here: transactions (`sqlite_link.py`), and what else is read (`sqlite.py`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from prose_lang.journal.records import Begun, Change, Decided, Ended, Entry, Finished, SourceText, Warned
from prose_lang.journal.rows import (
    kept_text,
    row_of_decision,
    row_of_source,
    row_of_warning,
    sum_of_ending,
    sum_of_entry,
    sum_of_texts,
)

ENTRY = ", ".join(Entry._fields)
LIGHT = ", ".join({"request": "'null'", "result": "NULL"}.get(name, name) for name in Entry._fields)
# A row is the entry as it was given last, whole: so its sums are those of what was given.
_PUT = (
    f"INSERT INTO entries (run, {ENTRY}, texts, checksum) VALUES (?, {', '.join('?' * len(Entry._fields))}, ?, ?) "
    "ON CONFLICT (run, key) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in (*Entry._fields[1:], "texts", "checksum"))
    + " WHERE state NOT IN ('value', 'error')"
)
_MARKS = ", ".join("?" * 10)
SOURCE = "place, name, path, inside, digest, checksum"
DECISION = 'address, position, text, layer, outcome, "values", reason, judge, checksum'
WARNING = "code, message, file, line, count, checksum"
RUN = """SELECT r.id, r.pattern, r.source, r.names, r.options, r.program, r.version, r.status, r.outcome, r.started,
  r.ended, coalesce((SELECT max(active) FROM sessions WHERE run = r.number), r.started),
  coalesce((SELECT sum(active - started) FROM sessions WHERE run = r.number), 0),
  (SELECT count(*) FROM entries WHERE run = r.number AND kind = 'call'), r.checksum, r.ending FROM runs r"""


def put_sources(database: sqlite3.Connection, run: str, number: int, sources: Sequence[SourceText]) -> None:
    """Keep the sources of a run, each text once. Raises sqlite3.Error."""
    for place, source in enumerate(sources):
        digest = source.digest
        database.execute("INSERT OR IGNORE INTO sources VALUES (?, ?)", (digest, kept_text(source.text)))
        row = (number, *row_of_source(run, place, source, digest))
        database.execute(f"INSERT INTO run_sources (run, {SOURCE}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def apply(database: sqlite3.Connection, change: Change, number: int) -> None:
    """Make one change to the run of a number. Raises sqlite3.Error."""
    match change:
        case Begun(run=run, entry=entry, anew=anew):
            if anew:
                database.execute("DELETE FROM entries WHERE run = ? AND key = ?", (number, entry.key))
            texts = sum_of_texts(entry.request, entry.result)
            database.execute(_PUT, (number, *entry, texts, sum_of_entry(run, entry, texts)))
        case Ended(run=run, entry=entry):
            texts = sum_of_texts(entry.request, entry.result)
            database.execute(_PUT, (number, *entry, texts, sum_of_entry(run, entry, texts)))
        case Decided():
            row = (number, *row_of_decision(change))
            database.execute(f"INSERT OR REPLACE INTO decisions (run, {DECISION}) VALUES ({_MARKS})", row)
        case Warned():
            row = (number, *row_of_warning(change))
            database.execute(f"INSERT OR REPLACE INTO warnings (run, {WARNING}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        case Finished(run=run, status=status, outcome=outcome, ended=ended):
            database.execute(
                "UPDATE runs SET status = ?, outcome = ?, ended = ?, ending = ? WHERE number = ?",
                (status, outcome, ended, sum_of_ending(run, status, outcome, ended), number),
            )


def all_of(database: sqlite3.Connection, table: str, columns: str, number: int) -> list[tuple[Any, ...]] | None:
    """All rows of a run in the order in which they were made, or None where the table and its index do not agree.

    The rows are read from the table, between the first and the last that the index knows of; there must be as many as
    it knows, and none twice. Raises sqlite3.Error.
    """
    first, last, count = known(database, table, number)
    rows = database.execute(
        f"SELECT number, {columns} FROM {table} NOT INDEXED WHERE number BETWEEN ? AND ? AND run = ? ORDER BY number",
        (first, last, number),
    ).fetchall()
    if len(rows) != count or len({row[0] for row in rows}) != count or beside(database, table, number, first, last):
        return None
    return [row[1:] for row in rows]


def agree(database: sqlite3.Connection, number: int) -> bool:
    """Whether the entries of a run are known to their index, by the keys that they have. Raises sqlite3.Error."""
    first, last, _ = known(database, "entries", number)
    ((lost,),) = database.execute(
        "SELECT EXISTS (SELECT key FROM entries NOT INDEXED WHERE number BETWEEN ? AND ? AND run = ? "
        "EXCEPT SELECT key FROM entries INDEXED BY entries_by_key WHERE run = ?)", (first, last, number, number)
    )  # fmt: skip
    return not lost and not beside(database, "entries", number, first, last)


_END = 2**63 - 1


def known(database: sqlite3.Connection, table: str, number: int) -> tuple[Any, Any, int]:
    """The first and the last row of a run that the index knows of, and how many there are. If it knows none, every row
    of the table might be one that it has lost."""
    ((first, last, count),) = database.execute(
        f"SELECT min(number), max(number), count(*) FROM {table} INDEXED BY {table}_by_key WHERE run = ?", (number,)
    )
    return (first, last, count) if count else (-_END, _END, 0)


def beside(database: sqlite3.Connection, table: str, number: int, first: Any, last: Any) -> bool:
    """Whether a row of the run stands next to those that the index knows of."""
    before = f"SELECT run FROM {table} WHERE number < ? ORDER BY number DESC LIMIT 1"
    after = f"SELECT run FROM {table} WHERE number > ? ORDER BY number LIMIT 1"
    rows = database.execute(before, (first,)).fetchall() + database.execute(after, (last,)).fetchall()
    return (number,) in rows
