"""The modifiers of parallel blocks (L24) and of calls (L32), as far as they can be checked before a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from prose_lang.syntax import nodes as n
from prose_lang.text import Span, did_you_mean, nearest

STRATEGIES = ("all", "first", "any")
ON_FAIL = ("fail-fast", "continue", "ignore")
BACKOFF = ("none", "linear", "exponential")

Report = Callable[[str, str, "n.Node | Span", "str | None"], None]


def check_modifiers(report: Report, modifiers: Sequence[n.Modifier], branches: int | None) -> None:
    """P212 for what no parallel block can mean; `branches` is how many there are, where that is known."""
    strategy = "all"
    count: n.Modifier | None = None
    seen: set[str] = set()
    for modifier in modifiers:
        name = modifier.name or "strategy"
        if name in seen:
            report("P212", f"`{name}` is given twice", modifier, None)
        seen.add(name)
        literal = modifier.value.value if isinstance(modifier.value, n.Literal) else None
        if name == "strategy":
            _one_of(report, modifier, "strategy", literal, STRATEGIES)
            strategy = literal if literal in STRATEGIES else strategy
        elif name == "on-fail":
            _one_of(report, modifier, "`on-fail`", literal, ON_FAIL)
        elif name == "count":
            count = modifier
        else:
            close = nearest(name, ("count", "on-fail"))
            hint = did_you_mean(close[:1]) or 'write ("first" | "any" | "all", count: N, on-fail: "…")'
            report("P212", f"a parallel block has no modifier `{name}`", modifier, hint)
    if count is not None:
        _check_count(report, count, strategy, branches)


def _one_of(report: Report, modifier: n.Modifier, what: str, literal: object, allowed: Sequence[str]) -> None:
    if literal not in allowed:
        words = ", ".join(f'"{word}"' for word in allowed)
        close = nearest(literal, allowed) if isinstance(literal, str) else []
        hint = f'did you mean "{close[0]}"?' if close else None
        report("P212", f"the {what} of a parallel block is one of {words}", modifier.value, hint)


def _check_count(report: Report, count: n.Modifier, strategy: str, branches: int | None) -> None:
    if strategy != "any":
        report("P212", '`count` goes with the strategy "any"', count, 'write ("any", count: N)')
        return
    if not isinstance(count.value, n.Literal):
        return
    value = count.value.value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 1 or value != int(value):
        report("P212", "`count` is a whole number from 1", count.value, None)
    elif branches is not None and value > branches:
        report("P212", f"`count` is {value}, but there are {branches} branches", count.value, None)


def check_call_modifiers(report: Report, modifiers: Mapping[str, n.Property]) -> None:
    """P212 for literal values that no modifier of a call can have."""
    for name, item in modifiers.items():
        value = item.value
        if name == "backoff":
            word = value.id if isinstance(value, n.Name) else value.value if isinstance(value, n.Literal) else None
            if word not in BACKOFF:
                close = nearest(word, BACKOFF, 1) if isinstance(word, str) else []
                hint = did_you_mean(close[:1])
                report("P212", "`backoff` is none, linear or exponential", value or item, hint)
        elif isinstance(value, n.Literal):
            literal = value.value
            number = isinstance(literal, (int, float)) and not isinstance(literal, bool)
            if name == "retry" and not (number and literal >= 0 and literal == int(literal)):
                report("P212", "`retry` is a whole number: how many further attempts", value, "write retry: 3")
            elif name == "timeout" and not (number and literal > 0):
                report("P212", "`timeout` is a number of seconds above 0", value, "write timeout: 30")
