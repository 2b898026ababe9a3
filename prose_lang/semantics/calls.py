"""Calls: which properties are bindings and which are modifiers (L32), and what a known callee says to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from prose_lang.documents.declarations import misfit, takes_text
from prose_lang.semantics.modifiers import check_call_modifiers
from prose_lang.semantics.program import CallPlan, Site, Target
from prose_lang.semantics.signature import Signature
from prose_lang.syntax import nodes as n
from prose_lang.text import Span, did_you_mean, nearest

if TYPE_CHECKING:
    from prose_lang.semantics.resolver import Resolver

#: What is not known before the run.
UNKNOWN = object()
#: Always modifiers.
MODIFIERS = ("retry", "backoff", "timeout")
#: Modifiers unless the callee declares an input of that name.
WORDS = ("prompt", "model", "context")


def plan_call(target: Target, site: Site, properties: Sequence[n.Property]) -> CallPlan:
    """Sort the properties of a call; of a name that is bound twice the first counts."""
    bindings: dict[str, n.Property] = {}
    modifiers: dict[str, n.Property] = {}
    words: dict[str, n.Property] = {}
    for item in properties:
        kind = modifiers if item.name in MODIFIERS else words if item.name in WORDS else bindings
        kind.setdefault(item.name, item)
    return CallPlan(target, site, tuple(bindings.items()), modifiers, words)


def check_call(resolver: Resolver, call: n.Call | n.Invoke, plan: CallPlan) -> None:
    """Check a call against what is known of its callee. What a slot is bound to is known only when it runs."""
    check_call_modifiers(resolver.report, plan.modifiers)
    target, signature = plan.target, known_signature(resolver, plan)
    if signature is None:
        return
    for name in MODIFIERS:
        item = plan.modifiers.get(name)
        if item is not None and signature.parameter(name) is not None:
            resolver.report(
                "P209",
                f"`{name}` is a modifier of every call, but `{target.name}` declares an input of that name",
                Span(item.start, item.name_end),
                hint="rename the input",
            )
    if call.arguments is not None:
        check_positional(resolver, call, call.arguments, plan, signature)
    else:
        _check_bindings(resolver, plan, signature)


def known_signature(resolver: Resolver, plan: CallPlan) -> Signature | None:
    """The signature of what a call reaches, if that is known before a run."""
    target = plan.target
    if target.slot is not None or target.variable is not None or not target.static:
        return None
    return resolver.signature(target.name)


def check_taken(resolver: Resolver, names: Sequence[n.Name], plan: CallPlan) -> None:
    """`let { a, b } = call f`: each name is an output of `f`, if `f` declares its outputs (L33)."""
    signature = known_signature(resolver, plan)
    if signature is None or not signature.outputs:
        return
    outputs = [item.name for item in signature.outputs]
    for name in names:
        if name.id not in outputs:
            close = resolver.nearest(name.id, outputs)
            hint = did_you_mean(close[:1]) or f"it gives {', '.join(outputs)}"
            resolver.lint("unknown-output", f"`{plan.target.name}` has no output `{name.id}`", name, hint=hint)


def check_positional(
    resolver: Resolver, node: n.Node, arguments: Sequence[n.Expression], plan: CallPlan, signature: Signature
) -> None:
    """`f(a, b)`: arguments bind to the declared inputs in their order (L13a)."""
    names = signature.names
    if signature.open and not names:
        return  # nothing is known of it
    if len(arguments) > len(names):
        wanted = ", ".join(names) or "nothing"
        resolver.report("P210", f"`{plan.target.name}` takes {wanted}; {len(arguments)} values given", node)
        return
    by_position = names[: len(arguments)]
    for name, item in (*plan.bindings, *plan.words.items()):
        if name in by_position:
            message = f"`{name}` is bound twice: the value in brackets is its value already"
            resolver.report("P209", message, Span(item.start, item.name_end))
    given = {*by_position, *(name for name, _ in plan.bindings), *plan.words}
    _missing(resolver, plan, signature, given)
    _check_values(resolver, plan, signature, dict(zip(names, arguments, strict=False)))


def _check_bindings(resolver: Resolver, plan: CallPlan, signature: Signature) -> None:
    if not signature.open:
        for name, item in plan.bindings:
            if signature.parameter(name) is None:
                close = nearest(name, signature.names)
                hint = did_you_mean(close[:1])
                if hint is None and signature.names:
                    hint = "it takes " + ", ".join(signature.names)
                resolver.report(
                    "P210", f"`{plan.target.name}` has no input `{name}`", Span(item.start, item.name_end), hint=hint
                )
    _missing(resolver, plan, signature, {*(name for name, _ in plan.bindings), *plan.words})
    bound = {name: item.value for name, item in (*plan.bindings, *plan.words.items()) if item.value is not None}
    _check_values(resolver, plan, signature, bound)


def _check_values(resolver: Resolver, plan: CallPlan, signature: Signature, bound: Mapping[str, n.Node]) -> None:
    """A value that is written out and cannot be one of the declared input is found before the run (L3)."""
    for name, node in bound.items():
        parameter = signature.parameter(name)
        item = parameter.item if parameter is not None else None
        if item is None or takes_text(item):
            continue
        value = constant(node)
        if value is not UNKNOWN and (wrong := misfit(value, item)):
            resolver.report("P211", f"`{name}` of `{plan.target.name}` {wrong}", node)


def constant(node: n.Node) -> Any:
    """The value of an expression that is written out; UNKNOWN where a name, a call or an operator decides it.

    >>> constant(n.ListLiteral(0, 5, (n.Literal(1, 2, 1), n.Unary(3, 5, "-", n.Literal(4, 5, 2)))))
    [1, -2]
    """
    match node:
        case n.Literal(value=value):
            return value
        case n.Unary(operator="-", operand=n.Literal(value=int() | float() as value)) if not isinstance(value, bool):
            return -value
        case n.ListLiteral(items=items):
            found = [constant(item) for item in items]
            return UNKNOWN if any(one is UNKNOWN for one in found) else found
        case n.ObjectLiteral(entries=entries):
            made = {entry.key: constant(entry.value) for entry in entries}
            return UNKNOWN if any(one is UNKNOWN for one in made.values()) else made
    return UNKNOWN


def _missing(resolver: Resolver, plan: CallPlan, signature: Signature, given: set[str]) -> None:
    missing = [p.name for p in signature.parameters if p.required and p.name not in given]
    if missing and not resolver.has_broken_lines(plan.site.span):
        words = ", ".join(f"`{name}`" for name in missing)
        slots = any(parameter.slot for parameter in signature.parameters if parameter.name in missing)
        hint = f"bind it below the call: {missing[0]}: …" if len(missing) == 1 else "bind them below the call"
        if slots:
            hint = "an instance binds the slots of a pattern: name, pattern and with, under Services"
        resolver.report("P203", f"the call of `{plan.target.name}` does not give {words}", plan.target.span, hint)
