"""The words on a graph: what the boxes and frames of statements say."""

from __future__ import annotations

from collections.abc import Sequence

from prose_lang.report.known import Bodied, Plain
from prose_lang.report.meanings import Meanings
from prose_lang.semantics import CallPlan, ConditionPlan
from prose_lang.services.builtin import BUILTIN_NAMES
from prose_lang.syntax import nodes as n

#: Characters of a text on a graph; what is longer is cut.
MAX_TEXT = 160


class Wording:
    """Words for the nodes of one program. `ceiling` is how many passes a loop without `max` may have."""

    def __init__(self, meanings: Meanings, ceiling: int) -> None:
        self.program = meanings.program
        self.meanings = meanings
        self.ceiling = ceiling

    def text(self, node: n.Node, most: int = MAX_TEXT) -> str:
        """A node as it is written, on one line."""
        return clipped(self.program.source.text[node.start : node.end], most)

    def call(self, plan: CallPlan, into: str) -> tuple[str, ...]:
        """What a call says: its target, what that is, where the result goes, and its retries."""
        name = plan.target.name
        # What goes by the name that is called need not be told twice.
        lines = [f"call {name}", self.bound_to(plan).removesuffix(f" {name}").removesuffix(":")]
        retry = plan.modifiers.get("retry")
        if retry is not None and retry.value is not None:
            lines.append(f"retry {self.text(retry.value, 30)}")
        if into:
            lines.append(f"→ {into}")
        return tuple(lines)

    def bound_to(self, plan: CallPlan) -> str:
        """What the target of a call is (L17)."""
        kinds = dict.fromkeys(self._kind(callee) for callee in self.meanings.called(plan))
        said = " or ".join(list(kinds)[:3]) + (" or another" if len(kinds) > 3 else "")
        if plan.target.slot is not None and not plan.target.shadowed:
            names = dict.fromkeys(callee.name for callee in self.meanings.called(plan))
            return said if said.startswith("slot ") else f"slot, bound to {' or '.join(names)}"
        return f"one of the {said}" if said.startswith("slot ") else said

    def _kind(self, found: Plain | Bodied) -> str:
        match found:
            case Bodied(instance="", unit=unit):
                return f"{unit.entry.kind} {unit.entry.name}"
            case Bodied(unit=unit):
                return f"instance of {unit.entry.name}"
            case Plain(kind="entry", name=name):
                return f"work for a model: {name}"
            case Plain(kind="slot", name=name):
                return f"slot {name}"
            case Plain(kind="variable"):
                return "service held by a variable"
            case Plain(name=name) if name in BUILTIN_NAMES and name not in self.meanings.callees.linker.registered:
                return f"built-in service {name}"
            case Plain(name=name):
                return f"registered service {name}"

    def session(self, node: n.Session | n.Resume, into: str) -> tuple[str, ...]:
        word = "session" if isinstance(node, n.Session) else "resume"
        lines = [f"{word}{f' {node.agent.id}' if node.agent is not None else ''}", "model"]
        if isinstance(node, n.Session) and node.prompt is not None:
            lines.append(self.text(node.prompt, 60))
        return (*lines, *([f"→ {into}"] if into else []))

    def decision(self, plan: ConditionPlan, word: str) -> tuple[str, ...]:
        """What a condition says, and the layers that can decide it (L30)."""
        others = [layer for layer in plan.layers if layer != "judge"]
        by = ", ".join(others)
        if "judge" in plan.layers:
            by = f"{by}, or asks the judge" if others else "asks the judge"
        return (f"{word} {clipped(plan.text)}", f"[{by}]")

    def returned(self, node: n.Return) -> tuple[str, ...]:
        """What a `return` says: the keys of an object, else the expression."""
        value = node.value
        if value is None:
            return ("return",)
        if isinstance(value, n.ObjectLiteral):
            keys = ", ".join(entry.key for entry in value.entries)
            return (f"return {{ {clipped(keys)} }}" if keys else "return {}",)
        if isinstance(value, ACTIONS):
            return ("return the result",)
        return (f"return {self.text(value, 60)}",)

    def loop(self, node: n.Repeat | n.For | n.Loop, *, collects: bool) -> str:
        """The head of a loop with its bound."""
        match node:
            case n.Repeat(count=count, variable=counter):
                head = f"repeat {self.text(count, 60)}{f' as {counter.id}' if counter else ''}"
            case n.For(variable=variable, index=index, iterable=iterable, limit=limit):
                names = f"{variable.id}, {index.id}" if index is not None else variable.id
                head = f"for {names} in {self.text(iterable, 60)}"
                head += f", at most {self.text(limit, 40)} times" if limit is not None else ""
            case n.Loop(kind=kind, limit=limit, variable=counter):
                head = "loop" if kind == "forever" else f"loop {kind}"
                head += f" as {counter.id}" if counter is not None else ""
                bound = self.text(limit, 40) if limit is not None else f"{self.ceiling:,} (no max is set)"
                head += f", at most {bound} times"
        return f"{head}, collects" if collects else head

    def parallel(self, node: n.Parallel | n.ParallelFor | n.ParallelRepeat) -> str:
        """The head of a parallel block with its strategy."""
        match node:
            case n.Parallel():
                head = "parallel"
            case n.ParallelFor(variable=variable, index=index, iterable=iterable):
                names = f"{variable.id}, {index.id}" if index is not None else variable.id
                head = f"parallel for {names} in {self.text(iterable, 60)}"
            case n.ParallelRepeat(count=count, variable=counter):
                head = f"parallel repeat {self.text(count, 60)}{f' as {counter.id}' if counter else ''}"
        said = {modifier.name: self.text(modifier.value, 30).strip('"') for modifier in node.modifiers}
        strategy = said.get(None, "all")
        count_text = said.get("count")
        strategy = f"{strategy} {count_text}" if count_text is not None else strategy
        on_fail = said.get("on-fail", "fail-fast" if strategy == "all" else "")
        return f"{head}: {strategy}{f', on-fail {on_fail}' if on_fail else ''}"

    def work(self, statements: Sequence[n.Statement]) -> tuple[str, ...]:
        """What statements say that call nothing: the first of them, and how many more there are."""
        lines = [self.text(statements[0], 50)] if statements else []
        if len(statements) > 1:
            lines.append(f"and {len(statements) - 1} more")
        return tuple(lines) or ("nothing",)


#: What is a value but no expression: it has steps of its own.
ACTIONS = (
    n.Call, n.Session, n.Resume, n.Pipeline, n.Do, n.Parallel, n.ParallelFor, n.ParallelRepeat, n.Repeat, n.For,
    n.Loop, n.If, n.Choice, n.Try,
)  # fmt: skip


def clipped(text: str, most: int = MAX_TEXT) -> str:
    """A text on one line, cut where it is too long.

    >>> clipped("one  two three", 8)
    'one two…'
    """
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
