"""The tables of a PostgreSQL store, in the schema `prose` of a database, and the steps from one version to the next.

`prose.meta` tells the version. A newer one is refused (P501); an older one is brought up to date by the steps after it,
in one transaction, by one process at a time. Texts are compared by their code points, as SQLite does it. Keys may be
longer than an index takes, and are found by their digests.
"""

from __future__ import annotations

from typing import Any

_FIRST = """
CREATE TABLE prose.runs (
  number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id       text COLLATE "C" NOT NULL UNIQUE,
  pattern  text NOT NULL,
  source   text NOT NULL,
  names    text NOT NULL,
  options  text NOT NULL,
  program  text NOT NULL,
  version  text NOT NULL,
  status   text NOT NULL,
  outcome  text,
  started  double precision NOT NULL,
  ended    double precision,
  checksum bigint NOT NULL, -- of what is known from the beginning
  ending   bigint NOT NULL  -- of status, outcome and ended
);
CREATE INDEX runs_by_start ON prose.runs (started);

-- One row for each process that has worked on a run.
CREATE TABLE prose.sessions (
  number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run     bigint NOT NULL REFERENCES prose.runs ON DELETE CASCADE,
  started double precision NOT NULL,
  active  double precision NOT NULL
);
CREATE INDEX sessions_by_run ON prose.sessions (run);

-- Who holds a run: see `postgres_holds.py`.
CREATE TABLE prose.holds (
  run   text COLLATE "C" PRIMARY KEY,
  token text NOT NULL
);

CREATE TABLE prose.sources (
  digest text COLLATE "C" PRIMARY KEY,
  text   text NOT NULL
);

CREATE TABLE prose.run_sources (
  run      bigint NOT NULL REFERENCES prose.runs ON DELETE CASCADE,
  place    bigint NOT NULL,
  name     text NOT NULL,
  path     text,
  inside   text,
  digest   text NOT NULL,
  checksum bigint NOT NULL,
  PRIMARY KEY (run, place)
);

-- Numbers are in the order in which entries were begun, so that reading ahead reads what is wanted next.
CREATE TABLE prose.entries (
  number      bigint GENERATED ALWAYS AS IDENTITY,
  run         bigint NOT NULL REFERENCES prose.runs ON DELETE CASCADE,
  key         text NOT NULL,
  kind        text NOT NULL,
  service     text NOT NULL,
  fingerprint text NOT NULL,
  request     text NOT NULL,
  state       text NOT NULL,
  result      text,
  attempts    bigint NOT NULL,
  usage       text,
  reserved    text,
  started     double precision NOT NULL,
  seconds     double precision NOT NULL,
  position    text NOT NULL,
  within      text NOT NULL,
  texts       bigint NOT NULL, -- the sum of request and result
  checksum    bigint NOT NULL,
  digest      text COLLATE "C" NOT NULL, -- of the key
  PRIMARY KEY (run, number)
);
CREATE UNIQUE INDEX entries_by_key ON prose.entries (run, digest);

CREATE TABLE prose.decisions (
  run      bigint NOT NULL REFERENCES prose.runs ON DELETE CASCADE,
  address  text COLLATE "C" NOT NULL,
  position text NOT NULL,
  text     text NOT NULL,
  layer    text NOT NULL,
  outcome  text NOT NULL,
  "values" text NOT NULL,
  reason   text NOT NULL,
  judge    text,
  checksum bigint NOT NULL,
  digest   text COLLATE "C" NOT NULL, -- of the address
  PRIMARY KEY (run, digest)
);

CREATE TABLE prose.warnings (
  run      bigint NOT NULL REFERENCES prose.runs ON DELETE CASCADE,
  code     text COLLATE "C" NOT NULL,
  message  text COLLATE "C" NOT NULL,
  file     text COLLATE "C" NOT NULL,
  line     bigint NOT NULL,
  count    bigint NOT NULL,
  checksum bigint NOT NULL,
  digest   text COLLATE "C" NOT NULL, -- of code, message, file and line
  PRIMARY KEY (run, digest)
);

CREATE TABLE prose.attempts (
  run      text COLLATE "C" NOT NULL,
  key      text NOT NULL,
  number   bigint NOT NULL,
  state    text NOT NULL,
  result   text NOT NULL,
  usage    text,
  checksum bigint NOT NULL,
  digest   text COLLATE "C" NOT NULL, -- of the key
  PRIMARY KEY (run, digest, number)
);

CREATE TABLE prose.cache (
  key      text COLLATE "C" PRIMARY KEY,
  service  text NOT NULL,
  request  text NOT NULL,
  result   text NOT NULL,
  usage    text,
  made     double precision NOT NULL,
  checksum bigint NOT NULL
);

-- Large contents by their digests; `used` is when one was last given, so that none is taken away whose reference is
-- on the way.
CREATE TABLE prose.files (
  digest text COLLATE "C" PRIMARY KEY,
  data   bytea NOT NULL,
  used   timestamptz NOT NULL
);
"""

#: What brings a schema of each version to the next one; the first makes the tables.
STEPS: tuple[str, ...] = (_FIRST,)
#: The version of the tables.
VERSION = len(STEPS)
#: The lock under which tables are made, and contents taken away. The number is nothing but this program's.
LOCK = 0x70726F7365_000001


def version(link: Any) -> int:
    """The version of the tables of a connection's database, 0 where there are none. Raises psycopg.Error."""
    if link.execute("SELECT to_regclass('prose.meta')").fetchone()[0] is None:
        return 0
    row = link.execute("SELECT max(version) FROM prose.meta").fetchone()
    return int(row[0] or 0)


def bring_up_to_date(link: Any) -> None:
    """Go through the steps that are missing; another process may be doing the same. Raises psycopg.Error."""
    with link.transaction():
        link.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        if link.execute("SELECT to_regnamespace('prose')").fetchone()[0] is None:
            link.execute("CREATE SCHEMA prose")
        link.execute("CREATE TABLE IF NOT EXISTS prose.meta (version bigint NOT NULL)")
        for number, step in enumerate(STEPS[version(link) :], start=version(link) + 1):
            link.execute(step)
            link.execute("INSERT INTO prose.meta VALUES (%s)", (number,))
