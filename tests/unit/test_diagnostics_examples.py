"""The examples of the codes' pages: the faulty one gives the code, the mended one does not.

Examples that are a prose body are checked, and those of running are run. What has no services here to show it, the
pages of models and run records among them, is not.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from linter_texts import pattern

from prose_lang import Engine, Pattern
from prose_lang.diagnostics import CODES
from prose_lang.diagnostics.explain import explain
from prose_lang.testing.clock import run_virtual

FENCE = re.compile(
    r"(?:^<!-- (?P<declared>.*?) -->\n)?^```prose\n# (?P<kind>faulty|mended)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
CHECKED = [code for code in CODES if code < "P303" and "\n```prose\n# faulty" in (explain(code) or "")]


async def nothing(**inputs: Any) -> str:
    return "text"


async def broken(**inputs: Any) -> dict[str, bool]:
    return {"broken": True}


async def failing(**inputs: Any) -> None:
    raise ConnectionError("no line")


async def slow(**inputs: Any) -> str:
    await asyncio.sleep(30)
    return "late"


#: What the services of an example do that is run.
SERVICES = {
    "P206": nothing,
    "P303": nothing,
    "P304": nothing,
    "P306": nothing,
    "P307": nothing,
    "P308": broken,
    "P401": failing,
    "P402": nothing,
    "P403": nothing,
    "P406": failing,
    "P408": slow,
}


def example(code: str, kind: str) -> Pattern:
    found = {match["kind"]: match for match in FENCE.finditer(explain(code) or "")}
    match = found[kind]
    text = pattern(f"# {kind}\n{match['body']}", match["declared"] or "")
    engine = Engine(judge=lambda condition, values: "perhaps") if code == "P402" else Engine()
    return engine.loads(text, f"{code}-{kind}.prose.md")


@pytest.mark.parametrize("code", [code for code in CHECKED if code != "P206"])
def test_checked(code: str) -> None:
    for kind, wanted in (("faulty", {code}), ("mended", set())):
        found = example(code, kind)
        assert {item.code for item in found.engine.check(found) if item.code} == wanted, kind


@pytest.mark.parametrize("code", SERVICES)
def test_run(code: str) -> None:
    for kind in ("faulty", "mended"):
        found = example(code, kind)
        several = [SERVICES[code]] * 3
        names: dict[str, Any] = {slot.name: several if slot.many else SERVICES[code] for slot in found.entry.slots}
        names |= {item.name: "text" for item in found.entry.inputs}
        outcome = run_virtual(found.engine.outcome_async(found, names))
        code_found = outcome.error.code if outcome.error else None
        assert (code_found == code) == (kind == "faulty"), f"{kind}: {outcome.error or outcome.value}"
