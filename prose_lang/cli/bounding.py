"""`prose show --calls`: how many calls a run makes at least and at most, as plain data and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics import CheckError, Diagnostic
from prose_lang.diagnostics.visible import visible, width_of
from prose_lang.engine import Given
from prose_lang.engine.types import Mismatch, fitted
from prose_lang.report.bounds import Bound, CallBounds
from prose_lang.services import split_list
from prose_lang.text import did_you_mean, nearest

if TYPE_CHECKING:
    from prose_lang.cli.terminal import Terminal
    from prose_lang.engine import Pattern
    from prose_lang.semantics import Program

TITLE = "Calls of a run, at least and at most"

_KINDS = {"slot": "", "service": "service", "entry": "entry", "variable": "reference held by a variable",
          "predicate": "where it is a service", "model": "model"}  # fmt: skip


def values_for(program: Program, given: Mapping[str, Given]) -> dict[str, Any]:
    """What is given as the values that it comes to. Raises CheckError: P210 for unknown names, P211 for misfits."""
    values: dict[str, Any] = {}
    found: list[Diagnostic] = []
    for name, item in given.items():
        base = program.names.get(name)
        if base is None:
            close = nearest(name, program.names)
            hint = did_you_mean(close[:1])
            found.append(Diagnostic("P210", f"`{program.entry.name}` takes no `{name}`", None, None, hint=hint))
        elif base.slot is not None:
            values[name] = split_list(item.value) if item.text and isinstance(item.value, str) else item.value
        elif base.item is None:
            values[name] = item.value
        else:
            try:
                values[name] = fitted(item.value, base.item, text=item.text)
            except Mismatch as error:
                found.append(Diagnostic("P211", f"`{name}` {error}", program.source, base.item.span))
    if found:
        raise CheckError.from_diagnostics(found)
    return values


def as_json(pattern: Pattern, bounds: CallBounds, values: Mapping[str, Any]) -> dict[str, Any]:
    """Bounds as plain data. `least` and `most` are texts, the numbers those for the defaults and what is given."""
    return {
        "name": pattern.name,
        "file": pattern.document.source.name,
        "given": dict(values),
        "ends_with_a_value": bounds.ends,
        "targets": [
            {"kind": target.kind, "name": target.name, "calls": _plain(target.calls, bounds, values),
             "attempts": _plain(target.attempts, bounds, values)}
            for target in bounds.targets
        ],
        "total": _plain(bounds.total, bounds, values),
        "attempts": _plain(bounds.attempts, bounds, values),
        "judge": _plain(bounds.judge, bounds, values),
        "limit": _plain(bounds.spent, bounds, values),
        "notes": [{"file": reason.file, "line": reason.line, "text": reason.text} for reason in bounds.reasons],
    }  # fmt: skip


def _plain(bound: Bound, bounds: CallBounds, values: Mapping[str, Any]) -> dict[str, Any]:
    low, high = bound.within({**bounds.defaults, **values})
    return {
        "least": str(bound.low),
        "most": None if bound.high.infinite else str(bound.high),
        "exact": bound.exact,
        "at_least": low,
        "at_most": high,
    }


def bound_lines(pattern: Pattern, bounds: CallBounds, values: Mapping[str, Any], terminal: Terminal) -> Iterator[str]:
    """Bounds as a table, with what they rest on."""

    def heading(text: str) -> str:
        return terminal.paint("1", text, terminal.out)

    source = pattern.document.source.name
    yield f"{heading(visible(pattern.name))} ({pattern.entry.kind}, {visible(source)})"
    yield ""
    yield heading(TITLE)
    used = _used(bounds, values)
    yield from row_lines(bounds, values)
    yield ""
    shown = ", ".join(f"{name} = {_written(value)}" for name, value in used.items())
    if shown:
        yield f"The numbers are for {visible(shown)}."
    yield from _remarks(bounds, used, source)


def row_lines(bounds: CallBounds, values: Mapping[str, Any]) -> Iterator[str]:
    """The table of the bounds: what is called, how often, and what that comes to."""
    used = _used(bounds, values)
    rows = [(target.name, target.calls, _KINDS.get(target.kind, target.kind)) for target in bounds.targets]
    rows += [("in all", bounds.total, "")] if len(rows) != 1 else []
    rows += [("attempts", bounds.attempts, "with retries")] if bounds.attempts != bounds.total else []
    rows.append(("judge", bounds.judge, "" if bounds.judge.high.constant == 0 else "decisions"))
    cells = [(visible(name), visible(str(bound)), _numbers(bound, used), visible(note)) for name, bound, note in rows]
    widths = [max(width_of(row[column]) for row in cells) for column in range(4)]
    for row in cells:
        padded = [text + " " * (width - width_of(text)) for text, width in zip(row, widths, strict=True) if width]
        yield f"  {'  '.join(padded)}".rstrip()


def _used(bounds: CallBounds, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the bounds depend on, as far as they are known."""
    known = {**bounds.defaults, **values}
    symbols = (symbol for bound in bounds.all for end in (bound.low, bound.high) for symbol in end.symbols())
    names = dict.fromkeys(symbol.name for symbol in symbols if symbol.name in known)
    return {name: known[name] for name in names if name is not None}


def _numbers(bound: Bound, used: Mapping[str, Any]) -> str:
    """What a bound comes to; empty if that is what stands there already."""
    if bound.low.constant is not None and (bound.high.constant is not None or bound.high.infinite):
        return ""
    low, high = bound.within(used)
    if low is None or (high is None and low == bound.low.constant):
        return ""
    if high is None:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _written(value: Any) -> str:
    return f"{len(value)} entries" if isinstance(value, (list, dict)) else str(value)


def _remarks(bounds: CallBounds, used: Mapping[str, Any], source: str) -> Iterator[str]:
    if not bounds.ends:
        yield "No run ends with a value: every way through the body ends in an error."
    if bounds.attempts != bounds.total or bounds.judge.high.constant != 0:
        _, most = bounds.spent.within(used)
        number = f", here {most:,}" if most is not None and bounds.spent.high.constant is None else ""
        limit = "has no upper bound" if bounds.spent.high.infinite else f"is at most {bounds.spent.high}{number}"
        yield visible(
            f"What counts against --max-calls (attempts, and a judge's answer that has to be asked for again) {limit}."
        )
    if bounds.changing:
        yield "A length or count with a line is known only when it runs: the smallest below, the greatest above."
    if any(target.kind in ("slot", "variable") for target in bounds.targets):
        yield "A slot counts one call each time it is called; a pattern that is bound to it makes calls of its own."
    for reason in bounds.reasons:
        where = f"line {reason.line}" if reason.file == source else f"{reason.file}, line {reason.line}"
        yield visible(f"{where}: {reason.text}")
