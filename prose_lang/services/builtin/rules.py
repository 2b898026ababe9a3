"""Rules that replace phrases, and their application to atoms.

Rules are found by their first word, the longest first; a rule whose condition fails does not hide a shorter one.
What is put in keeps the case of the first letter, a line break that ran through the phrase, and the sound of the
article before it. Names are never touched: a capital letter that its place does not explain stops a rule.
Where the rules come from is the matter of `tables.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from prose_lang.services.builtin.atoms import Atom, is_start, joined
from prose_lang.services.builtin.conditions import Surroundings, holds
from prose_lang.services.builtin.english import POSSESSIVES, word_set
from prose_lang.services.builtin.inflection import article


class Rule(NamedTuple):
    """`family` is the entry a form comes from ("utilize" for "utilized"); an empty `plain` drops the phrase.

    A rule that is `kept` protects its phrase from all others.
    """

    pattern: tuple[str, ...]
    plain: str
    conditions: tuple[str, ...] = ()
    family: str = ""
    kept: bool = False

    @property
    def phrase(self) -> str:
        """The pattern as it is written."""
        return " ".join(self.pattern).replace(" ,", ",")


class Match(NamedTuple):
    """Atoms `start` to `end` (not included) match the rule; `plain` is what it puts there."""

    start: int
    end: int
    rule: Rule
    plain: str


#: Rules by the first and the second word of their pattern ("" if it has but one), longest patterns first.
Rules = Mapping[str, Mapping[str, Sequence[Rule]]]

#: How many atoms around a phrase are looked at; sentences are shorter, and a text need not be made of sentences.
_FURTHEST = 100
#: Before these "most of", elsewhere "most".
_PARTITIVE = POSSESSIVES | word_set("the this that these those them us you which whom it")
#: Marks that, without a space, tie a word to what stands on their other side: "/utilize", "utilize(", "individuals'".
_TYING_BEFORE = frozenset("/\\@#&=+~^%$|<>:")
_TYING_AFTER = frozenset("/\\@#&=+~^%$|<>(['’")


def find(atoms: Sequence[Atom], rules: Rules, *, anywhere: bool = False) -> list[Match]:
    """The matches of rules in a block, from left to right, none overlapping.

    `anywhere` ignores conditions and capitals: it tells which phrases a text mentions rather than uses.
    """
    found = []
    words = [atom.text.lower() for atom in atoms]
    at = 0
    while at < len(words):
        by_second = rules.get(words[at])
        if by_second is None:
            at += 1
            continue
        longer = by_second.get(words[at + 1], ()) if at + 1 < len(words) else ()
        candidates = (*longer, *by_second.get("", ()))
        match = next(_matches(atoms, words, at, candidates, anywhere), None) if candidates else None
        if match is None:
            at += 1
            continue
        if not match.rule.kept:
            found.append(match)
        at = match.end
    return found


def apply(atoms: list[Atom], matches: Sequence[Match]) -> list[Atom]:
    """The atoms with the matched phrases replaced."""
    atoms = list(atoms)  # what follows a replacement may change as well, before it is looked at in its turn
    result: list[Atom] = []
    copied = 0
    for match in matches:
        result.extend(atoms[copied : match.start])
        old = atoms[match.start : match.end]
        copied = match.end
        line_break = next((atom.gap for atom in old[1:] if "\n" in atom.gap), "")
        if match.plain:
            plain = match.plain.upper() if _shouted(old) else _cased(match.plain, old[0])
            _fix_article(result, plain)
            words = plain.split(" ")
            result.append(Atom("word", words[0], old[0].gap))
            result.extend(Atom("word", word, " ") for word in words[1:])
            if line_break and copied < len(atoms) and atoms[copied].gap == " ":
                atoms[copied] = atoms[copied]._replace(gap=line_break)
            continue
        # Filler: the commas around it go with it, and what follows takes its place.
        if atoms[copied].text == ",":
            copied += 1
            if result and result[-1].text == ",":
                result.pop()
        following = atoms[copied]
        gap = old[0].gap
        if gap == " ":
            gap = line_break or (following.gap if "\n" in following.gap else gap)
        text = _cased(following.text, old[0]) if following.kind == "word" and not _shouted(old) else following.text
        atoms[copied] = following._replace(gap=gap, text=text)
        _fix_article(result, text)
    return result + atoms[copied:]


def _matches(
    atoms: Sequence[Atom], words: list[str], at: int, candidates: Sequence[Rule], anywhere: bool
) -> Iterator[Match]:
    for rule in candidates:
        end = at + len(rule.pattern)
        if tuple(words[at:end]) != rule.pattern or not _linked(atoms, at, end):
            continue
        if anywhere:
            yield Match(at, end, rule, rule.plain)
        elif rule.kept or (_free(atoms, at, end, rule) and _conditions_hold(atoms, words, at, end, rule)):
            yield Match(at, end, rule, _partitive(rule.plain, words[end] if end < len(words) else ""))


def _linked(atoms: Sequence[Atom], start: int, end: int) -> bool:
    return all(joined(atom) if atom.kind != "mark" else not atom.gap for atom in atoms[start + 1 : end])


def _free(atoms: Sequence[Atom], start: int, end: int, rule: Rule) -> bool:
    """Whether capitals and neighbouring marks leave the phrase free to be changed."""
    phrase = atoms[start:end]
    before = atoms[start - 1] if start else None
    after = atoms[end] if end < len(atoms) else None
    if before and not phrase[0].gap and (before.kind != "mark" or before.text in _TYING_BEFORE):
        return False
    if after and not after.gap and (after.kind != "mark" or after.text in _TYING_AFTER):
        return False
    if _governs_more(atoms, end, rule):
        return False
    if _shouted(phrase):
        return True
    if any(atom.text[0].isupper() for atom in phrase[1:]):
        return False
    if phrase[0].text[0].isupper():
        if phrase[0].text[1:] != phrase[0].text[1:].lower() or not is_start(atoms, start):
            return False
        if len(phrase) == 1 and after and after.kind in ("word", "abbr") and after.text[0].isupper():
            return after.text == "I" and bool(rule.plain)  # "Facilitate Inc." is a name
    return bool(rule.plain) or _droppable(atoms, start, end)


def _governs_more(atoms: Sequence[Atom], end: int, rule: Rule) -> bool:
    """Whether a second "that" hangs on the one the rule would drop: "please note that A and that B"."""
    if rule.pattern[-1] != "that" or rule.plain.endswith("that"):
        return False
    for at in range(end, min(len(atoms) - 1, end + _FURTHEST)):
        if atoms[at].kind == "mark" and atoms[at].text[0] in ".!?":
            return False
        if atoms[at].text in ("and", "or", "but") and atoms[at + 1].text == "that":
            return True
    return False


def _shouted(phrase: Sequence[Atom]) -> bool:
    """Whether a phrase of several words is written in capitals throughout."""
    words = [atom.text for atom in phrase if atom.kind != "mark"]
    return len(words) > 1 and all(word.isupper() for word in words)


def _droppable(atoms: Sequence[Atom], start: int, end: int) -> bool:
    """Whether a filler can go without leaving a stray comma or an empty sentence."""
    if end >= len(atoms):
        return False
    after = atoms[end]
    if after.text == ",":
        enclosed = bool(start) and atoms[start - 1].text == ","
        return (enclosed or is_start(atoms, start)) and end + 1 < len(atoms) and atoms[end + 1].kind != "mark"
    return after.kind != "mark" or after.text in ("(", '"', "“", "*")


def _conditions_hold(atoms: Sequence[Atom], words: list[str], start: int, end: int, rule: Rule) -> bool:
    if not rule.conditions:
        return True

    def word(at: int) -> str:
        return words[at] if 0 <= at < len(words) and atoms[at].kind == "word" else ""

    before = word(start - 1)
    before2 = word(start - 2) if before else ""
    around = Surroundings(
        before3=word(start - 3) if before2 else "",
        before2=before2,
        before=before,
        first=words[start],
        opening=_opening(words, start),
        after=word(end),
        after_kind=atoms[end].kind if end < len(atoms) else "",
        at_start=is_start(atoms, start),
        ends=end >= len(atoms) or (atoms[end].kind == "mark" and atoms[end].text[0] in ",.;:!?)—"),
    )
    return all(holds(condition, around) for condition in rule.conditions)


def _opening(words: list[str], at: int) -> tuple[str, ...]:
    """The first words of the sentence that holds the word at a place."""
    start = at
    while start and words[start - 1][0] not in ".!?;:":
        start -= 1
        if at - start > _FURTHEST:
            return ()
    return tuple(words[start : min(at, start + 4)])


def _partitive(plain: str, following: str) -> str:
    if plain.endswith(" (of)"):
        return plain[:-5] + (" of" if following in _PARTITIVE else "")
    return plain


def _cased(plain: str, model: Atom) -> str:
    return plain[0].upper() + plain[1:] if model.text[0].isupper() and plain[0].islower() else plain


def _fix_article(result: list[Atom], following: str) -> None:
    """Let "a" or "an" at the end of the result agree with what now follows."""
    if result and result[-1].text.lower() in ("a", "an"):
        before = result[-1]
        fitting = article(following.split(" ")[0])
        if before.text.lower() != fitting and not (len(before.text) > 1 and before.text.isupper()):
            result[-1] = before._replace(text=fitting.capitalize() if before.text[0].isupper() else fitting)
