"""The public names of `prose_lang`, and that importing it is light."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import prose_lang

NAMES = [
    "Cassette",
    "CheckError",
    "CurrentCall",
    "Diagnostic",
    "Engine",
    "LimitError",
    "Limits",
    "ModelSettings",
    "Outcome",
    "Pattern",
    "Price",
    "ProseError",
    "Provider",
    "Quota",
    "Reply",
    "Request",
    "RunError",
    "Script",
    "ServiceError",
    "Source",
    "SourceError",
    "StoreError",
    "TextDelta",
    "WaitingError",
    "current_call",
    "load",
    "loads",
    "model_service",
    "read_script",
    "ref",
    "service",
]

#: What the import of the package must not load: a host program pays for what it uses.
HEAVY = {
    "litellm", "lark", "rich", "click", "cattrs", "ruamel", "markdown_it", "asyncio", "attr", "sqlite3", "psycopg",
    "temporalio",
}  # fmt: skip
#: What belongs to stores and engines that were not asked for.
ELSEWHERE = {"psycopg", "temporalio", "google", "litellm"}


def loaded_by(code: str) -> set[str]:
    """The top-level modules that are loaded in a new interpreter after some code."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(done.stdout.split())


def test_the_public_names() -> None:
    assert sorted(prose_lang.__all__) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there_and_says_what_it_is(name: str) -> None:
    thing = getattr(prose_lang, name)
    assert thing.__name__ == name
    # An inherited docstring says nothing about the thing itself.
    own = thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__
    assert own


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_listed_by_dir(name: str) -> None:
    assert name in dir(prose_lang)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'prose_lang' has no attribute 'lode'$"):
        prose_lang.lode  # noqa: B018


def test_a_star_import_gives_the_public_names() -> None:
    scope: dict[str, object] = {}
    exec("from prose_lang import *", scope)
    assert sorted(scope.keys() - {"__builtins__"}) == NAMES


def test_importing_the_package_loads_nothing_heavy() -> None:
    bare = loaded_by("")
    loaded = loaded_by("import prose_lang") - bare
    assert "prose_lang" in loaded
    assert loaded & HEAVY == set()


def test_loading_and_running_a_pattern_loads_no_model_client() -> None:
    loaded = loaded_by("import prose_lang; prose_lang.loads('return 1').run()")
    assert loaded & {"litellm", "lark", "rich", "click"} == set()


def test_the_help_of_the_program_loads_no_store_and_no_engine() -> None:
    for words in (["--help"], ["run", "--help"], ["worker", "--help"], ["runs", "--help"]):
        loaded = loaded_by(f"from prose_lang.cli.main import cli\ncli({words}, standalone_mode=False)")
        assert "click" in loaded
        assert loaded & (ELSEWHERE | {"sqlite3", "attr", "lark"}) == set(), words


def test_a_run_loads_only_the_store_that_it_has(tmp_path: Path) -> None:
    words = ["run", "refine", "refiner=plain", "evaluator=readability", "task_brief=Utilize it."]
    code = "from prose_lang.cli.main import cli\ncli({words}, standalone_mode=False)"
    without = loaded_by(code.format(words=[*words, "--no-record"]))
    assert without & (ELSEWHERE | {"sqlite3"}) == set()
    recorded = loaded_by(code.format(words=[*words, "--store", str(tmp_path)]))
    assert "sqlite3" in recorded
    assert recorded & ELSEWHERE == set()


def test_importing_and_running_warns_of_nothing() -> None:
    code = "import prose_lang; prose_lang.loads('return 1').run(); prose_lang.StoreError; prose_lang.current_call()"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
