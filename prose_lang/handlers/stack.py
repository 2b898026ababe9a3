"""The order of the handlers, from the outside in, with the reason for each place.

    trace      outermost: it must see what every other handler does to a call, and its record is the call as a whole
    journal    outside retry: a finished call is read back before anything is tried, and what a call gave in the end is
               kept; its other half stands around timeout, where an attempt is put on record before it is made
    cache      outside retry: a hit is no attempt, so that nothing counts, times or waits for it, and what is kept is
               what came of all attempts in the end; inside journal, which keeps what it gave like any result
    retry      outside limits: every attempt counts and waits for its place; a pause between two holds none
    again      inside retry: what a model is asked again is one attempt of the program, and each request passes the rest
    budget     outside limits: who waits for money must hold no place that others need to finish and give some back
    limits     outside timeout: waiting for a place is not the service's time
    pace       inside limits: the rate is that of requests as they leave; nothing holds one up that was let go
    remote     outside timeout: the worker that makes an attempt keeps its time, and waiting for one is not that
    timeout    around the service alone: it is per attempt
    cassette   around dispatch alone: an attempt is what is recorded, so that on replay retries, corrections, limits and
               times have the same to do; inside timeout, for a call that is cut off is recorded as that
    dispatch   innermost: the only one that knows services

`again` and `pace` concern models alone, and services that are none pass them by. `cassette` and `remote` are there only
where a run has a cassette or a transport, and let scripted services pass; `journal` where a run is recorded; `cache`
where one is asked for and there is no cassette, for a recording must have every answer, and a replay has them all.
Nested patterns are no calls: they pass retry and timeout only, between which the journal keeps whose time was up, and
their own calls pass all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from prose_lang.handlers.again import again
from prose_lang.handlers.budget import Budget
from prose_lang.handlers.clock import Clock
from prose_lang.handlers.dispatch import dispatch, dispatch_composite
from prose_lang.handlers.limits import Limiter, Spent
from prose_lang.handlers.pace import Pacer
from prose_lang.handlers.retry import retry
from prose_lang.handlers.timeout import timeout
from prose_lang.handlers.trace import Recorder
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect

if TYPE_CHECKING:
    from prose_lang.cassettes import Part
    from prose_lang.diagnostics.redact import Redactor
    from prose_lang.handlers.cache import Cache
    from prose_lang.handlers.journal import Journal
    from prose_lang.handlers.remote import Remote


class Performers(NamedTuple):
    """What performs effects: those of services, and those of nested patterns."""

    leaf: Perform
    composite: Perform


def compose(
    recorder: Recorder,
    limiter: Limiter,
    clock: Clock,
    seed: str = "",
    part: Part | None = None,
    redactor: Callable[[], Redactor] | None = None,
    journal: Journal | None = None,
    spent: Sequence[Spent] = (),
    remote: Remote | None = None,
    cache: Cache | None = None,
) -> Performers:
    """The handlers of one run. `seed` is what the jitter of its pauses comes from; `part` that of a cassette, which
    `redactor` keeps secrets out of: the two come together. `spent` is what the run has used in earlier sessions.
    `remote` is where attempts go instead of being made here."""
    limits = limiter.limits
    innermost: Perform = dispatch
    if part is not None and redactor is not None:
        from prose_lang.handlers.cassette import SkippingClock, recorded

        innermost = recorded(dispatch, part, redactor)
        if part.replays:
            clock = SkippingClock()
    if journal is not None and journal.frozen:
        from prose_lang.handlers.cassette import SkippingClock

        clock = SkippingClock()  # pauses between attempts of nested patterns wait for nobody
    if spent:
        limiter.count(spent)

    def budgeted() -> Budget:
        made = Budget(limits)
        made.begin_with(spent)
        return made

    timed = timeout(innermost) if remote is None else remote.wrap(timeout(innermost))
    if journal is not None:
        timed = journal.announce(timed)
    others = limiter.wrap(timed)
    budget: Budget | None = None
    if limits.tokens is not None or limits.cost is not None or limits.quotas:
        budget = budgeted()
        others = budget.count(others)
    models: Perform | None = None  # made for the first model: most runs have none, and some are very short

    def attempt(effect: Effect) -> Awaitable[Any]:
        nonlocal models
        if not getattr(effect.service, "metered", False):
            return others(effect)
        if models is None:
            paced = Pacer(clock).wrap(timed)
            models = again((budget or budgeted()).wrap(limiter.wrap(paced)), clock, seed)
        return models(effect)

    tried = retry(attempt if journal is None else journal.tried(attempt), clock)
    if cache is not None:
        tried = cache.wrap(tried)
        recorder.usage.cached = 0
    if journal is None:
        return Performers(recorder.wrap(tried), retry(timeout(dispatch_composite), clock))
    if part is not None and part.replays:
        journal.reading.skip = part.skip
    if part is not None and part.records:
        journal.reading.redo = part.begin_again
    if cache is not None:
        journal.reading.on_recall = cache.skip
    leaf = recorder.wrap(journal.wrap(tried))
    composite = retry(journal.cut_off(timeout(dispatch_composite), dispatch_composite), clock)
    return Performers(leaf, composite)
