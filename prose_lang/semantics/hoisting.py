"""Blocks, agents and uses: known everywhere in a body, wherever they stand (L28: blocks call each other; L29, L8)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from prose_lang.semantics.walk import Walk
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk as nodes_of
from prose_lang.text import did_you_mean

_NAME = re.compile(r"[^\W\d]\w*(?:-+\w+)*")


def hoist(walk: Walk, body: n.Body) -> None:
    """Note what a body defines. Each name is defined once (P207), and what `use` names must be there (P109)."""
    for statement in nodes_of(body):
        match statement:
            case n.BlockDef(name=name):
                if name.id in walk.blocks:
                    _twice(walk, "block", name, walk.blocks[name.id])
                walk.blocks.setdefault(name.id, statement)
            case n.AgentDef(name=name):
                if name.id in walk.agents:
                    _twice(walk, "agent", name, walk.agents[name.id])
                walk.agents.setdefault(name.id, statement)
            case n.Use():
                _use(walk, statement)
            case _:
                pass
    _collisions(walk, {"agent": walk.agents, "`use`": walk.uses})


def _twice(walk: Walk, what: str, name: n.Name, first: n.Node) -> None:
    line = walk.source.position(first.start).line
    walk.report("P207", f"the {what} `{name.id}` is defined twice", name, hint=f"it is defined first on line {line}")


def _use(walk: Walk, statement: n.Use) -> None:
    reference, alias = statement.reference, statement.alias
    name = alias.id if alias else reference.rstrip("/").rsplit("/", 1)[-1]
    if not reference.strip():
        walk.report("P109", "this `use` names nothing", statement, hint='write use "path/of/it" as name')
        return
    if alias is None and not _NAME.fullmatch(name):
        walk.report("P101", f"`{name}` cannot be a name", statement, hint=f'give it one: use "{reference}" as name')
        return
    if name in walk.uses:
        walk.report("P207", f"`{name}` is declared twice", alias or statement)
        return
    walk.uses[name] = statement
    if walk.environment.signature(reference) is None:
        close = walk.nearest(name, walk.environment.names())
        hint = did_you_mean(close[:1])
        walk.report("P109", f"`{reference}` does not resolve", statement, hint, reference)


def _collisions(walk: Walk, others: Mapping[str, Mapping[str, n.AgentDef | n.Use]]) -> None:
    """A block that has the name of an agent or of a `use` (L28)."""
    for name, block in walk.blocks.items():
        for what, known in others.items():
            if name in known:
                line = walk.source.position(known[name].start).line
                message = f"the block `{name}` has the name of the {what} on line {line}"
                walk.report("P207", message, block.name, hint="choose another name for the block")
