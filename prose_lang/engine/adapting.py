"""Things of the host as services of one engine: the same thing is the same service in every run.

What makes a service of a callable is `services/registry.py`; here it is kept, and definitions of models are given the
models of the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prose_lang.engine.kept import Kept
from prose_lang.runtime.effects import Service
from prose_lang.services import WorkerThreads, as_service
from prose_lang.services.models.definition import ModelDefinition
from prose_lang.services.models.models import Models
from prose_lang.services.models.service import ModelService


class Adapter:
    """Makes services of what an engine is given. `models` do what definitions of models ask for."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._threads = WorkerThreads()
        self._kept: Kept[tuple[Any, str | None], Service] = Kept()

    def service(self, thing: Any, name: str | None = None) -> Service:
        """A Python callable as a service, the same one each time; a definition as a model service of this engine.

        Raises CheckError P202 for anything else that is no service.
        """
        if isinstance(thing, ModelDefinition):
            return ModelService(
                name or thing.name, self._models, thing.contract, thing.signature, thing.model,
                parameters=dict(thing.parameters), max_concurrency=thing.max_concurrency,
            )  # fmt: skip
        key = (thing, name)
        try:
            known = self._kept.get(key)
        except TypeError:  # not hashable
            return as_service(thing, name=name, threads=self._threads)
        if known is None:
            known = as_service(thing, name=name, threads=self._threads)
            self._kept.keep(key, known)
        return known

    def registered(self, services: Iterable[Any] | Mapping[str, Any]) -> dict[str, Service]:
        """Services by name. Raises ValueError where two have the same, and CheckError P202 for what is none."""
        pairs = services.items() if isinstance(services, Mapping) else ((None, thing) for thing in services)
        made: dict[str, Service] = {}
        for name, thing in pairs:
            service = self.service(thing, name)
            if service.name in made:
                raise ValueError(f"two services are called {service.name!r}")
            made[name or service.name] = service
        return made
