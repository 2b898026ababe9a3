"""Which texts of a document are formatted, how its lines end, and what keeps a file from being formatted."""

from __future__ import annotations

import pytest

from prose_lang.diagnostics import SourceError
from prose_lang.formatter import format_source
from prose_lang.text import Source

HEAD = "---\nname: some\nkind: pattern\n---\n\n### Delegation\n\n"


def formatted(text: str) -> str:
    return format_source(Source("some.prose.md", text))


def test_all_that_is_no_fence_stays() -> None:
    around = HEAD.replace("name: ", "name:   ") + "*  text  \n\n```prose\n{}```\n\n```yaml\nx:  1\n```\nend"
    assert formatted(around.replace("{}", "\n\nlet  x=1   \n\n")) == around.replace("{}", "let x = 1\n")


@pytest.mark.parametrize("fence", ["```prose", "````prose title", "~~~ Prose"])
def test_fences_of_all_forms(fence: str) -> None:
    close = fence.split("p")[0].split("P")[0].strip()
    assert formatted(f"{HEAD}{fence}\nreturn  1\n{close}\n") == f"{HEAD}{fence}\nreturn 1\n{close}\n"


def test_several_bodies_and_other_sections() -> None:
    notes, second = "### Notes\n\n```prose\na=1\n```\n\n", "## two\n\n### Execution\n\n```prose\nb=2\n```\n"
    text = f"{HEAD}```prose\nreturn  1\n```\n\n{notes}{second}"
    assert formatted(text) == text.replace("return  1", "return 1").replace("a=1", "a = 1").replace("b=2", "b = 2")


def test_a_sketch_outside_of_bodies_is_passed_over() -> None:
    text = HEAD + "```prose\nreturn  1\n```\n\n### Notes\n\n```prose\nfor each thing ...\n```\n"
    assert formatted(text) == text.replace("return  1", "return 1")


def test_a_fence_in_a_list_keeps_its_indentation() -> None:
    text = "### A page\n\n1. first\n\n   ```prose\n   if a :\n       # why\n       call b\n\n   # end\n   ```\n"
    assert (
        formatted(text)
        == "### A page\n\n1. first\n\n   ```prose\n   if a:\n     # why\n     call b\n\n   # end\n   ```\n"
    )


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_line_breaks_keep_their_spelling(line_break: str) -> None:
    text = HEAD + '```prose\nlet x={\na: 1}\n\n\nreturn """\n a\n"""\n```\nend'
    wanted = HEAD + '```prose\nlet x = {\n  a: 1\n}\n\nreturn """\n a\n"""\n```\nend'
    assert formatted(text.replace("\n", line_break)) == wanted.replace("\n", line_break)


def test_mixed_line_breaks_are_those_of_the_line_above_the_program() -> None:
    text = HEAD + '```prose\r\nlet  x = """a\nb\r\n"""\nreturn  1\n```\n'
    assert formatted(text) == HEAD + '```prose\r\nlet x = """a\nb\r\n"""\r\nreturn 1\r\n```\n'


def test_a_byte_order_mark_stays() -> None:
    assert formatted("\ufeff" + HEAD + "```prose\nreturn  1\n```\n").startswith("\ufeff---\n")
    assert formatted("\ufeffreturn  1\nif a :\n   # b\n   c") == "\ufeffreturn 1\nif a:\n  # b\n  c\n"


def test_bare_bodies() -> None:
    assert formatted("return  1") == "return 1\n"
    assert formatted("\n\nreturn  1  \n\n\n") == "return 1\n"
    assert formatted("# only this") == "# only this\n"
    assert formatted("call a \r\n  b:1") == "call a\r\n  b: 1\r\n"


def test_a_comment_never_turns_a_bare_body_into_markdown() -> None:
    assert formatted("a\n ### b\nif c:\n    ### d\n    e") == "a\n  ### b\nif c:\n  ### d\n  e\n"


@pytest.mark.parametrize("text", ["", "\n", "### A page\n\nNo program.\n", HEAD, HEAD + "```prose\n```\n"])
def test_nothing_to_format(text: str) -> None:
    assert formatted(text) == text


def test_an_empty_program_loses_its_blank_lines() -> None:
    assert formatted(HEAD + "```prose\n\n   \n```\n") == HEAD + "```prose\n```\n"


def test_all_syntax_errors_are_told_at_once() -> None:
    text = HEAD + "```prose\nlet = 1\nreturn  1\n```\n\n## two\n\n### Execution\n\n```prose\nif a\n  b\n```\n"
    with pytest.raises(SourceError) as caught:
        formatted(text)
    assert [(item.code, item.line) for item in caught.value.diagnostics] == [("P101", 9), ("P101", 18)]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (HEAD + "```prose\nreturn  1\n", "P107", 8),
        ("---\nname: some\n\n### Delegation\n\n```prose\nreturn  1\n```\n", "P106", 1),
        ("---\nname: [\n---\n### Delegation\n```prose\nreturn  1\n```\n", "P106", 3),
        ("if a:\n\tb\n", "P111", 2),
    ],
)
def test_files_that_cannot_be_read_for_sure(text: str, code: str, line: int) -> None:
    with pytest.raises(SourceError) as caught:
        formatted(text)
    assert [(item.code, item.line) for item in caught.value.diagnostics] == [(code, line)]


def test_faults_that_are_not_of_syntax_do_not_matter() -> None:
    text = HEAD + "```prose\nreturn  nothing(1)\n```\n\n### Config\n\n- `n` (integer, default: many): x\n"
    assert formatted(text) == text.replace("return  nothing", "return nothing")
