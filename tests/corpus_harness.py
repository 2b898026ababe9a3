"""Runs the language corpus (tests/corpus): reads its cases and says what is wrong with each.

The formats are described in tests/corpus/README.md. The data names no Python API, so this file is the only one that a
refactoring has to touch.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import attrs
from ruamel.yaml import YAML

from prose_lang import Diagnostic, Engine, Limits, Outcome, Pattern, Script
from prose_lang.engine.given import Given
from prose_lang.testing.clock import run_virtual
from prose_lang.testing.coverage import Coverage

CORPUS = Path(__file__).parent / "corpus"

_CASE_KEYS = frozenset(
    "id rule body file beside newline slots declare inputs config texts bind script options expect".split()
)
_EXPECT_KEYS = frozenset(
    "value error line column message status calls calls_count addresses attempts decisions warns seconds".split()
)
_OPTIONS = {"max-calls": "calls", "concurrency": "concurrency", "timeout": "seconds", "per-service": "per_service"}
_TOLERANT = re.compile(r"~-?\d+(\.\d+)?")


@attrs.frozen
class Case:
    """One case of check/ or eval/: its data, and the file it stands in."""

    file: str
    data: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.file}:{self.data['id']}"

    @property
    def rule(self) -> str:
        return str(self.data["rule"])


def read_cases(kind: str) -> list[Case]:
    """All cases of check/ or eval/, in the order of files and lines."""
    found = []
    for path in sorted((CORPUS / kind).glob("*.yaml")):
        for data in YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8")) or ():
            unknown = data.keys() - _CASE_KEYS
            assert not unknown, f"{path.name}: {data.get('id')} has unknown keys {sorted(unknown)}"
            assert {"id", "rule", "expect"} <= data.keys(), f"{path.name}: {data} lacks id, rule or expect"
            found.append(Case(path.stem, data))
    return found


# --- the program of a case -------------------------------------------------------------------------------------------


def pattern_text(data: dict[str, Any]) -> tuple[str, int]:
    """The text of a case's file, and the line of it that counts as line 1 in what is expected."""
    if "file" in data:
        return data["file"], 1
    declare = data.get("declare", {})
    lines = ["---", "name: example", "kind: pattern", "---", "", "### Slots", ""]
    lines += [f"- `{slot}`" for slot in data.get("slots", [])] or ["- None."]
    lines += ["", "### Config", ""]
    lines += [f"- {item}" for item in declare.get("config", [])] or ["- None."]
    lines += ["", "### Requires", "", "- Pattern instance receives:"]
    lines += [f"    {item}" for item in declare.get("requires", [])]
    lines += ["", "### Delegation", "", "```prose"]
    return "\n".join([*lines, data["body"].rstrip("\n"), "```", ""]), len(lines) + 1


def folder_for(data: dict[str, Any]) -> AbstractContextManager[str]:
    """A folder of its own for a case that consists of several files."""
    return tempfile.TemporaryDirectory() if "beside" in data else nullcontext("")


