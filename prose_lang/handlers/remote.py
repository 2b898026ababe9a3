"""Remote: sends attempts to workers, where the run has a transport. Between pace and timeout.

    a registered service    by its name, with its inputs and what it is told besides
    a model                 its request, ready to leave: keys are needed at the worker alone
    everything else         stays here: scripted and built-in services, `cmd:`, `py:`, a completion of the embedder's,
                            and nested patterns

What comes back goes through the same handlers as if it had been done here: the cassette records it, the dispatcher
takes it in, budgets settle. The timeout of a call is kept where it is done, so that waiting for a worker is not its
time; `timeout` lets such attempts pass.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Mapping
from typing import Any

from prose_lang.diagnostics import ServiceError
from prose_lang.journal.port import Store
from prose_lang.runtime.activation import Perform
from prose_lang.runtime.effects import Effect, Service, Usage
from prose_lang.services.answers import asked, failure_of, reply_of
from prose_lang.services.models.completion import Reply
from prose_lang.services.models.models import Models
from prose_lang.services.models.request import Request
from prose_lang.services.stand_in import StandIn
from prose_lang.transports.port import Answer, Task, Transport


class Remote:
    """Where a run's attempts go. `registered` are the services that a worker knows too, by name; `store` is where the
    run is recorded."""

    def __init__(
        self, transport: Transport, run: str, registered: Mapping[str, Service], store: Store | None = None
    ) -> None:
        self.transport = transport
        self.store = store
        self.run = run
        self.origin = secrets.token_hex(6)
        self.names = {id(service): name for name, service in registered.items() if not service.composite}

    def wrap(self, inner: Perform) -> Perform:
        """A performer that sends what a worker can do, and performs the rest."""

        def perform(effect: Effect) -> Awaitable[Any]:
            service: Any = effect.service
            if getattr(service, "metered", False):
                models = getattr(service, "models", None)
                if models is not None and models.answered_here:
                    return inner(effect)
                return sent(effect, service, _Completion(self, effect, models))
            name = self.names.get(id(service.service if type(service) is StandIn else service))
            return inner(effect) if name is None else sent(effect, _Sent(self, service, name), None)

        async def sent(effect: Effect, stand_in: Any, completion: _Completion | None) -> Any:
            service = effect.service
            effect.service, effect.completion, effect.timed = stand_in, completion, True
            try:
                return await inner(effect)
            finally:
                effect.service, effect.completion, effect.timed = service, None, False

        return perform

    async def ask(self, effect: Effect, kind: str, name: str, request: dict[str, Any], patience: float = 0.0) -> Any:
        """Send one attempt and give its value, or raise its error."""
        attempt, sent = effect.sent
        sent = sent + 1 if attempt == effect.attempt else 1
        effect.sent = effect.attempt, sent
        # What a run does while it is being ended from outside is never read back: gone on with, it comes there again.
        number = 10_000 + secrets.randbits(40) if effect.place.leaving else sent
        task = Task(
            self.run, effect.address, kind, name, request, effect.attempt, number,
            effect.modifiers.timeout, effect.spent, patience, self.origin, effect.idempotency_key,
        )  # fmt: skip
        answer: Answer = await self.transport.call(task, self.store)
        effect.spent += answer.seconds
        if answer.origin != self.origin:
            # It was made for an earlier process of this run, which counted it: what that one knew is told anew.
            effect.made = max(1, effect.made - 1)
            if effect.draft is not None and effect.attempt == 1:
                effect.draft.before = None
        if kind == "service" and answer.usage is not None:
            usage = answer.usage
            effect.usage = Usage(0, usage.get("tokens_in", 0), usage.get("tokens_out", 0), usage.get("cost"))
        if answer.error is not None:
            raise failure_of(dict(answer.error), effect.service.name)
        return answer.value


class _Sent:
    """Stands in for a service while an attempt of it is made by a worker."""

    composite = False

    def __init__(self, remote: Remote, service: Service, name: str) -> None:
        self.remote = remote
        self.registered = name
        self.name = service.name
        self.signature = service.signature
        self.recordable = getattr(service, "recordable", True)

    async def invoke(self, effect: Effect) -> Any:
        return await self.remote.ask(effect, "service", self.registered, asked(effect))


class _Completion:
    """Answers the requests of one attempt of a model. Texts of workers are not told piece by piece."""

    def __init__(self, remote: Remote, effect: Effect, models: Models | None) -> None:
        self.remote = remote
        self.effect = effect
        self.models = models

    async def complete(self, request: Request, seconds: float) -> Reply:
        """See `Completion`."""
        if self.models is not None:
            self.models.check_live(request.model)
        plain = await self.remote.ask(self.effect, "model", self.effect.service.name, request.as_json(), seconds)
        try:
            return reply_of(plain)
        except (KeyError, TypeError):
            reason = f"the worker that asked `{request.model}` gave no reply that can be read"
            raise ServiceError("P406", reason, hint="run the same version of prose everywhere") from None
