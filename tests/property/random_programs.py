"""Random programs of every construct in every layout that the language allows, the same for the same seed.

They are syntactically valid and mean nothing. Used by tests of whatever must hold for all programs.
"""

from __future__ import annotations

import random
from collections.abc import Callable

NAMES = "a b draft score max_rounds quality-bar x1 naïve log items".split()
KEYS = "a text in if for model session call x-y not record output".split()
FREE_KEYS = ["a", "text", "model", "x-y", '"k e y"', '"#"']  # no keywords
WORDS = "the result reads well, and no reviewer objects (in 3 words) to it - yet".split()
STRINGS = ['""', '"a # b"', '"{a} and {b.c}, { not: this }"', '"\\" \\\\ \\n \\{"', '"ü → “x”"', '"[(,"', '"# x"']
TRIPLES = ['"""one\n  # two\n    three {a}\n"""', '"""\n"quoted"\n\n\tx\n"""', '""""""']
COMMENTS = ["# why", "#", "## { [ (", '# "', "# a: b  ", "#x # y", "# prose: allow[re-let]", "# ```"]
CONDITIONS = [
    "a",
    "score meets bar",
    "not a",
    "a.b  in [1, 2]",
    'a contains ")"',
    "(a\n   or b)",
    "x - 1 > 2",
    "a  is b",
]
CALL, BLOCK = "call", "block"


