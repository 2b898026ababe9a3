"""The state of the walk over a body: the tables that become the Program's, and how faults are reported.

What the walk does stands in the classes above it, each a concept of its own:

    Walk ─ Names ─ Expressions ─ Bodies ─ Actions ─ Resolver
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from prose_lang.diagnostics import Diagnostic, Severity
from prose_lang.documents.model import Document, Entry
from prose_lang.semantics.addressing import Addresses
from prose_lang.semantics.environment import Environment
from prose_lang.semantics.program import Base, CallPlan, ConditionPlan, Site
from prose_lang.semantics.scopes import Scope
from prose_lang.semantics.signature import Signature
from prose_lang.syntax import ExpressionParser, Parsed
from prose_lang.syntax import nodes as n
from prose_lang.text import Span, nearest


class Walk:
    """What is known at the place where the walk is, and the tables it fills, which become the Program's."""

    def __init__(self, document: Document, entry: Entry, parsed: Parsed, environment: Environment) -> None:
        self.document = document
        self.entry = entry
        self.source = parsed.source
        self.parsed = parsed
        self.broken_words = parsed.broken_words
        self.environment = environment
        self.parse_expression = ExpressionParser(parsed.source)
        self.is_pattern = entry.kind == "pattern"
        self.diagnostics: list[Diagnostic] = []
        self.cells = 1  # cell 0 is the activation's
        self.bases: dict[str, Base] = {}
        self.initial: list[tuple[int, int]] = []
        self.unbased: dict[str, list[int]] = {}  # variables that start null, unless an implicit input gets their name
        self.reads: dict[n.Name, int] = {}
        self.config_reads: set[n.Name] = set()
        self.writes: dict[n.Name, int] = {}
        self.sites: dict[n.Node, Site] = {}
        self.calls: dict[n.Node, CallPlan] = {}
        self.conditions: dict[n.Condition, ConditionPlan] = {}
        self.collects: set[n.Node] = set()
        self.growing: set[int] = set()
        self.aliases: dict[int, int] = {}
        self.latest: dict[int, int] = {}
        self.items: dict[n.Stage, int] = {}
        self.blocks: dict[str, n.BlockDef] = {}
        self.agents: dict[str, n.AgentDef] = {}
        self.uses: dict[str, n.Use] = {}
        self.called: list[tuple[n.Call | n.Invoke, CallPlan]] = []
        self.taken: list[tuple[Sequence[n.Name], CallPlan]] = []  # names that take outputs of a call apart
        self.no_keys: list[tuple[n.Node, str]] = []  # where `config.KEY` is read, and there is no such key
        self.unprovided: set[str] = set()
        self.later: list[tuple[Scope, Callable[[], None]]] = []
        self.loops = [False]  # whether a loop of the body in hand is open, for `break` and `continue`
        self.constants: frozenset[int] = frozenset()  # the cells of the constants that the lists in hand have set
        self.scope = Scope(None, frame=True)
        section = "delegation" if self.is_pattern else "execution"
        self.addresses = Addresses(self.source, section)
        for kind, names in (
            ("slot", [(slot.name, None, slot) for slot in entry.slots]),
            ("config", [(item.name, item, None) for item in entry.config]),
            ("input", [(item.name, item, None) for item in entry.inputs]),
        ):
            for name, item, slot in names:
                if name not in self.bases:
                    self.bases[name] = Base(name, kind, self.cell(), item, slot)

    def cell(self) -> int:
        self.cells += 1
        return self.cells - 1

    def report(
        self, code: str, message: str, node: n.Node | Span, hint: str | None = None, missing: str | None = None
    ) -> None:
        span = node if isinstance(node, Span) else node.span
        self.diagnostics.append(Diagnostic(code, message, self.source, span, hint=hint, missing=missing))

    def lint(
        self, name: str, message: str, node: n.Node | Span, hint: str | None = None, missing: str | None = None
    ) -> None:
        span = node if isinstance(node, Span) else node.span
        found = Diagnostic(
            None, message, self.source, span, name=name, severity=Severity.WARNING, hint=hint, missing=missing
        )
        self.diagnostics.append(found)

    def nearest(self, name: str, candidates: Iterable[str]) -> list[str]:
        """The names that look most like one, for a hint; after a hundred reports nobody reads any."""
        return nearest(name, candidates) if len(self.diagnostics) < 100 else []

    def known_names(self) -> list[str]:
        return [*dict.fromkeys([*self.scope.visible(), *self.bases])]

    def signature(self, name: str) -> Signature | None:
        """What a call of a name outside of the body may bind, also of one that a `use` gives; None if it is unknown."""
        use = self.uses.get(name)
        return self.environment.signature(use.reference if use is not None else name)

    def has_broken_lines(self, span: Span) -> bool:
        """Whether lines of a statement could not be read: in it, or right below it and indented deeper than it."""
        source = self.source
        line = source.line_text(source.line_of(span.start))
        margin = len(line) - len(line.lstrip())
        return any(
            (broken.start < span.end and span.start < broken.end)
            or (broken.start >= span.end and not source.text[span.end : broken.start].strip()
                and source.position(broken.start).column - 1 > margin)
            for broken in self.parsed.broken
        )  # fmt: skip
