"""The pytest plugin, run by pytest in folders of its own: test files, recording, coverage, and what a session costs."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest
from plugin_sessions import PLUGIN, SHOUT, run, write

from prose_lang.testing import Verdict, collect, report_lines, run_scenario

PICK = """---
name: pick
kind: pattern
---

### Requires

- size: number

### Delegation

```prose
let n = size
if n > 3:
  return "many"
return "few"
```
"""


# --- test files ------------------------------------------------------------------------------------------------------

SCENARIOS = """---
name: shout-test
kind: test
subject: shout
---

### Fixtures

- `topic`: tea

## greets

### Services

```yaml
writer: [hello]
```

### Expects

```yaml
value: hello
```

## differs

### Services

```yaml
writer: [hello]
```

### Expects

```yaml
value: good morning
```

## nobody judges

### Services

```yaml
writer: [hello]
```

### Expects

- The greeting sounds friendly.

## leaves one

### Services

```yaml
writer: [hello, more]
```

### Expects

```yaml
value: hello
```
"""


@pytest.fixture
def scenarios(pytester: pytest.Pytester) -> pytest.Pytester:
    write(pytester, "shout.prose.md", SHOUT)
    write(pytester, "shout.test.prose.md", SCENARIOS)
    return pytester


def test_each_scenario_is_an_item(scenarios: pytest.Pytester) -> None:
    done = run(scenarios, "--collect-only", "-q")
    assert [line for line in done.stdout.lines if "::" in line] == [
        "shout.test.prose.md::greets",
        "shout.test.prose.md::differs",
        "shout.test.prose.md::nobody judges",
        "shout.test.prose.md::leaves one",
    ]
    run(scenarios, "shout.test.prose.md::greets").assert_outcomes(passed=1)
    run(scenarios, "-k", "greets or one").assert_outcomes(passed=2, deselected=2, warnings=1)


def test_a_file_is_collected_by_its_name_alone(pytester: pytest.Pytester) -> None:
    write(pytester, "shout.prose.md", SHOUT)
    write(pytester, "test.md", SCENARIOS)
    assert run(pytester).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_scenario_passes_fails_or_is_skipped_with_the_reason(scenarios: pytest.Pytester) -> None:
    done = run(scenarios, "-rsf")
    done.assert_outcomes(passed=2, failed=1, skipped=1, warnings=1)
    text = done.stdout.str()
    assert "Traceback" not in text
    assert "pytest_items" not in text
    # The report is that of `prose test`: the place with its lines, and how the values differ.
    file = collect(scenarios.path / "shout.test.prose.md")
    result = run_scenario(file.scenarios[1])
    assert result.verdict is Verdict.FAILED
    wanted = "\n".join(report_lines(result)).replace(str(file.path), "shout.test.prose.md")
    assert wanted in text
    done.stdout.fnmatch_lines(
        [
            "*_ differs _*",
            "*good morning*",
            "SKIPPED [[]1[]] shout.test.prose.md:39: not evaluated: *The greeting sounds friendly.*",
            "FAILED shout.test.prose.md::differs - failed: *",
        ]
    )


def test_replies_that_a_scenario_leaves_over_are_a_warning(scenarios: pytest.Pytester) -> None:
    done = run(scenarios, "-k", "leaves")
    done.stdout.fnmatch_lines(["*UnusedRepliesWarning: 1 of 2 replies of `writer` is left"])
    done = run(scenarios, "-k", "leaves", "-W", "error::prose_lang.testing.pytest_items.UnusedRepliesWarning")
    done.assert_outcomes(failed=1, deselected=3)


def test_a_judge_is_a_service_that_is_named(scenarios: pytest.Pytester) -> None:
    scenarios.path.joinpath("svc.py").write_text(
        "import prose_lang\n\n@prose_lang.service\ndef kind(condition, values):\n"
        "    return {'holds': 'friendly' in condition, 'reason': 'so'}\n",
        encoding="utf-8",
    )
    words = ["-k", "judges", "--prose-services", "svc.py"]
    run(scenarios, *words, "--prose-judge", "kind").assert_outcomes(passed=1, deselected=3)
    run(scenarios, *words).assert_outcomes(skipped=1, deselected=3)
    done = run(scenarios, *words, "--prose-judge", "kinf")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*error[[]P202[]]*there is no service `kinf`", "*did you mean `kind`?"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("---\nkind: test\n---\n### Expects\n- x exists\n", ["*error[[]P106[]]*", "* --> a.test.prose.md:*"]),
        (
            "---\nkind: test\nsubject: shuot\n---\n### Expects\n- x exists\n",
            [
                "*error[[]P109[]]*the subject `shuot` is not found",
                "* --> a.test.prose.md:3:10",
                "*did you mean `shout`?",
            ],
        ),
        (SHOUT, ["*error[[]P106[]]*is a pattern, not a test"]),
        ("---\nkind: test\nsubject: shout\n---\n### Services\n```yaml\na: [\n```\n", ["* --> a.test.prose.md:*"]),
        ("", ["*error[[]P106[]]*"]),
        (b"\xff\xfea", ["*error[[]P103[]]*is UTF-16"]),
        (b"a\0b", ["*error[[]P103[]]*line 1 holds a NUL byte"]),
    ],
)
def test_a_file_that_is_broken_is_a_collection_error_with_its_place(
    pytester: pytest.Pytester, text: str | bytes, told: list[str]
) -> None:
    write(pytester, "shout.prose.md", SHOUT)
    pytester.path.joinpath("a.test.prose.md").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run(pytester)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*ERROR collecting a.test.prose.md*", *told])
    assert "Traceback" not in done.stdout.str()
    assert ".py:" not in done.stdout.str()


def test_one_broken_scenario_fails_and_the_others_run(scenarios: pytest.Pytester) -> None:
    path = scenarios.path / "shout.test.prose.md"
    path.write_text(SCENARIOS.replace("value: good morning", "vlaue: good morning"), encoding="utf-8")
    done = run(scenarios)
    done.assert_outcomes(passed=2, failed=1, skipped=1, warnings=1)
    done.stdout.fnmatch_lines(
        ["*error[[]P107[]]*no `vlaue`", "* --> shout.test.prose.md:36:1", "FAILED *::differs - broken: *no `vlaue`"]
    )


def test_a_fixture_that_the_subject_does_not_take_is_told_at_its_place(scenarios: pytest.Pytester) -> None:
    path = scenarios.path / "shout.test.prose.md"
    path.write_text(SCENARIOS.replace("- `topic`: tea", "- `topik`: tea"), encoding="utf-8")
    done = run(scenarios, "-k", "greets")
    done.assert_outcomes(failed=1, deselected=3)
    done.stdout.fnmatch_lines(["*error[[]P210[]]*`shout` takes no `topik`", "* --> shout.test.prose.md:9:*"])


def test_services_that_cannot_be_loaded_are_a_collection_error(scenarios: pytest.Pytester) -> None:
    done = run(scenarios, "--prose-services", "none.py")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*ERROR collecting shout.test.prose.md*", "*none.py does not exist*"])


def test_junit_files_hold_the_report_without_colours(scenarios: pytest.Pytester) -> None:
    run(scenarios, "--junit-xml=out.xml", "--color=yes")
    cases = list(ElementTree.parse(scenarios.path / "out.xml").iter("testcase"))
    assert [case.get("name") for case in cases] == ["greets", "differs", "nobody judges", "leaves one"]
    (failure,) = cases[1]
    assert (failure.tag, (failure.get("message") or "").partition(":")[0]) == ("failure", "failed")
    assert "good morning" in (failure.text or "")
    assert "\x1b" not in (failure.text or "")
    assert "#x1B" not in (failure.text or "")
    assert [part.tag for part in cases[2]] == ["skipped"]


def test_a_failing_report_is_coloured_on_a_terminal(scenarios: pytest.Pytester) -> None:
    assert "\x1b[1;31merror" in run(scenarios, "-k", "differs", "--color=yes").stdout.str()


# --- recording -------------------------------------------------------------------------------------------------------


def test_an_update_records_what_differs_and_adds_what_is_missing(scenarios: pytest.Pytester) -> None:
    path = scenarios.path / "shout.test.prose.md"
    nothing = "\n## says nothing\n\n### Services\n\n```yaml\nwriter: [well]\n```\n"
    path.write_text(SCENARIOS + nothing, encoding="utf-8")
    run(scenarios).assert_outcomes(passed=2, failed=2, skipped=1, warnings=1)
    done = run(scenarios, "--prose-update")
    done.assert_outcomes(passed=4, skipped=1, warnings=1)
    done.stdout.fnmatch_lines(
        [
            "*= prose: recorded =*",
            "shout.test.prose.md:25: differs: recorded value",
            "shout.test.prose.md:65: says nothing: new section with value, calls",
        ]
    )
    text = path.read_text(encoding="utf-8")
    assert text.startswith(SCENARIOS.replace("value: good morning", "value: hello") + nothing.rstrip("\n"))
    run(scenarios).assert_outcomes(passed=4, skipped=1, warnings=1)
    before = path.stat()
    done = run(scenarios, "--prose-update")
    assert "recorded" not in done.stdout.str()
    assert path.stat() == before


def test_an_update_records_what_was_run_alone(scenarios: pytest.Pytester) -> None:
    path = scenarios.path / "shout.test.prose.md"
    text = SCENARIOS.replace("value: hello", "value: other")
    path.write_text(text, encoding="utf-8")
    run(scenarios, "--prose-update", "-k", "greets").assert_outcomes(passed=1, deselected=3)
    assert path.read_text(encoding="utf-8") == text.replace("value: other", "value: hello", 1)


def test_an_update_never_writes_where_a_scenario_is_broken(scenarios: pytest.Pytester) -> None:
    path = scenarios.path / "shout.test.prose.md"
    text = SCENARIOS.replace("- `topic`: tea", "- `topik`: tea")
    path.write_text(text, encoding="utf-8")
    run(scenarios, "--prose-update").assert_outcomes(failed=4)
    assert path.read_text(encoding="utf-8") == text


def test_an_update_does_not_write_over_what_somebody_else_wrote(scenarios: pytest.Pytester) -> None:
    path = scenarios.path / "shout.test.prose.md"
    write(
        scenarios,
        "conftest.py",
        f"""
