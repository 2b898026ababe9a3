"""Examples in docstrings and in the README run and print what they say."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
from pathlib import Path

import pytest

import prose_lang

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(prose_lang.__path__, "prose_lang.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", ["prose_lang", *MODULES])
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(name)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.testmod(module, optionflags=options)
    assert not failed


def test_readme_python_blocks_print_what_their_comments_say() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    code = "\n".join(blocks)
    wanted = re.findall(r"^print\(.*\)\s*# (.*)$", code, re.MULTILINE)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert printed.getvalue().splitlines() == wanted
    assert len(wanted) == 3


def test_readme_commands_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test"):
        assert f"make {target}\n" in text
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
