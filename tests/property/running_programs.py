"""Random programs that run: small, without endless loops, on the names `a` to `e` and the service `w`.

The same for the same seed. About one in three has errors, which is for the caller to find out.
"""

from __future__ import annotations

import random

NAMES = "abcde"


class Running:
    """Writes one program as lines. A list of statements declares a name once, and a body of its own assigns none."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.declared: set[str] = set()
        self.own_body = False

    def program(self) -> list[str]:
        lines = ["let l = []", *self.list(0), "repeat 1:", *self.list(1, loop=True)]
        return [*lines, f"return {self.value()}"]

    def value(self) -> str:
        name = self.random.choice(NAMES)
        return self.random.choice([name, name, str(self.random.randint(0, 3)), f"[{name}, 1]", f'"t{{{name}}}"'])

    def condition(self) -> str:
        name = self.random.choice(NAMES)
        forms = [f"{name} == {self.random.randint(0, 2)}"] * 5 + [f"{name} is present"] * 3 + [name, "true", "false"]
        return self.random.choice(forms)

    def list(self, level: int, *, loop: bool = False, own_body: bool | None = None) -> list[str]:
        outer = self.declared, self.own_body
        self.declared = set()
        self.own_body = self.own_body if own_body is None else own_body
        lines = [line for _ in range(self.random.randint(1, 3)) for line in self.statement(level, loop)]
        self.declared, self.own_body = outer
        return lines

    def statement(self, level: int, loop: bool) -> list[str]:
        indent = "  " * level
        kind = self.random.random()
        if level >= 3 or kind < 0.45:
            return [indent + line for line in self.simple(loop)]
        if kind < 0.6:
            lines = [f"{indent}if {self.condition()}:", *self.list(level + 1, loop=loop)]
            while self.random.random() < 0.3:
                lines += [f"{indent}elif {self.condition()}:", *self.list(level + 1, loop=loop)]
            if self.random.random() < 0.5:
                lines += [f"{indent}else:", *self.list(level + 1, loop=loop)]
            return lines
        if kind < 0.8:
            until = self.random.choice(["until", "while"])
            head = self.random.choice(
                ["repeat 2", "repeat 2 as i", "for x in [1, 2]", f"loop {until} {self.condition()} (max: 2)"]
            )
            return [f"{indent}{head}:", *self.list(level + 1, loop=True)]
        if kind < 0.86:
            lines = [f"{indent}try:", *self.list(level + 1, loop=loop)]
            parts = self.random.choice([["catch"], ["finally"], ["catch", "finally"]])
            return lines + [line for part in parts for line in (f"{indent}{part}:", *self.list(level + 1, loop=loop))]
        name = self.random.choice(NAMES)
        head = self.random.choice(["parallel for x in [1, 2]:", "do:"])
        if kind < 0.93 and name not in self.declared:
            self.declared.add(name)
            head = f"let {name} = {self.random.choice([head, 'repeat 2:', 'for x in [1]:'])}"
        return [indent + head, *self.list(level + 1, own_body=True)]

    def simple(self, loop: bool) -> list[str]:
        name, value, kind = self.random.choice(NAMES), self.value(), self.random.random()
        if kind < 0.6 and name not in self.declared:
            self.declared.add(name)
            return [f"let {name} = call w", f"  x: {value}"] if kind < 0.15 else [f"let {name} = {value}"]
        if kind < 0.75 and not self.own_body:
            return [f"{name} = {value}"] if kind < 0.68 else [f"record {value} in l"]
        if kind < 0.9:
            return [f"return {value}"] if kind < 0.82 else ['throw "x"']
        if kind < 0.95 and loop:
            return [self.random.choice(["break", "continue"])]
        return ["call w", f"  x: {value}"]
