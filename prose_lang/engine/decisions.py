"""Texts that stand in no program, decided within one run by the layers that decide conditions of programs (L30)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from prose_lang.engine.outcome import DecisionRecord, decision_record
from prose_lang.handlers import Recorder
from prose_lang.handlers.trace import Decision
from prose_lang.runtime.activation import Run
from prose_lang.runtime.deciding import decide
from prose_lang.runtime.effects import Usage
from prose_lang.semantics import Alone

_NONE: Mapping[str, Any] = MappingProxyType({})


class Decisions:
    """Decides any number of texts, several at a time if wanted: the limits of a run hold for all of them together, and
    a model is asked the same once."""

    def __init__(self, recorder: Recorder, run: Run) -> None:
        self._recorder = recorder
        self._run = run

    @property
    def usage(self) -> Usage:
        """What was used so far."""
        return self._recorder.usage

    async def decide(self, alone: Alone, own: Mapping[str, Any], others: Mapping[str, Any] = _NONE) -> DecisionRecord:
        """Decide a text. Raises what `Engine.decide_async` does."""
        made: list[Decision] = []
        run = copy.copy(self._run)  # the same run, with an ear of its own for this one decision
        run.on_decision = lambda *parts: made.append(Decision(*parts))
        await decide(alone, {**others, **own}, run)
        return decision_record(made[-1])
