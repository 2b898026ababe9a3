"""Text from files and services as a terminal may show it, and how many columns that takes.

Only single characters are looked at: a terminal that joins several into one picture shows fewer columns.
"""

from __future__ import annotations

import unicodedata

_TAB = " " * 4
# Controls, format characters (which reorder or hide text), lone surrogates, line and paragraph separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    """A text that is safe to print on a terminal: what cannot be seen, or would act, is replaced by a sign for it.

    Line breaks are replaced too; split the text first where they are meant.

    >>> visible("a\\x1b[31mb")
    'a␛[31mb'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_cell(character)[0] for character in text)


def width_of(text: str) -> int:
    """How many columns of a terminal `visible(text)` takes.

    >>> width_of("日本")
    4
    """
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(_cell(character)[1] for character in text)


def _cell(character: str) -> tuple[str, int]:
    """What is shown for a character, and how many columns of a terminal that takes."""
    if " " <= character <= "~":
        return character, 1
    if character == "\t":
        return _TAB, len(_TAB)
    category = unicodedata.category(character)
    if character in _JOINERS or category in ("Mn", "Me") or "\u1160" <= character <= "\u11ff":
        return character, 0  # combining marks, and the vowels and finals of composed Korean syllables
    if category in _UNSEEN:
        if character < " ":
            return chr(0x2400 + ord(character)), 1  # the sign for the control: ␀ for NUL, ␛ for escape
        return ("\u2421" if character == "\x7f" else "\ufffd"), 1
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1
