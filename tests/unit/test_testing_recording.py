"""`--update`: what is written into a test file, and that everything else stays as it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testing_texts import GIVEN, HEAD, body, read

from prose_lang import CheckError, Engine
from prose_lang.testing import Verdict, run_scenario
from prose_lang.testing.comparing import same
from prose_lang.testing.recording import Recorded, record
from prose_lang.testing.yaml_text import yaml_calls, yaml_member
from prose_lang.text import Source
from prose_lang.values.yaml import load_yaml


def recorded(text: str, **options: Any) -> Recorded:
    file = read(text)
    engine = Engine()
    return record(file, [run_scenario(scenario, engine) for scenario in file.scenarios], **options)


def verdicts(text: str) -> list[Verdict]:
    engine = Engine()
    return [run_scenario(scenario, engine).verdict for scenario in read(text).scenarios]


def changed(block: str, text: str = GIVEN) -> str:
    """The exact block of a scenario as it is recorded."""
    whole = f"{HEAD}{text}\n### Expects\n\n```yaml\n{block}\n```\n\n- `result`: exists\n"
    found = recorded(whole).text
    before, after = whole.split(block)
    assert found.startswith(before)
    assert found.endswith(after)
    assert recorded(found).changes == ()
    return found[len(before) : len(found) - len(after)]


def test_what_is_as_expected_is_left_alone() -> None:
    text = HEAD + GIVEN + "### Expects\n```yaml\nstatus: ok\ncalls_count: 4\n```\n"
    found = recorded(text)
    assert (found.text, found.changes) == (text, ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("calls_count: 1  # so many", "calls_count: 4  # so many"),
        ("# first\nstatus: failed # why\n# last", "# first\nstatus: ok # why\n# last"),
        ("value:  # none", "value: {result: good day, score: 0.9, rounds_used: 2}  # none"),
        ("value: |\n  text\n# about calls\ncalls_count: 4",
         "value: {result: good day, score: 0.9, rounds_used: 2}\n# about calls\ncalls_count: 4"),
        ("value:\n  result: x\n  score:\n  # inside\n# about calls\ncalls_count: 4",
         "value: {result: good day, score: 0.9, rounds_used: 2}\n  # inside\n# about calls\ncalls_count: 4"),
        ("value: 1\nstatus: ok", "value: {result: good day, score: 0.9, rounds_used: 2}\nstatus: ok"),
        ("value:\n  result: bad\n  score: 1\n\nstatus: ok",
         "value: {result: good day, score: 0.9, rounds_used: 2}\n\nstatus: ok"),
        ("value: {result: good day, score: ~0.9, rounds_used: 2}\ncalls_count: 1",
         "value: {result: good day, score: ~0.9, rounds_used: 2}\ncalls_count: 4"),
        ("{status: failed, calls_count: 1}", "{status: ok, calls_count: 4}"),
        ("error: P406", "value: {result: good day, score: 0.9, rounds_used: 2}"),
        ("error: P406\nvalue: {result: good day, score: 0.9, rounds_used: 2}",
         "value: {result: good day, score: 0.9, rounds_used: 2}"),
        ("decisions: []\ncalls_count: 0", "decisions: []\ncalls_count: 4"),
        ("calls:\n- [refiner, {}]  # the first\nstatus: ok",
         "calls:\n  - [refiner, {task_brief: Say hello.}]\n"
         "  - [evaluator, {task_brief: Say hello., result: hello there}]\n"
         "  - - refiner\n    - task_brief: Say hello.\n      current_result: hello there\n      current_score: 0.2\n"
         "      improvement_suggestions: [shorter]\n"
         "  - [evaluator, {task_brief: Say hello., result: good day}]  # the first\nstatus: ok"),
    ],
)  # fmt: skip
def test_keys_that_differ_are_written_anew(before: str, after: str) -> None:
    assert changed(before) == after


FAILING = GIVEN.replace("[hello there, good day]", "[{raises: {name: no-ink, message: out of ink}}]")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("value: 1", "error: {code: P406, message: out of ink}"),
        ("calls_count: 2", "calls_count: 1\nerror: {code: P406, message: out of ink}"),
        ("error: P404", "error: P406"),
        ("error: other-name", "error: no-ink"),
        ("error: {code: P404, line: 1}", "error: {code: P406, line: 54}"),
        ("error: null", "error: {code: P406, message: out of ink}"),
        ("value: 1\nerror: P406", "error: P406"),
        ("status: ok", "status: failed"),
    ],
)
def test_an_error_is_recorded_in_the_form_in_which_it_was_expected(before: str, after: str) -> None:
    assert changed(before, FAILING) == after


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
@pytest.mark.parametrize("break_", ["\n", "\r\n"])
def test_a_scenario_that_expects_nothing_gets_a_section(break_: str, end: str) -> None:
    text = (HEAD + "## one" + GIVEN.replace("```yaml\n", "```yaml\n# keep me\n").rstrip() + end).replace("\n", break_)
    found = recorded(text)
    assert found.text.startswith(text.rstrip())
    assert found.text.count("\n") == found.text.count(break_)
    assert found.text.endswith("\n")
    assert "### Expects\n\n```yaml\nvalue: {result: good day, score: 0.9" in found.text.replace("\r\n", "\n")
    assert [(change.scenario, change.keys, change.new) for change in found.changes] == [
        ("one", ("value", "calls"), True)
    ]
    assert verdicts(found.text) == [Verdict.PASSED]


def test_a_section_stands_at_the_end_of_its_scenario() -> None:
    text = HEAD + "## one" + GIVEN + "\n\n## two" + GIVEN + "### Expects\n\nTo come.\n\n## three" + FAILING
    found = recorded(text)
    assert verdicts(found.text) == [Verdict.PASSED] * 3
    one, two, three = found.text.split("\n## ")[1:]
    assert one.endswith("```\n\n")
    assert "### Expects\n\nTo come.\n\n```yaml\nvalue:" in two
    assert "```yaml\nerror: {code: P406, message: out of ink}\ncalls:\n" in three


def test_broken_scenarios_and_what_is_shared_stay() -> None:
    shared = HEAD + GIVEN + "### Expects\n```yaml\ncalls_count: 1\n```\n## one\n## two\n### Fixtures\n- `x`: 1\n"
    found = recorded(shared)
    assert (found.text, found.changes) == (shared, ())


def test_a_fault_elsewhere_does_not_keep_a_scenario_from_being_recorded() -> None:
    text = HEAD + GIVEN + "## bad\n### Fixtures\n- words\n## good\n### Expects\n```yaml\ncalls_count: 1\n```\n"
    assert recorded(text).text == text.replace("calls_count: 1", "calls_count: 4")


def test_aliases_that_would_break_are_not_recorded() -> None:
    text = HEAD + GIVEN + "### Expects\n```yaml\nvalue: &all {a: 1}\ncalls_count: 4\ndecisions: [{values: *all}]\n```\n"
    with pytest.raises(CheckError) as caught:
        recorded(text)
    assert (caught.value.code, caught.value.hint) == ("P107", "the file is as it was")


def test_what_would_not_be_read_is_not_recorded() -> None:
    text = HEAD + GIVEN + "\n### Expects, as a block that is never closed\n\n```yaml\nstatus: ok\n"
    with pytest.raises(CheckError, match="what was written does not say the same"):
        recorded(text)


def test_secrets_are_not_recorded() -> None:
    def clean(value: Any) -> Any:
        return {} if "good day" in str(value) else value

    with pytest.raises(CheckError, match="it holds a secret, which belongs into no file"):
        recorded(HEAD + GIVEN, clean=clean)
    assert len(recorded(HEAD + GIVEN.replace("good day", "fine day"), clean=clean).changes) == 1


HARD = [
    *("null", "~", "yes", "1.5", "0x1", "- a", "a: b", "a #b", "#a", "~0.5", "---", "...", "[a]", "{a}", "*a", "&a"),
    *("!a", "%a", "@a", "`a`", "'a'", '"a"', "a,b", "…", "?", ":", "-", "- ", "a:", ">-", "  ", " a", "\ufeff", "😀"),
    *("one\ntwo", "one\ntwo\n", "\n", "a\n\nb\n\n", "a\tb\nc", "a\r\nb", "\x85", "\u2028", "a\n b\nc", "a\n", "a\n#b"),
]
ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT
    | st.sampled_from(HARD),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([0, 2]))
@settings(max_examples=300, deadline=None)
def test_every_value_is_read_back_as_it_was(value: Any, indent: int) -> None:
    text = " " * indent + yaml_member("value", value, indent) + "\n"
    node, found = load_yaml(text, Source("x", text), code="P107", indent=indent)
    assert not found
    assert node is not None
    assert node.value == {"value": value}
    assert same({"value": value}, node.value)
    calls = [["a", {"x": value}], ["b", {"y": [value]}, {"retry": 1}]]
    text = " " * indent + yaml_calls(calls, indent) + "\n"
    node, found = load_yaml(text, Source("x", text), code="P107", indent=indent)
    assert (found, node and node.value) == ([], {"calls": calls})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain words", "value: plain words"),
        ("It’s 5% (so).", "value: It’s 5% (so)."),
        ("no: yes", 'value: "no: yes"'),
        ("true", 'value: "true"'),
        ("", 'value: ""'),
        ("a\nb", "value: |-\n  a\n  b"),
        ("a\n\nb\n", "value: |\n  a\n\n  b"),
        ("a \nb", 'value: "a \\nb"'),
        ({"text": "a\nb"}, "value:\n  text: |-\n    a\n    b"),
        ([], "value: []"),
        ([["x" * 60, "y" * 60]], f"value:\n  - - {'x' * 60}\n    - {'y' * 60}"),
    ],
)
def test_values_as_a_person_would_write_them(value: Any, text: str) -> None:
    assert yaml_member("value", value) == text


def test_a_result_that_yaml_cannot_hold() -> None:
    program = "let v = [1]\nrepeat 120:\n  v = [v]\nreturn v"
    with pytest.raises(CheckError, match="the file could not be read with it"):
        recorded(body(program))
