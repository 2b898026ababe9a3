"""Exit statuses, and the plain object that says how a run ended when there is no outcome to say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

#: The exit status for the status of a run.
EXIT: Mapping[str, int] = MappingProxyType(
    {"ok": 0, "failed": 1, "invalid": 2, "limited": 3, "waiting": 4, "interrupted": 130}
)

#: Commands whose `--json` is one object about a run, also where there is none to tell of.
_MACHINE = ("run", "resume", "answer", "replay", "trace")

#: What a shell reports of a program whose reader went away.
BROKEN_PIPE = 141


def ended_before_it_began(status: str, name: str, message: str, hint: str | None = None) -> dict[str, Any]:
    """The object of `prose run --json` for a fault that has no code: a wrong use of the command, or a bug in it.

    >>> ended_before_it_began("invalid", "usage", "no such option")["error"]["message"]
    'no such option'
    """
    return {
        "run_id": None,
        "status": status,
        "value": None,
        "error": error_without_code(name, message, hint),
        "diagnostics": [],
        "calls": [],
        "decisions": [],
        "warnings": [],
        "usage": {"calls": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0},
    }


def error_without_code(name: str, message: str, hint: str | None = None) -> dict[str, Any]:
    """The `error` of that object for what is none of the pattern's: a wrong use of the command, an interrupt, a bug.

    >>> error_without_code("interrupted", "the run was interrupted")["name"]
    'interrupted'
    """
    return {
        "code": None,
        "name": name,
        "message": message,
        "file": None,
        "line": None,
        "column": None,
        "service": None,
        "hint": hint,
    }


def machine_format(arguments: Sequence[str]) -> str | None:
    """`json` or `jsonl` if these arguments of the program ask for it, else None.

    Read from the raw arguments, because a fault in them must be told in the form that they ask for.

    >>> machine_format(["run", "refine", "--output", "jsonl"])
    'jsonl'
    """
    words = list(arguments)
    if "--" in words:
        words = words[: words.index("--")]
    if next((word for word in words if not word.startswith("-")), None) not in _MACHINE:
        return None
    found = None
    for index, word in enumerate(words):
        if word == "--json":
            found = "json"
        elif word == "--output" and index + 1 < len(words):
            found = words[index + 1]
        elif word.startswith("--output="):
            found = word.removeprefix("--output=")
    return found if found in ("json", "jsonl") else None
