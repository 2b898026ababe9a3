"""Workers and evaluators as processes of their own, and what happens when one is killed: nothing that was answered is
made again, and nothing is lost.

What the services did stands in a file: a line where a call begins and one where it ends, each with the worker's number.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from servers.postgres import PostgresServer
from servers.stores import Place
from servers.temporal import TemporalServer

import prose_lang
from prose_lang import Engine, Limits

pytestmark = pytest.mark.slow

#: The processes run what these tests run, wherever their folder is.
ENVIRONMENT = dict(os.environ, PYTHONPATH=str(Path(prose_lang.__file__).parents[1]))

SERVICES = """
import os, time
from pathlib import Path

import prose_lang as prose

DEEDS = Path(__file__).with_name("deeds")


def note(what, n):
    with DEEDS.open("a") as file:
        file.write(f"{what} {n} {os.getpid()} {time.time()}\\n")


@prose.service
def work(n: int, seconds: float = 0.1) -> dict:
    note("begin", n)
    time.sleep(seconds)
    note("end", n)
    return {"n": n, "square": n * n}
"""

EVALUATOR = """
import sys
sys.path.insert(0, {tests!r})
from e2e.test_temporal_workers import PROGRAM, engine
folder, address, queue, store, how, given = sys.argv[1:]
made = engine(folder, address, queue, store)
if how == "run":
    made.outcome(made.loads(PROGRAM.format(seconds=0.15)), {{"items": list(range(int(given)))}})
else:
    print(made.resume(given).value)
"""

PROGRAM = """
return parallel for i in items:
  let found = call work
    n: i
    seconds: {seconds}
  return found.square
"""


def engine(folder: str | Path, address: str, queue: str, store: str) -> Engine:
    """An evaluator's engine: it knows the services, and makes no call of them itself."""
    from prose_lang.services import load_services_files
    from prose_lang.transports.temporal import TemporalDispatch

    transport = TemporalDispatch(queue, address=address, lost_after=2.0)
    return Engine(
        services=dict(load_services_files([str(Path(folder) / "services.py")])),
        transport=transport,
        store=store,
        limits=Limits(calls=None),
    )


class Deeds:
    """What the services have done so far, line by line."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "deeds"

    def lines(self) -> list[tuple[str, int, int]]:
        if not self.path.exists():
            return []
        rows = [line.split() for line in self.path.read_text().splitlines()]
        return [(row[0], int(row[1]), int(row[2])) for row in rows if len(row) == 4]

    def begun(self) -> Counter[int]:
        return Counter(n for what, n, _ in self.lines() if what == "begin")

    def ended(self) -> set[int]:
        return {n for what, n, _ in self.lines() if what == "end"}

    def shares(self) -> Counter[int]:
        return Counter(worker for what, _, worker in self.lines() if what == "end")

    def peak(self) -> int:
        now = most = 0
        for what, _, _ in self.lines():
            now += 1 if what == "begin" else -1
            most = max(most, now)
        return most


class Site:
    """A folder with services and a file of deeds; a store; a queue; and the workers that take from it."""

    def __init__(self, folder: Path, address: str, store: str) -> None:
        self.folder = folder
        self.address = address
        self.store = store
        self.queue = f"workers-{uuid4().hex[:8]}"
        self.deeds = Deeds(folder)
        self.processes: list[subprocess.Popen[str]] = []
        (folder / "services.py").write_text(SERVICES)

    def worker(self, slots: int) -> subprocess.Popen[str]:
        """Start a worker and wait until it takes calls."""
        made = self.start(
            "-m", "prose_lang", "worker", "--services", "services.py", "--queue", self.queue, "--slots", str(slots),
            "--store", self.store, "--temporal", self.address,
        )  # fmt: skip
        assert made.stderr is not None
        assert made.stderr.readline().startswith(f"takes calls of the queue `{self.queue}`")
        return made

    def evaluator(self, how: str, given: str) -> subprocess.Popen[str]:
        text = EVALUATOR.format(tests=str(Path(__file__).parent.parent))
        return self.start("-c", text, str(self.folder), self.address, self.queue, self.store, how, given)

    def start(self, *words: str) -> subprocess.Popen[str]:
        made = subprocess.Popen(
            [sys.executable, *words], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=ENVIRONMENT,
        )  # fmt: skip
        self.processes.append(made)
        return made

    def engine(self) -> Engine:
        return engine(self.folder, self.address, self.queue, self.store)

    def run(self, items: int, seconds: float) -> Any:
        made = self.engine()
        return made.run_async(made.loads(PROGRAM.format(seconds=seconds)), {"items": list(range(items))})

    def answered(self) -> set[int]:
        """Those whose answers are kept."""
        rows = Place(self.store).sql("SELECT result FROM <attempts> WHERE number > 0")
        return {json.loads(row[0])["value"]["n"] for row in rows}

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()


@pytest.fixture
def site(tmp_path: Path, temporal_server: TemporalServer) -> Iterator[Site]:
    made = Site(tmp_path, temporal_server.address, str(tmp_path / "store"))
    yield made
    made.close()


@pytest.fixture
def site_on_postgres(
    tmp_path: Path, own_temporal_server: TemporalServer, own_postgres_server: PostgresServer
) -> Iterator[Site]:
    """One with a database as its store, and servers that the test may stop."""
    made = Site(tmp_path, own_temporal_server.address, own_postgres_server.url())
    yield made
    made.close()


async def until(condition: Callable[[], Any]) -> None:
    """Wait for something that another process does."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def wait_until(condition: Callable[[], Any]) -> None:
    asyncio.run(until(condition))


