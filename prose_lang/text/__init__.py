"""Text and places in it. Knows nothing of the language."""

from prose_lang.text.nearest import nearest
from prose_lang.text.source import Position, Source, Span

__all__ = ["Position", "Source", "Span", "nearest"]
