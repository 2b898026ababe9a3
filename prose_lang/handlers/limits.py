"""Limits (L34): calls, wall time, concurrency overall and per service. Counters belong to one run.

Tokens and money are kept by `budget.py`, rates by `pace.py`. A call is counted before it starts, so that however many
branches there are none is one too many. The run's wall time is enforced by the engine, which cancels the walk; here it
keeps `finally` blocks from starting new calls afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple

import attrs

from prose_lang.diagnostics import LimitError
from prose_lang.handlers.clock import Clock
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect, Service


@attrs.frozen
class Quota:
    """What a service, a pattern or an instance may use of a run, all its calls together. None is no limit of its own.

    >>> Quota(cost=0.5).calls is None
    True
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None

    def __attrs_post_init__(self) -> None:
        _check(self, ("calls", "tokens"), ("cost",))


@attrs.frozen
class Limits:
    """The limits of a run. None lifts one.

    `calls` counts attempts of services, every request to a model, and questions to the judge; `tokens` are those that
    models take and give; `cost` is US dollars, and refuses models without a price. `known_cost` stands in where `cost`
    is not set: it bounds what is known to be spent and lets models without a price pass. `seconds` is wall time;
    `concurrency` is how many calls may be under way at once, `per_service` the same for a service by name. `quotas` are
    limits of services, patterns and instances by name, inside those of the run.

    >>> Limits(calls=10, quotas={"critic": Quota(cost=0.5)}).calls
    10
    """

    calls: int | None = 1000
    tokens: int | None = None
    cost: float | None = None
    known_cost: float | None = 5.0
    seconds: float | None = None
    concurrency: int | None = None
    per_service: Mapping[str, int] = attrs.field(factory=dict)
    quotas: Mapping[str, Quota] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        _check(self, ("calls", "tokens", "concurrency"), ("cost", "known_cost", "seconds"))
        for service, value in self.per_service.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"the limit of `{service}` is a whole number from 1; not {value!r}")


def _check(limits: Limits | Quota, whole: tuple[str, ...], fractions: tuple[str, ...]) -> None:
    for name in whole:
        value = getattr(limits, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ValueError(f"the limit `{name}` is a whole number from 1, or None; not {value!r}")
    for name in fractions:
        value = getattr(limits, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
            raise ValueError(f"the limit `{name}` is a number above 0, or None; not {value!r}")


class Spent(NamedTuple):
    """What a call has used, and the names that quotas go by: its service, the patterns and instances around it."""

    names: frozenset[str]
    calls: int
    tokens: int
    cost: float


class Limiter:
    """The counters of one run. `before` is how long it has worked already, in seconds, where it is gone on with."""

    def __init__(self, limits: Limits, clock: Clock, before: float = 0.0) -> None:
        self.limits = limits
        self.clock = clock
        self.calls = 0
        self.deadline = clock.now() + limits.seconds - before if limits.seconds is not None else None
        self._gate = asyncio.Semaphore(limits.concurrency) if limits.concurrency is not None else None
        self._gates: dict[str, asyncio.Semaphore | None] = {}
        self._quotas = {name: quota.calls for name, quota in limits.quotas.items() if quota.calls is not None}
        self._used = dict.fromkeys(self._quotas, 0)

    def wrap(self, inner: Perform) -> Perform:
        """A performer that keeps the limits."""
        gate, gates = self._gate, self._gates

        def perform(effect: Effect) -> Awaitable[Any]:
            name = effect.service.name
            own = gates[name] if name in gates else self._new_gate(effect.service)
            if gate is None and own is None:
                self._admit(effect)
                return inner(effect)
            return gated(effect, own)

        async def gated(effect: Effect, own: asyncio.Semaphore | None) -> Any:
            # The service's own gate first: who waits there must not keep others from the run's places.
            async with own or nullcontext(), gate or nullcontext():
                self._admit(effect)
                return await inner(effect)

        return perform

    def _admit(self, effect: Effect) -> None:
        """Count an attempt that is about to be made. One that still waits for its place may never be made."""
        most, deadline = self.limits.calls, self.deadline
        if most is not None and self.calls >= most:
            raise limit_reached(effect, f"this call would be one more than the {most:,} that the run may make",
                                "raise the limit if that is what you want (--max-calls)")  # fmt: skip
        if deadline is not None and self.clock.now() >= deadline:
            raise limit_reached(effect, f"the run's time of {self.limits.seconds:g} s is over", None)
        if self._quotas:
            self._admit_nested(effect)
        self.calls += 1
        effect.made += 1

    def _admit_nested(self, effect: Effect) -> None:
        names = [name for name in {*effect.place.within, effect.service.name} if name in self._quotas]
        for name in names:
            if self._used[name] >= self._quotas[name]:
                raise limit_reached(
                    effect, f"this call would be one more than the {self._quotas[name]:,} that `{name}` may make", None
                )
        for name in names:
            self._used[name] += 1

    def count(self, spent: Iterable[Spent]) -> None:
        """Count what the run has used before: limits hold over all its sessions (§9 L34)."""
        for part in spent:
            self.calls += part.calls
            for name in part.names & self._used.keys():
                self._used[name] += part.calls

    def _new_gate(self, service: Service) -> asyncio.Semaphore | None:
        """What keeps a service's own limit; None if it has none."""
        most = self.limits.per_service.get(service.name, getattr(service, "max_concurrency", None))
        gate = self._gates[service.name] = asyncio.Semaphore(most) if most is not None else None
        return gate


def limit_reached(effect: Effect | None, message: str, hint: str | None) -> LimitError:
    """P405 at the call that would have gone beyond the limit."""
    if effect is None:
        return LimitError("P405", message, hint=hint)
    return LimitError(
        "P405", message, source=effect.site.source, span=effect.site.span, service=effect.service.name, hint=hint
    )
