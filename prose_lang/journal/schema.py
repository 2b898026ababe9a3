"""The tables of an SQLite store, and the steps from one version of them to the next.

`PRAGMA user_version` tells the version of a file. A newer one is refused (P501); an older one is brought up to date by
the steps after it, in one transaction.

Tables with several rows of one run have an index `…_by_key`, so that each row stands in two places: what damage hides
in one of them is missed in the other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

_FIRST = """
-- Numbers are never used again: a process that knows the number of a run that was removed must not meet another one.
CREATE TABLE runs (
  number   INTEGER PRIMARY KEY AUTOINCREMENT,
  id       TEXT NOT NULL UNIQUE,
  pattern  TEXT NOT NULL,
  source   TEXT NOT NULL,
  names    TEXT NOT NULL,
  options  TEXT NOT NULL,
  program  TEXT NOT NULL,
  version  TEXT NOT NULL,
  status   TEXT NOT NULL,
  outcome  TEXT,
  started  REAL NOT NULL,
  ended    REAL,
  checksum INTEGER NOT NULL, -- of what is known from the beginning
  ending   INTEGER NOT NULL  -- of status, outcome and ended
) STRICT;
CREATE INDEX runs_by_start ON runs (started);

-- One row for each process that has worked on a run.
CREATE TABLE sessions (
  run     INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  started REAL NOT NULL,
  active  REAL NOT NULL
) STRICT;
CREATE INDEX sessions_by_run ON sessions (run);

CREATE TABLE sources (
  digest TEXT PRIMARY KEY,
  text   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run_sources (
  number   INTEGER PRIMARY KEY,
  run      INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  place    INTEGER NOT NULL,
  name     TEXT NOT NULL,
  path     TEXT,
  inside   TEXT,
  digest   TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX run_sources_by_key ON run_sources (run, place);

-- Rows are in the order in which entries were begun, so that reading ahead reads what is wanted next.
CREATE TABLE entries (
  number      INTEGER PRIMARY KEY,
  run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  key         TEXT NOT NULL,
  kind        TEXT NOT NULL,
  service     TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  request     TEXT NOT NULL,
  state       TEXT NOT NULL,
  result      TEXT,
  attempts    INTEGER NOT NULL,
  usage       TEXT,
  reserved    TEXT,
  started     REAL NOT NULL,
  seconds     REAL NOT NULL,
  position    TEXT NOT NULL,
  within      TEXT NOT NULL,
  texts       INTEGER NOT NULL, -- the sum of request and result
  checksum    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX entries_by_key ON entries (run, key);

CREATE TABLE decisions (
  number   INTEGER PRIMARY KEY,
  run      INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  address  TEXT NOT NULL,
  position TEXT NOT NULL,
  text     TEXT NOT NULL,
  layer    TEXT NOT NULL,
  outcome  TEXT NOT NULL,
  "values" TEXT NOT NULL,
  reason   TEXT NOT NULL,
  judge    TEXT,
  checksum INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX decisions_by_key ON decisions (run, address);

CREATE TABLE warnings (
  number   INTEGER PRIMARY KEY,
  run      INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  code     TEXT NOT NULL,
  message  TEXT NOT NULL,
  file     TEXT NOT NULL,
  line     INTEGER NOT NULL,
  count    INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX warnings_by_key ON warnings (run, code, message, file, line);

CREATE TABLE attempts (
  run      TEXT NOT NULL,
  key      TEXT NOT NULL,
  number   INTEGER NOT NULL,
  state    TEXT NOT NULL,
  result   TEXT NOT NULL,
  usage    TEXT,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (run, key, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE cache (
  key      TEXT PRIMARY KEY,
  service  TEXT NOT NULL,
  request  TEXT NOT NULL,
  result   TEXT NOT NULL,
  usage    TEXT,
  made     REAL NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

#: What brings a file of each version to the next one; the first makes the tables of an empty file.
STEPS: tuple[str, ...] = (_FIRST,)
#: The version of the tables.
VERSION = len(STEPS)


def bring_up_to_date(database: sqlite3.Connection) -> None:
    """Go through the steps that are missing; another process may be doing the same."""
    database.execute("BEGIN EXCLUSIVE")
    try:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        for number, step in enumerate(STEPS[version:], start=version + 1):
            for statement in _statements(step):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {number}")
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _statements(text: str) -> Iterator[str]:
    statement = ""
    for line in text.splitlines():
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
