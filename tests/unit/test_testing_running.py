"""Running scenarios: what they are given, what is decided by which layer, and the verdicts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from testing_texts import GIVEN, HEAD, body, expecting, read, run

from prose_lang import Engine, service
from prose_lang.testing import Verdict, collect, report_lines, run_scenario, scenario_faults
from prose_lang.testing.running import ScenarioResult

PASSED, FAILED, NOT_EVALUATED, BROKEN = Verdict.PASSED, Verdict.FAILED, Verdict.NOT_EVALUATED, Verdict.BROKEN


def own(program: str, scenario: str, sections: str = "") -> ScenarioResult:
    """A scenario of a test file whose subject stands in it."""
    return run(body(program, sections) + scenario)


def broken_by(result: ScenarioResult) -> list[str]:
    return [f"{item.code} {item.line}:{item.column} {item.message}" for item in result.faults]


# --- exact -----------------------------------------------------------------------------------------------------------

VALUE = "{result: good day, score: 0.9, rounds_used: 2}"


@pytest.mark.parametrize(
    ("block", "verdict"),
    [
        (f"value: {VALUE}", PASSED),
        ("value: {rounds_used: 2, score: ~0.9, result: good day}", PASSED),
        ("value: {result: good day}", FAILED),
        ("value: null", FAILED),
        ("calls_count: 4", PASSED),
        ("calls_count: 3", FAILED),
        ("status: ok", PASSED),
        ("status: failed", FAILED),
        ("error: null", PASSED),
        ("error: P406", FAILED),
        ("warnings: []", PASSED),
        ("warnings: [P303]", FAILED),
        ("decisions: [{layer: phrase, holds: false}, {text: score meets threshold, holds: true}]", PASSED),
        ("decisions: [{holds: true}]", FAILED),
        ("decisions: [{values: {score: 0.2, threshold: 0.8}}, {reason: 0.9 >= 0.8}]", PASSED),
    ],
)
def test_exact_expectations(block: str, verdict: Verdict) -> None:
    assert expecting(f"```yaml\n{block}\n```\n").verdict is verdict


def test_calls_in_program_order_with_what_was_sent() -> None:
    calls = """
calls:
  - [refiner, {task_brief: Say hello.}]
  - [evaluator, {task_brief: Say hello., result: hello there}, {}]
  - - refiner
    - {task_brief: Say hello., current_result: hello there, current_score: 0.2, improvement_suggestions: [shorter]}
  - [evaluator, {task_brief: Say hello., result: good day}]
