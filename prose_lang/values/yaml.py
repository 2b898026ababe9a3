"""YAML as values: a document becomes a tree of plain JSON values in which every part knows its place (L1, L7).

What YAML can say and JSON cannot is refused with its place: keys that are not texts, an alias inside its own anchor,
the scalars and tags that `yaml_schema.py` does not know. The tree is built from parser events with an explicit stack:
the depth of a text can neither exhaust Python's stack nor drive the scanner into its quadratic case (deeply nested
brackets). Writing YAML is not done here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from prose_lang.diagnostics import Diagnostic
from prose_lang.text import Source, Span
from prose_lang.values.model import Value
from prose_lang.values.yaml_schema import CORE, NotJson, scalar

#: Nesting that no hand-written file reaches; every open bracket may make the scanner look 1,024 characters ahead.
MAX_DEPTH = 100
#: The scanner reads some 60,000 characters a second; larger texts need the caller's consent.
MAX_CHARACTERS = 100_000

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


@attrs.frozen(eq=False)
class YamlNode:
    """A value and where it stands. Objects have `members` and the places of their `keys`, lists have `items`."""

    value: Value
    span: Span
    keys: Mapping[str, Span] = MappingProxyType({})
    members: Mapping[str, YamlNode] = MappingProxyType({})
    items: tuple[YamlNode, ...] = ()
    parts: int = 1

    def place(self, path: tuple[Any, ...]) -> Span | None:
        """Where the part at a path of keys and indices stands; None if there is no such part.

        >>> node, _ = load_yaml("a: [1, x]", Source("s", "a: [1, x]"), code="P107")
        >>> node.place(("a", 1))
        Span(start=7, end=8)
        """
        node: YamlNode | None = self
        for step in path:
            if node is None:
                return None
            if isinstance(step, str):
                node = node.members.get(step)
            else:
                node = node.items[step] if 0 <= step < len(node.items) else None
        return node.span if node else None


def load_yaml(
    text: str,
    source: Source,
    *,
    code: str,
    offset: int = 0,
    indent: int = 0,
    most: int = MAX_CHARACTERS,
) -> tuple[YamlNode | None, list[Diagnostic]]:
    """The value of a YAML text and what is wrong with it, under the given code; the value is None if it is unreadable.

    `text` stands in `source` at `offset`; up to `indent` blanks at the start of each of its lines are not content.
    `most` limits its characters and also the parts of the value, so that aliases cannot multiply into billions. An
    empty text is null.

    >>> node, faults = load_yaml("when: 2024-01-01\\nn: 3", Source("a.yaml", ""), code="P107")
    >>> node.value, faults
    ({'when': '2024-01-01', 'n': 3}, [])
    """
    places = _Places(text, offset, indent)
    builder = _Builder(places, source, code, most)
    try:
        if len(text) > most:
            raise _Fault(f"this YAML text has more than {most:,} characters", 0, 0)
        return builder.build(_events(places.text)), builder.found
    except _Fault as fault:
        builder.report(fault)
        return None, builder.found


class _Fault(Exception):
    """What makes the rest of a text unreadable; positions are those of the text without its indentation."""

    def __init__(self, message: str, start: int, end: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint


class _Places:
    """A text without its indentation, and the way back to the places of the host text."""

    def __init__(self, text: str, offset: int, indent: int) -> None:
        self.text = text
        self.offset = offset
        self.starts = [0]  # of each line in the stripped text ...
        self.origins = [0]  # ... and in the given one
        if not indent:
            return
        pieces = []
        self.starts, self.origins = [], []
        length = 0
        for match in _LINE.finditer(text):
            line = match.group()
            blanks = min(indent, len(line) - len(line.lstrip(" ")))
            self.starts.append(length)
            self.origins.append(match.start() + blanks)
            pieces.append(line[blanks:])
            length += len(line) - blanks
        self.text = "".join(pieces)

    def span(self, start: int, end: int) -> Span:
        # What ends at a line break ends before the blanks of the next line.
        return Span(self.origin(start), self.origin(end - 1) + 1 if end > start else self.origin(start))

    def origin(self, index: int) -> int:
        line = bisect_right(self.starts, index) - 1
        return self.offset + self.origins[line] + index - self.starts[line]


def _events(text: str) -> Iterator[Any]:
    """The events of ruamel.yaml's parser; whatever it raises becomes a fault."""
    from ruamel.yaml import YAML  # 25 ms that most runs do not need
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.reader import ReaderError

    position = 0
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            position = event.end_mark.index
            yield event
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = mark.index if mark else position
        problem = error.problem or error.context or "it cannot be read"
        if "'\\t'" in problem:
            raise _Fault("a tab stands where YAML wants spaces", at, at + 1, "indent with spaces") from None
        hint = "put a value with a colon in it in quotes" if "mapping values" in problem else None
        raise _Fault(f"this is not YAML: {problem}", at, at + 1, hint) from None
    except ReaderError as error:
        at = error.position
        raise _Fault(f"the character U+{ord(text[at]):04X} is not allowed in YAML", at, at + 1) from None
    except (ValueError, OverflowError, LookupError):  # escapes beyond Unicode, which the scanner does not check
        raise _Fault("this is not YAML: an escape in the text after this place means no character", position,
                     position + 1) from None  # fmt: skip


