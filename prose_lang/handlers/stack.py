"""The order of the handlers, from the outside in, with the reason for each place.

    trace      outermost: it must see what every other handler does to a call, and its record is the call as a whole
    retry      outside limits: every attempt counts and waits for its place; a pause between two holds none
    limits     outside timeout: waiting for a place is not the service's time
    timeout    around the service alone: it is per attempt
    dispatch   innermost: the only one that knows services

A journal goes between trace and retry (a finished call is read back before anything is tried), a budget between retry
and limits (each attempt reserves before it waits). Nested patterns are no calls: they pass retry and timeout only, and
their own calls pass all.
"""

from __future__ import annotations

from typing import NamedTuple

from prose_lang.handlers.clock import Clock
from prose_lang.handlers.dispatch import dispatch, dispatch_composite
from prose_lang.handlers.limits import Limiter
from prose_lang.handlers.retry import retry
from prose_lang.handlers.timeout import timeout
from prose_lang.handlers.trace import Recorder
from prose_lang.runtime.activation import Perform


class Performers(NamedTuple):
    """What performs effects: those of services, and those of nested patterns."""

    leaf: Perform
    composite: Perform


def compose(recorder: Recorder, limiter: Limiter, clock: Clock) -> Performers:
    """The handlers of one run."""
    leaf = recorder.wrap(retry(limiter.wrap(timeout(dispatch)), clock))
    composite = retry(timeout(dispatch_composite), clock)
    return Performers(leaf, composite)
