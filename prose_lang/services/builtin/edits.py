"""The edits that the services share: the tables applied to a passage until nothing changes."""

from __future__ import annotations

from prose_lang.services.builtin.atoms import Atom
from prose_lang.services.builtin.doubled import doubled_words, without
from prose_lang.services.builtin.rules import Rules, apply, find
from prose_lang.services.builtin.tables import all_rules, phrase_rules, word_rules

#: One replacement may complete the next phrase. Chains are short, and the tables hold no circles.
_PASSES = 5


def replace_phrases(atoms: list[Atom]) -> list[Atom]:
    """Wordy phrases made plain, fillers and doubled words dropped."""
    for _ in range(_PASSES):
        changed = _replaced(without(atoms, doubled_words(atoms)), phrase_rules())
        if changed == atoms:
            break
        atoms = changed
    return atoms


def replace_words(atoms: list[Atom]) -> list[Atom]:
    """Long words replaced by their plain synonyms."""
    return _replaced(atoms, word_rules())


def replace_named(atoms: list[Atom], families: frozenset[str]) -> list[Atom]:
    """Phrases and words of some entries of the tables replaced, others left."""
    return _replaced(atoms, all_rules(), families)


def replace_all(atoms: list[Atom]) -> list[Atom]:
    """Everything replaced that the tables can: the form in which two wordings of one text can be compared."""
    return _replaced(without(atoms, doubled_words(atoms)), all_rules())


def _replaced(atoms: list[Atom], rules: Rules, families: frozenset[str] | None = None) -> list[Atom]:
    for _ in range(_PASSES):
        matches = find(atoms, rules)
        if families is not None:
            matches = [match for match in matches if match.rule.family in families]
        if not matches:
            break
        atoms = apply(atoms, matches)
    return atoms
