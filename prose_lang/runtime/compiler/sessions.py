"""`session` and `resume` (L29): calls of the default model, of what stands in for it, or for an agent by its name.

A session takes `prompt` and `context` as inputs. One of an agent with `persist` is kept as a turn of its conversation
once it is answered; `resume` sends along what was said before, as the input `conversation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prose_lang.runtime.compiler.calls import chosen_modifiers, evaluate_all, property_value, worded
from prose_lang.runtime.compiler.code import Frame, Value
from prose_lang.runtime.completion import Escape
from prose_lang.runtime.conversations import Key, Turn
from prose_lang.runtime.effects import Service, Session
from prose_lang.runtime.place import Place, located
from prose_lang.semantics.calls import MODIFIERS
from prose_lang.semantics.persistence import RUN, persisted
from prose_lang.syntax import nodes as n
from prose_lang.values import TooLarge, handout, interpolated

if TYPE_CHECKING:
    from prose_lang.runtime.compiler.compiler import Compiler

#: What is read of the properties of sessions and agents. The others (`skills`, `permissions`, `shape`) are for readers.
_READ = (*MODIFIERS, "prompt", "model", "context")


def compile_session(c: Compiler, node: n.Session | n.Resume) -> Value:
    """One call. The agent's prompt is the role, the session's own the task; what the session sets goes before what its
    agent sets."""
    place, site = c.place(node), c.program.sites[node]
    agent = c.program.agents.get(node.agent.id) if node.agent is not None else None
    settings = agent.properties if agent is not None else ()
    values = {item.name: property_value(c, item) for item in (*settings, *node.properties) if item.name in _READ}
    lent = {item.name: item for item in settings}
    own = {item.name for item in node.properties}
    role = property_value(c, lent["prompt"]) if "prompt" in lent else None
    if isinstance(node, n.Session) and node.prompt is not None:
        values["prompt"] = c.expression(node.prompt)
    elif "prompt" not in own:
        values.pop("prompt", None)
    if role is not None:
        values = {"role": role, **values}
    scope = persisted(node.properties, settings)
    key = None
    if agent is not None and scope is not None:
        key = Key(scope, agent.name.id, agent if scope == RUN else None)
    resumes = isinstance(node, n.Resume)
    name = agent.name.id if agent is not None else None

    async def session(f: Frame) -> Any:
        here = f[0]
        run, memory = here.run, here.memory
        service: Service | None = run.session(name)
        if service is None:
            place.fail("P410", "a session is work for a model, and no model is configured",
                       "call a service instead, or give the run a model (--model)")  # fmt: skip
        given = await evaluate_all(values, f)
        if type(given) is Escape:
            return given
        said = worded("role", given, place)
        offered = {"prompt": worded("prompt", given, place), "context": given.get("context"), "role": said}
        before: tuple[Turn, ...] = ()
        if key is not None:
            with located(place):
                memory.turns(key)  # what cannot be read is told before anything is spent
        if resumes:
            before = _before(key, name or "", f, place)
            if before:
                offered["conversation"] = [turn.shown() for turn in before]
        modifiers = await chosen_modifiers(None, {**given, "prompt": None, "context": None}, f, place)
        effect = Session(site, here, here.indices, service, _sent(service, offered), modifiers)
        effect.role, effect.before = said, before
        value = await (run.perform_composite(effect) if service.composite else run.perform(effect))
        if key is not None:
            turn = _turn(effect, offered, value, place)
            with located(place):
                memory.add(key, turn, anew=not resumes)
        return value

    return Value(session, waits=True, escapes=any(value.escapes for value in values.values()))


def _before(key: Key | None, name: str, f: Frame, place: Place) -> tuple[Turn, ...]:
    """What was said so far; a warning event where nothing was, for then `resume` begins anew."""
    here = f[0]
    if key is None:
        here.run.warn(place, "P303", f"the agent `{name}` keeps no conversation, so this one begins anew")
        return ()
    found: tuple[Turn, ...] | None = here.memory.turns(key)
    if not found:
        here.run.warn(place, "P303", f"there is no conversation of `{name}` yet, so this one begins anew")
    return found or ()


def _sent(service: Service, offered: dict[str, Any]) -> dict[str, Any]:
    """What of a session a service is sent: a model and what takes anything all but the role, which a model gets as its
    system text; another service what it declares."""
    signature = service.signature
    if signature.open or getattr(service, "metered", False):
        return {name: value for name, value in offered.items() if value is not None and name != "role"}
    return {
        name: value for name, value in offered.items() if value is not None and signature.parameter(name) is not None
    }


def _turn(effect: Session, offered: dict[str, Any], value: Any, place: Place) -> Turn:
    try:
        context, answer = handout(offered["context"]), interpolated(value)
    except TooLarge as error:
        place.fail("P304", f"the answer cannot be kept in a conversation: {error}")
    return Turn(offered["prompt"], context, answer, effect.place.run.run_id, effect.address)
