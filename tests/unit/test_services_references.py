"""Service references: what each form means, who may use it, and importing `py:` ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from prose_lang.diagnostics import CheckError, SourceError
from prose_lang.services import parse_reference, ref, resolve_python, split_list


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("text", "kind", "target", "part"),
    [
        ("critic", "name", "critic", None),
        (" quality-bar ", "name", "quality-bar", None),
        ("stdlib:refine", "library", "refine", None),
        ("std/patterns/refine", "library", "refine", None),
        ("py:judges:strict", "python", "judges", "strict"),
        ("py:pkg.judges:Judge.strict", "python", "pkg.judges", "Judge.strict"),
        ("refine.prose.md", "file", "refine.prose.md", None),
        ("./a b/refine.prose.md#polish", "file", "./a b/refine.prose.md", "polish"),
        (r"C:\patterns\refine.prose.md", "file", r"C:\patterns\refine.prose.md", None),
        ("model:openai/gpt-4o", "model", "openai/gpt-4o", None),
        ("model:bedrock/us.anthropic:v1", "model", "bedrock/us.anthropic:v1", None),
        ("cmd:rank --by a,b", "command", "rank --by a,b", None),
    ],
)
def test_the_forms(text: str, kind: str, target: str, part: str | None) -> None:
    reference = parse_reference(text, trusted=True)
    assert (reference.kind, reference.target, reference.part) == (kind, target, part)
    assert reference.text == text.strip()
    assert ref(text).reference == reference
    assert str(ref(text)) == text.strip()


@pytest.mark.parametrize(
    "text",
    ["py:os:system", "cmd:rm -rf x", "a.prose.md", "../a.prose.md#x", "/etc/a.prose.md", "model:openai/gpt-4o"],
)
def test_data_cannot_reach_outside(text: str) -> None:
    with pytest.raises(
        CheckError, match=r"only accepted as a literal command-line argument or as `prose\.ref"
    ) as caught:
        parse_reference(text, trusted=False)
    assert caught.value.code == "P109"


@pytest.mark.parametrize("text", ["critic", "stdlib:refine", "std/patterns/refine"])
def test_data_may_name_what_is_known(text: str) -> None:
    assert parse_reference(text, trusted=False) == parse_reference(text, trusted=True)


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an empty text is not a reference"),
        ("two words", "`two words` is not a reference"),
        ("./refine", "looks like a path, but does not end in .prose.md"),
        ("std/patterns/../x", "looks like a path"),
        ("a.prose.md#", "names no entry after `#`"),
        ("cmd: ", "`cmd:` names nothing after `cmd:`"),
        ("py:judges", "`py:judges` is not a Python reference"),
        ("py:judges.py:f()", "is not a Python reference"),
        ("py::f", "is not a Python reference"),
        ("model:gpt-4o", "does not name a model"),
        ("stdlib:../refine", "does not name a pattern of the library"),
        ("stdlb:refine", "did you mean `stdlib:`?"),
        ("http://example.org", "looks like a path"),
        ("x" * 200 + "!", "xxx...` is not a reference"),
    ],
)
def test_what_is_no_reference(text: str, said: str, trusted: bool) -> None:
    with pytest.raises(CheckError) as caught:
        parse_reference(text, trusted=trusted)
    assert caught.value.code == "P109"
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("a", ["a"]),
        ("a, b,c", ["a", "b", "c"]),
        ("a,,b,", ["a", "b"]),
        ("cmd:rank --by a,b", ["cmd:rank --by a,b"]),
        (" cmd:rank a,b", ["cmd:rank a,b"]),
        ("critic,cmd:rank", ["critic", "cmd:rank"]),
    ],
)
def test_lists(text: str, parts: list[str]) -> None:
    assert split_list(text) == parts


class TestImporting:
    def test_a_function_of_a_module_in_this_folder(self, here: Path) -> None:
        (here / "judges_ref.py").write_text("class Judge:\n    def strict(self): return 'strict'\njudge = Judge()\n")
        found = resolve_python(ref("py:judges_ref:judge.strict").reference)
        assert found() == "strict"
        assert str(here) in sys.path

    def test_a_module_that_is_installed(self) -> None:
        assert resolve_python(ref("py:os.path:join").reference) is __import__("os").path.join

    def test_no_such_module(self, here: Path) -> None:
        for text in ("py:no_such_module_here:f", "py:no_such_package.inner:f"):
            with pytest.raises(CheckError, match="there is no Python module `no_such") as caught:
                resolve_python(ref(text).reference)
            assert caught.value.code == "P109"

    def test_no_such_attribute(self, here: Path) -> None:
        (here / "judges_attr.py").write_text("class Judge:\n    def strict(self): ...\n")
        with pytest.raises(CheckError, match="module `judges_attr` has no `Jugde`") as caught:
            resolve_python(ref("py:judges_attr:Jugde").reference)
        assert (caught.value.code, caught.value.hint) == ("P202", "did you mean `Judge`?")
        with pytest.raises(CheckError, match="`Judge` of module `judges_attr` has no `loose`") as caught:
            resolve_python(ref("py:judges_attr:Judge.loose").reference)
        assert (caught.value.code, caught.value.hint) == ("P202", None)

    def test_a_module_that_fails(self, here: Path) -> None:
        (here / "judges_bad.py").write_text("\nimport no_such_dependency\n")
        with pytest.raises(SourceError, match="No module named 'no_such_dependency'") as caught:
            resolve_python(ref("py:judges_bad:f").reference)
        assert (caught.value.code, caught.value.as_diagnostic().line) == ("P103", 2)
