"""The file of a cassette: read once when it is first needed, written by appending whole lines.

Recording adds to what the file holds; of each request the newest recording counts, so that recording again needs no
deleting. Several processes may record into one file: each line is one write at the end of it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

from prose_lang.cassettes.nearest import nearest_take
from prose_lang.cassettes.take import Take, Unreadable, key_of, read_take
from prose_lang.diagnostics import SourceError
from prose_lang.text import Source, Span

Mode: TypeAlias = Literal["live", "record", "replay"]
MODES: tuple[Mode, ...] = ("live", "record", "replay")

_HINT = "record it first: --cassette-mode record"


class Cassette:
    """A cassette. Under `replay` every answer comes from the file and nothing is asked; under `record` everything is
    asked, and added to the file; under `live` the file is left alone.

    The file is read when the first answer is wanted: SourceError P103 where there is none or it cannot be read, P501
    for a line that is no take of this version. An unfinished last line, as a crash leaves it, is passed over.

    >>> Cassette("none.jsonl", "record").part("a").replays
    False
    """

    def __init__(self, path: str | os.PathLike[str], mode: Mode = "replay") -> None:
        if mode not in MODES:
            raise ValueError(f"{mode!r} is no mode of a cassette; there are {', '.join(MODES)}")
        self.path = Path(path)
        self.mode: Mode = mode
        self._lock = threading.RLock()
        self._takes: _Takes | None = None

    def part(self, name: str = "") -> Part:
        """A part of its own: a scenario, a test. It begins at the first take of each request, however often it is
        played."""
        return Part(self, name)

    def check(self) -> None:
        """Read the file now if it will be needed. Raises SourceError P103 or P501."""
        if self.mode == "replay":
            self.takes()

    # --- reading -----------------------------------------------------------------------------------------------------

    def takes(self) -> _Takes:
        """What the file holds. Raises SourceError."""
        with self._lock:
            if self._takes is None:
                self._takes = _Takes(self.read())
            return self._takes

    def read(self) -> Iterator[Take]:
        """The lines of the file, as they stand there. Raises SourceError."""
        name = str(self.path)
        try:
            text = self.path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            raise SourceError("P103", f"there is no cassette `{name}`", hint=_HINT) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SourceError("P103", f"the cassette `{name}` cannot be read: {reason}") from None
        except UnicodeDecodeError as error:
            raise SourceError("P103", f"the cassette `{name}` is not UTF-8 text (byte {error.start})") from None
        source, start = Source(name, text), 0
        for line in text.split("\n"):  # a text in a line may hold any other line break
            if line.strip():
                try:
                    yield read_take(line)
                except Unreadable as error:
                    if start + len(line) == len(text) and error.torn:
                        return
                    shown = Span(start, start + len(line.rstrip("\r")))
                    message = f"this line is not to be used: {error}"
                    raise SourceError("P501", message, source=source, span=shown) from None
            start += len(line) + 1

    # --- writing -----------------------------------------------------------------------------------------------------

    def append(self, take: Take) -> None:
        """Add a take at the end, in one write. Raises SourceError P103."""
        data = take.as_line().encode("utf-8")
        with self._lock:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
                try:
                    _drop_unfinished(handle)
                    written = os.write(handle, data)
                finally:
                    os.close(handle)
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise SourceError("P103", f"the cassette `{self.path}` cannot be written: {reason}") from None
            if written != len(data):
                raise SourceError("P103", f"the cassette `{self.path}` cannot be written: the disk is full")


def _drop_unfinished(handle: int) -> None:
    """Take away what a crash left of a line at the end: it could be neither read nor gone on with."""
    size = os.fstat(handle).st_size
    if not size:
        return
    os.lseek(handle, size - 1, os.SEEK_SET)
    if os.read(handle, 1) == b"\n":
        return
    os.lseek(handle, 0, os.SEEK_SET)
    held = b""
    while len(held) < size and (more := os.read(handle, size - len(held))):
        held += more
    last = held[held.rfind(b"\n") + 1 :]
    try:
        read_take(last.decode("utf-8"))
    except (UnicodeDecodeError, Unreadable) as error:
        if isinstance(error, Unreadable) and not error.torn:
            os.write(handle, b"\n")
        else:
            os.ftruncate(handle, size - len(last))
    else:
        os.write(handle, b"\n")


class Part:
    """One part of a cassette, as it is played or recorded once. It may serve several runs, one after the other or at
    the same time."""

    def __init__(self, cassette: Cassette, name: str) -> None:
        self.cassette = cassette
        self.name = name
        self.recording = f"{int(time.time() * 1000):x}-{os.urandom(3).hex()}"
        self._lock = threading.Lock()
        self._used: dict[str, int] = {}
        self._left_out: dict[str, set[int]] = {}
        self._numbers = 0
        self._before: frozenset[str] = frozenset()  # the addresses of what was recorded by earlier processes

    @property
    def replays(self) -> bool:
        """Whether answers come from the file."""
        return self.cassette.mode == "replay"

    @property
    def records(self) -> bool:
        """Whether answers go into the file."""
        return self.cassette.mode == "record"

    def number(self) -> int:
        """The number of the next request that is recorded; requests are numbered when they are made."""
        with self._lock:
            self._numbers += 1
            return self._numbers

    def next(self, service: str, request: dict[str, object]) -> Take | Missing:
        """The take that answers a request: the next one of those that are equal. Raises SourceError."""
        takes = self.cassette.takes()
        key = key_of(service, request)
        found = takes.of(self.name, key)
        with self._lock:
            used, left_out = self._used.get(key, 0), self._left_out.get(key, ())
            while used in left_out:
                used += 1
            if used < len(found):
                self._used[key] = used + 1
                return found[used]
        return Missing(used, None if found else nearest_take(service, request, takes.all(), self.name))

    def gone_on(self, recording: str) -> Part:
        """The part of a run that is gone on with while it is recorded: one recording together with what earlier
        processes recorded of it. Raises SourceError."""
        made = Part(self.cassette, self.name)
        made.recording = recording
        if self.cassette.path.exists():
            own = [take for take in self.cassette.read() if (take.recording, take.part) == (recording, self.name)]
            made._numbers = max((take.number for take in own), default=0)
            made._before = frozenset(take.address for take in own)
        return made

    def begin_again(self, address: str) -> None:
        """Take back what was recorded of a call that had not ended, and is made again. Raises SourceError."""
        if address in self._before:
            self.cassette.append(Take(self.recording, self.name, self.number(), address, "", {}, {"again": True}))

    def skip(self, address: str) -> None:
        """Leave out what answered the call at an address, for that is known already. Raises SourceError."""
        for key, number in self.cassette.takes().at(self.name, address):
            self._left_out.setdefault(key, set()).add(number)


@attrs.frozen
class Missing:
    """No take answers a request: it was recorded `used` times, which are used up, or never; then `near` is the most
    similar one."""

    used: int
    near: Take | None


class _Takes:
    """The takes of a file: of each request those of its newest recording, in the order of the requests."""

    def __init__(self, takes: Iterator[Take]) -> None:
        self._parts: dict[tuple[str, str], list[Take]] = {}
        self._anywhere: dict[str, list[Take]] = {}
        self._places: dict[tuple[str, str], list[tuple[str, int]]] = {}  # made when it is first needed
        recorded: dict[tuple[str, str, str], list[str]] = {}
        for take in takes:
            place = (take.recording, take.part, take.address)
            if "again" in take.answer:
                for key in recorded.pop(place, ()):
                    for group in (self._parts.get((take.part, key), []), self._anywhere.get(key, [])):
                        group[:] = [one for one in group if (one.recording, one.part, one.address) != place]
                continue
            key = take.key
            recorded.setdefault(place, []).append(key)
            for group in (self._parts.setdefault((take.part, key), []), self._anywhere.setdefault(key, [])):
                if group and (group[0].recording, group[0].part) != (take.recording, take.part):
                    if take.recording < group[0].recording:  # written late by another process
                        continue
                    group.clear()
                group.append(take)
        for group in (*self._parts.values(), *self._anywhere.values()):
            group.sort(key=lambda take: take.number)

    def of(self, part: str, key: str) -> list[Take]:
        """The takes of a request in a part; where the part has none, those of any other."""
        return self._parts.get((part, key)) or self._anywhere.get(key, [])

    def at(self, part: str, address: str) -> Iterator[tuple[str, int]]:
        """The takes of a call, each as its request and its number among the equal ones."""
        if not self._places:
            for (name, key), group in self._parts.items():
                for number, take in enumerate(group):
                    self._places.setdefault((name, take.address), []).append((key, number))
        yield from self._places.get((part, address), ())

    def all(self) -> Iterator[Take]:
        """All takes that may be played."""
        for group in self._anywhere.values():
            yield from group
