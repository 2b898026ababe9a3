"""Whole numbers that are not known yet: sums of products of symbols, with the smaller and the greater of several.

A quantity is a polynomial in atoms. An atom is a symbol (`max_rounds`, `length of xs`) or an extreme of quantities.
Every symbol says how small it can be, and that is enough to tell that 2 is never more than 2 × n. What cannot be
compared stays as it is written. No division, no fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import attrs

#: So many alternatives stay apart in a maximum or minimum; of more only what holds for all of them is kept.
MAX_OPERANDS = 4
#: A polynomial with more terms is not compared with others: what cannot be read need not be exact.
_MAX_TERMS = 40


@attrs.frozen(cache_hash=True)
class Symbol:
    """A number that the program is given, or that shows when it runs.

    `least` is the smallest value it has wherever it counts; None if nothing is known. `name` is the input or config
    key that gives the value, if one does; `length` tells that it is the length of that value.
    """

    text: str
    least: int | None
    name: str | None = None
    length: bool = False

    def __str__(self) -> str:
        return self.text


@attrs.frozen(cache_hash=True)
class Extreme:
    """The greatest or the smallest of some quantities."""

    greatest: bool
    operands: tuple[Quantity, ...]

    @property
    def least(self) -> int | None:
        """The smallest value that it can have."""
        found = [operand.least for operand in self.operands]
        if self.greatest:
            return max((low for low in found if low is not None), default=None)
        return None if any(low is None for low in found) else min(low for low in found if low is not None)

    def __str__(self) -> str:
        return f"{'max' if self.greatest else 'min'}({', '.join(map(str, self.operands))})"


Atom: TypeAlias = "Symbol | Extreme"
Monomial: TypeAlias = tuple[Atom, ...]


@attrs.frozen(cache_hash=True)
class Quantity:
    """A sum of products, or infinity.

    >>> n = symbol("n", 1)
    >>> str(n * 2 + number(1) + n)
    '3 × n + 1'
    >>> str(largest(number(1), n)), str(smallest(number(2), n * 2)), str(smallest(n, number(3)))
    ('n', '2', 'min(3, n)')
    """

    terms: tuple[tuple[Monomial, int], ...] = ()
    infinite: bool = False

    def __add__(self, other: Quantity) -> Quantity:
        if self.infinite or other.infinite:
            return INFINITE
        if not other.terms:
            return self
        if not self.terms:
            return other
        found = dict(self.terms)
        for monomial, factor in other.terms:
            found[monomial] = found.get(monomial, 0) + factor
        return _made(found)

    def __sub__(self, other: Quantity) -> Quantity:
        return self + other * -1

    def __mul__(self, other: Quantity | int) -> Quantity:
        """The product. Nothing times infinity is nothing: what is never done costs nothing."""
        if isinstance(other, int):
            other = number(other)
        if ZERO in (self, other):
            return ZERO
        if self.infinite or other.infinite:
            return INFINITE
        found: dict[Monomial, int] = {}
        for left, factor in self.terms:
            for right, by in other.terms:
                monomial = tuple(sorted((*left, *right), key=str))
                found[monomial] = found.get(monomial, 0) + factor * by
        return _made(found)

    @property
    def constant(self) -> int | None:
        """The number that it is; None if it depends on a symbol or is infinite."""
        if self.infinite or len(self.terms) > 1:
            return None
        if not self.terms:
            return 0
        monomial, factor = self.terms[0]
        return None if monomial else factor

    @property
    def least(self) -> int | None:
        """A number that it is never below; None if none is known."""
        if self.infinite or len(self.terms) > _MAX_TERMS:
            return None
        # Each atom is its least value and something from 0 up: if no factor is then negative, the rest cannot be.
        shifted: dict[Monomial, int] = {}
        for monomial, factor in self.terms:
            parts: dict[Monomial, int] = {(): factor}
            for atom in monomial:
                low = atom.least
                if low is None:
                    return None
                grown: dict[Monomial, int] = {}
                for part, by in parts.items():
                    grown[(*part, atom)] = grown.get((*part, atom), 0) + by
                    if low:
                        grown[part] = grown.get(part, 0) + by * low
                parts = grown
            for part, by in parts.items():
                shifted[part] = shifted.get(part, 0) + by
        if any(by < 0 for part, by in shifted.items() if part):
            return None
        return shifted.get((), 0)

    def symbols(self) -> Iterable[Symbol]:
        """The symbols that it depends on."""
        for monomial, _ in self.terms:
            for atom in monomial:
                if isinstance(atom, Symbol):
                    yield atom
                else:
                    for operand in atom.operands:
                        yield from operand.symbols()

    def value(self, of: Callable[[Symbol], int | None]) -> int | None:
        """Its number where `of` gives those of its symbols; None if one is missing, or it is infinite.

        >>> (symbol("n", 1) * 2).value(lambda one: {"n": 4}.get(one.text))
        8
        """
        if self.infinite:
            return None
        total = 0
        for monomial, factor in self.terms:
            for atom in monomial:
                found = _value(atom, of)
                if found is None:
                    return None
                factor *= found
            total += factor
        return total

    def __str__(self) -> str:
        if self.infinite:
            return "unbounded"
        if not self.terms:
            return "0"
        made = ""
        for monomial, factor in sorted(self.terms, key=lambda term: (not term[0], -len(term[0]), str(term))):
            sign = " − " if factor < 0 else " + "
            size = abs(factor)
            words = [*([f"{size:,}"] if size != 1 or not monomial else []), *map(str, monomial)]
            made += (sign if made else "−" if factor < 0 else "") + " × ".join(words)
        return made


def _made(found: Mapping[Monomial, int]) -> Quantity:
    terms = [(monomial, factor) for monomial, factor in found.items() if factor]
    if len(terms) > 1:
        terms.sort(key=lambda term: tuple(map(str, term[0])))
    return Quantity(tuple(terms))


def number(value: int) -> Quantity:
    """A number that is known."""
    return Quantity((((), value),)) if value else ZERO


def symbol(text: str, least: int | None, name: str | None = None, *, length: bool = False) -> Quantity:
    """A symbol as a quantity."""
    return Quantity((((Symbol(text, least, name, length),), 1),))


ZERO = Quantity()
ONE = Quantity((((), 1),))
INFINITE = Quantity(infinite=True)


def at_least(left: Quantity, right: Quantity) -> bool:
    """Whether `left` is certainly not below `right`; False if that is not known."""
    if left.infinite or left == right:
        return True
    if right.infinite:
        return False
    low = (left - right).least
    return low is not None and low >= 0


def largest(*quantities: Quantity) -> Quantity:
    """The greatest of some quantities, or something that is no smaller than each."""
    return _extreme(quantities, greatest=True)


def smallest(*quantities: Quantity) -> Quantity:
    """The smallest of some quantities, or something that is no greater than each."""
    return _extreme(quantities, greatest=False)


def _extreme(quantities: Iterable[Quantity], *, greatest: bool) -> Quantity:
    flat = dict.fromkeys(_flat(quantities, greatest))
    kept: list[Quantity] = []
    for new in flat:
        if any(at_least(old, new) if greatest else at_least(new, old) for old in kept):
            continue
        kept = [old for old in kept if not (at_least(new, old) if greatest else at_least(old, new))]
        kept.append(new)
    if len(kept) == 1:
        return kept[0]
    if len(kept) > MAX_OPERANDS:
        return _by_terms(kept, greatest)
    return Quantity((((Extreme(greatest, tuple(sorted(kept, key=str))),), 1),))


def _flat(quantities: Iterable[Quantity], greatest: bool) -> Iterable[Quantity]:
    for quantity in quantities:
        alone = quantity.terms[0][0] if len(quantity.terms) == 1 and quantity.terms[0][1] == 1 else ()
        only = alone[0] if len(alone) == 1 else None
        if isinstance(only, Extreme) and only.greatest == greatest:
            yield from only.operands
        else:
            yield quantity


def _by_terms(quantities: Iterable[Quantity], greatest: bool) -> Quantity:
    """Term by term the greatest or smallest factor: as no atom of a count is negative, a bound of all of them."""
    found = [dict(quantity.terms) for quantity in quantities]
    chosen = max if greatest else min
    monomials = dict.fromkeys(monomial for terms in found for monomial in terms)
    return _made({monomial: chosen(terms.get(monomial, 0) for terms in found) for monomial in monomials})


def _value(atom: Atom, of: Callable[[Symbol], int | None]) -> int | None:
    if isinstance(atom, Symbol):
        return of(atom)
    found = [operand.value(of) for operand in atom.operands]
    known = [value for value in found if value is not None]
    if len(known) < len(found):
        return None
    return max(known) if atom.greatest else min(known)
