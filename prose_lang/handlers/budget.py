"""Budget: tokens and money (L34). Reserved before a request, settled after it, so that no number of branches
overspends.

    reserve    the most the request may take: its input, and the most output it may have, at list price
    settle     what the provider said it took; all that was reserved where nobody said

A request whose reservation does not fit waits while others under way may yet give some of theirs back; where none is,
it is P405. Under a limit of cost a model without a price is refused before it is called: unknown is not 0. Budgets
belong to one run; there is one for the run, and one for each service, pattern or instance that has a `Quota`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from prose_lang.diagnostics import RunError
from prose_lang.handlers.dispatch import placed
from prose_lang.handlers.limits import Limits, Spent, limit_reached
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect, Reservation

#: Dollars that come of adding up fractions and are nobody's.
_DUST = 1e-12


class Account:
    """What one scope may spend, has spent and has reserved. `guard` is a limit that lets unknown prices pass."""

    def __init__(self, what: str, tokens: int | None, cost: float | None, guard: float | None = None) -> None:
        self.what = what
        self.tokens = tokens
        self.cost = cost
        self.guard = guard if cost is None else None
        self.spent_tokens = self.held_tokens = 0
        self.spent_cost = self.held_cost = 0.0

    @property
    def bounded(self) -> bool:
        """Whether requests have to be bounded so that the limit can be kept."""
        return self.tokens is not None or self.cost is not None

    @property
    def most_cost(self) -> float | None:
        return self.cost if self.cost is not None else self.guard

    def lacks(self, need: Reservation, *, alone: bool) -> str | None:
        """What is missing for a reservation; with `alone`, even if nothing else were reserved."""
        held_tokens, held_cost = (0, 0.0) if alone else (self.held_tokens, self.held_cost)
        if self.tokens is not None and self.spent_tokens + held_tokens + need.tokens > self.tokens:
            left = max(0, self.tokens - self.spent_tokens)
            return f"it may take {need.tokens:,} tokens, and {left:,} of {self.tokens:,} are left"
        most = self.most_cost
        if most is not None and need.cost is not None and self.spent_cost + held_cost + need.cost > most + _DUST:
            left_cost = max(0.0, most - self.spent_cost)
            return f"it may cost ${need.cost:.4f}, and ${left_cost:.4f} of ${most:.2f} are left"
        return None

    def hold(self, need: Reservation, sign: int) -> None:
        """Reserve (1), or give back (-1)."""
        self.held_tokens += sign * need.tokens
        self.held_cost += sign * (need.cost or 0.0)

    def spend(self, tokens: int, cost: float) -> None:
        self.spent_tokens += tokens
        self.spent_cost += cost


class Budget:
    """The budgets of one run."""

    def __init__(self, limits: Limits) -> None:
        self.run = Account("the run", limits.tokens, limits.cost, limits.known_cost)
        self.of = {
            name: Account(f"`{name}`", quota.tokens, quota.cost)
            for name, quota in limits.quotas.items()
            if quota.tokens is not None or quota.cost is not None
        }
        self._waiting: list[asyncio.Future[None]] = []

    def begin_with(self, spent: Iterable[Spent]) -> None:
        """Count what the run has used before: limits hold over all its sessions (§9 L34)."""
        for part in spent:
            for account in (self.run, *(self.of[name] for name in part.names & self.of.keys())):
                account.spend(part.tokens, part.cost)

    def wrap(self, inner: Perform) -> Perform:
        """A performer of metered services that keeps the budgets."""

        async def reserved(effect: Effect) -> Any:
            accounts = self._accounts(effect)
            service: Any = effect.service
            try:
                need = effect.reserved = service.reserve(effect, any(account.bounded for account in accounts))
            except RunError as error:
                raise placed(error, effect) from error.__cause__
            await self._reserve(effect, need, accounts)
            made = effect.made
            failed: BaseException | None = None
            try:
                return await inner(effect)
            except BaseException as error:
                failed = error
                raise
            finally:
                for account in accounts:
                    account.hold(need, -1)
                if effect.made > made:  # else a limit further in refused it, and nothing was sent
                    self._settle(effect, need, accounts, failed)
                self._wake()

        return reserved

    def count(self, inner: Perform) -> Perform:
        """A performer of services that say afterwards what they used: they are refused once it is too much."""
        if not (self.of or self.run.bounded):
            return inner

        async def counted(effect: Effect) -> Any:
            accounts = self._accounts(effect)
            self._refuse(effect, Reservation(1, 0.0), accounts)
            try:
                return await inner(effect)
            finally:
                if effect.usage is not None:
                    for account in accounts:
                        account.spend(effect.usage.tokens_in + effect.usage.tokens_out, effect.usage.cost or 0.0)

        return counted

    def _accounts(self, effect: Effect) -> Sequence[Account]:
        if not self.of:
            return (self.run,)
        names = dict.fromkeys((*effect.place.within, effect.service.name))
        return (self.run, *(self.of[name] for name in names if name in self.of))

    async def _reserve(self, effect: Effect, need: Reservation, accounts: Sequence[Account]) -> None:
        for account in accounts:
            if account.cost is not None and need.cost is None:
                raise limit_reached(
                    effect,
                    f"the price of this model is unknown, and {account.what} may cost at most ${account.cost:g}",
                    "configure its price: [tool.prose.models.prices], or lift the limit (--max-cost none)",
                )
        if not any(account.lacks(need, alone=False) for account in accounts):
            for account in accounts:
                account.hold(need, 1)
            return
        while any(account.lacks(need, alone=False) for account in accounts):
            self._refuse(effect, need, accounts)
            woken = asyncio.get_running_loop().create_future()
            self._waiting.append(woken)
            await woken
        for account in accounts:
            account.hold(need, 1)

    def _refuse(self, effect: Effect, need: Reservation, accounts: Sequence[Account]) -> None:
        """P405 where a request cannot fit, even after all that are under way are settled at nothing."""
        for account in accounts:
            lacking = account.lacks(need, alone=True)
            if lacking is not None:
                whose = "the run" if account is self.run else account.what
                raise limit_reached(
                    effect,
                    f"this call would go beyond what {whose} may spend: {lacking}",
                    "raise the limit (--max-tokens, --max-cost), or set max_tokens of the model",
                )

    def _settle(
        self, effect: Effect, need: Reservation, accounts: Sequence[Account], failed: BaseException | None
    ) -> None:
        used = effect.usage
        if used is None and isinstance(failed, RunError) and (failed.uncharged or failed.code == "P410"):
            return
        if used is not None and used.tokens_in:
            tokens, cost = used.tokens_in + used.tokens_out, used.cost or 0.0
        else:  # it was cut off, or nobody said: the worst is assumed
            tokens, cost = need.tokens, need.cost or 0.0
        for account in accounts:
            account.spend(tokens, cost)

    def _wake(self) -> None:
        """Let those who wait for others to settle look again, in the order in which they came."""
        waiting, self._waiting = self._waiting, []
        for woken in waiting:
            if not woken.done():
                woken.set_result(None)
