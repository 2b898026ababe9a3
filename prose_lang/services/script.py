"""Scripts (CLI.md, "Scripted services"): what services answer in tests and demonstrations, without any model.

A script is data: it is read here, once, and never changes. Who has used which reply is the business of one run
and stands in `scripted.py`. What a reply returns is a plain value; nothing in a script refers to code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from prose_lang.diagnostics import CheckError, Diagnostic, sort_diagnostics
from prose_lang.text import Source, Span, did_you_mean, nearest
from prose_lang.values import to_json
from prose_lang.values.yaml import load_yaml

_OUTCOMES = ("returns", "raises", "ask")
_LONG_KEYS = frozenset({*_OUTCOMES, "delay", "when", "usage", "always"})
_KEBAB = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")

#: A script may be ten times as long as other YAML: it holds whole answers.
_MOST_CHARACTERS = 1_000_000

#: Where a part of the script stands in its text, by its path: `("critic", 0, "delay")`.
_Places = Callable[[tuple[Any, ...]], Span | None]


def _nowhere(path: tuple[Any, ...]) -> Span | None:
    return None


@attrs.frozen(eq=False)
class Reply:
    """What one call gets. `outcome` is `returns`, `raises` or `ask`, with its `value`; `lasting` is never used up.

    `number` counts the replies of a service from 1. `error_name` is the name of a raised error that has one.
    """

    outcome: str
    value: Any
    number: int
    error_name: str | None = None
    delay: float = 0.0
    when: Mapping[str, Any] = MappingProxyType({})
    usage: Mapping[str, Any] | None = None
    lasting: bool = False
    span: Span | None = None


@attrs.frozen(eq=False)
class Script:
    """The replies of each service, in order.

    >>> script = Script.from_data({"critic": [{"raises": "rate limited"}, "fine"]})
    >>> [(reply.outcome, reply.value) for reply in script.replies["critic"]]
    [('raises', 'rate limited'), ('returns', 'fine')]
    """

    source: Source | None
    replies: Mapping[str, tuple[Reply, ...]]

    @classmethod
    def from_data(cls, data: Any) -> Script:
        """A script from plain data; raises `CheckError` P107 or P211 with all faults that were found."""
        reader = _Reader(None, _nowhere)
        replies = reader.services(data)
        if reader.found:
            raise CheckError.from_diagnostics(reader.found)
        return cls(None, MappingProxyType(replies))


def read_script(source: Source, span: Span | None = None, indent: int = 0) -> Script:
    """A script from its YAML text, the whole of a source or the part in `span`, whose lines are indented by `indent`.

    Raises `CheckError` P107 or P211 with all faults and their places.

    >>> read_script(Source("s.yaml", "critic: [fine]")).replies["critic"][0].value
    'fine'
    """
    start, end = span or Span(0, len(source.text))
    node, found = load_yaml(
        source.text[start:end], source, code="P107", offset=start, indent=indent, most=_MOST_CHARACTERS
    )
    reader = _Reader(source, node.place if node else _nowhere)
    replies = reader.services(node.value) if node else {}
    if found or reader.found:
        raise CheckError.from_diagnostics(sort_diagnostics([*found, *reader.found]))
    return Script(source, MappingProxyType(replies))


class _Reader:
    """One pass over the data of a script; the faults it finds are in `found`."""

    def __init__(self, source: Source | None, places: _Places) -> None:
        self.source = source
        self.places = places
        self.found: list[Diagnostic] = []

    def fault(self, code: str, path: tuple[Any, ...], message: str, hint: str | None = None) -> None:
        # A part that is missing is reported at what it is missing from.
        span = next((span for end in range(len(path), -1, -1) if (span := self.places(path[:end]))), None)
        if span is None and path:
            shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
            message += f" (at {shown[1:]})"
        self.found.append(Diagnostic(code, message, self.source, span, hint=hint))

    def services(self, data: Any) -> dict[str, tuple[Reply, ...]]:
        if data is None:
            return {}
        if not isinstance(data, dict):
            self.fault("P107", (), "a script is an object: the name of each service, and its replies")
            return {}
        return {name: self.replies(name, given) for name, given in data.items()}

    def replies(self, name: str, given: Any) -> tuple[Reply, ...]:
        if isinstance(given, list):
            return tuple(self.reply((name, index), item, index + 1) for index, item in enumerate(given))
        if isinstance(given, dict) and given.keys() == {"always"}:
            return (attrs.evolve(self.reply((name, "always"), given["always"], 1), lasting=True),)
        self.fault("P107", (name,), f"`{name}` must be a list of replies, or `{{always: REPLY}}`")
        return ()

    def reply(self, path: tuple[Any, ...], given: Any, number: int) -> Reply:
        span = self.places(path)
        if not (isinstance(given, dict) and given.keys() <= _LONG_KEYS and any(key in given for key in _OUTCOMES)):
            return Reply("returns", given, number, span=span)
        outcome, *others = [key for key in _OUTCOMES if key in given]
        if others:
            self.fault("P107", (*path, others[0]), f"a reply cannot both `{outcome}` and `{others[0]}`")
        value, error_name = self.value((*path, outcome), outcome, given[outcome])
        return Reply(
            outcome,
            value,
            number,
            error_name=error_name,
            delay=self.delay((*path, "delay"), given.get("delay", 0)),
            when=self.when((*path, "when"), given.get("when", {})),
            usage=self.usage((*path, "usage"), given.get("usage")),
            lasting=self.lasting((*path, "always"), given.get("always", False)),
            span=span,
        )

    def value(self, path: tuple[Any, ...], outcome: str, given: Any) -> tuple[Any, str | None]:
        if outcome == "returns":
            return given, None
        if outcome == "raises" and isinstance(given, (bool, int, float)):
            given = to_json(given)  # YAML reads `raises: no` or `raises: 404` as something else than a text
        if outcome == "ask" or isinstance(given, str):
            if not isinstance(given, str):
                self.fault("P211", path, "`ask` must be a question: a text")
            return given, given if isinstance(given, str) and _KEBAB.fullmatch(given) else None
        if not isinstance(given, dict):
            self.fault("P211", path, "`raises` must be a text, or `{name: ..., message: ...}`")
            return "", None
        self.known_keys(path, given, ("name", "message"))
        name, message = given.get("name"), given.get("message")
        if not all(part is None or isinstance(part, str) for part in (name, message)) or not (name or message):
            self.fault("P211", path, "`name` and `message` of an error must be texts, and one of them must be there")
        return message or name, name

    def delay(self, path: tuple[Any, ...], given: Any) -> float:
        if _is_count(given):
            return float(given)
        self.fault("P211", path, "`delay` must be a number of seconds, 0 or more")
        return 0.0

    def when(self, path: tuple[Any, ...], given: Any) -> Mapping[str, Any]:
        if isinstance(given, dict):
            return given
        self.fault("P211", path, "`when` must be an object: the names of inputs and what they must be")
        return {}

    def usage(self, path: tuple[Any, ...], given: Any) -> Mapping[str, Any] | None:
        if given is None:
            return None
        if not isinstance(given, dict):
            self.fault("P211", path, "`usage` must be an object of `tokens_in`, `tokens_out` and `cost`")
            return None
        self.known_keys(path, given, ("tokens_in", "tokens_out", "cost"))
        for name, number in given.items():
            if name == "cost" and number is None:
                continue  # unknown, which is not 0 (L34)
            if not _is_count(number) or (name != "cost" and not isinstance(number, int)):
                what = "a number, 0 or more" if name == "cost" else "a whole number, 0 or more"
                self.fault("P211", (*path, name), f"`{name}` must be {what}")
        return given

    def lasting(self, path: tuple[Any, ...], given: Any) -> bool:
        if not isinstance(given, bool):
            self.fault("P211", path, "`always` of a single reply must be true or false")
        return given is True

    def known_keys(self, path: tuple[Any, ...], given: dict[str, Any], known: tuple[str, ...]) -> None:
        for key in given:
            if key not in known:
                close = nearest(key, known)
                hint = did_you_mean(close[:1])
                self.fault("P107", (*path, key), f"`{path[-1]}` takes {', '.join(known)}, not `{key}`", hint)


def _is_count(number: Any) -> bool:
    return isinstance(number, (int, float)) and not isinstance(number, bool) and 0 <= number < math.inf
