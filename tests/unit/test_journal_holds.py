"""Holds of any store: one process at a time works on a run (P503), and one that dies leaves it free. And threads."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from typing import Any

import pytest
from servers.stores import Place, code_of, ended, entry, keys, record, source

from prose_lang.journal import (
    Begun,
    Ended,
    Store,
    StoreError,
)

# --- holds and threads -----------------------------------------------------------------------------------------------


def test_a_run_is_held_once(place: Place) -> None:
    store, other = place.open(), place.open()
    assert not store.held("one")
    hold = store.hold("one")  # before there is a record of it
    assert store.held("one")
    assert other.held("one")
    assert not other.held("two")
    for taker in (store, other):
        with pytest.raises(StoreError, match="another process works on the run one") as caught:
            taker.hold("one")
        assert caught.value.code == "P503"
    second = other.hold("two")
    hold.release()
    hold.release()
    assert not other.held("one")
    assert store.held("two")
    again = other.hold("one")
    hold.release()  # it is not his any more
    assert store.held("one")
    store.close()
    other.close()
    assert place.open().held("two")  # a hold outlives its store
    second.release()
    again.release()
    assert not place.open().held("one")


def test_a_run_that_is_held_is_not_removed(place: Place, store: Store) -> None:
    with_hold = place.open()
    hold = with_hold.hold("one")
    assert code_of(store.remove, ["one"]) == "P503"
    assert code_of(with_hold.remove, ["one"]) == "P503"
    assert store.run("one").id == "one"
    hold.release()
    assert store.remove(["one"]) == 1
    assert not store.held("one")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_is_free_at_once_when_its_process_is_killed(place: Place, store: Store, how: signal.Signals) -> None:
    child = place.child("hold = store.hold('one'); store.reopen('one'); say('held'); time.sleep(600)")
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    assert store.held("one")
    assert code_of(store.hold, "one") == "P503"
    child.send_signal(how)
    child.wait()
    _until(lambda: not store.held("one"), 0 if not place.postgres else 5)  # a server hears of it a moment later
    store.hold("one").release()
    child.communicate()


def _until(true: Any, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() <= until
        time.sleep(0.005)  # another process has to notice


def test_holds_come_and_go_in_many_processes(place: Place) -> None:
    place.open()
    code = """
took = 0
while took < 20:
    try:
        hold = store.hold("one")
    except StoreError as error:
        assert error.code == "P503", error
        continue
    say("in"); say("out")
    hold.release()
    took += 1
"""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as joined:
        children = [place.child(code, stdout=joined.stdin) for _ in range(3)]
        assert [child.wait() for child in children] == [0, 0, 0]
        told = joined.communicate()[0].split()
    assert told == ["in", "out"] * 60  # never two at a time


def test_one_store_serves_many_threads(place: Place, store: Store) -> None:
    failures: list[BaseException] = []

    def work(name: int) -> None:
        try:
            run = f"run{name}"
            with_hold = store.hold(run)
            store.create(record(run), [source(run)])
            for number in range(20):
                k = entry(f"k{number}")
                store.write([Begun(run, k), Begun("one", k)])
                store.write([Ended(run, ended(k, f'"{name}"')), Ended("one", ended(k, f'"{name}"'))])
                assert store.find(run, k.key) == [ended(k, f'"{name}"')]
                store.put_file(bytes([name]))
            with_hold.release()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(store.runs()) == 7
    assert len(store.entries("one")) == 20
    for name in range(6):
        assert keys(store.entries(f"run{name}")) == [f"k{number}" for number in range(20)]