def test_two_workers_share_the_calls_and_keep_the_slots(site: Site) -> None:
    site.worker(4)
    site.worker(4)
    outcome = asyncio.run(site.run(200, 0.25))
    assert outcome.value == [n * n for n in range(200)]
    assert site.deeds.begun() == Counter(range(200))
    assert site.deeds.peak() == 8  # all slots were used at once, and never one more
    shares = site.deeds.shares()
    assert len(shares) == 2
    assert min(shares.values()) > 50


def test_a_worker_that_is_killed_loses_nothing_and_repeats_nothing_that_was_answered(site: Site) -> None:
    first, _ = site.worker(4), site.worker(4)

    async def main() -> Any:
        running = asyncio.create_task(site.run(200, 0.15))
        await until(lambda: len(site.deeds.ended()) >= 60)
        first.kill()
        await asyncio.to_thread(first.wait)
        killed, answered, begun = len(site.deeds.lines()), site.answered(), site.deeds.begun()
        return await running, killed, answered, begun

    outcome, killed, answered, begun = asyncio.run(main())
    assert outcome.value == [n * n for n in range(200)]
    assert len(answered) >= 40
    afterwards = Counter(n for what, n, _ in site.deeds.lines()[killed:] if what == "begin")
    again = {n for n in afterwards if begun[n]}
    assert len(again) <= 4  # what the dead worker had under way
    assert not again & answered
    assert max(site.deeds.begun().values()) <= 2


def test_an_evaluator_that_is_killed_goes_on_elsewhere_and_no_call_is_made_twice(site: Site) -> None:
    site.worker(4)
    site.worker(4)
    dying = site.evaluator("run", "200")
    wait_until(lambda: len(site.deeds.ended()) >= 60)
    dying.kill()
    dying.wait()
    before = len(site.deeds.ended())
    assert before < 200
    other = site.engine()
    assert other.records is not None
    (record,) = other.records.store.runs()
    second = site.evaluator("resume", record.id)
    out, err = second.communicate(timeout=60)
    assert out.strip() == str([n * n for n in range(200)]), err
    # Those that were under way had been handed over: they went on, and their answers were waiting.
    assert site.deeds.begun() == Counter(range(200))


def test_a_detached_run_goes_on_at_another_worker_when_its_evaluator_is_killed(site: Site) -> None:
    first = site.worker(4)
    made = site.engine()
    assert made.records is not None
    store = made.records.store
    number = made.detach(made.loads(PROGRAM.format(seconds=0.2)), {"items": list(range(100))})
    wait_until(lambda: len(site.deeds.ended()) >= 30)
    assert store.held(number)  # by the only worker there is
    second = site.worker(4)
    wait_until(lambda: second.pid in site.deeds.shares())
    first.kill()
    first.wait()
    killed, answered = len(site.deeds.lines()), site.answered()
    wait_until(lambda: store.run(number).status == "ok")
    assert json.loads(store.run(number).outcome or "")["value"] == [n * n for n in range(100)]
    again = {n for what, n, _ in site.deeds.lines()[killed:] if what == "begin"}
    assert not again & answered
    begun = site.deeds.begun()
    assert set(begun) == set(range(100))
    assert sum(begun.values()) <= 104  # the calls that died with the first worker were made again


