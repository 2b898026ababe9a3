"""What a program can call besides its own slots and blocks, as far as checking needs to know it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from prose_lang.semantics.signature import Signature


class Environment(Protocol):
    """Names that resolve outside the body: instances, entries of the file, files beside it, registered services."""

    def signature(self, name: str) -> Signature | None:
        """The signature of what a name calls; None if it calls nothing."""

    def names(self) -> Iterable[str]:
        """The names that can be called, for hints."""


class Nothing:
    """An environment in which nothing can be called."""

    def signature(self, name: str) -> Signature | None:
        return None

    def names(self) -> Iterable[str]:
        return ()
