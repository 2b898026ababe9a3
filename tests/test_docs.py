"""The pages of `docs/`: every example runs and gives what its page says (documentation_harness.py)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from documentation_harness import DOCS, ROOT, Fence, data_faults, fences, pages, programs
from documentation_harness import stray_blocks as strays
from documentation_programs import program_faults
from documentation_sessions import session_faults

PAGES = pages()
PROGRAMS = [example for page in PAGES for example in programs(page)]
_LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize(("fence", "runs", "files"), PROGRAMS, ids=[example[0].id for example in PROGRAMS])
def test_program(fence: Fence, runs: list[Fence], files: dict[str, str]) -> None:
    show(program_faults(fence, runs, files))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_consoles_and_python_blocks(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    show(session_faults(page, folder))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_fence_is_left_unchecked(page: Path) -> None:
    show(f"{fence.id}: {fault}" for fence in fences(page) for fault in data_faults(fence))
    show(strays(page))


@pytest.mark.parametrize("page", [*PAGES, DOCS / "diagnostics.md"], ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(_without_fences(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), f"{target} leads nowhere"
        if anchor:
            assert anchor in anchors(other), f"{target}: {other.name} has no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_form_of_a_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0].startswith("# ")
    assert lines[1] == ""
    assert re.match(r"[A-Z`]", lines[2]), "a page begins with what it is for"
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert [n for n, line in enumerate(lines, 1) if line != line.rstrip() or "\t" in line] == []


def show(faults: Iterable[str]) -> None:
    """Fail with the faults as they are: outputs of commands are read as a whole."""
    said = "\n".join(faults)
    if said:
        pytest.fail(said, pytrace=False)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", _without_fences(page), re.MULTILINE):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


def _without_fences(page: Path) -> str:
    return re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
