"""The frontmatter (L1): where it ends, what it says, and what is wrong with it (P106)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from prose_lang.documents.faults import Faults
from prose_lang.documents.model import KINDS
from prose_lang.documents.page import Page
from prose_lang.text import Span, did_you_mean, nearest

#: `key: word`, where the word can be nothing but a text in YAML's core schema; a version has two dots.
_PLAIN = re.compile(
    r"(?P<key>[A-Za-z][A-Za-z0-9_-]*): +"
    r"(?P<value>(?!(?i:true|false|null) *$)[A-Za-z][A-Za-z0-9_-]*|\d+\.\d+\.\d+) *$"
)
_KINDS = ", ".join(sorted(KINDS))


@attrs.frozen(eq=False)
class Frontmatter:
    """What it says, the line its document goes on with, and its place. `sound` tells that nothing is wrong with it."""

    fields: Mapping[str, Any]
    end: int
    span: Span
    name: str | None = None
    kind: str | None = None
    sound: bool = True
    spans: Mapping[str, Span] = MappingProxyType({})  # of the values


def read_frontmatter(page: Page, faults: Faults) -> Frontmatter | None:
    """The frontmatter, or None if the first line does not open one."""
    if page.lines[0].rstrip(" \t") != "---":
        return None
    end = next((i for i in range(1, len(page.lines)) if page.lines[i].rstrip(" \t") in ("---", "...")), None)
    if end is None:
        faults.error("P106", "the frontmatter is never closed", page.line_span(0), "close it with a line `---`")
        # What looks like a heading is taken for the end, so that the rest can still be looked at.
        end = next((i for i in range(1, len(page.lines)) if page.lines[i].startswith("#")), len(page.lines))
        return Frontmatter(MappingProxyType({}), end, page.line_span(0), sound=False)
    span = Span(page.starts[0], page.line_span(end).end)
    fields, spans = _fields(page, end, faults)
    if fields is None:
        return Frontmatter(MappingProxyType({}), end + 1, span, sound=False)
    before = len(faults.found)
    name = _name(fields, spans, faults)
    kind = _kind(fields, spans, span, faults)
    sound = len(faults.found) == before
    return Frontmatter(MappingProxyType(fields), end + 1, span, name, kind, sound, spans)


def _fields(page: Page, end: int, faults: Faults) -> tuple[dict[str, Any] | None, Mapping[str, Span]]:
    """The fields and the places of their values; None if they cannot be read."""
    fields: dict[str, Any] = {}
    spans: dict[str, Span] = {}
    for line in range(1, end):
        match = _PLAIN.match(page.lines[line])
        if match is None or match["key"] in fields:
            return _yaml_fields(page, end, faults)
        fields[match["key"]] = match["value"]
        spans[match["key"]] = Span(page.starts[line] + match.start("value"), page.starts[line] + match.end("value"))
    return fields, spans


def _yaml_fields(page: Page, end: int, faults: Faults) -> tuple[dict[str, Any] | None, Mapping[str, Span]]:
    from prose_lang.values.yaml import load_yaml  # most files do not need it

    span = page.lines_span(1, end)
    text = page.source.text[span.start : span.end]
    node, found = load_yaml(text, page.source, code="P106", offset=span.start)
    faults.found.extend(found)
    if node is None or found:
        return None, {}
    if node.value is None:
        return {}, {}
    if not isinstance(node.value, dict):
        faults.error("P106", "the frontmatter must be lines of `key: value`", node.span)
        return None, {}
    return node.value, {key: member.span for key, member in node.members.items()}


def _name(fields: Mapping[str, Any], spans: Mapping[str, Span], faults: Faults) -> str | None:
    name = fields.get("name")
    if name is not None and not (isinstance(name, str) and name.strip()):
        faults.error("P106", "the name of a file must be a text", spans["name"], "put it in quotes")
        return None
    return name


def _kind(fields: Mapping[str, Any], spans: Mapping[str, Span], span: Span, faults: Faults) -> str | None:
    kind = fields.get("kind")
    if isinstance(kind, str) and kind in KINDS:
        return kind
    if kind is None:
        faults.error("P106", "the frontmatter does not say what `kind` of file this is", span, f"kinds are {_KINDS}")
        return None
    guess = nearest(kind, KINDS, 1) if isinstance(kind, str) else []
    hint = did_you_mean(guess[:1]) or f"kinds are {_KINDS}"
    faults.error("P106", f"there is no kind `{kind}`", spans["kind"], hint)
    return None
