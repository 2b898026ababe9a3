"""Reading a test file (`scenarios.py`): which headings are scenarios, and what stands in their sections.

Reading never fails: what is malformed is P107 at its place, a scenario named twice is P207. That there is a subject,
and what the blocks of services and exact results mean, is looked at where tests are run (`testing/`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from prose_lang.documents.faults import Faults
from prose_lang.documents.frontmatter import Frontmatter
from prose_lang.documents.listing import Chunk
from prose_lang.documents.literals import NotALiteral, read_literal
from prose_lang.documents.model import Fence
from prose_lang.documents.page import Page
from prose_lang.documents.scenarios import (
    ENTRY_SECTIONS,
    SECTIONS,
    Exact,
    Expectation,
    Fixture,
    ScenarioText,
    TestText,
)
from prose_lang.documents.sections import Draft, Part
from prose_lang.documents.shapes import NAME
from prose_lang.text import Span
from prose_lang.values import kind_of

if TYPE_CHECKING:
    from prose_lang.values.yaml import YamlNode

#: Exact results may be ten times as long as other YAML: they hold whole answers.
_MOST_CHARACTERS = 1_000_000
_YAML = ("yaml", "yml", "json")
#: A path into a result (L13): `a`, `a.b`, `a[0]`, `a["k"]`; `__error.md` is upstream's name of the error.
PATH = re.compile(rf'__error\.md|{NAME}(?:\.{NAME}|\[(?:\d+|"[^"\\\n]*")\])*')
_FIXTURE = re.compile(rf"(?P<tick>`?)(?P<name>{NAME})(?P=tick)[ \t]*:(?:[ \t]+|$)")
#: Marks of YAML that an item does not know.
_MARKS = re.compile(r"\|[-+]|>[-+]?")
_TICKED = re.compile(rf"`(?P<path>{PATH.pattern})`[ \t]*(?::[ \t]*|[ \t])(?=\S)")
_BARE = re.compile(rf"(?P<path>{PATH.pattern}):[ \t]+")
#: What people write for a section of a scenario. A misspelled one would drop its expectations without a word.
_MEANT = {
    "expect": "Expects",
    "expected": "Expects",
    "expectation": "Expects",
    "expectations": "Expects",
    "expect not": "Expects Not",
    "expected not": "Expects Not",
    "does not expect": "Expects Not",
    "not expects": "Expects Not",
    "expects-not": "Expects Not",
    "fixture": "Fixtures",
    "service": "Services",
}


def is_scenario(draft: Draft) -> bool:
    """Whether a `##` of a test file is a scenario: it is unless it has the sections of an entry and none of a test."""
    keys = {part.key for part in draft.parts}
    return not keys & ENTRY_SECTIONS or bool(keys & {"fixtures", "expects", "expects not"})


def without_scenarios(draft: Draft) -> Draft:
    """The entry of the file itself, without the sections that belong to its scenarios."""
    parts = [part for part in draft.parts if part.key not in SECTIONS]
    return Draft(draft.name, draft.heading, draft.title, draft.description, parts)


def read_test(
    main: Draft, inline: Sequence[Draft], name: str, frontmatter: Frontmatter, page: Page, faults: Faults
) -> TestText:
    """What the drafts of a test file say; `name` is the file's, `inline` its `##` entries in order."""
    starts = [draft.heading.start for draft in inline if draft.heading is not None]
    ends = [*starts, page.starts[-1]]
    whole = Span(page.starts[0], ends[0])
    shared = _Reader(page, faults).scenario(main, name, frontmatter.span, whole)
    scenarios: list[ScenarioText] = []
    first: dict[str, Span] = {}
    for draft, end in zip(inline, ends[1:], strict=True):
        if not is_scenario(draft):
            continue
        assert draft.heading is not None, "inline entries have headings"
        extent = Span(draft.heading.start, end)
        if not draft.title:
            faults.error("P107", "this scenario has no name", draft.heading, "write `## what happens`")
        elif draft.title in first:
            faults.twice("scenario", draft.title, draft.heading, first[draft.title])
        first.setdefault(draft.title, draft.heading)
        scenarios.append(_Reader(page, faults).scenario(draft, draft.title, draft.heading, extent))
    subject, span = _subject(frontmatter)
    if not scenarios:
        return TestText(subject, span, ScenarioText("", whole, whole), (shared,))
    return TestText(subject, span, shared, tuple(scenarios))


