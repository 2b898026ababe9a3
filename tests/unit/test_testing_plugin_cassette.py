"""Cassettes under pytest: the option and the setting, for test files and for the fixture `prose`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from plugin_sessions import SHOUT, run, write

# A session in this process forgets what it imported, and a second one would not know the first one's services.
from prose_lang.engine import Engine  # noqa: F401

SERVICES = """
import prose_lang as prose

@prose.service
def writer(topic: str) -> str:
    with open("asked.txt", "a") as file:
        file.write(topic + chr(10))
    return topic.upper()
"""
TEST = """---
kind: test
subject: shout
---

### Fixtures

- `topic`: tea
- `writer`: writer

### Expects

```yaml
value: TEA
```
"""
PYTHON = """
def test_it(prose):
    assert [prose.run("shout", topic=t).value for t in ("ale", "ale", "tea")] == ["ALE", "ALE", "TEA"]

def test_own(prose):
    assert prose.run("shout", topic="rum", cassette="own.jsonl").value == "RUM"
"""


@pytest.fixture
def folder(pytester: pytest.Pytester) -> pytest.Pytester:
    write(pytester, "shout.prose.md", SHOUT)
    write(pytester, "shout.test.prose.md", TEST)
    write(pytester, "test_it.py", PYTHON)
    write(pytester, "mine.py", SERVICES)
    write(pytester, "pytest.ini", "[pytest]\nprose_services = mine.py\nprose_cassette = tapes/c.jsonl\n")
    return pytester


def takes(folder: pytest.Pytester, name: str) -> list[Any]:
    text = (folder.path / name).read_text()
    return [(take["part"], take["request"]["inputs"]["topic"]) for take in map(json.loads, text.splitlines())]


def test_test_files_and_the_fixture_record_and_replay(folder: pytest.Pytester) -> None:
    result = run(folder)
    result.stdout.fnmatch_lines(["*there is no cassette *c.jsonl*"])
    run(folder, "--prose-cassette-mode=record").assert_outcomes(passed=3)
    asked = (folder.path / "asked.txt").read_text()
    assert sorted(asked.split()) == ["ale", "ale", "rum", "tea", "tea"]
    assert takes(folder, "tapes/c.jsonl") == [
        ("shout.test.prose.md::shout.test", "tea"),
        *[("test_it.py::test_it", topic) for topic in ("ale", "ale", "tea")],
    ]
    assert takes(folder, "own.jsonl") == [("test_it.py::test_own", "rum")]
    run(folder).assert_outcomes(passed=3)
    run(folder, "--prose-cassette=tapes/c.jsonl").assert_outcomes(passed=3)
    assert (folder.path / "asked.txt").read_text() == asked
    run(folder, "--prose-cassette-mode=live").assert_outcomes(passed=3)
    assert (folder.path / "asked.txt").read_text() != asked


def test_a_miss_fails_the_test_with_the_difference(folder: pytest.Pytester) -> None:
    run(folder, "--prose-cassette-mode=record").assert_outcomes(passed=3)
    write(folder, "test_it.py", PYTHON.replace('"rum"', '"gin"').replace('"RUM"', '"GIN"'))
    result = run(folder)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*P409*the replay has no answer to this request*", "*- inputs.topic: rum*",
                                 "*+ inputs.topic: gin*"])  # fmt: skip
