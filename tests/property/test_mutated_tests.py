"""Damaged test files: reading and running them never fails, checking tells what running would, recording is stable."""

from __future__ import annotations

import random
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from prose_lang import CheckError, Engine, Limits
from prose_lang.diagnostics import Severity
from prose_lang.documents.reader import read_document
from prose_lang.resources import library_folder
from prose_lang.testing.files import TestFile, test_of
from prose_lang.testing.junit import junit_xml
from prose_lang.testing.recording import record
from prose_lang.testing.reporting import report_lines
from prose_lang.testing.running import run_scenario, scenario_faults
from prose_lang.text import Source

TEXTS = [path.read_text(encoding="utf-8") for path in sorted(library_folder().glob("*.test.prose.md"))]
PIECES = [
    *(
        "```yaml\n",
        "```\n",
        "### Expects\n",
        "### Fixtures\n",
        "### Services\n",
        "### Expects Not\n",
        "## x\n",
        "---\n",
    ),
    *("- `a`: |\n", "  - b\n", "- ", "\t", "\r\n", "\ufeff", "`", '"', "[", "{", "}", "&a ", "*a ", "|", "# c\n", "\0"),
    *(
        "value: ",
        "calls: ",
        "error: ",
        "null",
        "~0.5",
        "subject: ",
        "kind: ",
        "contains `x`",
        "is one of ",
        "😀",
        "\n\n",
    ),
    *("judge: [{holds: true, reason: x}]\n", "status: failed\n", "calls[9] is present", "__error.md", "{always: 1}"),
]
ENGINE = Engine(limits=Limits(calls=50))


def damaged(dice: random.Random) -> str:
    """A test file with a scenario or two, and something wrong with it."""
    head, *parts = re.split(r"(?m)^(?=## )", dice.choice(TEXTS))
    text = head + "".join(dice.sample(parts, dice.randint(0, 2)))
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(text) + 1)
        lines = text.split("\n")
        match dice.randrange(4):
            case 0:
                text = text[:at] + dice.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + dice.randint(1, 12) :]
            case 2:
                one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
                lines[one], lines[other] = lines[other], lines[one]
                text = "\n".join(lines)
            case _:
                lines.insert(dice.randrange(len(lines)), dice.choice(lines))
                text = "\n".join(lines)
    return text.replace("\n", "\r\n") if dice.random() < 0.2 else text


def read(text: str) -> TestFile:
    return test_of(read_document(Source("x.test.prose.md", text)))


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=150, deadline=None)
def test_damaged_test_files(seed: int, strict: bool) -> None:
    file = read(damaged(random.Random(seed)))
    told = any(item.severity is Severity.ERROR for item in scenario_faults(file, ENGINE))
    results = [run_scenario(scenario, ENGINE, strict=strict) for scenario in file.scenarios]
    assert told is (any(result.faults for result in results) or not file.scenarios)
    assert all(report_lines(result) for result in results if result.verdict.value != "passed")
    assert junit_xml(results)
    try:
        recorded = record(file, results)
    except CheckError:  # it says that it cannot be recorded
        return
    if recorded.changes:
        after = read(recorded.text)
        again = record(after, [run_scenario(scenario, ENGINE) for scenario in after.scenarios])
        assert (again.text, again.changes) == (recorded.text, ())
