"""The port through which attempts of calls leave for other processes: plain data goes, plain data comes back.

A transport promises one thing: what it was given once is done and answered, by a worker that may die, for an evaluator
that may die. What is recorded, limited or tried again is not its concern, and no engine's type gets past it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Protocol

import attrs

from prose_lang.journal.port import Store

#: Characters of an address that stand in an id; engines bound their length, and the digest tells the rest apart.
_LONGEST = 600


def dumps(plain: Any) -> str:
    """JSON in ASCII, in the order of its keys: objects are ordered (L12), and any text survives."""
    return json.dumps(plain, separators=(",", ":"))


@attrs.frozen
class Task:
    """One attempt of a call, for a worker.

    `kind` is `service`: `asked` are its inputs and what it is told besides, or `model`: `asked` is the request, and
    `patience` the seconds that its provider has. `attempt` is that of the program, `request` counts what was sent in
    the course of it, both from 1. `timeout` is the call's own in seconds, of which `spent` are gone (§9 L32): a worker
    keeps it, waiting for one does not use it up. `origin` tells the evaluator that asks; it is no part of the question.
    A service may know a repeated call by the `idempotency_key`.
    """

    run: str
    address: str
    kind: str
    service: str
    asked: Mapping[str, Any]
    attempt: int = 1
    request: int = 1
    timeout: float | None = None
    spent: float = 0.0
    patience: float = 0.0
    origin: str = ""
    idempotency_key: str = ""

    @property
    def key(self) -> str:
        """What is known of a call in the store: its address, and what was asked; so a changed question finds no answer
        to an earlier one."""
        text = dumps([self.kind, self.service, self.asked])
        return f"{self.address}#{blake2b(text.encode(), digest_size=8).hexdigest()}"

    @property
    def number(self) -> int:
        """Which one of a call it is: a number of its own for each attempt and request."""
        return (self.attempt - 1) * 10_000 + self.request

    @property
    def id(self) -> str:
        """A name for the attempt that no other has, the same whenever it is made again.

        >>> Task("r1", "delegation/0.call:x", "service", "x", {"inputs": {}}, attempt=2).id
        'r1/delegation/0.call:x#0984a646cbda67de@2'
        """
        address, _, digest = self.key.rpartition("#")
        if len(address.encode()) > _LONGEST:
            whole = blake2b(address.encode(), digest_size=16).hexdigest()
            address = f"{address.encode()[:_LONGEST].decode(errors='ignore')}…{whole}"
        which = f"{self.attempt}.{self.request}" if self.request > 1 else str(self.attempt)
        return f"{self.run}/{address}#{digest}@{which}"

    def as_json(self) -> dict[str, Any]:
        """The task as plain data."""
        return attrs.asdict(self, recurse=False)

    @classmethod
    def of_json(cls, plain: Mapping[str, Any]) -> Task:
        """The task that `as_json` wrote. Raises TypeError for what is none."""
        return cls(**plain)


@attrs.frozen
class Answer:
    """What came of a task: a value, or an error (`services.answers`), with what it took.

    Values are kept in the store: whoever asks the same gets them again. An error is kept nowhere, so that asking anew
    may help. `origin` is that of the task that it was made for, which may be an earlier one of the same id.
    """

    value: Any = None
    error: Mapping[str, Any] | None = None
    usage: Mapping[str, Any] | None = None
    seconds: float = 0.0
    origin: str = ""

    def as_json(self) -> dict[str, Any]:
        """The answer as plain data."""
        made: dict[str, Any] = {"value": self.value} if self.error is None else {"error": dict(self.error)}
        if self.usage is not None:
            made["usage"] = dict(self.usage)
        return {**made, "seconds": self.seconds, "origin": self.origin}

    @classmethod
    def of_json(cls, plain: Mapping[str, Any]) -> Answer:
        """The answer that `as_json` wrote.

        >>> Answer.of_json(Answer(value=[1]).as_json())
        Answer(value=[1], error=None, usage=None, seconds=0.0, origin='')
        """
        return cls(
            plain.get("value"), plain.get("error"), plain.get("usage"), plain.get("seconds", 0.0),
            origin=plain.get("origin", ""),
        )  # fmt: skip


@attrs.frozen
class RunTask:
    """A whole run, for a worker: its record in the store says what it is of and what it was given.

    `models` are the slots that are bound to models, with their references: a record alone must not bring them back.
    """

    run: str
    models: Mapping[str, Any] = attrs.field(factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The task as plain data."""
        return {"run": self.run, "models": dict(self.models)}

    @classmethod
    def of_json(cls, plain: Mapping[str, Any]) -> RunTask:
        """The task that `as_json` wrote. Raises KeyError and the like for what is none."""
        return cls(plain["run"], dict(plain["models"]))


class Evaluation(Protocol):
    """The evaluation of one run by a worker."""

    async def run(self) -> str:
        """Evaluate to the end, and give the status of the outcome. Raises ProseError where this worker cannot."""

    def let_go(self) -> None:
        """Leave the run as this process' death would: what is cancelled afterwards is neither written nor cancelled at
        other workers, and another goes on with it."""


class Transport(Protocol):
    """What carries attempts to workers. One object serves many runs at once."""

    async def open(self) -> None:
        """Make sure that it can be reached. Raises ProseError P504."""

    async def call(self, task: Task, store: Store | None = None) -> Answer:
        """Have an attempt done; cancelling this cancels it there. A task that was given before, by this process or one
        that has died, is not done again: its answer is waited for, or read. `store` is that of the run: large values
        travel by it, and answers that were forgotten elsewhere are found there. Raises RunError P504."""

    async def start(self, task: RunTask) -> None:
        """Have a whole run evaluated by a worker, and by another where that one dies. Raises RunError P504."""
