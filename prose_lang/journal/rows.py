"""Rows of any store: what stands in them, the sums that tell whether a store gives back what it was given, and faults.

A sum covers all that its row holds, and the run that it belongs to. That of an entry comes in two parts, so that what
limits need can be read without its texts. It is a CRC: it finds damage, not forgery.

Not here: how a store keeps rows (`schema.py`, `postgres_schema.py`).
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from prose_lang.journal.port import LARGE, StoreError
from prose_lang.journal.records import (
    DAMAGED,
    UNFINISHED,
    Attempt,
    Begun,
    Cached,
    Change,
    Decided,
    Ended,
    Entry,
    Finished,
    RunRecord,
    SourceText,
    Warned,
)

#: What a text begins with that stands as JSON, because it is not Unicode or holds a NUL.
_ESCAPE = "\x1b"
#: What reading a damaged row raises before its sum can tell.
_DAMAGE = (TypeError, ValueError, AttributeError, struct.error)
_numbers = struct.Struct("<ddqq").pack


def kept_text(text: str) -> str:
    """A text as every store takes it: names of files need not be Unicode, and PostgreSQL takes no NUL.

    >>> kept_text("a → b"), kept_text("\\udcff")
    ('a → b', '\\x1b"\\\\udcff"')
    """
    if text.isascii():
        if "\0" not in text and not text.startswith(_ESCAPE):
            return text
    else:
        try:
            text.encode()
        except UnicodeEncodeError:
            return _ESCAPE + json.dumps(text)
        if "\0" not in text:
            return text
    return _ESCAPE + json.dumps(text)


def given_text(text: str) -> str:
    """What `kept_text` was given.

    >>> given_text(kept_text("a\\0b")) == "a\\0b"
    True
    """
    return json.loads(text[1:]) if text.startswith(_ESCAPE) else text


def sum_of(*parts: object) -> int:
    """The sum of a row. Numbers count as what a store makes of them: 1 as 1.0 where it keeps a real number."""
    return zlib.crc32("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"))


# --- runs ------------------------------------------------------------------------------------------------------------


def sum_of_run(run: RunRecord) -> int:
    """The sum of what is known of a run from its beginning."""
    return sum_of(*run[:7], run.started + 0.0)


def sum_of_ending(run: str, status: str, outcome: str | None, ended: float | None) -> int:
    """The sum of what has become of a run."""
    return sum_of(run, status, outcome, None if ended is None else ended + 0.0)


def run_of(row: Sequence[Any]) -> RunRecord:
    """A record from its row: its fields, and the two sums. Raises StoreError P501."""
    *fields, check, ending = row
    record = RunRecord(*fields)
    try:
        record = record._replace(pattern=given_text(record.pattern))
        if (sum_of_run(record), sum_of_ending(record.id, record.status, record.outcome, record.ended)) == (
            check,
            ending,
        ):
            return record
    except _DAMAGE:
        pass
    raise StoreError("P501", f"the record of the run {record.id} is damaged", hint="`prose runs rm` takes it away")


def listed(row: Sequence[Any]) -> RunRecord:
    """A record of a list: one that is damaged says so by its status, and keeps nobody from seeing the others."""
    try:
        return run_of(row)
    except StoreError:
        return RunRecord(str(row[0]), "", "null", "{}", "{}", "", "", DAMAGED)


def source_of(row: Sequence[Any], run: str) -> SourceText:
    """A source from its row: place, name, path, inside, text, digest, and the sum."""
    place, name, path, inside, text, digest, check = row
    try:
        if check == sum_of(run, place, name, path, inside, digest):
            path, inside = (None if part is None else given_text(part) for part in (path, inside))
            source = SourceText(given_text(name), path, inside, given_text(text))
            if source.digest == digest:
                return source
    except _DAMAGE:
        pass
    raise StoreError("P501", f"the source `{name}` of the run {run} is damaged in the store")


def row_of_source(run: str, place: int, source: SourceText, digest: str) -> tuple[Any, ...]:
    """What `source_of` reads, without the text."""
    name, path, inside = (None if part is None else kept_text(part) for part in source[:3])
    return place, name, path, inside, digest, sum_of(run, place, name, path, inside, digest)


def first_of(rows: Sequence[Sequence[Any]], run: str, address: str) -> RunRecord:
    """The one run that was found by the beginning of its id. Raises StoreError P501."""
    if not run or not rows:
        raise StoreError("P501", f"there is no record of the run `{run}` in `{address}`",
                         hint="`prose runs` lists them")  # fmt: skip
    if len(rows) > 1:
        raise StoreError("P501", f"several runs begin with `{run}`: {', '.join(str(row[0]) for row in rows)}")
    return run_of(rows[0])


def no_record(run: str, address: str) -> StoreError:
    """What is said of a run that is not in the store."""
    return StoreError("P501", f"there is no record of the run {run} in `{address}`", run=run)


def damaged_rows(what: str, run: str) -> StoreError:
    """What is said where rows of a run are lost: `what` are calls, decisions, warnings, sources."""
    return StoreError("P501", f"the {what} records of the run {run} are damaged")


def in_use(run: str) -> StoreError:
    """What is said of a run that another process has."""
    return StoreError("P503", f"another process works on the run {run}", hint="wait for it, or stop it", run=run)


def begun_anew(known: RunRecord, record: RunRecord | None) -> RunRecord:
    """What is known of a run when another process goes on with it."""
    if record is not None:
        known = known._replace(source=record.source, names=record.names, options=record.options,
                               program=record.program, version=record.version)  # fmt: skip
    return known._replace(status=UNFINISHED, outcome=None, ended=None)


# --- entries ---------------------------------------------------------------------------------------------------------


def sum_of_texts(request: str, result: str | None) -> int:
    """The sum of an entry's texts."""
    check = zlib.crc32(request.encode("utf-8", "surrogatepass"))
    return check if result is None else zlib.crc32(result.encode("utf-8", "surrogatepass"), check)


