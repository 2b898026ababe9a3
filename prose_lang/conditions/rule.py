"""What a rule is, what it decides, and how rules are read from a condition's text.

The rules themselves stand with their layer. Evaluating operands and asking the next layer is the caller's work:
everything in this room is a pure function of texts and values.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, NamedTuple, TypeAlias

import attrs

from prose_lang.conditions.words import LOGIC_WORDS, Word
from prose_lang.syntax import nodes
from prose_lang.values import Value

#: Reads the host file's text between two offsets as one expression; None if it is not one.
Parse: TypeAlias = Callable[[int, int], "nodes.Expression | None"]


class Decided:
    """A decision, why it fell so, and what the trace should warn of.

    The reason may be given as a function: loops decide often, and few reasons are ever read.
    """

    __slots__ = ("_reason", "holds", "warning")

    def __init__(self, holds: bool, reason: str | Callable[[], str], warning: str | None = None) -> None:
        self.holds = holds
        self._reason = reason
        self.warning = warning

    @property
    def reason(self) -> str:
        """Why it fell so, in words."""
        return self._reason if isinstance(self._reason, str) else self._reason()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decided):
            return NotImplemented
        return (self.holds, self.reason, self.warning) == (other.holds, other.reason, other.warning)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Decided({self.holds}, {self.reason!r}, {self.warning!r})"


class Operand(NamedTuple):
    """An expression that a rule reads, as a node and as it was written."""

    expression: nodes.Expression
    text: str


@attrs.frozen(eq=False)
class Rule(abc.ABC):
    """One way to decide one condition without a judge (L30).

    The caller evaluates `operands` and hands their values to `decide` in the same order. A rule with an operand
    that names nothing does not apply; under the layer `verdict` an operand that names a slot stands for that
    slot's latest result, null while there is none (L30.3).
    """

    parts: tuple[Operand, ...]

    layer: ClassVar[str]

    @property
    def total(self) -> bool:
        """Whether `decide` never abstains, so that nothing after the rule is ever asked."""
        return False

    @property
    def operands(self) -> tuple[nodes.Expression, ...]:
        """The expressions to evaluate: paths and literals only, so reading them has no effects."""
        return tuple(part.expression for part in self.parts)

    @abc.abstractmethod
    def describe(self) -> str:
        """The exact meaning, for `prose check`."""

    @abc.abstractmethod
    def decide(self, values: Sequence[Value]) -> Decided | None:
        """The decision for these values of the operands; None to abstain, so that the next layer decides."""


@attrs.frozen(eq=False)
class TotalRule(Rule):
    """A rule that decides whatever the values are."""

    @property
    def total(self) -> bool:
        return True

    @abc.abstractmethod
    def decide(self, values: Sequence[Value]) -> Decided:
        """The decision; it never abstains."""


@attrs.frozen(eq=False)
class Reading:
    """A condition's words, with the means to read some of them as an operand. Indices count words."""

    condition: nodes.Condition
    words: tuple[Word, ...]
    parse: Parse

    def __len__(self) -> int:
        return len(self.words)

    def lower(self, index: int) -> str:
        """A word in lower case; negative indices count from the end; "" beyond either end."""
        return self.words[index].lower if -len(self.words) <= index < len(self.words) else ""

    def operand(self, first: int, after: int) -> Operand | None:
        """Words `first` to `after` (exclusive) as a path or a literal; None if they are anything else."""
        if not 0 <= first < after <= len(self.words):
            return None
        start, end = self.words[first].start, self.words[after - 1].end
        text = self.condition.text[start:end]
        if text.lower() in LOGIC_WORDS:
            return None  # `no meets bar` is English before it is a variable called "no"
        expression = self.parse(self.condition.start + start, self.condition.start + end)
        if expression is None or not (is_path(expression) or is_literal(expression)):
            return None
        return Operand(expression, text)

    def path(self, first: int, after: int) -> Operand | None:
        """Like `operand`, but a literal will not do."""
        found = self.operand(first, after)
        return found if found is not None and is_path(found.expression) else None

    def around(self, phrase: tuple[str, ...]) -> Iterator[tuple[Operand, Operand]]:
        """Every way to read the text as operand, phrase, operand."""
        size = len(phrase)
        for at in range(1, len(self.words) - size):
            if all(self.words[at + offset].lower == word for offset, word in enumerate(phrase)):
                left = self.operand(0, at)
                right = self.operand(at + size, len(self.words))
                if left is not None and right is not None:
                    yield left, right


def is_path(expression: nodes.Expression) -> bool:
    """Whether an expression is a name or a way into one: `a`, `a.b`, `a[0]`, `a[i - 1].b`."""
    while isinstance(expression, (nodes.Member, nodes.Index)):
        if isinstance(expression, nodes.Index) and not _is_index(expression.index):
            return False
        expression = expression.object
    return isinstance(expression, nodes.Name)


def is_literal(expression: nodes.Expression) -> bool:
    """Whether an expression is a number, a text without interpolation, true, false or null."""
    if isinstance(expression, nodes.Unary) and expression.operator == "-":
        expression = expression.operand
    return isinstance(expression, nodes.Literal)


def root(expression: nodes.Expression) -> str | None:
    """The name that a path begins with."""
    while isinstance(expression, (nodes.Member, nodes.Index)):
        expression = expression.object
    return expression.id if isinstance(expression, nodes.Name) else None


def _is_index(expression: nodes.Expression) -> bool:
    if isinstance(expression, nodes.Binary):
        return expression.operator in ("+", "-") and _is_index(expression.left) and _is_index(expression.right)
    return is_path(expression) or is_literal(expression)
