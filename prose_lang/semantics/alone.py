"""A condition that stands in no program: its text against names that somebody else has the values of.

The same layers are worked out by the same code as for a condition of a body (L30). Nothing can be called from it, and
text that comes as data is never made a part of a program: it is one condition, or it is not understood.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

import attrs

from prose_lang.diagnostics import CheckError
from prose_lang.documents.entries import anonymous_entry
from prose_lang.documents.model import ANY, Document, Fence, Item
from prose_lang.semantics.check import no_body, program_of
from prose_lang.semantics.conditions import plan_condition
from prose_lang.semantics.environment import Nothing
from prose_lang.semantics.program import ConditionPlan, Program
from prose_lang.semantics.resolver import Resolver
from prose_lang.semantics.scopes import Variable
from prose_lang.syntax import nodes as n
from prose_lang.syntax import parse_condition
from prose_lang.text import Source, Span


@attrs.frozen(eq=False)
class Alone:
    """A condition on its own: the program that it is all of, and the cells of the names."""

    program: Program
    condition: n.Condition
    cells: dict[str, int]

    @property
    def plan(self) -> ConditionPlan:
        """The layers that can decide it."""
        return self.program.conditions[self.condition]


def analyze_condition(source: Source, own: Iterable[str], others: Iterable[str] = ()) -> Alone:
    """Work out which layers can decide a text. A judge is shown the `own` names where the text names none (§9 L30.5);
    the `others` are known too.

    Raises CheckError P112 for a text that holds nothing, P307 for an expression that is nested too deeply.

    >>> analyze_condition(Source("-", "score meets bar"), ["score"], ["bar"]).plan.layers
    ('phrase', 'judge')
    """
    text = source.text
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if start >= end:
        raise CheckError("P112", "this condition says nothing", source=source, span=Span(0, 0))
    entry = attrs.evolve(
        anonymous_entry(Fence("prose", Span(0, 0), 0, Span(0, 0)), "condition"),
        inputs=tuple(Item(name, Span(0, 0), ANY, "", optional=True) for name in dict.fromkeys(others)),
    )
    document = Document(source, entry.name, entry.kind, MappingProxyType({}), (entry,), (), anonymous=True)
    resolver = Resolver(document, entry, no_body(source), Nothing())
    for name in dict.fromkeys(own):
        resolver.scope.names[name] = Variable(name, resolver.cell(), "is a given value")
    condition, found = parse_condition(source, start, end, resolver.parse_expression)
    if found:
        raise CheckError.from_diagnostics(found)
    plan_condition(resolver, condition, resolver.addresses.site(condition.span, "condition"), ())
    cells = {base.name: base.cell for base in resolver.bases.values()}
    cells.update((variable.name, variable.cell) for variable in resolver.scope.names.values())
    return Alone(program_of(resolver), condition, cells)
