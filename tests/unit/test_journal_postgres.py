"""What may happen between a process and its store in PostgreSQL: lost connections and holds, refusals, restarts."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest
from servers import free_ports
from servers.postgres import PostgresServer, need_driver
from servers.stores import Place, ended, entry, record, source

from prose_lang.journal import Begun, Cached, Ended, Finished, StoreError, open_store
from prose_lang.journal import postgres_holds as holds_module
from prose_lang.journal.postgres import PostgresStore
from prose_lang.journal.postgres_link import shown


@pytest.fixture
def store(database: Place) -> PostgresStore:
    """A store with the run `one`."""
    made = database.open(patience=0.5)
    assert isinstance(made, PostgresStore)
    made.create(record("one"), [source("one")])
    return made


def refused(call: Any) -> StoreError:
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value


def end(database: Place, store: PostgresStore, *, holds: bool = False) -> None:
    """End the connection that a store works on, or that of its holds, from the server's side."""
    link = store._holds._link if holds else store._link
    assert link is not None
    pid = link.info.backend_pid
    database.sql("SELECT pg_terminate_backend(?)", pid)
    while database.sql("SELECT 1 FROM pg_stat_activity WHERE pid = ?", pid):
        time.sleep(0.005)  # the server needs a moment


# --- opening ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("url", "address"), [
    ("postgresql://db.example/runs", "postgresql://db.example/runs"),
    ("postgresql://me:secret@db.example:5432/runs", "postgresql://me@db.example:5432/runs"),
    ("postgres://me:s%40c@h/d?sslmode=require", "postgres://me@h/d?sslmode=require"),
    ("postgresql://h/d?user=me&password=secret", "postgresql://h/d?user=me"),
    ("postgresql://h/d?password=secret&user=me&sslpassword=secret", "postgresql://h/d?user=me"),
    ("postgresql://me:se@cr:et@h/d", "postgresql://me@h/d"),
    ("postgresql:///runs?host=/tmp", "postgresql:///runs?host=/tmp"),
])  # fmt: skip
def test_the_address_is_the_url_without_its_password(url: str, address: str) -> None:
    assert shown(url) == address


def test_an_address_shows_no_password(database: Place) -> None:
    url = database.where.replace("prose@", "prose:s3cret@")
    store = open_store(url)
    assert store.address == database.where
    store.close()


def test_a_server_that_is_not_there_is_told() -> None:
    need_driver()
    (port,) = free_ports(1)
    error = refused(lambda: open_store(f"postgresql://me:s3cret@127.0.0.1:{port}/runs"))
    assert error.code == "P504"
    assert error.message.startswith(f"the database `postgresql://me@127.0.0.1:{port}/runs` does not answer: ")
    assert "Connection refused" in error.message
    assert error.hint == "is the server running, and reachable from here?"
    assert refused(lambda: open_store("postgresql://nowhere.invalid/runs?connect_timeout=2")).code == "P504"


def test_what_the_server_refuses_is_told_with_its_reason(postgres_server: PostgresServer) -> None:
    url = postgres_server.url
    postgres_server.do("DROP ROLE IF EXISTS locked", "CREATE ROLE locked LOGIN PASSWORD 's3cret'")
    for where, reason in (
        (url("nothing"), 'database "nothing" does not exist'),
        (url(user="nobody_here"), 'role "nobody_here" does not exist'),
        (url(user="locked", password="wr0ng"), 'password authentication failed for user "locked"'),
    ):
        error = refused(lambda where=where: open_store(where))
        assert error.code == "P501"
        assert error.message.endswith(f"cannot be opened: {reason}")
        assert "wr0ng" not in f"{error.message}{error.hint}{error.__cause__}"
    assert refused(lambda: open_store(url(user="locked", password="s3cret"))).message.endswith(
        "cannot be opened: permission denied for database postgres"
    )
    assert refused(lambda: open_store(url(user="locked", password="s3cret"), make=False)).message.startswith(
        "there are no run records in"
    )


@pytest.mark.parametrize("url", [
    "postgresql://me:se%zzcret@h/d",
    "postgresql://me:se/cret@h/d",
    "postgresql://me:se@cret@h/d",
    "postgresql://me:secret@h/d?unknown=1",
    "postgresql://me:secret@h:port/d",
])  # fmt: skip
def test_a_url_that_cannot_be_read_is_told_without_its_password(url: str) -> None:
    need_driver()
    error = refused(lambda: open_store(url))
    assert error.code in ("P501", "P504")
    for part in ("se%zzcret", "secret", "se/cret", "cret@"):
        assert part not in f"{error.message}{error.hint}"


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    error = refused(lambda: open_store("postgresql://h/d"))
    assert error.code == "P501"
    assert error.message == "a store in PostgreSQL needs the package psycopg, which is not installed"
    assert error.hint == "pip install 'openprose-lang[postgres]'"


def test_a_database_that_keeps_no_unicode_is_refused(postgres_server: PostgresServer) -> None:
    made = "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    postgres_server.do("DROP DATABASE IF EXISTS latin", made)
    error = refused(lambda: open_store(postgres_server.url("latin")))
    assert error.code == "P501"
    assert error.message.endswith("keeps texts as LATIN1, and UTF8 is needed")


