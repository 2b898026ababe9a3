"""Texts of test files for the tests of `prose_lang.testing`, and what runs them."""

from __future__ import annotations

from typing import Any

from prose_lang import Engine
from prose_lang.documents.reader import read_document
from prose_lang.testing.files import TestFile, test_of
from prose_lang.testing.running import ScenarioResult, run_scenario
from prose_lang.text import Source

HEAD = "---\nname: some-tests\nkind: test\nsubject: refine\n---\n"
GIVEN = """
### Fixtures

- `task_brief`: Say hello.

### Services

```yaml
refiner: [hello there, good day]
evaluator: [{score: 0.2, suggestions: [shorter]}, {score: 0.9, suggestions: []}]
```
"""


def read(text: str, name: str = "some.test.prose.md") -> TestFile:
    """The test file of a text, which stands nowhere: its subject is of the library or an entry of its own."""
    return test_of(read_document(Source(name, text)))


def expecting(expects: str, given: str = GIVEN, head: str = HEAD) -> ScenarioResult:
    """How a scenario with these expectations comes out."""
    return run(head + given + "\n### Expects\n\n" + expects)


def run(text: str, **options: Any) -> ScenarioResult:
    """How the only scenario of a test file comes out."""
    [scenario] = read(text).scenarios
    return run_scenario(scenario, Engine(), **options)


def faults(text: str) -> list[str]:
    """The faults of a test file: `CODE LINE:COLUMN message`."""
    return [f"{item.code} {item.line}:{item.column} {item.message}" for item in read(text).diagnostics]


def body(program: str, sections: str = "") -> str:
    """A test file whose subject is an entry of its own with this program."""
    return (
        "---\nname: some-tests\nkind: test\nsubject: own\n---\n\n## own\n\n"
        f"{sections}\n### Delegation\n\n```prose\n{program}\n```\n\n## scenario\n\n"
    )
