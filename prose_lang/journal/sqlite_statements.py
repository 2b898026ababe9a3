"""What an SQLite store says to its database: the columns of records, and the statements of each change.

Not here: transactions, and reading (`sqlite.py`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

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
        database.execute("INSERT INTO run_sources VALUES (?, ?, ?, ?, ?, ?, ?)", row)


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
            database.execute(f"INSERT OR REPLACE INTO decisions VALUES ({', '.join('?' * 10)})", row)
        case Warned():
            database.execute("INSERT OR REPLACE INTO warnings VALUES (?, ?, ?, ?, ?, ?, ?)",
                             (number, *row_of_warning(change)))  # fmt: skip
        case Finished(run=run, status=status, outcome=outcome, ended=ended):
            database.execute(
                "UPDATE runs SET status = ?, outcome = ?, ended = ?, ending = ? WHERE number = ?",
                (status, outcome, ended, sum_of_ending(run, status, outcome, ended), number),
            )
