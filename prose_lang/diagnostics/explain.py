"""The pages behind `prose explain`: one Markdown text for each code, and for each lint by its name.

The pages are files in `pages/`. Nothing is formatted here. The pages of the linter's rules are made from the rules
themselves (`linter/pages.py`), above this room.
"""

from __future__ import annotations

from pathlib import Path

from prose_lang.diagnostics.codes import code_named

_PAGES = Path(__file__).parent / "pages"


def page_names() -> tuple[str, ...]:
    """What has a page, sorted: codes (`P201`) first, then the names of lints."""
    return tuple(sorted(page.stem for page in _PAGES.glob("*.md")))


def explain(text: str) -> str | None:
    """The page of a code, or of the name of a code or lint, in any case; None if there is no such page.

    >>> explain("unknown-name").splitlines()[0]
    '# P201 unknown-name'
    """
    code = code_named(text)
    name = code.code if code is not None else text.strip().lower()
    # Looked up among the pages that exist, so that no text can lead to another file.
    if name not in page_names():
        return None
    return (_PAGES / f"{name}.md").read_text(encoding="utf-8")


def summary(text: str) -> str | None:
    """The first paragraph of a page on one line, for places that have room for no more; None without a page."""
    page = explain(text)
    return None if page is None else first_paragraph(page)


def first_paragraph(page: str) -> str:
    """The first paragraph below the title of a page, on one line."""
    _title, paragraph, *_rest = page.split("\n\n")
    return " ".join(paragraph.split())
