"""Going on with a run of a store: finding it, taking it, and seeing that it is still the same (P501, P502, P503).

resume   finished calls are read back, the others are made
replay   everything is read back and nothing is made: where the record has no answer it is P409
answer   a person's answer is put into the record; then it is a resume
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from prose_lang.diagnostics import CheckError, ProseError
from prose_lang.diagnostics.redact import MARK
from prose_lang.engine.outcome import Outcome
from prose_lang.engine.recorded_names import names_given
from prose_lang.engine.recording import About, Continued
from prose_lang.engine.snapshots import laid_out
from prose_lang.engine.sources import sources_compared
from prose_lang.journal import UNFINISHED, RunRecord, Store

if TYPE_CHECKING:
    from prose_lang.engine.engine import Engine
    from prose_lang.engine.pattern import Pattern


class Resuming:
    """Goes on with the runs of an engine's store."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def store(self) -> Store:
        """The engine's store. Raises StoreError, and ValueError for an engine that has none."""
        if self.engine.records is None:
            raise ValueError("this engine keeps no runs: make it with Engine(store=…)")
        return self.engine.records.store

    async def outcome_async(
        self,
        run: str,
        names: Mapping[str, Any] = MappingProxyType({}),
        interrupted: list[Outcome] | None = None,
        *,
        accept_changes: bool = False,
        retry_errors: bool = False,
        replay: bool = False,
        recorded_sources: bool = False,
        answers: Mapping[str, Any] = MappingProxyType({}),
        pattern: Pattern | None = None,
    ) -> Outcome:
        """Go on with a run, and tell how it ended.

        `accept_changes`: sources and inputs may have changed since; calls that still match, by address and by what is
        asked, are read back, all others are made anew. `retry_errors`: calls that failed are made again. `replay`:
        nothing is made and nothing is written; the run has to come out of its record alone. `recorded_sources`: the
        sources are those of the record, whatever the files hold now. `answers`: of persons, put into the record first.
        `pattern`: that one is run, with the `names` as they are, and both have to be those of the record.
        """
        hold = None
        try:
            store = self.store
            record = store.run(run)
            asked_for = names or answers or accept_changes or retry_errors or pattern is not None
            as_it_was = not replay and not asked_for  # else it is seen whether it is still the same
            if as_it_was and record.status == "ok":  # of what is over nobody has to be kept away
                return await asyncio.to_thread(finished, record, store)  # there may be very many calls
            if not replay:
                hold = store.hold(record.id)
                record = store.run(record.id)
                if as_it_was and record.status == "ok":
                    return await asyncio.to_thread(finished, record, store)
            continued = Continued(record, hold, replay, accept_changes, retry_errors, answers=answers)
            if pattern is not None:
                return await self.engine.outcome_async(pattern, names, interrupted, continued=continued)
            given = names_given(json.loads(record.names), names)
            with self.pattern(record, recorded_sources) as own:
                return await self.engine.outcome_async(own, given, interrupted, continued=continued)
        except ProseError as error:
            return Outcome(run, "invalid", error=error, diagnostics=error.diagnostics)
        finally:
            if hold is not None:
                hold.release()

    @contextmanager
    def pattern(self, record: RunRecord, recorded_sources: bool = False) -> Iterator[Pattern]:
        """The pattern of a run as it is now; of one that stood in no file, or where that is asked for, as it was.

        Raises SourceError where its file is gone, and CheckError P502 where its entry is.
        """
        from prose_lang.engine.pattern import Pattern

        source, loader = json.loads(record.source), self.engine.loader
        with ExitStack() as stack:
            if source["name"].startswith("stdlib:"):
                document = loader.load(source["name"])
            elif source["path"] is not None and not recorded_sources:
                document = loader.load_as(source["path"], source["name"])
            else:
                sources = self.store.sources(record.id)
                hidden = next((text.name for text in sources if MARK in text.text), None)
                if hidden is not None:
                    raise CheckError(
                        "P502", f"`{hidden}` held a secret, which the record does not keep",
                        hint="go on with the source itself: `prose run SOURCE … --resume RUN`",
                    )  # fmt: skip
                document = stack.enter_context(laid_out(sources, loader))
            entry = document.entry(source["entry"]) if source["entry"] else document.main
            if entry is None:
                raise CheckError("P502", f"`{source['name']}` has no entry `{source['entry']}` any more")
            yield Pattern(document, entry, self.engine)


def still_the_same(continued: Continued, store: Store, what: About) -> Continued:
    """See that sources and inputs are those of the record. Raises CheckError P502 with what has changed."""
    record = continued.record
    lines: list[str] = []
    found = []
    if what.program != record.program:
        found.append("its sources")
        lines += sources_compared(store.sources(record.id), what.sources)
    before, now = json.loads(record.names)["values"], what.names["values"]
    if json.dumps(before, sort_keys=True) != json.dumps(now, sort_keys=True):
        from prose_lang.cassettes.nearest import values_compared

        found.append("what it was given")
        lines += values_compared(before, now)
    if not found:
        return continued
    if continued.accept:
        return attrs.evolve(continued, changed=True)
    hint = "\n".join(["what was recorded (-) and what there is now (+):", *lines])
    if not continued.frozen:
        hint += "\n--accept-changes goes on all the same: what still matches is read back"
    raise CheckError("P502", f"the run {record.id} is not the same any more: {' and '.join(found)} changed", hint=hint)


def finished(record: RunRecord, store: Store) -> Outcome:
    """The outcome of a run that is over, as its record tells it."""
    from prose_lang.engine.recorded_outcome import recorded_outcome

    assert record.status != UNFINISHED
    return recorded_outcome(record, store)
