"""Examples of `docs/` that are programs or files: checks them, runs them, and compares with what the page says.

What a page may say is described in documentation_harness.py.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from corpus_harness import Case, eval_faults
from documentation_harness import Fence
from ruamel.yaml import YAML

from prose_lang import Engine, Pattern
from prose_lang.cli.describing import describe
from prose_lang.linter import lint

_AT_LINE = re.compile(r"at line (\d+)")
_CODE = re.compile(r"`([\w-]+)`(?: at line (\d+))?")
_CALLED = re.compile(r"\bcall ([A-Za-z_][\w-]*)")
_RUN_KEYS = frozenset(
    "slots requires config inputs texts script bind options "
    "gives fails line message status calls addresses attempts decisions warns seconds".split()
)
_EXPECTED = ("line", "message", "status", "calls", "addresses", "attempts", "decisions", "warns", "seconds")


def program_faults(fence: Fence, runs: Sequence[Fence], files: dict[str, str]) -> Iterator[str]:
    """What is wrong with a prose or markdown fence, its claim, and the `# run` and `# shows` blocks below it.

    `files` are the pattern files that stand further up on the page.
    """
    claim = fence.claim
    if claim is not None and claim["what"] == "Gives":
        wanted = json.loads(claim["said"])
        yield from _run(fence, {"expect": {"value": wanted}}, files)
    elif claim is not None and claim["what"] == "Fails with":
        line = _AT_LINE.search(claim["rest"])
        expect = {"error": claim["said"], **({"line": int(line[1])} if line else {})}
        yield from _run(fence, {"expect": expect}, files)
    elif claim is not None:
        checking = claim["what"] == "Refused with"
        found = _checked(fence, files) if checking else _linted(fence)
        said = [(name, int(line) if line else None) for name, line in _CODE.findall(fence.below.split(". ")[0])]
        shown = [(name, line if wanted[1] else None) for (name, line), wanted in zip(found, said, strict=False)]
        if len(found) != len(said) or shown != said:
            yield f"the page says {said}, found {found}"
    if claim is None or claim["what"] == "Lint:":
        errors = [item for item in _checked(fence, files) if item[0].startswith("P")]
        if errors and not runs:
            yield f"it has errors: {errors}"
    for block in runs:
        yield from _block_faults(fence, block, files)


def _block_faults(fence: Fence, block: Fence, files: dict[str, str]) -> Iterator[str]:
    data = YAML(typ="safe", pure=True).load(block.text) or {}
    if block.text.startswith("# shows"):
        described = describe(_pattern(fence))
        if not _holds(data, described):
            yield f"line {block.line}: `prose show --json` tells {json.dumps(described, ensure_ascii=False)}"
        return
    unknown = data.keys() - _RUN_KEYS
    if unknown or not data.keys() & {"gives", "fails", "status"}:
        yield f"line {block.line}: unknown keys {sorted(unknown)}, or neither gives, fails nor status"
        return
    expect = {key: data[key] for key in _EXPECTED if key in data}
    for key, name in (("gives", "value"), ("fails", "error")):
        if key in data:
            expect[name] = data[key]
    case = {key: data[key] for key in ("inputs", "texts", "script", "bind", "options") if key in data}
    config = data.get("config", {})
    case["declare"] = {
        "requires": data.get("requires", []),
        "config": [f"`{name}` (default: {json.dumps(value)}): a setting" for name, value in config.items()],
    }
    judge = data.get("options", {}).get("judge")
    case["slots"] = data.get("slots", [name for name in data.get("script", {}) if name != judge])
    for fault in _run(fence, {**case, "expect": expect}, files):
        yield f"line {block.line}: {fault}"


def _run(fence: Fence, data: dict[str, Any], files: dict[str, str]) -> Iterator[str]:
    text: dict[str, Any] = {"body": fence.text} if fence.kind == "prose" else {"file": whole_file(fence)}
    if fence.kind == "markdown":
        data = {key: value for key, value in data.items() if key not in ("slots", "declare")} | {
            "bind": {
                slot.name: slot.name for slot in _pattern(fence).entry.slots if slot.name in data.get("script", {})
            }
            | data.get("bind", {})
        }
        if files:
            text["beside"] = files
    yield from eval_faults(Case(fence.id, {"id": fence.line, "rule": "", **text, **data}))


def whole_file(fence: Fence) -> str:
    """The text of a file; what is only sections gets a head, and a body where none is there."""
    text = fence.text
    if text.startswith("---"):
        return text
    head = "---\nname: example\nkind: pattern\n---\n\n"
    has_body = "### Delegation" in text or "### Execution" in text
    return head + text + ("" if has_body else "\n### Delegation\n\n```prose\nreturn null\n```\n")


def _pattern(fence: Fence) -> Pattern:
    if fence.kind == "markdown":
        return Engine().loads(whole_file(fence), "example.prose.md")
    slots = "".join(f"- `{name}`\n" for name in dict.fromkeys(_CALLED.findall(fence.text))) or "- None.\n"
    head = f"---\nname: example\nkind: pattern\n---\n\n### Slots\n\n{slots}\n### Delegation\n\n"
    return Engine().loads(f"{head}```prose\n{fence.text}```\n", "example.prose.md")


def _first_line(fence: Fence, pattern: Pattern) -> int:
    if fence.kind == "markdown":
        return 1
    return pattern.document.source.text.splitlines().index("```prose") + 2


def _checked(fence: Fence, files: dict[str, str] | None = None) -> list[tuple[str, int | None]]:
    """The errors of a fence, by code and line. A file is looked at where its neighbours are."""
    if files and fence.kind == "markdown":
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                Path(folder, name).write_text(text, encoding="utf-8")
            path = Path(folder, fence.file or "example.prose.md")
            path.write_text(whole_file(fence), encoding="utf-8")
            engine = Engine()
            found = engine.check(engine.load(str(path)))
            return [(item.code or "", item.line) for item in found if item.code]
    pattern = _pattern(fence)
    first = _first_line(fence, pattern)
    found = pattern.engine.check(pattern)
    return [(item.code, item.line - first + 1 if item.line else None) for item in found if item.code]


def _linted(fence: Fence) -> list[tuple[str, int | None]]:
    pattern = _pattern(fence)
    first = _first_line(fence, pattern)
    found = lint(pattern.document, pattern.engine.environment(pattern.document)).findings
    # What a snippet leaves out for brevity is no finding of its page.
    made_up = {"undeclared-input", "unused-slot"} if fence.kind == "prose" else set()
    named = {name for name, _ in _CODE.findall(fence.below)}
    shown = [item.diagnostic for item in found if item.name not in made_up or item.name in named]
    return [(item.name, item.line - first + 1 if item.line else None) for item in shown]


def _holds(wanted: Any, found: Any) -> bool:
    """Whether what is wanted is part of what was found: the keys that are given, every item of a list."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and _holds(wanted[key], found[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(wanted) == len(found) and all(map(_holds, wanted, found))
    return bool(wanted == found) and isinstance(wanted, bool) == isinstance(found, bool)
