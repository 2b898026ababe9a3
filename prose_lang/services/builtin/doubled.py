"""Words written twice by mistake ("the the"); what English doubles on purpose is left ("had had", "that that")."""

from __future__ import annotations

from collections.abc import Sequence

from prose_lang.services.builtin.atoms import Atom, joined
from prose_lang.services.builtin.english import FUNCTION_WORDS, word_set

_ON_PURPOSE = word_set(
    "again blah bye do far had ha had her his hear in is knock long many more much never no now on one out over really"
    " so that then there too very well what who why yes you"
)


def doubled_words(atoms: Sequence[Atom]) -> list[int]:
    """Where the second of two equal words stands.

    Only lower-case words count: "Duran Duran" is a name, and so may any other capitalized pair be.
    """
    found = []
    for at in range(1, len(atoms)):
        word = atoms[at].text
        if word != atoms[at - 1].lower or atoms[at].kind != "word" or not joined(atoms[at]):
            continue
        if word.islower() and word not in _ON_PURPOSE and (word in FUNCTION_WORDS or len(word) > 3):
            found.append(at)
    return found


def without(atoms: Sequence[Atom], places: Sequence[int]) -> list[Atom]:
    """The atoms but for those at some places."""
    gone = set(places)
    return [atom for at, atom in enumerate(atoms) if at not in gone]
