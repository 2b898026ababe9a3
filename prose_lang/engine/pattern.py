"""Loaded patterns and functions: what `prose.load` gives, ready to run, immutable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from prose_lang.documents.model import Document, Entry

if TYPE_CHECKING:
    from prose_lang.engine.engine import Engine
    from prose_lang.engine.outcome import Outcome


@attrs.frozen(eq=False)
class Pattern:
    """A pattern or function of a document. It can be run, and it is a service wherever one is accepted (L7).

    >>> import prose_lang as prose
    >>> refine = prose.load("stdlib:refine")
    >>> [slot.name for slot in refine.entry.slots]
    ['refiner', 'evaluator']
    """

    document: Document
    entry: Entry
    engine: Engine

    @property
    def name(self) -> str:
        """The name under which it is listed and traced."""
        return self.entry.name

    def run(self, /, **names: Any) -> Outcome:
        """Run it with slots, inputs and config keys by name; see `Engine.run`.

        >>> import prose_lang as prose
        >>> hello = prose.loads('return "Hello " + who')
        >>> hello.run(who="world").value
        'Hello world'
        """
        return self.engine.run(self, names)

    async def arun(self, /, **names: Any) -> Outcome:
        """The same inside a running event loop; see `Engine.run_async`."""
        return await self.engine.run_async(self, names)
