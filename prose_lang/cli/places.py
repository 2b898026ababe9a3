"""Addresses (L35) in words: which round of a loop, which branch, and in which role a service was called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from prose_lang.report.run_paths import PASSES

_STEP = re.compile(r"\.(repeat|loop|for|parallel|map|pmap|filter|reduce|retry)\[(\d+)\]")
_ROLE = re.compile(r"\.(?:call|session|resume|do):([^/#]+)(?:#\d+)?$")
#: The word for a step, and the number of its first pass in addresses: a further attempt is one here, too.
_WORDS: Mapping[str, tuple[str, int]] = MappingProxyType({**PASSES, "retry": ("retry", 1)})


def passes(address: str) -> str:
    """The passes, branches and further attempts that an address lies in, outermost first; "" if it lies in none.

    >>> passes("delegation/3.repeat[2]/0.parallel[0]/0.call:critic")
    'round 2, branch 1'
    """
    parts = []
    for word, index in _STEP.findall(address):
        said, first = _WORDS[word]
        parts.append(f"{said} {int(index) - first + 1}")
    return ", ".join(parts)


def role(address: str) -> str | None:
    """The name by which a program calls what was called: a slot's, say.

    >>> role("delegation/3.repeat[2]/0.call:refiner")
    'refiner'
    """
    match = _ROLE.search(address)
    return match[1] if match else None


def called(address: str, service: str) -> str:
    """Who was called, for a person: the role, and the service where it has another name.

    >>> called("delegation/0.call:refiner", "plain")
    'refiner (plain)'
    """
    known_as = role(address)
    return service if known_as is None or known_as == service else f"{known_as} ({service})"