def test_full_durability_needs_a_server_that_forces_its_log_to_the_disk(
    database: Place, own_postgres_server: PostgresServer
) -> None:
    error = refused(lambda: database.open(durability="full"))
    assert error.code == "P501"
    assert error.hint == "its setting `fsync` is off, and `full` durability needs it"
    for durability in ("normal", "full"):
        store = open_store(own_postgres_server.url(), durability=durability)
        assert isinstance(store, PostgresStore)
        assert store._rows("SHOW synchronous_commit") == [("on",)]
        store.close()


# --- lost connections ------------------------------------------------------------------------------------------------


def test_a_lost_connection_is_made_again(database: Place, store: PostgresStore) -> None:
    end(database, store)
    assert store.run("one").id == "one"
    end(database, store)
    store.write([Begun("one", entry("k"))])
    end(database, store)
    assert store.find("one", "k") == [entry("k")]
    end(database, store)
    store.put_cached(Cached("key", "s", "1", "2", None, 5.0))
    end(database, store)
    assert store.cached("key") is not None
    end(database, store)
    store.create(record("two"), [])
    end(database, store)
    hold = store.hold("one")
    end(database, store)
    store.write([Ended("one", ended(entry("k")))])  # the hold has a connection of its own
    hold.release()


class Breaking:
    """A connection that breaks at its `COMMIT`: before it is sent, or before the answer is there."""

    def __init__(self, store: PostgresStore, *, answered: bool) -> None:
        self.times = 0
        link = store._connected()
        execute = link.execute

        def broken(query: Any, *given: Any, **options: Any) -> Any:
            if query != "COMMIT":
                return execute(query, *given, **options)
            self.times += 1
            if answered:
                execute(query)
            link.close()
            raise store._address.driver.OperationalError("server closed the connection unexpectedly")

        link.execute = broken  # type: ignore[method-assign, assignment]


@pytest.mark.parametrize("answered", [False, True])
def test_what_became_of_a_transaction_is_found_out(database: Place, store: PostgresStore, answered: bool) -> None:
    broken = Breaking(store, answered=answered)
    store.write([Begun("one", entry("a")), Begun("one", entry("b"), anew=True)])
    assert broken.times == 1
    assert [one.key for one in store.entries("one")] == ["a", "b"]
    written = database.sql("SELECT count(*) FROM <sessions>"), database.sql("SELECT max(number) FROM <entries>")
    assert written == ([(1,)], [(2,)] if answered else [(4,)])  # once, or once in vain
    broken = Breaking(store, answered=answered)
    store.create(record("two"), [])
    assert store.run("two").id == "two"
    assert broken.times == 1


