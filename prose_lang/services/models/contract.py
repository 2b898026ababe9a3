"""What a model service takes and gives, and what is said about the work: all that its prompt is made of.

A contract comes from an entry of a file, from Python (`annotated.py`), or from the call itself where a slot is bound to
a model and nothing else (`demanded.py`). What a pattern says about its slots is no contract (§9 L3) and never gets
here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from prose_lang.documents.model import Document, Entry, Item, Section
from prose_lang.services.models.schema import Schema, is_plain_text, of_items
from prose_lang.values import Value

#: Sections of an entry that tell a model how to work, besides what it takes and gives.
_NOTES = ("strategies", "shape", "errors", "invariants")
_SETTING = re.compile(r"^\s*(?:[-*]\s+)?[`*]*(?P<name>[A-Za-z][\w-]*)[`*]*\s*:\s*[`*]*(?P<value>[^`*\n]*?)[`*]*\s*$")


@attrs.frozen
class Described:
    """An input or output by name, with what is said about it; `kind` is its type as it is written, if it has one."""

    name: str
    kind: str = ""
    text: str = ""


@attrs.frozen(eq=False)
class Contract:
    """The work. `schema` is that of the answer, None where it is a text; `notes` are headings with their texts.

    `defaults` stand in for inputs that a call leaves out. `role` is an instruction that replaces all description, as
    an agent's prompt does; `data` what is said of the inputs' blocks, where that is not what is said to all.
    `examples` are inputs with the answers they should have. `unwrap` is the key of an answer that is an object only
    because JSON answers are.
    """

    name: str
    about: str = ""
    takes: tuple[Described, ...] = ()
    gives: tuple[Described, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    schema: Schema | None = None
    defaults: Mapping[str, Value] = attrs.field(factory=dict)
    role: str | None = None
    data: str | None = None
    unwrap: str | None = None
    examples: tuple[tuple[Mapping[str, Value], str], ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it says nothing but that the answer is a text."""
        return self.schema is None and self.role is None and not (self.about or self.takes or self.gives or self.notes)


def of_entry(document: Document, entry: Entry) -> Contract:
    """The contract that an entry without a body is (L2, L6)."""
    outputs = entry.outputs
    promised = [text for section, text in entry.guarantees if section.lower() not in ("invariants",)]
    notes = [("What holds of it", "\n".join(f"- {text}" for text in promised))] if promised else []
    notes += [(section.name.strip(), text_of(document, section)) for section in entry.sections if section.key in _NOTES]
    about = "\n\n".join(part for part in (entry.title, entry.description) if part and part != entry.name)
    return Contract(
        name=entry.name,
        about=about,
        takes=tuple(_described(item) for item in (*entry.inputs, *entry.config)),
        gives=tuple(_described(item) for item in outputs),
        notes=tuple((name, text) for name, text in notes if text),
        schema=of_items(outputs) if outputs and not is_plain_text(outputs) else None,
        defaults={
            item.name: item.default
            for item in (*entry.inputs, *entry.config)
            if item.has_default and item.default is not None
        },
    )


def runtime_settings(document: Document, entry: Entry) -> dict[str, str]:
    """What the entry's Runtime section sets: `model: fast` and the like, one a line.

    Names are in lower case; a name that is set twice keeps its first value.
    """
    found: dict[str, str] = {}
    section = entry.section("runtime")
    if section is not None:
        for name, value in _settings(text_of(document, section)):
            found.setdefault(name, value)
    return found


def _settings(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        match = _SETTING.match(line)
        if match is not None and match["value"]:
            yield match["name"].lower(), match["value"].strip().strip("\"'")


def text_of(document: Document, section: Section) -> str:
    """What a section says, as it is written."""
    return document.source.text[section.content.start : section.content.end].replace("\r\n", "\n").strip()


def _described(item: Item) -> Described:
    kind = "" if item.type.text == "any" else item.type.text
    words: list[Any] = [item.description]
    if item.minimum is not None:
        words.append(f"from {item.minimum:g}")
    if item.maximum is not None:
        words.append(f"to {item.maximum:g}")
    if item.one_of:
        words.append("one of " + ", ".join(str(choice) for choice in item.one_of))
    return Described(item.name, kind, "; ".join(word for word in words if word))
