"""What is proved before anything is written, and what is refused."""

from __future__ import annotations

import pytest

import prose_lang.formatter.formatting as formatting
from prose_lang.formatter import Refused, format_source
from prose_lang.formatter.proof import difference
from prose_lang.syntax import parse
from prose_lang.text import Source

TEXT = "if a:\n  b(1)  # why\n  # and why\nelse:\n  throw\n"


def refused(monkeypatch: pytest.MonkeyPatch, text: str, made: str, *more: str) -> Refused:
    """What is said if the passes make some text of another."""
    results = iter([made, *more])
    monkeypatch.setattr(formatting, "print_rows", lambda *_, **__: next(results))
    with pytest.raises(Refused) as caught:
        format_source(Source("a.prose.md", text))
    return caught.value


@pytest.mark.parametrize(
    ("made", "what"),
    [
        (TEXT.replace("  # why", ""), "a comment would be lost or moved past another one"),
        (TEXT.replace("why", "how"), "a comment would be lost or moved past another one"),
        (TEXT.replace("b(1)", "b(2)"), "a word of the program would change"),
        (TEXT.replace("else:\n  throw", "  throw"), "a word of the program would change"),
        (TEXT.replace("  throw", "throw"), "the result could not be read: "),
        ("### x\n" + TEXT, "the text around the program would change"),
    ],
)
def test_refusals(monkeypatch: pytest.MonkeyPatch, made: str, what: str) -> None:
    error = refused(monkeypatch, TEXT, made)
    assert str(error).startswith(what)
    (diagnostic,) = error.diagnostics
    assert (diagnostic.name, diagnostic.message) == ("format-refused", f"not formatted, because {error}")


def test_what_is_not_stable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    error = refused(monkeypatch, TEXT, TEXT + "\n", TEXT)
    assert str(error) == "it would look different again when formatted once more"


def test_more_than_the_program_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    document = "---\nname: a\nkind: pattern\n---\n### Delegation\n```prose\na\n```\n"
    assert (
        str(refused(monkeypatch, document, "a\n```\nmore\n```prose\na\n")) == "the text around the program would change"
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("x = [a, b]", "x = [\n  a\n  b,\n]\n"),
        ("do f (1)", "do f(1)"),
        ("x = { session\n: 1 }", "x = { session: 1 }"),
        ("if **a **:\n b", "if a:\n b"),
        ("a # b  \n", "a    # b"),
    ],
)
def test_the_same_program(one: str, two: str) -> None:
    assert difference(parse(Source("-", one)), parse(Source("-", two))) is None


@pytest.mark.parametrize(
    ("one", "two", "what"),
    [
        ("repeat f (max: 1):\n a", "repeat f(max):\n a", "a word of the program would change"),
        ("for x in a (1):\n b", "for x in a(1):\n b", "the program would have another meaning"),
        ("x = [a\n  -b]", "x = [a - b]", "the program would have another meaning"),
        ("x = 1", "x = 1.0", "a word of the program would change"),
        ('x = "a"', 'x = """a"""', "a word of the program would change"),
        ('x = "\\{"', 'x = "{"', "a word of the program would change"),
        ("if a  b:\n c", "if a b:\n c", "a word of the program would change"),
        ("if a:\n b\nc", "if a:\n b\n c", "a word of the program would change"),
    ],
)
def test_another_program(one: str, two: str, what: str) -> None:
    assert difference(parse(Source("-", one)), parse(Source("-", two))) == what
