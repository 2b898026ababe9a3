"""What a test file says, as plain data: scenarios with fixtures, services and expectations, each with its place.

A test file is of kind `test` and names its `subject:`. Every `##` heading opens a scenario with its own sections
`### Fixtures`, `### Services`, `### Expects` and `### Expects Not`; what stands before the first one is shared by all.
A file without scenarios is one itself. Reading it is `scenario_reading.py`; what a service answers is read where
scripts are (`services/script.py`); nothing here is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from prose_lang.documents.model import Fence, Section
from prose_lang.text import Span

if TYPE_CHECKING:
    from prose_lang.values.yaml import YamlNode

#: The sections of a scenario, as they are looked up.
SECTIONS = ("fixtures", "services", "expects", "expects not")
#: Sections that make a `##` of a test file an entry of its own, a function or a pattern that the scenarios may use.
ENTRY_SECTIONS = frozenset(
    "slots config requires parameters ensures returns maintains invariants delegation execution".split()
)


@attrs.frozen(eq=False)
class Fixture:
    """What one name of the subject is given.

    `written` tells that `value` is the text of an item, which means what the declared type makes of it; otherwise it is
    the value itself: a quoted text, a block of lines, or what stands in YAML.
    """

    name: str
    span: Span
    value: Any
    value_span: Span
    written: bool = False


@attrs.frozen(eq=False)
class Expectation:
    """An item of Expects or, `negated`, of Expects Not: what is said, of the part of the result that `path` names."""

    text: str
    span: Span
    path: str | None = None
    negated: bool = False

    @property
    def said(self) -> str:
        """The whole of it, as reports name it."""
        return self.text if self.path is None else f"{self.path}: {self.text}"


@attrs.frozen(eq=False)
class Exact:
    """A fenced mapping under Expects: what must be exactly so."""

    fence: Fence
    node: YamlNode


@attrs.frozen(eq=False)
class ScenarioText:
    """What one scenario says, or what is shared by all.

    `span` is its heading (of the whole file the frontmatter), `extent` all of it, `section` its first Expects.
    """

    name: str
    span: Span
    extent: Span
    fixtures: tuple[Fixture, ...] = ()
    services: tuple[Fence, ...] = ()
    exact: tuple[Exact, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    section: Section | None = None

    @property
    def expects_nothing(self) -> bool:
        return not self.expectations and not any(block.node.members for block in self.exact)


@attrs.frozen(eq=False)
class TestText:
    """What a test file says. `subject` is None where the frontmatter names none that can be read."""

    __test__ = False  # pytest takes a class of such a name for one of its own

    subject: str | None
    subject_span: Span
    shared: ScenarioText
    scenarios: tuple[ScenarioText, ...]
