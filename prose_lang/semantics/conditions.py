"""Conditions, compiled to the layers that can decide them (L30)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prose_lang.conditions import Parse, Rule, exact_form, mentioned, read_rules, root
from prose_lang.semantics.program import ConditionPlan, Site
from prose_lang.syntax import nodes as n

if TYPE_CHECKING:
    from prose_lang.semantics.resolver import Resolver

#: A condition that is longer than this is read by the judge alone: rules are for phrases, not for essays.
MAX_PHRASE = 2_000
_READABLE = frozenset({"true", "false", "null", "config"})
_WORD = re.compile(r"[^\W\d]\w*(?:-+\w+)*")


def plan_condition(resolver: Resolver, condition: n.Condition, site: Site, labels: tuple[str, ...]) -> None:
    """Work out which layers can decide a condition where it stands, and resolve the names they read."""
    read: dict[tuple[int, int], n.Expression | None] = {}  # rules and hints look at the same few words

    def parse(start: int, end: int) -> n.Expression | None:
        # Most words of a condition are plain English: what begins with no name that is known here is no operand.
        word = _WORD.match(resolver.source.text, start, end)
        if word and word.group() not in _READABLE and resolver.lookup(word.group()) is None:
            return None
        if (start, end) not in read:
            read[start, end] = resolver.parse_expression(start, end)
        return read[start, end]

    expression = condition.expression
    if expression is not None and not resolver.names_resolve(expression):
        expression = None
    rules: tuple[Rule, ...] = ()
    if expression is not None:
        resolver.expression(expression)
    elif not labels and len(condition.text) <= MAX_PHRASE:
        rules = tuple(rule for rule in read_rules(condition, parse) if _reads_names(resolver, rule))
        for rule in rules:
            for operand in rule.operands:
                resolver.expression(operand)
            if rule.layer == "verdict":
                _latest(resolver, rule)
    decided = (expression is not None and not labels) or (bool(rules) and rules[-1].total)
    reads = () if decided else _shown_to_judge(resolver, condition, parse)
    visible = () if decided else tuple(resolver.known_names())
    hint = None if decided or len(condition.text) > MAX_PHRASE else exact_form(condition, parse, visible)
    resolver.conditions[condition] = ConditionPlan(
        condition.text, site, expression, rules, reads, labels, hint, visible
    )


def _reads_names(resolver: Resolver, rule: Rule) -> bool:
    names = (root(operand) for operand in rule.operands)
    return all(name is None or resolver.lookup(name) is not None or name == "config" for name in names)


def _latest(resolver: Resolver, rule: Rule) -> None:
    """A verdict's operand that names a slot means the slot's latest result (§9 L30.3): give that a cell."""
    for operand in rule.operands:
        cell = resolver.reads.get(operand) if isinstance(operand, n.Name) else None
        if cell is not None and any(base.cell == cell and base.kind == "slot" for base in resolver.bases.values()):
            resolver.latest.setdefault(cell, resolver.cell())


def _shown_to_judge(resolver: Resolver, condition: n.Condition, parse: Parse) -> tuple[tuple[str, n.Expression], ...]:
    """The values that the text names; if it names none, the frame's own variables (§9 L30.5)."""
    found: list[tuple[str, n.Expression]] = []
    slots = {base.name for base in resolver.bases.values() if base.kind == "slot"}
    short = len(condition.text) <= MAX_PHRASE
    for text, expression in mentioned(condition, parse).items() if short else ():
        name = root(expression)
        if name is None or resolver.lookup(name) is None:
            continue
        if name in slots and resolver.scope.find(name) is None:
            continue  # a reference to a service tells a judge nothing
        resolver.expression(expression)
        found.append((text, expression))
    if not found:
        for variable in resolver.scope.own_frame().names.values():
            node = n.Name(condition.start, condition.start, variable.name)
            resolver.reads[node] = variable.cell
            found.append((variable.name, node))
    return tuple(found)
