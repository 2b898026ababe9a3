"""What a person is told of a text that cannot be read: the words, not only the code and the place."""

from __future__ import annotations

import pytest

from prose_lang.syntax import parse
from prose_lang.syntax.printing import tree_json, tree_lines
from prose_lang.text import Source


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "let x = 1\n    y = 2\n",
            "this line is indented deeper than the block it stands in",
            "indent it like the line above it",
        ),
        ("call a\n  x\n", "expected `name: value`", None),
        ("call a\n  1: x\n", "expected `name: value`", "the lines below a call bind its inputs"),
        ("choice x:\n  let y = 2\n", 'expected `option "label":`', None),
        ("if a:\nb = 2\n", "expected a line below, indented deeper than this one", None),
        ("choice a:\nb = 2\n", "expected an option below, indented deeper than this one", None),
        ("if a\n  b = 2\n", "expected `:` at the end of this `if`", None),
        ("for x in xs\n  b = 2\n", "expected `:` at the end of this line", None),
        (
            "repeat 3: let x = 1\n",
            "the body of this line must stand on the lines below it, indented",
            "break the line after the colon",
        ),
        (
            "try: x\n",
            "the body of this line must stand on the lines below it, indented",
            "break the line after the colon",
        ),
        ("try:\n  a = 1\nb = 2\n", "a `try` needs a `catch` or a `finally`", "add catch as problem:"),
        (
            "do:\n  try:\n    a = 1\ncatch:\n  b = 2\n",
            "a `try` needs a `catch` or a `finally`",
            "the `catch` that follows is not indented like it",
        ),
        (
            "try:\n  a = 1\n  catch:\n    b = 2\n",
            "there is no `try` that this `catch` belongs to",
            "it stands right below the body of its `try`, indented like it",
        ),
        ("if a:\n  b = 1\nelse:\n  b = 2\nelif c:\n  b = 3\n", "an `elif` stands before the `else`", None),
        ("if a:\n  b = 1\nelse\n  b = 2\n", "expected `:` at the end of this `else`", None),
        ("x | maps:\n  item\n", "`maps` is no stage of a pipeline", "did you mean `map`?"),
        ("let x == 1\n", "`==` compares, and does not set a variable", "write a single `=`"),
        ("input topic: 1\n", "a body declares no inputs", "declare it as an item under ### Requires: - `topic`: …"),
        ("repeat n times:\n  x\n", "`times` does not fit here; the count stands alone", "write repeat N:"),
        (
            "else:\n  a = 1\n",
            "there is no `if` that this `else` belongs to",
            "it stands right below the body of its `if`, indented like it",
        ),
        ("let call = 1\n", "`call` is a keyword and cannot name a variable", "choose another name"),
        (
            "let x = 1 + call f\n",
            "a `call` cannot stand inside an expression or a header",
            "bind it first: let x = call …",
        ),
        ("let x = 1 +\n", "expected a value after `+`", None),
        ("let x = 1 < y < 3\n", "comparisons do not chain", "write `a < b and b < c`"),
        ("let x = [1 2]\n", "`2` does not fit here", "separate entries with a comma"),
        ("record x\n", "this line ends too early; expected `in` and the name of a list", None),
        ("record x in\n", "this line ends too early; expected a name", None),
        ("let x = y = 3\n", "`=` does not fit here", "compare with `==`; assign with `name = value` on a line"),
        ("f(x) = 3\n", "this cannot be assigned to", "assign to a name or to a field of one; compare with `==`"),
        ("let x = 'y'\n", "`'` does not begin a string", 'strings stand in double quotes: "…"'),
        ("let x = !y\n", "`!` is not an operator", "write `not x`, or `a != b`"),
        ("let x = [1, 2\n", "`[` is never closed", None),
        ("return\n  a: 1,\n  b: 2\n}\n", "this line lacks the `{` that `}` on line 4 closes", None),
        ("return {\n  a:\n    b: 1\n  }\n}\n", "this line lacks the `{` that `}` on line 5 closes", None),
        ("return {\n  a: {\n    b: 1\n}\n", "`{` is never closed", None),
        ("let x = 1\n}\n", "there is no open bracket that `}` could close", None),
        ("let x = [1, 2)\n", "`[` is not closed before `)`", None),
        (
            'let x = "a\n',
            "a string is not closed on its line",
            'close it with `"`, or use `"""` for a text of several lines',
        ),
    ],
)
def test_one_fault_and_what_is_said_of_it(text: str, message: str, hint: str | None) -> None:
    found = parse(Source("-", text)).diagnostics
    assert [(item.message, item.hint) for item in found] == [(message, hint)]


def test_a_path_that_is_nested_too_deeply_is_one_fault() -> None:
    text = f"a{'.b' * 200} = 1\n"
    assert [item.code for item in parse(Source("-", text)).diagnostics] == ["P307"]


def test_printed_trees_tell_null_from_false() -> None:
    source = Source("-", "return [null, false]\n")
    body = parse(source).body
    assert [line.strip() for line in tree_lines(body, source)][-2:] == [
        "Literal value=null  [1:9-1:13]",
        "Literal value=false  [1:15-1:20]",
    ]
    literals = tree_json(body)["children"][0]["children"][0]["children"]
    assert [item["value"] for item in literals] == [None, False]
