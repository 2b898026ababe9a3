"""The distributions: what is in them, what the metadata says, and that the wheel works where the checkout is not."""

from __future__ import annotations

import json
import subprocess
import tarfile
import tomllib
from collections.abc import Callable
from email.message import Message
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.packaging

Content = dict[str, bytes]
ReadWheel = Callable[[Path], Content]
Run = Callable[..., subprocess.CompletedProcess[str]]

PATTERN = """\
---
name: greeting
kind: pattern
---

# Greeting

### Slots

- `writer`

### Requires

- Pattern instance receives:
    topic: string

### Delegation

```prose
let text = call writer
  topic: topic

return {
  text: text,
  topic: topic
}
```
"""

SCENARIOS = """\
---
name: greeting-test
kind: test
subject: greeting
---

### Fixtures

- `topic`: tea

### Services

```yaml
writer: [Good morning]
```

## greets

### Expects

- `text`: contains `morning`

## fails

### Expects

- `text`: contains `evening`
"""

TEST = """\
def test_it(prose):
    outcome = prose.run("greeting", script={"writer": ["Good morning"]}, topic="tea")
    assert outcome.value == {"text": "Good morning", "topic": "tea"}
    assert prose.calls("writer") == [{"topic": "tea"}]
"""


@pytest.fixture(scope="session")
def content(wheel: Path, read_wheel: ReadWheel) -> Content:
    return read_wheel(wheel)


@pytest.fixture(scope="session")
def project(root: Path) -> dict[str, Any]:
    declared: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return declared


@pytest.fixture(scope="session")
def info(project: dict[str, Any]) -> str:
    return f"openprose_lang-{project['version']}.dist-info"


@pytest.fixture(scope="session")
def metadata(content: Content, info: str) -> Message:
    return BytesParser().parsebytes(content[f"{info}/METADATA"])


def shown(requirement: Requirement) -> tuple[str, str]:
    return canonicalize_name(requirement.name), str(requirement.specifier)


def test_the_wheel_is_the_package_and_nothing_else(content: Content, info: str) -> None:
    assert {name.split("/")[0] for name in content} == {"prose_lang", info}


