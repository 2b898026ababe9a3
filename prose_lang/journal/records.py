"""What a store keeps, as plain records: runs, their entries, decisions, warnings, attempts, and cached answers.

Everything here is text and numbers. Texts of values are JSON in ASCII, so that any store takes them and none changes
them. What they mean is for whoever writes and reads them (`handlers/journal.py`, `engine/`).
"""

from __future__ import annotations

import zlib
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

#: What has become of an entry. `started`: it may be under way somewhere, or was when its process died. `value` and
#: `error` are final. `waiting`: a person has to answer. `cancelled`: it lost a race, or its run was interrupted.
#: `withheld`: it succeeded, and its result held a secret that is not kept.
STATES = ("started", "value", "error", "waiting", "cancelled", "withheld")

#: The statuses of a run that is not over, or never was: its process works on it, or has died.
UNFINISHED = "running"


class Entry(NamedTuple):
    """One thing that a run came to know: what a call gave, what the judge said, who won a race.

    `key` is unique in a run: a call's address (L35); of other kinds the kind stands before it. `fingerprint` tells what
    was asked, in hexadecimal digits; `request` is that in JSON and `result` what came of it. `attempts` counts those
    that were made. `usage` is what they took, and of an entry that is not final `reserved` what the last one may take.
    `started` is Unix time, `seconds` how long it took. `position` sorts the entries of a run in program order,
    `within` names the patterns and instances around it (L34).
    """

    key: str
    kind: str
    service: str = ""
    fingerprint: str = ""
    request: str = "null"
    state: str = "started"
    result: str | None = None
    attempts: int = 0
    usage: str | None = None
    reserved: str | None = None
    started: float = 0.0
    seconds: float = 0.0
    position: str = "[]"
    within: str = "[]"

    @property
    def final(self) -> bool:
        """Whether it is known what came of it."""
        return self.state in ("value", "error")

    def checksum(self) -> int:
        """What tells that a store gives back what it was given.

        >>> Entry("a", "call").checksum() == Entry("a", "call", state="value", result="1").checksum()
        False
        """
        text = f"{self.key}\0{self.kind}\0{self.service}\0{self.fingerprint}\0{self.request}\0{self.state}\0"
        return zlib.crc32(f"{text}{self.result or ''}\0{self.attempts}\0{self.usage or ''}".encode())


class Begun(NamedTuple):
    """An entry is begun, or tried again. With `anew` it takes the place of a final one of its key."""

    run: str
    entry: Entry
    anew: bool = False


class Ended(NamedTuple):
    """An entry has ended. Where it has ended already, what was written first stays."""

    run: str
    entry: Entry


class Decided(NamedTuple):
    """How a condition or a choice fell: `outcome`, `values` and `judge` in JSON."""

    run: str
    address: str
    position: str
    text: str
    layer: str
    outcome: str
    values: str
    reason: str
    judge: str | None


class Warned(NamedTuple):
    """A warning event of a run, with how often it was said (`times`)."""

    run: str
    code: str
    message: str
    file: str
    line: int
    times: int


class Finished(NamedTuple):
    """A run has stopped working: `status` is that of its outcome, `outcome` the rest of it in JSON (value, error,
    usage, diagnostics)."""

    run: str
    status: str
    outcome: str
    ended: float


Change: TypeAlias = "Begun | Ended | Decided | Warned | Finished"


class SourceText(NamedTuple):
    """A source of a run: the `name` that it is reported under, where it stood (None for one that stood in no file), its
    path below the root of its project, and its text."""

    name: str
    path: str | None
    inside: str | None
    text: str

    @property
    def digest(self) -> str:
        return digest_of(self.text.encode("utf-8", "surrogatepass"))


class RunRecord(NamedTuple):
    """A run. `source` is how its pattern was named and loaded, `names` what it was given, `options` how it was run,
    each in JSON; `program` is the digest of all its sources. `status` is that of its outcome, or `running`. Times are
    Unix times; `active` is that of the latest sign of life, `seconds` how long it has worked, all its sessions
    together."""

    id: str
    pattern: str
    source: str
    names: str
    options: str
    program: str
    version: str
    status: str = UNFINISHED
    outcome: str | None = None
    started: float = 0.0
    ended: float | None = None
    active: float = 0.0
    seconds: float = 0.0
    calls: int = 0

    def checksum(self) -> int:
        """What tells that a store gives back what it was given."""
        parts = (self.id, self.pattern, self.source, self.names, self.options, self.program, self.version, self.status)
        return zlib.crc32("\0".join((*parts, self.outcome or "")).encode("utf-8", "surrogatepass"))


class Attempt(NamedTuple):
    """What one attempt of a call gave where it was made by a worker: `state` is `value` or `error`."""

    run: str
    key: str
    number: int
    state: str
    result: str
    usage: str | None


class Cached(NamedTuple):
    """An answer that may be given again: `key` is the digest of everything that was asked, sample number included."""

    key: str
    service: str
    request: str
    result: str
    usage: str | None
    made: float


class RunFilter(NamedTuple):
    """Which runs are meant: by pattern (a part of its name), statuses, start times, and the most that are wanted."""

    pattern: str | None = None
    statuses: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None
    limit: int | None = None


ALL_RUNS = RunFilter()


def digest_of(data: bytes) -> str:
    """The name of a content: 40 hexadecimal digits.

    >>> len(digest_of(b""))
    40
    """
    return blake2b(data, digest_size=20).hexdigest()