class Programs:
    """Writes one program; all choices come from `seed`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.calm = self.random.random()  # how seldom lines are broken and comments are made

    def program(self) -> str:
        """The text of a program."""
        self.block(0, self.random.choice([1, 1, 2, 2, 3]))
        self.between(0)
        text = "\n".join(self.lines) + self.pick(["\n", "\n", "", "\n\n  \n"])
        return text.replace("\n", self.pick(["\n", "\n", "\n", "\r\n"]))

    # --- choices -----------------------------------------------------------------------------------------------------

    def pick(self, options: list[str]) -> str:
        return self.random.choice(options)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def wild(self, probability: float) -> bool:
        return self.random.random() < probability * (1 - self.calm)

    def name(self) -> str:
        return self.pick(NAMES)

    # --- spaces ------------------------------------------------------------------------------------------------------

    def gap(self, inside: str) -> str:
        """What may stand between two tokens; line breaks where brackets are open."""
        if inside and self.wild(0.15):
            return self.pick([" ", "", f"  {self.pick(COMMENTS)}"]) + self.broken()
        return self.pick(["", "", " ", "  ", "\t"])

    def space(self, inside: str) -> str:
        return self.gap(inside) or " "

    def broken(self) -> str:
        """A line break inside brackets, with blank lines and comments."""
        made = "\n"
        while self.wild(0.2):
            made += self.pick(["\n", f"{' ' * self.random.randrange(6)}{self.pick(COMMENTS)}\n"])
        return made + " " * self.random.randrange(9)

    def between(self, column: int) -> None:
        """Blank lines and comments between two lines."""
        while self.wild(0.25):
            where = self.pick([" " * column, " " * self.random.randrange(10)])
            self.lines.append(self.pick(["", "   ", where + self.pick(COMMENTS)]))

    # --- expressions -------------------------------------------------------------------------------------------------

    def expression(self, depth: int, inside: str = "") -> str:
        if depth <= 0:
            return self.atom(0, inside)
        parts = [self.negated(depth, inside)]
        while self.chance(0.15):
            parts += [self.space(inside), self.pick(["and", "or"]), self.space(inside), self.negated(depth - 1, inside)]
        return "".join(parts)

    def negated(self, depth: int, inside: str) -> str:
        word = "not" + self.space(inside) if self.chance(0.1) else ""
        return word + self.comparison(depth, inside)

    def comparison(self, depth: int, inside: str) -> str:
        left = self.sum(depth, inside)
        if self.chance(0.2):
            operator = self.pick(["==", "!=", "<", "<=", ">", ">=", "in", "not in"])
            around = self.space if operator[0] in "in" else self.gap
            return left + around(inside) + operator + around(inside) + self.sum(depth - 1, inside)
        return left

    def sum(self, depth: int, inside: str) -> str:
        made = self.negation(depth, inside)
        while self.chance(0.15):
            operator = self.pick(["+", "-", "*", "/"])
            if operator == "-":
                made += self.space(inside) + "- " + self.gap(inside)
            else:
                made += self.gap(inside) + operator + self.gap(inside)
            made += self.negation(depth - 1, inside)
        return made

    def negation(self, depth: int, inside: str) -> str:
        # At the start of a line inside brackets a minus with a space behind it would be a binary one.
        minus = "-" + (self.gap("") if not inside else "") if self.chance(0.05) else ""
        return minus + self.postfix(depth, inside)

    def postfix(self, depth: int, inside: str) -> str:
        made = self.atom(depth, inside)
        while self.chance(0.2):
            if self.chance(0.6):
                made += self.gap(inside) + "." + self.gap(inside) + self.pick(KEYS)
            else:  # a line break before the bracket would make it an entry of its own
                made += (
                    self.pick(["", " "]) + "[" + self.gap("[") + self.expression(depth - 2, "[") + self.gap("[") + "]"
                )
        return made

    def atom(self, depth: int, inside: str) -> str:
        if depth > 0 and self.chance(0.6):
            kind = self.pick(["list", "object", "call", "group"])
            if kind == "group":
                return "(" + self.gap("(") + self.expression(depth - 1, "(") + self.gap("(") + ")"
            if kind == "list":
                return "[" + self.entries(lambda: self.expression(depth - 1, "[")) + "]"
            if kind == "object":
                return "{" + self.entries(lambda: self.entry(depth - 1)) + "}"
            return self.name() + "(" + self.arguments(lambda: self.expression(depth - 1, "(")) + ")"
        if self.chance(0.1):
            return self.pick(TRIPLES)
        if self.chance(0.2):
            return self.pick(STRINGS)
        if self.chance(0.3):
            return self.pick(["1", "2.50", "1e3", "true", "false", "null", "0"])
        return self.name()

    def entry(self, depth: int) -> str:
        if self.chance(0.2):
            return self.name()
        key = self.pick(KEYS) + self.gap("") if self.chance(0.5) else self.pick(FREE_KEYS) + self.gap("{")
        return key + ":" + self.gap("{") + self.expression(depth, "{")

    def entries(self, make: Callable[[], str]) -> str:
        """Entries separated by commas or by line breaks (L11)."""
        made = self.gap("[")
        for number in range(self.random.randrange(5)):
            if number:
                made += self.broken() if self.wild(0.4) else self.gap("[") + "," + self.gap("[")
            made += make()
        if made.strip() and not made.rstrip().endswith(",") and self.chance(0.1) and self.random.random() > 0.5:
            made += "," if not made.rsplit("\n", 1)[-1].lstrip().startswith("#") and made[-1] not in " \t\n" else ""
        return made + self.gap("[")

    def arguments(self, make: Callable[[], str]) -> str:
        count = self.random.randrange(4)
        return self.gap("(") + (self.gap("(") + "," + self.gap("(")).join(make() for _ in range(count)) + self.gap("(")

    # --- statements --------------------------------------------------------------------------------------------------

    def block(self, column: int, depth: int) -> None:
        for _ in range(self.random.choice([1, 1, 2, 3])):
            self.between(column)
            self.statement(column, depth)

    def body(self, column: int, depth: int) -> None:
        self.block(column + self.random.choice([1, 2, 2, 3, 4, 4, 8]), depth - 1)

    def line(self, column: int, text: str) -> None:
        comment = self.pick(["", " ", "    "]) + self.pick(COMMENTS) if self.wild(0.25) else ""
        self.lines.append(" " * column + text + self.pick(["", "", " ", "\t "]) + comment)

    def statement(self, column: int, depth: int) -> None:
        kinds = ["let", "assign", "value", "record", "leaf"]
        if depth > 0:
            kinds += ["let", "return", "value", BLOCK, "agent"]
        kind = self.pick(kinds)
        s, g = self.space, self.gap
        match kind:
            case "let":
                self.value(column, self.pick(["let", "const"]) + s("") + self.target() + g("") + "=" + g(""), depth)
            case "assign":
                path = self.pick(["", "", ".b", "[0]", " . b [ 1 ]"])
                self.value(column, self.name() + path + g("") + "=" + g(""), depth)
            case "return":
                self.value(column, "return" + s(""), depth)
            case "value":
                self.value(column, "", depth)
            case "record":
                word, into = self.pick(["record in", "append to", "append in"]).split()
                self.line(column, word + s("") + self.sum(1, "") + s("") + into + s("") + self.name())
            case "leaf":
                self.line(column, self.pick(["break", "continue", "return", "throw", 'throw  "x"', 'use "a/b" as c']))
            case "agent":
                self.line(column, "agent" + s("") + self.name() + g("") + ":")
                self.properties(column, depth)
            case _:
                names = self.pick(["", "()", " ( a ,b )", "(a,)"])
                self.line(column, "block" + s("") + self.name() + names + g("") + ":")
                self.body(column, depth)

    def target(self) -> str:
        return self.pick(
            [self.name(), self.name(), "{" + self.gap("{") + "a" + self.gap("{") + ", b" + self.gap("{") + "}"]
        )

    def value(self, column: int, head: str, depth: int) -> None:
        kinds = ["plain"] * 3
        if depth > 0:
            kinds += "call call session do if loop loops parallel parallels choice try pipeline stages".split()
        s, g = self.space, self.gap
        match self.pick(kinds):
            case "call":
                arguments = "(" + self.arguments(lambda: self.expression(1, "(")) + ")" if self.chance(0.2) else ""
                self.line(column, head + CALL + s("") + self.name() + arguments)
                if self.chance(0.7):
                    self.properties(column, depth)
            case "session":
                self.line(
                    column, head + self.pick(['session  "do {a}"', "session : bob", "session x: bob", "resume:bob"])
                )
                if self.chance(0.5):
                    self.properties(column, depth)
            case "do":
                if self.chance(0.5):
                    self.line(column, head + "do" + s("") + self.name() + self.pick(["", "()", " (1 ,a)", "( x )"]))
                else:
                    self.line(column, head + "do" + g("") + ":")
                    self.body(column, depth)
            case "if":
                self.line(column, head + "if" + self.condition() + ":")
                self.body(column, depth)
                while self.chance(0.3):
                    self.between(column)
                    self.line(column, "elif" + self.condition() + ":")
                    self.body(column, depth)
                if self.chance(0.4):
                    self.between(column)
                    self.line(column, "else" + g("") + ":")
                    self.body(column, depth)
            case "loop":
                until = self.pick(["until", "while"])
                tail = self.pick(["", " (max: 3)", " ( max : a ) as i", "  as i  (max:3)"])
                text = "loop" + s("") + until + self.condition() + tail if self.chance(0.7) else "loop" + tail
                self.line(column, head + text + g("") + ":")
                self.body(column, depth)
            case "loops":
                text = self.pick(
                    ["repeat N", "repeat N as i", "for x in N", "for x , i in N", "loop for each x in N (max:2)"]
                )
                self.line(column, head + text.replace("N", self.sum(2, "")) + g("") + ":")
                self.body(column, depth)
            case "parallel":
                modifiers = self.pick(["", '("all")', ' ( "first",count :1 )', '(on-fail:\n  "ignore",\n"any")'])
                self.line(column, head + "parallel" + modifiers + g("") + ":")
                self.body(column, depth)
            case "parallels":
                text = self.pick(
                    ["for x in N", "for x,i in N", "repeat N", "repeat N as i", 'for x in N ("any", count: 2)']
                )
                self.line(column, head + "parallel" + s("") + text.replace("N", self.sum(2, "")) + g("") + ":")
                self.body(column, depth)
            case "choice":
                self.line(column, head + "choice" + self.condition() + ":")
                inner = column + self.random.randrange(1, 5)
                for number in range(self.random.randrange(1, 3)):
                    self.between(inner)
                    self.line(inner, f'option{s("")}"{number}"{g("")}:')
                    self.body(inner, depth)
            case "try":
                self.line(column, head + "try" + g("") + ":")
                self.body(column, depth)
                catching = self.pick(["catch", "catch  as e", ""])
                for word in filter(None, [catching, "finally" if not catching or self.chance(0.3) else ""]):
                    self.between(column)
                    self.line(column, word + g("") + ":")
                    self.body(column, depth)
            case "pipeline":
                self.line(
                    column, head + self.sum(1, "") + g("") + "|" + g("") + self.pick(["map", "pmap"]) + g("") + ":"
                )
                self.body(column, depth)
                if self.chance(0.5):
                    self.between(column)
                    self.line(column, "|" + g("") + self.pick(["filter:", "reduce(acc,x):", "reduce ( acc , x ) :"]))
                    self.body(column, depth)
            case "stages":
                self.line(column, head + self.sum(1, ""))
                inner = column + self.random.choice([0, 1, 2, 4])
                for _ in range(self.random.randrange(1, 3)):
                    self.between(inner)
                    self.line(inner, "|" + g("") + self.pick(["map:", "filter :", "reduce(acc,x):"]))
                    self.body(inner, depth)
            case _:
                self.line(column, head + self.expression(2, ""))

    def condition(self) -> str:
        stars = self.pick(["", "", "", "**", "***"])
        if not stars:
            return " " + self.pick(CONDITIONS)
        text = self.pick(["a: b", " it is *good*, ", "# no comment", " *x* "])
        if stars == "***" and self.chance(0.4):
            text = f"\n  {text}\n more\n"
        return " " + stars + text + stars + self.gap("")

    def properties(self, column: int, depth: int) -> None:
        inner = column + self.random.choice([1, 2, 4])
        for _ in range(self.random.randrange(1, 4)):
            self.between(inner)
            if self.chance(0.1):
                self.line(inner, self.pick(FREE_KEYS) + self.gap("") + ":")
                self.properties(inner, 0)
            else:
                self.value(inner, self.pick([*KEYS, *FREE_KEYS]) + self.gap("") + ":" + self.gap(""), depth - 1)


def random_program(seed: int) -> str:
    """A random program."""
    return Programs(seed).program()
