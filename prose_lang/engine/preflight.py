"""Before anything is spent: the keys of all models that a run is known to need (P410), told together.

Known are the services of its slots, however deep instances nest, what its bodies call by name, their sessions, and the
judge. A call may still choose another model when it is made; then its key is looked for then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from prose_lang.diagnostics import CheckError, Diagnostic, RunError
from prose_lang.engine.refusals import model_needed
from prose_lang.runtime.effects import Service
from prose_lang.runtime.patterns import BoundPattern
from prose_lang.runtime.served import ServedContract
from prose_lang.semantics import Program
from prose_lang.services.models.choice import choose
from prose_lang.services.models.models import Models
from prose_lang.services.models.service import ModelService
from prose_lang.syntax import nodes as n
from prose_lang.values import ServiceRef

#: What does the session of an agent, by its name.
Sessions = Callable[[str | None], Service | None]


def check_models(
    whole: BoundPattern | ServedContract | None,
    judge: Service | None,
    models: Models,
    sessions: Sessions = lambda agent: None,
) -> None:
    """Raise CheckError P410 for keys that are missing; `whole` is None where only a judge is needed.

    Loads litellm if a model is needed.
    """
    found: dict[str, Diagnostic] = {}
    contract = whole if isinstance(whole, ServedContract) else None

    def note(error: RunError) -> None:
        span = contract.program.entry.span if contract is not None else None
        source = contract.program.source if contract is not None else None
        found.setdefault(error.message, Diagnostic(error.code, error.message, source, span, hint=error.hint))

    for service in _needed(whole, judge, sessions):
        try:
            model = choose(models.settings, service.name, call=None, entry=service.tier, binding=service.model)
        except RunError as error:
            alone = contract is not None and service is contract.service
            if contract is not None and alone and service.tier is None and service.model is None:
                needed = model_needed(contract.program.document, contract.program.entry)
                found.setdefault(needed.message, needed.as_diagnostic())
            elif alone or service.tier is not None or service.model is not None:
                note(error)
            continue  # else it is perhaps never called, and if it is, it says so at its place
        try:
            models.check_key(model)
        except RunError as error:
            note(error)
    if found:
        raise CheckError.from_diagnostics(list(found.values()))


def _needed(
    whole: BoundPattern | ServedContract | None, judge: Service | None, sessions: Sessions
) -> Iterator[ModelService]:
    seen: set[int] = set()
    waiting: deque[Any] = deque([whole.service if isinstance(whole, ServedContract) else whole, judge])
    while waiting:
        service = waiting.popleft()
        if isinstance(service, (list, tuple)):
            waiting.extend(service)
        elif isinstance(service, ServiceRef):
            waiting.append(service.target)
        elif id(service) in seen or service is None:
            continue
        elif isinstance(service, ModelService):
            seen.add(id(service))
            yield service
        elif isinstance(service, BoundPattern):
            seen.add(id(service))
            waiting.extend(service.slots.values())
            plans = service.program.calls.values()
            called = sorted({plan.target.name for plan in plans if plan.target.static})
            waiting.extend(service.home.callee(name) for name in called)
            waiting.extend(map(sessions, _agents(service.program)))


def _agents(program: Program) -> list[str | None]:
    """The agents whose sessions leave the model to the runtime; None for sessions without one."""
    found: dict[str | None, None] = {}
    for node in program.sites:
        if isinstance(node, (n.Session, n.Resume)):
            agent = program.agents.get(node.agent.id) if node.agent is not None else None
            properties = (*node.properties, *(agent.properties if agent is not None else ()))
            if not any(item.name == "model" for item in properties):
                found[agent.name.id if agent is not None else None] = None
    return list(found)
