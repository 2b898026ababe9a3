"""The rule `always-fails`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.linter.kinds import KindReader, Kinds
from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.structure import Suite
from prose_lang.linter.subject import Subject
from prose_lang.semantics import Target
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk

_VERBS = {"+": "added", "-": "subtracted", "*": "multiplied", "/": "divided"}
_ORDERED = frozenset({"<", "<=", ">", ">="})


class AlwaysFails(Rule):
    """
    ## What it does

    An operation can only fail, whatever the services answer: an operator on kinds of values that it does not take, a
    division by 0, a loop over what is no list, a count that is no number, `record` into what is no list, a call of a
    text.

    ## Why

    What is written out or declared has a known kind: a literal, a text with names in it, an input or a config key with
    a type, a variable that is only ever set to such. An operator on other kinds is P304 whenever it is reached (L13a),
    a loop over a text or a number is P302 (L21). Inside the body of a `try` with a `catch` nothing is told, since there
    the failure may be meant.

    ## Example

    <!-- slots: writer; inputs: topic; config: rounds=3 -->
    ```prose
    let title = "About {topic}, " + rounds
    return call writer
      title: title
    ```

    ## Use instead

    <!-- slots: writer; inputs: topic; config: rounds=3 -->
    ```prose
    let title = "About {topic}, {rounds}"
    return call writer
      title: title
    ```
    """

    name = "always-fails"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        kinds = KindReader(subject)
        caught = _caught(subject)
        for node in dict.fromkeys(subject.nodes):
            if node in caught:
                continue
            match node:
                case n.Binary():
                    yield from self.binary(subject, node, kinds)
                case n.Unary(operator="-", operand=operand):
                    yield from self.wrong(subject, node, kinds.of(operand), {"number"}, "{} cannot be negated")
                case n.For(iterable=value) | n.ParallelFor(iterable=value):
                    message = "`for` runs over a list or an object, and this is {}"
                    yield from self.wrong(subject, value, kinds.of(value), {"list", "object"}, message)
                case n.Pipeline(source=value, stages=stages) if stages:
                    message = f"`| {stages[0].kind}:` runs over a list, and this is {{}}"
                    yield from self.wrong(subject, value, kinds.of(value), {"list"}, message)
                case n.Repeat(count=value) | n.ParallelRepeat(count=value):
                    yield from self.count(subject, value, kinds)
                case n.Loop(limit=value) if value is not None:
                    yield from self.count(subject, value, kinds)
                case n.Call(target=target):
                    yield from self.call(subject, subject.program.calls[node].target, target, kinds)
                case n.Record():
                    yield from self.record(subject, node, kinds)
                case _:
                    pass

    def count(self, subject: Subject, value: n.Expression, kinds: KindReader) -> Iterator[Finding]:
        if not isinstance(value, (n.Literal, n.ListLiteral, n.ObjectLiteral, n.Text)):  # of these it is an error
            message = "a loop count is a whole number from 1, and this is {}"
            yield from self.wrong(subject, value, kinds.of(value), {"number"}, message)

    def binary(self, subject: Subject, node: n.Binary, kinds: KindReader) -> Iterator[Finding]:
        left, right = kinds.of(node.left), kinds.of(node.right)
        operator = node.operator
        if operator == "/" and isinstance(node.right, n.Literal) and node.right.value == 0:
            yield self.at(subject, node, "a division by 0 always fails")
        elif operator in _VERBS:
            takes = {"number", "string", "list"} if operator == "+" else {"number"}
            for side, found in ((node.left, left), (node.right, right)):
                if found is not None and not found & takes:
                    yield self.at(subject, side, f"{_a(found)} cannot be {_VERBS[operator]}", _text_hint(operator))
                    return
            if left is not None and right is not None and not left & right & takes:
                message = f"{_a(left & takes)} and {_a(right & takes)} cannot be {_VERBS[operator]}"
                yield self.at(subject, node, message, _text_hint(operator))
        elif operator in _ORDERED and left is not None and right is not None:
            if not left & right & {"number", "string"}:
                yield self.at(subject, node, f"{_a(left)} and {_a(right)} cannot be compared by `{operator}`")
        elif operator in ("in", "not in"):
            message = f"nothing can be looked for with `{operator}` in {{}}"
            yield from self.wrong(subject, node.right, right, {"list", "string", "object"}, message)

    def call(self, subject: Subject, target: Target, name: n.Name, kinds: KindReader) -> Iterator[Finding]:
        cell = target.variable
        if cell is None or target.slot is not None or target.static or cell in kinds.starts:
            return
        values = kinds.values.get(cell, [None])
        if all(isinstance(value, (n.Literal, n.Text, n.ListLiteral, n.ObjectLiteral)) for value in values):
            found = kinds.set_to(cell)
            assert found is not None, "literals have kinds"
            yield self.at(subject, name, f"`{name.id}` is {_a(found)}, and only a service can be called")

    def record(self, subject: Subject, node: n.Record, kinds: KindReader) -> Iterator[Finding]:
        cell = subject.program.writes.get(node.name, -1)
        if cell in kinds.values and cell not in kinds.starts and _is_set_before(subject, node, cell):
            message = f"`{node.name.id}` is {{}}, and nothing can be added to that"
            yield from self.wrong(subject, node.name, kinds.set_to(cell), {"list", "null"}, message)

    def wrong(
        self, subject: Subject, place: n.Node, found: Kinds | None, takes: set[str], message: str
    ) -> Iterator[Finding]:
        if found and not found & takes:
            yield self.at(subject, place, message.format(_a(found)))


def _caught(subject: Subject) -> frozenset[n.Node]:
    """Everything below the body of a `try` that has a `catch`."""
    return frozenset(
        below
        for node in subject.nodes
        if isinstance(node, n.Try) and node.handler is not None
        for below in walk(node.body)
    )


def _is_set_before(subject: Subject, record: n.Record, cell: int) -> bool:
    """Whether a `let` that stands before it, in its list or in one around, has set a variable for certain."""
    for suite in subject.structure.suites:
        if record not in suite.statements:
            continue
        around: Suite | None = suite
        at = suite.statements.index(record)
        while around is not None:
            lets = (statement for statement in around.statements[:at] if isinstance(statement, n.Let))
            if any(subject.program.writes.get(statement.name) == cell for statement in lets):
                return True
            at, around = around.at, around.around
    return False


def _a(kinds: Kinds) -> str:
    """Kinds as words; null is not named beside others, for it is what an absent value is."""
    words = sorted(kinds - {"null"}) or ["null"]
    return " or ".join(word if word == "null" else f"an {word}" if word == "object" else f"a {word}" for word in words)


def _text_hint(operator: str) -> str | None:
    return 'to write values into a text: "… {name} …"' if operator == "+" else None
