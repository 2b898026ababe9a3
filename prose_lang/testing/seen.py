"""What expectations look at: the outcome of a run as plain values, and the parts of it that paths name (L13).

    result keys, or `value` as a whole    `status`    `error`, null if there is none    `calls` in program order

With one declared output, or a result that is no object, its name and `result` mean the result itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

from prose_lang.diagnostics import RunError
from prose_lang.documents.model import Entry
from prose_lang.engine import Outcome, Pattern
from prose_lang.semantics import parse_body
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk
from prose_lang.values import Value

_STEP = re.compile(r'\.?(?P<name>[^\W\d][\w-]*)|\[(?P<index>\d+)\]|\["(?P<key>[^"\\\n]*)"\]')
#: Upstream's name of the file that says what went wrong.
_ERROR_FILE = "__error.md"


def _as_it_is(value: Any) -> Any:
    return value


class Part(NamedTuple):
    """What a path leads to; null where it leads nowhere. `known` tells that its first name is one that the subject may
    give."""

    value: Value
    known: bool


class Seen:
    """An outcome as expectations see it. `clean` redacts values that are shown: before they are cut, for half a secret
    would not be recognised."""

    def __init__(self, outcome: Outcome, entry: Entry, clean: Callable[[Any], Any] = _as_it_is) -> None:
        self.outcome = outcome
        self.entry = entry
        self.value = outcome.value
        self.clean = clean

    def told(self, compare: Callable[[Any, Any], tuple[str, ...]], wanted: Any, got: Any) -> tuple[str, ...]:
        """Where two values differ, in lines that may be shown; none if they do not differ."""
        if not compare(wanted, got):
            return ()
        return compare(self.clean(wanted), self.clean(got)) or ("they differ in something that is not shown",)

    @cached_property
    def error(self) -> dict[str, Any] | None:
        error = self.outcome.error
        if error is None:
            return None
        thrown = error.thrown if isinstance(error, RunError) else None
        return error.as_json() if thrown is None else {**error.as_json(), "value": thrown}

    @cached_property
    def calls(self) -> list[list[Any]]:
        """The calls as [service, inputs, modifiers]."""
        return [[call.service, call.inputs, call.modifiers] for call in self.outcome.trace.calls]

    @cached_property
    def own(self) -> dict[str, Value]:
        """The names that the result itself gives."""
        return self.value if isinstance(self.value, dict) else {"value": self.value}

    @cached_property
    def others(self) -> dict[str, Value]:
        """The other names, with null for a declared output that the result does not have."""
        names: dict[str, Value] = {item.name: None for item in self.entry.outputs}
        # A pattern gives what it returned, whatever its sections say (L33); a function gives its one output bare.
        if len(self.entry.outputs) == 1 and (self.entry.kind != "pattern" or not isinstance(self.value, dict)):
            names[self.entry.outputs[0].name] = self.value
        if not isinstance(self.value, dict):
            names["result"] = self.value
        calls = [call.as_json() for call in self.outcome.trace.calls]
        return {**names, "value": self.value, "status": self.outcome.status, "error": self.error, "calls": calls}

    def part(self, path: str | None, subject: Pattern) -> Part:
        """What a path leads to; None means the result. A step into what has no such part leads nowhere."""
        if path is None:
            return Part(self.value, True)
        steps = _steps(path)
        name = steps[0]
        if name in self.own:
            value = self.own[name]
        elif name in self.others:
            value = self.others[name]
        else:
            return Part(None, name in _returned(subject))
        for step in steps[1:]:
            value = _into(value, step)
        return Part(value, True)


def language_path(path: str) -> str:
    """A path as the language writes it."""
    return path.replace(_ERROR_FILE, "error", 1)


def _steps(path: str) -> list[Any]:
    steps: list[Any] = []
    for match in _STEP.finditer(language_path(path)):
        if match["index"] is not None:
            steps.append(int(match["index"]))
        else:
            steps.append(match["name"] if match["name"] is not None else match["key"])
    return steps


def _into(value: Value, step: str | int) -> Value:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else None
    if isinstance(value, dict):
        return value.get(step)
    return len(value) if step == "length" and isinstance(value, (list, str)) else None


def _returned(subject: Pattern) -> set[str]:
    """The keys of all objects that a body returns."""
    return {
        entry.key
        for node in walk(parse_body(subject.document, subject.entry).body)
        if isinstance(node, n.Return) and isinstance(node.value, n.ObjectLiteral)
        for entry in node.value.entries
    }
