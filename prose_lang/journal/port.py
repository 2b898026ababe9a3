"""The port behind which runs are kept (L35). One object serves all runs of a process, from any thread.

A store knows nothing of programs. It keeps what it is given, gives it back unchanged or says that it cannot (P501), and
lets one process at a time work on a run (P503). Every call is a plain blocking one: `writer.py` keeps them off the
event loop. Raises `StoreError` and nothing else of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from prose_lang.diagnostics import ProseError
from prose_lang.journal.records import (
    ALL_RUNS,
    Attempt,
    Cached,
    Change,
    Entry,
    RunFilter,
    RunRecord,
    SourceText,
    Warned,
)
from prose_lang.journal.records import Decided as DecidedRow

#: Characters of a JSON text beyond which it is kept apart, by its content.
LARGE = 65_536
#: Seconds to wait for another process that has what is wanted.
PATIENCE = 10.0
#: What stands before the digest of a text that is kept apart. No JSON text begins so.
APART = "@"


class StoreError(ProseError):
    """P501 for what cannot be read or written, P503 for what another process has, P504 for a server that does not
    answer. `run` is the run that it is about, if it is about one alone."""

    def __init__(self, code: str, message: str, *, hint: str | None = None, run: str | None = None) -> None:
        super().__init__(code, message, hint=hint)
        self.run = run


class Hold(Protocol):
    """The right to work on a run. It ends with `release`, or with the process."""

    def release(self) -> None: ...


class Store(Protocol):
    """Where runs are kept."""

    @property
    def address(self) -> str:
        """How a user names it: a folder, or a URL without its password."""

    def hold(self, run: str) -> Hold:
        """Take a run for this process. P503 where it is taken, by another process or this one."""

    def held(self, run: str) -> bool:
        """Whether some process works on a run."""

    def create(self, record: RunRecord, sources: Sequence[SourceText]) -> None:
        """Keep a new run, durably. Sources are kept once, by their digests. P501 where there is one of its id."""

    def reopen(self, run: str, record: RunRecord | None = None, sources: Sequence[SourceText] = ()) -> None:
        """Another process goes on with a run: its status is `running` again. A `record` takes the place of what was
        known of its source, names, options and program."""

    def write(self, changes: Sequence[Change]) -> None:
        """Write all or nothing, in order. Durable against the death of the process when it returns; against the loss of
        power too where the store was opened so. P503 where this process held one of the runs and lost it; P501 where
        there is no such run."""

    def run(self, run: str) -> RunRecord:
        """One run, by its id or the beginning of it that is unique. P501 where there is none, or it is damaged."""

    def runs(self, which: RunFilter = ALL_RUNS) -> list[RunRecord]:
        """Runs, the latest first. One that is damaged is `DAMAGED` and keeps nobody from seeing the others. A large
        outcome is a reference; `run` gives it in full."""

    def sources(self, run: str) -> list[SourceText]:
        """The sources of a run, that of its pattern first."""

    def find(self, run: str, key: str, ahead: int = 0) -> list[Entry]:
        """The entry of a key, and up to `ahead` of those that were begun after it; empty if there is none. Large texts
        in them are references until they are `resolved`. P501 for an entry that is damaged."""

    def resolved(self, entry: Entry) -> Entry:
        """An entry with its large texts in full. P501 where one is missing or damaged."""

    def entries(self, run: str, kinds: Sequence[str] = ()) -> list[Entry]:
        """The entries of a run, of some kinds or all, in the order in which they were begun; see `resolved`."""

    def sums(self, run: str) -> Iterable[Entry]:
        """The entries of kinds `call` and `ask` as far as limits need them: without request and result. They come
        in any order, and are read as they are asked for: there may be very many."""

    def decisions(self, run: str) -> list[DecidedRow]:
        """Its decisions, by address."""

    def warnings(self, run: str) -> list[Warned]:
        """Its warnings, by place."""

    def attempt(self, run: str, key: str, number: int) -> Attempt | None:
        """What an attempt gave that a worker made."""

    def put_attempt(self, attempt: Attempt) -> Attempt:
        """Keep what an attempt gave; what was kept first stays, and is given back."""

    def cached(self, key: str) -> Cached | None:
        """An answer that was kept under a key."""

    def put_cached(self, cached: Cached) -> None:
        """Keep an answer; what was kept under its key before is replaced."""

    def put_file(self, data: bytes) -> str:
        """Keep a content; gives its digest."""

    def get_file(self, digest: str) -> bytes:
        """A content by its digest. P501 where it is missing or damaged."""

    def remove(self, runs: Sequence[str]) -> int:
        """Take runs away one after another, with all that belongs to them; gives how many there were. P503 for one that
        is held: those before it are gone."""

    def clean(self) -> int:
        """Take away contents that nothing refers to any more; gives the bytes that were freed."""

    def drop_cached(self, before: float | None = None) -> int:
        """Take away cached answers, all or those made before a time; gives how many."""

    def close(self) -> None:
        """Let go of everything. No hold ends by this."""
