"""Random valid programs: whole pattern files with slots, config, loops, branches, blocks, pipelines, calls.

`write_program(seed, size)` gives the text of a file that must pass every check. What the program does may not depend on
how long its services take, as long as `races` is off: in parallel branches whose first error would cancel the others
nothing fails uncaught, and no block is a race. Services that fit are in `services.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from expressions import Expressions

HEAD = """---
name: generated
kind: pattern
---

# Generated

### Slots

- `score`: answers with an object
- `number`: answers with a number
- `say`: answers with a text
- `flaky`: fails for some inputs
- `slow`: takes very long
- `reviewers`: several that answer with an object

### Config

- `rounds` (integer, default: 3, min: 1): how often
- `bar` (default: none): what is good enough
- `mode` (default: deep): how

### Requires

- Pattern instance receives:
    reviewers: string[]  -- who reviews
    topic: string        -- (optional) what it is about
    start: number        -- where to start

### Delegation

```prose
"""
TAIL = """```

## helper

### Requires

- `seed`: number -- what to start from

### Returns

- `text`: what came of it

### Execution

```prose
let made = call three
  x: seed
return "helped {made}"
```
"""
INPUTS = {"start": "number", "topic": "text", "mode": "text"}


def write_program(seed: int, size: int = 12, *, races: bool = False) -> str:
    """The text of a random pattern file; `size` is roughly the number of its statements."""
    return _Writer(random.Random(f"{seed}/{size}/{races}"), size, races).file()


class _Frame:
    """The names that are certainly set here: those of the body in hand can be changed, those around it read."""

    def __init__(self, around: dict[str, str]) -> None:
        self.around = around
        self.own: dict[str, str] = {}

    @property
    def names(self) -> dict[str, str]:
        return {**self.around, **self.own}


class _Writer:
    def __init__(self, rng: random.Random, size: int, races: bool) -> None:
        self.rng = rng
        self.left = size
        self.races = races
        self.lines: list[str] = []
        self.indent = 0
        self.frame = _Frame({})
        self.counter = 0
        self.blocks: dict[str, tuple[int, bool]] = {}  # how many parameters, and whether nothing fails in it
        self.weight = 1  # passes of the loops around, multiplied
        self.loops = 0  # plain loops of the body in hand
        self.safe = 0  # whether an error here would cancel branches at a time that depends on the services
        self.collecting = 0
        self.in_block = False
        self.expressions = Expressions(rng, lambda: {**INPUTS, **self.frame.names}, lambda: self.weight <= 8)

    # --- text --------------------------------------------------------------------------------------------------------

    def file(self) -> str:
        self.agents()
        for _ in range(self.rng.choice([0, 1, 2])):
            self.block()
        while self.left > 0:
            self.statement()
        self.line(f"return {{ {', '.join(self.result())} }}" if self.rng.random() < 0.9 else "topic")
        return HEAD + "\n".join(self.lines) + "\n" + TAIL

    def result(self) -> Iterator[str]:
        names = [
            name for name, kind in self.frame.names.items() if kind in ("number", "text", "truth", "object", "any")
        ]
        yield "done: true"
        yield from names[-8:]

    def line(self, text: str) -> None:
        first, *rest = text.split("\n")
        comment = "  # why not" if self.rng.random() < 0.05 and not rest else ""
        self.lines.append("  " * self.indent + first + comment)
        # What stands on further lines stands in brackets or triple quotes.
        self.lines.extend(rest)

    @contextmanager
    def body(self, *, own: bool = False, passes: int = 1, loop: bool = False, safe: bool = False) -> Iterator[None]:
        """The lines of a body. What is set in it is not certain to be set after it."""
        before, weight, loops = self.frame, self.weight, self.loops
        self.frame = _Frame(before.names if own else before.around)
        if not own:
            self.frame.own = dict(before.own)
        self.weight *= passes
        self.loops = 0 if own else loops + loop
        self.safe += safe
        self.indent += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line(self.rng.choice(["start", "null", "call say"]))
        self.indent -= 1
        self.safe -= safe
        self.frame, self.weight, self.loops = before, weight, loops

    def fresh(self, kind: str, *, of: str = "v") -> str:
        self.counter += 1
        name = f"{of}{self.counter}" if self.counter % 5 else f"{of}-{self.counter}a"
        self.frame.own[name] = kind
        return name

    def some(self, most: int = 3) -> None:
        """A few statements."""
        for _ in range(self.rng.randint(1, most)):
            self.statement()

    # --- statements --------------------------------------------------------------------------------------------------

    def statement(self) -> None:
        self.left -= 1
        simple: list[Callable[[], None]] = [
            self.let, self.let, self.assign, self.record, self.call, self.call, self.evaluate, self.destructure,
            self.path,
        ]  # fmt: skip
        deep: list[Callable[[], None]] = [
            self.repeat, self.each, self.loop, self.branch, self.branch, self.choice, self.attempt, self.parallel,
            self.parallel_each, self.do, self.pipeline, self.collect, self.early, self.model
        ]  # fmt: skip
        if not self.safe and self.rng.random() < 0.04:
            self.fault()
        elif self.indent < 6 and self.left > 0 and self.weight <= 24 and self.rng.random() < 0.55:
            self.rng.choice(deep)()
        else:
            self.rng.choice(simple)()

    def let(self) -> None:
        kind = self.rng.choice(["number", "text", "truth", "list", "short", "object", "any"])
        word = "const" if self.rng.random() < 0.15 and not self.loops and not self.collecting else "let"
        value = self.expressions.of(kind)
        name = self.fresh(kind)
        if word == "const":
            self.frame.around = {**self.frame.around, name: self.frame.own.pop(name)}
        self.line(f"{word} {name} = {value}")

    def changeable(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.frame.own.items() if kind in kinds]

    def assign(self) -> None:
        names = self.changeable("number", "text", "truth")
        if not names:
            return self.let()
        name = self.rng.choice(names)
        kind = self.frame.own[name]
        value = f'{name} + "+"' if kind == "text" else self.expressions.of(kind)
        self.line(f"{name} = {value}")

    def path(self) -> None:
        names = self.changeable("object")
        if not names:
            return self.let()
        name = self.rng.choice(names)
        self.line(f"{name}.{self.rng.choice(['n', 'extra.deep'])} = {self.expressions.number()}")
        if self.rng.random() < 0.3:
            grid = self.fresh("any")
            self.line(f"let {grid} = {{ rows: [[1, 2], [3]] }}")
            self.line(f"{grid}.rows[0][{self.rng.choice(['0', 'rounds - rounds'])}] = {self.expressions.number(1)}")

    def record(self) -> None:
        names = self.changeable("list")
        if not names:
            name = self.fresh("list")
            self.line(f"let {name} = {self.rng.choice(['[]', '[1]', '[0, 0]'])}")
            names = [name]
        name = self.rng.choice(names)
        word, link = self.rng.choice([("record", "in"), ("append", "in"), ("append", "to")])
        value = self.expressions.number() if self.rng.random() < 0.7 else f"({self.expressions.anything(1)})"
        self.line(f"{word} {value} {link} {name}")

    def evaluate(self) -> None:
        self.line(self.expressions.anything())

    # --- calls -------------------------------------------------------------------------------------------------------

    def call_lines(self, head: str, target: str, *, inputs: int = 2) -> None:
        self.line(f"{head}call {target}")
        self.indent += 1
        names = self.rng.sample(["x", "y", "task_brief", "session"], inputs)
        for name in names:
            self.line(f"{name}: {self.expressions.anything(1)}")
        if self.rng.random() < 0.2:
            self.line(f"retry: {self.rng.choice([0, 1, 2])}")
            self.line(f"backoff: {self.rng.choice(['none', 'linear', 'exponential'])}")
        if self.rng.random() < 0.1:
            self.line("timeout: 50")
        if self.rng.random() < 0.1:
            self.line('prompt: "be kind {topic}"')
        if self.rng.random() < 0.05:
            self.line("shape:")
            self.line("  kind: 1")
            self.line("  inner:")
            self.line(f"    deep: {self.expressions.number(1)}")
        if self.rng.random() < 0.08 and self.weight < 4:
            self.call_lines("feedback: ", "say", inputs=1)
        self.indent -= 1

    def call(self) -> None:
        kind, target = self.rng.choice([("object", "score"), ("number", "number"), ("text", "say"), ("short", "three")])
        if self.weight > 30:
            return self.evaluate()
        roll = self.rng.random()
        if roll < 0.1:
            value = self.expressions.number(1)
            self.line(f"let {self.fresh('text')} = call helper")
            self.line(f"  seed: {value}")
        elif roll < 0.2:
            value = f"call plus({self.expressions.number(1)}, {self.expressions.number(1)})"
            self.line(f"let {self.fresh('number')} = {value}")
        elif roll < 0.3:
            self.call_lines("", target)
        else:
            self.keep_call(kind, target)

    def keep_call(self, kind: str, target: str) -> None:
        held, self.frame = self.frame, _Frame(self.frame.around)
        self.frame.own = dict(held.own)
        name = self.fresh(kind)
        here = self.frame
        self.frame = held
        self.call_lines(f"let {name} = ", target)
        self.frame = here

    def destructure(self) -> None:
        self.counter += 1
        n, s = ("n", "s") if "n" not in self.frame.names and self.indent == 0 else ("ok", "verdict")
        if n in self.frame.names or self.frame.own.get("taken"):
            return self.call()
        if self.indent:
            return self.call()
        self.call_lines(f"let {{ {n}, {s} }} = ", "score")
        self.frame.own.update({n: "number" if n == "n" else "truth", s: "text"})

    # --- loops -------------------------------------------------------------------------------------------------------

    def repeat(self) -> None:
        count = self.rng.choice(["1", "2", "3", "rounds"])
        counter = self.fresh_local()
        self.line(f"repeat {count}{f' as {counter}' if counter else ''}:")
        with self.body(passes=3, loop=True):
            self.local(counter, "number")
            self.some()
            self.leave()

    def fresh_local(self) -> str:
        self.counter += 1
        return f"i{self.counter}" if self.rng.random() < 0.7 else ""

    def local(self, name: str, kind: str) -> None:
        if name:
            self.frame.around = {**self.frame.around, name: kind}

    def each(self) -> None:
        self.counter += 1
        x, i = f"x{self.counter}", f"k{self.counter}"
        form = self.rng.choice(["for", "for with", "object", "loop", "services"])
        kinds = {x: "number"}
        if form == "for":
            self.line(f"for {x} in {self.expressions.short()}:")
        elif form == "for with":
            self.line(f"for {x}, {i} in {self.expressions.short()}:")
            kinds[i] = "number"
        elif form == "object":
            self.line(f"for {x}, {i} in {self.expressions.object(1)}:")
            kinds = {x: "text", i: "any"}
        elif form == "services":
            self.line(f"for {x} in reviewers:")
            kinds = {}
        else:
            self.line(f"loop for each {x} in {self.expressions.listing()} (max: {self.rng.choice([1, 2, 'rounds'])}):")
            kinds = {x: "any"}
        with self.body(passes=3, loop=True):
            for name, kind in kinds.items():
                self.local(name, kind)
            if form == "services":
                self.keep_call("object", x)
            self.some()
            self.leave()

    def loop(self) -> None:
        counter = self.fresh_local()
        tail = f" (max: {self.rng.choice([1, 2, 3])})" + (f" as {counter}" if counter else "")
        word = self.rng.choice(["until", "while", ""])
        if word:
            self.line(f"loop {word} {self.plain_condition()}{tail}:")
        else:
            self.line(f"loop{tail}:")
        with self.body(passes=3, loop=True):
            self.local(counter, "number")
            self.some()
            self.leave()

    def plain_condition(self) -> str:
        text = self.expressions.condition()
        while "\n" in text or " as " in text or text.endswith(")"):
            text = self.expressions.condition()
        return text

    def leave(self) -> None:
        if self.rng.random() < 0.3:
            self.line(f"if {self.plain_condition()}:")
            self.line(f"  {self.rng.choice(['break', 'continue'])}")

    def collect(self) -> None:
        """A loop in value position: each pass gives a value."""
        counter = self.fresh_local()
        form = self.rng.choice(["repeat", "for", "parallel repeat", "parallel for", "nested"])
        held = dict(self.frame.own)
        name = self.fresh("any")
        self.frame.own = held
        parallel = form.startswith("parallel")
        if form.endswith("repeat"):
            self.line(f"let {name} = {form} {self.rng.choice([1, 2, 3])}{f' as {counter}' if counter else ''}:")
        else:
            word = "for" if form == "nested" else form
            counter = counter or "q"
            self.line(f"let {name} = {word} {counter} in {self.expressions.short()}:")
        self.collecting += 1
        with self.body(own=parallel, passes=3, loop=not parallel, safe=parallel):
            loops, self.loops = self.loops, 0
            self.local(counter, "number")
            self.some(2)
            if form == "nested" and self.weight <= 24:
                self.line("repeat 2:")
                with self.body(passes=2):
                    self.some(1)
                    self.line(f"return {self.expressions.number()}")
            else:
                self.line(f"return {self.expressions.number()}")
            self.loops = loops
        self.collecting -= 1
        self.frame.own[name] = "any"

    # --- branches ----------------------------------------------------------------------------------------------------

    def branch(self) -> None:
        prefix = ""
        name = ""
        if self.rng.random() < 0.15:
            held = dict(self.frame.own)
            name = self.fresh("any")
            self.frame.own = held
            prefix = f"let {name} = "
        self.line(f"{prefix}if {self.plain_condition()}:")
        with self.body():
            self.some(2)
        for _ in range(self.rng.choice([0, 0, 1])):
            self.line(f"elif {self.plain_condition()}:")
            with self.body():
                self.some(2)
        if self.rng.random() < 0.5:
            self.line("else:")
            with self.body():
                self.some(2)
        if name:
            self.frame.own[name] = "any"

    def choice(self) -> None:
        labels = self.rng.sample(["deep", "x", "plan", "wide"], self.rng.choice([1, 2, 3]))
        self.line(f"choice {self.rng.choice(['mode', 'topic', 'what suits the topic best'])}:")
        self.indent += 1
        for label in labels:
            self.line(f'option "{label}":')
            with self.body():
                self.some(2)
        self.indent -= 1

    def attempt(self) -> None:
        self.counter += 1
        name = f"e{self.counter}"
        catches = self.rng.random() < 0.85 or self.safe > 0
        self.line("try:")
        safe, self.safe = self.safe, 0 if catches else self.safe
        with self.body():
            self.some(2)
            if self.rng.random() < 0.6 and catches:
                self.fault(caught=True)
        self.safe = safe
        if catches:
            named = self.rng.random() < 0.8
            self.line(f"catch as {name}:" if named else "catch:")
            with self.body():
                if named:
                    self.line(f"let {self.fresh('any')} = [{name}.code, {name}.name, {name}.attempts]")
                self.some(1)
                if not self.safe and self.rng.random() < 0.1:
                    self.line("throw")
        if not catches or self.rng.random() < 0.3:
            self.line("finally:")
            with self.body():
                self.some(1)

    def fault(self, *, caught: bool = False) -> None:
        """Something that fails, always or for some inputs."""
        if self.safe:
            return self.let()
        roll = self.rng.choice(["flaky", "flaky", "slow", "throw", "object", "index", "mixed", "count"])
        if roll == "flaky":
            self.keep_call("object", "flaky")
        elif roll == "slow":
            self.line("call slow")
            self.line("  timeout: 5")
        elif roll == "throw":
            thrown = self.rng.choice(["", '"too-bad"', '"all is lost"', "topic"])
            self.line(f"throw {thrown}".rstrip())
        elif roll == "object":
            self.line(f'throw {{ error: "unresolved", detail: {self.expressions.number(1)} }}')
        elif roll == "index":
            self.line(f"let {self.fresh('any')} = {self.expressions.short(0)}[{self.rng.choice([0, 3, 99])}]")
        elif roll == "mixed":
            self.line(f"let {self.fresh('any')} = {self.expressions.number(0)} + {self.expressions.text(0)}")
        else:
            self.line(f"repeat {self.expressions.number(0)} - 1:" if caught else "repeat rounds / 2:")
            self.line("  null")

    # --- parallel ----------------------------------------------------------------------------------------------------

    def modifiers(self, branches: int | None) -> tuple[str, bool]:
        """A modifier list, and whether an error in a branch cancels the others."""
        if self.races and self.rng.random() < 0.5:
            if branches and branches > 1 and self.rng.random() < 0.5:
                return f' ("any", count: {self.rng.randint(1, branches)})', False
            return self.rng.choice([' ("first")', ' ("any")', ' ("any", on-fail: "ignore")']), False
        form = self.rng.choice(["", "", "continue", "ignore", "all"])
        if form in ("continue", "ignore"):
            return f' (on-fail: "{form}")', False
        return ' ("all")' if form else "", not self.races

    def parallel(self) -> None:
        branches = self.rng.randint(1, 3)
        modifiers, strict = self.modifiers(branches)
        kept = self.rng.random() < 0.3
        held = dict(self.frame.own)
        name = self.fresh("any") if kept else ""
        self.frame.own = held
        self.line(f"{f'let {name} = ' if kept else ''}parallel{modifiers}:")
        lets: dict[str, str] = {}
        with self.body(own=True, safe=strict):
            for _ in range(branches):
                before = self.frame
                self.frame = _Frame(before.around)
                form = self.rng.choice(["call", "call", "let", "deep"])
                if form == "call":
                    self.keep_call("object", self.rng.choice(["score", "flaky"] if not self.safe else ["score"]))
                    lets.update(dict.fromkeys(self.frame.own, "any"))
                elif form == "let":
                    self.let()
                    lets.update(dict.fromkeys(self.frame.own, "any"))
                else:
                    self.line("do:")
                    with self.body(own=True):
                        self.some(2)
                self.frame = before
        if not kept:
            self.frame.own.update(lets)
        if kept:
            self.frame.own[name] = "any"

    def parallel_each(self) -> None:
        self.counter += 1
        x, i = f"p{self.counter}", f"j{self.counter}"
        modifiers, strict = self.modifiers(None)
        held = dict(self.frame.own)
        name = self.fresh("any")
        self.frame.own = held
        form = self.rng.choice(["for", "for with", "repeat", "services"])
        kinds = {x: "number"}
        if form == "for":
            self.line(f"let {name} = parallel for {x} in {self.expressions.short()}{modifiers}:")
        elif form == "for with":
            self.line(f"let {name} = parallel for {x}, {i} in {self.expressions.short()}{modifiers}:")
            kinds[i] = "number"
        elif form == "services":
            self.line(f"let {name} = parallel for {x} in reviewers{modifiers}:")
            kinds = {}
        else:
            tail = f"{modifiers} as {x}" if self.rng.random() < 0.5 else f" as {x}{modifiers}"
            self.line(f"let {name} = parallel repeat {self.rng.choice([1, 3, 'rounds'])}{tail}:")
        with self.body(own=True, passes=3, safe=strict):
            for local, kind in kinds.items():
                self.local(local, kind)
            if form == "services":
                self.keep_call("object", x)
            self.some()
            if self.rng.random() < 0.5:
                self.line(f"return {self.expressions.anything()}")
        self.frame.own[name] = "any"

    # --- bodies of their own -----------------------------------------------------------------------------------------

    def do(self) -> None:
        blocks = [(name, count) for name, (count, calm) in self.blocks.items() if calm or not self.safe]
        name, count = self.rng.choice(blocks) if blocks else ("", 0)
        held = dict(self.frame.own)
        target = self.fresh("any")
        self.frame.own = held
        if name and not self.in_block and self.weight <= 9 and self.rng.random() < 0.6:
            arguments = ["2", *(self.expressions.anything(1) for _ in range(count - 1))][:count]
            self.line(f"let {target} = do {name}({', '.join(arguments)})" if count else f"do {name}")
            if count:
                self.frame.own[target] = "any"
            return
        self.line(f"let {target} = do:")
        with self.body(own=True):
            self.some(2)
            if self.rng.random() < 0.5:
                self.line(f"return {self.expressions.anything()}")
        self.frame.own[target] = "any"

    def block(self) -> None:
        """A block; it may call itself with a counter that goes down."""
        self.counter += 1
        name, count = f"b{self.counter}", self.rng.choice([0, 1, 2])
        parameters = ["n", "w"][:count]
        self.line(f"block {name}({', '.join(parameters)}):" if count else f"block {name}:")
        frame, self.frame = self.frame, _Frame({})
        self.in_block = True
        calm = self.rng.random() < 0.6
        with self.body(own=True, passes=3, safe=calm):
            self.frame.around = dict(zip(parameters, ["number", "any"], strict=False))
            self.some(2)
            if count:
                self.line("if n > 0:")
                with self.body():
                    self.line(f"return do {name}({', '.join(['n - 1', 'w'][:count])})")
            self.line(f"return {self.expressions.anything()}")
        self.in_block = False
        self.frame = frame
        self.blocks[name] = count, calm

    def pipeline(self) -> None:
        """Stages on lines of their own, indented; or the first one on the line of the source and the others below."""
        held = dict(self.frame.own)
        name = self.fresh("any")
        self.frame.own = held
        inline = self.rng.random() < 0.4
        source = "call three" if inline and self.rng.random() < 0.5 else self.expressions.short().replace("\n", " ")
        stages = [f"| {kind}:" for kind in self.rng.sample(["map", "pmap", "filter", "map"], self.rng.choice([1, 2]))]
        stages += ["| reduce(acc, next):"] if self.rng.random() < 0.4 else []
        head = f"let {name} = {source}"
        if not inline:
            self.line(head)
            self.indent += 1
        for number, stage in enumerate(stages):
            self.line(f"{head} {stage}" if inline and not number else stage)
            self.stage(stage)
        self.indent -= not inline
        self.frame.own[name] = "any"

    def stage(self, stage: str) -> None:
        with self.body(own=True, passes=3, safe="pmap" in stage):
            if "reduce" in stage:
                self.local("acc", "any")
                self.local("next", "any")
                self.line(f"return {self.rng.choice(['next', '[next, 1]', 'acc'])}")
                return
            self.local("item", "any")
            if self.rng.random() < 0.5:
                self.some(1)
            self.line(f"return {'item != null' if 'filter' in stage else self.expressions.number()}")

    def early(self) -> None:
        """A `return` that some runs reach."""
        self.line(f"if {self.plain_condition()}:")
        with self.body():
            self.line("return" if self.rng.random() < 0.2 else f"return {self.expressions.anything()}")

    # --- models ------------------------------------------------------------------------------------------------------

    def agents(self) -> None:
        if self.rng.random() < 0.5:
            self.line("agent writer:")
            self.line("  model: sonnet")
            self.line('  prompt: "write {topic}"')
        else:
            self.blocks.clear()
        self.has_agent = bool(self.lines)
        if self.rng.random() < 0.4:
            self.line('use "std/patterns/refine" as improver')

    def model(self) -> None:
        """Work for a model: there is none, so it stands where no run comes."""
        self.line("if start == null:")
        with self.body():
            if self.has_agent:
                self.line(self.rng.choice(["let draft = session: writer", "session label: writer", "resume: writer"]))
            self.line('session "say {topic}"')
