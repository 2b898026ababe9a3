"""Test files and their scenarios, ready to be run: found, read, and what is wrong with them told at its place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import attrs

from prose_lang.diagnostics import CheckError, Diagnostic, Severity, SourceError, sort_diagnostics
from prose_lang.documents.loader import Loader
from prose_lang.documents.model import Document
from prose_lang.documents.scenarios import Exact, Expectation, Fixture, ScenarioText
from prose_lang.services import Script, read_script
from prose_lang.syntax import nodes as n
from prose_lang.syntax import parse_condition
from prose_lang.syntax.visiting import walk
from prose_lang.testing.exact import ExactItem, read_exact
from prose_lang.text import Source, Span

_SUFFIX = ".test.prose.md"
#: Texts that hold no word which could be a name.
_WORDLESS = re.compile(r'(?:"(?:\\.|[^"\\])*"|\b(?:and|or|not|in|true|false|null)\b|[^\w"]|[\de])+')


@attrs.frozen(eq=False)
class Scenario:
    """One scenario with what it shares with the others of its file.

    `fixtures` and `replies` are merged by name, the scenario's own first; `faults` are what keeps it from being run.
    """

    document: Document
    text: ScenarioText
    fixtures: tuple[Fixture, ...]
    replies: Script
    exact: tuple[ExactItem, ...]
    expectations: tuple[Expectation, ...]
    faults: tuple[Diagnostic, ...]

    @property
    def name(self) -> str:
        """The heading, or the name of a file that is one scenario."""
        return self.text.name

    @property
    def source(self) -> Source:
        return self.document.source

    @property
    def file(self) -> str:
        """The file as the user named it."""
        return self.source.name

    @property
    def line(self) -> int:
        """The line of its heading."""
        return self.source.position(self.text.span.start).line


@attrs.frozen(eq=False)
class TestFile:
    """A test file: its scenarios in order, and all faults that were found in it."""

    __test__ = False  # pytest takes a class of such a name for one of its own

    document: Document
    scenarios: tuple[Scenario, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def name(self) -> str:
        """The file as the user named it."""
        return self.document.source.name

    @property
    def path(self) -> Path | None:
        return self.document.path


def test_files(path: str) -> Iterator[str]:
    """The test files that a path means: itself, or all `*.test.prose.md` below a folder, hidden folders left out.

    Raises SourceError P103 if a folder holds none, or if only a test of that name is there.
    """
    if not os.path.isdir(path):
        tests = path.removesuffix(".prose.md") + _SUFFIX
        if not os.path.exists(path) and os.path.isfile(tests):
            raise SourceError("P103", f"there is no file `{path}`", hint=f"did you mean `{tests}`?")
        yield path
        return
    found = False
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(_SUFFIX):
                found = True
                yield os.path.normpath(os.path.join(folder, name))
    if not found:
        raise SourceError("P103", f"the folder `{path}` holds no tests", hint=f"tests are files NAME{_SUFFIX}")


test_files.__test__ = False  # type: ignore[attr-defined]  # nor is this function one of pytest's


def collect(path: str | os.PathLike[str], loader: Loader | None = None) -> TestFile:
    """The scenarios of a test file. Raises SourceError P103 if it cannot be read; what is wrong inside is told there.

    >>> import tempfile
    >>> text = "---\\nkind: test\\nsubject: refine\\n---\\n## a\\n## b\\n"
    >>> path = Path(tempfile.mkdtemp(), "refine.test.prose.md")
    >>> _ = path.write_text(text)
    >>> [scenario.name for scenario in collect(path).scenarios]
    ['a', 'b']
    """
    return test_of((loader or Loader()).load_path(path))


def test_of(document: Document) -> TestFile:
    """The test file that a document is; P106 at its frontmatter if it is another kind of file."""
    test = document.test
    if test is None:
        faults = list(document.diagnostics)
        if not any(item.severity is Severity.ERROR for item in faults):
            faults.append(_no_test(document))
        return TestFile(document, (), tuple(faults))
    reader = _Reader(document)
    shared = None if test.scenarios == (test.shared,) else test.shared
    read = [(text, reader.parts(text, shared)) for text in test.scenarios]
    faults = sort_diagnostics([*document.diagnostics, *_subject_faults(document), *reader.found])
    errors = [item for item in faults if item.severity is Severity.ERROR]
    extents = [text.extent for text in test.scenarios]
    scenarios = [Scenario(document, text, *parts, _faults_of(text.extent, extents, errors)) for text, parts in read]
    return TestFile(document, tuple(scenarios), tuple(faults))


test_of.__test__ = False  # type: ignore[attr-defined]


def _no_test(document: Document) -> Diagnostic:
    article = "an" if document.kind[0] in "aeiou" else "a"
    span = Span(0, 0) if document.anonymous else document.main.span
    message = f"`{document.source.name}` is {article} {document.kind}, not a test"
    tests = document.source.name.removesuffix(".prose.md") + _SUFFIX
    beside = document.path is not None and os.path.isfile(tests)
    hint = f"did you mean `{tests}`?" if beside else "a test says `kind: test` and `subject: NAME`"
    return Diagnostic("P106", message, document.source, span, hint=hint)


def _subject_faults(document: Document) -> Iterator[Diagnostic]:
    assert document.test is not None
    if document.test.subject is not None:
        return
    given = document.frontmatter.get("subject")
    message = "the test does not say what its subject is" if given is None else "the subject of a test must be a name"
    hint = "write `subject: NAME`, the pattern or function that is tested"
    yield Diagnostic("P106", message, document.source, document.test.subject_span, hint=hint)


def _faults_of(extent: Span, extents: list[Span], errors: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The faults that concern a scenario: those in it, and those that stand in none, such as in what is shared."""

    def concerns(item: Diagnostic) -> bool:
        start = item.span.start if item.span is not None else -1
        return extent.start <= start < extent.end or not any(one.start <= start < one.end for one in extents)

    return tuple(filter(concerns, errors))


