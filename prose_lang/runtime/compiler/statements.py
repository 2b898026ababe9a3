"""Statements: bindings, assignments, `record`, `return`, `throw`, `if`, `choice`, `try`, `do` (L14–L28)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics import RunError
from prose_lang.runtime.access import changed, single_output
from prose_lang.runtime.access import member as member_of
from prose_lang.runtime.compiler import calls
from prose_lang.runtime.compiler.code import Frame, Step, Value
from prose_lang.runtime.completion import BREAK, CONTINUE, ArmValue, Escape, Return
from prose_lang.runtime.place import Place
from prose_lang.syntax import nodes as n
from prose_lang.text import Span
from prose_lang.values import GrowingList, TooLarge, kind_of, to_json
from prose_lang.values.model import MAX_NODES

if TYPE_CHECKING:
    from prose_lang.runtime.compiler.compiler import Compiler

_KEBAB = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


def compile_statement(c: Compiler, node: n.Statement, tail: type[Return] | type[ArmValue] | None) -> Step | None:
    """The step of a statement; None for what does nothing when it is reached. `tail` wraps its value (L23)."""
    match node:
        case n.Let(name=name, value=value):
            return _let(c, node, name, value, tail)
        case n.Destructure():
            return _destructure(c, node, tail)
        case n.Assign(path=path) if path:
            return _assign_part(c, node)
        case n.Assign(name=name, value=value):
            return _let(c, node, name, value, None)
        case n.Evaluate(value=value):
            return _evaluate(c, value, tail)
        case n.Return(value=value):
            return _return(c, node.span, value)
        case n.Throw():
            return _throw(c, node)
        case n.Record():
            return _record(c, node)
        case n.Break():
            return Step(lambda f: BREAK)
        case n.Continue():
            return Step(lambda f: CONTINUE)
        case n.BlockDef() | n.AgentDef() | n.Use() | n.Malformed():
            return None


def then(value: Value, use: Callable[[Frame, Any], Any]) -> Step:
    """A step that evaluates a value and does something with it, unless the value escapes."""
    run = value.run
    if not value.waits and not value.escapes:
        return Step(lambda f: use(f, run(f)))
    if not value.waits:

        def run_escaping(f: Frame) -> Any:
            found = run(f)
            return found.completion if type(found) is Escape else use(f, found)

        return Step(run_escaping)
    if not value.escapes:

        async def run_waiting(f: Frame) -> Any:
            return use(f, await run(f))

        return Step(run_waiting, waits=True)

    async def run_both(f: Frame) -> Any:
        found = await run(f)
        return found.completion if type(found) is Escape else use(f, found)

    return Step(run_both, waits=True)


# --- bindings --------------------------------------------------------------------------------------------------------


def _let(c: Compiler, node: n.Node, name: n.Name, value: n.Value, tail: Any) -> Step:
    cell = c.program.writes[name]
    alias = c.program.aliases.get(cell)
    if isinstance(value, n.Call) and value.arguments is None and tail is None:
        step = calls.compile_call(c, value, alias, into=cell)
        return Step(step.run, waits=True) if not step.escapes else then(step, lambda f, found: None)
    if alias is not None and isinstance(value, n.Call):
        compiled = calls.compile_call(c, value, alias)
    else:
        compiled = c.value(value)
        if alias is not None:
            compiled = _clearing(compiled, alias)
    if tail is not None:

        def set_and_give(f: Frame, found: Any) -> Any:
            f[cell] = found
            return tail(found)

        return then(compiled, set_and_give)
    run = compiled.run
    if compiled.escapes:

        def set_cell(f: Frame, found: Any) -> None:
            f[cell] = found

        return then(compiled, set_cell)
    if compiled.waits:

        async def let_waiting(f: Frame) -> None:
            f[cell] = await run(f)

        return Step(let_waiting, waits=True)

    def let(f: Frame) -> None:
        f[cell] = run(f)

    return Step(let)


def _clearing(value: Value, alias: int) -> Value:
    """A value that is no call result: the variable it goes to has no single output any more (§9 L13)."""
    run = value.run
    if value.waits:

        async def run_waiting(f: Frame) -> Any:
            found = await run(f)
            f[alias] = None
            return found

        return Value(run_waiting, True, value.escapes)

    def run_now(f: Frame) -> Any:
        found = run(f)
        f[alias] = None
        return found

    return Value(run_now, False, value.escapes)


def _destructure(c: Compiler, node: n.Destructure, tail: Any) -> Step:
    fields = [(name.id, c.program.writes[name], c.place(name)) for name in node.names]
    aliases = [c.program.aliases[cell] for _, cell, _ in fields if cell in c.program.aliases]
    single, declared = (c.cell(), c.cell()) if isinstance(node.value, n.Call) else (None, None)
    if isinstance(node.value, n.Call):
        compiled = calls.compile_call(c, node.value, single, declared)
    else:
        compiled = c.value(node.value)

    def take(f: Frame, found: Any) -> Any:
        for name, cell, place in fields:
            if type(found) is dict and name in found:
                f[cell] = found[name]
            elif single is not None and f[single] == name:
                f[cell] = single_output(found, name)  # it came without its name (L33)
            elif declared is not None and f[declared]:
                place.fail("P404", f"the result has no `{name}`, though its service declares its outputs")
            else:
                f[cell] = member_of(found, name, place, f[0].run.warn)
        for alias in aliases:
            f[alias] = None
        return tail(found) if tail is not None else None

    return then(compiled, take)


def _assign_part(c: Compiler, node: n.Assign) -> Step:
    """The value first, then the keys of the path, then the change (L19)."""
    cell, place = c.program.writes[node.name], c.place(node)
    alias = c.program.aliases.get(cell)
    keys = [part if isinstance(part, str) else c.expression(part) for part in node.path]
    compiled = c.value(node.value)

    def change(f: Frame, path: list[Any], found: Any) -> None:
        f[cell] = changed(f[cell], path, found, place)
        if alias is not None:
            f[alias] = None

    if any(isinstance(key, Value) and key.waits for key in keys):

        async def assign_waiting(f: Frame) -> Any:
            found = await compiled.run(f) if compiled.waits else compiled.run(f)
            if type(found) is Escape:
                return found.completion
            path = []
            for key in keys:
                path.append(key if isinstance(key, str) else await key.run(f) if key.waits else key.run(f))
            change(f, path, found)

        return Step(assign_waiting, waits=True)
    getters: list[Any] = [key if isinstance(key, str) else key.run for key in keys]
    return then(compiled, lambda f, found: change(f, [k if isinstance(k, str) else k(f) for k in getters], found))


def _record(c: Compiler, node: n.Record) -> Step:
    cell, place, name = c.program.writes[node.name], c.place(node.name), node.name.id
    alias = c.program.aliases.get(cell)

    def record(f: Frame, found: Any) -> None:
        log = f[cell]
        if alias is not None:
            f[alias] = None
        if type(log) is GrowingList and not log.shared:
            if len(log) >= MAX_NODES:
                place.fail("P304", f"the list would be longer than {MAX_NODES:,} entries")
            log.append(found)
            return
        if log is None:
            f[cell] = GrowingList((found,))
        elif isinstance(log, list):
            grown = GrowingList(log)
            grown.append(found)
            f[cell] = grown
        else:
            place.fail("P304", f"`{name}` is no list but a {kind_of(log)}; nothing can be added to it")

    return then(c.expression(node.value), record)


# --- values, return, throw -------------------------------------------------------------------------------------------


def _evaluate(c: Compiler, value: n.Value, tail: Any) -> Step:
    match value:
        case n.Repeat() | n.For() if value in c.program.collects:
            pass
        case n.If() | n.Choice() | n.Try() | n.Repeat() | n.For() | n.Loop():
            return c.action(value, tail)
        case _:
            pass
    compiled = c.value(value)
    if tail is not None:
        return then(compiled, lambda f, found: tail(found))
    if compiled.escapes:
        return then(compiled, lambda f, found: None)
    run = compiled.run
    if compiled.waits:

        async def drop_waiting(f: Frame) -> None:
            await run(f)

        return Step(drop_waiting, waits=True)

    def drop(f: Frame) -> None:
        run(f)

    return Step(drop)


def _return(c: Compiler, span: Span, value: n.Value | None) -> Step:
    if value is None:
        return Step(lambda f: Return(None, span))
    return then(c.value(value), lambda f, found: Return(found, span))


def _throw(c: Compiler, node: n.Throw) -> Step:
    place = c.place(node)
    if node.value is None:
        caught = c.caught

        def rethrow(f: Frame) -> None:
            error = f[caught] if caught is not None else None
            if error is not None:
                raise error
            place.fail("P308", "the program threw an error without saying which")

        return Step(rethrow)
    return then(c.expression(node.value), lambda f, found: _raise(found, place))


def _raise(found: Any, place: Place) -> None:
    name: str | None = None
    thrown: Any = None
    if isinstance(found, str):
        message = str(found)
        name = message if _KEBAB.fullmatch(message) else None
    elif isinstance(found, dict):
        thrown = found
        name = found["error"] if isinstance(found.get("error"), str) else None
        text = found.get("message")
        message = text if isinstance(text, str) else name or _written(found)
    else:
        message, thrown = _written(found), found
    raise RunError("P308", message, source=place.source, span=place.span, error_name=name, thrown=thrown)


def _written(thrown: Any) -> str:
    try:
        return to_json(thrown)
    except TooLarge as error:
        return f"({error})"


def error_value(error: RunError) -> dict[str, Any]:
    """What `catch as e` and `on-fail: "continue"` give the program of an error (L27).

    An error that ended a parallel block has besides what came of the other branches, in source order: the first error
    (L24) has `values`, null for a branch without one; that too few succeeded has `errors`, one for each that failed.
    """
    plain: dict[str, Any] = {
        "name": error.name,
        "code": error.code,
        "message": error.message,
        "service": error.service,
        "attempts": error.attempts,
    }
    if error.thrown is not None:
        plain["value"] = error.thrown
    if error.survivors is not None:
        plain["values"] = error.survivors
    if error.branch_errors:
        plain["errors"] = [error_value(one) for one in error.branch_errors]
    return plain


# --- if, choice, try, do ---------------------------------------------------------------------------------------------


def compile_if(c: Compiler, node: n.If, tail: Any) -> Step:
    arms = [(c.condition(arm.condition), c.sequence(arm.body.statements, tail)) for arm in node.arms]
    last = c.sequence(node.otherwise.statements, tail) if node.otherwise is not None else Step(lambda f: None)
    if not last.waits and not any(decider.waits or step.waits for decider, step in arms):
        pairs = [(decider.quick, step.run) for decider, step in arms]
        otherwise = last.run

        def choose(f: Frame) -> Any:
            for holds, run in pairs:
                if holds(f):
                    return run(f)
            return otherwise(f)

        return Step(choose)

    ways = [(decider.quick, decider.decide, step.run, step.waits) for decider, step in arms]

    async def choose_waiting(f: Frame) -> Any:
        for quick, decide, run, waits in ways:
            holds = quick(f)
            if holds is None:
                holds = await decide(f)
            if holds:
                completion = run(f)
                return await completion if waits else completion
        completion = last.run(f)
        return await completion if last.waits else completion

    return Step(choose_waiting, waits=True)


def compile_choice(c: Compiler, node: n.Choice, tail: Any) -> Step:
    decider = c.condition(node.criteria)
    steps = {option.label: c.sequence(option.body.statements, tail) for option in node.options}

    async def choose(f: Frame) -> Any:
        step = steps[await decider.decide(f)]
        completion = step.run(f)
        return await completion if step.waits else completion

    return Step(choose, waits=True)


def compile_try(c: Compiler, node: n.Try, tail: Any) -> Step:
    body = c.sequence(node.body.statements, tail)
    handler: Step | None = None
    cell = c.cell()
    name_cell = c.program.writes.get(node.name) if node.name is not None else None
    if node.handler is not None:
        caught, c.caught = c.caught, cell
        handler = c.sequence(node.handler.statements, tail)
        c.caught = caught
    cleanup = c.sequence(node.cleanup.statements, None) if node.cleanup is not None else None

    async def attempt(f: Frame) -> Any:
        indices = f[0].indices
        try:
            completion = body.run(f)
            return await completion if body.waits else completion
        except RunError as error:
            if handler is None or not error.catchable:
                raise
            f[0].indices = indices
            f[cell] = error
            f[0].run.note("caught", f[0], error)
            if name_cell is not None:
                f[name_cell] = error_value(error)
            try:
                completion = handler.run(f)
                return await completion if handler.waits else completion
            except RunError as second:
                if second is not error and second.__cause__ is None:
                    second.__cause__ = error
                raise

    if cleanup is None:
        return Step(attempt, waits=True)
    last = cleanup

    async def attempt_and_clean(f: Frame) -> Any:
        indices = f[0].indices
        try:
            completion = await attempt(f)
        except BaseException as error:
            here = f[0]
            here.indices = indices
            leaving = here.leaving
            here.leaving = leaving or not (isinstance(error, RunError) and error.catchable)
            try:
                instead = last.run(f)
                instead = await instead if last.waits else instead
            except RunError as second:
                if second.__cause__ is None:
                    second.__cause__ = error
                raise
            finally:
                here.leaving = leaving
            if instead is not None and isinstance(error, RunError) and error.catchable:
                return instead  # a `return` in `finally` wins over the error, as over a value
            raise
        f[0].indices = indices
        instead = last.run(f)
        instead = await instead if last.waits else instead
        return completion if instead is None else instead

    return Step(attempt_and_clean, waits=True)


def compile_do(c: Compiler, node: n.Do) -> Value:
    if node.body is not None:
        step = c.body(node.body)
        run, fork = step.run, c.fork(node.body)
        if not step.waits:
            return Value(lambda f: value_of(run(fork(f))))

        async def run_body(f: Frame) -> Any:
            return value_of(await run(fork(f)))

        return Value(run_body, waits=True)
    assert node.target is not None
    name, place, site = node.target.id, c.place(node), c.program.sites[node]
    arguments = [c.expression(argument) for argument in node.arguments]

    async def run_block(f: Frame) -> Any:
        values = [await part.run(f) if part.waits else part.run(f) for part in arguments]
        here = f[0]
        home = here.home
        block = home.code.blocks[name]
        below = here.below(
            home,
            site.address(here.prefix, here.indices),
            (*here.order, *site.order(here.indices)),
            place,
        )
        below.template, below.own, below.inherited = here.template, here.own, here.inherited
        frame = here.template.copy()
        frame[0] = below
        for cell, value in zip(block.cells, values, strict=True):
            frame[cell] = value
        if not block.step.waits:
            return value_of(block.step.run(frame))
        return value_of(await below.descend(block.step.run(frame)))

    return Value(run_block, waits=True)


def value_of(completion: Any) -> Any:
    """The value of a body from its completion."""
    return completion.value if type(completion) is Return else None
