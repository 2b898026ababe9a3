"""Addresses of statements, given while the tree is walked (L35)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prose_lang.semantics.program import Site
from prose_lang.text import Source, Span

_HOLE = "\0"


class Addresses:
    """Where the walk is: the path so far, with a hole for each loop index, and its place in program order."""

    def __init__(self, source: Source, root: str) -> None:
        self.source = source
        self.path = root
        self.order: tuple[int | None, ...] = ()
        self.taken: dict[str, int] = {}

    @contextmanager
    def inside(self, step: str, *order: int | None) -> Iterator[None]:
        """Take a step down: `step` is added to the path, `order` to the place in program order."""
        path, before = self.path, self.order
        self.path, self.order = path + step, before + order
        try:
            yield
        finally:
            self.path, self.order = path, before

    def statement(self, index: int) -> str:
        """The step to a statement of a body."""
        return f"/{index}"

    def loop(self, word: str) -> str:
        """The step into a loop's body: the index of the pass goes into the brackets."""
        return f".{word}[{_HOLE}]"

    def site(self, span: Span, what: str) -> Site:
        """The site of something at this place; a second of the same kind here gets a number."""
        path = f"{self.path}.{what}"
        count = self.taken.get(path, 0)
        self.taken[path] = count + 1
        if count:
            path = f"{path}#{count + 1}"
        return Site(self.source, span, tuple(path.split(_HOLE)), (*self.order, count))
