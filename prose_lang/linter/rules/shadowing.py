"""The rule `shadowing`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.semantics.scopes import declarations
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import children

_KINDS: Mapping[str, str] = {"slot": "slot", "config": "config key", "input": "input"}


class Shadowing(Rule):
    """
    ## What it does

    A loop variable, a block's parameter, a caught error or a name of a pipeline hides a name that can be seen there.

    ## Why

    It is allowed (L16), and inside of the loop or block the other one cannot be reached any more. A reader, or the next
    person to change the body, may take one for the other.

    ## Example

    <!-- slots: reviewer; inputs: topic, topics[] -->
    ```prose
    let reviews = parallel for topic in topics:
      call reviewer
        topic: topic
    return { topic, reviews }
    ```

    ## Use instead

    <!-- slots: reviewer; inputs: topic, topics[] -->
    ```prose
    let reviews = parallel for each_topic in topics:
      call reviewer
        topic: each_topic
    return { topic, reviews }
    ```
    """

    name = "shadowing"

    def find(self, subject: Subject) -> Iterator[Finding]:
        # Of an implicit input `undeclared-input` tells, and then the loop is hardly what is wrong.
        base = {base.name: _KINDS[base.kind] for base in subject.program.bases if base.kind in _KINDS}
        yield from _Walk(self, subject, base).body(subject.parsed.body, base)


#: What can be seen at a place: each name with what it is.
_Names = Mapping[str, str]


class _Walk:
    def __init__(self, rule: Shadowing, subject: Subject, base: _Names) -> None:
        self.rule = rule
        self.subject = subject
        self.base = base

    def body(self, body: n.Body, seen: _Names) -> Iterator[Finding]:
        """A body with a frame of its own."""
        yield from self.below(body, {**seen, **{name.id: "variable" for name, _ in declarations(body.statements)}})

    def below(self, node: n.Node, seen: _Names) -> Iterator[Finding]:
        for child in children(node):
            yield from self.node(child, seen)

    def node(self, node: n.Node, seen: _Names) -> Iterator[Finding]:
        match node:
            case n.Repeat(variable=variable, body=body) | n.Loop(variable=variable, body=body):
                yield from self.locals([variable], "counter", seen)
                yield from self.below(body, self.joined(seen, [variable], "counter"))
            case n.For(variable=variable, index=index, body=body):
                yield from self.locals([variable, index], "loop variable", seen)
                yield from self.below(body, self.joined(seen, [variable, index], "loop variable"))
            case n.ParallelFor(variable=variable, index=index, body=body):
                yield from self.locals([variable, index], "loop variable", seen)
                yield from self.body(body, self.joined(seen, [variable, index], "loop variable"))
            case n.ParallelRepeat(variable=variable, body=body):
                yield from self.locals([variable], "counter", seen)
                yield from self.body(body, self.joined(seen, [variable], "counter"))
            case n.Parallel(branches=branches):
                for branch in branches.statements:
                    yield from self.body(n.Body(branch.start, branch.end, (branch,)), seen)
            case n.Do(body=n.Body() as body):
                yield from self.body(body, seen)
            case n.Stage(names=names, body=body):
                yield from self.locals(names, "pipeline name", seen)
                yield from self.body(body, self.joined(seen, names, "pipeline name"))
            case n.BlockDef(parameters=parameters, body=body):
                # A block sees no variables of the bodies around it (L14), so its parameters hide none.
                yield from self.locals(parameters, "parameter", self.base)
                yield from self.body(body, self.joined(self.base, parameters, "parameter"))
            case n.Try(body=body, name=name, handler=handler, cleanup=cleanup):
                yield from self.below(body, seen)
                yield from self.locals([name], "caught error", seen)
                if handler is not None:
                    yield from self.below(handler, self.joined(seen, [name], "caught error"))
                if cleanup is not None:
                    yield from self.below(cleanup, seen)
            case _:
                yield from self.below(node, seen)

    def joined(self, seen: _Names, names: Sequence[n.Name | None], what: str) -> _Names:
        return {**seen, **{name.id: what for name in names if name is not None}}

    def locals(self, names: Sequence[n.Name | None], what: str, seen: _Names) -> Iterator[Finding]:
        for name in names:
            if name is not None and name.id in seen:
                message = f"the {what} `{name.id}` hides the {seen[name.id]} of that name"
                yield self.rule.at(self.subject, name, message, "choose another name")
