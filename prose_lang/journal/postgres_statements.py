"""What a PostgreSQL store says to its database: the columns of records, and the statements of each change.

Not here: transactions, and reading (`postgres.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from prose_lang.journal.records import (
    Begun,
    Change,
    Decided,
    Ended,
    Entry,
    Finished,
    SourceText,
    Warned,
    digest_of,
)
from prose_lang.journal.rows import (
    kept_text,
    row_of_decision,
    row_of_source,
    row_of_warning,
    sum_of_ending,
    sum_of_entry,
    sum_of_texts,
)

_TYPES = {"attempts": "bigint", "started": "double precision", "seconds": "double precision"}
_COLUMNS = {name: _TYPES.get(name, "text") for name in Entry._fields} | {"texts": "bigint", "checksum": "bigint"}
ENTRY = ", ".join(_COLUMNS)
LIGHT = ENTRY.replace("request,", "'null',").replace("result,", "NULL,")
DECISION = 'address, position, text, layer, outcome, "values", reason, judge, checksum'
WARNING = "code, message, file, line, count, checksum"
ATTEMPT = "run, key, number, state, result, usage, checksum"
CACHED = "key, service, request, result, usage, made, checksum"
RUN = """SELECT r.id, r.pattern, r.source, r.names, r.options, r.program, r.version, r.status, r.outcome, r.started,
  r.ended, coalesce((SELECT max(active) FROM prose.sessions WHERE run = r.number), r.started),
  coalesce((SELECT sum(active - started) FROM prose.sessions WHERE run = r.number), 0),
  (SELECT count(*) FROM prose.entries WHERE run = r.number AND kind = 'call'), r.checksum, r.ending FROM prose.runs r"""


def _insert(table: str, columns: str, conflict: str = "") -> str:
    values = ", ".join(["%s"] * (columns.count(",") + 1))
    return f"INSERT INTO prose.{table} ({columns}) VALUES ({values}) {conflict}"


def _over(keys: str, columns: str) -> str:
    """The clause that puts a new row in the place of one that is there."""
    return f"ON CONFLICT ({keys}) DO UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in columns.split(', '))}"


CREATE = _insert("runs", "id, pattern, source, names, options, program, version, status, started, checksum, ending")
REOPEN = (
    "UPDATE prose.runs SET source = %s, names = %s, options = %s, program = %s, version = %s, status = %s, "
    "outcome = NULL, ended = NULL, checksum = %s, ending = %s WHERE id = %s"
)
SESSION = (
    "INSERT INTO prose.sessions (run, started, active) SELECT number, %s, %s FROM prose.runs WHERE id = %s "
    "RETURNING number, run"
)
#: Whoever makes references waits for whoever takes away what nothing refers to.
REFER = "SELECT pg_advisory_xact_lock_shared(%s)"
ATTEMPTED = _insert("attempts", f"{ATTEMPT}, digest", "ON CONFLICT DO NOTHING")
CACHE = _insert("cache", CACHED, _over("key", CACHED))
FILE = "INSERT INTO prose.files VALUES (%b, %b, now()) ON CONFLICT (digest) DO UPDATE SET used = now()"
_SOURCE = _insert("sources", "digest, text", "ON CONFLICT DO NOTHING")
_RUN_SOURCE = "INSERT INTO prose.run_sources SELECT number, %s, %s, %s, %s, %s, %s FROM prose.runs WHERE id = %s"
# All entries of a transaction go over as one JSON text: that costs a quarter of a statement for each. The rows take
# their numbers in its order. A row is the entry as it was given last, whole: so its sums are those of what was given.
_PUT = (
    f"INSERT INTO prose.entries AS e (run, digest, {ENTRY}) SELECT run, digest, {ENTRY} "
    "FROM json_to_recordset(%s::json) "
    f"AS given (run bigint, digest text, {', '.join(f'{name} {kind}' for name, kind in _COLUMNS.items())}) "
    f"{_over('run, digest', ENTRY.partition(', ')[2])} WHERE e.state NOT IN ('value', 'error')"
)
_ROW = ("run", "digest", *_COLUMNS)
_TAKE = "DELETE FROM prose.entries WHERE run = %s AND digest = %s"
_DECIDE = _insert("decisions", f"run, digest, {DECISION}", _over("run, digest", DECISION))
_WARN = _insert("warnings", f"run, digest, {WARNING}", _over("run, digest", WARNING))
_FINISH = "UPDATE prose.runs SET status = %s, outcome = %s, ended = %s, ending = %s WHERE number = %s"
#: What nothing refers to; of contents only those that were not given for an hour, for a reference may be on the way.
CLEAN_SOURCES = (
    "DELETE FROM prose.sources WHERE digest NOT IN (SELECT digest FROM prose.run_sources) RETURNING octet_length(text)"
)
CLEAN_FILES = f"""DELETE FROM prose.files f WHERE used < now() - interval '1 hour' AND NOT EXISTS (
  SELECT 1 FROM ({' UNION ALL '.join(
      f"SELECT {column} AS text FROM prose.{table} WHERE starts_with({column}, '@')"
      for table, column in (("entries", "request"), ("entries", "result"), ("runs", "outcome"),
                            ("attempts", "result"), ("cache", "request"), ("cache", "result"))
  )}) wanted WHERE wanted.text = '@' || f.digest) RETURNING octet_length(data)"""  # fmt: skip

Statement = tuple[str, tuple[Any, ...]]


def name_of(key: str) -> str:
    """What a key is found by."""
    return digest_of(key.encode("utf-8", "surrogatepass"))


def source_statements(run: str, sources: Sequence[SourceText]) -> list[Statement]:
    """Keep the sources of a run, each text once; always in the same order, so that no two wait for each other."""
    digests = [source.digest for source in sources]
    texts = {digest: kept_text(source.text) for digest, source in zip(digests, sources, strict=True)}
    found: list[Statement] = [(_SOURCE, item) for item in sorted(texts.items())]
    for place, (digest, source) in enumerate(zip(digests, sources, strict=True)):
        found.append((_RUN_SOURCE, (*row_of_source(run, place, source, digest), run)))
    return found


def statements_of(changes: Sequence[Change], numbers: Mapping[str, int]) -> list[Statement]:
    """Make changes to the runs of these numbers, to the same end as one after the other."""
    taken: list[Statement] = []
    entries: dict[tuple[str, str], Entry] = {}
    others: list[Statement] = []
    for change in changes:
        number = numbers[change.run]
        match change:
            case Begun(run=run, entry=entry, anew=anew):
                if anew:
                    taken.append((_TAKE, (number, name_of(entry.key))))
                    entries.pop((run, entry.key), None)
                _put(entries, run, entry)
            case Ended(run=run, entry=entry):
                _put(entries, run, entry)
            case Decided():
                others.append((_DECIDE, (number, name_of(change.address), *row_of_decision(change))))
            case Warned(code=code, message=message, file=file, line=line):
                name = name_of(f"{code}\0{message}\0{file}\0{line}")
                others.append((_WARN, (number, name, *row_of_warning(change))))
            case Finished(run=run, status=status, outcome=outcome, ended=ended):
                ending = sum_of_ending(run, status, outcome, ended)
                others.append((_FINISH, (status, outcome, ended, ending, number)))
    if not entries:
        return others
    rows = []
    for (run, key), entry in entries.items():
        texts = sum_of_texts(entry.request, entry.result)
        row = (numbers[run], name_of(key), *entry, texts, sum_of_entry(run, entry, texts))
        rows.append(dict(zip(_ROW, row, strict=True)))
    return [*taken, (_PUT, (json.dumps(rows),)), *others]


def _put(entries: dict[tuple[str, str], Entry], run: str, entry: Entry) -> None:
    """What the rows come to when an entry is put after those that were: what has ended stays."""
    known = entries.get((run, entry.key))
    if known is None or not known.final:
        entries[run, entry.key] = entry
