"""Takes: one request and what came of it, as one line of JSON that a person can read.

    {"cassette": 1, "recording": "19…", "part": "", "number": 3, "address": "delegation/0.call:critic",
     "service": "critic", "request": {…}, "answer": {…}, "seconds": 1.204}

`answer` is one of `{"text": …, "finish": …, …}` (a model), `{"value": …}`, `{"error": {…}}` and `{"cancelled": true}`.
`{"again": true}` takes back what was recorded before at this address: the run was stopped there, and gone on with.
What was asked is compared as canonical JSON of service and request; address, time and numbers are for the reader, and
to keep the order.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import attrs

#: The version of the format. A file of another one is refused.
VERSION = 1

_BEGINNING = '{"cassette": '
_TEXTS = ("recording", "part", "address", "service")
_OBJECTS = ("request", "answer")


class Unreadable(ValueError):
    """A line that is no take; the message says why. `torn` tells that it may be the beginning of one."""

    torn = False


@attrs.frozen
class Take:
    """One request with its answer. `recording` is the same for all takes that were recorded together; `number` counts
    them in the order in which their requests were made. `seconds` is how long the answer took."""

    recording: str
    part: str
    number: int
    address: str
    service: str
    request: dict[str, Any]
    answer: dict[str, Any]
    seconds: float = 0.0

    @property
    def key(self) -> str:
        """What the take is found by."""
        return key_of(self.service, self.request)

    def as_line(self) -> str:
        """The line of the file, with its line break."""
        plain = {"cassette": VERSION, **attrs.asdict(self, recurse=False)}
        text = json.dumps(plain, ensure_ascii=False)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only say with an escape
            text = json.dumps(plain)
        return text + "\n"


def key_of(service: str, request: dict[str, Any]) -> str:
    """The digest of a request in canonical form: the order of keys does not count.

    >>> key_of("critic", {"inputs": {"a": 1, "b": 2}}) == key_of("critic", {"inputs": {"b": 2, "a": 1}})
    True
    """
    text = json.dumps([service, request], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_take(line: str) -> Take:
    """The take that a line is. Raises `Unreadable`.

    >>> read_take('{"cassette": 2}')
    Traceback (most recent call last):
    ...
    prose_lang.cassettes.take.Unreadable: it is of version 2, and this program reads version 1
    """
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError):
        error = Unreadable("it is not JSON")
        error.torn = line.startswith(_BEGINNING[: len(line)])
        raise error from None
    if not isinstance(plain, dict) or "cassette" not in plain:
        raise Unreadable("it is no take of a cassette")
    if plain["cassette"] != VERSION:
        raise Unreadable(f"it is of version {plain['cassette']}, and this program reads version {VERSION}")
    for names, kind, what in ((_TEXTS, str, "a text"), (_OBJECTS, dict, "an object"), (("number",), int, "a number")):
        for name in names:
            if not isinstance(plain.get(name), kind):
                raise Unreadable(f"its `{name}` is not {what}")
    seconds = plain.get("seconds", 0.0)
    return Take(
        plain["recording"],
        plain["part"],
        plain["number"],
        plain["address"],
        plain["service"],
        plain["request"],
        plain["answer"],
        float(seconds) if isinstance(seconds, (int, float)) else 0.0,
    )
