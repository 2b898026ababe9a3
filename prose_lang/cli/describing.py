"""What a pattern takes, returns and promises, as plain data and as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics.visible import visible
from prose_lang.documents.interface import PROMISES
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import children

if TYPE_CHECKING:
    from prose_lang.cli.terminal import Terminal
    from prose_lang.documents.model import Instance, Item, Slot
    from prose_lang.engine import Pattern
    from prose_lang.semantics import Program

_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)", re.DOTALL)
#: Sections whose contents stand in a description; of others it has the names.
_SHOWN = frozenset({*PROMISES, "slots", "config", "services", "patterns", "description", "delegation", "execution"})
#: What has a body of its own, in which a `return` does not end the pattern's body (L14).
_OWN_BODIES = (n.Parallel, n.ParallelFor, n.ParallelRepeat, n.Do, n.Stage, n.BlockDef)


def describe(pattern: Pattern) -> dict[str, Any]:
    """Everything that a user of a pattern needs to know, as plain data."""
    entry, document = pattern.entry, pattern.document
    program = pattern.engine.program(pattern) if entry.body is not None else None
    implicit = program.implicit_inputs if program is not None else ()
    return {
        "name": entry.name,
        "kind": entry.kind,
        "group": document.group if entry is document.main else None,
        "title": entry.title,
        "description": entry.description,
        "file": document.source.name,
        "slots": [_slot(slot) for slot in entry.slots],
        "inputs": [_item(item) for item in entry.inputs] + [_implicit(name) for name in implicit],
        "config": [_item(item) for item in entry.config],
        "returns": returned_keys(program) if program is not None and entry.kind == "pattern" else _outputs(pattern),
        "services": sorted(entry.services, key=lambda name: entry.service_spans[name]),
        "instances": [_instance(instance) for instance in entry.instances],
        "guarantees": [{"section": section, "text": text} for section, text in entry.guarantees],
        "sections": list(dict.fromkeys(one.name for one in entry.sections if one.key not in _SHOWN)),
        "entries": [one.name for one in document.entries if one is not entry and not one.is_documentation],
    }


def returned_keys(program: Program) -> list[str]:
    """The keys of the objects that a pattern returns (L6), in the order of the text."""
    keys: dict[str, None] = {}
    stack: list[n.Node] = [program.body] if program.body is not None else []
    while stack:
        node = stack.pop()
        if isinstance(node, n.Return) and isinstance(node.value, n.ObjectLiteral):
            keys.update(dict.fromkeys(entry.key for entry in node.value.entries))
        if not isinstance(node, _OWN_BODIES) and node not in program.collects:
            stack.extend(reversed(tuple(children(node))))
    return list(keys)


def first_sentence(text: str) -> str:
    """The first sentence of a description, on one line.

    >>> first_sentence("Draft, score, improve. Then stop.")
    'Draft, score, improve.'
    """
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    match = _SENTENCE.match(paragraph)
    return visible(match[1] if match else paragraph)


def description_lines(described: Mapping[str, Any], terminal: Terminal) -> Iterator[str]:
    """A description as text."""

    def heading(text: str) -> str:
        return terminal.paint("1", text, terminal.out)

    yield f"{heading(visible(described['name']))} ({described['kind']}, {visible(described['file'])})"
    for line in described["description"].splitlines():
        yield visible(line)
    for title, key, kind in (("Slots", "slots", "slot"), ("Inputs", "inputs", "input"), ("Config", "config", "config")):
        if described[key]:
            yield ""
            yield heading(title)
            yield from _table([(item["name"], _facts(item, kind), item["description"]) for item in described[key]])
    if described["returns"]:
        yield ""
        yield f"{heading('Returns')} {visible(', '.join(described['returns']))}"
    if described["services"] or described["instances"]:
        yield ""
        yield heading("Services")
        yield from (f"  {visible(name)}" for name in described["services"])
        yield from (f"  {visible(one['name'])}: {visible(_written(one))}" for one in described["instances"])
    section = None
    for promise in described["guarantees"]:
        if promise["section"] != section:
            section = promise["section"]
            yield ""
            yield heading(visible(section))
        yield f"  - {visible(' '.join(promise['text'].split()))}"
    if described["sections"]:
        yield ""
        yield f"{heading('Other sections')} {visible(', '.join(described['sections']))}"
    if described["entries"]:
        yield ""
        yield f"{heading('Other entries')} {visible(', '.join(described['entries']))}"


def _instance(instance: Instance) -> dict[str, Any]:
    """An instance as it stands in YAML; one that is nested may have no name."""
    bound: dict[str, Any] = {}
    for name, slot in instance.slots.items():
        services = [one if isinstance(one, str) else _instance(one) for one in slot.services]
        bound[name] = services if slot.listed else services[0] if services else None
    plain: dict[str, Any] = {"name": instance.name} if instance.name else {}
    return {**plain, "pattern": instance.pattern, "with": bound, "config": dict(instance.config)}


def _written(service: Any) -> str:
    """What a slot is bound to, on one line.

    >>> _written({"pattern": "refine", "with": {"refiner": "a", "judges": ["b", "c"]}, "config": {"max_rounds": 2}})
    'refine(refiner: a, judges: [b, c], max_rounds: 2)'
    """
    match service:
        case list():
            return f"[{', '.join(map(_written, service))}]"
        case {"pattern": pattern, "with": bound, "config": config}:
            parts = [f"{name}: {_written(value)}" for name, value in bound.items()]
            parts += [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in config.items()]
            return f"{pattern}({', '.join(parts)})"
    return str(service)


def _slot(slot: Slot) -> dict[str, Any]:
    return {
        "name": slot.name,
        "description": slot.description,
        "many": slot.many,
        "required": not slot.optional,
        "requires": list(slot.requires),
        "ensures": list(slot.ensures),
    }


def _item(item: Item) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "name": item.name,
        "type": item.type.text,
        "description": item.description,
        "required": not (item.optional or item.has_default),
    }
    if item.has_default:
        plain["default"] = item.default
    if item.minimum is not None:
        plain["minimum"] = item.minimum
    if item.maximum is not None:
        plain["maximum"] = item.maximum
    if item.one_of:
        plain["one_of"] = list(item.one_of)
    return plain


def _implicit(name: str) -> dict[str, Any]:
    """An input that the body reads and nothing declares (L15)."""
    return {"name": name, "type": "any", "description": "(read by the body, not declared)", "required": False}


def _outputs(pattern: Pattern) -> list[str]:
    return [item.name for item in pattern.entry.outputs]


def _facts(item: Mapping[str, Any], kind: str) -> str:
    if kind == "slot":
        return ("services, in order" if item["many"] else "service") + ("" if item["required"] else ", optional")
    facts = [item["type"]]
    if item["required"]:
        facts.append("required" if kind == "input" else "")
    elif "default" in item:
        facts.append(f"default {json.dumps(item['default'], ensure_ascii=False)}")
    else:
        facts.append("optional")
    if "minimum" in item:
        facts.append(f"from {item['minimum']:g}")
    if "maximum" in item:
        facts.append(f"to {item['maximum']:g}")
    if "one_of" in item:
        facts.append("one of " + ", ".join(json.dumps(value, ensure_ascii=False) for value in item["one_of"]))
    return ", ".join(fact for fact in facts if fact)


def _table(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    names = max(len(visible(name)) for name, _, _ in rows)
    facts = min(40, max(len(visible(fact)) for _, fact, _ in rows))
    for name, fact, text in rows:
        line = f"  {visible(name):<{names}}  {visible(fact):<{facts}}  {visible(' '.join(text.split()))}"
        yield line.rstrip()
