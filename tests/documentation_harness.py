"""Reads the pages of `docs/`, runs every example in them, and says what is wrong with each.

What a page may hold, and what is done with it (the readers' version of this stands in docs/language/README.md):

    ```prose          the body of a pattern. The paragraph below it may claim what comes of it; without a claim it must
                      be free of errors when every name it calls is a slot.
                        Gives `JSON`.                         its value, without any service
                        Fails with `P304` at line 2.          the error that ends the run
                        Refused with `P201` at line 3.        everything that `prose check` says, in order
                        Lint: `re-let` at line 3.             everything that `prose lint` says, in order
    ````markdown      a whole file, or sections of one (then the rest is made up); the same claims
    ```yaml           what begins with `# run` runs the example above it, and says with which services and inputs and
                      what comes of it: the keys of tests/corpus/README.md, and `gives`, `fails`, `line` for `expect`;
                      what begins with `# shows` is what `prose show --json` tells of the example above it, in part;
                      anything else must be YAML
    ```console        commands after `$ `, run by bash in a folder of the page's own, with all they print; `…` stands
                      for any part of a line, alone on a line for any lines. Only a command that `$ echo $?` follows
                      may fail
    ```python         run in the same folder; what it prints stands behind `print(…)` after `# `, or in lines `#> …`;
                      one that begins with `>>> ` is a doctest by itself
    ```json, toml     must be such
    ```ebnf           a grammar (documentation_grammar.py)

Under a line that is a file's name, as in "`greet.prose.md`:", a fence is that file: it is written to the page's folder,
in the order of the page. A fence of another kind is a fault: no example is left unchecked.
"""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import attrs
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

#: Kinds of fences that are checked as what they are. Others have to be files.
KINDS = frozenset("prose markdown yaml console python json toml ebnf".split())

_FENCE = re.compile(r"(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_FILE_NAME = re.compile(r"`([\w./-]+)`:")
_CLAIM = re.compile(
    r"(?P<what>Gives|Fails with|Refused with|Lint:) (?P<ticks>`+)(?P<said>.+?)(?P=ticks)(?P<rest>[^.]*)"
)
_LIKE_A_CLAIM = re.compile(r"(?:Gives?|Fails?|Refused?|Lints?)\b")


@attrs.frozen
class Fence:
    """A fenced block: its first word, its text, the line of its first mark, the file it is, and the text around it."""

    page: Path
    line: int
    kind: str
    text: str
    file: str | None
    below: str

    @property
    def id(self) -> str:
        page = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page.name
        return f"{page}:{self.line}"

    @property
    def claim(self) -> re.Match[str] | None:
        """What the paragraph below says of it."""
        return _CLAIM.match(self.below)


def pages() -> list[Path]:
    """The pages of the documentation that are written by hand."""
    return sorted(path for path in DOCS.rglob("*.md") if path.name != "diagnostics.md")


def fences(page: Path) -> list[Fence]:
    """The fences of a page; one that is indented or never closed is a mistake of the page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found: list[Fence] = []
    at = 0
    while at < len(lines):
        match = _FENCE.match(lines[at])
        if match is None:
            assert "```" not in lines[at], f"{page}:{at + 1}: a fence begins at the start of its line"
            at += 1
            continue
        end = next((n for n in range(at + 1, len(lines)) if lines[n] == match["marks"]), None)
        assert end is not None, f"{page}:{at + 1}: the fence is never closed"
        above = next((line for line in reversed(lines[:at]) if line.strip()), "")
        file = _FILE_NAME.fullmatch(above)
        rest = itertools.dropwhile(lambda line: not line.strip(), lines[end + 1 :])
        below = " ".join(itertools.takewhile(str.strip, rest))
        text = "".join(f"{line}\n" for line in lines[at + 1 : end])
        found.append(Fence(page, at + 1, match["info"].strip(), text, file[1] if file else None, below))
        at = end + 1
    return found


def data_faults(fence: Fence) -> Iterator[str]:
    """What is wrong with a fence of data, or of a kind that nothing checks."""
    try:
        if fence.kind == "yaml":
            YAML(typ="safe", pure=True).load(fence.text)
        elif fence.kind == "json":
            json.loads(fence.text)
        elif fence.kind == "toml":
            tomllib.loads(fence.text)
        elif fence.file is None and fence.kind not in KINDS:
            yield f"nothing checks a fence of the kind `{fence.kind}`"
    except Exception as error:
        yield f"it is not {fence.kind}: {error}"


def is_block(fence: Fence) -> bool:
    """Whether a fence says what comes of the example above it."""
    return fence.kind == "yaml" and fence.text.startswith(("# run\n", "# shows\n"))


def programs(page: Path) -> Iterator[tuple[Fence, list[Fence], dict[str, str]]]:
    """The examples of a page with the blocks below each, and the pattern files above it."""
    found = fences(page)
    files: dict[str, str] = {}
    for index, fence in enumerate(found):
        if fence.kind in ("prose", "markdown"):
            yield fence, list(itertools.takewhile(is_block, found[index + 1 :])), dict(files)
        if fence.file is not None and fence.file.endswith(".prose.md"):
            files[fence.file] = fence.text


def stray_blocks(page: Path) -> Iterator[str]:
    """`# run` blocks that stand under no example, and claims that are none."""
    before: Fence | None = None
    for fence in fences(page):
        if is_block(fence) and (before is None or not (is_block(before) or before.kind in ("prose", "markdown"))):
            yield f"{fence.id}: there is no example above it"
        if _LIKE_A_CLAIM.match(fence.below) and (fence.kind not in ("prose", "markdown") or fence.claim is None):
            yield f"{fence.id}: what stands below it looks like a claim and is none"
        before = fence
