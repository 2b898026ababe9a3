"""Edits: applied by place, never where they overlap."""

from __future__ import annotations

import pytest

from prose_lang.text import Span
from prose_lang.text.edit import Edit, apply, overlap


def edits(*given: tuple[int, int, str]) -> list[Edit]:
    return [Edit(Span(start, end), text) for start, end, text in given]


@pytest.mark.parametrize(
    ("given", "result"),
    [
        ([], "abcdef"),
        ([(0, 0, "x")], "xabcdef"),
        ([(6, 6, "x")], "abcdefx"),
        ([(1, 3, "")], "adef"),
        ([(4, 6, "Y"), (0, 2, "X")], "XcdY"),
        ([(2, 4, "X"), (4, 6, "Y")], "abXY"),
        ([(3, 3, "1"), (3, 3, "2")], "abc12def"),
        ([(3, 3, "1"), (3, 5, "2")], "abc12f"),
        ([(1, 3, "2"), (3, 3, "1")], "a21def"),
        ([(0, 6, "")], ""),
    ],
)
def test_apply(given: list[tuple[int, int, str]], result: str) -> None:
    assert apply("abcdef", edits(*given)) == result


@pytest.mark.parametrize(
    "given",
    [[(0, 3, ""), (2, 4, "")], [(0, 6, ""), (3, 3, "x")], [(1, 2, "a"), (1, 2, "b")], [(2, 1, "")], [(-1, 0, "")],
     [(5, 7, "")]],
)  # fmt: skip
def test_what_is_refused(given: list[tuple[int, int, str]]) -> None:
    with pytest.raises(ValueError, match="edit"):
        apply("abcdef", edits(*given))


def test_overlap() -> None:
    one, two, three = edits((0, 2, ""), (2, 4, ""), (1, 1, "x"))
    assert not overlap(one, two)
    assert overlap(one, three)
    assert not overlap(two, three)
