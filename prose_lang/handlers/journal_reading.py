"""Reading back: what a run that is gone on with knows of its calls, and which of them are made again (L35).

An entry counts if it stands at the same address and the same was asked: see `journal_drafts.py`. Where something else
was asked before it is P502, or the call is made anew under `accept`.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable

from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.handlers.journal_drafts import Draft, got_to
from prose_lang.handlers.journal_usage import usage_in
from prose_lang.journal.port import Store
from prose_lang.journal.records import Entry
from prose_lang.runtime.effects import Effect, Usage
from prose_lang.runtime.ledger import Known
from prose_lang.services.answers import error_of

#: Entries that are read at a time, and about how many bytes of them are kept until they are asked for: thousands of
#: branches ask in another order than that in which they began.
_AHEAD = 255
_KEPT = 4_000_000


class Reader:
    """The entries of a run that is gone on with, read ahead in the order in which they were begun."""

    def __init__(self, store: Store, run: str) -> None:
        self.store = store
        self.run = run
        self._ahead: OrderedDict[str, Entry] = OrderedDict()
        self._size = 0

    def find(self, key: str) -> Entry | None:
        """The entry of a key, which is asked for once. Raises StoreError P501."""
        found = self._ahead.pop(key, None)
        if found is not None:
            self._size -= _size(found)
        else:
            read = self.store.find(self.run, key, _AHEAD)
            if not read:
                return None
            found = read[0]
            self._keep(read[1:])
        return self.store.resolved(found) if found.final or found.state == "waiting" else found

    def _keep(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            known = self._ahead.pop(entry.key, None)
            self._size += _size(entry) - (0 if known is None else _size(known))
            self._ahead[entry.key] = entry
        while self._size > _KEPT:
            self._size -= _size(self._ahead.popitem(last=False)[1])


def _size(entry: Entry) -> int:
    """About the bytes of memory that it takes."""
    return 1_000 + len(entry.request) + len(entry.result or "")


class Reading:
    """What one run reads back. Without a `reader` it is a new run, of which nothing is known.

    `frozen`: nothing is done, only read back (P409). `accept`: what was asked differently is done anew. `again`: calls
    that failed are made again, and so is what was asked differently for it. `changed`: the program or its inputs are
    not those of the record, so nothing but calls counts of it. `skip` is told the address of each call that is read
    back, and `redo` of each that was under way and is made again: whoever answers in order, or records what is
    answered, has to know. `on_recall` is told the call itself: the cache gives no other one its answer.
    """

    def __init__(
        self,
        reader: Reader | None = None,
        *,
        frozen: bool = False,
        accept: bool = False,
        again: bool = False,
        changed: bool = False,
    ) -> None:
        self.reader = reader
        self.frozen = frozen
        self.accept = accept
        self.again = again
        self.changed = changed
        self.skip: Callable[[str], None] | None = None
        self.redo: Callable[[str], None] | None = None
        self.on_recall: Callable[[Effect], None] | None = None

    def find(self, key: str) -> Entry | None:
        """What is on record at a key. Raises StoreError P501."""
        return None if self.reader is None else self.reader.find(key)

    def known(self, effect: Effect, draft: Draft, found: Entry) -> Known | None:
        """What a call gave, or None: then it is made, and what earlier attempts of it used counts as its own.

        Raises the error that it ended with, or RunError P502 where something else was asked.
        """
        usage = usage_in(found.usage)
        if found.fingerprint != draft.entry.fingerprint:
            if found.final and (self.frozen or not (self.accept or self.again)):
                raise self._changed(effect, draft.entry, found)
            draft.anew, draft.apart = True, draft.entry.fingerprint[:12]
            draft.before, effect.made = usage, found.attempts
            return None
        if found.state == "error" and self.again and not self.frozen:
            draft.anew = True
        elif found.final:
            return self._read_back(effect, found, usage)
        effect.made = found.attempts
        draft.before = usage
        if not found.final:
            effect.attempt, draft.apart = got_to(found)
        if self.redo is not None:
            self.redo(effect.address)
        if found.state in ("started", "cancelled") and getattr(effect.service, "metered", False):
            # It was under way, and nobody knows what it took, unless it costs nothing.
            cost = json.loads(found.reserved)[1] if found.reserved is not None else None
            draft.before = draft.before or Usage()
            draft.before.add(Usage(cost=0.0 if cost == 0 else None))
        return None

    def _read_back(self, effect: Effect, found: Entry, usage: Usage | None) -> Known:
        """What a finished call gave: its value, or its error is raised."""
        effect.recalled = True
        effect.made, effect.usage, effect.seconds = found.attempts, usage, found.seconds
        result = json.loads(found.result or "null")
        error: RunError | None = None
        if found.state == "value":
            effect.value = result
            # Attempts that a killed process did not finish were made once more: of the program there were fewer.
            effect.attempt = max(1, min(found.attempts, 1 + effect.modifiers.retry))
        else:
            error = effect.error = placed(error_of(result, result.get("service", effect.service.name)), effect)
            error.attempts = effect.attempt = result.get("attempts", 1)
            error.answer = result.get("answer")
        effect.cached = usage is not None and bool(usage.cached)
        if effect.kind == "ask":  # a decision names the model that made it
            effect.model = json.loads(found.request).get("request", {}).get("model")
        if self.skip is not None:
            self.skip(effect.address)
        if self.on_recall is not None:
            self.on_recall(effect)
        if error is not None:
            raise error
        return Known(result)

    def nothing(self, effect: Effect, found: Entry | None) -> ServiceError:
        """P409 of a call that cannot be read back, where nothing else is done; `found` is what is on record of it."""
        name = effect.service.name
        if found is None:
            why = f"the record has no call of `{name}` here"
        elif found.state == "waiting":
            why = f"the record ends here: `{name}` waits for an answer"
        elif found.state == "withheld":
            why = f"`{name}` answered with a secret, which the record does not keep"
        else:
            why = f"the record ends here: `{name}` had not answered"
        return ServiceError(
            "P409", f"{why} ({effect.address})", source=effect.site.source, span=effect.site.span, service=name,
            hint="`prose resume` goes on with a run",
        )  # fmt: skip

    def _changed(self, effect: Effect, now: Entry, found: Entry) -> RunError:
        from prose_lang.cassettes.nearest import values_compared

        assert self.reader is not None
        found = self.reader.store.resolved(found)
        lines = values_compared(
            {"service": found.service, **json.loads(found.request)}, {"service": now.service, **json.loads(now.request)}
        )
        what = "\n".join(["what was recorded (-) and what is asked now (+):", *lines])
        accept = "" if self.frozen else "\n--accept-changes makes the call anew"
        return RunError(
            "P502", f"the call of `{effect.service.name}` is not the one that the run recorded at {found.key}",
            source=effect.site.source, span=effect.site.span, service=effect.service.name,
            hint=f"{what}{accept}",
        )  # fmt: skip


def placed(error: RunError, effect: Effect) -> RunError:
    """An error that was read back, at the place of the call."""
    error.source, error.span = effect.site.source, effect.site.span
    return error