"""
    assert expecting(f"```yaml{calls}```\n").verdict is PASSED
    result = expecting(f"```yaml{calls.replace('0.2', '0.3')}```\n")
    [check] = result.checks
    assert (check.what, check.verdict, check.details) == (
        "calls", FAILED, ("call 3 to refiner: current_score: expected 0.3, got 0.2",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        ("P406", PASSED),
        ("p406", PASSED),
        ("no-ink", PASSED),
        ("service-failed", FAILED),
        ("{code: P406, name: no-ink, message: out of ink, line: 14}", PASSED),
        ("{line: 12}", FAILED),
        ("{message: out}", FAILED),
        ("null", FAILED),
    ],
)
def test_an_error_by_its_code_its_name_or_parts_of_it(error: str, verdict: Verdict) -> None:
    scenario = "### Services\n```yaml\nwriter: [{raises: {name: no-ink, message: out of ink}}]\n```\n"
    result = own("return call writer", scenario + f"### Expects\n```yaml\nerror: {error}\ncalls_count: 1\n```\n", SLOT)
    assert result.verdict is verdict


SLOT = "### Slots\n- `writer`"


def test_warnings_by_their_line_or_without() -> None:
    def warned(wanted: str) -> Verdict:
        return own("let a = { b: 1 }\nreturn a.c", f"### Expects\n```yaml\nwarnings: {wanted}\n```\n").verdict

    assert [warned("[P303]"), warned("[P303 14]"), warned("[P303 12]"), warned("[]"), warned("[P303, P303]")] == [
        PASSED, PASSED, FAILED, FAILED, FAILED,
    ]  # fmt: skip


# --- items -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "layer", "verdict"),
    [
        ('`result`: contains "day"', "mechanical", PASSED),
        ("`result`: under 2 words", "mechanical", FAILED),
        ("`rounds_used`: is 2", "mechanical", PASSED),
        ("`rounds_used` is a number", "mechanical", PASSED),
        ("`score`: is at least 0.9", "phrase", PASSED),
        ("`score`: > 0.95", "expression", FAILED),
        ("score meets 0.8", "phrase", PASSED),
        ("rounds_used == 2 and score > 0.5", "expression", PASSED),
        ("value.rounds_used + 1 == 3", "expression", PASSED),
        ("calls.length == 4", "expression", PASSED),
        ('`calls[3].inputs.result`: equals "good day"', "mechanical", PASSED),
        ("`calls[9].inputs`: exists", "mechanical", FAILED),
        ("calls[9] is present", "expression", FAILED),
        ('status is "ok"', "phrase", PASSED),
        ("`status`: equals `ok`", "mechanical", PASSED),
        ("`error`: is missing", "mechanical", PASSED),
        ("`__error.md`: exists", "mechanical", FAILED),
        ("`score`: is missing", "mechanical", FAILED),
        ("`nothing`: exists", "mechanical", FAILED),
        ("`nothing`: is missing", "mechanical", PASSED),
        ("`nothing`: is null", "mechanical", FAILED),
        ('result says "good"', "", NOT_EVALUATED),
        ("`result`: is friendly", "", NOT_EVALUATED),
        ("exactly 3 items", "mechanical", PASSED),
        ("is an object", "mechanical", PASSED),
    ],
)
def test_an_item_is_decided_by_the_first_layer_that_can(item: str, layer: str, verdict: Verdict) -> None:
    [check] = expecting(f"- {item}\n").checks
    assert (check.layer, check.verdict) == (layer, verdict)


@pytest.mark.parametrize(
    ("item", "verdict"),
    [
        ('`result`: contains "day"', FAILED),
        ('`result`: contains "night"', PASSED),
        ("`error`: exists", PASSED),
        ("score meets 0.95", PASSED),
        ("score meets 0.5", FAILED),
        ("calls[9] is present", PASSED),
        ('`reslut`: contains "night"', NOT_EVALUATED),
        ("`reslut`: exists", PASSED),
        ("`result`: is rude", NOT_EVALUATED),
    ],
)
def test_what_is_not_expected_must_not_hold(item: str, verdict: Verdict) -> None:
    result = run(HEAD + GIVEN + f"### Expects Not\n- {item}\n")
    assert result.verdict is verdict


def test_a_misspelt_name_in_a_comparison_is_no_question_for_a_judge() -> None:
    given = GIVEN.replace("```yaml\n", "```yaml\njudge: {always: {holds: true, reason: they are}}\n")
    [check] = expecting("- round_used < 3", given).checks
    assert (check.verdict, check.reason) == (Verdict.FAILED, "the result has no `round_used`")
    assert check.details == ("help: did you mean `rounds_used`?",)
    [check] = run(HEAD + given + "\n### Expects Not\n\n- round_used < 3\n").checks
    assert check.verdict is Verdict.NOT_EVALUATED
    [check] = expecting("- the rounds are fewer than three", given).checks
    assert (check.verdict, check.layer) == (Verdict.PASSED, "judge")


def test_without_a_judge_the_hint_is_for_authors_of_tests() -> None:
    [check] = expecting("- `result`: sounds polite").checks
    assert (check.verdict, check.reason) == (
        Verdict.NOT_EVALUATED,
        "no rule decides it, and there is no judge to ask",
    )
    assert check.details == ("help: script a `judge` under Services, or give one with --judge",)


def test_what_cannot_be_said_of_a_value_fails_both_ways() -> None:
    for section in ("Expects", "Expects Not"):
        result = run(HEAD + GIVEN + f"### {section}\n- result - 1 == 2\n")
        assert (result.verdict, result.checks[0].reason) == (FAILED, "cannot subtract a string and a number")


@pytest.mark.parametrize(
    ("program", "item"),
    [
        ('return "plain"', '`value`: equals "plain"'),
        ('return "plain"', '`result`: equals "plain"'),
        ('return "plain"', 'equals "plain"'),
        ('return "plain"', 'value == "plain"'),
        ('return "plain"', 'result contains "lai"'),
        ("return [1, 2]", "`value[1]`: is 2"),
        ("return [1, 2]", "value.length == 2"),
        ('return { value: { value: "x" } }', '`value.value`: equals "x"'),
        ('return { "a key": 1 }', '`value["a key"]`: is 1'),
        ("return { text: null }", "`text`: is null"),
        ("return { text: null }", "`text`: is empty"),
        ("return null", "`value`: is missing"),
    ],
)
def test_paths_into_results_of_all_kinds(program: str, item: str) -> None:
    assert own(program, f"### Expects\n- {item}\n").verdict is PASSED


def test_the_single_declared_output_names_the_result() -> None:
    text = body('return { poem: "rain" }', "### Returns\n- `poem`: lines\n### Execution\n").replace(
        "### Delegation\n", ""
    )
    result = run(text + '### Expects\n- `poem`: equals "rain"\n- poem contains "ain"\n```yaml\nvalue: rain\n```\n')
    assert result.verdict is PASSED


def test_declared_outputs_that_the_result_lacks_are_null() -> None:
    program = "if 1 > 2:\n  return { a: 1, b: 2 }\nreturn { a: 1 }"
    result = own(program, "### Expects\n- `b`: is missing\n### Expects Not\n- `b`: is 2\n", "### Ensures\n- `b`: x\n")
    assert result.verdict is PASSED
    [check] = own(program, "### Expects Not\n- `b`: is 2\n").checks  # returned somewhere, though not declared
    assert check.verdict is PASSED


# --- the judge -------------------------------------------------------------------------------------------------------


def judged(judge: str, expects: str) -> ScenarioResult:
    return run(HEAD + GIVEN.replace("```yaml\n", f"```yaml\njudge: {judge}\n") + expects)


def test_the_judge_of_the_scenario_is_asked_in_order() -> None:
    judge = "[{holds: true, reason: so friendly}, {holds: false, reason: too long}]"
    result = judged(judge, "### Expects\n- `result`: is friendly\n- it is short\n")
    assert [(check.verdict, check.layer, check.reason) for check in result.checks] == [
        (PASSED, "judge", "so friendly"), (FAILED, "judge", "too long"),
    ]  # fmt: skip
    assert judged("{always: {holds: false, reason: no}}", "### Expects Not\n- it is rude\n").verdict is PASSED


def test_a_judge_sees_the_text_and_the_value_that_it_names() -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    def judge(condition: str, values: dict[str, Any]) -> dict[str, Any]:
        asked.append((condition, values))
        return {"holds": True, "reason": "fine"}

    [scenario] = read(
        HEAD + GIVEN + "### Expects\n- `result`: is friendly\n- all is well\n- status is pleasing\n"
    ).scenarios
    assert run_scenario(scenario, judge=judge).verdict is PASSED
    assert asked == [
        ("result is friendly", {"result": "good day"}),
        ("all is well", {"result": "good day", "score": 0.9, "rounds_used": 2}),
        ("status is pleasing", {"status": "ok"}),
    ]


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        ("[{raises: asleep}]", "`judge` was to decide “result is friendly” and failed: asleep"),
        ("[maybe, perhaps]", "the judge's answer is not {holds, reason}, twice"),
        ("[]", "`judge`: no reply is left for call 1"),
        ("[{ask: Is it?}]", "Is it?"),
    ],
)
def test_a_judge_that_gives_no_answer_breaks_the_scenario(judge: str, reason: str) -> None:
    result = judged(judge, "### Expects\n- `result`: is friendly\n")
    assert (result.verdict, result.checks[0].verdict) == (BROKEN, BROKEN)
    assert result.checks[0].reason.startswith(reason)


def test_the_same_text_twice_is_two_questions() -> None:
    result = judged("[{holds: true, reason: a}, {holds: true, reason: b}]", "### Expects\n- it is good\n- it is good\n")
    assert [check.reason for check in result.checks] == ["a", "b"]


def test_the_judge_decides_conditions_of_the_subject_too() -> None:
    scenario = (
        "### Services\n```yaml\njudge: [{holds: true, reason: x}, {holds: true, reason: y}]\n```\n### Expects\n- nice\n"
    )
    result = own('if the moon is full:\n  return "howl"\nreturn "sleep"', scenario + '- equals "howl"\n')
    assert (result.verdict, result.unused) == (PASSED, ())


# --- runs that fail --------------------------------------------------------------------------------------------------

FAILING = GIVEN.replace("[hello there, good day]", "[{raises: out of ink}]")


def test_an_error_that_nobody_expects_is_a_failure_with_its_place() -> None:
    result = expecting('- `result`: contains "x"\n```yaml\nvalue: x\ncalls_count: 1\n```\n', FAILING)
    assert [(check.what, check.verdict) for check in result.checks] == [
        ("the run", FAILED), ("calls_count", PASSED), ('result: contains "x"', NOT_EVALUATED),
    ]  # fmt: skip
    told = "\n".join(report_lines(result))
    assert "error[failed]: the run ended in P406 service-failed: out of ink" in told
    assert "--> stdlib:refine:" in told


@pytest.mark.parametrize(
    "expects",
    [
        "```yaml\nstatus: failed\n```\n",
        "- `error`: exists\n",
        "- `__error.md`: exists\n",
        '- `error.code`: equals "P406"\n',
        '- error.message contains "ink"\n',
        '- status is "failed"\n',
    ],
)
def test_an_error_that_is_expected_in_any_way(expects: str) -> None:
    assert expecting(expects, FAILING).verdict is PASSED


def test_an_error_that_must_not_be_is_not_expected() -> None:
    result = run(HEAD + FAILING + "### Expects Not\n- `error`: exists\n")
    assert (result.verdict, result.checks[0].what) == (FAILED, "the run")


def test_replies_that_are_used_up_fail_the_run() -> None:
    result = expecting("- `result`: exists\n", GIVEN.replace("[hello there, good day]", "[hello]"))
    assert result.checks[0].reason.startswith("the run ended in P409 replies-used-up: `refiner`: no reply is left")


def test_a_contract_that_is_broken_before_the_run_can_be_expected() -> None:
    given = GIVEN.replace("Say hello.", "Say hello.\n- `max_rounds`: 0")
    assert expecting("```yaml\nerror: P211\ncalls: []\n```\n", given).verdict is PASSED
    assert expecting("```yaml\nerror: P210\n```\n", given).verdict is FAILED
    result = expecting("- `result`: exists\n", given)
    assert (result.verdict, broken_by(result)) == (
        BROKEN, ["P211 10:17 `max_rounds` is 0, less than the minimum of 1"],
    )  # fmt: skip


# --- fixtures and services -------------------------------------------------------------------------------------------

ECHO = "return { s: s, n: n, b: b, l: l, o: o, a: a, r: r }"
ECHO_SECTIONS = (
    "### Requires\n- `s`: string -- x\n- `n`: number -- (optional) x\n- `b`: boolean -- (optional) x\n"
    "- `l`: string[] -- (optional) x\n- `o`: object -- (optional) x\n- `a`: any -- (optional) x\n### Slots\n- `r`\n"
)


def given(fixtures: str, path: str) -> Any:
    services = "### Services\n```yaml\nr: [1]\n```\n"
    result = own(ECHO, f"### Fixtures\n{fixtures}\n{services}### Expects\n- `s`: exists\n", ECHO_SECTIONS)
    assert result.outcome is not None
    assert result.outcome.error is None, result.outcome.error
    return result.outcome.value[path]


@pytest.mark.parametrize(
    ("fixture", "path", "value"),
    [
        ("- `s`: 3", "s", "3"),
        ("- `s`: true", "s", "true"),
        ("- `s`: none", "s", "none"),
        ("- `s`: a, b", "s", "a, b"),
        ("- `s`: `ticked`", "s", "ticked"),
        ('- `s`: "\\n"', "s", "\n"),
        ("- `s`: x\n- `n`: 3", "n", 3),
        ("- `s`: x\n- `n`: 0.5", "n", 0.5),
        ("- `s`: x\n- `b`: true", "b", True),
        ("- `s`: x\n- `l`: a, b", "l", ["a", "b"]),
        ('- `s`: x\n- `l`: ["a"]', "l", ["a"]),
        ("- `s`: x\n- `o`: {k: 1}", "o", {"k": 1}),
        ("- `s`: x\n- `a`: two words", "a", "two words"),
        ("- `s`: x\n- `a`: 3", "a", 3),
        ('- `s`: x\n- `a`: "3"', "a", "3"),
        ("- `s`: |\n    one\n    two", "s", "one\ntwo"),
        ("```yaml\ns: yes\na: [1, {k: v}]\n```", "a", [1, {"k": "v"}]),
    ],
)
def test_values_by_their_declared_types(fixture: str, path: str, value: Any) -> None:
    assert given(fixture, path) == value


def test_every_fault_of_what_is_given_is_told_in_the_test() -> None:
    fixtures = "### Fixtures\n- `n`: many\n- `sss`: x\n- `zzz`: x\n"
    result = own(ECHO, fixtures + "### Expects\n- `s`: exists\n", ECHO_SECTIONS)
    assert broken_by(result) == [
        "P203 25:1 the input `s` is missing, and the slot `r` is not bound",
        'P211 28:8 `n` is "many", a string, where number is declared',
        "P210 29:4 `own` takes no `sss`",
        "P210 30:4 `own` takes no `zzz`",
    ]
    assert result.faults[3].hint == "it takes r, s, n, b, l, o, a"


SLOTS = "### Slots\n- `one`\n- `many`\n### Requires\n- Pattern instance receives:\n    many: string[] -- a list\n"
CALLING = """\
let first = call one
  x: 1
