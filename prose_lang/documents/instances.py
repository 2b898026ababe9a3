"""What an entry may call (L7): services by name, and pattern instances in fenced YAML, nested to any depth.

Whether the names exist, and whether an instance fits its pattern, is checked where references are resolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from prose_lang.documents.faults import Faults
from prose_lang.documents.model import Fence, Instance, InstanceSlot
from prose_lang.documents.sections import Part
from prose_lang.documents.shapes import NAME
from prose_lang.text import Span, did_you_mean, nearest
from prose_lang.values import a_kind_of

if TYPE_CHECKING:
    from prose_lang.values.yaml import YamlNode

_KEYS = ("name", "pattern", "with", "config")
_NAME = re.compile(NAME)
_REFERENCE = re.compile(r"[`*]*(?P<name>[\w.@-]+(?::[\w.-]+)?(?:/[\w.@-]+)*)[`*]*(?=$|[ \t:,;(—–-])")
_HINT = "an instance has the keys name, pattern, with and config"


@attrs.define(eq=False)
class Callables:
    """The instances, and the places of the services that are listed by name."""

    instances: dict[str, Instance] = attrs.Factory(dict)
    services: dict[str, Span] = attrs.Factory(dict)


def read_callables(parts: Iterable[Part], faults: Faults) -> Callables:
    """The services and instances of the Services and Patterns sections. What is malformed is P107."""
    reader = _Reader(faults)
    for part in parts:
        for fence in part.fences(faults, "yaml", "yml"):
            reader.fenced(fence)
        if part.key == "services":
            reader.listed(part)
    return reader.found


class _Reader:
    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.found = Callables()

    def listed(self, part: Part) -> None:
        """The items of a Markdown list: the first word of each is a service."""
        for chunk in (chunk for chunk in part.chunks() if chunk.is_item):
            text = chunk.lines[0].text.strip()
            match = _REFERENCE.match(text)
            if text.startswith("name:"):
                hint = "put the list into a block that starts with ```yaml"
                self.faults.error("P107", "a pattern instance stands outside of a fenced block", chunk.flow.whole, hint)
            elif match is None:
                message = "this item of Services does not start with the name of a service"
                self.faults.error("P107", message, chunk.flow.whole)
            else:
                start = chunk.lines[0].offset + match.start("name")
                self.found.services.setdefault(match["name"], Span(start, start + len(match["name"])))

    def fenced(self, fence: Fence) -> None:
        """The entries of a YAML list: names of services, and instances."""
        from prose_lang.values.yaml import load_yaml  # most files have none

        source = self.faults.source
        text = source.text[fence.span.start : fence.span.end]
        node, found = load_yaml(text, source, code="P107", offset=fence.span.start, indent=fence.indent)
        self.faults.found.extend(found)
        if node is None or node.value is None:
            return
        if not isinstance(node.value, list):
            self.wrong(
                node,
                f"this must be a list of instances, not {a_kind_of(node.value)}",
                "start each instance with `- name:`",
            )
        for item in node.items:
            if isinstance(item.value, str):
                self.found.services.setdefault(item.value, item.span)
            elif isinstance(item.value, dict):
                self.top(item)
            else:
                self.wrong(item, f"this must be a service or an instance, not {a_kind_of(item.value)}")

    def top(self, node: YamlNode) -> None:
        instance = self.instance(node)
        if instance is None:
            return
        if not instance.name:
            if "name" not in node.members:
                self.wrong(node, "this instance has no name", _HINT)
        elif instance.name in self.found.instances:
            self.faults.twice("instance", instance.name, instance.span, self.found.instances[instance.name].span)
        else:
            self.found.instances[instance.name] = instance

    def instance(self, node: YamlNode) -> Instance | None:
        """An instance, as far as it is well formed; None if it has no pattern, without which nothing can be said."""
        for key, span in node.keys.items():
            if key not in _KEYS:
                guess = nearest(key, _KEYS, 1)
                hint = did_you_mean(guess[:1]) or _HINT
                self.faults.error("P107", f"an instance has no key `{key}`", span, hint)
        name = node.members.get("name")
        if name is not None and not (isinstance(name.value, str) and _NAME.fullmatch(name.value)):
            self.wrong(name, "the name of an instance must be a name: letters, digits, `_` and `-`")
            name = None
        pattern = node.members.get("pattern")
        if pattern is None or not isinstance(pattern.value, str) or not pattern.value:
            self.wrong(pattern or node, "an instance needs the `pattern:` it is one of", _HINT)
            return None
        config = self.mapping(node, "config")
        return Instance(
            name=name.value if name else "",
            span=name.span if name else node.span,
            pattern=pattern.value,
            pattern_span=pattern.span,
            slots=MappingProxyType(self.slots(self.mapping(node, "with"))),
            config=MappingProxyType(config.value if config else {}),
            config_spans=config.keys if config else MappingProxyType({}),
        )

    def mapping(self, node: YamlNode, key: str) -> YamlNode | None:
        given = node.members.get(key)
        if given is None or given.value is None:
            return None
        if isinstance(given.value, dict):
            return given
        self.wrong(given, f"`{key}:` must be an object, not {a_kind_of(given.value)}")
        return None

    def slots(self, node: YamlNode | None) -> dict[str, InstanceSlot]:
        found: dict[str, InstanceSlot] = {}
        for name, given in node.members.items() if node else ():
            listed = isinstance(given.value, list)
            services = [self.service(item, name) for item in (given.items if listed else (given,))]
            known = tuple(service for service in services if service is not None)
            found[name] = InstanceSlot(name, node.keys[name] if node else given.span, known, listed)
        return found

    def service(self, node: YamlNode, slot: str) -> str | Instance | None:
        """What a slot is bound to: the name of a service, or a nested instance."""
        if isinstance(node.value, str) and node.value:
            return node.value
        if isinstance(node.value, dict):
            return self.instance(node)
        self.wrong(node, f"the slot `{slot}` must be bound to a service or an instance, not {a_kind_of(node.value)}")
        return None

    def wrong(self, node: YamlNode, message: str, hint: str | None = None) -> None:
        self.faults.error("P107", message, node.span, hint)
