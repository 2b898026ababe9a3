"""Secrets are in no record: what holds one is written without it, in every spelling, wherever it came from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prose_lang.cli.main import cli

#: With what JSON, URLs and lines would each write in another way.
SECRET = "sk-marker-0123+abc/def=é"
FORMS = (SECRET, json.dumps(SECRET)[1:-1], json.dumps(SECRET, ensure_ascii=False)[1:-1], "sk-marker", "0123+abc")

PATTERN = f"""\
---
name: leak
kind: pattern
---

### Slots

- `worker`: does it
- `other`: does it too

### Requires

- `key`: string -- given
- `big`: string -- long

### Delegation

```prose
# {SECRET}
let a = call worker
  key: key
  text: "{SECRET}"
try:
  call other
    key: key
catch:
  call worker
    key: "other"
try:
  call broken
    key: key
catch as e:
  call worker
    key: e.message
if key is fine because of {SECRET}:
  call worker
    key: "1"
let c = call worker
  key: "x"
  missing: a.nothing
parallel ("any"):
  let x = call worker
    key: key
  let y = call worker
    key: big
return {{ a: a, key: key, big: big }}
```
"""


@pytest.fixture
def leak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("leak.prose.md").write_text(PATTERN, encoding="utf-8")
    script = {
        "worker": {"always": {"returns": {"said": f"the key is {SECRET}", "long": "x" * 70_000}}},
        "broken": {"always": {"raises": f"{SECRET} was refused"}},
        "judge": [{"holds": True, "reason": f"{SECRET} is fine"}],
    }
    Path("script.yaml").write_text(json.dumps(script), encoding="utf-8")
    Path("inputs.json").write_text(json.dumps({"key": SECRET, "big": SECRET * 5_000}), encoding="utf-8")
    return tmp_path


def run(*args: str, **environ: str) -> Result:
    return CliRunner().invoke(cli, args, env={"OPENAI_API_KEY": SECRET, "PROSE_STORE": None, **environ})


def held(folder: Path) -> list[str]:
    """The files of a folder in which a form of the secret stands, and the form."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.name == "runs.sqlite" for path in files)
    return [f"{path.name}: {form}" for path in files for form in FORMS if form.encode() in path.read_bytes()]


def test_no_secret_is_in_a_store(leak: Path) -> None:
    args = ("leak.prose.md", "worker=worker", f"other=cmd:echo {SECRET}", f"--judge=cmd:./judge.sh {SECRET}")
    Path("judge.sh").write_text('#!/bin/sh\necho \'{"holds": true, "reason": "\'$1\' is fine"}\'\n')
    Path("judge.sh").chmod(0o755)
    result = run("run", *args, "--script=script.yaml", "--inputs=inputs.json", "--store=store", "--json")
    outcome = json.loads(result.stdout)
    assert (result.exit_code, outcome["status"]) == (0, "ok"), result.output
    assert len(outcome["calls"]) >= 6
    assert held(leak / "store") == []
    for words in (("trace", "--full"), ("trace", "--json"), ("runs", "--json")):
        shown = run(*words, "--store=store")
        assert shown.exit_code == 0
        assert not any(form in shown.output for form in FORMS)


def test_what_is_not_secret_is_kept(leak: Path) -> None:
    """The proof that the search above would find something."""
    args = ("leak.prose.md", "worker=worker", "other=worker", "--judge=judge", "--script=script.yaml")
    assert run("run", *args, "--inputs=inputs.json", "--store=store", "-q", OPENAI_API_KEY="").exit_code == 0
    assert {line.partition(": ")[0] for line in held(leak / "store")} >= {"runs.sqlite-wal"}


def test_a_result_that_held_a_secret_is_told_as_such(leak: Path) -> None:
    args = ("leak.prose.md", "worker=worker", "other=worker", "--judge=judge", "--script=script.yaml")
    run("run", *args, "--inputs=inputs.json", "--store=store", "-q")
    assert "worker  answered with a secret, which is not kept" in run("trace", "--store=store").stdout
