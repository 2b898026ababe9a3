"""The parser never raises, loses no character, and reports where the fault is (L9, §9 L9)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from scale import examples, seeds
from texts import anything, body_of, mutants, soups

from prose_lang.diagnostics.codes import CODES
from prose_lang.syntax import nodes as n
from prose_lang.syntax import parse, with_trivia
from prose_lang.syntax.parser import Parsed
from prose_lang.syntax.printing import tree_json, tree_lines
from prose_lang.syntax.visiting import children, walk
from prose_lang.text import Source, Span

texts = anything | soups | mutants


def parsed(text: str) -> Parsed:
    return parse(Source("-", text))


@examples(700)
@given(texts)
def test_any_text_gives_a_tree_and_diagnostics_inside_the_text(text: str) -> None:
    found = parsed(text)
    assert isinstance(found.body, n.Body)
    for diagnostic in found.diagnostics:
        assert diagnostic.code in CODES
        assert diagnostic.message
        assert diagnostic.span is not None
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text), diagnostic
        assert diagnostic.line is not None
        assert diagnostic.column is not None
    if any(isinstance(node, n.Malformed) for node in walk(found.body)) or found.broken:
        assert found.diagnostics


@examples(400)
@given(texts)
def test_tokens_and_trivia_restore_the_text(text: str) -> None:
    found = parsed(text)
    position = found.span.start
    for token in found.tokens:
        assert position <= token.start <= token.end <= found.span.end, token
        position = token.end
    pieces = []
    for trivia, after in with_trivia(text, found.tokens, found.span.start, found.span.end):
        pieces += [trivia, text[after.start : after.end] if after else ""]
    assert text[: found.span.start] + "".join(pieces) + text[found.span.end :] == text


@examples(400)
@given(texts)
def test_spans_nest_in_order(text: str) -> None:
    found = parsed(text)
    assert 0 <= found.body.start <= found.body.end <= len(text)
    for node in walk(found.body):
        assert node.start <= node.end, node
        for child in children(node):
            assert node.start <= child.start <= child.end <= node.end, (node, child)
        if isinstance(node, n.Body):
            ends = [statement.start for statement in node.statements]
            assert ends == sorted(ends)
            for one, other in zip(node.statements, node.statements[1:], strict=False):
                assert one.end <= other.start, (one, other)
    assert list(tree_lines(found.body, found.source))
    assert tree_json(found.body)["node"] == "Body"


@examples(150)
@given(texts)
def test_parsing_is_deterministic(text: str) -> None:
    one, other = parsed(text), parsed(text)
    assert tree_json(one.body) == tree_json(other.body)
    assert [d.as_json() for d in one.diagnostics] == [d.as_json() for d in other.diagnostics]
    assert [(t.kind, t.start, t.end) for t in one.tokens] == [(t.kind, t.start, t.end) for t in other.tokens]


@pytest.mark.parametrize("seed", seeds(40))
def test_a_part_of_a_text_parses_as_the_part_alone(seed: int) -> None:
    """Only offsets differ between a body in a file, indented as in a list, and the body by itself."""
    body = body_of(seed, 8)
    alone = parsed(body)
    before = "# title\n\n"
    shifted = parse(Source("-", before + body + "\n```\n"), Span(len(before), len(before) + len(body)))
    assert tree_shape(alone.body) == tree_shape(shifted.body)
    assert not shifted.diagnostics


def tree_shape(body: n.Body) -> list[object]:
    places = {"span": None, "name_end": None, "children": None}
    return [(type(node).__name__, {**tree_json(node), **places}) for node in walk(body)]


def lines_that_break(text: str, rng: random.Random) -> tuple[str, int] | None:
    """A program with one broken statement at its outermost level, and that statement's index."""
    body = parsed(text).body
    simple = [
        (number, statement)
        for number, statement in enumerate(body.statements)
        if isinstance(statement, (n.Let, n.Assign, n.Return, n.Record))
        and "\n" not in text[statement.start : statement.end]
        and not isinstance(getattr(statement, "value", None), (n.Call, n.Repeat, n.For, n.Do, n.Pipeline))
    ]
    if not simple:
        return None
    number, statement = rng.choice(simple)
    broken = rng.choice(
        [
            "let = 3",
            "let x 3",
            "= 4",
            "let q = (1",
            "let q = 1 +",
            'let q = "open',
            "?",
            "call",
            "record 1",
            "let q = ]",
        ]
    )
    return text[: statement.start] + broken + text[statement.end :], number


@pytest.mark.parametrize("seed", seeds(150))
def test_sound_statements_survive_one_broken_line(seed: int) -> None:
    """One fault gives a report at or before the line after it; every other statement is read as before."""
    text = body_of(seed, 8)
    sound = parsed(text)
    assert not sound.diagnostics, [d.as_json() for d in sound.diagnostics]
    made = lines_that_break(text, random.Random(seed))
    if made is None:
        pytest.skip("nothing in this program stands on one line")
    broken, number = made
    found = parsed(broken)
    assert found.diagnostics
    start = sound.body.statements[number].start
    line = sound.source.position(start).line
    assert all(line <= (d.line or 0) <= line + 1 for d in found.diagnostics), [d.as_json() for d in found.diagnostics]
    assert len(found.diagnostics) == 1, [d.as_json() for d in found.diagnostics]
    before = [tree_shape_of(s) for i, s in enumerate(sound.body.statements) if i != number]
    after = [tree_shape_of(s) for s in found.body.statements if not isinstance(s, n.Malformed)]
    assert before == after


def tree_shape_of(statement: n.Statement) -> list[object]:
    return [(type(node).__name__, tree_json(node).get("id")) for node in walk(statement)]


@pytest.mark.parametrize("seed", seeds(60))
def test_the_text_of_a_statement_is_that_statement(seed: int) -> None:
    """Spans include everything a node was read from: brackets around the last part, properties, bodies."""
    text = body_of(seed, 8)
    for statement in parsed(text).body.statements:
        alone = parsed(text[statement.start : statement.end])
        assert not alone.diagnostics
        assert [tree_shape_of(one) for one in alone.body.statements] == [tree_shape_of(statement)]