import pathlib

def pytest_runtest_logfinish(nodeid):
    if nodeid.endswith("::greets"):
        with pathlib.Path({str(path)!r}).open("a") as file:
            file.write("more")
""",
    )
    done = run(scenarios, "--prose-update")
    done.assert_outcomes(passed=3, skipped=1, errors=1, warnings=1)
    done.stdout.fnmatch_lines(
        ["*ERROR at teardown of leaves one*", "error[[]P103[]]*has changed meanwhile; it was left as it is"]
    )
    assert path.read_text(encoding="utf-8") == f"{SCENARIOS}more"


def test_an_update_of_files_whose_scenarios_are_run_in_turn(scenarios: pytest.Pytester) -> None:
    text = SCENARIOS.replace("value: hello", "value: other")
    for name in ("shout", "again"):
        write(scenarios, f"{name}.test.prose.md", text)
    write(
        scenarios,
        "conftest.py",
        "def pytest_collection_modifyitems(items):\n    items.sort(key=lambda item: item.name)\n",
    )
    run(scenarios, "--prose-update").assert_outcomes(passed=6, skipped=2, warnings=2)
    for name in ("shout", "again"):
        found = scenarios.path.joinpath(f"{name}.test.prose.md").read_text(encoding="utf-8")
        assert found == SCENARIOS.replace("value: good morning", "value: hello")


# --- coverage --------------------------------------------------------------------------------------------------------


def test_coverage_is_that_of_scenarios_and_of_the_fixture(scenarios: pytest.Pytester) -> None:
    write(scenarios, "pick.prose.md", PICK)
    write(
        scenarios,
        "test_it.py",
        "def test_it(prose):\n    assert prose.run('pick', size=9).value == 'many'\n"
        "    prose.run('refine', task_brief='x', script={'refiner': ['a'], 'evaluator': [{'score': 1}]})\n",
    )
    done = run(scenarios, "--prose-coverage")
    done.stdout.fnmatch_lines(
        [
            "*= prose: coverage =*",
            "file            statements  missed  outcomes  missed  covered  missing lines",
            "pick.prose.md            4       1         2       1      67%  16",
            "    `n > 3` (line 14): never false",
            "shout.prose.md           2       0         0       0     100%",
            "stdlib:refine           11       1         2       1      85%  70",
            "    `score meets threshold` (line 67): never false",
            "all                     17       2         4       2      81%",
        ]
    )
    assert "prose: coverage" not in run(scenarios).stdout.str()


# --- the session -----------------------------------------------------------------------------------------------------


def test_the_help_names_the_options_the_setting_and_the_fixture(pytester: pytest.Pytester) -> None:
    text = run(pytester, "--help").stdout.str()
    for name in ("--prose-update", "--prose-services=FILE", "--prose-judge=REF", "prose_services (linelist):"):
        assert name in text
    run(pytester, "--fixtures", "-v").stdout.fnmatch_lines(["prose -- *", "*Runs patterns on scripted services*"])


def test_a_session_without_prose_imports_nothing_but_the_plugin(scenarios: pytest.Pytester) -> None:
    """Not even where test files lie beside the one that is run."""
    write(scenarios, "test_it.py", "def test_it(): pass")
    code = (
        "import sys, pytest\n"
        f"assert pytest.main([*{PLUGIN!r}, '-q', '-p', 'no:cacheprovider', 'test_it.py']) == 0\n"
        "print(*sorted(name for name in sys.modules if name.startswith('prose_lang')))\n"
        "print(*{'lark', 'rich', 'click', 'markdown_it', 'ruamel', 'litellm', 'cattrs'} & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=scenarios.path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-2:] == [
        "prose_lang prose_lang.testing prose_lang.testing.plugin prose_lang.version", ""
    ]  # fmt: skip
