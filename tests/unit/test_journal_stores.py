"""What the port of the journal promises, of every store: records (L35) are given back as they were, or told of."""

from __future__ import annotations

import random
from typing import Any

import pytest
from servers.stores import Place, code_of, ended, entry, keys, record, source

from prose_lang.journal import (
    Attempt,
    Begun,
    Cached,
    Ended,
    Entry,
    Finished,
    RunFilter,
    SourceText,
    Store,
    StoreError,
    digest_of,
)
from prose_lang.journal.port import LARGE
from prose_lang.journal.records import Decided, Warned

#: Texts that no file, pattern or message should hold, and that may be there all the same.
ODD = [
    "",
    "plain",
    "Grüße → 東京 🎭",
    "a\0b",
    "\udcff.md",
    "\x1bescaped",
    "\x1b\0\udc80",
    "line\r\nline",
    "@" + "0" * 40,
]


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ODD)
def test_a_run_is_given_back_as_it_was_given(place: Place, text: str) -> None:
    given = record("one", pattern=text, names='{"task":"\\u0000\\udcff"}', started=5)
    sources = [source("one"), SourceText(text, text, text, text), SourceText(text, None, None, text * 2)]
    place.open().create(given, sources)
    other = place.open()
    found = other.run("one")
    assert found[:10] == given[:10]
    assert (found.outcome, found.ended, found.calls) == (None, None, 0)
    assert found.active > given.started
    assert found.seconds == 0
    assert other.sources("one") == sources
    assert other.runs() == [found]
    assert [one.digest for one in other.sources("one")] == [one.digest for one in sources]


def test_a_new_run_is_running_whatever_its_record_says(place: Place) -> None:
    store = place.open()
    store.create(record("one", status="success", outcome="1", ended=5.0), [])
    assert store.run("one")[7:9] == ("running", None)
    assert store.run("one").ended is None


def test_there_is_one_run_of_an_id(store: Store) -> None:
    with pytest.raises(StoreError, match=r"there is a record of the run one in .* already") as caught:
        store.create(record("one", pattern="other"), [source("two")])
    assert caught.value.code == "P501"
    assert store.run("one").pattern == "refine"
    assert store.sources("one") == [source("one")]


def test_runs_are_found_by_the_beginning_of_their_ids(place: Place) -> None:
    store = place.open()
    for run in ("ab", "abc", "abd", "Abd", "x%_", "x%y", "xyz", "o'clock"):
        store.create(record(run), [])
    assert store.run("abc").id == "abc"
    assert store.run("ab").id == "ab"  # exactly this one, although others begin so
    assert store.run("A").id == "Abd"
    assert store.run("x%_").id == "x%_"
    assert store.run("o'").id == "o'clock"
    assert store.run("xy").id == "xyz"
    for missing in ("", "b", "x_", "%", "abcd", "ab%"):
        with pytest.raises(StoreError, match="there is no record of the run") as caught:
            store.run(missing)
        assert caught.value.code == "P501"
        assert caught.value.hint == "`prose runs` lists them"
    with pytest.raises(StoreError, match="several runs begin with `a`: ab") as caught:
        store.run("a")
    assert caught.value.code == "P501"


