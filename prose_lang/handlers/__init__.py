"""The handlers of effects: one concern a file, composed in `stack.py`, which gives the reason for each place."""

from prose_lang.handlers.limits import Limits, Quota
from prose_lang.handlers.stack import Performers, compose
from prose_lang.handlers.trace import Recorder

__all__ = ["Limits", "Performers", "Quota", "Recorder", "compose"]
