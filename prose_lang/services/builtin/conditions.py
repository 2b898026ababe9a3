"""The conditions under which an entry of the tables applies: what must stand around the phrase.

Each guards against one way in which a word-for-word replacement breaks a sentence. They look at the words before
and after, never further; where a look at two words cannot decide, the condition says no.

    start      at the start of a sentence                mid        not at the start of a sentence
    end        before a comma, a full stop, the end      plural     before a word in -s
    opening    at the start and before a comma           loose      at the start, after a mark, or after "and", "but" …
    amount     before a number or what can lead to one   date       before a month, a weekday or "the"
    number     before a number in figures                gerund     before a word in -ing
    bare       before a noun without determiner          indefinite before "a" or "an"
    agent      before a person or body                   noof       not before "of", "where" and the like
    modal      after "must", "may" and the like          preprep    before a preposition or "to"
    fresh      as "loose", but not after "that"          unowned    not before "my", "our" and the like
    be / nobe  after / not after a form of "be"          finite     not after a modal, "to", "not" or "do"
    person     after somebody who can be told to act     about      after a word of saying or asking, or at the start
    nodet      not after a determiner                    prep       before a noun phrase, not after "very" or "be"
    verb       where only a verb can stand               graded     not after "more", "as", "too" and the like
    ed         not an attribute ("retained earnings")    past       a past tense: an object or "that" follows
    participle after "have" or "be", or before "by"      intensive  before an adjective, not after "not"
"""

from __future__ import annotations

from typing import NamedTuple

from prose_lang.services.builtin.english import (
    BE,
    DETERMINERS,
    DO,
    FUNCTION_WORDS,
    GROUPS,
    HAVE,
    MODALS,
    PERSONS,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVES,
    SUBJECT_PRONOUNS,
    word_set,
)


class Surroundings(NamedTuple):
    """What stands around a matched phrase, in lower case; "" where the neighbour is no word or none is there.

    `before3 before2 before` precede it, `first` is its own first word, `opening` the first words of the
    sentence. `ends` tells whether a clause ends after it.
    """

    before3: str
    before2: str
    before: str
    first: str
    opening: tuple[str, ...]
    after: str
    after_kind: str
    at_start: bool
    ends: bool


_DATES = word_set(
    "january february march april may june july august september october november december monday tuesday wednesday"
    " thursday friday saturday sunday noon midnight the"
)
_ABOUT = word_set(
    "advice announcement article asked claim claims clarification comment comments complaint complaints concern"
    " concerns correspondence data debate decision decisions details discuss discussion discussions document"
    " documents facts feedback guidance information inquire inquiries inquiry instructions knowledge law laws letter"
    " letters matters me message news notice policies policy provisions question questions record records regulation"
    " regulations report reports request requests research rule rules statement statements study them training"
    " uncertainty understanding update updates us write wrote you"
)
_AMOUNTS = word_set(
    "about approximately at aud cad chf eight eighteen eleven eur exactly fifteen fifty five forty four fourteen"
    " gbp half jpy less many more nearly nine ninety no not one only over seven several six sixty some ten thirty"
    " three twelve twenty twenty-four two up usd"
)
_DEGREES = frozenset({"more", "most", "less", "least", "as", "so", "too", "how", "very", "equally", "rather", "quite"})
_BEFORE_VERBS = MODALS | SUBJECT_PRONOUNS | {"to", "not", "who", "please", "don't", "won't", "can't", "cannot"} | DO
_NOT_FINITE = MODALS | DO | {"to", "not", "don't", "doesn't", "didn't", "let", "help"}


def holds(condition: str, around: Surroundings) -> bool:
    """Whether a condition of the tables holds; the list is in the docstring of this module."""
    before, after = around.before, around.after
    match condition:
        case "start":
            return around.at_start
        case "mid":
            return not around.at_start
        case "end":
            return around.ends
        case "preprep":
            return after in PREPOSITIONS or after in ("to", "because", "when")
        case "plural":
            return after.endswith("s") and not after.endswith("ss") and after not in FUNCTION_WORDS
        case "opening":
            return around.at_start and around.ends
        case "loose":
            return around.at_start or before in ("", "and", "but", "that")
        case "fresh":
            return around.at_start or before in ("", "and", "but")
        case "unowned":
            return after not in POSSESSIVES
        case "number":
            return around.after_kind == "number"
        case "amount":
            return around.after_kind == "number" or after in _AMOUNTS
        case "bare":
            return around.after_kind == "word" and after not in DETERMINERS
        case "indefinite":
            return after in ("a", "an")
        case "agent":
            return after in PERSONS or after in GROUPS
        case "gerund":
            return after.endswith("ing")
        case "noof":
            return after not in ("of", "where", "when", "in", "which", "that")
        case "date":
            return after in _DATES
        case "be":
            return before in BE
        case "nobe":
            return before not in BE
        case "modal":
            return before in MODALS or before == "not"
        case "person":
            return _told_to_act(around)
        case "about":
            return around.at_start or before in _ABOUT
        case "prep":
            return bool(after or around.after_kind) and not around.ends and before not in _DEGREES | BE
        case "nodet":
            return before not in DETERMINERS and before not in _DEGREES
        case "graded":
            return before not in _DEGREES
        case "finite":
            return bool(before) and not {before, around.before2, around.before3} & _NOT_FINITE
        case "verb":
            return around.at_start or before in _BEFORE_VERBS
        case "ed":
            return _predicative(around)
        case "past":
            return before not in HAVE | BE and (
                before in SUBJECT_PRONOUNS or before == "who" or after in DETERMINERS or after in ("how", "why")
            )
        case "participle":
            return _after_auxiliary(around) or after == "by"
        case "intensive":
            return bool(after and before) and before not in (
                "not",
                "the",
                "his",
                "her",
                "its",
                "our",
                "your",
                "my",
                "isn't",
            )
        case _:
            raise AssertionError(f"the tables name an unknown condition: {condition}")


def _told_to_act(around: Surroundings) -> bool:
    """Whether the subject is a person or body: "the user is required to", not "a permit for the user is required …"."""
    subject, verb = around.before, around.first
    if subject in SUBJECT_PRONOUNS:
        return subject != "it"
    if subject == "who":
        return True
    number_fits = {"is": PERSONS, "was": PERSONS, "reserves": PERSONS, "are": GROUPS, "were": GROUPS, "reserve": GROUPS}
    fitting = number_fits.get(verb, PERSONS | GROUPS)
    if "who" in around.opening[1:] and subject not in RELATIVES:  # "Applicants who wish to apply are required to"
        return around.opening[around.opening.index("who") - 1] in fitting
    if subject not in fitting:
        return False
    owned = around.before2 in DETERMINERS and around.before3 in PREPOSITIONS
    return not owned and around.before2 not in PREPOSITIONS


def _after_auxiliary(around: Surroundings) -> bool:
    """Whether "be" or "have" stands before the word, with at most an adverb or "not" between."""
    auxiliaries = BE | HAVE
    adverb = around.before.endswith("ly") or around.before in ("not", "also", "been", "now", "then", "already")
    return around.before in auxiliaries or (adverb and around.before2 in auxiliaries)


def _predicative(around: Surroundings) -> bool:
    if around.before in DETERMINERS:
        return around.before in ("this", "that", "these", "those") and around.after in FUNCTION_WORDS
    if _after_auxiliary(around) or around.before in PRONOUNS:
        return True
    return around.ends or around.after in FUNCTION_WORDS or not around.after
