"""Attempts: what a module's last runs did, kept in the order in which the runs ended, and bounded."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

import attrs

from prose_lang.engine import Outcome

#: So many runs a module remembers; older ones are forgotten.
KEPT_RUNS = 1000


@attrs.frozen
class Failure:
    """Why an attempt failed: `service` is who failed, for a bad score the reward function.

    >>> str(Failure("P406", "service-failed", "no answer", "drafter"))
    'no answer'
    """

    code: str
    name: str
    message: str
    service: str | None = None

    def __str__(self) -> str:
        return self.message


@attrs.frozen
class Attempt:
    """One attempt of a run, or one member's, or one step's.

    `number` counts from 1 and `module` is who made it. A failed attempt has an `error` (and a prediction, if it was the
    scoring that failed). `feedback` is what it was given, `written` what was written about it for the next one, and
    `evaluation` all that the scorer said.

    >>> Attempt(1, "drafter", "Paris", score=1).failed
    False
    """

    number: int
    module: str
    prediction: Any = None
    score: float | None = None
    feedback: str | None = None
    written: str | None = None
    evaluation: Any = None
    error: Failure | None = None

    @property
    def failed(self) -> bool:
        """Whether it counts as failed."""
        return self.error is not None


@attrs.frozen(eq=False, repr=False)  # a run can be large, and asyncio writes out the result of a task that ends
class ModuleRun:
    """A finished run of a module: its prediction, its attempts, and the whole outcome with its trace.

    `best` is the attempt whose prediction it is, where there is one. A run inside another run (of a module bound to a
    slot, or wrapped by another module) has no outcome of its own: its calls stand in the trace of the run around it.
    """

    prediction: Any
    attempts: tuple[Attempt, ...]
    best: Attempt | None = None
    outcome: Outcome | None = None

    def __repr__(self) -> str:
        return f"<ModuleRun of {len(self.attempts)} attempts>"

    @property
    def feedback_history(self) -> tuple[str, ...]:
        """What was written about the attempts, in order."""
        return feedback_of(self.attempts)


class History:
    """The attempts of the last runs of one module. Runs may end at the same time in several threads."""

    def __init__(self) -> None:
        self._runs: deque[tuple[Attempt, ...]] = deque(maxlen=KEPT_RUNS)
        self._lock = threading.Lock()
        self.outcome: Outcome | None = None

    def ended(self, attempts: tuple[Attempt, ...], outcome: Outcome | None) -> None:
        """Keep what a run did."""
        with self._lock:
            self._runs.append(attempts)
            self.outcome = outcome

    def attempts(self, every: bool) -> list[Attempt]:
        """The attempts of the last run that ended, or of all that are kept."""
        with self._lock:
            runs = list(self._runs) if every else list(self._runs)[-1:]
        return [attempt for run in runs for attempt in run]


def feedback_of(attempts: tuple[Attempt, ...] | list[Attempt]) -> tuple[str, ...]:
    """The feedback that was written about attempts, in order."""
    return tuple(attempt.written for attempt in attempts if attempt.written is not None)


def failure_of(error: Any) -> Failure | None:
    """The failure that a pattern's history tells of: what `catch as e` gave it (L27)."""
    if not isinstance(error, Mapping):
        return None
    return Failure(
        error.get("code") or "P406", error.get("name") or "", error.get("message") or "", error.get("service")
    )
