"""One style for program text. It reads tokens with their trivia, never prints a tree, and proves what it writes.

    blocks ──▶ rows ──▶ spacing ──▶ groups ──▶ printer ──▶ proof
    the program texts   tokens   what touches   brackets   the text    same tree, same comments, stable
    of a document       by line  what           as nodes   again

What a program means is not looked at, and nothing is ever rewritten: spaces, line breaks and the commas between entries
are all that can change.
"""

from prose_lang.formatter.formatting import format_source
from prose_lang.formatter.proof import Refused

__all__ = ["Refused", "format_source"]
