"""The parse table. Lark makes it from `grammar/prose.lark`; our driver (`parser.py`) walks it.

Making the table takes Lark a third of a second, so it stands beside the grammar as `prose.table.json`, written by
`python -m prose_lang.syntax.table`. A table whose digest is not that of the grammar is made anew in memory: a changed
grammar takes effect at once, only more slowly. Lark is imported for nothing else.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from typing import Any, NamedTuple

from prose_lang import resources

STARTS = ("program", "lone_expression")


class Rule(NamedTuple):
    """A production: how many symbols it takes, what it makes of them (None: passes its only symbol on)."""

    origin: str
    size: int
    alias: str | None


class Table(NamedTuple):
    """An LALR table. In `states[n]` terminals lead to a state to shift to (0 or more) or to a rule to reduce by
    (`-1 - rule`); names of productions lead to the state after them."""

    states: tuple[dict[str, int], ...]
    rules: tuple[Rule, ...]
    starts: dict[str, int]
    ends: dict[str, int]


@functools.cache
def table() -> Table:
    """The table of the grammar in force."""
    grammar = resources.grammar_text()
    stored = resources.grammar_table_text()
    if stored is not None:
        data = json.loads(stored)
        if data["digest"] == digest(grammar):
            return _from_data(data)
    return _from_data(make(grammar))


def digest(grammar: str) -> str:
    """What a stored table is compared by."""
    return hashlib.sha256(grammar.encode()).hexdigest()


def make(grammar: str) -> dict[str, Any]:
    """The table of a grammar as plain data. Raises Lark's `GrammarError` if the grammar is not LALR."""
    from lark import Lark
    from lark.lexer import Lexer
    from lark.parsers.lalr_analysis import Shift

    class NoLexer(Lexer):
        def __init__(self, conf: object) -> None: ...

        def lex(self, *args: object) -> Any:
            return iter(())

    lark = Lark(
        grammar, parser="lalr", lexer=NoLexer, start=list(STARTS), keep_all_tokens=True, maybe_placeholders=False
    )
    made: Any = lark.parser.parser
    parse_table = made._parse_table
    rules = [rule for rule in lark.rules if not rule.origin.name.startswith("$")]
    numbers = {rule: number for number, rule in enumerate(rules)}
    order = _reached(parse_table.states, parse_table.start_states, Shift)
    at = {state: number for number, state in enumerate(order)}
    return {
        "digest": digest(grammar),
        "rules": [[rule.origin.name, len(rule.expansion), rule.alias] for rule in rules],
        "starts": {start: at[state] for start, state in sorted(parse_table.start_states.items())},
        "ends": {start: at[state] for start, state in sorted(parse_table.end_states.items())},
        "states": [
            {
                symbol: at[argument] if action is Shift else -1 - numbers[argument]
                for symbol, (action, argument) in sorted(parse_table.states[state].items())
            }
            for state in order
        ],
    }


def _reached(states: Any, starts: Any, shift: object) -> list[int]:
    """The states in the order in which they are reached. Lark numbers them by the order of its sets, which changes from
    one process to the next; the file must be the same for the same grammar."""
    order = dict.fromkeys(state for _, state in sorted(starts.items()))
    waiting = list(order)
    for state in waiting:
        for _, (action, argument) in sorted(states[state].items()):
            if action is shift and argument not in order:
                order[argument] = None
                waiting.append(argument)
    return list(order)


def _from_data(data: dict[str, Any]) -> Table:
    # Interned keys make the driver's look-ups comparisons of pointers.
    return Table(
        states=tuple({sys.intern(key): value for key, value in state.items()} for state in data["states"]),
        rules=tuple(Rule(origin, size, alias) for origin, size, alias in data["rules"]),
        starts=data["starts"],
        ends=data["ends"],
    )


if __name__ == "__main__":
    text = json.dumps(make(resources.grammar_text()), separators=(",", ":"))
    (resources.grammar_folder() / "prose.table.json").write_text(text + "\n", encoding="utf-8")
