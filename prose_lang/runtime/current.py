"""The call that a service is answering: what it may know of its own place in a run, besides its inputs (L32, L35).

The dispatcher sets it around every attempt, and worker threads copy it. It tells nothing about the program: a service
needs it to recognise work that it has done already, not to find out who asks.
"""

from __future__ import annotations

from contextvars import ContextVar

import attrs

from prose_lang.runtime.effects import Effect

#: The effect that is being answered. Set by the dispatcher alone.
ANSWERED: ContextVar[Effect | None] = ContextVar("prose_call", default=None)


@attrs.frozen
class CurrentCall:
    """One attempt of one call.

    `run_id` and `address` (L35) say which call it is, `attempt` counts from 1. `idempotency_key` is the same for every
    attempt of the call, also when the run is gone on with after its process died, and differs from that of every other
    call: a service that keeps it with its result can give that again instead of doing the work twice.
    """

    run_id: str
    address: str
    attempt: int
    idempotency_key: str


def current_call() -> CurrentCall | None:
    """The call that is being answered; None outside of a service that a run calls.

    >>> import prose_lang as prose
    >>> def pay(amount: int) -> str:
    ...     return prose.current_call().address
    >>> engine = prose.Engine(services=[pay])
    >>> engine.run(engine.loads("call pay\\n  amount: 3"), {}).value
    'delegation/0.call:pay'
    >>> prose.current_call() is None
    True
    """
    effect = ANSWERED.get()
    if effect is None:
        return None
    return CurrentCall(effect.place.run.run_id, effect.address, effect.attempt, effect.idempotency_key)
