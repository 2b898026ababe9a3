"""Texts to parse: arbitrary ones, soups of tokens, and generated programs with something broken in them."""

from __future__ import annotations

import functools
import random

from hypothesis import strategies as st
from programs import write_program

from prose_lang.documents.reader import read_document
from prose_lang.text import Source

WORDS = (
    "let const call return repeat for loop if elif else choice option try catch finally throw parallel record append to"
    " break continue block do session agent resume use as in and or not true false null until while each map pmap"
    " filter reduce x y refiner quality-bar config n1 é _ 3 0.5 1e9 -1"
).split()
MARKS = [*"=<>+-*/|,:.()[]{}\"'#!&`\\", "==", "!=", "<=", ">=", '"""', "**", "***", '"text"', '"a {x.y} b"', '"\\q"']
BREAKS = [
    "\n",
    "\n",
    "\n  ",
    "\n    ",
    "\n\t",
    "\r\n",
    "\r",
    " ",
    " ",
    "  ",
    "",
    "\n\n",
    "  # why\n",
    "\x00",
    "\ufeff",
    "\u2028",
    "\x0c",
]

soups = st.lists(st.sampled_from([*WORDS, *WORDS, *MARKS, *BREAKS, *BREAKS]), max_size=60).map(" ".join) | st.lists(
    st.sampled_from([*WORDS, *MARKS, *BREAKS, *BREAKS]), max_size=80
).map("".join)
#: Anything that Python calls a text, lone surrogates too.
anything = st.text(max_size=300)


@functools.cache
def body_of(seed: int, size: int = 14) -> str:
    """The delegation body of a generated program."""
    document = read_document(Source("generated.prose.md", write_program(seed, size)))
    fence = document.main.body
    assert fence is not None
    return document.source.text[fence.span.start : fence.span.end]


def mutated(text: str, rng: random.Random, times: int) -> str:
    """A text with parts of it removed, doubled, swapped or replaced."""
    for _ in range(times):
        if not text:
            return text
        start = rng.randrange(len(text))
        stop = min(len(text), start + rng.choice([1, 1, 2, 5, 20, 80]))
        piece = text[start:stop]
        match rng.randrange(6):
            case 0:
                text = text[:start] + text[stop:]
            case 1:
                text = text[:start] + piece + text[start:]
            case 2:
                text = text[:start] + rng.choice([*MARKS, *WORDS, *BREAKS]) + text[start:]
            case 3:
                text = text[:start] + rng.choice([*MARKS, *BREAKS]) + text[stop:]
            case 4:
                other = rng.randrange(len(text))
                text = text[:other] + piece + text[other:]
            case _:
                lines = text.splitlines(keepends=True)
                line = rng.randrange(len(lines))
                lines[line] = rng.choice(["", " ", "   ", "\t"]) + lines[line].lstrip(rng.choice(["", " "]))
                text = "".join(lines)
    return text


mutants = st.builds(
    lambda seed, choices, times: mutated(body_of(seed), random.Random(choices), times),
    st.integers(0, 60),
    st.integers(0, 2**32),
    st.integers(1, 6),
)
