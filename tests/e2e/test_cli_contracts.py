"""Functions, services and systems on the command line: what they call, and what is said where they cannot run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from prose_lang.cli.main import cli

MAIN = """\
---
name: everything
kind: function
---

# Everything

### Parameters

- `topic`: string -- what it is about

### Services

- `given`: a host function
- `example.org/acme/tools/shout`

```yaml
- name: twice
  pattern: repeater
  with: {worker: contract}
  config: {times: 2}
```

### Patterns

```yaml
- name: deep
  pattern: pair
  with:
    left:
      pattern: pair
      with:
        left:
          pattern: chain
          with:
            steps:
              - contract
              - pattern: repeater
                with: {worker: given}
                config: {times: 1}
              - beside
        right: beside
    right: in-src
- name: improved
  pattern: std/patterns/refine
  with: {refiner: given, evaluator: judge-it}
  config: {max_rounds: 1}
- name: improved-too
  pattern: stdlib:refine
  with: {refiner: given, evaluator: judge-it}
  config: {max_rounds: 1}
```

### Returns

- `all`: object -- all of it

### Execution

```prose
use "example.org/acme/tools/shout" as yell
use "in-src" as from-src
let inline = call with-body
  n: 3
let stood-in = call contract
  text: topic
let file = call beside
  text: topic
let pattern = call twice
  text: topic
let nested = call deep
  text: topic
let host = call given
  text: topic
let installed = call yell
  text: topic
let folder = call "example.org/acme/tools/sub"
  text: topic
let src = call from-src
  text: topic
let library = call improved
  task_brief: topic
let same = call improved-too
  task_brief: topic
return { inline, stood-in, file, pattern, nested, host, installed, folder, src, library: library.result,
         same: same.result == library.result }
```

## Notes

Documentation.

## with-body

### Parameters

- `n`: integer

### Returns

- `twice`: number

### Execution

```prose
return { twice: n * 2 }
```

## contract

### Parameters

- `text`: string

### Returns

- `text`: string

## judge-it

## Notes

More of it.
"""

FUNCTION = """\
---
name: {name}
kind: {kind}
---

### Requires

- `text`: string

### Ensures

- `text`: string

### Execution

```prose
return "{name}({{text}})"
```
"""

PATTERN = """\
---
name: {name}
kind: pattern
---

### Slots

{slots}

### Config

- `times` (integer, default: 5, min: 1): how often

### Requires

- `text`: string
- `steps`: string[] (optional)

### Delegation

```prose
{body}
```
"""

SERVICES = """\
import prose_lang as prose

@prose.service
def given(text: str = "", task_brief: str = "", **rest) -> str:
    return f"given({text or task_brief})"

@prose.service(name="contract")
def stands_in(text):
    return {"text": f"contract({text})"}

@prose.service(name="judge-it")
def judged(**all):
    return {"score": 1, "suggestions": ""}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a source folder and installed dependencies."""
    tools = tmp_path / "deps" / "example.org" / "acme" / "tools"
    for folder in (tmp_path / "src", tools / "sub"):
        folder.mkdir(parents=True)
    chain = "let out = []\nfor step in steps:\n  let v = call step\n    text: text\n  record v in out\nreturn out"
    files = {
        "main.prose.md": MAIN,
        "beside.prose.md": FUNCTION.format(name="beside", kind="program"),
        "src/in-src.prose.md": FUNCTION.format(name="in-src", kind="service"),
        "deps/example.org/acme/tools/shout.prose.md": FUNCTION.format(name="shout", kind="component"),
        "deps/example.org/acme/tools/sub/index.prose.md": FUNCTION.format(name="sub", kind="function"),
        "repeater.prose.md": PATTERN.format(
            name="repeater", slots="- `worker`",
            body='return repeat times as i:\n  call worker\n    text: "{text}{i}"',
        ),
        "pair.prose.md": PATTERN.format(
            name="pair", slots="- `left`\n- `right`",
            body="parallel:\n  let l = call left\n    text: text\n  let r = call right\n    text: text\n"
                 "return [l, r, left, right]",
        ),
        "chain.prose.md": PATTERN.format(name="chain", slots="- `steps`", body=chain),
        "mine.py": SERVICES,
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "prose.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def prose(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def ran(*arguments: str) -> Any:
    result = prose("run", *arguments, "--json")
    outcome = json.loads(result.stdout)
    assert outcome["error"] is None, outcome["error"]
    return outcome


def refused(*arguments: str) -> tuple[int, str, str | None]:
    """The exit status, the message and the hint of a run that does not start."""
    result = prose("run", *arguments, "--json")
    outcome = json.loads(result.stdout)
    assert outcome["status"] == "invalid"
    return result.exit_code, f"{outcome['error']['code']}: {outcome['error']['message']}", outcome["error"]["hint"]


def test_a_function_calls_everything_that_can_be_called(project: Path) -> None:
    outcome = ran("main.prose.md", "topic=moss", "--services", "mine.py")
    assert outcome["value"] == {
        "inline": 6,
        "stood-in": "contract(moss)",
        "file": "beside(moss)",
        "pattern": ["contract(moss1)", "contract(moss2)"],
        "nested": [
            [["contract(moss)", ["given(moss1)"], "beside(moss)"], "beside(moss)", "deep.left.left", "beside"],
            "in-src(moss)",
            "deep.left",
            "in-src",
        ],
        "host": "given(moss)",
        "installed": "shout(moss)",
        "folder": "sub(moss)",
        "src": "in-src(moss)",
        "library": "given(moss)",
        "same": True,
    }
    assert outcome["warnings"] == []
    assert outcome["calls"][3]["address"] == (
        "execution/6.call:deep/delegation/0.parallel[0]/0.call:left/delegation/0.parallel[0]/0.call:left"
        "/delegation/1.for[0]/0.call:step"
    )


def test_it_checks_silently_with_its_services_and_says_what_is_missing_without(project: Path) -> None:
    assert prose("check", "main.prose.md", "--services", "mine.py").stdout == "1 file checked, no problems\n"
    result = prose("check", "main.prose.md")
    assert result.exit_code == 2
    assert re.findall(r"^error\[\w+\] [\w-]+: (.+)$", result.stdout, re.MULTILINE) == [
        "the instance `deep.left.left.steps[1]` binds `worker` to `given`, which is not found",
        "the instance `improved` binds `refiner` to `given`, which is not found",
        "the instance `improved-too` binds `refiner` to `given`, which is not found",
        "Services lists `given`, and nothing provides it",
    ]
    assert result.stdout.count("give such a service (--services, --script)") == 4


def test_an_entry_of_a_file_runs_by_itself(project: Path) -> None:
    assert ran("main.prose.md#with-body", "n=4", "--services", "mine.py")["value"] == 8
    assert refused("main.prose.md#Notes", "--services", "mine.py")[1].startswith("P410: `Notes` has no body")


def test_a_dependency_that_is_not_installed(project: Path) -> None:
    (project / "deps/example.org/acme/tools/shout.prose.md").unlink()
    report = prose("check", "main.prose.md", "--services", "mine.py").stdout
    assert "error[P109] reference-not-found: `example.org/acme/tools/shout` does not resolve" in report
    hint = (
        "= help: install it as `deps/example.org/acme/tools/shout.prose.md` or "
        "`deps/example.org/acme/tools/shout/index.prose.md`; nothing is fetched"
    )
    assert report.count(hint) == 2  # where it is used, and where Services lists it


def test_a_dependency_sees_only_itself(project: Path) -> None:
    dependency = project / "deps/example.org/acme/tools/sub/index.prose.md"
    dependency.write_text(dependency.read_text().replace('return "', 'let x = call "in-src"\nreturn "'))
    report = prose("check", "main.prose.md", "--services", "mine.py").stdout
    assert "`in-src` does not resolve" in report
    dependency.write_text(dependency.read_text().replace('"in-src"', '"../../../../../src/in-src"'))
    report = prose("check", "main.prose.md", "--services", "mine.py").stdout
    assert "leads outside of the folder" in report


CONTRACT = """\
---
name: summary
kind: service
---

