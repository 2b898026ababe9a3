"""Sessions and agents (L29), as far as they can be checked before a run: their modifiers, where conversations are kept,
and what can be resumed."""

from __future__ import annotations

from prose_lang.semantics.modifiers import check_call_modifiers
from prose_lang.semantics.persistence import RUN, BadScope, is_storable, persisted
from prose_lang.semantics.walk import Walk
from prose_lang.syntax import nodes as n
from prose_lang.text import did_you_mean, nearest

_MODIFIERS = ("retry", "backoff", "timeout")


def check_session(walk: Walk, node: n.Session | n.Resume) -> None:
    """P202 for an agent that is not there, P212 for modifiers and `persist`; a lint where nothing is kept to resume."""
    check_call_modifiers(walk.report, _named(node.properties, _MODIFIERS))
    _check_persist(walk, node.properties, node.agent)
    if node.agent is None:
        return
    name = node.agent.id
    agent = walk.agents.get(name)
    if agent is None:
        if name not in walk.broken_words:
            close = nearest(name, walk.agents)
            hint = did_you_mean(close[:1]) or f"define it: agent {name}:"
            walk.report("P202", f"there is no agent `{name}`", node.agent, hint=hint)
    elif isinstance(node, n.Resume) and not _keeps(node, agent) and not walk.has_broken_lines(agent.span):
        message = f"the agent `{name}` keeps no conversation that could be resumed"
        walk.lint("nothing-to-resume", message, node.agent, hint="let it keep one: add `persist: true` to the agent")


def check_agent(walk: Walk, node: n.AgentDef) -> None:
    """P212 for modifiers that no session of the agent can have, and for a `persist` that says no place."""
    check_call_modifiers(walk.report, _named(node.properties, _MODIFIERS))
    _check_persist(walk, node.properties, node.name)


def _check_persist(walk: Walk, properties: tuple[n.Property, ...], agent: n.Name | None) -> None:
    try:
        scope = persisted(properties)
    except BadScope as error:
        walk.report("P212", str(error), error.node, hint="write persist: true, or persist: project")
        return
    if scope not in (None, RUN) and agent is not None and not is_storable(agent.id):
        message = f"`{agent.id}` cannot name the file that keeps its conversation"
        walk.report("P212", message, agent, hint="use the letters a to z, digits, `_` and `-`, up to 64 of them")


def _named(properties: tuple[n.Property, ...], names: tuple[str, ...]) -> dict[str, n.Property]:
    found: dict[str, n.Property] = {}
    for item in properties:
        if item.name in names:
            found.setdefault(item.name, item)
    return found


def _keeps(node: n.Resume, agent: n.AgentDef) -> bool:
    """Whether there can be a conversation to go on with: a `persist` that is unusable is reported where it stands."""
    try:
        return persisted(node.properties, agent.properties) is not None
    except BadScope:
        return True
