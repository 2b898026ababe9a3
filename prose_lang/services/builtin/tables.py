"""The tables of phrases and words compiled into rules, once a process and only when asked for."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

from prose_lang.services.builtin import expressions, hidden_verbs, phrases, words
from prose_lang.services.builtin.inflection import article, forms, plural
from prose_lang.services.builtin.rules import Rule, Rules

_ENTRY = re.compile(r"(?P<wordy>[^=\[]+?)\s*(?:=\s*(?P<plain>[^\[]*?)\s*)?(?:\[(?P<conditions>[^\]]*)\])?")
_BE_FORMS = {
    "am": "base",
    "are": "base",
    "be": "base",
    "is": "third",
    "was": "past",
    "were": "past",
    "been": "participle",
    "being": "gerund",
}


@functools.cache
def phrase_rules() -> Rules:
    """The rules of the first round: wordy phrases, verbs hidden in nouns, and fillers."""
    return _indexed(
        [
            *_kept(),
            *_exact(phrases.CONNECTIVES),
            *_exact(expressions.AMOUNTS),
            *_exact(expressions.REDUNDANCIES),
            *_exact(expressions.PREDICATES),
            *_be_phrases(),
            *_verbs(hidden_verbs.LIGHT_VERBS, ()),
            *_performed(),
            *_nominalizations(),
            *_purposes(),
            *_exact(expressions.FILLERS),
        ]
    )


@functools.cache
def word_rules() -> Rules:
    """The rules of later rounds: long words with a plain synonym."""
    return _indexed(
        [
            *_kept(),
            *_verbs(words.VERBS, ("ed",)),
            *_exact(words.ADJECTIVES, ("graded",)),
            *_nouns(),
            *_exact(words.OTHER_WORDS),
        ]
    )


@functools.cache
def all_rules() -> Rules:
    """Both together."""
    merged = {first: dict(seconds) for first, seconds in phrase_rules().items()}
    for first, seconds in word_rules().items():
        present = merged.setdefault(first, {})
        for second, listed in seconds.items():
            if second in present:
                listed = sorted([*present[second], *listed], key=_by_length)
            present[second] = listed
    return merged


def _indexed(rules: Iterable[Rule]) -> Rules:
    index: dict[str, dict[str, list[Rule]]] = {}
    # The sort is stable: the order of the tables decides among patterns of one length.
    for rule in sorted(rules, key=_by_length):
        second = rule.pattern[1] if len(rule.pattern) > 1 else ""
        index.setdefault(rule.pattern[0], {}).setdefault(second, []).append(rule)
    return index


def _by_length(rule: Rule) -> tuple[int, bool]:
    return -len(rule.pattern), not rule.kept


def _entries(table: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for line in table.strip().splitlines():
        entry = _ENTRY.fullmatch(line)
        assert entry is not None, f"malformed table entry: {line}"
        yield entry["wordy"], entry["plain"] or "", tuple((entry["conditions"] or "").split())


def _rule(wordy: str, plain: str, conditions: tuple[str, ...], family: str) -> Rule:
    return Rule(tuple(wordy.lower().split()), plain, conditions, family)


def _kept() -> Iterator[Rule]:
    for wordy, _, _ in _entries(phrases.KEPT_PHRASES):
        yield Rule(tuple(wordy.split()), wordy, family=wordy, kept=True)


def _exact(table: str, implied: tuple[str, ...] = ()) -> Iterator[Rule]:
    for wordy, plain, conditions in _entries(table):
        yield _rule(wordy, plain, conditions + implied, wordy)


def _be_phrases() -> Iterator[Rule]:
    for wordy, plain, conditions in _entries(hidden_verbs.BE_PHRASES):
        plain_forms = forms(plain)
        for be, name in _BE_FORMS.items():
            yield _rule(f"{be} {wordy}", getattr(plain_forms, name), conditions, wordy)


def _verbs(table: str, attributive: tuple[str, ...]) -> Iterator[Rule]:
    """The rules of all forms. `attributive` guards the form in -ed of single verbs, which may be an adjective."""
    for listed, plain, tags in _entries(table):
        for wordy in _spellings(listed):
            yield from _verb(wordy, plain, tags, attributive, listed)


def _verb(wordy: str, plain: str, tags: tuple[str, ...], attributive: tuple[str, ...], family: str) -> Iterator[Rule]:
    old, new = forms(wordy), forms(plain)
    only_verb = tuple(tag for tag in tags if tag == "verb")
    around = tuple(tag for tag in tags if tag not in ("verb", "noed", "active"))
    yield _rule(old.base, new.base, around + only_verb, family)
    if not only_verb:
        yield _rule(old.third, new.third, around, family)
    yield _rule(old.gerund, new.gerund, (*around, "nodet"), family)
    if "noed" in tags:
        return
    if old.past != old.participle:
        yield _rule(old.past, new.past, around, family)
        yield _rule(old.participle, new.participle, around, family)
    elif "active" in tags:
        yield _rule(old.past, new.past, (*around, "past"), family)
    elif new.past == new.participle:
        yield _rule(old.past, new.past, around + attributive, family)
    else:
        # The participle first: "has demonstrated the need" would pass as a past tense too.
        yield _rule(old.participle, new.participle, (*around, "participle"), family)
        yield _rule(old.past, new.past, (*around, "past"), family)


def _spellings(verb: str) -> tuple[str, ...]:
    head, space, rest = verb.partition(" ")
    if head.endswith("ize") or head == "analyze":
        return verb, head[:-2] + "se" + space + rest
    return (verb,)


def _performed() -> Iterator[Rule]:
    for performing in hidden_verbs.PERFORMING.split(", "):
        for noun, plain, _ in _entries(hidden_verbs.PERFORMED):
            for determiner in (article(noun), "the"):
                yield from _verb(f"{performing} {determiner} {noun} of", plain, (), (), f"{performing} a {noun} of")


def _nominalizations() -> Iterator[Rule]:
    for noun, gerund, _ in _entries(hidden_verbs.NOMINALIZATIONS):
        for preposition, plain in (("for", "for"), ("in", "in"), ("by", "by"), ("through", "by")):
            wordy = f"{preposition} the {noun} of"
            yield _rule(wordy, f"{plain} {gerund}", (), wordy)


def _purposes() -> Iterator[Rule]:
    verbs = set(hidden_verbs.PURPOSE_VERBS.split())
    verbs.update(wordy for wordy, _, _ in _entries(words.VERBS) if " " not in wordy)
    gerunds = [(forms(verb).gerund, verb) for verb in sorted(verbs)]
    for wordy, _, _ in _entries(hidden_verbs.PURPOSES):
        for gerund, verb in gerunds:
            yield _rule(f"{wordy} {gerund}", f"to {verb}", (), wordy)


def _nouns() -> Iterator[Rule]:
    for wordy, plain, conditions in _entries(words.NOUNS):
        singular = plain.removesuffix("+")
        yield _rule(wordy, singular, conditions, wordy)
        if plain.endswith("+"):
            yield _rule(plural(wordy), plural(singular), conditions, wordy)
