"""What a `.prose.md` file says, as plain data (L1–L7). Reading it is `reader.py`; nothing here reads or checks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from prose_lang.diagnostics import Diagnostic
from prose_lang.text import Source, Span

if TYPE_CHECKING:
    from prose_lang.documents.scenarios import TestText

#: Kinds of entries (L2), spelled as in the frontmatter.
FUNCTION_KINDS = frozenset({"function", "service", "program", "component", "system"})
REACTOR_KINDS = frozenset({"responsibility", "gateway"})
KINDS = frozenset({"pattern", "test"}) | FUNCTION_KINDS | REACTOR_KINDS


class _Missing:
    """The default of an item that has none; null is a default like any other."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING = _Missing()


@attrs.frozen
class Type:
    """A declared type (L3): `names` are alternatives; each may be a list of that (`string[]`).

    `names` holds lower-case base words (`string number integer boolean object any run`) or a literal in quotes
    (`"accept" | "reject"`); unknown words are kept and mean `any`.
    """

    text: str
    names: tuple[tuple[str, bool], ...]  # (word, is a list)

    @property
    def is_list(self) -> bool:
        """Whether it is a list and nothing else."""
        return bool(self.names) and all(listed for _, listed in self.names)


ANY = Type("any", (("any", False),))


@attrs.frozen(eq=False)
class Item:
    """A declared input, output or config key, with the place of its name."""

    name: str
    span: Span
    type: Type
    description: str
    optional: bool
    default: Any = MISSING
    minimum: float | None = None
    maximum: float | None = None
    one_of: tuple[Any, ...] = ()
    other_types: tuple[Type, ...] = ()  # where Config and Requires disagree, either is accepted (§9 L3)

    @property
    def has_default(self) -> bool:
        return self.default is not MISSING


@attrs.frozen(eq=False)
class Slot:
    """A declared slot (L4). `many` tells that it takes an ordered list of services; one that is `optional` may stay
    unbound, and its name is null then.

    `requires` and `ensures` are documentation: contracts come from the bound service (§9 L3).
    """

    name: str
    span: Span
    description: str
    many: bool
    requires: tuple[str, ...] = ()
    ensures: tuple[str, ...] = ()
    primary: bool = False
    optional: bool = False


@attrs.frozen(eq=False)
class Fence:
    """A fenced block: its info word, the span of its content, and the indentation that is not content."""

    info: str
    span: Span
    indent: int
    fence_span: Span


@attrs.frozen(eq=False)
class Section:
    """A `###` section: its name as written, its heading, the span of its content, and the fences in it."""

    name: str
    heading: Span
    content: Span
    fences: tuple[Fence, ...]

    @property
    def key(self) -> str:
        """The name without case, as sections are looked up."""
        return self.name.strip("`*: \t").lower()


@attrs.frozen(eq=False)
class Instance:
    """A named pattern instance (L7). Values of `slots` are names, lists of names, or nested instances."""

    name: str
    span: Span
    pattern: str
    pattern_span: Span
    slots: Mapping[str, InstanceSlot]
    config: Mapping[str, Any]
    config_spans: Mapping[str, Span]


@attrs.frozen(eq=False)
class InstanceSlot:
    """What an instance's `with` binds to one slot: services in order; `listed` if it was written as a list."""

    name: str
    span: Span
    services: tuple[str | Instance, ...]
    listed: bool


@attrs.frozen(eq=False)
class Entry:
    """A file-level or inline (`##`) entry: its contract, its slots, config and instances, and its body if any."""

    name: str
    kind: str
    span: Span  # the heading, or the frontmatter
    title: str
    description: str
    sections: tuple[Section, ...]
    inputs: tuple[Item, ...]  # Requires and Parameters, without those that describe a slot or config key
    outputs: tuple[Item, ...]  # Ensures, Returns and Maintains
    slots: tuple[Slot, ...]
    config: tuple[Item, ...]
    instances: tuple[Instance, ...]
    services: tuple[str, ...]  # names listed under Services that are not instances
    guarantees: tuple[tuple[str, str], ...]  # (section, text) of what is promised in prose
    body: Fence | None
    open_inputs: bool  # no interface section at all: anything may be sent
    service_spans: Mapping[str, Span] = MappingProxyType({})
    is_documentation: bool = False  # a `##` heading that only divides the text: it opens nothing that is called

    def section(self, key: str) -> Section | None:
        """The first section of that name, without case."""
        return next((section for section in self.sections if section.key == key), None)


@attrs.frozen(eq=False)
class Document:
    """A whole file: the file-level entry first, then the inline ones, and what was found wrong with it."""

    source: Source
    name: str
    kind: str
    frontmatter: Mapping[str, Any]
    entries: tuple[Entry, ...]
    diagnostics: tuple[Diagnostic, ...]
    anonymous: bool = False  # a bare delegation body without frontmatter (L2)
    path: Path | None = None  # the file it was loaded from; references are looked up beside it (L8)
    test: TestText | None = None  # what a file of kind `test` says besides

    @property
    def main(self) -> Entry:
        """The file-level entry."""
        return self.entries[0]

    @property
    def group(self) -> str | None:
        """The `group` of its frontmatter, under which a catalogue lists it; None if there is none."""
        group = self.frontmatter.get("group")
        return group if isinstance(group, str) else None

    def entry(self, name: str) -> Entry | None:
        """The inline entry of that name."""
        return next((entry for entry in self.entries[1:] if entry.name == name), None)
