"""The trees and tokens of a document's bodies, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics import SourceError
from prose_lang.diagnostics.visible import visible
from prose_lang.semantics import parse_body
from prose_lang.syntax import Parsed
from prose_lang.syntax.printing import tree_json, tree_lines

if TYPE_CHECKING:
    from prose_lang.documents.model import Document


def bodies(document: Document) -> list[tuple[str, Parsed]]:
    """The bodies of a document, each with the name of its entry. Raises SourceError P105 if there is none."""
    found = [(entry.name, parse_body(document, entry)) for entry in document.entries if entry.body is not None]
    if not found:
        raise SourceError("P105", f"`{document.source.name}` has no delegation body", source=document.source)
    return found


def text_lines(name: str, parsed: Parsed, *, tokens: bool, alone: bool) -> Iterator[str]:
    """A body as text; entries are told apart where there are several."""
    if not alone:
        yield f"# {visible(name)}"
    if tokens:
        for token in parsed.tokens:
            place = parsed.source.position(token.start)
            where = f"{place.line}:{place.column}"
            yield f"{where:<9} {token.kind:<16} {visible(_written(parsed, token.start, token.end))}".rstrip()
    else:
        yield from tree_lines(parsed.body, parsed.source)


def plain(name: str, parsed: Parsed, *, tokens: bool) -> dict[str, Any]:
    """A body as plain data: `span`s are offsets in the file."""
    if tokens:
        return {
            "entry": name,
            "tokens": [
                {"kind": token.kind, "span": [token.start, token.end],
                 "text": _written(parsed, token.start, token.end)}
                for token in parsed.tokens
            ],
        }  # fmt: skip
    return {"entry": name, "tree": tree_json(parsed.body)}


def _written(parsed: Parsed, start: int, end: int) -> str:
    return parsed.source.text[start:end]
