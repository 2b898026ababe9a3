"""The ledger of a run on record: what it comes to know besides what calls give, and how its conditions fell (L35).

See `runtime/ledger.py` for what is asked here, and why. Decisions and warnings are kept for whoever reads the record;
going on with a run makes them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from prose_lang.diagnostics.redact import Redactor
from prose_lang.handlers.journal_drafts import Draft
from prose_lang.handlers.journal_reading import Reading
from prose_lang.handlers.journal_usage import usage_text
from prose_lang.handlers.journal_writing import Writing
from prose_lang.handlers.trace import Decision, WarningEvent
from prose_lang.journal.port import StoreError
from prose_lang.journal.records import Begun, Decided, Ended, Entry, Warned
from prose_lang.journal.texts import encoded
from prose_lang.journal.writer import Pen
from prose_lang.runtime.activation import Activation
from prose_lang.runtime.effects import Effect
from prose_lang.runtime.ledger import Known
from prose_lang.values import Value

#: Decisions that are held back, because they may be on record.
_HELD = 1_000


class KeptLedger(Writing):
    """A `Ledger` in the record of one run, and the `Keeper` of its decisions and warnings."""

    def __init__(
        self,
        run: str,
        pen: Pen | None,
        redactor: Callable[[], Redactor],
        told: Callable[[StoreError], None],
        *,
        reading: Reading,
        stop: bool = False,
    ) -> None:
        super().__init__(run, pen, redactor, told, stop=stop)
        self.reading = reading
        # Of a run that is gone on with unchanged: decisions since the last call of each activation. If the next one is
        # on record, so are they, and need not be written again.
        self._maybe_known: dict[Activation, list[Decision]] | None = None
        if reading.reader is not None and pen is not None and not reading.accept and not reading.again:
            self._maybe_known = {}
        self._held = 0

    # --- what is asked again when the run is gone on with ------------------------------------------------------------

    def recall(self, kind: str, key: str) -> Known | None:
        """What came out before; None if nothing is known, or it may come out differently now."""
        reading = self.reading
        if (reading.changed and kind != "memory") or (reading.again and kind == "failure"):
            return None
        found = reading.find(f"{kind}:{key}")
        if found is None or not found.final:
            return None
        value = json.loads(found.result or "null")
        # Branches that failed would be tried again, though the race was decided without them.
        return Known([value[0], []] if reading.again and kind == "join" else value)

    def settle(self, kind: str, key: str, value: Value) -> None:
        """Keep what came out."""
        if self.pen is not None:
            entry = Entry(f"{kind}:{key}", kind, state="value", result=self.written(value)[0])
            # What the record holds of it, where that is not read back, is replaced.
            anew = self.reading.changed or self.reading.again
            self.pen.put(Begun(self.run, entry, anew=True) if anew else Ended(self.run, entry))

    def withdraw(self, effect: Effect) -> None:
        """What a call gave is not kept any more: gone on with, it is made again."""
        draft: Draft | None = effect.draft
        if self.pen is not None and draft is not None:
            entry = draft.entry._replace(
                state="cancelled", result=None, attempts=effect.made, usage=usage_text(effect.usage), reserved=None
            )
            self.pen.put(Begun(self.run, entry, anew=True))

    # --- what is kept for readers ------------------------------------------------------------------------------------

    def decided(self, decision: Decision) -> None:
        """Keep how a condition fell."""
        if self.pen is None:
            return
        if self._maybe_known is None:
            self._put_decision(decision)
            return
        self._maybe_known.setdefault(decision.place, []).append(decision)
        self._held += 1
        if self._held > _HELD:
            self.settle_decisions()

    def settle_decisions(self, place: Activation | None = None, *, known: bool = False) -> None:
        """Write the decisions that were held back, those of one activation or all, unless they are on record."""
        held = self._maybe_known
        if not held:
            return
        places = list(held) if place is None else [place]
        for one in places:
            decisions = held.pop(one, ())
            self._held -= len(decisions)
            for decision in () if known else decisions:
                self._put_decision(decision)

    def _put_decision(self, decision: Decision) -> None:
        if self.pen is None:
            return
        clean = self.redactor()
        judge = None if decision.judge is None else self.written(decision.judge)[0]
        position = encoded([*decision.place.order, *decision.plan.site.order(decision.indices)])
        self.pen.put(
            Decided(
                self.run, decision.address, position, clean.text(decision.plan.text), decision.layer,
                clean.text(encoded(decision.outcome)), self._shown(decision.values), clean.text(decision.reason), judge,
            )
        )  # fmt: skip

    def _shown(self, values: dict[str, Any]) -> str:
        """The values that a decision read; what is too large for a record is left out of it."""
        try:
            return self.written(values)[0]
        except (RecursionError, ValueError):
            return encoded(dict.fromkeys(values, "(too large)"))

    def warned(self, warning: WarningEvent) -> None:
        """Keep a warning event."""
        if self.pen is not None:
            source, start = warning.place.source, warning.place.span.start
            message = self.redactor().text(warning.message)
            line = source.position(start).line
            self.pen.put(Warned(self.run, warning.code, message, source.name, line, warning.count))
