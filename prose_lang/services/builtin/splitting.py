"""Long sentences made into shorter ones, at places where a full stop changes nothing but the breath.

The places: a semicolon between clauses; ", and", ", but", ", so" before a clause with a subject of its own; "and"
before a pronoun or a repeated "must"; ", however," between clauses; ", which means" at the end. Never inside brackets,
never in a series, never where "if" or "that" still governs what follows, never in a fragment. See `clauses.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prose_lang.services.builtin.atoms import Atom, sentences, words_of
from prose_lang.services.builtin.clauses import clause_begins, main_clause, subject_of
from prose_lang.services.builtin.english import MODALS, NOMINATIVES, SUBORDINATORS

#: The fewest words either half may have.
_SHORTEST = 5
#: Verbs after ", which" that speak of the whole clause before, not of its last noun.
_OF_THE_CLAUSE = frozenset(
    {"allows", "causes", "enables", "ensures", "helps", "improves", "increases", "leads", "makes", "means", "prevents"}
    | {"reduces", "results", "saves", "allowed", "caused", "enabled", "led", "made", "meant", "prevented", "reduced"}
    | {"confirms", "demonstrates", "implies", "indicates", "shows", "suggests", "confirmed", "suggested", "showed"}
)


def split_long(atoms: list[Atom], limit: int) -> list[Atom]:
    """The atoms with every sentence of more than `limit` words cut where it is safe, as often as needed."""
    result: list[Atom] = []
    waiting = [atoms[start:end] for start, end in reversed(sentences(atoms))]
    while waiting:
        sentence = waiting.pop()
        halves = _halves(sentence) if word_count(sentence) > limit and _is_whole(sentence) else None
        if halves is None:
            result.extend(sentence)
        else:
            waiting.extend(reversed(halves))
    return result


def word_count(atoms: Sequence[Atom]) -> int:
    """How many words a reader counts."""
    return sum(len(words_of(atom)) for atom in atoms)


def _is_whole(sentence: Sequence[Atom]) -> bool:
    return any(atom.kind == "mark" and atom.text in (".", "!") for atom in sentence[-2:])


def _halves(sentence: list[Atom]) -> tuple[list[Atom], list[Atom]] | None:
    """The most even of the safe cuts."""
    cuts = [
        (abs(word_count(left) - word_count(right)), number, left, right)
        for number, (left, right) in enumerate(_cuts(sentence))
        if word_count(left) >= _SHORTEST and word_count(right) >= _SHORTEST
    ]
    if not cuts:
        return None
    _, _, left, right = min(cuts, key=lambda cut: cut[:2])
    return left, right


def _cuts(sentence: list[Atom]) -> Iterator[tuple[list[Atom], list[Atom]]]:
    end = len(sentence)
    depth = 0
    stars = 0
    for at, atom in enumerate(sentence):
        if atom.text in "([":
            depth += 1
        elif atom.text in (")", "]") or atom.text.startswith("]("):
            depth -= 1
        elif atom.text in ("*", "_", '"', "'", "“", "‘"):
            stars += 1
        if depth or stars % 2 or at == 0:
            continue
        if atom.text == ":":
            return  # what follows a colon is a list or an explanation; both lose by being cut
        if atom.text == ";":
            yield from _at_semicolon(sentence, at, end)
        elif atom.text == "," and at + 2 < end:
            yield from _at_comma(sentence, at, end)
        elif atom.lower == "and" and sentence[at - 1].kind == "word" and at + 2 < end:
            yield from _at_and(sentence, at, end)


def _at_semicolon(sentence: list[Atom], at: int, end: int) -> Iterator[tuple[list[Atom], list[Atom]]]:
    after = at + 1
    if after < end and sentence[after].lower in ("and", "but"):
        after += 1
    start = _after_last(sentence, at)
    if clause_begins(sentence, after, end, after_semicolon=True) and main_clause(
        sentence, start, at, conditional=True, reporting=True
    ):
        yield _stop(sentence[:at]), _begin(sentence[after:], sentence[at + 1].gap)


def _at_comma(sentence: list[Atom], at: int, end: int) -> Iterator[tuple[list[Atom], list[Atom]]]:
    word = sentence[at + 1].lower
    if word in ("and", "but", "so", "yet"):
        if clause_begins(sentence, at + 2, end) and main_clause(sentence, 0, at):
            kept = at + 2 if word == "and" else at + 1
            yield _stop(sentence[:at]), _begin(sentence[kept:], sentence[at + 1].gap)
        elif word == "and" and sentence[at + 2].lower in MODALS:
            yield from _repeated(sentence, at, at + 2, end)
    elif word == "however" and sentence[at + 2].text == ",":
        if clause_begins(sentence, at + 3, end) and main_clause(sentence, 0, at):
            yield _stop(sentence[:at]), _begin(sentence[at + 1 :], sentence[at + 1].gap)
    elif word == "which":
        yield from _at_which(sentence, at, end)


def _at_and(sentence: list[Atom], at: int, end: int) -> Iterator[tuple[list[Atom], list[Atom]]]:
    following = sentence[at + 1].lower
    left = sentence[:at]
    if any(atom.lower in SUBORDINATORS for atom in left):
        return
    if following in NOMINATIVES and clause_begins(sentence, at + 1, end) and main_clause(sentence, 0, at):
        yield _stop(left), _begin(sentence[at + 1 :], sentence[at].gap)
    elif following in MODALS:
        yield from _repeated(sentence, at, at + 1, end)


def _repeated(sentence: list[Atom], at: int, verb: int, end: int) -> Iterator[tuple[list[Atom], list[Atom]]]:
    """ "You must sign it and must send it": the subject is said again if there can be no doubt which one it is."""
    left = sentence[:at]
    if any(atom.lower in SUBORDINATORS or atom.text in (";", ":") for atom in left) or not main_clause(sentence, 0, at):
        return
    subject = subject_of(sentence, 0, at)
    if subject is None or sentence[len(subject)].lower not in MODALS:
        return
    if any(atom.lower in MODALS for atom in sentence[len(subject) + 1 : at]):
        return
    again = [subject[0]._replace(gap=""), *subject[1:]]
    rest = [sentence[verb]._replace(gap=" "), *sentence[verb + 1 :]]
    yield _stop(left), _begin([*again, *rest], sentence[at].gap or " ")


def _at_which(sentence: list[Atom], at: int, end: int) -> Iterator[tuple[list[Atom], list[Atom]]]:
    """ "…, which means that …" speaks of the whole clause. Of any other "which" no rule can tell what it speaks of."""
    left, verb = sentence[:at], sentence[at + 2].lower
    rest = sentence[at + 2 :]
    if any(atom.text in (",", ";") for atom in rest) or not main_clause(sentence, 0, at, reporting=True):
        return
    if verb in _OF_THE_CLAUSE:
        yield _stop(left), [Atom("word", "This", sentence[at + 1].gap), *rest]


def _after_last(sentence: Sequence[Atom], at: int) -> int:
    """Where the part before a semicolon begins: after the semicolon before it."""
    return next((place + 1 for place in range(at - 1, -1, -1) if sentence[place].text == ";"), 0)


def _stop(left: Sequence[Atom]) -> list[Atom]:
    return [*left, Atom("mark", ".")]


def _begin(right: Sequence[Atom], gap: str) -> list[Atom]:
    first = right[0]
    text = first.text[0].upper() + first.text[1:] if first.kind == "word" and first.text.islower() else first.text
    return [first._replace(text=text, gap=gap), *right[1:]]
