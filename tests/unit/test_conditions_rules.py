"""Layers 2 to 4 of conditions as one table: a text, what its names mean, which layer decides, and how (L30)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from prose_lang.conditions import Decided, Rule, decide_choice, exact_form, mentioned, read_rules, root
from prose_lang.conditions.words import cut
from prose_lang.syntax import nodes
from prose_lang.values import ServiceRef

NAME = r"[A-Za-z_][\w-]*"
PATH = re.compile(rf'{NAME}(\.{NAME}|\[(\d+|{NAME}|"[^"]*")\])*')
WORDS = {"null": None, "true": True, "false": False}


def parser(text: str) -> Callable[[int, int], nodes.Expression | None]:
    """A parser of paths, literals, `not`, `and`, `+` and comparisons: enough to see what rules take and what not."""

    def parse(start: int, end: int) -> nodes.Expression | None:
        part = text[start:end]
        for operator in (" or ", " and ", " == ", " != ", " <= ", " >= ", " < ", " > ", " + "):
            if operator in part and '"' not in part.partition(operator)[0] and part.count('"') in (0, 2):
                cut_at = start + part.index(operator)
                left, right = parse(start, cut_at), parse(cut_at + len(operator), end)
                return left and right and nodes.Binary(start, end, operator.strip(), left, right)
        if part.startswith(("not ", "-")):
            operator = "not" if part[0] == "n" else "-"
            operand = parse(start + len(part) - len(part.removeprefix(operator).lstrip()), end)
            return operand and nodes.Unary(start, end, operator, operand)
        if part in WORDS:
            return nodes.Literal(start, end, WORDS[part])
        if re.fullmatch(r'\d+(\.\d+)?|"[^"]*"', part):
            return nodes.Literal(start, end, json.loads(part))
        if not PATH.fullmatch(part):
            return None
        expression: nodes.Expression = nodes.Name(start, end, re.match(NAME, part)[0])  # type: ignore[index]
        for step in re.finditer(rf"\.({NAME})|\[([^\]]+)\]", part):
            if step[1]:
                expression = nodes.Member(start, end, expression, step[1])
            else:
                index = parse(start + step.start(2), start + step.end(2))
                assert index is not None
                expression = nodes.Index(start, end, expression, index)
        return expression

    return parse


def condition(text: str, before: str = "if ") -> tuple[nodes.Condition, Callable[[int, int], nodes.Expression | None]]:
    """A condition as it stands in a host file, not at its beginning."""
    start = len(before)
    return nodes.Condition(start, start + len(text), text, None), parser(before + text + ":\n")


def rules_of(text: str) -> tuple[Rule, ...]:
    return read_rules(*condition(text))


def value_of(expression: nodes.Expression, names: dict[str, Any]) -> Any:
    match expression:
        case nodes.Literal():
            return expression.value
        case nodes.Name():
            return names[expression.id]
        case nodes.Member():
            within = value_of(expression.object, names)
            return within.get(expression.name) if isinstance(within, dict) else None
        case nodes.Index():
            return value_of(expression.object, names)[value_of(expression.index, names)]
        case nodes.Unary():
            return -value_of(expression.operand, names)
        case _:
            raise AssertionError(f"an operand is a path or a literal, not {expression!r}")


def decide(text: str, names: dict[str, Any]) -> tuple[str | None, Decided | None]:
    """What the caller does: leave out rules that name nothing, ask the others in order."""
    for rule in rules_of(text):
        roots = [root(operand) for operand in rule.operands]
        if all(name is None or name in names for name in roots):
            decided = rule.decide([value_of(operand, names) for operand in rule.operands])
            if decided is not None:
                return rule.layer, decided
    return None, None


YES, NO, WARN, JUDGE = "yes", "no", "no, with a warning", "judge"


def check(text: str, names: dict[str, Any], layer: str, expected: str) -> None:
    found_layer, decided = decide(text, names)
    if expected == JUDGE:
        assert decided is None
        return
    assert decided is not None, "abstained"
    assert (found_layer, decided.holds, decided.warning is not None) == (layer, expected == YES, expected == WARN)
    assert decided.reason


COMPARISONS = [
    ("s meets bar", {"s": 0.8, "bar": 0.8}, YES),
    ("s meets bar", {"s": 0.79, "bar": 0.8}, NO),
    ("s meets bar", {"s": "0.9", "bar": 0.8}, YES),
    ("s meets bar", {"s": " 0.9 ", "bar": "0.8"}, YES),
    ("s meets bar", {"s": "9", "bar": "10"}, NO),
    ("s meets bar", {"s": "1e1", "bar": 9}, YES),
    ("s meets bar", {"s": None, "bar": 0.8}, WARN),
    ("s meets bar", {"s": "good", "bar": 0.8}, WARN),
    ("s meets bar", {"s": "", "bar": 0.8}, WARN),
    ("s meets bar", {"s": "0.9 of 1", "bar": 0.8}, WARN),
    ("s meets bar", {"s": "NaN", "bar": 0.8}, WARN),
    ("s meets bar", {"s": '{"score": 0.9}', "bar": 0.8}, WARN),
    ("s meets bar", {"s": True, "bar": 0.8}, JUDGE),
    ("s meets bar", {"s": [0.9], "bar": 0.8}, JUDGE),
    ("s meets bar", {"s": {"score": 0.9}, "bar": 0.8}, JUDGE),
    ("s meets bar", {"s": ServiceRef("evaluator", None), "bar": 0.8}, JUDGE),
    ("s meets bar", {"s": 0.9, "bar": "high"}, JUDGE),
    ("s meets bar", {"s": 0.9, "bar": None}, JUDGE),
    ("s meets bar", {"s": None, "bar": None}, JUDGE),
    ("s meets bar", {"s": 0.9, "bar": True}, JUDGE),
    ("s meets bar", {"s": 0.9}, JUDGE),
    ("s meets bar", {"bar": 0.9}, JUDGE),
    ("s meets 0.8", {"s": 0.9}, YES),
    ("s meets -1", {"s": 0}, YES),
    ('s meets "0.8"', {"s": 0.9}, YES),
    ("s reaches bar", {"s": 3, "bar": 3.0}, YES),
    ("s reaches bar", {"s": 2, "bar": 3}, NO),
    ("s is at least bar", {"s": 3, "bar": 3}, YES),
    ("s is at least bar", {"s": 2.99, "bar": 3}, NO),
    ("s is at least bar", {"s": None, "bar": 3}, WARN),
    ("s exceeds bar", {"s": 3, "bar": 3}, NO),
    ("s exceeds bar", {"s": "3.01", "bar": 3}, YES),
    ("s is above bar", {"s": 4, "bar": 3}, YES),
    ("s is above bar", {"s": 3, "bar": 3}, NO),
    ("s is below bar", {"s": 2, "bar": 3}, YES),
    ("s is below bar", {"s": 3, "bar": 3}, NO),
    ("s is below bar", {"s": None, "bar": 3}, WARN),
    ("s is under bar", {"s": 2, "bar": 3}, YES),
    ("s is under bar", {"s": "few", "bar": 3}, WARN),
    ("r.score meets config.quality-bar", {"r": {"score": 5}, "config": {"quality-bar": 4}}, YES),
    ("r.nope meets 1", {"r": {}}, WARN),
    ("xs[0].score meets bars[i]", {"xs": [{"score": 5}], "bars": [9, 4], "i": 1}, YES),
    ("s\n  Meets\t bar", {"s": 1, "bar": 1}, YES),
    ("s IS AT\nLEAST bar", {"s": 1, "bar": 1}, YES),
    # Not fully understood: conjunctions, negations, more than a path on either side.
    ("score meets threshold and is final", {"score": 1, "threshold": 0, "final": True}, JUDGE),
    ("score meets threshold and final", {"score": 1, "threshold": 0, "final": False}, JUDGE),
    ("score meets threshold or final", {"score": 0, "threshold": 1, "final": False}, JUDGE),
    ("not score meets threshold", {"score": 0, "threshold": 1}, JUDGE),
    ("score not meets threshold", {"score": 0, "threshold": 1}, JUDGE),
    ("score never meets threshold", {"score": 0, "threshold": 1}, JUDGE),
    ("score does not meet threshold", {"score": 0, "threshold": 1}, JUDGE),
    ("score doesn't meets threshold", {"score": 0, "threshold": 1}, JUDGE),
    ("score is not at least threshold", {"score": 0, "threshold": 1}, JUDGE),
    ("score is not above threshold", {"score": 0, "threshold": 1}, JUDGE),
    ("no meets threshold", {"no": 1, "threshold": 1}, JUDGE),
    ("score meets neither", {"score": 1, "neither": 1}, JUDGE),
    ("score meets the threshold", {"score": 1, "threshold": 1}, JUDGE),
    ("score meets threshold unless final", {"score": 1, "threshold": 1, "final": True}, JUDGE),
    ("score meets threshold, barely", {"score": 1, "threshold": 1}, JUDGE),
    ("score meets a + b", {"score": 1, "a": 0, "b": 1}, JUDGE),
    ("score meets", {"score": 1}, JUDGE),
    ("meets threshold", {"threshold": 1}, JUDGE),
    ("score is at most threshold", {"score": 1, "threshold": 1}, JUDGE),
    ("score is at least", {"score": 1, "at": 1, "least": 1}, JUDGE),
    ("score meetsthreshold", {"score": 1, "threshold": 1}, JUDGE),
    ("meets meets meets", {"meets": 1}, YES),
    ("a meets b meets c", {"a": 1, "b": 1, "c": 1}, JUDGE),
]


@pytest.mark.parametrize(("text", "names", "expected"), COMPARISONS)
def test_comparisons(text: str, names: dict[str, Any], expected: str) -> None:
    check(text, names, "phrase", expected)


STATES = [
    ("x is present", {"x": 0}, YES),
    ("x is present", {"x": ""}, YES),
    ("x is present", {"x": None}, NO),
    ("x is not present", {"x": None}, YES),
    ("x is set", {"x": False}, YES),
    ("x is not set", {"x": False}, NO),
    ("x is absent", {"x": None}, YES),
    ("x is absent", {"x": []}, NO),
    ("x is missing", {"x": None}, YES),
    ("x is not missing", {"x": None}, NO),
    ("x is null", {"x": None}, YES),
    ("x is null", {"x": 0}, NO),
    ("x is not null", {"x": 0}, YES),
    ("x is empty", {"x": None}, YES),
    ("x is empty", {"x": ""}, YES),
    ("x is empty", {"x": []}, YES),
    ("x is empty", {"x": {}}, YES),
    ("x is empty", {"x": 0}, NO),
    ("x is empty", {"x": False}, NO),
    ("x is empty", {"x": " "}, NO),
    ("x is empty", {"x": "{}"}, NO),
    ("x is not empty", {"x": [0]}, YES),
    ("x is not empty", {"x": None}, NO),
    ("x is true", {"x": True}, YES),
    ("x is true", {"x": 1}, NO),
    ("x is true", {"x": "true"}, NO),
    ("x is true", {"x": None}, NO),
    ("x is not true", {"x": 1}, YES),
    ("x is false", {"x": False}, YES),
    ("x is false", {"x": 0}, NO),
    ("x is false", {"x": None}, NO),
    ("x is not false", {"x": None}, YES),
    ("attempt.error is present", {"attempt": {"error": None}}, NO),
    ("attempt.error is present", {"attempt": {}}, NO),
    ("attempt.error is present", {"attempt": {"error": {"name": "x"}}}, YES),
    ("x\n is\n NOT Empty", {"x": "a"}, YES),
    ("x is not not true", {"x": True}, JUDGE),
    ("x is never empty", {"x": []}, JUDGE),
    ("x isn't empty", {"x": []}, JUDGE),
    ("x is empty or null", {"x": []}, JUDGE),
    ("x or y is null", {"x": None, "y": None}, JUDGE),
    ("x is not present and y is present", {"x": None, "y": 1}, YES),
    ("x is absent or y is absent", {"x": 1, "y": None}, YES),
    ("x is absent or y is absent", {"x": 1, "y": 2}, NO),
    ("x is present and n < 3", {"x": 1, "n": 2}, YES),
    ("x is present and n <= 3 and n >= 3", {"x": 1, "n": 3}, YES),
    ("x is present and n > 3", {"x": 1, "n": 3}, NO),
    ("x is present and n > 3", {"x": None, "n": "many"}, NO),
    ("x is present and n > 3", {"x": 1, "n": "many"}, WARN),
    ('x is present and x != "no"', {"x": "no"}, NO),
    ('x == "no" or x is empty', {"x": []}, YES),
    ('x is "a and b" and y is set', {"x": "a and b", "y": 0}, YES),
    ("x meets y and x is below 5", {"x": 3, "y": 2}, YES),
    ("x meets y and x is present", {"x": [], "y": 2}, JUDGE),
    ("x is present and y", {"x": 1, "y": 1}, JUDGE),
    ("x is present and good", {"x": 1}, JUDGE),
    ("x contains bread and butter", {"x": "bread"}, JUDGE),
    ("x exceeds y and x", {"x": 1, "y": 0}, JUDGE),
    ("x is present and y is present or x is empty", {"x": 1, "y": 1}, JUDGE),
    ("x is present and", {"x": 1}, JUDGE),
    ("and x is present", {"x": 1}, JUDGE),
    ("x is a list", {"x": []}, YES),
    ("x is a list", {"x": "[]"}, NO),
    ("x is not a list", {"x": None}, YES),
    ("x is an object", {"x": {}}, YES),
    ("x is an object", {"x": '{"a": 1}'}, YES),
    ("x is an object", {"x": "a"}, NO),
    ("x is a text", {"x": ""}, YES),
    ("x is a number", {"x": 0.5}, YES),
    ("x is a number", {"x": True}, NO),
    ("x is not a boolean", {"x": 0}, YES),
    ("x is a boolean", {"x": False}, YES),
    ("x is a good list", {"x": []}, JUDGE),
    ("x is a failure", {"x": None}, JUDGE),
    ("x is the list", {"x": []}, JUDGE),
    ("nothing is present", {"nothing": 1}, JUDGE),
    ("x is mostly empty", {"x": []}, JUDGE),
    ("x is recoverable", {"x": {"recoverable": True}}, JUDGE),
    ("x is emptyish", {"x": []}, JUDGE),
    ("is empty", {}, JUDGE),
    ("x is", {"x": True}, JUDGE),
    ("x is not", {"x": True}, JUDGE),
    ("nope is present", {}, JUDGE),
    ('x is "deep"', {"x": "deep"}, YES),
    ('x is "deep"', {"x": "Deep"}, NO),
    ('x is "deep"', {"x": None}, NO),
    ('x is "in progress"', {"x": "in progress"}, YES),
    ('x is "1"', {"x": 1}, NO),
    ('x is not "deep"', {"x": "Deep"}, YES),
    ('x is not "deep"', {"x": "deep"}, NO),
    ('x is "not deep"', {"x": "not deep"}, YES),
    ('x is ""', {"x": ""}, YES),
    ('x is "alpha"', {"x": ServiceRef("alpha", None)}, YES),
    ('x is "a" or "b"', {"x": "a"}, JUDGE),
    ('x is not not "a"', {"x": "a"}, JUDGE),
    ("x is deep", {"x": "deep", "deep": "deep"}, JUDGE),
    ("x is 3", {"x": 3}, JUDGE),
    ('x is "deep', {"x": "deep"}, JUDGE),
]


@pytest.mark.parametrize(("text", "names", "expected"), STATES)
def test_states_and_literals(text: str, names: dict[str, Any], expected: str) -> None:
    check(text, names, "phrase", expected)


CONTENTS = [
    ("xs contains y", {"xs": [1, 2], "y": 2.0}, YES),
    ("xs contains y", {"xs": [1, 2], "y": True}, NO),
    ("xs contains y", {"xs": [[1]], "y": [1]}, YES),
    ('t contains "err"', {"t": "an error"}, YES),
    ('t contains "Err"', {"t": "an error"}, NO),
    ('t contains "not accepted"', {"t": "It is not accepted"}, YES),
    ('o includes "k"', {"o": {"k": None}}, YES),
    ('o includes "k"', {"o": {}}, NO),
    ("xs includes 3", {"xs": [1, 2]}, NO),
    ("t contains 3", {"t": "3"}, JUDGE),
    ("x contains 3", {"x": None}, JUDGE),
    ("x contains 3", {"x": 3}, JUDGE),
    ("t contains error", {"t": "an error"}, JUDGE),
    ("t does not contain y", {"t": "a", "y": "a"}, JUDGE),
    ("t contains no y", {"t": "a", "y": "a"}, JUDGE),
    ("t not contains y", {"t": "a", "y": "a"}, JUDGE),
    ("t contains y and z", {"t": "a", "y": "a", "z": "b"}, JUDGE),
    ("results include failures", {"results": ["x"]}, JUDGE),
    ("r has issues", {"r": {"issues": ["x"]}}, YES),
    ("r has issues", {"r": {"issues": []}}, NO),
    ("r has issues", {"r": {"issues": None}}, NO),
    ("r has no issues", {"r": {"issues": []}}, YES),
    ("r has no issues", {"r": {"issues": 0}}, YES),
    ("r has no issues", {"r": {"issues": ["x"]}}, NO),
    ("r has issues", {"r": {}}, JUDGE),
    ("r has no issues", {"r": {}}, JUDGE),
    ("r has issues", {"r": None}, JUDGE),
    ("r has issues", {"r": "many issues"}, JUDGE),
    ("r has issues", {"r": '{"issues": ["x"]}'}, YES),
    ("r has no issues", {"r": ' {"issues": []}\n'}, YES),
    ("r has issues", {"r": '{"issues": [1], "issues": []}'}, JUDGE),
    ("r has issues", {"r": '{"issues": NaN}'}, JUDGE),
    ("r has issues", {"r": '{"issues": [1]'}, JUDGE),
    ('r has "some key"', {"r": {"some key": 1}}, YES),
    ("tags has urgent", {"tags": ["urgent", "big"]}, YES),
    ("tags has urgent", {"tags": ["not urgent"]}, JUDGE),
    ("tags has no urgent", {"tags": ["urgent"]}, NO),
    ("tags has no urgent", {"tags": []}, JUDGE),
    ("xs has x", {"xs": [1, 2], "x": 2}, YES),
    ("xs has x", {"xs": [1, 2], "x": 3}, JUDGE),
    ("xs has no x.id", {"xs": [1, 2], "x": {"id": 2}}, NO),
    ("xs has 2", {"xs": [1, 2]}, YES),
    ("xs has null", {"xs": [None]}, YES),
    ("o has x", {"o": {"a": 1}, "x": "a"}, JUDGE),
    ("r has critical concerns", {"r": {"critical": 1}}, JUDGE),
    ("r has no", {"r": {"no": 1}}, JUDGE),
    ("r has not", {"r": {"not": 1}}, JUDGE),
    ("r has none", {"r": {"none": 1}}, JUDGE),
    ("r has no no", {"r": {"no": 1}}, JUDGE),
    ("r has not issues", {"r": {"issues": 1}}, JUDGE),
    ("r has issues or notes", {"r": {"issues": 1, "notes": 1}}, JUDGE),
    ("r never has issues", {"r": {"issues": 1}}, JUDGE),
]


@pytest.mark.parametrize(("text", "names", "expected"), CONTENTS)
def test_contains_and_has(text: str, names: dict[str, Any], expected: str) -> None:
    check(text, names, "phrase", expected)


DECISIONS = [
    # value, whether it accepts; None abstains
    ({"verdict": "accept"}, True),
    ({"verdict": "Reject"}, False),
    ({"verdict": "ACCEPTED"}, True),
    ({"verdict": " approved.\n"}, True),
    ({"verdict": "revise"}, False),
    ({"accepted": True}, True),
    ({"accepted": False, "verdict": "accept"}, False),
    ({"verdict": "reject", "passed": True}, True),
    ({"approved": False, "accepted": True}, True),
    ({"proceed": True}, True),
    ({"certified": False}, False),
    ({"accepted": None, "approved": True}, True),
    ({"accepted": "true"}, None),
    ({"accepted": 1}, None),
    ({"accepted": "no", "verdict": "accept"}, True),
    ({"decision": "approved"}, True),
    ({"status": "failed"}, False),
    ({"outcome": "certify"}, True),
    ({"outcome": "pass", "status": "failed"}, False),
    ({"verdict": "hm", "decision": "approve"}, None),
    ({"verdict": None, "decision": "approve"}, True),
    ({"verdict": ["accept"]}, None),
    ({"verdict": "not accepted"}, None),
    ({"verdict": "accept with changes"}, None),
    ({"verdict": "acceptable"}, None),
    ({"verdict": "unaccepted"}, None),
    ({"verdict": "not-accepted"}, None),
    ({"verdict": "accept?"}, None),
    ({"verdict": "!accept"}, None),
    ({"verdict": ""}, None),
    ({"Verdict": "accept"}, None),
    ({"error": {"name": "x"}}, None),
    ({}, None),
    ("accept", True),
    ("Yes", True),
    ("no", False),
    ("rejected", False),
    ("It is not accepted, sorry", None),
    ("not accepted", None),
    ("accepted rejected", None),
    ("", None),
    ("accept" * 100_000, None),
    ('{"verdict": "accept"}', True),
    ('{"accepted": false}', False),
    ('{"accepted": true, "accepted": false}', None),
    ('["accept"]', None),
    ('"accept"', None),
    (True, None),
    (False, None),
    (1, None),
    (["accept"], None),
    (ServiceRef("accept", None), None),
]
SENTENCES = [
    ("v accepts result", True, False),
    ("v approves", True, False),
    ("v certifies the\n whole proposal", True, False),
    ("v passes everything.", True, False),
    ("v rejects the draft", False, False),
    ("v FAILS", False, False),
    ("v is accepted", True, False),
    ("v accepted", True, False),
    ("v is not approved", True, True),
    ("v not certified", True, True),
    ("v passed", True, False),
    ("v is Rejected", False, False),
    ("v is not failed", False, True),
]


@pytest.mark.parametrize(("value", "accepts"), DECISIONS)
@pytest.mark.parametrize(("text", "accepting", "negated"), SENTENCES)
def test_verdicts(text: str, accepting: bool, negated: bool, value: Any, accepts: bool | None) -> None:
    expected = JUDGE if accepts is None else YES if (accepts == accepting) != negated else NO
    check(text, {"v": value}, "verdict", expected)


@pytest.mark.parametrize(("text", "accepting", "negated"), SENTENCES)
def test_no_result_yet_is_no(text: str, accepting: bool, negated: bool) -> None:
    check(text, {"v": None}, "verdict", YES if negated else NO)


@pytest.mark.parametrize(
    "text",
    [
        "v accepts result but not the title",
        "v accepts result and the title",
        "v accepts the draft or the notes",
        "v accepts nothing",
        "v accepts no result",
        "v accepts neither",
        "v accepts none of it",
        "v accepts none.",
        "v accepts result unless score is low",
        "v accepts result without changes",
        "v accepts result only once",
        "v accepts less than half",
        "v accepts result if bar",
        "v accepts result, reluctantly",
        "v accepts result; w rejects",
        "v accepts result && bar",
        "v accepts what w rejects",
        "v accepts and/or rejects",
        "v accepts that it isn't finished",
        "v accepts that it isn’t finished",
        "v accepts that it cant work",
        "v accepts 'result'",
        'v accepts "not this"',
        "v accepts (some of) it",
        "v accepts result is final",
        "v never accepts result",
        "v doesn't accepts result",
        "v does not accept result",
        "v hardly accepts result",
        "not v accepts result",
        "no accepts result",
        "neither accepts result",
        "the critic accepts result",
        "v and w accepts result",
        '"accept" accepts result',
        "accepts result",
        "v accept result",
        "v is not not accepted",
        "v is never accepted",
        "v isn't accepted",
        "v is accepted or approved",
        "v is accepted by all",
        "v is unaccepted",
        "v is acceptable",
        "v w accepted",
        "accepted",
        "is accepted",
        "not accepted",
        "v is accept",
    ],
)
def test_what_is_no_verdict_form(text: str) -> None:
    names = dict.fromkeys(["v", "w", "critic", "no", "neither", "not", "is"], "accept")
    check(text, names, "verdict", JUDGE)


@pytest.mark.parametrize("text", ["v accepts result.or", "v accepts no_op", 'v accepts "all of it"', "v accepts xs[0]"])
def test_names_that_contain_a_negation_are_names(text: str) -> None:
    check(text, {"v": "accept"}, "verdict", YES)


SAYS = [
    ("d says abort", {"decision": "abort"}, YES),
    ("d says abort", {"decision": "continue"}, NO),
    ("d says abort", "ABORT", YES),
    ("d says abort", "adjust", NO),
    ("d says abort", "Abort.", YES),
    ("d says ABORT", {"status": "abort"}, YES),
    ("d says abort", {"verdict": "adjust", "decision": "abort"}, NO),
    ("d says abort", {"decision": "abort", "verdict": 3}, YES),
    ("d says abort", {"decision": "abort", "accepted": True}, YES),
    ("d says abort", '{"decision": "abort"}', YES),
    ("d says abort", None, NO),
    ("d says abort", {"decision": "abort the run"}, JUDGE),
    ("d says abort", "do not abort", JUDGE),
    ("d says abort", "I say: abort", JUDGE),
    ("d says abort", {"reason": "abort"}, JUDGE),
    ("d says abort", {"abort": True}, JUDGE),
    ("d says abort", ["abort"], JUDGE),
    ("d says abort", True, JUDGE),
    ("d says abort", "aborted", NO),
    ("d says accept", "accepted", YES),
    ("d says accepted", {"verdict": "Accept"}, YES),
    ("d says accept", "approved", NO),
    ("d says revise", "reject", NO),
    ("d says no", "No", YES),
    ("d says no", "yes", NO),
    ("d says human-review", "human-review", YES),
    ('d says "abort"', "abort", YES),
    ('d says "abort now"', "abort now", JUDGE),
    ("d says abort now", "abort", JUDGE),
    ("d says not abort", "abort", JUDGE),
    ("d says not", "not", JUDGE),
    ("d says never", "never", JUDGE),
    ("d never says abort", "abort", JUDGE),
    ("d does not say abort", "abort", JUDGE),
    ("d says abort or adjust", "abort", JUDGE),
    ("d says", "says", JUDGE),
    ("says abort", "abort", JUDGE),
]


@pytest.mark.parametrize(("text", "value", "expected"), SAYS)
def test_says(text: str, value: Any, expected: str) -> None:
    check(text, {"d": value}, "verdict", expected)


EXPLICIT = [
    ("d does not explicitly proceed", {"proceed": True}, NO),
    ("d does not explicitly proceed", {"proceed": False}, YES),
    ("d does not explicitly proceed", {"proceed": "true"}, YES),
    ("d does not explicitly proceed", {"proceed": 1}, YES),
    ("d does not explicitly proceed", {"Proceed": True}, YES),
    ("d does not explicitly proceed", {"accepted": True}, YES),
    ("d does not explicitly proceed", {"reason": "none"}, YES),
    ("d does not explicitly proceed", "yes, please proceed", YES),
    ("d does not explicitly proceed", "proceed", YES),
    ("d does not explicitly proceed", True, YES),
    ("d does not explicitly proceed", [True], YES),
    ("d does not explicitly proceed", None, YES),
    ("d does not explicitly proceed", '{"proceed": true}', NO),
    ("d does not explicitly proceed", '{"proceed": false, "proceed": true}', YES),
    ("d does not explicitly proceed", '```json\n{"proceed": true}\n```', YES),
    ("d does\n not Explicitly proceed", {"proceed": True}, NO),
    ("d does explicitly proceed", {"proceed": True}, YES),
    ("d does explicitly proceed", {"proceed": "true"}, NO),
    ("d explicitly proceeds", {"proceed": True}, YES),
    ("d explicitly proceeds", {"proceeds": True}, YES),
    ("d explicitly proceeds", "proceed", NO),
    ("d explicitly proceed", {"proceed": True}, YES),
    ("d does not explicitly approve", {"approve": True}, NO),
    ("d does not explicitly not", {"not": True}, JUDGE),
    ("d does not not explicitly proceed", {"proceed": True}, JUDGE),
    ("d not explicitly proceed", {"proceed": True}, JUDGE),
    ("d does not explicitly proceed or stop", {"proceed": True}, JUDGE),
    ("d doesn't explicitly proceed", {"proceed": True}, JUDGE),
    ("d does not proceed", {"proceed": True}, JUDGE),
    ("does not explicitly proceed", {"proceed": True}, JUDGE),
]


@pytest.mark.parametrize(("text", "value", "expected"), EXPLICIT)
def test_explicitly(text: str, value: Any, expected: str) -> None:
    check(text, {"d": value}, "verdict", expected)


FAILED = ["c says r is a failure", "c says r failed", "c says r is failed", "c\n SAYS r Is A Failure"]
ACCEPTABLE = ["c says r is acceptable", "c says r accepted", "c says r is accepted"]


@pytest.mark.parametrize("criteria", [None, "", [], {}])
@pytest.mark.parametrize("value", [None, "", "text", 0, False, [], {"error": "x"}])
@pytest.mark.parametrize("text", FAILED)
def test_missing_failure_criteria_hold_for_nothing(text: str, value: Any, criteria: Any) -> None:
    check(text, {"c": criteria, "r": value}, "criteria", NO)


@pytest.mark.parametrize("criteria", [None, "", [], {}])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", YES),
        ("", YES),
        (0, YES),
        (False, YES),
        ([], YES),
        ({}, YES),
        ({"result": 1, "error": None}, YES),
        (None, NO),
        ({"error": {"name": "x"}}, NO),
        ({"error": "boom"}, NO),
        ('{"error": "boom"}', NO),
        ("error", YES),
    ],
)
@pytest.mark.parametrize("text", ACCEPTABLE)
def test_missing_acceptance_criteria_hold_for_results(text: str, value: Any, expected: str, criteria: Any) -> None:
    check(text, {"c": criteria, "r": value}, "criteria", expected)


@pytest.mark.parametrize("criteria", ["must rhyme", " ", False, 0, ["a"], {"a": 1}, ServiceRef("checker", None)])
@pytest.mark.parametrize("text", [*FAILED, *ACCEPTABLE])
def test_criteria_that_are_given_are_for_the_judge(text: str, criteria: Any) -> None:
    check(text, {"c": criteria, "r": "text"}, "criteria", JUDGE)


@pytest.mark.parametrize(
    "text",
    [
        "c says r is not a failure",
        "c says r is not acceptable",
        "c says r is unacceptable",
        "c says r is fine",
        "c says r is a disaster",
        "c never says r is a failure",
        "c says r and q is acceptable",
        "c or q says r is acceptable",
        "c says the result is acceptable",
        "no says r is acceptable",
        "c says is acceptable",
        "says r is acceptable",
        '"" says r is acceptable',
        "c says r is acceptable or accepted",
    ],
)
def test_what_is_no_criteria_form(text: str) -> None:
    check(text, {"c": None, "r": "text", "q": "text", "no": None}, "criteria", JUDGE)


def test_criteria_need_both_names() -> None:
    check("c says r is a failure", {"r": "text"}, "criteria", JUDGE)


@pytest.mark.parametrize(
    ("text", "layers", "meaning"),
    [
        ("current_score meets threshold", ["phrase"], "current_score >= threshold"),
        ("s is at least 3", ["phrase"], "s >= 3"),
        ("s exceeds r.bar", ["phrase"], "s > r.bar"),
        ("s is under 1", ["phrase"], "s < 1"),
        ("a.error is not present", ["phrase"], "a.error == null"),
        ("a is set", ["phrase"], "a != null"),
        ("a is not missing", ["phrase"], "a != null"),
        ("a is not true", ["phrase"], "a != true"),
        ("a is empty", ["phrase"], 'a is one of null, "", [], {}'),
        ('a is not "in  progress"', ["phrase"], 'a != "in  progress"'),
        ("xs contains x", ["phrase"], "x in xs"),
        ("d does not explicitly proceed", ["verdict"], "d.proceed != true"),
        ("d explicitly proceeds", ["verdict"], "d.proceed == true"),
        (
            "d says abort",
            ["verdict"],
            'd.(verdict | decision | status | outcome) or d itself is the word "abort"',
        ),
        (
            "v is not accepted",
            ["verdict"],
            "not (v.(accepted | approved | certified | passed | proceed) is true,"
            " else v.(verdict | decision | status | outcome) or v itself is an accepting word)",
        ),
        ("c says r is a failure", ["criteria"], "if c is null or empty: no"),
        ("c says r is acceptable", ["criteria"], "if c is null or empty: r is neither null nor an error"),
        (
            "xs has no x",
            ["phrase", "phrase"],
            'not (the truth of xs.x, if there is that key; "x" in xs, if that is a list that has it)',
        ),
        ("v has critical concerns", [], None),
    ],
)
def test_descriptions(text: str, layers: list[str], meaning: str | None) -> None:
    rules = rules_of(text)
    assert [rule.layer for rule in rules] == layers
    assert (rules[0].describe() if rules else None) == meaning


def test_operands_carry_their_place_in_the_file() -> None:
    text = "a.score\n   meets config.bar"
    [rule] = read_rules(*condition(text, "loop until "))
    assert [("loop until " + text)[operand.start : operand.end] for operand in rule.operands] == [
        "a.score",
        "config.bar",
    ]


def test_reasons_and_warnings_name_what_was_read() -> None:
    assert decide("s meets bar", {"s": "0.9", "bar": 0.8})[1] == Decided(True, '"0.9" >= 0.8')
    assert decide("s meets 1", {"s": None})[1] == Decided(
        False, "null is not a number", "s is null, not a number, so `s >= 1` does not hold"
    )
    assert decide("v is accepted", {"v": {"decision": "no"}})[1] == Decided(False, 'decision is "no"')
    assert decide("v is accepted", {"v": None})[1] == Decided(False, "v has no result yet")
    assert decide("x is present", {"x": "y" * 1_000_000})[1] == Decided(True, 'x is "' + "y" * 57 + '…"')
    assert decide("x is present", {"x": list(range(9))})[1] == Decided(True, "x is a list of 9")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("  \n ", []),
        ('a is "b c"', ["a", "is", '"b c"']),
        ('a["b c"] is set', ['a["b c"]', "is", "set"]),
        ("a[i - 1] is set", ["a[i - 1]", "is", "set"]),
        ('x is """two\nlines"""', ["x", "is", '"""two\nlines"""']),
        (r'x is "a \" b"', ["x", "is", r'"a \" b"']),
        ("f( a, b ) x", ["f( a, b )", "x"]),
        ("a) b", ["a)", "b"]),
        ("a [b", None),
        ('a "b', None),
    ],
)
def test_words(text: str, words: list[str] | None) -> None:
    found = cut(text)
    assert (found if found is None else [word.text for word in found]) == words
    assert all(text[word.start : word.end] == word.text for word in found or ())


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("deep", "deep"),
        ("Deep", None),
        ("deep ", None),
        (3, None),
        ("3", "3"),
        (None, None),
        ({"choice": "deep"}, None),
        (ServiceRef("deep", None), "deep"),
    ],
)
def test_choice_by_value(value: Any, label: str | None) -> None:
    assert decide_choice(value, ["shallow", "deep", "3"]) == label


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("v has critical concerns", "v.critical_concerns == true"),
        ("v has no critical concerns", "v.critical_concerns == false"),
        ("v has the critical concerns", "v.critical_concerns == true"),
        ("v.review is recoverable", "v.review.recoverable == true"),
        ("v is not a good one", "v.good_one == false"),
        ("v is 3", "v == 3"),
        ("v is not 3", "v != 3"),
        ("v reads as spam", "v.reads_as_spam == true"),
        ("v accepts result", 'v.verdict == "accept"'),
        ("v is not approved", 'v.verdict != "accept"'),
        ("v rejects result", 'v.verdict == "reject"'),
        ("v says abort", 'v.decision == "abort"'),
        ("v meets w", "v.score >= 0.8"),
        ("v.score meets w", "v.score >= 0.8"),
        ("v contains error", '"error" in v'),
        ("v contains w", "w in v"),
        ("v has issues", "v.issues == true"),
        ("v has w.id", "w.id in v"),
        ("v has no w.id", "w.id not in v"),
        ("v says w is a failure", "w.failed == true"),
        ("v says w is acceptable", "w.acceptable == true"),
        ("v meets w and is final", None),
        ("v is not", None),
        ("v", None),
        ("the moon is full", None),
        ("moon accepts result", None),
        ("failures", None),
        ('v "', None),
        ("", None),
    ],
)
def test_exact_forms(text: str, form: str | None) -> None:
    assert exact_form(*condition(text), {"v", "w"}) == form


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("v has critical concerns", ["v", "has", "critical", "concerns"]),
        ("(attempt.result), the worker's xs[0]?", ["attempt.result", "the", "worker", "xs[0]"]),
        ('v is like "w x" or v', ["v", "is", "like", "or"]),
        ("score. 12 null", ["score"]),
        ('"', []),
    ],
)
def test_mentioned_paths(text: str, paths: list[str]) -> None:
    found = mentioned(*condition(text))
    assert list(found) == paths
    assert all(("if " + text)[node.start : node.end] == path for path, node in found.items())
