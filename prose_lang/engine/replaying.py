"""Whether a run comes out of its record alone: nothing is called, and what comes is compared with what came (L35)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from prose_lang.diagnostics import ProseError
from prose_lang.diagnostics.errors import CATCHABLE
from prose_lang.engine.outcome import Outcome
from prose_lang.engine.recorded_outcome import outcome_of
from prose_lang.journal import UNFINISHED, RunRecord, Store

if TYPE_CHECKING:
    from prose_lang.engine.engine import Engine
    from prose_lang.engine.pattern import Pattern


@attrs.frozen
class Replayed:
    """A replay: its `record`, its `outcome`, and where it `diverges` in words, None where it comes out the same.

    `to_its_end` tells whether the run itself had come to one. One that had not is the same if it gets as far as its
    record does.
    """

    record: RunRecord
    outcome: Outcome
    diverges: str | None
    to_its_end: bool

    def as_json(self) -> dict[str, Any]:
        """What `prose replay --json` prints."""
        error = None if self.diverges is None or self.outcome.error is None else self.outcome.error.as_json()
        return {
            "run_id": self.record.id,
            "status": self.record.status,
            "same": self.diverges is None,
            "to_its_end": self.to_its_end,
            "diverges": self.diverges,
            "error": error,
            "value": self.outcome.value,
            "calls": len(self.outcome.trace.calls),
        }


async def replayed(
    engine: Engine, run: str, names: Mapping[str, Any] = MappingProxyType({}), pattern: Pattern | None = None
) -> Replayed:
    """Replay a run of an engine's store. Raises ProseError where it cannot begin: P501, P203, P502."""
    store = engine.resuming.store
    record = store.run(run)
    outcome = await engine.resuming.outcome_async(record.id, names, replay=True, pattern=pattern)
    if outcome.status == "invalid":
        assert outcome.error is not None, "what is invalid says why"
        raise outcome.error
    over, why = compared(record, outcome, store)
    return Replayed(record, outcome, why, over)


def compared(record: RunRecord, outcome: Outcome, store: Store) -> tuple[bool, str | None]:
    """Whether a run had come to its end, and how its replay differs from it."""
    recorded = outcome_of(record, store)
    known = recorded.get("error")
    error = outcome.error
    if record.status == "ok":
        if error is not None:
            return True, f"the run was ok, and its replay gives {_told(error)}"
        if _plain(recorded["value"]) != _plain(outcome.value):
            return True, "the run gave another value than its replay"
        return True, None
    if record.status == "failed" and known is not None and known["code"] in CATCHABLE:
        if error is None:
            return True, f"the run failed with {known['code']}, and its replay is {outcome.status}"
        if (known["code"], known["message"]) != (error.code, error.message):
            return (
                True,
                f"the run failed with {known['code']} ({known['message']}), and its replay gives {_told(error)}",
            )
        return True, None
    # Whatever stopped it is no result: its record ends somewhere, and so has the replay to.
    if error is None or error.code == "P409" or (known is not None and known["code"] == error.code):
        return False, None
    status = "did not come to its end" if record.status == UNFINISHED else f"is {record.status}"
    return False, f"the run {status}, and its replay gives {_told(error)}"


def _told(error: ProseError) -> str:
    return f"{error.code} ({error.message})"


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
