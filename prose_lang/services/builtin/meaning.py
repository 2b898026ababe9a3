"""How much of one text's meaning-bearing words another text keeps.

Words are compared by light stems after both texts went through the same tables, so that "utilized" and "use", or
"make a decision" and "decide", count as the same. It counts words; whether they still say the same it cannot tell.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import attrs

from prose_lang.services.builtin.atoms import Atom, split_atoms
from prose_lang.services.builtin.edits import replace_all
from prose_lang.services.builtin.english import FUNCTION_WORDS, NEGATIONS, word_set
from prose_lang.services.builtin.page import Page

#: Sorted by length, so that the longest is cut.
_SUFFIXES = sorted(
    word_set(
        "able al ance ant ants ate ated ates ating ation ations e ed edly ement ements ence ent ents er ers es ible ied"
        " ies iness ing ingly ings ion ions isation isations ities ity ive ization izations ly ment ments ness or ors s"
        " y"
    ),
    key=lambda suffix: (-len(suffix), suffix),
)
_INFLECTIONS = frozenset({"ed", "es", "e", "ied", "ies", "ing", "ings", "s", "y"})
#: Words so general that another may always stand in their place ("make sure", "in case"); they carry little meaning.
_GENERAL = word_set(
    "able act amount ask based become begin bring call case change come different do end ensure example far find"
    " follow get give go good great hand happen have help hold important include involve keep kind know large leave"
    " let like long look make matter mean need new number order own part people place plan possible provide put"
    " reason regard require result run say see seem send set show small sort start state stay stop sure take tell"
    " thing think time try turn use want way work"
)


#: How much of a lost line is shown.
_SHOWN = 40


@attrs.frozen
class Kept:
    """`share` of the meaning-bearing words that are kept, 0 to 1; `lost` are the others, in order.

    `length` is the number of words of the result for each word of the original, both in their plain form.
    """

    share: float
    lost: tuple[str, ...]
    length: float


def kept(original: Page, result: Page) -> Kept:
    """Compare a result with its original. Lines that are not prose (code, tables, headings) count as one word each."""
    before, after = _plain_words(original), _plain_words(result)
    # A text of nothing but general words is judged by all of them.
    content = _content if _content(before) else _stems
    wanted = content(before)
    found = content(after).keys() | content(_words(opened(result))).keys()
    missing = [word for stemmed, word in wanted.items() if stemmed not in found]
    negations = _negations(before), _negations(after)
    lines = _fixed_lines(original)
    present = set(_lines(result.text))
    gone = [line for line in lines if line not in present]
    total = len(wanted) + negations[0] + len(lines)
    lost = len(missing) + max(0, negations[0] - negations[1]) + len(gone)
    if negations[0] > negations[1]:
        missing.append("not")
    missing.extend(line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…" for line in gone)
    return Kept(
        share=1.0 - lost / total if total else 1.0,
        lost=tuple(missing),
        length=len(after) / len(before) if before else 1.0,
    )


@functools.lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A light stem: one suffix is cut, if at least four letters stay (three before an inflection).

    >>> [stem(word) for word in ("applies", "applied", "evaluation", "evaluate", "fees")]
    ['appl', 'appl', 'evalu', 'evalu', 'fee']
    """
    word = word.lower().replace("’", "'").removesuffix("'s")
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= (3 if suffix in _INFLECTIONS else 4):
            word = word.removesuffix(suffix)
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        return word[:-1]
    return word


def opened(page: Page) -> list[Atom]:
    """The atoms of all prose of a page, with quotations opened."""
    atoms: list[Atom] = []
    for passage in page.prose:
        for atom in passage.atoms:
            atoms.extend(split_atoms(atom.text[1:-1])[0] if atom.kind == "quote" else [atom])
    return atoms


def _fixed_lines(page: Page) -> list[str]:
    return [line for passage in page.passages if not passage.block.prose for line in _lines(passage.text)]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _plain_words(page: Page) -> list[str]:
    return _words(opened(page.edited(replace_all)))


def _words(atoms: Iterable[Atom]) -> list[str]:
    return [atom.lower for atom in atoms if atom.kind != "mark"]


def _content(words: Iterable[str]) -> dict[str, str]:
    """The meaning-bearing words by their stems; numbers and code count as they are written."""
    meant = _stems(word for word in words if word not in FUNCTION_WORDS and (len(word) > 2 or not word.isalpha()))
    return {key: word for key, word in meant.items() if key not in _general_stems()}


def _stems(words: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        found.setdefault(stem(word) if word.isalpha() else word, word)
    return found


@functools.cache
def _general_stems() -> frozenset[str]:
    return frozenset(map(stem, _GENERAL))


def _negations(words: Iterable[str]) -> int:
    return sum(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words)
