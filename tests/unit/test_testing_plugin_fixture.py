"""The fixture `prose` in sessions of pytest: services, replies that are left over, and how errors are shown."""

from __future__ import annotations

import pytest
from plugin_sessions import SHOUT, run, write


def test_the_fixture_runs_patterns_beside_the_test(pytester: pytest.Pytester) -> None:
    pytester.mkdir("sub").joinpath("shout.prose.md").write_text(SHOUT, encoding="utf-8")
    pytester.path.joinpath("sub", "test_shout.py").write_text(
        """
def test_it(prose):
    outcome = prose.run("shout", script={"writer": ["hi"]}, topic="tea")
    assert outcome.value == "hi"
    assert prose.calls("writer") == [{"topic": "tea"}]
""",
        encoding="utf-8",
    )
    run(pytester).assert_outcomes(passed=1)


def test_replies_that_are_left_over_are_an_error_unless_the_test_failed_or_allows_them(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
import prose_lang
import pytest

LEFT = {"writer": ["hi", "there"]}

def run(prose):
    return prose.run(prose_lang.loads("return call writer"), script=LEFT)

def test_left(prose):
    run(prose)

def test_allowed(prose):
    run(prose)
    prose.allow_unused("writer")

def test_failed(prose):
    run(prose)
    assert prose.calls("writer") == []

@pytest.mark.skip
def test_skipped(prose):
    run(prose)
"""
    )
    done = run(pytester)
    done.assert_outcomes(passed=2, failed=1, errors=1, skipped=1)
    done.stdout.fnmatch_lines(
        [
            "*ERROR at teardown of test_left*",
            "scripted replies were left over: `writer`: 1 reply (prose.allow_unused() lets them be)",
        ]
    )
    assert "plugin.py" not in done.stdout.str()


def test_an_error_of_a_run_is_shown_with_its_place_and_without_the_interpreter(pytester: pytest.Pytester) -> None:
    write(pytester, "shout.prose.md", SHOUT)
    pytester.makepyfile(
        """
def test_it(prose):
    prose.run("shout", script={"writer": [{"raises": "no tea"}]}, topic="tea")
"""
    )
    done = run(pytester)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            ">   *prose.run(*",
            "E * no tea",
            "E *error[[]P406[]] service-failed: no tea",
            "E * --> shout.prose.md:*",
            "test_*.py:2: ServiceError",
        ]
    )
    assert "fixture.py" not in done.stdout.str()


def test_services_of_the_command_line_and_of_the_settings(pytester: pytest.Pytester) -> None:
    service = "import prose_lang\n\n@prose_lang.service\ndef {name}():\n    return '{name}'\n"
    for name in ("one", "two", "three"):
        pytester.path.joinpath(f"{name}_services.py").write_text(service.format(name=name), encoding="utf-8")
    pytester.makeini("[pytest]\nprose_services =\n    one_services.py\n    two_services\n")
    pytester.mkdir("sub").joinpath("test_it.py").write_text(
        """
import prose_lang

def test_it(prose):
    body = "let a = call one\\nlet b = call two\\nlet c = call three\\nreturn [a, b, c]"
    assert prose.run(prose_lang.loads(body)).value == ["one", "two", "three"]
""",
        encoding="utf-8",
    )
    pytester.syspathinsert(pytester.path)
    run(pytester, "--prose-services", "three_services.py", "sub").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("none.py", "*error[[]P103[]]*none.py does not exist*"),
        ("empty.py", "*error[[]P109[]]*empty.py has no services*"),
        ("faulty.py", "*error[[]P103[]]*faulty.py*"),
    ],
)
def test_services_that_cannot_be_loaded_are_an_error_of_each_test_that_needs_them(
    pytester: pytest.Pytester, argument: str, told: str
) -> None:
    pytester.path.joinpath("empty.py").write_text("", encoding="utf-8")
    pytester.path.joinpath("faulty.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    pytester.makepyfile("def test_it(prose): pass\ndef test_other(): pass")
    done = run(pytester, "--prose-services", argument)
    done.assert_outcomes(errors=1, passed=1)
    done.stdout.fnmatch_lines([told])
    assert "Traceback" not in done.stdout.str()
