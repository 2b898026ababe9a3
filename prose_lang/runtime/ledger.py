"""What a run comes to know that its program does not determine, besides what calls give: who won a race, what a rule of
the host said, what a conversation held, which pattern ran out of time (L35).

Whoever keeps it gives the same again when the run is gone on with. The walk asks first and settles after; a run that
nobody keeps has no ledger, and then neither costs anything.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from prose_lang.values import Value


class Known(NamedTuple):
    """Something that is known already; the value may be null."""

    value: Value


class Ledger(Protocol):
    """Where such things are kept. `kind` and `key`, an address, name one in a run."""

    def recall(self, kind: str, key: str) -> Known | None:
        """What is known; None if nothing is."""

    def settle(self, kind: str, key: str, value: Value) -> None:
        """Keep what has come out. It is durable before any call that starts later does."""
