"""What a worker does with a task: look in the store, do it, keep the answer there, and only then give it.

With that order a task that is delivered twice is paid once, whatever carries it. Whoever keeps an answer first wins:
two workers that did the same at once give the same answer.

Not here: where tasks come from (`temporal_worker.py`), and which services there are (`cli/worker.py`).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import attrs

from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.journal.port import Store, StoreError
from prose_lang.journal.records import Attempt
from prose_lang.runtime.current import ANSWERED
from prose_lang.runtime.effects import Effect, Modifiers, Service
from prose_lang.services.answers import TOLD, failure_data, plain, reply_data
from prose_lang.services.models.local.catalogue import is_local
from prose_lang.services.models.models import Models
from prose_lang.services.models.request import Request
from prose_lang.transports.port import Answer, Task, dumps
from prose_lang.values import NotAValue, TooLarge, intake


class Performer:
    """Does tasks with the services of a process, by their names, and with its models. `store` is that of the runs."""

    def __init__(self, services: Mapping[str, Service], models: Models, store: Store | None = None) -> None:
        self.services = services
        self.models = models
        self.store = store
        self._loaded = False

    async def perform(self, task: Task) -> Answer:
        """The answer to a task, from the store if it is known there.

        A store that cannot be read makes the answer an error before anything is paid; one that cannot be written makes
        none, for the answer is there.
        """
        store = self.store
        if store is None:
            return attrs.evolve(await self._done(task), origin=task.origin)
        try:
            found = await asyncio.to_thread(known, store, task)
        except StoreError as error:
            fault = RunError(error.code, f"the worker's store: {error.message}", hint=error.hint)
            return Answer(error=failure_data(fault), origin=task.origin)
        if found is not None:
            return found
        answer = attrs.evolve(await self._done(task), origin=task.origin)
        attempt = written(task, answer)
        if answer.error is not None or self.models.keys.redactor().text(attempt.result) is not attempt.result:
            return answer  # a secret is kept nowhere; the call is made again where the answer gets lost
        try:
            return read(await asyncio.to_thread(store.put_attempt, attempt))
        except StoreError:
            return answer

    async def _done(self, task: Task) -> Answer:
        began = time.monotonic()
        try:
            if task.timeout is None:
                return await self._made(task, began)
            async with asyncio.timeout(max(0.0, task.timeout - task.spent)) as scope:
                return await self._made(task, began)
        except TimeoutError:  # what the service itself raises is an answer by now
            assert scope.expired(), "only the scope's own end gets here"
            error = ServiceError("P408", f"`{task.service}` did not answer within {task.timeout:g} s")
            return Answer(error=failure_data(error), seconds=_since(began))

    async def _made(self, task: Task, began: float) -> Answer:
        usage: Mapping[str, Any] | None = None
        try:
            if task.kind == "model":
                value = await self._replied(task)
            else:
                value, usage = await self._returned(task)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            error: Exception = ServiceError("P406", "it cancelled itself")  # a service that does is not this worker
            return Answer(error=failure_data(error), seconds=_since(began))
        except Exception as fault:
            return Answer(error=failure_data(fault), seconds=_since(began))
        return Answer(value, usage=usage, seconds=_since(began))

    async def _replied(self, task: Task) -> dict[str, Any]:
        try:
            request = Request.of_json(task.asked)
        except (KeyError, TypeError):
            raise unreadable() from None
        completion = self.models.completion_of(request.model)
        if not self._loaded and not self.models.answered_here and not is_local(request.model):
            from prose_lang.services.models.litellm_completion import load_litellm

            # Importing it takes seconds, in which the loop could give no sign of life.
            await asyncio.to_thread(load_litellm)
            self._loaded = True
        return reply_data(await completion.complete(request, task.patience))

    async def _returned(self, task: Task) -> tuple[Any, Mapping[str, Any] | None]:
        service = self.services.get(task.service)
        if service is None:
            known = ", ".join(f"`{name}`" for name in self.services) or "none"
            raise RunError(
                "P202", f"the worker knows no service `{task.service}`; it knows {known}",
                hint="start every worker of the queue with the same --services FILE as the run",
            )  # fmt: skip
        try:
            effect = _Delivered(task, service)
        except (KeyError, TypeError, AttributeError):
            raise unreadable() from None
        answered = ANSWERED.set(effect)
        try:
            found = await service.invoke(effect)
        except (Exception, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError):
            raise
        except BaseException as error:
            raise ServiceError("P406", f"the function raised {error!r}") from error  # `sys.exit` ends no worker
        finally:
            ANSWERED.reset(answered)
        try:
            value = plain(intake(found))
        except (NotAValue, TooLarge) as error:
            raise ServiceError("P305", f"`{task.service}` returned what is not a value: {error}") from None
        usage = effect.usage
        if usage is None:
            return value, None
        return value, {"tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out, "cost": usage.cost}


class _Delivered(Effect):
    """A call as a service sees it that was sent here: its inputs, what it is told besides, and its address."""

    kind = "call"

    def __init__(self, task: Task, service: Service) -> None:
        told = {name: task.asked[name] for name in TOLD if name in task.asked}
        inputs = {name: intake(value) for name, value in task.asked["inputs"].items()}
        place: Any = SimpleNamespace(run=SimpleNamespace(run_id=task.run))  # all of the run that is known here
        site: Any = None
        super().__init__(site, place, (), service, inputs, Modifiers(timeout=task.timeout, **told))
        self._task = task
        self.attempt = task.attempt

    @property
    def address(self) -> str:
        return self._task.address

    @property
    def idempotency_key(self) -> str:
        return self._task.idempotency_key


def written(task: Task, answer: Answer) -> Attempt:
    """An answer as the store keeps it."""
    usage = None if answer.usage is None else dumps(dict(answer.usage))
    return Attempt(task.run, task.key, task.number, "value", dumps(answer.as_json()), usage)


def known(store: Store, task: Task) -> Answer | None:
    """The answer to a task that a store has. Raises StoreError."""
    found = store.attempt(task.run, task.key, task.number)
    return None if found is None else read(found)


def read(attempt: Attempt) -> Answer:
    """The answer that `written` kept."""
    return Answer.of_json(json.loads(attempt.result))


def unreadable() -> RunError:
    """P504 for what was sent by another version of this program."""
    return RunError("P504", "the worker cannot read what it was sent", hint="run the same version of prose everywhere")


def _since(began: float) -> float:
    return round(time.monotonic() - began, 4)
