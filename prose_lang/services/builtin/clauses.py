"""Guesses about clauses: where one with its own subject and verb begins, and whether one stands alone.

There is no parser here. Both questions are answered from closed classes of words within a short window, and any
construction that is not recognized counts as "no": a sentence that stays long does less harm than one cut wrongly.
"""

from __future__ import annotations

from collections.abc import Sequence

from prose_lang.services.builtin.atoms import Atom
from prose_lang.services.builtin.english import (
    ARTICLES,
    AUXILIARIES,
    CONDITIONALS,
    CONJUNCTIONS,
    CONTRACTED,
    DEMONSTRATIVES,
    DETERMINERS,
    FINITE_VERBS,
    FUNCTION_WORDS,
    NOMINATIVES,
    POSSESSIVES,
    PREPOSITIONS,
    RELATIVES,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
    word_set,
)

#: How many words a subject may have before its verb.
_LONGEST_SUBJECT = 8
_OPENING = word_set(
    "accordingly additionally also besides consequently finally further furthermore hence however instead likewise"
    " meanwhile moreover nevertheless nonetheless otherwise similarly so still subsequently then therefore thus too"
)
_INDEFINITE = word_set(
    "anybody anyone anything everybody everyone everything nobody none nothing somebody someone there"
)
_ADVERBS = word_set("also always never not now often only still then thus usually already therefore")
#: Verbs whose "that" clause reaches past a comma: what follows is still part of what is said or required.
_REPORTING = word_set(
    "acknowledge acknowledged acknowledges agree agreed agrees allege argue argued argues assume assumes believe"
    " believed believes certify claim claimed claims conclude concluded confirm confirms declare ensure ensures"
    " ensuring estimate expect expects explain explains find finds found guarantee hope hoped imply indicate"
    " indicated indicates know knows mean means note noted notes propose proposed provide provided provides"
    " recommend recommended recommends report reported reports represent require required requires say said says"
    " show showed shown shows state stated states stipulate suggest suggested suggests sure think thought understand"
    " understood warrant warrants"
)


def clause_begins(atoms: Sequence[Atom], at: int, end: int, *, after_semicolon: bool = False) -> bool:
    """Whether a clause with a subject of its own and a finite verb begins at atom `at`.

    After a semicolon a clause is likely, so that an opening phrase and a bare noun as its subject are recognized too.
    """
    if after_semicolon:
        comma = next((place for place in range(at, min(end, at + 7)) if atoms[place].text == ","), at)
        if comma > at and _introduces([atom.lower for atom in atoms[at:comma]]) and atoms[at].lower not in _OPENING:
            at = comma + 1
    while at < end and atoms[at].lower in _OPENING:
        at += 1
        if at < end and atoms[at].text == ",":
            at += 1
    if at + 1 >= end or atoms[at].kind not in ("word", "quote", "code"):
        return False
    first, second = atoms[at].lower, atoms[at + 1].lower
    if first in SUBJECT_PRONOUNS:
        return _verb_follows(atoms, at + 1, end, first)
    if first in _INDEFINITE:
        return _verb_at(atoms, at + 1, end) is not None
    if first in DEMONSTRATIVES and first != "that" and _is_finite(atoms[at + 1]):
        return True
    if first in PREPOSITIONS or first in SUBORDINATORS or first in CONJUNCTIONS or _is_finite(atoms[at]):
        return False
    begins_noun_phrase = (
        first in DETERMINERS
        or (first not in FUNCTION_WORDS and (atoms[at].text[0].isupper() or first.endswith("s")))
        or atoms[at].kind != "word"
        or (after_semicolon and not first.endswith(("ing", "ed")))
    )
    return begins_noun_phrase and second not in CONJUNCTIONS and _verb_at(atoms, at + 1, end) is not None


