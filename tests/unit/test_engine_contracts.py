"""Contracts through the API: what instances inherit is traced, files in slots, what stands in for contracts (L6–L8)."""

from __future__ import annotations

from pathlib import Path

import pytest

import prose_lang as prose
from prose_lang.runtime.events import Event, Noted

OUTER = """\
---
name: outer
kind: function
---

### Parameters

- `topic`: what
- `tone`: what

### Services

```yaml
- name: inner
  pattern: reads
  with: {worker: writer}
```

### Execution

```prose
let a = call inner
let b = call inner
  topic: "bound"
  tone: null
return [a, b]
```

## writer

## reads

### Slots

- `worker`: does it

### Config

- `tone` (string, default: dry): how

### Requires

- `topic`: string

### Delegation

```prose
return [topic, tone]
```
"""

CONTRACT = """\
---
name: reader
kind: function
---

### Requires

- `text`: string
- `depth`: integer -- (optional, default 2)

### Returns

- `summary`: string
"""

PATTERN = """\
---
name: uses
kind: pattern
---

### Slots

- `worker`: does it

### Delegation

```prose
return call worker
  text: "x"
```
"""


def test_what_is_inherited_is_traced() -> None:
    events: list[Event] = []
    engine = prose.Engine(observers=[events.append])
    outcome = engine.run(engine.loads(OUTER), {"topic": "moss", "tone": "warm"})
    assert outcome.value == [["moss", "warm"], ["bound", None]]
    noted = [event for event in events if isinstance(event, Noted)]
    assert [(event.what, event.detail) for event in noted] == [("inherited", "tone"), ("inherited", "topic")]


def test_a_file_without_a_body_in_a_slot(tmp_path: Path) -> None:
    (tmp_path / "reader.prose.md").write_text(CONTRACT)
    (tmp_path / "uses.prose.md").write_text(PATTERN)
    path = str(tmp_path / "reader.prose.md")
    plain = prose.Engine()
    with pytest.raises(prose.ProseError) as caught:
        plain.run(plain.load(tmp_path / "uses.prose.md"), {"worker": prose.ref(path)})
    assert (caught.value.code, caught.value.outcome.status) == ("P410", "failed")
    engine = prose.Engine(services={"reader": lambda text: {"summary": f"of {text}", "more": 1}})
    outcome = engine.run(engine.load(tmp_path / "uses.prose.md"), {"worker": prose.ref(path)})
    assert outcome.value == "of x"  # the contract holds for what stands in
    assert engine.run(engine.load(tmp_path / "uses.prose.md"), {"worker": engine.load(path)}).value == "of x"


def test_a_contract_is_run_on_its_stand_in_again_and_again(tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []

    def reader(text: str, depth: int) -> str:
        seen.append((text, depth))
        return text.upper()

    engine = prose.Engine(services=[prose.service(reader)])
    contract = engine.loads(CONTRACT)
    assert [contract.run(text=text).value for text in ("a", "b")] == ["A", "B"]
    assert contract.run(text="c", depth=5).value == "C"
    assert contract.run(text="d", depth=None).value == "D"
    assert seen == [("a", 2), ("b", 2), ("c", 5), ("d", None)]
    with pytest.raises(prose.ProseError) as caught:
        contract.run(depth="deep")
    assert [item.code for item in caught.value.diagnostics] == ["P203", "P211"]


@pytest.mark.parametrize(
    ("text", "code"), [("", "P106"), (CONTRACT + "\n### Config\n\n- `n` (integer, default: many)\n", "P211")]
)
def test_a_broken_file_in_a_slot(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "reader.prose.md").write_text(text)
    engine = prose.Engine(services={"reader": lambda text: text})
    with pytest.raises(prose.ProseError) as caught:
        engine.run(engine.loads(PATTERN), {"worker": prose.ref(str(tmp_path / "reader.prose.md"))})
    assert (caught.value.code, caught.value.outcome.status) == (code, "invalid")