def test_with_a_database_nothing_that_was_answered_is_made_again_whoever_is_killed(site_on_postgres: Site) -> None:
    """A run of 200 calls: its evaluator is killed, then a worker, and it is gone on with."""
    site = site_on_postgres
    first, _ = site.worker(4), site.worker(4)
    dying = site.evaluator("run", "200")
    wait_until(lambda: len(site.deeds.ended()) >= 40)
    dying.kill()
    dying.wait()
    records = site.engine().records
    assert records is not None
    (record,) = records.store.runs()
    assert not records.store.held(record.id)
    second = site.evaluator("resume", record.id)
    wait_until(lambda: len(site.deeds.ended()) >= 80)
    first.kill()
    first.wait()
    killed, answered = len(site.deeds.lines()), site.answered()
    out, err = second.communicate(timeout=60)
    assert out.strip() == str([n * n for n in range(200)]), err
    again = {n for what, n, _ in site.deeds.lines()[killed:] if what == "begin"}
    assert not again & answered
    begun = site.deeds.begun()
    assert set(begun) == set(range(200))
    assert sum(begun.values()) <= 204  # what the dead worker had under way
    assert records.store.run(record.id).status == "ok"


def test_a_detached_run_outlives_its_servers(
    site_on_postgres: Site, own_temporal_server: TemporalServer, own_postgres_server: PostgresServer
) -> None:
    """Both are gone for a while, with all that was not durable; the workers stay, and end the run with no word."""
    site = site_on_postgres
    workers = [site.worker(4), site.worker(4)]
    made = site.engine()
    assert made.records is not None
    store = made.records.store
    number = made.detach(made.loads(PROGRAM.format(seconds=0.15)), {"items": list(range(120))})
    wait_until(lambda: len(site.deeds.ended()) >= 30)
    own_temporal_server.stop()
    own_postgres_server.stop()
    wait_until(lambda: site.deeds.ended() == set(site.deeds.begun()))  # while nobody can be told
    begun = site.deeds.begun()
    assert own_postgres_server.start()
    kept = site.answered()
    assert own_temporal_server.start()
    wait_until(lambda: store.run(number).status == "ok")
    assert json.loads(store.run(number).outcome or "")["value"] == [n * n for n in range(120)]
    assert all(site.deeds.begun()[n] == begun[n] for n in kept)  # nothing on record was made again
    assert set(site.deeds.begun()) == set(range(120))
    assert [worker.poll() for worker in workers] == [None, None]


def test_a_worker_ends_what_it_does_when_it_is_told_to_stop(site: Site) -> None:
    worker = site.worker(2)

    async def main() -> Any:
        running = asyncio.create_task(site.run(6, 0.5))
        await until(lambda: len(site.deeds.begun()) >= 2)
        worker.send_signal(signal.SIGTERM)
        await asyncio.to_thread(worker.wait)
        site.worker(2)
        return await running

    outcome = asyncio.run(main())
    assert outcome.value == [n * n for n in range(6)]
    assert site.deeds.begun() == Counter(range(6))
    assert worker.returncode == 0
    assert worker.stderr is not None
    said = worker.stderr.read().splitlines()
    assert said[0] == "stopping: 2 calls under way, 30 s to end; once more ends at once"
    assert said[-1].startswith("stopped: ")


def test_a_second_signal_ends_a_worker_at_once(site: Site) -> None:
    worker = site.worker(1)

    async def main() -> Any:
        running = asyncio.create_task(site.run(1, 5.0))
        await until(site.deeds.begun)
        worker.send_signal(signal.SIGINT)
        began = time.monotonic()
        await asyncio.sleep(0.2)
        worker.send_signal(signal.SIGINT)
        await asyncio.to_thread(worker.wait)
        took = time.monotonic() - began
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        return took

    assert asyncio.run(main()) < 3
    assert worker.returncode == 130


def test_what_keeps_a_worker_from_beginning_is_told(site: Site) -> None:
    from servers import free_ports

    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    words = ["-m", "prose_lang", "worker", "--queue", "q", "--temporal", address]
    out, err = site.start(*words).communicate(timeout=30)
    assert out == ""
    assert f"error[P504] engine-unreachable: Temporal does not answer at {address}" in err
    out, err = site.start(*words, "--services", "gone.py").communicate(timeout=30)
    assert "error[P103]" in err
    (site.folder / "file").write_text("")
    out, err = site.start(*words, "--store", "file").communicate(timeout=30)
    assert "error[P501]" in err
    environ = dict(ENVIRONMENT, PROSE_TEMPORAL="nonsense")
    done = subprocess.run(
        [sys.executable, *words[:-2]], cwd=site.folder, env=environ, capture_output=True, text=True, timeout=30
    )
    assert "`nonsense` is no address of a Temporal server" in done.stderr
    assert done.returncode == 2
