"""Mutations of sound programs, as slips of the pen make them: what they are, and on which lines a report is right.

A mutation counts if it changes what the program means. Names, colons, brackets and indentation that the text of a
string or a condition holds are none of the program's; what a bare word such as `model: fast` stands for is not known.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import attrs

from prose_lang.documents.model import Document, Entry
from prose_lang.semantics import Environment, Program, analyze, parse_body
from prose_lang.syntax import Parsed
from prose_lang.syntax import nodes as n
from prose_lang.syntax.printing import tree_json
from prose_lang.syntax.visiting import walk
from prose_lang.text import Source

_OPENING = ("LPAR", "TIGHT_LPAR", "LBRACK", "LBRACE")
_CLOSING = ("RPAR", "RBRACK", "RBRACE")


@attrs.frozen
class Mutation:
    """A changed text: what was done to it, at which line, and the lines where a report of that is right."""

    kind: str
    what: str
    text: str
    line: int
    right: frozenset[int]


class Mutations:
    """All mutations of one body."""

    def __init__(self, document: Document, entry: Entry, environment: Environment, seed: str) -> None:
        self.document = document
        self.entry = entry
        self.source: Source = document.source
        self.parsed: Parsed = parse_body(document, entry)
        self.program: Program = analyze(document, entry, environment, self.parsed)
        self.random = random.Random(seed)
        self.statements = [
            node
            for body in walk(self.parsed.body)
            if isinstance(body, n.Body)
            for node in body.statements
            if not isinstance(node, n.Malformed)
        ]
        self.names = [*self.own_names()]
        self.taken = {name.id for name in self.names} | set(self.program.names)

    def all(self) -> Iterator[Mutation]:
        """Every mutation that counts."""
        yield from self.removed_lets()
        yield from self.misspelt_names()
        yield from self.dropped_colons()
        yield from self.unbalanced_brackets()
        yield from self.shifted_lines()

    # --- small things ------------------------------------------------------------------------------------------------

    def line(self, offset: int) -> int:
        return self.source.position(offset).line

    def without(self, start: int, end: int, put: str = "") -> str:
        return self.source.text[:start] + put + self.source.text[end:]

    def mutation(self, kind: str, what: str, text: str, line: int, *right: int) -> Mutation:
        return Mutation(kind, what, text, line, frozenset({line, *right}))

    def own_names(self) -> Iterator[n.Name]:
        """The names of the program: read, written, called, defined; also those that conditions were found to read."""
        program = self.program
        found = dict.fromkeys([*program.reads, *program.config_reads, *program.writes])
        for node in walk(self.parsed.body):
            match node:
                case n.Call(target=name, quoted=False) | n.Invoke(target=name):
                    found[name] = None
                case n.BlockDef(name=name) | n.AgentDef(name=name):
                    found[name] = None
                case n.Do(target=n.Name() as name) | n.Use(alias=n.Name() as name):
                    found[name] = None
                case n.Session(agent=n.Name() as name) | n.Resume(agent=name):
                    found[name] = None
                case _:
                    pass
        places = {}
        for name in found:
            if self.source.text[name.start : name.end] == name.id:  # not the `item` of a stage, nor a judge's view
                places.setdefault(name.start, name)
        yield from sorted(places.values(), key=lambda name: name.start)

    def lines_of(self, name: str) -> set[int]:
        """The lines that speak of a name."""
        return {self.line(one.start) for one in self.names if one.id == name}

    # --- the mutations -----------------------------------------------------------------------------------------------

    def removed_lets(self) -> Iterator[Mutation]:
        """A `let` is removed. It counts if what it declares is read, and nothing else declares it."""
        declared: dict[int, int] = {}
        for node in self.statements:
            for name in _declared(node):
                cell = self.program.writes[name]
                declared[cell] = declared.get(cell, 0) + 1
        read = set(self.program.reads.values())
        read |= {plan.target.variable for plan in self.program.calls.values() if plan.target.variable is not None}
        text = self.source.text
        bodies = [body for body in walk(self.parsed.body) if isinstance(body, n.Body)]
        alone = {body.statements[0] for body in bodies if len(body.statements) == 1}
        for node in self.statements:
            names = _declared(node)
            cells = [self.program.writes[name] for name in names]
            if not names or not any(cell in read and declared[cell] == 1 for cell in cells):
                continue
            start = text.rfind("\n", 0, node.start) + 1
            end = node.start + len(text[node.start : node.end].rstrip())
            end = text.find("\n", end) + 1
            first, gone = self.line(start), text.count("\n", start, end)
            uses = set().union(*(self.lines_of(name.id) for name in names)) - set(range(first, first + gone))
            right = {line if line < first else line - gone for line in uses}
            what = ", ".join(name.id for name in names)
            if node in alone:
                right.add(first - 1)  # the header of a list that has lost its only statement
            yield self.mutation("removed let", what, self.without(start, end), first, *right)

    def misspelt_names(self) -> Iterator[Mutation]:
        """Two letters of a name change places, or one is lost."""
        defined = {node.name for node in self.statements if isinstance(node, (n.BlockDef, n.AgentDef))}
        defined |= {node.alias for node in self.statements if isinstance(node, n.Use) and node.alias is not None}
        for name in self.names:
            wrong = self.misspelt(name.id)
            # Where what defines a name is misspelt, the places that use it are at a loss.
            defines = name in self.program.writes or name in defined
            others = self.lines_of(name.id) if defines else set()
            text = self.without(name.start, name.end, wrong)
            yield self.mutation("misspelt name", f"{name.id} → {wrong}", text, self.line(name.start), *others)

    def misspelt(self, name: str) -> str:
        forms = [name[:at] + name[at + 1] + name[at] + name[at + 2 :] for at in range(len(name) - 1)]
        forms += [name[:at] + name[at + 1 :] for at in range(1, len(name) - 1)] + [name + name[-1]]
        sound = [one for one in forms if one not in self.taken and one[0].isalpha() and one[-1] != "-"]
        return self.random.choice(sound)

    def dropped_colons(self) -> Iterator[Mutation]:
        for token in self.parsed.tokens:
            if token.kind == "COLON":
                text = self.without(token.start, token.end)
                yield self.mutation("dropped colon", "", text, self.line(token.start))

    def unbalanced_brackets(self) -> Iterator[Mutation]:
        """A bracket or the quotes at one end of a string are lost; the line of the opening one is right too."""
        open_lines: list[int] = []
        for token in self.parsed.tokens:
            line = self.line(token.start)
            if token.kind in _OPENING:
                open_lines.append(line)
                yield self.mutation("lost bracket", token.text, self.without(token.start, token.end), line)
            elif token.kind in _CLOSING:
                opened = open_lines.pop()
                yield self.mutation("lost bracket", token.text, self.without(token.start, token.end), line, opened)
            elif token.kind == "STRING":
                width = 3 if self.source.text.startswith('"""', token.start) else 1
                last = self.line(token.end - 1)
                text = self.without(token.end - width, token.end)
                yield self.mutation("lost quotes", "closing", text, last, line)
                text = self.without(token.start, token.start + width)
                yield self.mutation("lost quotes", "opening", text, line, last)

    def shifted_lines(self) -> Iterator[Mutation]:
        """The line at which a statement begins is indented by one.

        Of two lines that are indented differently nobody can say which is meant: the line of the next is right too.
        """
        before = shape(self.parsed.body)
        following = {}
        for node in walk(self.parsed.body):
            if isinstance(node, n.Body):
                following |= dict(zip(node.statements, node.statements[1:], strict=False))
        for node in self.statements:
            start = self.source.text.rfind("\n", 0, node.start) + 1
            if self.source.text[start : node.start].strip():
                continue
            text = self.without(start, start, " ")
            if shape(self.reread(text).body) != before:
                after = [self.line(following[node].start)] if node in following else []
                yield self.mutation("indented by one", "", text, self.line(node.start), *after)

    def reread(self, text: str) -> Parsed:
        """The tree of the body in a changed text."""
        from prose_lang.documents.reader import read_document

        document = read_document(Source(self.source.name, text))
        return parse_body(document, document.entries[self.document.entries.index(self.entry)])


def shape(body: n.Body) -> str:
    """What a tree says, without places."""
    return json.dumps(_placeless(tree_json(body)), default=str)


def _placeless(tree: dict[str, Any]) -> list[Any]:
    below = [_placeless(child) for child in tree.get("children", ())]
    return [{key: value for key, value in tree.items() if key not in ("span", "children", "name_end")}, *below]


def _declared(node: n.Statement) -> tuple[n.Name, ...]:
    match node:
        case n.Let(name=name):
            return (name,)
        case n.Destructure(names=names):
            return names
        case _:
            return ()