def load(engine: Engine, data: dict[str, Any], folder: Path) -> tuple[Pattern, int]:
    """The pattern of a case, and its first line. Files that stand beside it are written to `folder`."""
    text, first = pattern_text(data)
    if data.get("newline") == "crlf":
        text = text.replace("\n", "\r\n")
    if "beside" not in data:
        return engine.loads(text, "example.prose.md"), first
    for name, other in data["beside"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(other, encoding="utf-8")
    path = folder / "example.prose.md"
    path.write_text(text, encoding="utf-8", newline="")
    return engine.load(str(path)), first


# --- check/ ----------------------------------------------------------------------------------------------------------


def check_faults(case: Case) -> Iterator[str]:
    """What is wrong with a case of check/: the diagnostics are not exactly those expected."""
    engine = Engine()
    with folder_for(case.data) as folder:
        pattern, first = load(engine, case.data, Path(folder))
        found = [_shown(item, first) for item in engine.check(pattern)]
    wanted = list(case.data["expect"])
    if found != wanted:
        yield f"found {found}, expected {wanted}"


def _shown(item: Diagnostic, first: int) -> str:
    """`P201 3:9`, or `undeclared-input 3:9` for a lint; a place in another file has the file's name before it."""
    what = item.code or item.name
    if item.line is None or item.source is None:
        return what
    name = item.source.name.rsplit("/", 1)[-1]
    if name != "example.prose.md":
        return f"{what} {name}:{item.line}:{item.column}"
    return f"{what} {item.line - first + 1}:{item.column}"


# --- eval/ -----------------------------------------------------------------------------------------------------------


def run_case(case: Case, probe: Coverage | None = None) -> tuple[Outcome, int, float]:
    """Run a case of eval/ in virtual time: its outcome, its first line, and the seconds that passed."""
    data = case.data
    options = dict(data.get("options", {}))
    limits = {_OPTIONS[name]: options.pop(name) for name in tuple(options) if name in _OPTIONS}
    script = data.get("script", {})
    engine = Engine(
        script=Script.from_data(script),
        judge=options.pop("judge", None),
        strict=options.pop("strict", False),
        limits=Limits(**limits),
        probe=probe,
        **{name.replace("-", "_"): value for name, value in options.items()},
    )
    bound = {slot: slot for slot in data.get("slots", []) if slot in script} | data.get("bind", {})
    names: dict[str, Given] = {name: Given(value, trusted=True) for name, value in bound.items()}
    for values in (data.get("inputs", {}), data.get("config", {})):
        names |= {name: Given(value) for name, value in values.items()}
    names |= {name: Given(value, text=True) for name, value in data.get("texts", {}).items()}

    async def timed(pattern: Pattern) -> tuple[Outcome, float]:
        outcome = await engine.outcome_async(pattern, names)
        return outcome, asyncio.get_running_loop().time()

    with folder_for(data) as folder:
        pattern, first = load(engine, data, Path(folder))
        outcome, seconds = run_virtual(timed(pattern))
    return outcome, first, seconds


def eval_faults(case: Case, ran: tuple[Outcome, int, float] | None = None) -> Iterator[str]:
    """What is wrong with a case of eval/; `ran` is what `run_case` gave, where it ran already."""
    outcome, first, seconds = ran or run_case(case)
    want: dict[str, Any] = case.data["expect"]
    unknown = want.keys() - _EXPECT_KEYS
    assert not unknown, f"{case.id} expects unknown things: {sorted(unknown)}"
    error = outcome.error
    if "error" in want:
        found = error.code if error else None
        if found != want["error"]:
            yield f"expected {want['error']}, got {found} ({error or outcome.value!r})"
        elif error is not None:
            place = error.as_diagnostic()
            if "line" in want and (place.line or 0) - first + 1 != want["line"]:
                yield f"{found} at line {(place.line or 0) - first + 1}, expected {want['line']} ({error})"
            if "column" in want and place.column != want["column"]:
                yield f"{found} at column {place.column}, expected {want['column']} ({error})"
            if "message" in want and error.message != want["message"]:
                yield f"the message is {error.message!r}, expected {want['message']!r}"
    elif error is not None and "status" not in want:
        yield f"{error.code} at line {(error.as_diagnostic().line or 0) - first + 1}: {error}"
    if "value" in want and not same(want["value"], outcome.value):
        yield f"the value is {outcome.value!r}, expected {want['value']!r}"
    trace = outcome.trace
    calls = [[call.service, call.inputs] for call in trace.calls]
    with_modifiers = [[call.service, call.inputs, call.modifiers] for call in trace.calls]
    seen: dict[str, Any] = {
        "status": outcome.status,
        "calls": [
            full if len(wanted) == 3 else short
            for wanted, short, full in zip(want.get("calls", []), calls, with_modifiers, strict=False)
        ]
        + calls[len(want.get("calls", [])) :],
        "calls_count": len(calls),
        "addresses": [call.address for call in trace.calls],
        "attempts": [call.attempts for call in trace.calls],
        "seconds": seconds,
        "warns": [f"{item.code} {item.line - first + 1}" for item in trace.warnings],
    }
    for key, value in seen.items():
        if not same(want.get(key, [] if key == "warns" else value), value):
            yield f"{key} {value!r}, expected {want.get(key, [])!r}"
    if "decisions" in want:
        decisions = [item.as_json() for item in trace.decisions]
        picked = [
            {key: item[key] for key in wanted} for wanted, item in zip(want["decisions"], decisions, strict=False)
        ]
        if len(decisions) != len(want["decisions"]) or not same(want["decisions"], picked):
            yield f"decisions {decisions!r}, expected {want['decisions']!r}"


def same(want: Any, got: Any) -> bool:
    """Equality of plain data; true is not 1, key order counts, and a wanted `~0.5` allows a difference of 1e-9."""
    if isinstance(want, str) and _TOLERANT.fullmatch(want) and not isinstance(got, str):
        return isinstance(got, (int, float)) and abs(float(want[1:]) - got) < 1e-9
    if isinstance(want, dict):
        return (
            isinstance(got, dict)
            and list(want) == list(got)
            and all(same(value, got[key]) for key, value in want.items())
        )
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(same, want, got))
    if isinstance(want, bool) or isinstance(got, bool):
        return want is got
    return bool(want == got)