### Requires

- `text`: string -- what to read
- `words`: integer -- (optional, default 50, max: 100) how long

### Ensures

- `summary`: string -- what it says
"""


def test_a_contract_runs_on_the_service_that_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.prose.md").write_text(CONTRACT)
    (tmp_path / "s.yaml").write_text("summary: [{summary: short}]")
    (tmp_path / "mine.py").write_text("def summary(text, words):\n    return f'{words} of {text}'\n"
                                      "import prose_lang\nsummary = prose_lang.service(summary)\n")  # fmt: skip
    outcome = ran("a.prose.md", "text=long", "--script", "s.yaml")
    assert outcome["value"] == "short"
    assert outcome["calls"][0]["inputs"] == {"text": "long", "words": 50}
    assert outcome["calls"][0]["address"] == "contract.call:summary"
    assert ran("a.prose.md", "text=long", "words=7", "--services", "mine.py")["value"] == "7 of long"
    assert refused("a.prose.md", "words=700", "--script", "s.yaml")[1] == "P203: the input `text` is missing"
    (tmp_path / "s.yaml").write_text("summary: [{raises: {name: too-long, message: no}}]")
    failed = json.loads(prose("run", "a.prose.md", "text=x", "--script", "s.yaml", "--json").stdout)
    assert (failed["status"], failed["error"]["name"], failed["error"]["service"]) == ("failed", "too-long", "summary")


@pytest.mark.parametrize(
    ("extra", "message", "hint"),
    [
        ("", "`summary` has no body: it is work for a model, and no model is configured",
         "give a model (--model PROVIDER/MODEL), or a service named `summary` (--services, --script)"),
        ("### Services\n\n- `reader`\n\n## reader\n",
         "`summary` has no `### Execution`: running it is work for a model, and no model is configured",
         "write an `### Execution` block that calls reader, or give a model (--model PROVIDER/MODEL), "
         "or a service named `summary` (--services, --script)"),
        ("### Services\n\n- `reader`\n\n### Wiring\n\nreader:\n  returns to caller\n\n## reader\n",
         "`summary` has no `### Execution`: running it is work for a model, and no model is configured",
         "its Wiring is kept and not run: write an `### Execution` block that makes these calls, "
         "or give a model (--model PROVIDER/MODEL), or a service named `summary` (--services, --script)"),
    ],
)  # fmt: skip
def test_what_a_contract_without_a_model_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: str, message: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.prose.md").write_text(f"{CONTRACT}\n{extra}")
    assert prose("check", "a.prose.md").stdout == "1 file checked, no problems\n"
    assert refused("a.prose.md", "text=x") == (2, f"P410: {message}", hint)


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("test", "prose test a.prose.md"),
        ("responsibility",
         "`prose check` and `prose show` work on it; run what does one pass of its work: a function or a pattern"),
    ],
)  # fmt: skip
def test_kinds_that_are_not_run_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.prose.md").write_text(CONTRACT.replace("kind: service", f"kind: {kind}"))
    code, message, said = refused("a.prose.md")
    assert (code, message[:4], said) == (2, "P104", hint)
