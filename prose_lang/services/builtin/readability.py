"""The service `readability`: how easy a text is to read, provided it still says what it should.

It measures sentence and word length and counts words that were kept. It does not know whether the text is true,
well argued or pleasant, and a text can score well and still be bad.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import attrs

from prose_lang.services.builtin.atoms import Atom, join_atoms, sentences, words_of
from prose_lang.services.builtin.brief import text_of
from prose_lang.services.builtin.doubled import doubled_words
from prose_lang.services.builtin.english import BE, word_set
from prose_lang.services.builtin.meaning import Kept, kept
from prose_lang.services.builtin.page import Page, read_page
from prose_lang.services.builtin.plain import LONG_SENTENCE
from prose_lang.services.builtin.rules import find
from prose_lang.services.builtin.syllables import flesch, syllables
from prose_lang.services.builtin.tables import phrase_rules, word_rules

#: Reading ease from which a text scores 1; at 0 and below it scores 0. Flesch called 60 to 70 plain English.
BEST_EASE = 60.0

#: The share of kept words from which nothing is taken off, and at which nothing is left.
_ENOUGH_KEPT, _TOO_LITTLE_KEPT = 0.95, 0.25
#: Words of the result for each word of the original: below the first pair the score falls, above the second too.
_SHORT, _TOO_SHORT = 0.6, 0.2
_LONG, _TOO_LONG = 2.0, 4.0
#: A brief shorter than this is a task rather than a text, and a result may well be longer.
_A_TEXT = 20
#: How many suggestions of one kind are given.
_MOST = 12

_IRREGULAR_PARTICIPLES = word_set(
    "begun born bought broken brought built caught chosen cut done drawn driven eaten fed felt found forgotten given"
    " gone grown held hidden hit hurt kept known laid led left lent lost made meant met paid put read rewritten run"
    " said seen sent set shown shut sold spent spoken stolen sworn taken taught thought thrown told torn understood"
    " woven worn written"
)


@attrs.frozen
class _Measure:
    words: int
    sentences: int
    syllables: int

    @property
    def ease(self) -> float:
        return flesch(self.words, self.sentences, self.syllables)


@attrs.frozen
class _Flaws:
    """Wordy phrases and doubled words with their number, and how many words they take."""

    phrases: Counter[tuple[str, str]]
    doubled: Counter[str]
    words: int


def readability(task_brief: str, result: str) -> dict[str, Any]:
    """Score the rewriting `result` of the text in `task_brief`: the evaluator of `refine` that needs no model.

    The answer is `{score, suggestions, details}`. The score is Flesch reading ease, 0 at 0 or less and 1 at 60 or
    more, in between in proportion, *times* three factors that keep it honest:

    - the share of words that do not stand in wordy phrases, fillers or doubled words. Flesch alone would punish cutting
      them, because they are made of short words.
    - how many meaning-bearing words of the original are kept: 1 from 95 %, 0 at 25 %. Words are compared by stem, and
      a wordy phrase and its plain form count as the same. A "not" that is gone is a lost word.
    - the length: a result of less than 0.6 or more than 2 words for each word of the original loses, and below 0.2
      or above 4 it scores 0.

    So an empty or unrelated result scores 0 or close to it, and an unchanged text is judged on readability and
    wordiness alone.
    The suggestions name wordy phrases, doubled words, lost words, sentences of more than 25 words and passives; long
    words only when no phrase and no long sentence is left, since those matter more.

    What it is not: it counts, and does not understand. A free paraphrase in other words loses more than it deserves;
    let a model or a person judge those. It knows English only, and says so of other texts.

    >>> verdict = readability("In order to apply, utilize the form.", "To apply, use the form.")
    >>> verdict["score"], verdict["details"]["kept"], verdict["suggestions"]
    (1.0, 1.0, [])
    """
    for name, value in (("task_brief", task_brief), ("result", result)):
        if not isinstance(value, str):
            raise ValueError(f"readability: `{name}` must be a text, not {type(value).__name__}")
    original, page = read_page(text_of(task_brief)), read_page(result)
    measure = _measured(page)
    comparison = kept(original, page)
    length = _length_factor(comparison, original)
    flaws = _flaws(page)
    score = 0.0
    if measure.words or (result.strip() and not _measured(original).words):  # code alone is as readable as it was
        ease = _between(measure.ease, 0.0, BEST_EASE) if measure.words else 1.0
        wordy = min(1.0, flaws.words / measure.words) if measure.words else 0.0
        score = ease * (1.0 - wordy) * _between(comparison.share, _TOO_LITTLE_KEPT, _ENOUGH_KEPT) * length
    return {
        "score": round(score, 3),
        "suggestions": list(_suggestions(page, measure, comparison, flaws, length)),
        "details": {
            "flesch": round(measure.ease, 1),
            "words": measure.words,
            "sentences": measure.sentences,
            "syllables": measure.syllables,
            "words_per_sentence": round(measure.words / measure.sentences, 1) if measure.sentences else 0.0,
            "wordy": round(flaws.words / measure.words, 3) if measure.words else 0.0,
            "kept": round(comparison.share, 3),
            "lost": list(comparison.lost[:_MOST]),
            "length": round(comparison.length, 2),
            "english": page.english,
        },
    }


def _between(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _length_factor(comparison: Kept, original: Page) -> float:
    factor = _between(comparison.length, _TOO_SHORT, _SHORT)
    if sum(_count(passage.atoms) for passage in original.prose) >= _A_TEXT:
        factor *= _between(-comparison.length, -_TOO_LONG, -_LONG)
    return factor


def _measured(page: Page) -> _Measure:
    words = count = total = 0
    for passage in page.prose:
        for start, end in sentences(passage.atoms):
            spoken = [
                (1 if atom.kind == "code" else syllables(word))
                for atom in passage.atoms[start:end]
                for word in words_of(atom)
            ]
            if spoken:
                count += 1
                words += len(spoken)
                total += sum(spoken)
    return _Measure(words, count, total)


def _flaws(page: Page) -> _Flaws:
    phrases: Counter[tuple[str, str]] = Counter()
    doubled: Counter[str] = Counter()
    words = 0
    for passage in page.prose:
        if passage.editable:
            places = doubled_words(passage.atoms)
            doubled.update(passage.atoms[at].text for at in places)
            matches = find(passage.atoms, phrase_rules())
            phrases.update((match.rule.phrase, match.plain) for match in matches)
            words += len(places) + sum(_count(passage.atoms[match.start : match.end]) for match in matches)
    return _Flaws(phrases, doubled, words)


def _suggestions(page: Page, measure: _Measure, comparison: Kept, flaws: _Flaws, length: float) -> Iterator[str]:
    if not measure.words:
        yield "The result has no running text. If the original had some, rewrite it instead of dropping it."
        return
    if not page.english:
        yield "This does not look like English; the rules know English only."
    if length < 1.0:
        amount = "short" if comparison.length < 1.0 else "long"
        yield f"The result is too {amount}: {comparison.length:.1f} words for each word of the original."
    if comparison.lost:
        yield f"Put back what was lost: {_listed(comparison.lost)}."
    yield from _replacements(flaws.phrases)
    for word, _ in flaws.doubled.most_common(_MOST):
        yield f'Write "{word}" once instead of "{word} {word}".'
    long = [sentence for sentence in _sentences(page) if _count(sentence) > LONG_SENTENCE]
    for sentence in long[:_MOST]:
        yield f'Split the sentence of {_count(sentence)} words that begins "{_opening(sentence)} …".'
    for passive in list(_passives(page))[:3]:
        yield f'"{passive}" is passive: say who does it, if that matters.'
    if not flaws.phrases and not long:
        long_words = [
            (match.rule.phrase, match.plain)
            for passage in page.prose
            if passage.editable
            for match in find(passage.atoms, word_rules())
        ]
        yield from _replacements(Counter(long_words))


def _replacements(found: Counter[tuple[str, str]]) -> Iterator[str]:
    for (phrase, plain), times in found.most_common(_MOST):
        often = f" ({times} times)" if times > 1 else ""
        yield f'Say "{plain}" instead of "{phrase}"{often}.' if plain else f'Drop "{phrase}"{often}.'


def _sentences(page: Page) -> Iterator[list[Atom]]:
    for passage in page.prose:
        for start, end in sentences(passage.atoms):
            yield passage.atoms[start:end]


def _count(sentence: list[Atom]) -> int:
    return sum(len(words_of(atom)) for atom in sentence)


def _opening(sentence: list[Atom]) -> str:
    return " ".join(join_atoms(sentence[:6]).split()).replace('"', "'")


def _passives(page: Page) -> Iterator[str]:
    for sentence in _sentences(page):
        for at, atom in enumerate(sentence[:-1]):
            if atom.lower in BE and atom.lower != "being":
                place = at + 1
                while place < len(sentence) - 1 and sentence[place].lower.endswith("ly"):
                    place += 1
                word = sentence[place].lower
                if sentence[place].kind == "word" and (word in _IRREGULAR_PARTICIPLES or _looks_past(word)):
                    yield " ".join(piece.text for piece in sentence[at : place + 1])


def _looks_past(word: str) -> bool:
    return len(word) > 4 and word.endswith("ed") and not word.endswith(("eed", "need", "indeed"))


def _listed(lost: tuple[str, ...]) -> str:
    named = ", ".join(f'"{word}"' for word in lost[:_MOST])
    return named + (f" and {len(lost) - _MOST} more" if len(lost) > _MOST else "")
