"""Random expressions and conditions of a wanted kind, over the names that are known where they stand.

Kinds are `number`, `text`, `truth`, `list` (grows, so no loop runs over it), `short` (at most three numbers), `object`
(an answer of a reviewer) and `any`. Everything here is total: it has a value whatever the values of its names are.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

Names = Mapping[str, str]
WORDS = ("", "x", "plan", "é", "“quoted”", "two\\nlines", "brace \\{x\\}", '\\"', "{ proceed: boolean }", "日本")


class Expressions:
    """A source of expressions. `names` gives the readable names with their kinds whenever it is asked."""

    def __init__(self, rng: random.Random, names: Callable[[], Names], can_call: Callable[[], bool]) -> None:
        self.rng = rng
        self.names = names
        self.can_call = can_call

    def known(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.names().items() if kind in kinds]

    def of(self, kind: str, depth: int = 2) -> str:
        """An expression of a kind."""
        make = {
            "number": self.number,
            "text": self.text,
            "truth": self.truth,
            "list": self.listing,
            "short": self.short,
            "object": self.object,
            "any": self.anything,
        }[kind]
        return make(depth)

    def anything(self, depth: int = 2) -> str:
        names = self.known("any")
        if names and self.rng.random() < 0.4:
            return self.rng.choice(names)
        return self.of(self.rng.choice(["number", "text", "truth", "list", "short", "object"]), depth)

    def number(self, depth: int = 2) -> str:
        names, objects = self.known("number"), self.known("object")
        lists = self.known("list", "short", "text")
        options: list[Callable[[], str]] = [lambda: str(self.rng.choice([0, 1, 2, 3, 7, 0.5, -2, 1.5e3]))]
        if names:
            options += [lambda: self.rng.choice(names)] * 3
        if objects:
            options.append(lambda: f"{self.rng.choice(objects)}.n")
            options.append(lambda: f'{self.rng.choice(objects)}["n"]')
        if lists:
            options.append(lambda: f"{self.rng.choice(lists)}.length")
        if depth:
            options += [
                lambda: f"{self.number(depth - 1)} + {self.number(depth - 1)}",
                lambda: f"({self.number(depth - 1)} - {self.number(depth - 1)})",
                lambda: f"({self.number(depth - 1)}) * {self.rng.choice([2, -1, 0.5])}",
                lambda: f"({self.number(depth - 1)}) / {self.rng.choice([2, 4, -8])}",
                lambda: f"-({self.number(depth - 1)})",
                lambda: f"[{self.number(depth - 1)}, {self.number(depth - 1)}][{self.rng.choice([0, 1])}]",
            ]
            if self.can_call():
                options.append(lambda: f"plus({self.number(depth - 1)}, {self.number(depth - 1)})")
        return self.rng.choice(options)()

    def text(self, depth: int = 2) -> str:
        names, objects, all_names = self.known("text"), self.known("object"), list(self.names())
        options: list[Callable[[], str]] = [lambda: f'"{self.rng.choice(WORDS)}"', lambda: '"""triple\n"quoted" """']
        if names:
            options.append(lambda: self.rng.choice(names))
        if all_names:
            options.append(lambda: f'"a {{{self.rng.choice(all_names)}}} b"')
        if objects:
            options.append(lambda: f"{self.rng.choice(objects)}.s")
            options.append(lambda: f'"{{{self.rng.choice(objects)}.s}}!"')
        if depth and names:
            options.append(lambda: f"{self.rng.choice(names)} + {self.text(0)}")
        return self.rng.choice(options)()

    def truth(self, depth: int = 2) -> str:
        names = self.known("truth")
        options: list[Callable[[], str]] = [
            lambda: self.rng.choice(["true", "false"]),
            lambda: f"{self.number(1)} {self.rng.choice(['<', '<=', '>', '>=', '==', '!='])} {self.number(1)}",
            lambda: f"{self.text(1)} {self.rng.choice(['==', '!=', '<', 'in', 'not in'])} {self.text(0)}",
            lambda: f"{self.number(0)} {self.rng.choice(['in', 'not in'])} {self.listing(0)}",
            lambda: f"({self.anything(0)}) {self.rng.choice(['==', '!='])} ({self.anything(0)})",
        ]
        if names:
            options += [lambda: self.rng.choice(names)] * 2
        if depth:
            options += [
                lambda: f"({self.truth(depth - 1)}) {self.rng.choice(['and', 'or'])} ({self.truth(depth - 1)})",
                lambda: f"not ({self.truth(depth - 1)})",
            ]
        return self.rng.choice(options)()

    def listing(self, depth: int = 2) -> str:
        names = self.known("list", "short")
        if names and self.rng.random() < 0.5:
            return self.rng.choice(names)
        if depth and self.rng.random() < 0.3:
            return f"{self.listing(0)} + {self.listing(0)}"
        return self.short(0)

    def short(self, depth: int = 2) -> str:
        names = self.known("short")
        if names and self.rng.random() < 0.6:
            return self.rng.choice(names)
        items = [self.number(min(depth, 1)) for _ in range(self.rng.choice([1, 2, 3]))]
        return f"[{', '.join(items)}]" if self.rng.random() < 0.8 else "[\n" + ",\n".join(items) + ",\n]"

    def object(self, depth: int = 2) -> str:
        names = self.known("object")
        if names and self.rng.random() < 0.6:
            return self.rng.choice(names)
        verdict = self.rng.choice(["accept", "reject", "revise", "approved", "no"])
        extra = f", more: {self.anything(0)}" if self.rng.random() < 0.3 else ""
        number, truth = self.number(min(depth, 1)), self.truth(0)
        return f'{{ n: {number}, s: "{verdict}-ed", verdict: "{verdict}", ok: {truth}{extra} }}'

    # --- conditions (L30) --------------------------------------------------------------------------------------------

    def condition(self) -> str:
        """The text of a condition that the expressions, the rules or a judge decide."""
        layer = self.rng.choice(
            [self.truth, self.truth, self.phrase, self.phrase, self.verdict, self.criteria, self.judged]
        )
        text = layer()
        return f"**{text}**" if self.rng.random() < 0.2 and "*" not in text and "\n" not in text else text

    def _name(self, *kinds: str) -> str | None:
        names = self.known(*kinds)
        return self.rng.choice(names) if names else None

    def phrase(self) -> str:
        number, text, item = self._name("number"), self._name("text"), self._name("object")
        several, thing = self._name("list", "short"), self._name("any", "object", "text", "list", "short", "number")
        options = []
        if number:
            verb = self.rng.choice(["meets", "reaches", "exceeds", "is at least", "is above", "is below", "is under"])
            options.append(f"{number} {verb} {self.rng.choice([1, 3, -2, 0.5])}")
        if text:
            options.append(f'{text} {self.rng.choice(["is", "is not", "contains", "includes"])} "x"')
        if thing:
            states = self.rng.choice(["present", "set", "absent", "missing", "null", "empty", "true", "false"])
            options.append(f"{thing} is {self.rng.choice(['', 'not '])}{states}")
        if item:
            options.append(f"{item} has {self.rng.choice(['', 'no '])}{self.rng.choice(['ok', 'n'])}")
        if several:
            options.append(f"{several} contains {self.rng.choice([1, 2, 7])}")
        return self.rng.choice(options) if options else self.truth()

    def verdict(self) -> str:
        item = self._name("object") or "score"
        word = self.rng.choice(
            ["accepts", "approves", "rejects", "is accepted", "is not approved", "says revise", "fails"]
        )
        return f"{item} {word}"

    def criteria(self) -> str:
        thing = self._name("object", "any", "text")
        predicate = self.rng.choice(["is a failure", "failed", "is acceptable", "is accepted"])
        return f"bar says {thing} {predicate}" if thing else self.truth()

    def judged(self) -> str:
        thing = self._name("object", "number", "text", "any")
        return f"the {thing} would please a careful reader" if thing else "everything is well"