def test_a_transaction_whose_end_is_not_known_is_told(database: Place, store: PostgresStore,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(store, "_fate", lambda _: None)
    Breaking(store, answered=True)
    error = refused(lambda: store.write([Begun("one", entry("k"))]))
    assert error.code == "P504"
    assert error.message.endswith("cannot be written: server closed the connection unexpectedly")
    store.write([Begun("one", entry("k"))])


def test_a_transaction_that_is_still_under_way_is_waited_for(database: Place, store: PostgresStore) -> None:
    import psycopg

    with psycopg.connect(database.where) as other:
        number = other.execute("SELECT txid_current()").fetchone()
        assert number is not None
        assert store._fate(number[0]) is None  # after `patience`
        other.commit()
        assert store._fate(number[0]) == "committed"
        number = other.execute("SELECT txid_current()").fetchone()
        assert number is not None
        other.rollback()
        assert store._fate(number[0]) == "aborted"


def test_a_server_that_is_restarted_has_all_that_was_written(own_postgres_server: PostgresServer) -> None:
    server = own_postgres_server
    store = open_store(server.url(), durability="full")
    store.create(record("one"), [source("one")])
    store.create(record("two"), [])
    hold = store.hold("one")
    for number in range(20):
        store.write([Begun("one", entry(f"k{number}")), Ended("one", ended(entry(f"k{number}"), f'"{"x" * 70_000}"'))])
    server.stop()
    for call in (
        lambda: store.run("one"),
        lambda: store.write([Begun("two", entry("k"))]),
        lambda: store.hold("two"),
        lambda: store.held("one"),
    ):
        error = refused(call)
        assert error.code == "P504"
        assert "does not answer" in error.message
    assert server.start()
    assert [one.key for one in store.entries("one")] == [f"k{number}" for number in range(20)]
    assert all(len(store.resolved(one).result or "") == 70_002 for one in store.entries("one"))
    store.write([Begun("two", entry("k"))])
    error = refused(lambda: store.write([Begun("one", entry("k"))]))  # anybody may have it by now
    assert error.code == "P503"
    hold.release()
    again = store.hold("one")
    store.write([Begun("one", entry("k"))])
    again.release()
    store.close()


# --- lost holds ------------------------------------------------------------------------------------------------------


def test_a_lost_hold_ends_the_writing_of_its_run(database: Place, store: PostgresStore) -> None:
    store.create(record("two"), [])
    hold = store.hold("one")
    end(database, store, holds=True)
    assert not store.held("one")
    error = refused(lambda: store.write([Begun("one", entry("k")), Begun("two", entry("k"))]))
    assert error.code == "P503"
    assert error.message == "this process no longer holds the run one: its connection to the database was lost"
    assert error.hint == "`prose resume one` goes on with it"
    assert store.entries("two") == []
    store.write([Begun("two", entry("k"))])  # which it does not hold, and never did
    other = database.open()
    taken = other.hold("one")
    assert refused(lambda: store.write([Begun("one", entry("k"))])).code == "P503"
    hold.release()
    assert store.held("one")
    taken.release()


def test_who_lost_a_run_unknowingly_never_writes_after_who_took_it(
    database: Place, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server knows that the connection is gone, and this process has not heard of it."""
    hold = store.hold("one")
    store.write([Begun("one", entry("mine"))])
    end(database, store, holds=True)
    monkeypatch.setattr(holds_module, "alive", lambda link: not link.closed)
    other = database.open()
    taken = other.hold("one")
    other.write([Begun("one", entry("theirs"))])
    error = refused(lambda: store.write([Finished("one", "failed", "{}", 5.0)]))
    assert error.code == "P503"
    taken.release()
    assert refused(lambda: store.write([Finished("one", "failed", "{}", 5.0)])).code == "P503"
    assert store.run("one").status == "running"
    assert [one.key for one in store.entries("one")] == ["mine", "theirs"]
    hold.release()


def test_a_run_is_not_taken_in_the_middle_of_a_transaction_of_its_holder(database: Place, store: PostgresStore) -> None:
    """A transaction that looked at its token ends before another token can take its place."""
    store.hold("one")
    other = database.open(patience=0.2)
    link = store._connected()
    link.execute("BEGIN")
    assert link.execute(holds_module.TOKEN, ("one",)).fetchone() is not None
    end(database, store, holds=True)
    error = refused(lambda: other.hold("one"))
    assert error.code == "P503"
    assert not other.held("one")
    link.execute("COMMIT")
    other.hold("one").release()


def test_holds_need_one_connection_and_leave_none(database: Place, store: PostgresStore) -> None:
    def connections() -> int:
        text = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"
        return int(database.sql(text)[0][0])

    _until(lambda: connections() == 1)
    held = [store.hold(f"run{number}") for number in range(30)]
    _until(lambda: connections() == 2)
    for hold in held:
        hold.release()
    _until(lambda: connections() == 1)
    assert database.sql("SELECT count(*) FROM <holds>") == [(0,)]
    store.close()
    _until(lambda: connections() == 0)


def _until(true: Any) -> None:
    until = time.monotonic() + 10
    while not true():
        assert time.monotonic() < until
        time.sleep(0.005)  # the server needs a moment


# --- locks and rights ------------------------------------------------------------------------------------------------


def test_tables_that_another_process_locks_are_told(database: Place, store: PostgresStore) -> None:
    import psycopg

    with psycopg.connect(database.where) as other:
        other.execute("LOCK TABLE prose.entries IN EXCLUSIVE MODE")
        error = refused(lambda: store.write([Begun("one", entry("k"))]))
        assert error.code == "P503"
        assert error.hint == "it was waited for 0.5 s"
        assert store.entries("one") == []  # reading goes on
    store.write([Begun("one", entry("k"))])


def test_two_processes_that_wait_for_each_other_both_go_on(database: Place) -> None:
    """Large contents and sources that both write are taken in the same order."""
    import threading

    shared = [f'"{chr(97 + number) * 70_000}"' for number in range(6)]
    failures: list[BaseException] = []

    def work(name: int) -> None:
        try:
            store = database.open()
            for round_ in range(6):
                run = f"{name}-{round_}"
                texts = shared if name % 2 else shared[::-1]
                store.create(record(run), [source(text[1]) for text in texts])
                store.write([Begun(run, entry(f"k{at}", request=text)) for at, text in enumerate(texts)])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert database.sql("SELECT count(*) FROM <files>") == [(6,)]
    assert len(database.open().runs()) == 24


def test_a_group_goes_over_in_few_round_trips(database: Place, store: PostgresStore) -> None:
    """Counted by the statements that the server sees: not one for each change."""
    store.write([Begun("one", entry("first"))])
    sent: list[Any] = []
    link = store._connected()
    execute = type(link.cursor()).execute

    def counting(self: Any, query: Any, *given: Any, **options: Any) -> Any:
        sent.append(query)
        return execute(self, query, *given, **options)

    cursor_type = type(link.cursor())
    cursor_type.execute = counting  # type: ignore[method-assign, assignment]
    try:
        store.write([change for number in range(200) for change in (
            Begun("one", entry(f"k{number}")), Ended("one", ended(entry(f"k{number}"))))])  # fmt: skip
    finally:
        cursor_type.execute = execute  # type: ignore[method-assign]
    assert len(sent) <= 6
    assert len(store.entries("one")) == 201
