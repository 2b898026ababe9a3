"""The engine: loads, checks and runs. The only room that assembles the others."""

from prose_lang.engine.engine import Engine
from prose_lang.engine.given import Given
from prose_lang.engine.outcome import CallRecord, DecisionRecord, Outcome, Trace, WarningRecord
from prose_lang.engine.pattern import Pattern

__all__ = ["CallRecord", "DecisionRecord", "Engine", "Given", "Outcome", "Pattern", "Trace", "WarningRecord"]