class _Reader:
    """Reads the blocks of a file's scenarios; those that are shared are read once."""

    def __init__(self, document: Document) -> None:
        self.source = document.source
        self.found: list[Diagnostic] = []
        self.scripts: dict[ScenarioText, Script] = {}
        self.blocks: dict[Exact, tuple[ExactItem, ...]] = {}
        self.seen: set[Expectation] = set()

    def parts(
        self, text: ScenarioText, shared: ScenarioText | None
    ) -> tuple[tuple[Fixture, ...], Script, tuple[ExactItem, ...], tuple[Expectation, ...]]:
        """Fixtures, replies, exact expectations and items, those that are shared first."""
        texts = [text] if shared is None else [shared, text]
        fixtures = {fixture.name: fixture for one in texts for fixture in one.fixtures}
        script = Script(self.source, {name: some for one in texts for name, some in self.script(one).replies.items()})
        exact = tuple(item for one in texts for block in one.exact for item in self.exact(block))
        for item in text.expectations if shared is None else (*shared.expectations, *text.expectations):
            self.expectation(item)
        return tuple(fixtures.values()), script, exact, tuple(item for one in texts for item in one.expectations)

    def script(self, text: ScenarioText) -> Script:
        if text not in self.scripts:
            replies: dict[str, tuple[object, ...]] = {}
            for fence in text.services:
                try:
                    part = read_script(self.source, fence.span, fence.indent)
                except CheckError as error:
                    self.found += error.diagnostics
                    continue
                for name, some in part.replies.items():
                    if name in replies:
                        message = f"two blocks have replies of `{name}`"
                        self.found.append(Diagnostic("P207", message, self.source, fence.fence_span))
                    replies[name] = some
            self.scripts[text] = Script(self.source, replies)  # type: ignore[arg-type]
        return self.scripts[text]

    def expectation(self, item: Expectation) -> None:
        """An expression without names is true or false whatever the subject does: P107."""
        if item.path is not None or item in self.seen or not _WORDLESS.fullmatch(item.text):
            return
        self.seen.add(item)
        condition, _ = parse_condition(Source(self.source.name, item.text), 0, len(item.text))
        if condition.expression is not None and not any(
            isinstance(node, n.Name) for node in walk(condition.expression)
        ):
            message = "this expectation looks at nothing of the result"
            hint = "name a part of the result, `value`, `error`, `status` or `calls`"
            self.found.append(Diagnostic("P107", message, self.source, item.span, hint=hint))

    def exact(self, block: Exact) -> tuple[ExactItem, ...]:
        if block not in self.blocks:
            self.blocks[block] = read_exact(block, self.source, self.found)
        return self.blocks[block]
