"""From an entry of a document to a checked, immutable Program."""

from __future__ import annotations

from types import MappingProxyType

from prose_lang.diagnostics import sort_diagnostics
from prose_lang.documents.model import Document, Entry
from prose_lang.semantics.environment import Environment, Nothing
from prose_lang.semantics.program import Base, Program
from prose_lang.semantics.resolver import Resolver
from prose_lang.semantics.signature import Parameter, Signature
from prose_lang.syntax import Parsed, parse
from prose_lang.syntax import nodes as n
from prose_lang.text import Source, Span


def analyze(
    document: Document,
    entry: Entry | None = None,
    environment: Environment | None = None,
    parsed: Parsed | None = None,
) -> Program:
    """Parse and check the body of an entry. Never raises for faults of the text: they are in `diagnostics`.

    `parsed` is the body's tree where the caller has it already; the tables of the Program speak of its nodes.
    """
    entry = entry or document.main
    parsed = parsed or parse_body(document, entry)
    resolver = Resolver(document, entry, parsed, environment or Nothing())
    if parsed.body.statements:
        resolver.resolve(parsed.body)
    if environment is not None:
        _missing_services(resolver, environment)
    return program_of(resolver)


def program_of(resolver: Resolver) -> Program:
    """What a resolver has found out, for good."""
    document, entry, parsed = resolver.document, resolver.entry, resolver.parsed
    bases = tuple(resolver.bases.values())
    return Program(
        document=document,
        entry=entry,
        source=document.source,
        body=parsed.body if entry.body is not None else None,
        cells=resolver.cells,
        bases=bases,
        names=MappingProxyType({base.name: base for base in bases}),
        required=tuple(item for item in entry.inputs if not (item.optional or item.has_default)),
        initial=tuple(resolver.initial),
        reads=MappingProxyType(resolver.reads),
        config_reads=frozenset(resolver.config_reads),
        writes=MappingProxyType(resolver.writes),
        aliases=MappingProxyType(resolver.aliases),
        sites=MappingProxyType(resolver.sites),
        calls=MappingProxyType(resolver.calls),
        conditions=MappingProxyType(resolver.conditions),
        collects=frozenset(resolver.collects),
        growing=frozenset(resolver.growing),
        latest=MappingProxyType(resolver.latest),
        items=MappingProxyType(resolver.items),
        blocks=MappingProxyType(resolver.blocks),
        uses=MappingProxyType(resolver.uses),
        agents=MappingProxyType(resolver.agents),
        signature=entry_signature(entry, bases),
        diagnostics=tuple(sort_diagnostics([*parsed.diagnostics, *resolver.diagnostics])),
    )


def _missing_services(resolver: Resolver, environment: Environment) -> None:
    """Services lists what an entry may call (L2): a name that nothing provides is told, also where no body calls it."""
    for name, span in resolver.entry.service_spans.items():
        if name not in resolver.unprovided and name not in resolver.bases and environment.signature(name) is None:
            hint = f"put {name}.prose.md beside this file, or give such a service (--services, --script)"
            resolver.lint("missing-service", f"Services lists `{name}`, and nothing provides it", span, hint, name)


def parse_body(document: Document, entry: Entry) -> Parsed:
    """The tree of an entry's body; an empty one if it has none."""
    if entry.body is None:
        return no_body(document.source)
    return parse(document.source, entry.body.span, entry.body.indent)


def no_body(source: Source) -> Parsed:
    """What there is to parse where there is no body."""
    return Parsed(source, Span(0, 0), n.Body(0, 0, ()), (), (), ())


def entry_signature(entry: Entry, bases: tuple[Base, ...] = ()) -> Signature:
    """What a call of an entry may bind: slots, inputs and config keys by name, implicit inputs as optional ones."""
    parameters = [Parameter(slot.name, required=not slot.optional, slot=True) for slot in entry.slots]
    parameters += [
        Parameter(item.name, required=not (item.optional or item.has_default), type=item.type, item=item)
        for item in entry.inputs
    ]
    parameters += [Parameter(item.name, required=False, type=item.type, item=item) for item in entry.config]
    known = {parameter.name for parameter in parameters}
    parameters += [
        Parameter(base.name, required=False) for base in bases if base.kind == "implicit" and base.name not in known
    ]
    outputs = entry.outputs if entry.kind != "pattern" else None
    return Signature(tuple(parameters), open=entry.open_inputs and entry.body is None, outputs=outputs or None)
