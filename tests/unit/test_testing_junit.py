"""JUnit XML: what build servers read."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from testing_texts import GIVEN, HEAD, read

from prose_lang import Engine
from prose_lang.testing import run_scenario
from prose_lang.testing.junit import junit_xml
from prose_lang.testing.running import ScenarioResult

TEXT = (
    HEAD
    + GIVEN
    + """## passes <&>
### Expects
- `result`: exists
## fails
### Expects
- `result`: contains "x"
## is not evaluated
### Expects
- `result`: is nice
## is broken
### Fixtures
- `x`: 1
### Expects
- `result`: exists
## leaves some
### Services
```yaml
extra: [1]
```
### Expects
- `result`: exists
"""
)


@pytest.fixture(scope="module")
def results() -> list[ScenarioResult]:
    engine = Engine()
    return [run_scenario(scenario, engine) for scenario in read(TEXT).scenarios]


def test_suites_and_cases(results: list[ScenarioResult]) -> None:
    root = ElementTree.fromstring(junit_xml(results))
    counts = {"tests": "5", "failures": "1", "errors": "1", "skipped": "1"}
    [suite] = root
    assert {name: root.attrib[name] for name in counts} == counts
    assert {name: suite.attrib[name] for name in (*counts, "name")} == {**counts, "name": "some.test.prose.md"}
    assert [(case.attrib["name"], [child.tag for child in case]) for case in suite] == [
        ("passes <&>", []),
        ("fails", ["failure"]),
        ("is not evaluated", ["skipped"]),
        ("is broken", ["error"]),
        ("leaves some", ["system-out"]),
    ]
    assert suite[1].attrib["line"] == str(results[1].scenario.line)
    assert float(suite[0].attrib["time"]) < 5
    messages = [child.attrib["message"] for case in list(suite)[1:4] for child in case]
    assert messages == [
        'result: contains "x": it is "good day", without "x"',
        "result: is nice: no rule decides it, and there is no judge to ask",
        "`refine` takes no `x`",
    ]
    [failure] = suite[1]
    assert failure.text is not None
    assert "--> some.test.prose.md:" in failure.text


def test_texts_that_xml_cannot_hold(results: list[ScenarioResult]) -> None:
    given = GIVEN.replace("good day", '"\\0\\e\\uFFFF ]]> <x> ~"')
    [scenario] = read(HEAD + given + '### Expects\n- `result`: equals "x"\n').scenarios
    root = ElementTree.fromstring(junit_xml([run_scenario(scenario)]))
    [failure] = root[0][0]
    assert "\\u0000" in failure.attrib["message"]
    assert "]]> <x>" in failure.attrib["message"]


def test_secrets_are_redacted(results: list[ScenarioResult]) -> None:
    found = junit_xml(results, clean=lambda text: text.replace("good day", "[redacted]")).decode()
    assert "good day" not in found
    assert "[redacted]" in found


def test_files_that_could_not_be_read_are_errors() -> None:
    file = read("---\nkind: pattern\n---\n")
    root = ElementTree.fromstring(junit_xml([], [(file.name, file.diagnostics)]))
    assert (root.attrib["tests"], root.attrib["errors"]) == ("1", "1")
    [case] = root[0]
    assert (case.attrib["name"], case[0].tag) == ("some.test.prose.md", "error")
