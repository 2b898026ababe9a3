"""The syntax corpus (tests/corpus/syntax): its file format, trees as short texts, and which productions it uses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

from prose_lang import Source
from prose_lang.syntax import nodes as n
from prose_lang.syntax import parse
from prose_lang.syntax.lexer import lex, lex_expression
from prose_lang.syntax.table import table
from prose_lang.syntax.tokens import Token

FOLDER = Path(__file__).parent / "corpus" / "syntax"

_CASE = re.compile(r"^=== (?P<name>.+)\n(?P<program>(?:.*\n)*?)---\n(?P<tree>(?:(?!=== ).*\n)*)", re.MULTILINE)
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[(){}\[\]]|[^\s(){}\[\]"]+')
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@attrs.frozen
class SyntaxCase:
    """One case: a program and its tree, both as they stand in the file."""

    file: str
    name: str
    program: str
    tree: str

    @property
    def id(self) -> str:
        return f"{self.file}:{self.name.replace(' ', '-')}"


def read_syntax_cases() -> list[SyntaxCase]:
    """All cases, in the order of files and lines; a text that belongs to no case is a mistake."""
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        matches = list(_CASE.finditer(text))
        assert "".join(match.group() for match in matches) == text, f"{path.name} is not a list of cases"
        found += [SyntaxCase(path.stem, match["name"], match["program"], match["tree"]) for match in matches]
    return found


# --- trees as texts --------------------------------------------------------------------------------------------------


def tree_of(program: str) -> list[str]:
    """The tree of a program and the places of its faults, laid out as `normal` does it."""
    parsed = parse(Source("-", program))
    faults = [f"! {item.code} {item.line}:{item.column}" for item in parsed.diagnostics]
    return normal("\n".join([_shown(parsed.body), *faults]))


def normal(tree: str) -> list[str]:
    """A tree in lines: every bracket that opens a node begins one, so that a difference is easy to see."""
    lines: list[str] = []
    depth = 0
    for piece in _PIECE.findall(tree):
        if piece in "({!" or not lines:
            lines.append("  " * depth + piece)
        else:
            touching = lines[-1][-1] in "({[" or piece in ")]}"
            lines[-1] += piece if touching else f" {piece}"
        depth += (piece in "({[") - (piece in ")}]")
    return lines


def _shown(value: Any) -> str:
    match value:
        case n.Name(id=name):
            return name
        case n.Literal(value=plain):
            return json.dumps(plain, ensure_ascii=False)
        case n.Body(statements=statements):
            return "{" + " ".join(map(_shown, statements)) + "}"
        case n.Node():
            kind = _CAPITAL.sub("-", type(value).__name__).lower()
            return f"({' '.join([kind, *_fields(value)])})"
        case tuple():
            return "[" + " ".join(map(_shown, value)) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _fields(node: Any) -> Iterator[str]:
    for field in attrs.fields(type(node)):
        value = getattr(node, field.name)
        if field.name in ("start", "end", "name_end") or value is None or value is False:
            continue  # the short form leaves places out
        if value != () or (isinstance(node, n.Call) and field.name == "arguments"):  # `call f()` is not `call f`
            yield f"{field.name}: {_shown(value)}"


# --- productions -----------------------------------------------------------------------------------------------------


def unused_productions(programs: Iterable[str]) -> list[str]:
    """The productions of the grammar that no program uses."""
    used: set[int] = set()
    for program in programs:
        source = Source("-", program)
        tokens = lex(source, 0, len(program)).tokens
        used |= _reductions(tokens, "program")
        for token in tokens:
            if token.kind == "COND":
                used |= _reductions(lex_expression(source, token.start, token.end) or [], "lone_expression")
    return [
        f"{rule.origin}: {rule.size} symbols -> {rule.alias}"
        for number, rule in enumerate(table().rules)
        if number not in used
    ]


def _reductions(tokens: list[Token], start: str) -> set[int]:
    """The productions that a walk over the table reduces by; none if the tokens do not fit."""
    found = table()
    used: set[int] = set()
    states = [found.starts[start]]
    for kind in [*(token.kind for token in tokens), "$END"]:
        while True:
            action = found.states[states[-1]].get(kind)
            if action is None:
                return used if kind == "$END" and states[-1] == found.ends[start] else set()
            if action >= 0:
                states.append(action)
                break
            rule = found.rules[-1 - action]
            used.add(-1 - action)
            del states[-rule.size :]
            states.append(found.states[states[-1]][rule.origin])
    return used