def test_the_wheel_holds_every_file_of_the_package(content: Content, root: Path) -> None:
    paths = (path for path in (root / "prose_lang").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    packed = {name: text for name, text in content.items() if name.startswith("prose_lang/") and "/_data/" not in name}
    assert packed == files
    assert "prose_lang/py.typed" in files


@pytest.mark.parametrize(
    ("folder", "some"),
    [
        ("grammar", {"grammar/prose.lark", "grammar/prose.table.json"}),
        ("stdlib_patterns", {"stdlib_patterns/refine.prose.md", "stdlib_patterns/ensemble-synthesizer.prose.md"}),
    ],
)
def test_the_wheel_holds_the_data_of_the_checkout(content: Content, root: Path, folder: str, some: set[str]) -> None:
    paths = (path for path in (root / folder).rglob("*") if path.is_file())
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    data = "prose_lang/_data/"
    packed = {name.removeprefix(data): text for name, text in content.items() if name.startswith(f"{data}{folder}/")}
    assert packed == files
    assert some <= packed.keys()


def test_the_sdist_builds_the_same_wheel(sdist: Path, content: Content, read_wheel: ReadWheel) -> None:
    (built,) = sdist.parent.glob("*.whl")
    assert read_wheel(built) == content


def test_the_sdist_holds_what_the_commands_of_the_readme_need(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "README.md", "LICENSE", "pyproject.toml", "examples/memo.txt"} <= names
    assert {"requirements/runtime.txt", "requirements/build.txt", "requirements/dev.txt"} <= names
    assert "tests/packaging/test_packaging_wheel.py" in names
    assert [name for name in names if name.startswith((".venv", ".ci", "bench/"))] == []


def test_the_metadata(metadata: Message, project: dict[str, Any]) -> None:
    assert metadata["Name"] == "openprose-lang"
    assert metadata["Version"] == project["version"]
    assert metadata["License-Expression"] == "MIT"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
    needed = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
    always = [one for one in needed if one.marker is None or "extra" not in str(one.marker)]
    assert sorted(map(shown, always)) == sorted(shown(Requirement(line)) for line in project["dependencies"])
    extras = {
        name: [Requirement(line).name for line in lines] for name, lines in project["optional-dependencies"].items()
    }
    assert sorted(metadata.get_all("Provides-Extra", [])) == sorted(extras)
    assert sorted(one.name for one in needed if one not in always) == sorted(
        name for names in extras.values() for name in names
    )


def test_the_only_program_is_prose_and_pytest_finds_the_plugin(content: Content, info: str) -> None:
    entry_points = content[f"{info}/entry_points.txt"].decode()
    programs, plugins = entry_points.strip().split("\n\n")
    assert programs.splitlines() == ["[console_scripts]", "prose = prose_lang.cli.main:main"]
    assert plugins.splitlines() == ["[pytest11]", "prose = prose_lang.testing.plugin"]


def test_what_runs_is_the_wheel(programs: Path, run: Run, tmp_path: Path) -> None:
    code = "import prose_lang.resources as r; print(r.__file__, r.grammar_folder(), r.library_folder(), sep='\\n')"
    places = run(programs / "python", "-c", code, cwd=tmp_path).stdout.splitlines()
    assert [Path(place).is_relative_to(programs.parent) for place in places] == [True, True, True]


def test_prose_says_its_version(programs: Path, run: Run, tmp_path: Path, project: dict[str, Any]) -> None:
    assert run(programs / "prose", "--version", cwd=tmp_path).stdout == f"prose {project['version']}\n"


def test_prose_runs_as_a_module(programs: Path, run: Run, tmp_path: Path, project: dict[str, Any]) -> None:
    done = run(programs / "python", "-m", "prose_lang", "--version", cwd=tmp_path)
    assert done.stdout == f"prose {project['version']}\n"


def test_prose_lists_the_library(programs: Path, run: Run, tmp_path: Path) -> None:
    names = [line.split()[0] for line in run(programs / "prose", "list", cwd=tmp_path).stdout.splitlines() if line]
    assert {"refine", "ensemble-synthesizer"} <= set(names)


def test_prose_explains_a_code(programs: Path, run: Run, tmp_path: Path) -> None:
    assert "unknown-name" in run(programs / "prose", "explain", "P201", cwd=tmp_path).stdout


def test_prose_runs_a_scripted_pattern(programs: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "greeting.prose.md").write_text(PATTERN, encoding="utf-8")
    (tmp_path / "script.yaml").write_text("writer: [Good morning]\n", encoding="utf-8")
    words = ["greeting.prose.md", "writer=writer", "topic=tea", "--script", "script.yaml", "--no-record", "--json"]
    told = json.loads(run(programs / "prose", "run", *words, cwd=tmp_path).stdout)
    assert told["status"] == "ok"
    assert told["value"] == {"text": "Good morning", "topic": "tea"}
    assert told["error"] is None
    assert [(call["service"], call["inputs"], call["value"]) for call in told["calls"]] == [
        ("writer", {"topic": "tea"}, "Good morning")
    ]


def test_prose_runs_a_library_pattern_with_the_offline_services(programs: Path, run: Run, tmp_path: Path) -> None:
    words = ["refine", "refiner=plain", "evaluator=readability", "task_brief=We made use of it in order to apply."]
    told = json.loads(run(programs / "prose", "run", *words, "--no-record", "--json", cwd=tmp_path).stdout)
    assert told["status"] == "ok"
    assert told["value"]["result"] == "We used it to apply."


def test_pytest_collects_test_files_and_has_the_fixture(programs: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "greeting.prose.md").write_text(PATTERN, encoding="utf-8")
    (tmp_path / "greeting.test.prose.md").write_text(SCENARIOS, encoding="utf-8")
    (tmp_path / "test_greeting.py").write_text(TEST, encoding="utf-8")
    words = ["-m", "pytest", "-p", "no:cacheprovider", "-v", "-rN", "--no-header"]
    done = run(programs / "python", *words, cwd=tmp_path, status=1)
    lines = [line.split("  ")[0] for line in done.stdout.splitlines() if "::" in line]
    assert [line.split(" [")[0].rstrip() for line in lines] == [
        "greeting.test.prose.md::greets PASSED",
        "greeting.test.prose.md::fails FAILED",
        "test_greeting.py::test_it PASSED",
    ]
    assert done.stderr == ""
    place = "import prose_lang.testing.plugin as p; print(p.__file__)"
    assert Path(run(programs / "python", "-c", place, cwd=tmp_path).stdout.strip()).is_relative_to(programs.parent)


def test_a_fault_gives_its_code_and_no_traceback(programs: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.prose.md").write_text(PATTERN.replace("let text = call", "let = call"), encoding="utf-8")
    done = run(programs / "prose", "check", "broken.prose.md", cwd=tmp_path, status=2)
    assert "P101" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