def _subject(frontmatter: Frontmatter) -> tuple[str | None, Span]:
    subject = frontmatter.fields.get("subject")
    span = frontmatter.spans.get("subject", frontmatter.span)
    return (subject.strip() or None) if isinstance(subject, str) else None, span


class _Reader:
    """Reads the sections of one scenario."""

    def __init__(self, page: Page, faults: Faults) -> None:
        self.page = page
        self.faults = faults
        self.fixtures: dict[str, Fixture] = {}
        self.services: list[Fence] = []
        self.exact: list[Exact] = []
        self.expectations: list[Expectation] = []

    def scenario(self, draft: Draft, name: str, span: Span, extent: Span) -> ScenarioText:
        for part in draft.parts:
            match part.key:
                case "fixtures":
                    self.read_fixtures(part)
                case "services":
                    self.read_services(part)
                case "expects":
                    self.read_expects(part)
                case "expects not":
                    self.read_expects_not(part)
                case key if key in _MEANT:
                    message = f"a scenario has no section `{part.section.name}`"
                    self.faults.error("P107", message, part.section.heading, f"write `### {_MEANT[key]}`")
        return ScenarioText(
            name,
            span,
            extent,
            tuple(self.fixtures.values()),
            tuple(self.services),
            tuple(self.exact),
            tuple(self.expectations),
            next((part.section for part in draft.named("expects")), None),
        )

    # --- sections ----------------------------------------------------------------------------------------------------

    def read_fixtures(self, part: Part) -> None:
        blocks: list[Span] = []
        for chunk in part.chunks():
            if chunk.is_item and not _within(chunk.lines[0].offset, blocks):
                self.fixture(chunk, part, blocks)
        for fence in self.fences(part, blocks):
            node = self.mapping(fence, "the names of the subject and their values")
            for name, value in node.members.items() if node is not None else ():
                self.add(Fixture(name, node.keys[name], value.value, value.span) if node is not None else None)

    def read_services(self, part: Part) -> None:
        for chunk in part.chunks():
            if chunk.is_item:
                message = "the services of a scenario are replies by name, in a fenced block"
                self.faults.error("P107", message, chunk.flow.whole, "start the block with ```yaml")
        self.services += self.fences(part, ())

    def read_expects(self, part: Part) -> None:
        self.items(part, negated=False)
        for fence in self.fences(part, ()):
            node = self.mapping(fence, "what is expected: `value`, `calls`, `error`, …")
            if node is not None:
                self.exact.append(Exact(fence, node))

    def read_expects_not(self, part: Part) -> None:
        self.items(part, negated=True)
        for fence in self.fences(part, ()):
            message = "Expects Not takes items, not a block"
            self.faults.error("P107", message, fence.fence_span, "say it as an item: - `path`: text")

    def items(self, part: Part, *, negated: bool) -> None:
        for chunk in part.chunks():
            if not chunk.is_item:
                continue
            if chunk.nested:
                place = Span(chunk.nested[0].offset, chunk.nested[0].offset + len(chunk.nested[0].text))
                self.faults.error("P107", "an expectation is one item; this one stands inside of another", place)
            flow = chunk.flow
            match = _TICKED.match(flow.text) or _BARE.match(flow.text)
            if match is not None and match.re is _BARE and match["path"][0].isupper():
                match = None  # "Note: …" begins a sentence
            text = flow.text[match.end() :] if match is not None else flow.text
            path = match["path"] if match is not None else None
            if not text.strip():
                self.faults.error("P107", "this expectation says nothing", flow.whole)
                continue
            self.expectations.append(Expectation(text.strip(), flow.whole, path, negated))

    # --- fixtures ----------------------------------------------------------------------------------------------------

    def fixture(self, chunk: Chunk, part: Part, blocks: list[Span]) -> None:
        flow = chunk.flow
        match = _FIXTURE.match(flow.text)
        if match is None:
            message = "this item of Fixtures does not give a name a value"
            self.faults.error("P107", message, flow.whole, "write it as - `name`: value")
            return
        name, name_span = match["name"], flow.span(match.start("name"), match.end("name"))
        first = chunk.lines[0].text.strip()
        head = _FIXTURE.match(first)
        after = first[head.end() :] if head is not None else None
        if after == "|":
            text, span = self.block(chunk, part)
            blocks.append(span)
            self.add(Fixture(name, name_span, text, span))
            return
        if chunk.nested:
            place = Span(chunk.nested[0].offset, chunk.nested[0].offset + len(chunk.nested[0].text))
            self.faults.error("P107", f"`{name}` has items below it", place, "give a list as [a, b], or as ```yaml")
        text, span = flow.text[match.end() :], flow.span(match.end(), len(flow.text))
        quoted = _quoted(text)
        if after is not None and _MARKS.fullmatch(after):
            self.faults.error("P107", f"the lines of `{name}` cannot be told", span, "lines of text start after `|`")
        elif text:
            self.add(Fixture(name, name_span, text if quoted is None else quoted, span, written=quoted is None))
        else:
            hint = 'for an empty text write "", for lines of text `|` and the lines indented below'
            self.faults.error("P107", f"`{name}` has no value", name_span, hint)

    def block(self, chunk: Chunk, part: Part) -> tuple[str, Span]:
        """The lines indented below an item, without the indentation that they share; the last break is not text."""
        page = self.page
        head = page.source.line_of(chunk.lines[0].offset) - 1
        margin = _indent(page.lines[head])
        last = head + 1
        while last < part.last and (not page.lines[last].strip() or _indent(page.lines[last]) > margin):
            last += 1
        lines = list(page.lines[head + 1 : last])
        while lines and not lines[-1].strip():
            lines.pop()
        shared = min((_indent(line) for line in lines if line.strip()), default=0)
        text = "\n".join(line.expandtabs(4)[shared:] if "\t" in line[:shared] else line[shared:] for line in lines)
        return text, page.lines_span(head + 1, last)

    def add(self, fixture: Fixture | None) -> None:
        if fixture is None:
            return
        known = self.fixtures.get(fixture.name)
        if known is not None:
            self.faults.twice("fixture", fixture.name, fixture.span, known.span)
        else:
            self.fixtures[fixture.name] = fixture

    # --- blocks ------------------------------------------------------------------------------------------------------

    def fences(self, part: Part, hidden: Sequence[Span]) -> Iterator[Fence]:
        """The YAML blocks of a section. Another block there would be a check that nobody makes: P107."""
        told = set(part.fences(self.faults, *_YAML))
        for fence in part.section.fences:
            if _within(fence.fence_span.start, hidden):
                continue
            if fence in told:
                yield fence
            else:
                opening = Span(fence.fence_span.start, max(fence.fence_span.start + 3, fence.span.start - 1))
                what = f"a `{fence.info}` block" if fence.info else "a block without a word after its marks"
                message = f"{what} under {part.section.name} is not read"
                self.faults.error("P107", message, opening, "start the block with ```yaml")

    def mapping(self, fence: Fence, what: str) -> YamlNode | None:
        from prose_lang.values.yaml import load_yaml

        source = self.faults.source
        text = source.text[fence.span.start : fence.span.end]
        node, found = load_yaml(
            text, source, code="P107", offset=fence.span.start, indent=fence.indent, most=_MOST_CHARACTERS
        )
        self.faults.found.extend(found)
        if node is None or node.value is None:
            return None
        if not isinstance(node.value, dict):
            kind = kind_of(node.value)
            self.faults.error("P107", f"this must be an object, not a {kind}: {what}", node.span)
            return None
        return node


def _quoted(text: str) -> str | None:
    """The text in quotes that an item consists of; None if it is anything else."""
    if text[:1] not in ("'", '"'):
        return None
    try:
        value, end = read_literal(text)
    except NotALiteral:
        return None
    return value if end == len(text) and isinstance(value, str) else None


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))


def _within(offset: int, spans: Sequence[Span]) -> bool:
    return any(span.start <= offset < span.end for span in spans)