def sum_of_entry(run: str, entry: Entry, texts: int) -> int:
    """The sum of an entry's fields, the sum of its texts included. Reading a run back makes it for every entry."""
    (key, kind, service, fingerprint, _, state, _, attempts, usage, reserved, started, seconds, position, within) = (
        entry
    )
    text = f"{run}\0{key}\0{kind}\0{service}\0{fingerprint}\0{state}\0{usage}\0{reserved}\0{position}\0{within}"
    check = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    return zlib.crc32(_numbers(started + 0.0, seconds + 0.0, attempts, texts), check)


def entry_of(row: Sequence[Any], run: str) -> Entry:
    """An entry from its row: its fields, the sum of its texts, and that of its fields. Raises StoreError P501."""
    entry = Entry._make(row[:-2])
    try:
        texts = sum_of_texts(entry.request, entry.result)
        if texts == row[-2] and sum_of_entry(run, entry, texts) == row[-1]:
            return entry
    except _DAMAGE:
        pass
    raise _damaged(entry, run)


def light_entry_of(row: Sequence[Any], run: str) -> Entry:
    """An entry whose texts were not read."""
    entry = Entry._make(row[:-2])
    try:
        if sum_of_entry(run, entry, row[-2]) == row[-1]:
            return entry
    except _DAMAGE:
        pass
    raise _damaged(entry, run)


def _damaged(entry: Entry, run: str) -> StoreError:
    return StoreError("P501", f"what the run {run} recorded at {entry.key} is damaged")


def with_large_apart(change: Change, apart: Callable[[str], str]) -> Change:
    """A change whose large texts are what `apart` makes of them: references."""
    if isinstance(change, Finished):
        return change._replace(outcome=apart(change.outcome)) if len(change.outcome) > LARGE else change
    if isinstance(change, Begun | Ended):
        entry = change.entry
        if len(entry.request) > LARGE:
            entry = entry._replace(request=apart(entry.request))
        if entry.result is not None and len(entry.result) > LARGE:
            entry = entry._replace(result=apart(entry.result))
        return change if entry is change.entry else change._replace(entry=entry)
    return change


# --- the rest --------------------------------------------------------------------------------------------------------


def row_of_decision(change: Decided) -> tuple[Any, ...]:
    """A decision as it is kept, without its run, and its sum."""
    fields = change._replace(text=kept_text(change.text), reason=kept_text(change.reason))[1:]
    return *fields, sum_of(change.run, *fields)


def decision_of(row: Sequence[Any], run: str) -> Decided:
    """What `row_of_decision` was given."""
    found = Decided(run, *row[:-1])
    try:
        if sum_of(*found) == row[-1]:
            return found._replace(text=given_text(found.text), reason=given_text(found.reason))
    except _DAMAGE:
        pass
    raise StoreError("P501", f"the decision that the run {run} recorded at {found.address} is damaged")


def row_of_warning(change: Warned) -> tuple[Any, ...]:
    """A warning as it is kept, without its run, and its sum."""
    fields = change._replace(message=kept_text(change.message), file=kept_text(change.file))[1:]
    return *fields, sum_of(change.run, *fields)


def warning_of(row: Sequence[Any], run: str) -> Warned:
    """What `row_of_warning` was given."""
    found = Warned(run, *row[:-1])
    try:
        if sum_of(*found) == row[-1]:
            return found._replace(message=given_text(found.message), file=given_text(found.file))
    except _DAMAGE:
        pass
    raise StoreError("P501", f"a warning that the run {run} recorded is damaged")


def by_place(warning: Warned) -> tuple[str, int, str, str]:
    """What warnings are sorted by."""
    return warning.file, warning.line, warning.code, warning.message


def attempt_of(row: Sequence[Any]) -> Attempt:
    """An attempt from its row: its fields and the sum. A large result is still a reference."""
    found = Attempt(*row[:-1])
    if sum_of(*found) != row[-1]:
        raise StoreError(
            "P501", f"what the run {found.run} recorded of attempt {found.number} at {found.key} is damaged"
        )
    return found


def sum_of_cached(cached: Cached) -> int:
    """The sum of an answer, with its large texts as references."""
    return sum_of(*cached[:5], cached.made + 0.0)


def cached_of(row: Sequence[Any]) -> Cached | None:
    """An answer from its row, or None if it is damaged: then it is asked for again."""
    found = Cached(*row[:-1])
    try:
        return found if sum_of_cached(found) == row[-1] else None
    except _DAMAGE:
        return None
