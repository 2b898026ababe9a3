"""The names that bodies of one document can call, and what a call of each may bind (L8). What they lead to is the
linker's (`linker.py`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prose_lang.documents.model import Document
from prose_lang.semantics import Signature, entry_signature
from prose_lang.services.builtin import BUILTIN_NAMES

if TYPE_CHECKING:
    from prose_lang.engine.linker import Linker


class Scope:
    """What can be called by name from one document. Checking asks it for signatures, the run for services."""

    def __init__(self, linker: Linker, document: Document) -> None:
        self.linker = linker
        self.document = document

    def signature(self, name: str) -> Signature | None:
        """What a call of a name may bind; None if it calls nothing."""
        unit = self.linker.unit(name, self.document)
        if name in self.linker.registered:
            # The contract of a function holds for what stands in for it; the slots of a pattern are no part of a call.
            if unit is not None and unit.entry.kind != "pattern":
                return entry_signature(unit.entry)
            return self.linker.registered[name].signature
        instance = self.linker.instance(name, self.document)
        if instance is not None:
            return self.linker.instance_signature(instance, self.document)
        if unit is not None:
            return self.linker.unit_signature(unit)
        built_in = self.linker.built_in(name)
        return built_in.signature if built_in is not None else None

    def names(self) -> Iterable[str]:
        """The names that can be called, for hints."""
        yield from self.linker.registered
        for entry in self.document.entries:
            for instance in entry.instances:
                yield instance.name
        yield from self.linker.loader.names(self.document)
        yield from BUILTIN_NAMES
