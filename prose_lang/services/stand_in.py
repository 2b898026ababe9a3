"""Services for entries that are contracts: one stands in for the entry, one says that a model is missing."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from prose_lang.diagnostics import RunError
from prose_lang.documents.model import Entry
from prose_lang.runtime.effects import Effect, Service
from prose_lang.semantics import Signature, entry_signature


class StandIn:
    """A registered or scripted service in the place of an entry of its name: the entry's contract holds for it."""

    composite = False

    def __init__(self, service: Service, signature: Signature) -> None:
        self.service = service
        self.name = service.name
        self.signature = signature
        self.max_concurrency = getattr(service, "max_concurrency", None)

    def invoke(self, effect: Effect) -> Awaitable[Any]:
        return self.service.invoke(effect)


class ContractService:
    """An entry without a body: work for a model (L6). Without one a call of it is P410."""

    composite = False

    def __init__(self, name: str, entry: Entry) -> None:
        self.name = name
        self.signature = entry_signature(entry)

    async def invoke(self, effect: Effect) -> Any:
        raise RunError(
            "P410",
            f"`{self.name}` is work for a model, and no model is configured",
            service=self.name,
            hint=f"register or script a service named `{self.name}`",
        )
