"""The way to something that happened in a run, as its address (L35) tells it: patterns, blocks, loops and their passes.

Arms of an `if`, options and numbers of statements are steps of an address too; they are left out, for the decision
that was taken there tells more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

#: What stands between a call, or a question to a judge, and the pattern that answered it.
_INTO_PATTERN = re.compile(r"/(?=(?:delegation|execution)/\d)")
_STEP = re.compile(
    r"\.(?P<word>repeat|loop|for|parallel|map|pmap|filter|reduce)\[(?P<number>\d+)\]"
    r"|\.do:(?P<block>[^/#]+)(?:#\d+)?(?=/)"
    r"|\.(?P<part>catch|finally)(?=/)"
)
_CALLED = re.compile(r"\.call:(?P<name>.+?)(?:#\d+)?(?:\.retry\[(?P<retry>\d+)\])?$")
#: A stage of a pipeline settles its race under the pass after its last one.
_STAGE = re.compile(r"\[\d+\]\.(?:map|pmap|filter|reduce)$")

#: Of each kind of loop: what one of its passes is called, and the number of the first.
PASSES: Mapping[str, tuple[str, int]] = MappingProxyType(
    {
        "repeat": ("round", 1),
        "loop": ("round", 1),
        "for": ("item", 0),
        "parallel": ("branch", 0),
        "map": ("item", 0),
        "pmap": ("item", 0),
        "filter": ("item", 0),
        "reduce": ("item", 0),
    }
)


class Step(NamedTuple):
    """One step of the way. `key` is the address up to there. `kind` is `loop`, `pass`, `pattern`, `block` or `part`,
    which is a `catch` or a `finally`."""

    key: str
    kind: str
    label: str


def steps(address: str) -> Iterator[Step]:
    """The steps to what has an address, from the outermost.

    >>> [step.label for step in steps("delegation/3.call:refine/delegation/1.repeat[2]/0.call:refiner")]
    ['refine', 'repeat', 'round 2']
    """
    start = 0
    while True:
        into = _INTO_PATTERN.search(address, start)
        end = len(address) if into is None else into.start()
        yield from _within(address, start, end)
        if into is None:
            return
        yield Step(address[:end], "pattern", _pattern(address[start:end]))
        start = into.end()


def _within(address: str, start: int, end: int) -> Iterator[Step]:
    """The steps inside one pattern."""
    for step in _STEP.finditer(address, start, end):
        word, number = step["word"], step["number"]
        if word is not None:
            said, first = PASSES[word]
            yield Step(address[: step.start("number") - 1], "loop", word)
            yield Step(address[: step.end()], "pass", f"{said} {int(number) - first + 1}")
        elif step["block"] is not None:
            yield Step(address[: step.end()], "block", step["block"])
        else:
            yield Step(address[: step.end()], "part", step["part"])


def _pattern(chunk: str) -> str:
    called = _CALLED.search(chunk)
    if called is None:  # a pattern that judges
        return "judge"
    return called["name"] if called["retry"] is None else f"{called['name']}, attempt {int(called['retry']) + 1}"


def settled_at(address: str) -> str:
    """The `key` of the loop whose branches were settled under an address.

    >>> settled_at("delegation/0.0.pmap[3].pmap"), settled_at("delegation/1.parallel")
    ('delegation/0.0.pmap', 'delegation/1.parallel')
    """
    return _STAGE.sub("", address)
