"""Sessions and agents (L29), as far as they can be checked before a run: their modifiers, and what can be resumed."""

from __future__ import annotations

from prose_lang.semantics.modifiers import check_call_modifiers
from prose_lang.semantics.walk import Walk
from prose_lang.syntax import nodes as n
from prose_lang.text import nearest

_MODIFIERS = ("retry", "backoff", "timeout")


def check_session(walk: Walk, node: n.Session | n.Resume) -> None:
    """P202 for an agent that is not there, P212 for modifiers; a lint where no conversation is kept to resume."""
    check_call_modifiers(walk.report, _named(node.properties, _MODIFIERS))
    if node.agent is None:
        return
    name = node.agent.id
    agent = walk.agents.get(name)
    if agent is None:
        if name not in walk.broken_words:
            close = nearest(name, walk.agents)
            hint = f"did you mean `{close[0]}`?" if close else f"define it: agent {name}:"
            walk.report("P202", f"there is no agent `{name}`", node.agent, hint=hint)
    elif isinstance(node, n.Resume) and not _keeps(agent) and not walk.has_broken_lines(agent.span):
        message = f"the agent `{name}` keeps no conversation that could be resumed"
        walk.lint("nothing-to-resume", message, node.agent, hint="let it keep one: add `persist: true` to the agent")


def check_agent(walk: Walk, node: n.AgentDef) -> None:
    """P212 for modifiers that no session of the agent can have."""
    check_call_modifiers(walk.report, _named(node.properties, _MODIFIERS))


def _named(properties: tuple[n.Property, ...], names: tuple[str, ...]) -> dict[str, n.Property]:
    found: dict[str, n.Property] = {}
    for item in properties:
        if item.name in names:
            found.setdefault(item.name, item)
    return found


def _keeps(agent: n.AgentDef) -> bool:
    """Whether an agent keeps its conversation: it has `persist`, and not one of false or null."""
    item = _named(agent.properties, ("persist",)).get("persist")
    if item is None:
        return False
    return not (isinstance(item.value, n.Literal) and item.value.value in (None, False))
