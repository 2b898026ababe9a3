"""The tree. Nodes say what was written and where, never what it means: names, types and addresses live in
tables keyed by node (`semantics/`). Nodes compare by identity; `start` and `end` are offsets in the host file.

    Node
    ├── Expression    Literal Text Name Member Index ListLiteral ObjectLiteral Unary Binary Invoke
    ├── Action        Call Session Resume Pipeline  and, of the statements below, those that have a value:
    │                 Do Parallel ParallelFor ParallelRepeat Repeat For Loop If Choice Try
    └── Statement     Let Destructure Assign Evaluate Return Throw Record Break Continue
                      BlockDef AgentDef Use Malformed

An `Action` can stand as a statement (inside `Evaluate`), right of `=`, after `return` and as a property value.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import attrs

from prose_lang.text import Span


@attrs.frozen(eq=False, repr=False)
class Node:
    """Anything in the tree. The span includes everything the node was read from."""

    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    def __repr__(self) -> str:
        # Written here once: a generated one for each class costs start-up more than everything else about them.
        fields = attrs.fields(type(self))[2:]
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in fields)})"


# --- expressions -----------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class Literal(Node):
    """`null`, `true`, `3`, `"text"` without interpolation."""

    value: Any


@attrs.frozen(eq=False, repr=False)
class Text(Node):
    """A string with interpolations: its parts are plain texts and the references between braces (L10)."""

    parts: tuple[str | Expression, ...]


@attrs.frozen(eq=False, repr=False)
class Name(Node):
    """A name that is read."""

    id: str


@attrs.frozen(eq=False, repr=False)
class Member(Node):
    """`object.name`."""

    object: Expression
    name: str


@attrs.frozen(eq=False, repr=False)
class Index(Node):
    """`object[index]`."""

    object: Expression
    index: Expression


@attrs.frozen(eq=False, repr=False)
class ListLiteral(Node):
    """`[a, b]`."""

    items: tuple[Expression, ...]


@attrs.frozen(eq=False, repr=False)
class ObjectEntry(Node):
    """`key: value`, or the shorthand `name` (then `value` is a Name)."""

    key: str
    value: Expression


@attrs.frozen(eq=False, repr=False)
class ObjectLiteral(Node):
    """`{ a, b: c }`."""

    entries: tuple[ObjectEntry, ...]


@attrs.frozen(eq=False, repr=False)
class Unary(Node):
    """`not x`, `-x`."""

    operator: str
    operand: Expression


@attrs.frozen(eq=False, repr=False)
class Binary(Node):
    """`left operator right`; `and` and `or` too, and `not in`."""

    operator: str
    left: Expression
    right: Expression


@attrs.frozen(eq=False, repr=False)
class Invoke(Node):
    """`f(a, b)` inside an expression: a positional call of a registered function or service (L13a)."""

    target: Name
    arguments: tuple[Expression, ...]


Expression: TypeAlias = "Literal | Text | Name | Member | Index | ListLiteral | ObjectLiteral | Unary | Binary | Invoke"


# --- actions: what has a value and may have effects ---------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class Property(Node):
    """`name: value` under a call, a session or an agent. `nested` holds the lines of an indented map (`shape:`)."""

    name: str
    name_end: int
    value: Value | None
    nested: tuple[Property, ...] = ()


@attrs.frozen(eq=False, repr=False)
class Call(Node):
    """`call TARGET`, with properties below it or positional arguments in brackets that touch the name.

    `quoted` tells that the target was written as a string (a reference by path rather than a name).
    """

    target: Name
    quoted: bool
    arguments: tuple[Expression, ...] | None
    properties: tuple[Property, ...]


@attrs.frozen(eq=False, repr=False)
class Session(Node):
    """`session "prompt"`, `session: agent`, `session label: agent` (L29)."""

    label: str | None
    agent: Name | None
    prompt: Expression | None
    properties: tuple[Property, ...]


@attrs.frozen(eq=False, repr=False)
class Resume(Node):
    """`resume: agent` (L29)."""

    agent: Name
    properties: tuple[Property, ...]


@attrs.frozen(eq=False, repr=False)
class Stage(Node):
    """One `| map:`, `| pmap:`, `| filter:` or `| reduce(acc, x):`. `names` are the names it binds in its body."""

    kind: str
    names: tuple[Name, ...]
    body: Body


@attrs.frozen(eq=False, repr=False)
class Pipeline(Node):
    """`source | stage | stage` (L28)."""

    source: Expression
    stages: tuple[Stage, ...]


@attrs.frozen(eq=False, repr=False)
class Do(Node):
    """`do:` with a body, or `do name(arguments)` (L28)."""

    target: Name | None
    arguments: tuple[Expression, ...]
    body: Body | None


@attrs.frozen(eq=False, repr=False)
class Modifier(Node):
    """One entry of a modifier list: `"first"` (name None), `count: 2`, `on-fail: "ignore"`, `max: 3`."""

    name: str | None
    value: Expression


@attrs.frozen(eq=False, repr=False)
class Parallel(Node):
    """`parallel:`, each statement below it a branch (L24)."""

    modifiers: tuple[Modifier, ...]
    branches: Body


@attrs.frozen(eq=False, repr=False)
class ParallelFor(Node):
    """`parallel for x, i in xs (modifiers):` (L25)."""

    variable: Name
    index: Name | None
    iterable: Expression
    modifiers: tuple[Modifier, ...]
    body: Body


@attrs.frozen(eq=False, repr=False)
class ParallelRepeat(Node):
    """`parallel repeat N (modifiers) as i:` (L25)."""

    count: Expression
    variable: Name | None
    modifiers: tuple[Modifier, ...]
    body: Body


@attrs.frozen(eq=False, repr=False)
class Repeat(Node):
    """`repeat N as i:` (L21)."""

    count: Expression
    variable: Name | None
    body: Body


@attrs.frozen(eq=False, repr=False)
class For(Node):
    """`for x, i in xs:` and `loop for each x in xs (max: N):` (L21)."""

    variable: Name
    index: Name | None
    iterable: Expression
    limit: Expression | None
    body: Body


@attrs.frozen(eq=False, repr=False)
class Loop(Node):
    """`loop:`, `loop until C:`, `loop while C:` with `(max: N)` and `as i` (L21). `kind` is until, while or forever."""

    kind: str
    condition: Condition | None
    limit: Expression | None
    variable: Name | None
    body: Body


@attrs.frozen(eq=False, repr=False)
class Condition(Node):
    """The text of a condition without its wrapping stars (L30); `expression` if the whole of it parses as one."""

    text: str
    expression: Expression | None


@attrs.frozen(eq=False, repr=False)
class Arm(Node):
    """One `if` or `elif` with its body."""

    condition: Condition
    body: Body


@attrs.frozen(eq=False, repr=False)
class If(Node):
    """`if` / `elif` / `else` (L26)."""

    arms: tuple[Arm, ...]
    otherwise: Body | None


@attrs.frozen(eq=False, repr=False)
class Option(Node):
    """`option "label":` of a choice."""

    label: str
    body: Body


@attrs.frozen(eq=False, repr=False)
class Choice(Node):
    """`choice CRITERIA:` (L26, L31)."""

    criteria: Condition
    options: tuple[Option, ...]


@attrs.frozen(eq=False, repr=False)
class Try(Node):
    """`try` / `catch as e` / `finally` (L27)."""

    body: Body
    name: Name | None
    handler: Body | None
    cleanup: Body | None


Action: TypeAlias = (
    "Call | Session | Resume | Pipeline | Do | Parallel | ParallelFor | ParallelRepeat"
    " | Repeat | For | Loop | If | Choice | Try"
)
#: What may stand right of `=`, after `return` and as a property value.
Value: TypeAlias = "Expression | Action"


# --- statements ------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class Let(Node):
    """`let name = value`, `const name = value`."""

    name: Name
    value: Value
    constant: bool


@attrs.frozen(eq=False, repr=False)
class Destructure(Node):
    """`let { a, b } = value` (L33)."""

    names: tuple[Name, ...]
    value: Value
    constant: bool


@attrs.frozen(eq=False, repr=False)
class Assign(Node):
    """`name = value`, `name.field[0] = value` (L19). `path` holds texts (fields) and expressions (indices)."""

    name: Name
    path: tuple[str | Expression, ...]
    value: Value


@attrs.frozen(eq=False, repr=False)
class Evaluate(Node):
    """An expression or an action as a statement."""

    value: Value


@attrs.frozen(eq=False, repr=False)
class Return(Node):
    """`return`, `return value` (L22)."""

    value: Value | None


@attrs.frozen(eq=False, repr=False)
class Throw(Node):
    """`throw`, `throw value` (L27)."""

    value: Expression | None


@attrs.frozen(eq=False, repr=False)
class Record(Node):
    """`record V in LIST`, `append V to LIST` (L20)."""

    value: Expression
    name: Name


@attrs.frozen(eq=False, repr=False)
class Break(Node):
    """`break`."""


@attrs.frozen(eq=False, repr=False)
class Continue(Node):
    """`continue`."""


@attrs.frozen(eq=False, repr=False)
class BlockDef(Node):
    """`block name(parameters):` (L28)."""

    name: Name
    parameters: tuple[Name, ...]
    body: Body


@attrs.frozen(eq=False, repr=False)
class AgentDef(Node):
    """`agent name:` with properties (L29)."""

    name: Name
    properties: tuple[Property, ...]


@attrs.frozen(eq=False, repr=False)
class Use(Node):
    """`use "reference" as name`."""

    reference: str
    alias: Name | None


@attrs.frozen(eq=False, repr=False)
class Malformed(Node):
    """What stood where a statement was expected and could not be read; a diagnostic says why."""


Statement: TypeAlias = (
    "Let | Destructure | Assign | Evaluate | Return | Throw | Record | Break | Continue"
    " | BlockDef | AgentDef | Use | Malformed"
)


@attrs.frozen(eq=False, repr=False)
class Body(Node):
    """A list of statements."""

    statements: tuple[Statement, ...]
