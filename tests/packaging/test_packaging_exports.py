"""The public names of `prose_lang`, and that importing it is light."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import prose_lang

NAMES = [
    "Cassette",
    "CheckError",
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
    "TextDelta",
    "WaitingError",
    "load",
    "loads",
    "model_service",
    "read_script",
    "ref",
    "service",
]

#: What the import of the package must not load: a host program pays for what it uses.
HEAVY = {"litellm", "lark", "rich", "click", "cattrs", "ruamel", "markdown_it", "asyncio", "attr"}


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
