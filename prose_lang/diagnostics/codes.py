"""The registry of codes: P1xx reading, P2xx checking, P3xx running, P4xx services and limits, P5xx records.

A code is never reused and never changes its meaning; a new one goes at the end of its band. Each has a
page in `pages/CODE.md`, read by `prose explain CODE`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Code(NamedTuple):
    """A diagnostic code, its kebab-case name, and in a few words when it is given."""

    code: str
    name: str
    title: str


_TABLE = """
P101 not-a-statement        not a statement, or a malformed one
P102 never-closed           a bracket or string is never closed
P103 source-unreadable      a source is not found or cannot be read
P104 kind-not-run           this kind of file is not run
P105 body-missing           a body is missing, or there are two
P106 bad-frontmatter        the frontmatter is missing, unclosed or malformed
P107 bad-item               a malformed section item or instance
P108 pattern-cycle          patterns are nested in a cycle
P109 reference-not-found    a reference is not found, or leads outside its root
P110 unknown-escape         an unknown escape in a string
P111 bad-indentation        a tab in the indentation, or an uneven one
P112 bad-condition          an empty or malformed condition
P201 unknown-name           a name that nothing declares
P202 unknown-target         a call of something unknown or not callable
P203 missing-binding        an input, slot or binding is missing
P204 branches-set-one-name  two parallel branches set one name
P205 branch-writes-outer    a branch writes a variable of the body around it
P206 several-services       a call on a slot bound to several services
P207 declared-twice         a name is declared twice
P208 read-only              an assignment to something read-only
P209 colliding-binding      a duplicate or colliding binding
P210 unknown-binding        a name is given that nothing takes
P211 wrong-type             a value of the wrong type or out of bounds
P212 bad-modifier           an invalid modifier, strategy or count
P302 bad-loop-count         a loop count or collection of the wrong kind
P303 no-such-key            no such key or index
P304 bad-operation          an operation on values of the wrong kind
P305 not-a-value            a service returned what cannot be a value
P306 loop-ceiling           an open loop reached the runtime's ceiling
P307 too-deep               nested too deeply
P308 thrown                 thrown by the program and not caught
P401 too-few-succeeded      too few parallel branches succeeded
P402 judge-unusable         the judge gave no usable answer
P403 judge-needed           a judge is needed and none is there
P404 broken-contract        a service broke its contract
P405 limit-reached          a limit or budget was reached
P406 service-failed         a service failed
P407 answer-cut-off         a model's answer was cut off
P408 timed-out              a call took too long
P409 replies-used-up        scripted replies are used up, or a replay has no answer
P410 not-configured         credentials or a model are not configured
P411 person-needed          a person's answer is needed
P501 record-unreadable      a run record is unreadable or of another version
P502 source-changed         source or inputs changed since the run
P503 run-in-use             the run is in use by another process
P504 engine-unreachable     the engine is not reachable
"""


def _read_table() -> Mapping[str, Code]:
    rows = (line.split(maxsplit=2) for line in _TABLE.strip().splitlines())
    return MappingProxyType({code: Code(code, name, title) for code, name, title in rows})


#: Every code, by itself (`CODES["P201"]`).
CODES: Mapping[str, Code] = _read_table()


def code_named(text: str) -> Code | None:
    """The code that a person means by `P201`, `p201` or `unknown-name`; None if there is no such code.

    >>> code_named("unknown-name").code
    'P201'
    """
    wanted = text.strip()
    found = CODES.get(wanted.upper())
    if found is not None:
        return found
    return next((code for code in CODES.values() if code.name == wanted.lower()), None)