def main_clause(
    atoms: Sequence[Atom], start: int, end: int, *, conditional: bool = False, reporting: bool = False
) -> bool:
    """Whether atoms `start` to `end` can stand alone: an opening phrase at most, then subject and verb, in no series.

    `conditional` allows a clause that hangs on "if" or "when", which else would lose its hold on what is cut off;
    `reporting` allows "shows that" in the same way.
    """
    words = [atom.lower for atom in atoms[start:end]]
    if not words:
        return False
    if not conditional and any(word in CONDITIONALS and word != "once" for word in words if word != "should"):
        return False
    if not reporting and _reports(words):
        return False
    segments = _segments(words)
    opened = 0
    for first, last in segments:
        clause = clause_begins(atoms, start + first, start + last)
        if clause and opened:
            return False  # "we collect it, we keep it, and we …": a series is not cut
        if not clause and not opened and not _introduces(words[first:last]):
            return False
        opened += clause
    return opened == 1


def subject_of(atoms: Sequence[Atom], start: int, end: int) -> list[Atom] | None:
    """The subject of a clause if it is short and plain enough to be repeated: a pronoun, or determiner and nouns."""
    first = atoms[start].lower
    if first in SUBJECT_PRONOUNS:
        return [atoms[start]] if start + 1 < end and _is_finite(atoms[start + 1]) else None
    if first not in DETERMINERS:
        return None
    verb = _verb_at(atoms, start + 1, min(end, start + 4))
    if verb is None or any(
        atom.kind != "word" or atom.lower in FUNCTION_WORDS for atom in atoms[start + 1 : verb] if atom.lower != "other"
    ):
        return None
    return list(atoms[start:verb])


def _segments(words: Sequence[str]) -> list[tuple[int, int]]:
    found = []
    first = 0
    for at, word in enumerate([*words, ","]):
        if word in (",", ";", ":"):
            if at > first and not words[first][0].isdigit():  # the year in "March 31, 2024, the office …"
                found.append((first, at))
            first = at + 1
    return found


def _introduces(words: Sequence[str]) -> bool:
    """Whether words before a comma only set the scene: "In addition", "Under this policy", "However"."""
    if words[0] in _OPENING or words[0].endswith("ly") or words[0] in CONDITIONALS:
        return True
    return words[0] in PREPOSITIONS or words[0] in ("although", "because", "though", "to", "while")


def _reports(words: Sequence[str]) -> bool:
    return any(
        word == "that" and at and (words[at - 1] in _REPORTING or (at > 1 and words[at - 2] in _REPORTING))
        for at, word in enumerate(words)
    )


def _verb_follows(atoms: Sequence[Atom], at: int, end: int, pronoun: str) -> bool:
    while at < end and (atoms[at].lower in _ADVERBS or atoms[at].lower.endswith("ly")):
        at += 1
    if at >= end or atoms[at].kind != "word":
        return False
    word = atoms[at].lower
    if _is_finite(atoms[at]):
        return True
    if word in FUNCTION_WORDS:
        return False
    if pronoun in NOMINATIVES or pronoun == "you":
        return pronoun not in ("he", "she") or word.endswith(("s", "ed"))
    return word.endswith(("s", "ed"))


def _verb_at(atoms: Sequence[Atom], at: int, end: int) -> int | None:
    """Where the finite verb of a noun phrase stands, if nothing but the phrase and an adverb stands before it."""
    for place in range(at, min(end, at + _LONGEST_SUBJECT)):
        atom = atoms[place]
        if atom.kind == "mark" or (atom.lower in SUBORDINATORS and atom.lower not in ("so", "should")):
            return None
        if _is_finite(atom) and atoms[place - 1].lower not in ("to", "the", "a", "an", "our", "your", "of"):
            return place
        if place + 1 < end and atom.lower.endswith("ed") and atoms[place + 1].lower in ARTICLES | POSSESSIVES:
            return place  # "approved the": a participle takes no object
        if atom.lower in RELATIVES or atom.lower in NOMINATIVES:
            return None
    return None


def _is_finite(atom: Atom) -> bool:
    if atom.text == "May":  # the month
        return False
    return atom.lower in AUXILIARIES or atom.lower in CONTRACTED or atom.lower in FINITE_VERBS
