"""Reading a `.prose.md` file into a Document (L1–L7). Reading never fails: what is wrong stands in the diagnostics.

Without frontmatter a text is a bare delegation body (L2) unless it shows that it is Markdown: by a line that starts
with `### ` or with a fence, outside of triple-quoted strings. A line that starts with `# ` shows nothing, since that
is how comments of a body look, and many bodies start with one. Such a Markdown text is P106, and so is an empty one.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from types import MappingProxyType

from prose_lang.diagnostics import sort_diagnostics
from prose_lang.documents.entries import anonymous_entry, kind_of_sections, read_entry
from prose_lang.documents.faults import Faults
from prose_lang.documents.frontmatter import Frontmatter, read_frontmatter
from prose_lang.documents.model import Document, Entry, Fence
from prose_lang.documents.outline import read_outline
from prose_lang.documents.page import Page
from prose_lang.documents.scenario_reading import is_scenario, read_test, without_scenarios
from prose_lang.documents.sections import Draft, read_drafts
from prose_lang.text import Source, Span

_MARKDOWN = re.compile(r"#{3,6} |```|~~~")
_SUFFIX = re.compile(r"(?:\.prose)?\.md$|\.prose$", re.IGNORECASE)


def read_document(source: Source, path: Path | None = None) -> Document:
    """The document that a source holds; `path` is the file it comes from, if it comes from one.

    >>> text = "---\\nkind: function\\n---\\n### Returns\\n- `text`: hello\\n"
    >>> document = read_document(Source("greet.prose.md", text))
    >>> document.name, document.kind, [item.name for item in document.main.outputs]
    ('greet', 'function', ['text'])
    """
    page = Page.of(source)
    faults = Faults(source)
    frontmatter = read_frontmatter(page, faults)
    if frontmatter is None:
        if _is_bare_body(page):
            return _anonymous(page, path)
        frontmatter = _missing(page, faults)
    drafts = read_drafts(page, read_outline(page.lines, frontmatter.end), frontmatter.end)
    main, *inline = drafts
    name = frontmatter.name or name_of_file(source.name)
    kind = frontmatter.kind or kind_of_sections(main)
    test = None
    if kind == "test":
        test = read_test(main, inline, name, frontmatter, page, faults)
        main, inline = without_scenarios(main), [draft for draft in inline if not is_scenario(draft)]
    entries = [read_entry(main, name, kind, frontmatter.span, faults, sound=frontmatter.sound)]
    entries += _inline(inline, faults)
    return Document(
        source=source,
        name=name,
        kind=kind,
        frontmatter=frontmatter.fields,
        entries=tuple(entries),
        diagnostics=tuple(sort_diagnostics(faults.found)),
        path=path,
        test=test,
    )


def name_of_file(name: str) -> str:
    """The name that a file gives to what it holds.

    >>> name_of_file("patterns/refine.prose.md"), name_of_file("-")
    ('refine', 'anonymous')
    """
    stem = _SUFFIX.sub("", PurePath(name.removeprefix("stdlib:").replace("\\", "/")).name)
    return "anonymous" if stem in ("", "-") or stem.startswith("<") else stem


def _inline(drafts: list[Draft], faults: Faults) -> list[Entry]:
    entries: dict[str, Entry] = {}
    for draft in drafts:
        assert draft.name is not None, "inline entries have headings"
        assert draft.heading is not None
        entry = read_entry(draft, draft.name, kind_of_sections(draft), draft.heading, faults)
        known = entries.get(draft.name)
        if known is None or known.is_documentation:
            entries[draft.name] = entry
        elif not entry.is_documentation:
            faults.twice("entry", draft.name, draft.heading, known.span)
    return list(entries.values())


def _is_bare_body(page: Page) -> bool:
    """Whether a text without frontmatter is a delegation body; see the top of this file."""
    quoted = False
    empty = True
    for line in page.lines:
        if not quoted and _MARKDOWN.match(line):
            return False
        if line.count('"""') % 2:
            quoted = not quoted
        empty = empty and not line.strip()
    return not empty


def _anonymous(page: Page, path: Path | None) -> Document:
    whole = Span(page.starts[0], page.starts[-1])
    name = name_of_file(page.source.name)
    entry = anonymous_entry(Fence("prose", whole, 0, whole), name)
    return Document(page.source, name, "pattern", MappingProxyType({}), (entry,), (), anonymous=True, path=path)


def _missing(page: Page, faults: Faults) -> Frontmatter:
    span = page.line_span(0)
    hint = "start the file with the lines `---`, `name: …`, `kind: …` and `---`"
    faults.error("P106", "the file does not start with frontmatter", span, hint)
    return Frontmatter(MappingProxyType({}), 0, span, sound=False)