def test_runs_are_listed_the_latest_first_and_filtered(place: Place) -> None:
    store = place.open()
    for number, (run, pattern) in enumerate([("a", "refine"), ("b", "re%fine"), ("c", "debate"), ("d", "refine")]):
        store.create(record(run, pattern=pattern, started=100.0 + number // 2), [])
    store.write([Finished("a", "success", "{}", 200.0), Finished("c", "failed", "{}", 201.0)])

    def found(**given: Any) -> list[str]:
        return [one.id for one in store.runs(RunFilter(**given))]

    assert found() == ["d", "c", "b", "a"]  # of the same moment: the one that was made later
    assert found(pattern="fin") == ["d", "b", "a"]
    assert found(pattern="%") == ["b"]
    assert found(pattern="") == ["d", "c", "b", "a"]
    assert found(statuses=("success", "failed")) == ["c", "a"]
    assert found(statuses=("running",), pattern="refine") == ["d"]
    assert found(since=101) == ["d", "c"]
    assert found(until=101.0) == ["b", "a"]
    assert found(since=100.0, until=100.0) == []
    assert found(limit=2) == ["d", "c"]
    assert found(limit=0) == []


def test_another_process_goes_on_with_a_run(place: Place, store: Store) -> None:
    store.write([Begun("one", entry("k")), Finished("one", "cancelled", '{"error":1}', 1e9 + 60)])
    found = store.run("one")
    assert (found.status, found.outcome, found.ended, found.calls) == ("cancelled", '{"error":1}', 1e9 + 60, 1)
    other = place.open()
    other.reopen("one")
    again = other.run("one")
    assert again[:7] == found[:7]
    assert (again.status, again.outcome, again.ended) == ("running", None, None)
    assert other.sources("one") == [source("one")]
    assert keys(other.entries("one")) == ["k"]


def test_a_run_is_gone_on_with_from_a_changed_source(store: Store) -> None:
    changed = record("one", pattern="ignored", source='{"other":1}', names="[1]", options="[2]", program="ef" * 20,
                     version="0.2.0", started=7.0)  # fmt: skip
    sources = [source("two"), source("one")]
    store.reopen("one", changed, sources)
    found = store.run("one")
    assert found[2:7] == changed[2:7]
    assert (found.pattern, found.started) == ("refine", 1e9)  # a run keeps its name and its beginning
    assert store.sources("one") == sources
    assert code_of(store.reopen, "two") == "P501"


def test_a_run_works_as_long_as_its_sessions_do_together(place: Place, store: Store) -> None:
    other = place.open()
    other.reopen("one")
    for number, row in enumerate(place.sql("SELECT started FROM <sessions> ORDER BY started")):
        place.sql("UPDATE <sessions> SET active = ? WHERE started = ?", 5e9 + number, row[0])
        place.sql("UPDATE <sessions> SET started = ? WHERE started = ?", 5e9 - 10 + number, row[0])
    assert store.run("one").seconds == 20
    assert store.run("one").active == 5e9 + 1
    other.write([Begun("one", entry("k"))])  # a sign of life of its own session alone
    first, second = sorted(row[0] for row in place.sql("SELECT active FROM <sessions>"))
    assert second == 5e9
    assert first < 4e9


def test_a_run_that_is_not_there_is_told(store: Store) -> None:
    for call in (store.run, store.sources, store.entries, store.sums, store.decisions, store.warnings, store.reopen):
        assert code_of(call, "two") == "P501"
    assert code_of(store.find, "two", "k") == "P501"
    assert code_of(store.write, [Begun("two", entry("k"))]) == "P501"


# --- entries ---------------------------------------------------------------------------------------------------------


def test_an_entry_is_given_back_as_it_was_given(place: Place, store: Store) -> None:
    begun = Entry("s1/2[3]/r0", "ask", "model:ü", "ab" * 20, '"\\u0000"', "started", None, 2, '{"a":1}', '{"b":2}',
                  1e9, 0.125, "[1,2]", '[["x","y"]]')  # fmt: skip
    store.write([Begun("one", begun)])
    assert store.find("one", begun.key) == [begun]
    done = ended(begun, "[1,2.5,null]", reserved=None, seconds=3, started=1e9 + 1)
    store.write([Ended("one", done)])
    assert place.open().find("one", begun.key) == [done]
    assert store.entries("one") == [done]
    assert list(store.sums("one")) == [done._replace(request="null", result=None)]


def test_what_ended_first_stays(place: Place, store: Store) -> None:
    other = place.open()
    k = entry("k")
    for state in ("value", "error"):
        first = ended(k._replace(key=state), '"first"', state=state)
        store.write([Begun("one", k._replace(key=state)), Ended("one", first)])
        other.write([Ended("one", ended(first, '"second"'))])
        other.write([Begun("one", k._replace(key=state, request='"again"'))])
        store.write([Ended("one", ended(first, '"third"', state="cancelled"))])
        assert store.find("one", state) == other.find("one", state) == [first]


@pytest.mark.parametrize("state", ["started", "waiting", "cancelled", "withheld"])
def test_what_is_not_final_is_written_over(store: Store, state: str) -> None:
    store.write([Ended("one", ended(entry("k"), '"x"', state=state)), Begun("one", entry("l"))])
    again = entry("k", kind="ask", service="other", fingerprint="11" * 20, request="[]", attempts=2, position="[9]")
    store.write([Begun("one", again)])
    assert store.entries("one") == [again, entry("l")]  # where it stood
    done = ended(again, '"y"', request="[1]", within="[2]")
    store.write([Ended("one", done)])
    assert store.entries("one") == [done, entry("l")]


def test_an_entry_that_was_never_begun_may_end(store: Store) -> None:
    store.write([Ended("one", ended(entry("race:1", kind="race")))])
    assert store.find("one", "race:1") == [ended(entry("race:1", kind="race"))]


def test_an_entry_begun_anew_takes_the_place_of_a_final_one(store: Store) -> None:
    for key in "abc":
        store.write([Begun("one", entry(key)), Ended("one", ended(entry(key)))])
    store.write([Begun("one", entry("a", request="[7]"), anew=True)])
    assert store.find("one", "a") == [entry("a", request="[7]")]
    assert keys(store.entries("one")) == ["b", "c", "a"]
    store.write([Ended("one", ended(entry("a"), '"new"')), Begun("one", entry("new"), anew=True)])
    assert store.find("one", "a", 5) == [ended(entry("a"), '"new"'), entry("new")]


def test_reading_ahead_follows_the_order_in_which_entries_began(store: Store) -> None:
    store.create(record("two"), [])
    order = [f"k{number}" for number in random.Random(1).sample(range(100), 40)]
    for number, key in enumerate(order):  # two runs at a time, in groups of several sizes
        store.write([Begun("one", entry(key)), Begun("two", entry(key, request="[2]"))])
        if number % 3 == 0:
            store.write([Ended("one", ended(entry(order[number // 2])))])
    assert keys(store.entries("one")) == keys(store.entries("two")) == order
    for at in (0, 7, 38, 39):
        assert keys(store.find("one", order[at], 5)) == order[at : at + 6]
        assert {one.request for one in store.find("two", order[at], 100)} == {"[2]"}
    assert keys(store.find("one", order[3])) == order[3:4]
    assert store.find("one", "missing", 5) == []
    assert store.find("one", "", 5) == []


def test_entries_are_given_by_kind(store: Store) -> None:
    kinds = ("call", "ask", "judge", "race", "call")
    store.write([Begun("one", entry(str(number), kind=kind)) for number, kind in enumerate(kinds)])
    assert keys(store.entries("one", ["call"])) == ["0", "4"]
    assert keys(store.entries("one", ("race", "judge"))) == ["2", "3"]
    assert store.entries("one", ["other"]) == []
    assert keys(store.sums("one")) == ["0", "1", "4"]
    assert store.run("one").calls == 2


@pytest.mark.parametrize("key", ["s1/" * 2000, "Grüße", "a'b\"c\\", "x" * 70_000])
def test_a_key_may_be_any_text(store: Store, key: str) -> None:
    store.write([Begun("one", entry(key, request="1")), Ended("one", ended(entry(key, request="1")))])
    assert store.find("one", key, 3) == [ended(entry(key, request="1"))]
    row = Decided("one", key, "[]", "text", "rules", "true", "{}", "", None)
    store.write([row])
    assert store.decisions("one") == [row]
    attempt = Attempt("one", key, 1, "value", "1", None)
    assert store.put_attempt(attempt) == store.attempt("one", key, 1) == attempt


def test_changes_are_written_all_or_none(store: Store) -> None:
    store.write([Begun("one", entry("k"))])
    with pytest.raises(StoreError, match="no record of the run two") as caught:
        store.write([Ended("one", ended(entry("k"))), Begun("one", entry("l")), Begun("two", entry("k"))])
    assert caught.value.code == "P501"
    assert store.entries("one") == [entry("k")]
    store.write([])
    assert store.entries("one") == [entry("k")]


def test_a_group_comes_to_the_same_as_its_changes_one_after_the_other(place: Place) -> None:
    store = place.open()
    chance = random.Random(20)
    states = ["started", "waiting", "value", "error", "cancelled"]
    for round_ in range(25):
        changes = []
        for number in range(chance.randint(1, 25)):
            given = entry(chance.choice("abcd"), state=chance.choice(states), request=str(number))
            changes.append(Ended("", given) if chance.random() < 0.4 else Begun("", given, chance.random() < 0.3))
        runs = [f"{round_}-grouped", f"{round_}-single", f"{round_}-halves"]
        for run in runs:
            store.create(record(run), [])
        grouped, single, halves = ([change._replace(run=run) for change in changes] for run in runs)
        store.write(grouped)
        for change in single:
            store.write([change])
        store.write(halves[: len(halves) // 2])
        store.write(halves[len(halves) // 2 :])
        found = [store.entries(run) for run in runs]
        assert found[0] == found[1] == found[2], changes


# --- decisions, warnings, attempts, answers --------------------------------------------------------------------------


@pytest.mark.parametrize("text", ODD)
def test_decisions_and_warnings_are_given_back(place: Place, store: Store, text: str) -> None:
    decision = Decided("one", "s2/until", "[1]", text, "judge", "true", '{"a":1}', text, '{"model":"x"}')
    plain = Decided("one", "s1/if", "[0]", "score > 3", "rules", "false", "{}", "", None)
    warning = Warned("one", "P420", text, text, 7, 1)
    store.write([decision, plain, warning])
    other = place.open()
    assert other.decisions("one") == [plain, decision]
    assert other.warnings("one") == [warning]
    store.write([plain._replace(outcome="true"), warning._replace(times=3), warning._replace(line=2)])
    assert other.decisions("one") == [plain._replace(outcome="true"), decision]
    assert other.warnings("one") == [warning._replace(line=2), warning._replace(times=3)]


def test_the_attempt_that_was_kept_first_stays(place: Place) -> None:
    store, other = place.open(), place.open()
    first = Attempt("run", "s1", 1, "value", '"first"', '{"calls":1}')
    assert store.put_attempt(first) == first  # a worker knows no run but by its id
    assert other.put_attempt(first._replace(state="error", result='"second"', usage=None)) == first
    assert store.put_attempt(first._replace(number=2, result="2", usage=None))[2:] == (2, "value", "2", None)
    assert other.attempt("run", "s1", 1) == first
    assert other.attempt("run", "s1", 3) is None
    assert other.attempt("other", "s1", 1) is None
    large = Attempt("run", "s2", 1, "value", '"' + "x" * LARGE + '"', None)
    assert store.put_attempt(large) == large
    assert other.attempt("run", "s2", 1) == large
    assert other.put_attempt(large._replace(result="1")) == large


def test_two_processes_put_one_attempt(place: Place) -> None:
    place.open()
    code = """
input()
for number in range(50):
    kept = store.put_attempt(Attempt("run", "s1", number, "value", '"%s"' % sys.argv[2], None))
    say(kept.result)
"""
    children = [place.child(code, name) for name in "ab"]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    told = [child.communicate()[0].split() for child in children]
    store = place.open()
    kept = [store.attempt("run", "s1", number).result for number in range(50)]  # type: ignore[union-attr]
    assert told == [kept, kept]


def test_answers_are_kept_until_they_are_dropped(place: Place, store: Store) -> None:
    large = '"' + "é" * LARGE + '"'
    answers = [Cached(digest_of(bytes([at])), "model:x", str(at), large if at else "0", None, 100.0 + at)
               for at in range(4)]  # fmt: skip
    for one in answers:
        store.put_cached(one)
    other = place.open()
    assert [other.cached(one.key) for one in answers] == answers
    assert other.cached("other") is None
    changed = answers[0]._replace(service="y", request="[1]", result="[2]", usage="{}", made=200)
    store.put_cached(changed)
    assert other.cached(changed.key) == changed
    assert store.drop_cached(102.0) == 1
    assert [other.cached(one.key) is None for one in answers] == [False, True, False, False]
    assert store.drop_cached() == 3
    assert store.drop_cached() == 0


# --- large texts and contents ----------------------------------------------------------------------------------------


def test_large_texts_are_kept_apart(place: Place, store: Store) -> None:
    fits, large = '"' + "a" * (LARGE - 2) + '"', '"' + "b" * (LARGE - 1) + '"'
    done = ended(entry("k", request=large), large)
    store.write([Begun("one", entry("k", request=large)), Ended("one", done), Begun("one", entry("l", request=fits))])
    store.write([Finished("one", "success", large, 5.0)])
    other = place.open()
    found, small = other.entries("one")
    reference = "@" + digest_of(large.encode())
    assert (found.request, found.result) == (reference, reference)
    assert other.resolved(found) == done
    assert other.resolved(other.find("one", "k")[0]) == done
    assert small.request == fits
    assert other.resolved(small) is small
    assert other.run("one").outcome == large
    assert other.runs()[0].outcome == reference
    assert other.get_file(reference[1:]) == large.encode()


def test_a_content_is_kept_once_and_given_by_its_digest(place: Place, store: Store) -> None:
    data = random.Random(3).randbytes(200_000)
    digest = store.put_file(data)
    assert digest == digest_of(data) == store.put_file(data)
    assert place.open().get_file(digest) == data
    assert store.get_file(store.put_file(b"")) == b""
    for missing in (digest_of(b"other"), "", "../runs.sqlite", "a\0b", "@" + digest, digest.upper()):
        assert code_of(store.get_file, missing) == "P501"


def test_removing_a_run_leaves_the_others_and_what_they_share(place: Place, store: Store) -> None:
    shared, own = '"' + "s" * LARGE + '"', '"' + "o" * LARGE + '"'
    store.create(record("two"), [source("one"), source("two")])
    for run in ("one", "two"):
        k = entry("k", request=shared)
        store.write([Begun(run, k), Ended(run, ended(k, own if run == "two" else "1"))])
        store.write(
            [Warned(run, "P420", "m", "f", 1, 1), Decided(run, "s", "[]", "t", "rules", "true", "{}", "", None)]
        )
        store.put_attempt(Attempt(run, "k", 1, "value", own if run == "two" else "1", None))
    loose = store.put_file(b"nobody refers to this")
    assert store.remove(["two", "three"]) == 1
    assert [one.id for one in store.runs()] == ["one"]
    assert code_of(store.run, "two") == "P501"
    assert store.attempt("two", "k", 1) is None
    assert store.get_file(loose) == b"nobody refers to this"
    store.clean()
    assert store.get_file(loose) == b"nobody refers to this"  # its reference may be on the way
    place.age_files()
    again = store.put_file(b"young")
    assert store.clean() >= len(own)
    assert code_of(store.get_file, loose) == "P501"
    assert code_of(store.get_file, digest_of(own.encode())) == "P501"
    assert store.get_file(again) == b"young"
    assert store.resolved(store.find("one", "k")[0]).request == shared
    assert store.sources("one") == [source("one")]
    assert [row[0] for row in place.sql("SELECT digest FROM <sources>")] == [source("one").digest]
    assert (len(store.decisions("one")), len(store.warnings("one"))) == (1, 1)
    for table in ("entries", "decisions", "warnings", "run_sources", "sessions", "attempts", "runs"):
        assert len(place.sql(f"SELECT * FROM <{table}>")) == 1, table
    store.create(record("two"), [source("two")])
    assert store.entries("two") == []


def test_a_content_that_is_given_again_is_not_taken_away(place: Place, store: Store) -> None:
    digest = store.put_file(b"wanted again")
    place.age_files()
    assert store.put_file(b"wanted again") == digest
    store.clean()
    assert store.get_file(digest) == b"wanted again"


def test_who_knows_a_run_that_was_removed_meets_no_other(place: Place, store: Store) -> None:
    other = place.open()
    other.write([Begun("one", entry("k"))])
    assert store.remove(["one"]) == 1
    store.create(record("two"), [])
    store.write([Begun("two", entry("k"))])
    with pytest.raises(StoreError, match="no record of the run one") as caught:
        other.write([Begun("one", entry("l"))])
    assert caught.value.code == "P501"
    assert code_of(other.entries, "one") == "P501"
    assert store.entries("two") == [entry("k")]
