"""Whole files, damaged: always a code and a place or a result, never a traceback and never a hang."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from programs import write_program
from scale import FUZZ

import prose_lang as prose
from prose_lang import resources
from prose_lang.diagnostics.codes import CODES

ROOT = Path(__file__).parents[2]
DAMAGE = (
    "cut drop insert nul latin-1 utf-16 byte swap repeat tabs brackets yaml line nesting section front breaks".split()
)
#: What opens something that is never closed, or nests for ever.
OPENERS = [b"```", b"### ", b'"""', b"{", b"**", b"\n  ", b": ", b"---\n", b"~~~", b"<div>\n", b"`", b"- `x`: ", b"## "]
NESTS = [b"> ", b"- ", b"1. ", b"> - ", b"  ", b"#", b"`"]
SECTIONS = [
    b"\n### Slots\n\n- `refiner`\n",
    b"\n### Config\n\n- `max_rounds` (integer, default: x, min: 9, max: 1)\n- `n` (number, default: 1e999)\n",
    b"\n### Delegation\n\n```prose\nreturn 1\n```\n",
    b"\n### Execution\n\n```prose\n",
    b"\n## refiner\n\n### Returns\n\n- `a`: b\n",
    b"\n### Services\n\n```yaml\n- name: a\n  pattern: ../../elsewhere\n  with: {refiner: a}\n```\n",
    b"\n### Patterns\n\n```yaml\n- &a {name: b, pattern: refine, with: *a}\n- ? [k]\n```\n",
]
FRONTS = [b"kind: [\n", b"kind: test\n", b"kind: gateway\n", b"name: 3\n", b"name: &a *a\n", b"kind: !!python/x y\n"]


def originals() -> list[str]:
    library = [path.read_text(encoding="utf-8") for path in sorted(resources.library_folder().glob("*.prose.md"))]
    return [*library, *(write_program(seed, 8) for seed in range(6))]


def damaged(text: str, rng: random.Random) -> bytes:
    """A file with one to three kinds of damage."""
    data = text.encode()
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data) + 1)
        match rng.choice(DAMAGE):
            case "cut":
                data = data[:at]
            case "drop":
                data = data[:at] + data[at + rng.randint(1, 40) :]
            case "insert":
                data = data[:at] + rng.choice(OPENERS) + data[at:]
            case "nul":
                data = data[:at] + b"\0" + data[at:]
            case "latin-1":
                data = data[:at] + "é".encode("latin-1") + data[at:]
            case "utf-16":
                data = data.decode("utf-8", "replace").encode("utf-16")
            case "byte":
                data = data[:at] + bytes([rng.randrange(256)]) + data[at:]
            case "swap":
                data = data[at:] + data[:at]
            case "repeat":
                data = data[:at] + data[max(0, at - 200) : at] * rng.randint(1, 20) + data[at:]
            case "tabs":
                data = data.replace(b"  ", b"\t", rng.randint(1, 5))
            case "brackets":
                data = data[:at] + b"[" * rng.choice([3, 10_000]) + data[at:]
            case "line":
                data = data[:at] + rng.choice([b"x", b"- ", b"{a} ", b"` ", b'"']) * 6_000 + data[at:]
            case "nesting":
                lines = data.split(b"\n")
                line = rng.randrange(len(lines))
                lines[line] = rng.choice(NESTS) * rng.choice([1, 20, 3_000]) + lines[line]
                data = b"\n".join(lines)
            case "section":
                data = (
                    data.replace(b"\n\n", rng.choice(SECTIONS), 1)
                    if rng.random() < 0.2
                    else data + rng.choice(SECTIONS)
                )
            case "front":
                data = data.replace(b"kind: ", rng.choice(FRONTS) + b"kind: ", 1)
            case "breaks":
                data = data.replace(
                    b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\n> ", b"\xe2\x80\xa8"]), rng.choice([1, 9, -1])
                )
            case _:
                data = data[:at] + b"\n```yaml\n- name: [x\n  with: {a: *b}\n```\n" + data[at:]
    return data


def files(folder: Path, count: int) -> list[Path]:
    rng = random.Random(7)
    texts = originals()
    made = []
    for number in range(count):
        path = folder / f"f{number}.prose.md"
        path.write_bytes(damaged(rng.choice(texts), rng))
        made.append(path)
    return made


def test_every_damaged_file_has_a_code_or_a_result(tmp_path: Path) -> None:
    engine = prose.Engine(services={"a": lambda: 1}, limits=prose.Limits(calls=50))
    found: set[str] = set()
    for path in files(tmp_path, 500 * FUZZ):
        try:
            pattern = engine.load(path)
        except prose.ProseError as error:
            found.add(error.code)
            continue
        for diagnostic in engine.check(pattern):
            assert diagnostic.code is None or diagnostic.code in CODES
        given: dict[str, Any] = {item.name: "1" for item in pattern.entry.inputs}
        given.update({slot.name: ["a"] if slot.many else "a" for slot in pattern.entry.slots})
        outcome = engine.outcome(pattern, given)
        if outcome.error is not None:
            assert outcome.error.code in CODES
            assert outcome.error.span is not None, outcome.error
            assert outcome.error.render()
            found.add(outcome.error.code)
            json.dumps(outcome.as_json())
    assert found <= CODES.keys()
    assert len(found) >= 6, f"the damage is of too few kinds: {sorted(found)}"


@pytest.mark.parametrize("number", range(15))
def test_the_command_line_says_so_too(tmp_path: Path, number: int) -> None:
    path = files(tmp_path, 15)[number]
    command = [sys.executable, "-m", "prose_lang", "run", str(path), "--json", "refiner=plain", "evaluator=readability"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    plain = json.loads(done.stdout)
    assert (plain["error"] is None) == (done.returncode == 0)
    if plain["error"] is not None:
        assert plain["error"]["code"] is None or plain["error"]["code"] in CODES
