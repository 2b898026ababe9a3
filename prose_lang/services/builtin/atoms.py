"""Prose as atoms: words, marks, and the pieces that must stay as they are.

An atom carries the white space before it, so that the text is always the concatenation of its atoms and an edit
touches only what it means to touch. Code, links, paths, identifiers, placeholders and quotations are single atoms
that no rule looks into.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prose_lang.services.builtin.english import FUNCTION_WORDS


class Atom(NamedTuple):
    """`kind` is one of word, mark, number, abbr, quote, code; `gap` is the white space before the atom."""

    kind: str
    text: str
    gap: str = ""

    @property
    def lower(self) -> str:
        return self.text.lower()


# Every repetition that could run into a failure is bounded: a text without spaces must not cost quadratic time.
_ATOM = re.compile(
    r"""
    (?P<word> [A-Z]?[a-z]+(?=[\s,;!?)]) )  # most words; the rest of the pattern is for what remains
  | (?P<code>
        ``.{1,400}?`` | `[^`]{1,400}`
      | <!--.{0,2000}?--> | </?[A-Za-z][^<>]{0,300}> | <[a-z]+://[^\s<>]{1,300}>
      | \]\([^()\s]{0,500}(?:[ ]"[^"\n]{0,200}")?\) | \]\[[^\]\n]{0,100}\]
      | \[\^?[\w-]{1,30}\](?![(\[])
      | \{\{?[^{}\n]{0,200}\}\}? | \$\{?[A-Za-z_]\w{0,99}\}?
      | (?:https?://|ftp://|file://|mailto:|www\.)[^\s<>"“”`]{0,2000}[^\s<>"“”`.,;:!?)\]}'’*_]
      | [\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}
      | --?[A-Za-z][\w-]*(?:=\S+)? | [@\#]\w[\w-]*
      | (?:~|\.{1,2})?/\w+(?:[./-]+\w+){0,40}/? | \w+(?:[/\\]\w+(?:[.-]\w+){0,9}){1,40}/?
      | [^\W\d]+=[\w"'][^\s]* | [^\W\d_]+(?:_\w+|\d\w*)(?:[.:-]\w+)*(?:\(\))? | _\w+
      | [^\W\d_]{2,}(?:\.\w+){1,9}(?:\(\))? | \w+\(\) | [a-z]+[A-Z]\w* | [A-Z][a-z]+[A-Z]\w*
    )
  | (?P<abbr>
        (?:[A-Za-z]\.){2,}
      | (?:[DM]r|Mrs|Ms|Prof|St|Sr|Jr|No|Nos|[Aa]rt|[Ss]ec|[Ff]igs?|[Ee]qs?|[Vv]ols?|[Pp]p|[Cc]h|Rev|Hon|Gen|Col|Sgt|Lt
         |vs|cf|viz|approx|incl|excl|ca|al|etc|est|max|min|dept|govt|ext
         |Inc|Ltd|Co|Corp|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.
      | (?<![\w.])[A-Z]\.(?=[ ][A-Z])
    )
  | (?P<number> [$€£+-]?\d(?:[\w.,:/%°–-]*[\w%°])? )
  | (?P<quote>
        (?<!\w)"[^"]{1,800}" | “[^”]{1,800}” | «[^»]{1,800}» | „[^“”]{1,800}[“”]
      | (?<!\w)‘[^’\n]{1,200}’(?!\w) | (?<!\w)'[^'\n]{1,200}'(?!\w)
    )
  | (?P<compound> [^\W\d_]+(?:['’‑-][^\W\d_]+)* )
  | (?P<mark> [.!?…]+ | \S )
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d[\d.,]*")

_CLOSERS = frozenset(")]}”’\"'*_»")
_OPENERS = frozenset("([{“‘\"'*_«—–-•")
_MAYBE_LAST = frozenset({"etc.", "a.m.", "p.m.", "inc.", "ltd.", "co.", "corp.", "jr.", "sr.", "al.", "u.s.", "u.k."})


def split_atoms(text: str) -> tuple[list[Atom], str]:
    """The atoms of a text and the white space after the last one.

    >>> [atom.text for atom in split_atoms("Run `make it`, e.g. twice.")[0]]
    ['Run', '`make it`', ',', 'e.g.', 'twice', '.']
    """
    atoms = []
    at = 0
    for match in _ATOM.finditer(text):
        kind = match.lastgroup or "mark"
        atoms.append(Atom("word" if kind == "compound" else kind, match.group(), text[at : match.start()]))
        at = match.end()
    return atoms, text[at:]


def join_atoms(atoms: Iterable[Atom], tail: str = "") -> str:
    """The text of some atoms."""
    return "".join([atom.gap + atom.text for atom in atoms]) + tail


def words_of(atom: Atom) -> list[str]:
    """The words a reader counts in an atom: those inside a quotation, one for a piece of code, none for a mark."""
    if atom.kind == "mark":
        return []
    return _WORDS.findall(atom.text) if atom.kind == "quote" else [atom.text]


def joined(atom: Atom) -> bool:
    """Whether the atom follows the one before it within a line or after a soft line break."""
    gap = atom.gap
    return gap == " " or (bool(gap) and gap.count("\n") <= 1 and not gap.startswith("  "))


def is_start(atoms: Sequence[Atom], at: int) -> bool:
    """Whether a capital letter at this atom is due to its place: the start of a sentence or item, or after a colon."""
    at -= 1
    while at >= 0 and atoms[at].text in _OPENERS:
        at -= 1
    if at < 0:
        return True
    before = atoms[at]
    if before.kind == "mark":
        return before.text[0] in ".!?…:" or (before.text == ")" and at <= 2)  # the latter ends an item's "(a)"
    return _ends_itself(before) or _maybe_last(before, atoms[at + 1])


def sentences(atoms: Sequence[Atom]) -> list[tuple[int, int]]:
    """The sentences of a block as half-open ranges of atoms; together they cover all of them."""
    found = []
    start = 0
    count = len(atoms)
    for at, atom in enumerate(atoms):
        if at < start:
            continue
        if atom.kind == "mark" and atom.text[0] in ".!?…":
            after = at + 1
            while after < count and not atoms[after].gap and atoms[after].text in _CLOSERS:
                after += 1
        elif _ends_itself(atom) or (at + 1 < count and _maybe_last(atom, atoms[at + 1])):
            after = at + 1
        else:
            continue
        if after < count and (not atoms[after].gap or atoms[after].text[0].islower()):
            continue
        found.append((start, after))
        start = after
    if start < count:
        found.append((start, count))
    return found


def _ends_itself(atom: Atom) -> bool:
    return atom.kind == "quote" and atom.text[-2:-1] in (".", "!", "?")


def _maybe_last(atom: Atom, following: Atom) -> bool:
    """An abbreviation or a letter may also end a sentence: if a capitalized function word comes next ("etc. The")."""
    return (
        atom.kind == "abbr"
        and (atom.lower in _MAYBE_LAST or len(atom.text) == 2)
        and following.text[:1].isupper()
        and following.lower in FUNCTION_WORDS
    )
