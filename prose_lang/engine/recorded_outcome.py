"""The outcome of a run as its record tells it: for a run that is over, and for whoever looks at one that is not."""

from __future__ import annotations

import json
from typing import Any

from prose_lang.engine.outcome import CallRecord, DecisionRecord, Outcome, Trace, WarningRecord
from prose_lang.handlers.journal_usage import usage_in, usage_of
from prose_lang.journal import Entry, RunRecord, Store


def recorded_outcome(record: RunRecord, store: Store) -> Outcome:
    """The outcome. Of a run that is not over `value` is None and `status` what the record says. Raises StoreError."""
    data = outcome_of(record, store)
    return Outcome(
        record.id, record.status, data.get("value"),
        usage=usage_of(store.sums(record.id)), read_trace=lambda: trace(record.id, store),
    )  # fmt: skip


def outcome_of(record: RunRecord, store: Store) -> dict[str, Any]:
    """What the record keeps of an outcome: `value`, `error`, `diagnostics`, `usage`; empty while there is none."""
    text = record.outcome
    if text is None:
        return {}
    if text.startswith("@"):
        text = store.get_file(text[1:]).decode()
    found: dict[str, Any] = json.loads(text)
    return found


def trace(run: str, store: Store) -> Trace:
    """Calls and decisions of a run in program order, and its warnings. Raises StoreError."""
    entries = sorted(store.entries(run, ("call",)), key=lambda entry: _order(entry.position))
    decisions = sorted(store.decisions(run), key=lambda row: _order(row.position))
    return Trace(
        tuple(call_record(store.resolved(entry)) for entry in entries),
        tuple(
            DecisionRecord(
                row.address, row.text, row.layer, json.loads(row.outcome), json.loads(row.values), row.reason,
                None if row.judge is None else json.loads(row.judge),
            )
            for row in decisions
        ),
        tuple(WarningRecord(row.code, row.message, row.file, row.line, row.times) for row in store.warnings(run)),
    )  # fmt: skip


def _order(position: str) -> list[int]:
    found: list[int] = json.loads(position)
    return found


def call_record(entry: Entry) -> CallRecord:
    """A call as it stands in the trace; the entry has to be `resolved`."""
    request = json.loads(entry.request)
    value = error = None
    if entry.state == "value":
        value = json.loads(entry.result or "null")
    elif entry.state == "error":
        data = json.loads(entry.result or "{}")
        error = _named({"code": data.get("code"), "name": data.get("name"), "message": data.get("message")})
        if "answer" in data:
            error["answer"] = data["answer"]
    else:
        error = {"code": None, "name": entry.state, "message": _WORDS[entry.state]}
    modifiers = {name: request[name] for name in _MODIFIERS if name in request}
    used = usage_in(entry.usage)
    return CallRecord(
        entry.key.removeprefix("leaving:"), entry.service, request["inputs"], modifiers, value, error, entry.attempts,
        entry.seconds, None if used is None else used.as_json(), cached=used is not None and bool(used.cached),
    )  # fmt: skip


_MODIFIERS = ("retry", "backoff", "timeout", "prompt", "model", "context")
_WORDS = {
    "started": "it had not answered",
    "cancelled": "the call was cancelled",
    "waiting": "a person has to answer",
    "withheld": "it answered, and the answer held a secret",
}


def _named(error: dict[str, Any]) -> dict[str, Any]:
    """An error without a name of its own has that of its code."""
    from prose_lang.diagnostics.codes import CODES

    code = CODES.get(str(error["code"]))
    return {**error, "name": error["name"] or (code.name if code is not None else None)}
