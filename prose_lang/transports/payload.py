"""Tasks and answers as the bytes that travel: JSON, or a reference to the store that both ends use.

Engines bound what they carry (Temporal: 2 MB a payload), so whatever is longer than `LARGEST` goes by the store's table
of attempts, where it belongs to its run and is removed with it: what was asked under the number below zero.
"""

from __future__ import annotations

import json
import os
from typing import Any

from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.journal.port import Store, StoreError
from prose_lang.journal.records import Attempt
from prose_lang.transports.performing import known
from prose_lang.transports.port import Answer, Task, dumps

#: Bytes that travel at most; longer ones are referred to.
LARGEST = 1_500_000


def packed_task(task: Task, store: Store | None) -> bytes:
    """A task as it travels. Raises ServiceError P406 where it is too large and there is no store, StoreError."""
    data = dumps(task.as_json()).encode()
    if len(data) <= LARGEST:
        return data
    if store is None or _holds_a_secret(data.decode()):
        raise _too_large("what the call sends", len(data), store)
    store.put_attempt(Attempt(task.run, task.key, -task.number, "asked", data.decode(), None))
    return dumps({"run": task.run, "key": task.key, "number": task.number}).encode()


def unpacked_task(data: bytes, store: Store | None) -> Task:
    """The task that was packed. Raises RunError P504 where this store does not have it, StoreError."""
    plain: dict[str, Any] = json.loads(data)
    if "kind" not in plain:
        kept = None if store is None else store.attempt(plain["run"], plain["key"], -plain["number"])
        if kept is None:
            raise RunError("P504", "what the call sends went by the store, and the worker's store does not have it",
                           hint="start the workers with the --store of the run")  # fmt: skip
        plain = json.loads(kept.result)
    return Task.of_json(plain)


def packed_answer(answer: Answer, task: Task, store: Store | None) -> bytes:
    """An answer as it travels; one that is too large has to be kept in the store. Raises ServiceError P406."""
    data = dumps(answer.as_json()).encode()
    if len(data) <= LARGEST:
        return data
    if store is None or not _is_kept(task, store):
        raise _too_large("what the service answered", len(data), store)
    return b'{"kept":true}'


def unpacked_answer(data: bytes, task: Task, store: Store | None) -> Answer:
    """The answer that was packed. Raises RunError P504 where it went by a store that this one is not, StoreError."""
    plain = json.loads(data)
    if "kept" not in plain:
        return Answer.of_json(plain)
    found = None if store is None else known(store, task)
    if found is None:
        raise RunError("P504", "what the service answered went by the worker's store, and the run's does not have it",
                       hint="start the workers with the --store of the run")  # fmt: skip
    return found


def _is_kept(task: Task, store: Store) -> bool:
    try:
        return known(store, task) is not None
    except StoreError:
        return False


def _holds_a_secret(text: str) -> bool:
    return Redactor.from_environment(os.environ).text(text) is not text


def _too_large(what: str, size: int, store: Store | None) -> ServiceError:
    if store is None:
        said, hint = "without a store", "give the run and its workers the same --store"
    else:
        said, hint = "holding a secret, which is not kept in a store,", "leave the secret to the service"
    return ServiceError("P406", f"{what} has {size:,} bytes; {said} at most {LARGEST:,} travel", hint=hint)
