"""Again: what is asked again within one attempt of the program. Only metered services (models) are.

    a failure that may pass (429, 5xx, no connection)   up to `retries` times, after a pause
    an answer that broke the contract                   up to `corrections` times, at once, with what is wrong with it

The pause is what the provider's Retry-After says, else it doubles from half a second, with jitter from a source that is
seeded for the run. A refusal that stays true (400, 401, 403, 404) is never repeated, neither here nor by `retry:`.

All of it stays within the call's `timeout`, which is per attempt of the program (§9 L32): requests and pauses use up
one allowance, kept in `effect.spent`. Waiting for a place or for money does not. A pause that would not fit is not
begun.
"""

from __future__ import annotations

import random
from typing import Any

from prose_lang.diagnostics import RunError
from prose_lang.handlers.clock import Clock
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect, Usage

#: Seconds of the first pause, and the most of any.
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 120.0


def pause_before(again: int, source: random.Random) -> float:
    """Seconds before the first, second, … repetition: doubling, give or take a half.

    >>> 0.25 <= pause_before(1, random.Random(1)) <= 0.75
    True
    """
    doubled: float = FIRST_PAUSE * 2 ** (again - 1)
    return min(LONGEST_PAUSE, doubled) * (0.5 + source.random())


def again(inner: Perform, clock: Clock, seed: str) -> Perform:
    """Wrap a performer of metered services. `seed` is what the jitter of the pauses comes from."""
    source: random.Random | None = None  # seeding one takes as long as a small call

    async def repeated(effect: Effect) -> Any:
        nonlocal source
        service: Any = effect.service
        effect.spent, effect.memo = 0.0, None
        failures = corrections = 0
        spent: Usage | None = None
        while True:
            try:
                return await inner(effect)
            except RunError as error:
                if error.correctable and corrections < service.corrections:
                    corrections += 1
                elif error.transient and failures < service.retries:
                    failures += 1
                    source = source or random.Random(seed)
                    await _pause(effect, error, failures, clock, source)
                else:
                    raise
            finally:
                if spent is not None:
                    spent.add(effect.usage or Usage())
                    effect.usage = spent
                spent = effect.usage
            effect.usage = None

    return repeated


async def _pause(effect: Effect, error: RunError, failures: int, clock: Clock, source: random.Random) -> None:
    """Wait before the next request; raise the error where there is no time for it."""
    asked = error.retry_after
    seconds = pause_before(failures, source) if asked is None else asked
    allowed = effect.modifiers.timeout
    left = None if allowed is None else allowed - effect.spent
    if left is not None and left <= 0:
        raise error
    if asked is not None and asked > LONGEST_PAUSE:
        error.hint = f"it asks to wait {asked:g} s, and at most {LONGEST_PAUSE:g} s are waited"
        raise error
    if left is not None and seconds >= left:
        error.hint = f"the next try would be in {seconds:.3g} s, and the call's timeout is {allowed:g} s"
        raise error
    effect.spent += seconds
    if seconds:
        await clock.sleep(seconds)
