"""English forms: the five forms of a verb, plurals, and the article before a word.

Regular spelling by rule, irregular verbs of the tables' plain words by list. What it leaves out: verbs that the
tables do not use.
"""

from __future__ import annotations

from typing import NamedTuple


class Forms(NamedTuple):
    """The forms of a verb; a phrasal verb inflects its first word ("found out")."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str


_IRREGULAR: dict[str, tuple[str, str]] = {
    "be": ("was", "been"),
    "begin": ("began", "begun"),
    "build": ("built", "built"),
    "buy": ("bought", "bought"),
    "choose": ("chose", "chosen"),
    "come": ("came", "come"),
    "cut": ("cut", "cut"),
    "do": ("did", "done"),
    "become": ("became", "become"),
    "bring": ("brought", "brought"),
    "draw": ("drew", "drawn"),
    "feel": ("felt", "felt"),
    "find": ("found", "found"),
    "get": ("got", "got"),
    "give": ("gave", "given"),
    "have": ("had", "had"),
    "hold": ("held", "held"),
    "keep": ("kept", "kept"),
    "know": ("knew", "known"),
    "lead": ("led", "led"),
    "make": ("made", "made"),
    "meet": ("met", "met"),
    "pay": ("paid", "paid"),
    "put": ("put", "put"),
    "repay": ("repaid", "repaid"),
    "say": ("said", "said"),
    "see": ("saw", "seen"),
    "send": ("sent", "sent"),
    "set": ("set", "set"),
    "show": ("showed", "shown"),
    "speed": ("sped", "sped"),
    "spend": ("spent", "spent"),
    "take": ("took", "taken"),
    "tell": ("told", "told"),
    "think": ("thought", "thought"),
    "undertake": ("undertook", "undertaken"),
    "write": ("wrote", "written"),
}
_THIRD = {"be": "is", "have": "has", "do": "does", "go": "goes"}
_VOWELS = frozenset("aeiou")
#: Verbs of several syllables that double their last letter because it is stressed.
_DOUBLING = frozenset(
    {"admit", "begin", "commit", "concur", "confer", "incur", "occur", "permit", "refer", "remit"}
) | {
    "submit",
    "transmit",
}


def forms(verb: str) -> Forms:
    """The forms of a verb.

    >>> forms("submit")
    Forms(base='submit', third='submits', past='submitted', participle='submitted', gerund='submitting')
    >>> forms("find out").past
    'found out'
    """
    head, space, rest = verb.partition(" ")
    rest = space + rest
    past, participle = _IRREGULAR.get(head) or (_regular_past(head),) * 2
    return Forms(verb, _third(head) + rest, past + rest, participle + rest, _gerund(head) + rest)


def plural(noun: str) -> str:
    """The regular plural of a noun; of a phrase, of its last word."""
    return _third(noun) if noun != "person" else "people"


def article(following: str) -> str:
    """`a` or `an`, by the sound the following word seems to begin with.

    >>> [article(word) for word in ("fee", "order", "use", "hour", "SQL")]
    ['a', 'an', 'a', 'an', 'an']
    """
    word = following.lower()
    if len(following) > 1 and following.isupper():
        return "an" if following[0] in "AEFHILMNORSX" else "a"
    if word.startswith(("hour", "honest", "honor", "honour", "heir")):
        return "an"
    if word.startswith(("one", "once", "eu", "use", "usa", "usu", "uni", "uti", "ubi", "ura")) and not word.startswith(
        ("unin", "unim", "unide", "unig")
    ):
        return "a"
    return "an" if word[:1] in _VOWELS else "a"


def _third(word: str) -> str:
    if word in _THIRD:
        return _THIRD[word]
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if _consonant_y(word):
        return word[:-1] + "ies"
    return word + "s"


def _regular_past(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    if _consonant_y(word):
        return word[:-1] + "ied"
    return _doubled(word) + "ed"


def _gerund(word: str) -> str:
    if word.endswith("ie"):
        return word[:-2] + "ying"
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")) and word != "be":
        return word[:-1] + "ing"
    return _doubled(word) + "ing"


def _consonant_y(word: str) -> bool:
    return len(word) > 1 and word.endswith("y") and word[-2] not in _VOWELS


def _doubled(word: str) -> str:
    short = (
        2 < len(word) <= 4
        and word[-1] not in "wxyaeiou"
        and word[-2] in _VOWELS
        and not any(letter in _VOWELS for letter in word[:-2])
    )
    return word + word[-1] if short or word in _DOUBLING else word