@attrs.define(eq=False)
class _Open:
    """A list or an object that is being read."""

    start: int
    anchor: str | None
    is_object: bool
    value: list[Any] | dict[str, Any]
    key: tuple[str, Span] | None = None
    nodes: list[YamlNode] = attrs.Factory(list)
    keys: dict[str, Span] = attrs.Factory(dict)
    parts: int = 1


class _Builder:
    """Builds the tree from events. Repeated keys are reported and dropped; everything else ends the reading."""

    def __init__(self, places: _Places, source: Source, code: str, most: int) -> None:
        self.places = places
        self.source = source
        self.code = code
        self.most = most
        self.found: list[Diagnostic] = []
        self.open: list[_Open] = []
        self.anchors: dict[str, YamlNode | None] = {}  # None: the anchor's node is still being read
        self.root: YamlNode | None = None

    def report(self, fault: _Fault) -> None:
        span = self.places.span(fault.start, fault.end)
        self.found.append(Diagnostic(self.code, fault.message, self.source, span, hint=fault.hint))

    def build(self, events: Iterator[Any]) -> YamlNode:
        from ruamel.yaml import events as kinds

        for event in events:
            start, end = event.start_mark.index, event.end_mark.index
            match event:
                case kinds.ScalarEvent():
                    value = _scalar(event, start, end)
                    self.finish(YamlNode(value, self.places.span(start, end)), event.anchor, start, end)
                case kinds.MappingStartEvent() | kinds.SequenceStartEvent():
                    self.enter(event, start, end)
                case kinds.MappingEndEvent() | kinds.SequenceEndEvent():
                    self.leave(end)
                case kinds.AliasEvent():
                    self.finish(self.alias(event.anchor, start, end), None, start, end)
                case kinds.DocumentStartEvent() if self.root is not None:
                    raise _Fault("there is a second YAML document", start, end, "one document is read")
        return self.root or YamlNode(None, self.places.span(0, 0))

    def enter(self, event: Any, start: int, end: int) -> None:
        is_object = type(event).__name__.startswith("Mapping")
        if event.tag not in (None, "!", CORE + ("map" if is_object else "seq")):
            raise _Fault(f"the tag `{event.tag}` does not fit here", start, end)
        if len(self.open) >= MAX_DEPTH:
            raise _Fault(f"it is nested more than {MAX_DEPTH} levels deep", start, end)
        if self.open and self.open[-1].is_object and self.open[-1].key is None:
            raise _Fault("a key must be a text", start, end)
        if event.anchor:
            self.anchors[event.anchor] = None
        self.open.append(_Open(start, event.anchor, is_object, {} if is_object else []))

    def leave(self, end: int) -> None:
        done = self.open.pop()
        # A block ends where the next token starts; what lies between is not part of it.
        end = done.start + len(self.places.text[done.start : end].rstrip())
        span = self.places.span(done.start, end)
        if done.is_object:
            members = MappingProxyType(dict(zip(done.keys, done.nodes, strict=True)))
            node = YamlNode(done.value, span, MappingProxyType(done.keys), members, parts=done.parts)
        else:
            node = YamlNode(done.value, span, items=tuple(done.nodes), parts=done.parts)
        self.finish(node, done.anchor, done.start, end)

    def alias(self, anchor: str, start: int, end: int) -> YamlNode:
        if anchor not in self.anchors:
            raise _Fault(f"no anchor `&{anchor}` stands before this", start, end)
        node = self.anchors[anchor]
        if node is None:
            raise _Fault(f"`*{anchor}` stands inside its own anchor", start, end)
        return node

    def finish(self, node: YamlNode, anchor: str | None, start: int, end: int) -> None:
        """Hand a finished node to what it stands in."""
        if anchor:
            self.anchors[anchor] = node
        if not self.open:
            self.root = node
            return
        holder = self.open[-1]
        holder.parts += node.parts
        if holder.parts > self.most:
            raise _Fault(f"it has more than {self.most:,} parts with its aliases written out", start, end)
        if isinstance(holder.value, list):
            holder.value.append(node.value)
            holder.nodes.append(node)
        elif holder.key is None:
            if not isinstance(node.value, str):
                raise _Fault("a key must be a text", start, end, "put it in quotes")
            holder.key = (node.value, self.places.span(start, end))
        else:
            (key, place), holder.key = holder.key, None
            if key in holder.keys:
                line = self.source.position(holder.keys[key].start).line
                message = f"the key `{key}` is repeated; it first stands on line {line}"
                self.found.append(Diagnostic(self.code, message, self.source, place))
                return
            holder.value[key] = node.value
            holder.keys[key] = place
            holder.nodes.append(node)


def _scalar(event: Any, start: int, end: int) -> Value:
    try:
        return scalar(event.value, event.tag, plain=event.style is None)
    except NotJson as error:
        raise _Fault(str(error), start, end, error.hint) from None
