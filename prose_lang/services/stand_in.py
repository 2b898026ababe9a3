"""A service in the place of an entry that is a contract. That a model does the work is `models/service.py`."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from prose_lang.runtime.effects import Effect, Service
from prose_lang.semantics import Signature


class StandIn:
    """A registered or scripted service in the place of an entry of its name: the entry's contract holds for it."""

    composite = False

    def __init__(self, service: Service, signature: Signature) -> None:
        self.service = service
        self.name = service.name
        self.signature = signature
        self.max_concurrency = getattr(service, "max_concurrency", None)
        self.recordable = getattr(service, "recordable", True)
        self.cacheable = getattr(service, "cacheable", "")

    def invoke(self, effect: Effect) -> Awaitable[Any]:
        return self.service.invoke(effect)
