"""Writing in groups (L35): the order, what waits for what, whose error is told to whom, and when the thread ends."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest
from servers.stores import Place, ended, entry, record

from prose_lang.journal import Begun, Change, Ended, Finished, Pen, Store, StoreError, Writer
from prose_lang.journal import writer as writer_module
from prose_lang.testing.clock import run_virtual


class Noted:
    """A store that notes what is written, and waits or fails where it is told to."""

    def __init__(self) -> None:
        self.groups: list[list[Change]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.failing: dict[str, BaseException] = {}
        self.threads: set[str] = set()
        self.asked = 0

    def write(self, changes: Sequence[Change]) -> None:
        self.threads.add(threading.current_thread().name)
        self.asked += 1
        self.entered.set()
        assert self.gate.wait(20)
        for change in changes:
            if change.run in self.failing:
                raise self.failing[change.run]
        self.groups.append(list(changes))

    @property
    def keys(self) -> list[list[str]]:
        return [[cast("Begun", change).entry.key for change in group] for group in self.groups]


@pytest.fixture
def noted() -> Noted:
    return Noted()


def writer_of(noted: Noted) -> Writer:
    return Writer(cast("Store", noted))


def begun(key: str, run: str = "one") -> Begun:
    return Begun(run, entry(key))


async def opened(noted: Noted) -> None:
    """Wait until the thread is in the store, without keeping the loop from turning."""
    await asyncio.get_running_loop().run_in_executor(None, noted.entered.wait, 20)


@pytest.mark.parametrize("run", [asyncio.run, run_virtual])
def test_what_is_put_in_one_turn_of_the_loop_is_one_write(noted: Noted, run: Any) -> None:
    async def main() -> None:
        pen = Pen(writer_of(noted))
        for number in range(50):
            pen.put(begun(f"k{number}"))
        assert not noted.groups  # nothing waits for the disk
        await pen.flushed()
        assert noted.keys == [[f"k{number}" for number in range(50)]]
        await pen.flushed()  # nothing is left
        await asyncio.gather(*(flushed_one(pen, f"l{number}") for number in range(30)))
        # The first finds nothing under way that it could be grouped with; the others come with the next.
        assert [key for group in noted.keys[1:] for key in group] == [f"l{number}" for number in range(30)]
        assert len(noted.keys) <= 3

    async def flushed_one(pen: Pen, key: str) -> None:
        pen.put(begun(key))
        await pen.flushed()

    run(main())
    assert noted.threads == {"prose-journal"}


def test_all_that_comes_while_one_is_written_goes_into_the_next(noted: Noted) -> None:
    async def main() -> None:
        writer = writer_of(noted)
        pens = [Pen(writer), Pen(writer)]
        noted.gate.clear()
        pens[0].put(begun("first"))
        await opened(noted)
        for number in range(6):
            pens[number % 2].put(begun(f"k{number}", "one" if number % 2 == 0 else "two"))
            pens[number % 2].hand_over()
        noted.gate.set()
        await asyncio.gather(*(pen.flushed() for pen in pens))

    asyncio.run(main())
    assert noted.keys == [["first"], [f"k{number}" for number in range(6)]]


def test_a_group_has_its_limit(noted: Noted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "_MOST", 10)

    async def main() -> None:
        pen = Pen(writer_of(noted))
        noted.gate.clear()
        pen.put(begun("first"))
        await opened(noted)
        for number in range(25):
            pen.put(begun(f"k{number}"))
            pen.hand_over()
        noted.gate.set()
        await pen.flushed()

    asyncio.run(main())
    assert [len(group) for group in noted.groups] == [1, 10, 10, 5]
    assert [key for group in noted.keys for key in group] == ["first", *(f"k{number}" for number in range(25))]


def test_flushed_waits_for_all_that_was_put_before(noted: Noted) -> None:
    async def main() -> None:
        pen = Pen(writer_of(noted))
        noted.gate.clear()
        pen.put(begun("a"))
        first = asyncio.ensure_future(pen.flushed())
        await opened(noted)
        pen.put(begun("b"))
        second = asyncio.ensure_future(pen.flushed())
        await asyncio.sleep(0)
        assert not first.done()
        second.cancel()  # who waits may go, what is written does not
        with pytest.raises(asyncio.CancelledError):
            await second
        noted.gate.set()
        await first
        await pen.flushed()
        assert noted.keys == [["a"], ["b"]]

    asyncio.run(main())


def test_an_error_is_told_to_whoever_waits_and_kept(noted: Noted) -> None:
    error = StoreError("P501", "the disk is full")

    async def main() -> None:
        pen = Pen(writer_of(noted))
        noted.failing["one"] = error
        pen.put(begun("a"))
        waiting = [asyncio.ensure_future(pen.flushed()) for _ in range(3)]
        for one in waiting:
            with pytest.raises(StoreError) as caught:
                await one
            assert caught.value is error
        assert pen.failure is error
        noted.failing["one"] = StoreError("P503", "another one")
        pen.put(begun("b"))
        with pytest.raises(StoreError, match="the disk is full"):
            await pen.flushed()
        assert pen.failure is error  # the first
        noted.failing.clear()
        pen.put(begun("c"))
        for _ in range(2):  # a record breaks off, and never has a hole
            with pytest.raises(StoreError, match="the disk is full"):
                await pen.flushed()
        assert noted.keys == []

    asyncio.run(main())


def test_an_error_that_nobody_waits_for_is_kept_and_not_complained_of(noted: Noted) -> None:
    complaints: list[Any] = []
    noted.failing["one"] = StoreError("P501", "the disk is full")

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        pen = Pen(writer_of(noted))
        pen.put(begun("a"))
        while pen.failure is None:  # noqa: ASYNC110 - a pen tells only those who wait, and nobody does
            await asyncio.sleep(0)

    asyncio.run(main())
    gc.collect()
    assert complaints == []


def test_one_runs_error_is_not_told_to_another(noted: Noted) -> None:
    async def main() -> None:
        writer = writer_of(noted)
        good, bad, also = Pen(writer), Pen(writer), Pen(writer)
        noted.gate.clear()
        good.put(begun("first", "good"))
        await opened(noted)
        noted.failing["bad"] = StoreError("P503", "lost", run="bad")
        for pen, run in ((good, "good"), (bad, "bad"), (also, "also")):
            pen.put(begun(f"of {run}", run))
            pen.hand_over()
        noted.gate.set()
        results = await asyncio.gather(good.flushed(), bad.flushed(), also.flushed(), return_exceptions=True)
        assert results == [None, noted.failing["bad"], None]
        assert (good.failure, bad.failure, also.failure) == (None, noted.failing["bad"], None)

    asyncio.run(main())
    assert noted.keys == [["first"], ["of good"], ["of also"]]


@pytest.mark.parametrize("code", ["P503", "P504"])
def test_a_store_that_is_locked_or_does_not_answer_is_asked_once_for_all(noted: Noted, code: str) -> None:
    """Each attempt may wait for ten seconds: what waits with it is not made to wait for its own."""
    failure = StoreError(code, "the store is locked")

    async def main() -> None:
        writer = writer_of(noted)
        pens = [Pen(writer) for _ in range(20)]
        noted.gate.clear()
        pens[0].put(begun("first"))
        await opened(noted)
        noted.failing = {"one": failure, "two": failure}
        for pen in pens:
            pen.put(begun("k", "two"))
            pen.hand_over()
        noted.gate.set()
        results = await asyncio.gather(*(pen.flushed() for pen in pens), return_exceptions=True)
        assert results == [failure] * 20
        assert [pen.failure for pen in pens] == [failure] * 20

    asyncio.run(main())
    assert noted.asked == 2


def test_an_error_of_another_kind_is_told_as_the_stores(noted: Noted) -> None:
    noted.failing["one"] = ZeroDivisionError("what?")

    async def main() -> None:
        pen = Pen(writer_of(noted))
        pen.put(begun("a"))
        with pytest.raises(StoreError, match="the store failed") as caught:
            await pen.flushed()
        assert caught.value.code == "P501"
        noted.failing.clear()
        other = Pen(pen.writer)
        other.put(begun("b", "two"))
        await other.flushed()  # the thread lives on

    asyncio.run(main())
    assert noted.keys == [["b"]]


def test_a_loop_that_is_closed_before_the_answer_harms_nobody(noted: Noted) -> None:
    writer = writer_of(noted)
    noted.gate.clear()

    async def leaving() -> None:
        pen = Pen(writer)
        pen.put(begun("a"))
        pen.hand_over()
        await opened(noted)

    async def staying() -> None:
        pen = Pen(writer)
        pen.put(begun("b"))
        pen.hand_over()
        noted.gate.set()
        await pen.flushed()

    asyncio.run(leaving())
    asyncio.run(staying())
    assert noted.keys == [["a"], ["b"]]


def test_the_thread_ends_when_there_is_nothing_to_do(noted: Noted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "_IDLE", 0.01)
    writer = writer_of(noted)

    def threads() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "prose-journal" and thread not in before]

    before = [thread for thread in threading.enumerate() if thread.name == "prose-journal"]

    async def one(key: str) -> None:
        pen = Pen(writer)
        pen.put(begun(key))
        await pen.flushed()

    for number in range(3):
        asyncio.run(one(str(number)))
        for thread in threads():
            thread.join(20)
        assert threads() == []
    for number in range(50):  # just as it is about to end
        asyncio.run(one(f"again {number}"))
    assert [key for group in noted.keys for key in group] == ["0", "1", "2", *(f"again {n}" for n in range(50))]


def test_a_loop_whose_time_jumps_waits_for_the_disk(noted: Noted) -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        pen = Pen(writer_of(noted))
        noted.gate.clear()
        pen.put(begun("a"))
        pen.hand_over()
        threading.Timer(0.05, noted.gate.set).start()
        await pen.flushed()
        then = loop.time()
        await asyncio.sleep(3600)
        assert loop.time() - then == 3600
        return then

    assert run_virtual(main()) < 1


def test_many_runs_on_many_loops_share_one_thread(place: Place) -> None:
    store = place.open()
    writer = Writer(store)
    runs = [f"run{number}" for number in range(5)]
    for run in runs:
        store.create(record(run), [])
    failures: list[BaseException] = []

    async def main(run: str) -> None:
        pen = Pen(writer)

        async def call(number: int) -> None:
            k = entry(f"k{number:03}")
            pen.put(Begun(run, k))
            await pen.flushed()
            assert store.find(run, k.key) == [k]  # it is there before the call is made
            pen.put(Ended(run, ended(k, str(number))))
            await asyncio.sleep(0)

        for wave in range(4):
            await asyncio.gather(*(call(wave * 25 + number) for number in range(25)))
        pen.put(Finished(run, "success", "{}", 5.0))
        await pen.flushed()

    def work(run: str) -> None:
        try:
            asyncio.run(main(run))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for run in runs:
        assert [(one.key, one.result) for one in store.entries(run)] == [(f"k{n:03}", str(n)) for n in range(100)]
        assert store.run(run).status == "success"


class Blocking(threading.Condition):
    """A condition that tells when somebody begins to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.waited = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.set()
        return super().wait(timeout)


def test_what_waits_to_be_written_is_bounded(noted: Noted, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that makes no calls and only decides never waits for the disk: it is held up where it is faster."""
    monkeypatch.setattr(writer_module, "_BATCH", 10)
    monkeypatch.setattr(writer_module, "_HELD", 50)
    most = 0

    async def main() -> None:
        nonlocal most
        writer = writer_of(noted)
        held = writer._lock = Blocking()
        pen = Pen(writer)
        noted.gate.clear()

        def let_go() -> None:
            nonlocal most
            assert held.waited.wait(20)
            most = writer._held
            noted.gate.set()

        opener = threading.Thread(target=let_go)
        opener.start()
        assert not writer.crowded
        for number in range(200):
            pen.put(begun(f"k{number}"))
        await pen.flushed()
        opener.join()
        assert writer._held == 0

    asyncio.run(main())
    assert most in (50, 60)  # ten may be being written already
    assert [key for group in noted.keys for key in group] == [f"k{number}" for number in range(200)]