let rest = parallel for each in many:
  call each
    x: 2
return { first: first, rest: rest }"""


def test_slots_take_scripted_services_entries_and_the_library() -> None:
    scenario = (
        "### Fixtures\n- `many`: b, `helper`, c\n### Services\n```yaml\none: [1]\nb: [2]\nc: [3]\n```\n"
        "### Expects\n```yaml\nvalue: {first: 1, rest: [2, helped, 3]}\n```\n"
        '## helper\n### Requires\n- `x`: number -- n\n### Execution\n```prose\nreturn "helped"\n```\n'
    )
    assert own(CALLING, scenario, SLOTS).verdict is PASSED
    listed = scenario.replace("- `many`: b, `helper`, c", "```yaml\nmany: [b, helper, c]\n```")
    assert own(CALLING, listed, SLOTS).verdict is PASSED


@pytest.mark.parametrize("name", ["cmd:true", "py:os:getcwd", "/etc/passwd.prose.md", "model:a/b", "x.prose.md"])
def test_data_never_names_code(name: str) -> None:
    result = own(CALLING, f"### Fixtures\n- `one`: {name}\n- `many`: plain\n### Expects\n- `first`: exists\n", SLOTS)
    assert result.verdict is BROKEN
    assert broken_by(result)[0].startswith("P109")
    assert "only accepted as a literal command-line argument" in broken_by(result)[0]


def test_an_unknown_service_is_told_where_it_is_named() -> None:
    services = "### Services\n```yaml\na: [1]\nwrker: [1]\n```\n"
    scenario = f"### Fixtures\n- `one`: wrkr\n- `many`: a\n{services}### Expects\n- `first`: exists\n"
    result = own(CALLING, scenario, SLOTS)
    line = result.scenario.source.text[: result.scenario.source.text.index("wrkr")].count("\n") + 1
    assert broken_by(result) == [f"P202 {line}:10 `one`: there is no service `wrkr`"]
    assert result.faults[0].hint == "did you mean `wrker`?"


def test_registered_services_serve_every_scenario() -> None:
    @service
    async def writer(topic: str = "") -> str:
        await asyncio.sleep(3600)
        return "written"

    file = read(
        body("return call writer", SLOT) + '### Fixtures\n- `writer`: writer\n### Expects\n- equals "written"\n'
    )
    result = run_scenario(file.scenarios[0], Engine(services=[writer]))
    assert result.verdict is PASSED
    assert result.seconds < 5


def test_scripted_services_stand_in_for_functions_of_the_subject() -> None:
    text = (
        "---\nkind: test\nsubject: own\n---\n## own\n### Execution\n```prose\nreturn call lookup\n  key: 1\n```\n"
        "## lookup\n### Requires\n- `key`: number -- x\n### Returns\n- `text`: y\n## s\n"
        '### Services\n```yaml\nlookup: [{text: found}]\n```\n### Expects\n- equals "found"\n'
    )
    assert run(text).verdict is PASSED


def test_replies_that_are_left_over_are_told() -> None:
    result = expecting(
        "- `result`: exists\n", GIVEN.replace("refiner: [", "extra: [1, 2]\nalways: {always: 1}\nrefiner: [x, ")
    )
    assert [left.said for left in result.unused] == [
        "`extra` was never called: 2 replies are left", "1 of 3 replies of `refiner` is left",
    ]  # fmt: skip
    assert result.verdict is PASSED
    assert report_lines(result) == [f"note: {left.said}" for left in result.unused]


def test_virtual_time() -> None:
    given = GIVEN.replace("refiner: [hello there,", "refiner: [{returns: hello there, delay: 86400},")
    result = expecting("- `result`: exists\n", given)
    assert result.verdict is PASSED
    assert result.seconds < 5


# --- verdicts --------------------------------------------------------------------------------------------------------


def test_a_scenario_that_expects_nothing_is_broken() -> None:
    for text in (
        GIVEN,
        GIVEN + "### Expects\n",
        GIVEN + "### Expects\n```yaml\n```\n",
        GIVEN + "### Expects\nWords.\n",
    ):
        result = run(HEAD + text)
        assert (result.verdict, broken_by(result)) == (BROKEN, ["P107 1:1 this scenario expects nothing"])
        assert result.faults[0].hint == "`prose test --update` records what it gives"


def test_strict() -> None:
    text = (
        HEAD
        + GIVEN.replace("good day]", "good day, more]").replace(", suggestions: []", "")
        + "### Expects\n- `result`: is nice\n"
    )
    assert run(text).verdict is NOT_EVALUATED
    result = run(text, strict=True)
    assert result.verdict is FAILED
    assert [(check.what, check.reason.split(":")[0]) for check in result.checks] == [
        ("result: is nice", "not evaluated"),
        ("every reply is used", "1 of 3 replies of `refiner` is left"),
        ("no warnings", "P303 at stdlib"),
    ]
    listed = text.replace("- `result`: is nice\n", "```yaml\nwarnings: [P303]\n```\n").replace(", more]", "]")
    assert run(listed, strict=True).verdict is PASSED


def test_secrets_are_redacted_before_they_are_cut() -> None:
    secret = "s" * 300
    given = GIVEN.replace("hello there, good day", f"hello there, {secret}")
    [scenario] = read(
        HEAD + given + '### Expects\n- `result`: contains "x"\n```yaml\nvalue: 1\ncalls: []\n```\n'
    ).scenarios

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(secret, "[redacted]")
        if isinstance(value, list):
            return [clean(item) for item in value]
        return {key: clean(item) for key, item in value.items()} if isinstance(value, dict) else value

    told = "\n".join(report_lines(run_scenario(scenario, clean=clean)))
    assert "[redacted]" in told
    assert "sss" not in told


# --- subjects --------------------------------------------------------------------------------------------------------

PLAIN = """\
---
name: plain
kind: pattern
---
### Delegation
```prose
return 1
```
## part
### Execution
```prose
return 2
```
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("plain.prose.md", "src/other.prose.md", "sub/deep.prose.md"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(PLAIN)
    Path("prose.toml").write_text("")
    return tmp_path


def of(subject: str, expected: str = "1") -> ScenarioResult:
    text = f"---\nkind: test\nsubject: {subject}\n---\n### Expects\n```yaml\nvalue: {expected}\n```\n"
    Path("x.test.prose.md").write_text(text)
    [scenario] = collect("x.test.prose.md").scenarios
    return run_scenario(scenario)


@pytest.mark.parametrize(
    ("subject", "value"),
    [
        ("plain", "1"),
        ("plain.prose.md", "1"),
        ("./plain", "1"),
        ("other", "1"),
        ("sub/deep", "1"),
        ("plain#part", "2"),
        ("sub/deep.prose.md#part", "2"),
    ],
)
def test_subjects(folder: Path, subject: str, value: str) -> None:
    assert of(subject, value).verdict is PASSED


@pytest.mark.parametrize(
    ("subject", "message", "hint"),
    [
        ("plian", "the subject `plian` is not found", "did you mean `plain` or `pipeline`?"),
        ("plain#prat", "`plain` has no entry `prat`", "did you mean `part`?"),
        ("../plain", "`../plain` leads outside of the folder that `x.test.prose.md` may use", None),
        ("/etc/passwd", "`/etc/passwd` leads outside of the folder that `x.test.prose.md` may use", None),
        ("stdlib:nothing", "the subject `stdlib:nothing` is not found", None),
        ("own#x", "the subject `own` is not found", None),
    ],
)
def test_subjects_that_are_not_found(folder: Path, subject: str, message: str, hint: str | None) -> None:
    result = of(subject)
    assert (result.verdict, broken_by(result)) == (BROKEN, [f"P109 3:10 {message}"])
    if hint is not None:
        assert result.faults[0].hint == hint


def test_a_subject_that_cannot_be_run(folder: Path) -> None:
    Path("plain.prose.md").write_text("---\nkind: gateway\n---\n")
    assert broken_by(of("plain"))[0].startswith("P104")
    Path("plain.prose.md").write_text(PLAIN.replace("return 1", "return nobody("))
    assert broken_by(of("plain"))[0].startswith("P102")
    Path("plain.prose.md").write_bytes(b"\xff")
    assert broken_by(of("plain")) == ["P103 3:10 `plain.prose.md` is not UTF-8: line 1 holds the byte 0xFF"]
    assert broken_by(of("x.test.prose.md"))[0].startswith("P104")


def test_a_changed_subject_is_read_again(folder: Path) -> None:
    engine = Engine()
    assert of("plain").verdict is PASSED
    [scenario] = collect("x.test.prose.md").scenarios
    assert run_scenario(scenario, engine).verdict is PASSED
    Path("plain.prose.md").write_text(PLAIN.replace("return 1", "return 12"))
    assert run_scenario(scenario, engine).verdict is FAILED


# --- checking without running ----------------------------------------------------------------------------------------


def test_checking_tells_what_running_would() -> None:
    text = HEAD + GIVEN + "## a\n### Fixtures\n- `max_rounds`: no\n- `x`: 1\n### Expects\n- `result`: exists\n## b\n"
    file = read(text)
    engine = Engine()
    ran = [fault for scenario in file.scenarios for fault in broken_by(run_scenario(scenario, engine))]
    checked = [f"{item.code} {item.line}:{item.column} {item.message}" for item in scenario_faults(file, engine)]
    assert sorted(checked) == sorted(ran)
    assert len(checked) == 3


def test_checking_a_sound_file_tells_nothing() -> None:
    assert scenario_faults(read(HEAD + GIVEN + "### Expects\n- `result`: exists\n"), Engine()) == []
    expected = GIVEN.replace("Say hello.", "Say hello.\n- `max_rounds`: 0") + "### Expects\n```yaml\nerror: P211\n```\n"
    assert scenario_faults(read(HEAD + expected), Engine()) == []
