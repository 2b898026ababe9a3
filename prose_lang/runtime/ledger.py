"""What a run comes to know that its program does not determine, besides what calls give: who won a race, what a rule of
the host said, what a conversation held, which pattern ran out of time (L35).

Whoever keeps it gives the same again when the run is gone on with. The walk asks first and settles after; a run that
nobody keeps has no ledger, and then neither costs anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from prose_lang.values import Value

if TYPE_CHECKING:
    from prose_lang.runtime.effects import Effect


class Known(NamedTuple):
    """Something that is known already; the value may be null."""

    value: Value


class Ledger(Protocol):
    """Where such things are kept. `kind` and `key`, an address, name one in a run.

    join      which branches had ended when a race was decided: those that succeeded, and those that failed
    failure   the same where a failure ended the block
    host      what a rule of the host said
    memory    what a conversation held at first
    timeout   the error of a nested pattern whose time was up
    """

    def recall(self, kind: str, key: str) -> Known | None:
        """What is known; None if nothing is."""

    def settle(self, kind: str, key: str, value: Value) -> None:
        """Keep what has come out. It is durable before any call that starts later does."""

    def withdraw(self, effect: Effect) -> None:
        """What an effect gave was of no use, and the run ends for it: gone on with, it is asked again."""
