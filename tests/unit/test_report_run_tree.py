"""Recorded runs as trees: the steps of addresses, program order, and what is summed up at each node."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prose_lang.journal import Entry
from prose_lang.journal.records import Decided
from prose_lang.report.run_paths import settled_at, steps
from prose_lang.report.run_tree import Node, tree_of


def call(key: str, position: list[int], state: str = "value", **more: Any) -> Entry:
    entry = Entry(key, "call", key.rpartition(":")[2], state=state, attempts=1, position=json.dumps(position))
    return entry._replace(**more)


def outline(node: Node) -> object:
    """A node as its label, with what stands below it."""
    return {node.label: [outline(child) for child in node.children]} if node.children else node.label


@pytest.mark.parametrize(
    ("address", "labels"),
    [
        ("delegation/0.call:a", []),
        ("execution/0.call:a#2", []),
        ("delegation/3.repeat[2]/0.call:a", ["repeat", "round 2"]),
        ("delegation/3.loop[1].loop", ["loop", "round 1"]),
        ("delegation/2.0.pmap[4]/0.call:a", ["pmap", "item 5"]),
        ("delegation/1.parallel[0]/0.for[2]/1.call:a", ["parallel", "branch 1", "for", "item 3"]),
        ("delegation/1.try/0.call:a", []),
        ("delegation/1.catch/0.call:a", ["catch"]),
        ("delegation/1.finally/0.call:a", ["finally"]),
        ("delegation/1.if0/0.option2/0.call:a", []),
        ("delegation/5.loop[1]/0.do:polish/0.call:a", ["loop", "round 1", "polish"]),
        ("delegation/5.do:polish#2/0.do:polish/0.call:a", ["polish", "polish"]),
        ("delegation/0.call:b.retry[1]/delegation/0.parallel[1]/0.call:b", ["b, attempt 2", "parallel", "branch 2"]),
        ("delegation/0.call:std/a/b#2/delegation/1.repeat[1]/0.call:b", ["std/a/b", "repeat", "round 1"]),
        ("delegation/0.call:stdlib:refine/delegation/1.call:b", ["stdlib:refine"]),
        ("delegation/1.if0.if/delegation/0.call:reviewer", ["judge"]),
        ("delegation/0.call:a/execution/0.call:b/delegation/0.call:c", ["a", "b"]),
    ],
)  # fmt: skip
def test_steps(address: str, labels: list[str]) -> None:
    found = list(steps(address))
    assert [step.label for step in found] == labels
    assert all(address.startswith(step.key) and step.key != address for step in found)
    assert len({step.key for step in found}) == len(found)


def test_where_a_race_is_settled() -> None:
    assert settled_at("delegation/3.parallel") == "delegation/3.parallel"
    assert settled_at("delegation/3.repeat[1]/0.0.filter[7].filter") == "delegation/3.repeat[1]/0.0.filter"


def test_leaves_stand_in_program_order_whatever_the_order_of_rows() -> None:
    entries = [
        call("delegation/1.parallel[1]/0.call:b", [1, 1, 0, 0]),
        call("delegation/1.parallel[0]/0.call:a", [1, 0, 0, 0]),
        call("delegation/0.call:first", [0, 0]),
        call("delegation/1.parallel[10]/0.call:z", [1, 10, 0, 0]),
        call("delegation/1.parallel[9]/0.call:y", [1, 9, 0, 0]),
    ]
    branches = [{"branch 1": ["a"]}, {"branch 2": ["b"]}, {"branch 10": ["y"]}, {"branch 11": ["z"]}]
    assert outline(tree_of("p", entries, [])) == {"p": ["first", {"parallel": branches}]}


def test_a_decision_has_the_question_that_was_asked_for_it() -> None:
    position = json.dumps([0, 1, 1])
    asked = Entry("ask:delegation/0.loop[1].loop", "ask", "judge", state="value", attempts=1, position=position)
    other = Entry("ask:0123456789abcdef", "ask", "model", state="started", attempts=1, position="[1]")
    row = Decided("r", "delegation/0.loop[1].loop", position, "it is good", "judge", "true", "{}", "so", None)
    tree = tree_of("p", [asked, other], [row])
    assert outline(tree) == {"p": [{"loop": [{"round 1": ["it is good"]}]}, "model"]}
    decision = tree.children[0].children[0].children[0]
    assert (decision.kind, decision.entry, tree.children[1].kind) == ("decision", asked, "ask")


def test_sums() -> None:
    entries = [
        call("delegation/0.repeat[1]/0.call:a", [0, 1, 0], started=100.0, seconds=2.0, usage="[5, 6, 0.25]"),
        call("delegation/0.repeat[2]/0.call:a", [0, 2, 0], "error", started=103.0, seconds=1.5, attempts=3),
        call("delegation/1.call:b", [1, 0], "started", started=110.0, reserved="[100, 0.5]"),
        call("delegation/2.call:c", [2, 0], "started", started=111.0, reserved="[100, 0]"),
    ]
    root = tree_of("p", entries, [])
    loop, b, c = root.children
    assert (root.calls, root.failed, root.size) == (6, 1, 8)
    assert (loop.calls, loop.failed, loop.cost, loop.started, loop.ended) == (4, 1, 0.25, 100.0, 104.5)
    assert (root.cost, b.cost, c.cost) == (None, None, 0.0)  # what was under way may have cost something, or nothing


def test_what_was_settled_stands_at_its_place() -> None:
    entries = [
        call("delegation/0.parallel[0]/0.call:a", [0, 0, 0]),
        Entry("join:delegation/0.parallel", "join", state="value", result="[[2, 0], [1]]"),
        call("delegation/1.0.pmap[1]/0.call:a", [1, 1, 0]),
        Entry("failure:delegation/1.0.pmap[3].pmap", "failure", state="value", result="[[0], [1]]"),
        call("delegation/2.call:slow/delegation/0.call:a", [2, 0, 1, 0]),
        Entry("timeout:delegation/2.call:slow@1", "timeout", state="value", result='{"message": "over"}'),
        call("delegation/2.call:slow.retry[1]/delegation/0.call:a", [2, 0, 2, 0]),
        Entry("timeout:delegation/2.call:slow@2", "timeout", state="value", result='{"message": "again"}'),
        Entry("memory:writer", "memory", state="value", result="[]"),
        Entry("host:delegation/3.if", "host", state="value", result="true"),
    ]
    race, stage, first, second = tree_of("p", entries, []).children
    assert (race.winners, race.failures) == ((2, 0), None)
    assert (stage.winners, stage.failures) == (None, (1,))
    assert (first.cut_off, second.cut_off) == ("over", "again")


def test_a_call_of_a_run_that_was_being_ended() -> None:
    (part,) = tree_of("p", [call("leaving:delegation/0.finally/0.call:a", [0])], []).children
    (leaf,) = part.children
    assert (part.label, leaf.leaving, leaf.address) == ("finally", True, "delegation/0.finally/0.call:a")


def test_deep_trees_need_no_recursion() -> None:
    address = "delegation/0.call:p/" * 2_000 + "delegation/0.call:x"
    root = tree_of("p", [call(address, [0])], [])
    assert (root.size, root.calls) == (2_002, 1)
