"""Drafts: what is noted of a call while it is under way, and by what its entry is found again (L35).

An entry stands at an address; that the same is asked tells its fingerprint: of service, inputs, modifiers, and of a
model the whole request. While a call is under way, its entry tells in place of a result how far it has got.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from prose_lang.diagnostics import RunError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.handlers.journal_usage import usage_text
from prose_lang.handlers.journal_writing import without_secrets
from prose_lang.journal.records import Entry
from prose_lang.journal.texts import encoded
from prose_lang.runtime.effects import NO_MODIFIERS, Effect, Usage
from prose_lang.services.answers import asked
from prose_lang.values import TooLarge


class Draft:
    """What is noted of one call while it is under way.

    `anew`: what the record holds at its key is replaced; `begun`: an attempt is on record. `before` is what earlier
    attempts used that no handler of this process knows of; `paid` what attempts of this process have used so far.
    `apart` tells its idempotency key from the one of an earlier call at this address that asked something else.
    """

    __slots__ = ("anew", "apart", "before", "begun", "entry", "paid")

    def __init__(self, entry: Entry, *, anew: bool) -> None:
        self.entry = entry
        self.anew = anew
        self.apart = ""
        self.begun = False
        self.before: Usage | None = None
        self.paid: Usage | None = None

    def used(self) -> str | None:
        """The usage of all attempts so far, as an entry keeps it."""
        if self.before is None and self.paid is None:
            return None
        total = Usage()
        for part in (self.before, self.paid):
            if part is not None:
                total.add(part)
        return usage_text(total)

    def pay(self, usage: Usage) -> None:
        """An attempt of this process has used something."""
        self.paid = self.paid or Usage()
        self.paid.add(usage)

    def count_before(self, effect: Effect) -> None:
        """The call is over: what earlier attempts used counts as its own, once."""
        if self.before is not None:
            self.before.add(effect.usage or Usage())
            effect.usage, self.before = self.before, None

    def note(self, attempt: int) -> dict[str, Any]:
        """How far the call has got: the attempt that is under way, where it is not the first; see `got_to`."""
        note: dict[str, Any] = {"attempt": attempt} if attempt > 1 else {}
        return {**note, "apart": self.apart} if self.apart else note

    def under_way(self, attempt: int) -> str | None:
        """The note as its entry keeps it; None where there is nothing to note."""
        note = self.note(attempt)
        return encoded(note) if note else None


def got_to(found: Entry) -> tuple[int, str]:
    """The attempt that a call which is made again begins with: those before it had failed. And what sets it apart."""
    if found.result is None or found.state == "withheld":
        return 1, ""
    note = json.loads(found.result)
    return note.get("attempt", 1), note.get("apart", "")


class Drafts:
    """Makes the drafts of one run."""

    def __init__(self, redactor: Callable[[], Redactor]) -> None:
        self.redactor = redactor
        self._within: dict[tuple[str, ...], str] = {}

    def draft(self, effect: Effect, *, keep_ready: bool) -> Draft | None:
        """What would be noted of a call; None where that is impossible, and the call will fail for the same reason.

        `keep_ready`: whoever comes next asks a model for the same in a moment, and need not make the request again.
        """
        service: Any = effect.service
        metered = getattr(service, "metered", False)
        try:
            request = asked(effect)
            if metered:
                ready = service.asked(effect)
                request["request"] = ready.request.as_json()
                if keep_ready:
                    effect.ready = ready
        except (RunError, TooLarge, ValueError):
            return None
        inputs = request["inputs"]
        if len(inputs) > 1:
            request["inputs"] = {name: inputs[name] for name in sorted(inputs)}
        if effect.modifiers is not NO_MODIFIERS:
            told = effect.modifiers.as_json()
            request |= {name: told[name] for name in ("retry", "backoff", "timeout") if name in told}
        clean = self.redactor()
        text, _ = without_secrets(request, clean)
        name = clean.text(service.name)  # a command line may hold a secret
        digest = hashlib.blake2b(f"{name}\0{text}".encode(), digest_size=16).hexdigest()
        place = effect.place
        key = effect.address
        if effect.kind == "ask":
            # A model is asked the same question once in a run, whichever condition comes to it first.
            key = f"ask:{digest if metered else key}" + (f"#{effect.turn}" if effect.turn else "")
        if place.leaving:
            key = f"leaving:{key}"
        within = self._within.get(place.within)
        if within is None:
            within = self._within[place.within] = encoded(list(place.within))
        position = encoded([*place.order, *effect.site.order(effect.indices)])
        entry = Entry(key, effect.kind, name, digest, text, position=position, within=within)
        return Draft(entry, anew=place.leaving)
