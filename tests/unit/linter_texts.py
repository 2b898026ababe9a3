"""Texts for the tests of the linter: patterns made from a line that says what they declare, and marked places."""

from __future__ import annotations

from collections.abc import Iterable

from prose_lang.documents.model import Document
from prose_lang.documents.reader import read_document
from prose_lang.linter import Linted, Settings, lint
from prose_lang.semantics import OPEN, Environment, Signature
from prose_lang.text import Source

#: Stands in a text before each place where something is to be found.
MARK = "«"


class Open:
    """An environment in which everything can be called and takes everything."""

    def signature(self, name: str) -> Signature | None:
        return OPEN

    def names(self) -> Iterable[str]:
        return ()


class Named:
    """An environment of some signatures."""

    def __init__(self, **signatures: Signature) -> None:
        self.signatures = signatures

    def signature(self, name: str) -> Signature | None:
        return self.signatures.get(name)

    def names(self) -> Iterable[str]:
        return self.signatures


def pattern(body: str, declared: str = "", *, fence: str = "```") -> str:
    """A pattern file with a body. `declared` is as in `slots: a, b[]; config: n=3; inputs: t`.

    >>> "- `n` (default: 3)" in pattern("return n", "config: n=3")
    True
    """
    parts = ["---\nname: sample\nkind: pattern\n---\n"]
    sections = dict(part.strip().split(": ", 1) for part in declared.split(";") if part.strip())
    for key, title in (("slots", "Slots"), ("config", "Config"), ("inputs", "Parameters")):
        items = [item.strip() for item in sections.get(key, "").split(",") if item.strip()]
        if items:
            parts.append(f"### {title}\n\n" + "".join(_item(key, item) + "\n" for item in items))
    parts.append(f"### Delegation\n\n{fence}prose\n{body.strip(chr(10))}\n{fence}\n")
    return "\n".join(parts)


def _item(key: str, item: str) -> str:
    name, _, value = item.partition("=")
    listed = name.endswith("[]")
    name = name.removesuffix("[]")
    if key == "config":
        return f"- `{name}` (default: {value})"
    return f"- `{name}`: {'string[] -- ' if listed else ''}what it is"


def document(text: str, name: str = "sample.prose.md") -> Document:
    return read_document(Source(name, text))


def marked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A text without its marks, and the lines and columns where they stood."""
    clean, *rest = text.split(MARK)
    places = []
    for part in rest:
        places.append(len(clean))
        clean += part
    source = Source("", clean)
    return clean, [tuple(source.position(place)) for place in places]


def linted(text: str, environment: Environment | None = None, settings: Settings | None = None) -> Linted:
    return lint(document(text), environment or Open(), settings)


def places(found: Linted, name: str) -> list[tuple[int | None, int | None]]:
    """Where a rule found something."""
    return [(one.diagnostic.line, one.diagnostic.column) for one in found.findings if one.name == name]
