"""Text and places in it. Knows nothing of the language."""

from prose_lang.text.amount import amount
from prose_lang.text.nearest import did_you_mean, nearest
from prose_lang.text.source import Position, Source, Span

__all__ = ["Position", "Source", "Span", "amount", "did_you_mean", "nearest"]
