"""Exact expectations: the keys of a fenced mapping under Expects, and what each may hold.

value          the whole result                     status      ok, failed, invalid, limited, waiting, interrupted
calls          [[SERVICE, INPUTS], …] or with       error       a code, a name, or some of {code, name, message,
               MODIFIERS, in program order                      line}; null for none
calls_count    how many calls were made             decisions   a list of what is to be compared of each
                                                    warnings    a list of `CODE` or `CODE LINE`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from prose_lang.diagnostics import Diagnostic
from prose_lang.diagnostics.codes import CODES, code_named
from prose_lang.documents.scenarios import Exact
from prose_lang.text import Source, Span, did_you_mean, nearest
from prose_lang.values import kind_of

if TYPE_CHECKING:
    from prose_lang.values.yaml import YamlNode

KEYS = ("value", "calls", "calls_count", "status", "error", "decisions", "warnings")
STATUSES = ("ok", "failed", "invalid", "limited", "waiting", "interrupted")
ERROR_PARTS = ("code", "name", "message", "line")
DECISION_PARTS = ("address", "text", "layer", "holds", "values", "reason")
_CODE = re.compile(r"[Pp]\d+")
_WARNING = re.compile(r"(?P<code>\S+)(?: (?P<line>\d+))?")


@attrs.frozen(eq=False)
class ExactItem:
    """One key of an exact block: its place, what must be so, and the block that it stands in."""

    key: str
    span: Span
    wanted: Any
    node: YamlNode
    block: Exact


def read_exact(block: Exact, source: Source, found: list[Diagnostic]) -> tuple[ExactItem, ...]:
    """The expectations of a block; what is malformed is P107 or P211 in `found`."""
    reader = _Reader(source, found)
    items = []
    for key, node in block.node.members.items():
        if key not in KEYS:
            close = nearest(key, KEYS, 1)
            hint = did_you_mean(close[:1]) or f"it takes {', '.join(KEYS)}"
            reader.fault("P107", f"a scenario expects no `{key}`", block.node.keys[key], hint)
            continue
        before = len(found)
        read = _READERS.get(key)
        if read is not None:
            read(reader, node)
        if len(found) == before:
            items.append(ExactItem(key, block.node.keys[key], node.value, node, block))
    return tuple(items)


class _Reader:
    """Looks at what each key holds."""

    def __init__(self, source: Source, found: list[Diagnostic]) -> None:
        self.source = source
        self.found = found

    def fault(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        self.found.append(Diagnostic(code, message, self.source, span, hint=hint))

    def listed(self, node: YamlNode, key: str, each: str) -> tuple[YamlNode, ...]:
        if not isinstance(node.value, list):
            self.fault("P211", f"`{key}` is a list of {each}, not {_a(node.value)}", node.span)
        return node.items

    def calls(self, node: YamlNode) -> None:
        hint = "a call is [SERVICE, {INPUT: VALUE}], or [SERVICE, INPUTS, MODIFIERS]"
        for item in self.listed(node, "calls", "calls"):
            parts = item.value if isinstance(item.value, list) else []
            shapes = [isinstance(part, str if at == 0 else dict) for at, part in enumerate(parts)]
            if len(parts) not in (2, 3) or not all(shapes):
                self.fault("P107", "this is not how a call is written", item.span, hint)

    def count(self, node: YamlNode) -> None:
        if isinstance(node.value, bool) or not isinstance(node.value, int) or node.value < 0:
            self.fault("P211", f"`calls_count` is a whole number from 0, not {_a(node.value)}", node.span)

    def status(self, node: YamlNode) -> None:
        if node.value not in STATUSES:
            close = nearest(node.value, STATUSES, 1) if isinstance(node.value, str) else []
            hint = did_you_mean(close[:1]) or f"a run ends as {', '.join(STATUSES)}"
            self.fault("P211", "this is no status of a run", node.span, hint)

    def error(self, node: YamlNode) -> None:
        if node.value is None:
            return
        if isinstance(node.value, str):
            self.code(node)
            return
        if not isinstance(node.value, dict) or not node.value:
            hint = "write a code such as P406, a name, or some of {code, name, message, line}"
            self.fault("P211", f"`error` cannot be {_a(node.value)}", node.span, hint)
            return
        for key, part in node.members.items():
            if key not in ERROR_PARTS:
                hint = f"it has {', '.join(ERROR_PARTS)}"
                self.fault("P107", f"an error has no `{key}`", node.keys[key], hint)
            elif not isinstance(part.value, int if key == "line" else str) or isinstance(part.value, bool):
                kind = "a whole number" if key == "line" else "a text"
                self.fault("P211", f"the {key} of an error is {kind}, not {_a(part.value)}", part.span)
            elif key == "code":
                self.code(part)

    def code(self, node: YamlNode) -> None:
        if _CODE.fullmatch(node.value) and code_named(node.value) is None:
            close = nearest(node.value, CODES, 1)
            self.fault("P211", f"there is no code `{node.value}`", node.span, did_you_mean(close[:1]))

    def decisions(self, node: YamlNode) -> None:
        for item in self.listed(node, "decisions", "decisions"):
            if not isinstance(item.value, dict):
                hint = "write some of {layer, holds, text, values, reason, address}"
                self.fault("P107", f"a decision is an object, not {_a(item.value)}", item.span, hint)
            for key in item.keys:
                if key not in DECISION_PARTS:
                    hint = f"it has {', '.join(DECISION_PARTS)}"
                    self.fault("P107", f"a decision has no `{key}`", item.keys[key], hint)

    def warnings(self, node: YamlNode) -> None:
        for item in self.listed(node, "warnings", "`CODE` or `CODE LINE`"):
            match = _WARNING.fullmatch(item.value) if isinstance(item.value, str) else None
            if match is None or code_named(match["code"]) is None:
                self.fault("P107", "a warning is written `CODE` or `CODE LINE`", item.span, "such as P303 or P303 12")


_READERS: Mapping[str, Callable[[_Reader, Any], None]] = MappingProxyType(
    {
        "calls": _Reader.calls,
        "calls_count": _Reader.count,
        "status": _Reader.status,
        "error": _Reader.error,
        "decisions": _Reader.decisions,
        "warnings": _Reader.warnings,
    }
)


def _a(value: Any) -> str:
    kind = kind_of(value)
    return kind if kind == "null" else f"an {kind}" if kind == "object" else f"a {kind}"
