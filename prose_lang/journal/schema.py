"""The tables of an SQLite store, and the steps from one version of them to the next.

`PRAGMA user_version` tells the version of a file. A newer one is refused (P501); an older one is brought up to date by
the steps after it, in one transaction.
"""

from __future__ import annotations

_FIRST = """
CREATE TABLE runs (
  number   INTEGER PRIMARY KEY,
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
  checksum INTEGER NOT NULL
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
  run    INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  place  INTEGER NOT NULL,
  name   TEXT NOT NULL,
  path   TEXT,
  inside TEXT,
  digest TEXT NOT NULL,
  PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

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
  checksum    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX entries_by_key ON entries (run, key);

CREATE TABLE decisions (
  run      INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  address  TEXT NOT NULL,
  position TEXT NOT NULL,
  text     TEXT NOT NULL,
  layer    TEXT NOT NULL,
  outcome  TEXT NOT NULL,
  "values" TEXT NOT NULL,
  reason   TEXT NOT NULL,
  judge    TEXT,
  PRIMARY KEY (run, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE warnings (
  run     INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  code    TEXT NOT NULL,
  message TEXT NOT NULL,
  file    TEXT NOT NULL,
  line    INTEGER NOT NULL,
  count   INTEGER NOT NULL,
  PRIMARY KEY (run, code, message, file, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
  run    TEXT NOT NULL,
  key    TEXT NOT NULL,
  number INTEGER NOT NULL,
  state  TEXT NOT NULL,
  result TEXT NOT NULL,
  usage  TEXT,
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
