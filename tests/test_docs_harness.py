"""The harness of the documentation finds what is wrong with a page: each of these pages has one fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from documentation_harness import data_faults, fences, programs, stray_blocks
from documentation_programs import program_faults
from documentation_sessions import session_faults

#: Pages, and a part of what is said of each. `~` stands for the marks of a fence.
FAULTY = {
    "another value": ("~prose\nreturn 1 + 1\n~\n\nGives `3`.", "the value is 2, expected 3"),
    "true is not one": ("~prose\nreturn true\n~\n\nGives `1`.", "the value is True, expected 1"),
    "no error": ("~prose\nreturn 1\n~\n\nFails with `P304`.", "expected P304, got None"),
    "another line": (
        "~prose\nlet x = 1\nreturn x / 0\n~\n\nFails with `P304` at line 1.",
        "P304 at line 2, expected 1",
    ),
    "no fault": ("~prose\nreturn 1\n~\n\nRefused with `P201`.", "the page says [('P201', None)], found []"),
    "fault elsewhere": ('~prose\nreturn "{x}"\n~\n\nRefused with `P201` at line 2.', "found [('P201', 1)]"),
    "more faults": ('~prose\nreturn "{x}{y}"\n~\n\nRefused with `P201` at line 1.', "('P201', 1), ('P201', 1)"),
    "no lint": ("~prose\nreturn 1\n~\n\nLint: `re-let` at line 1.", "the page says [('re-let', 1)], found []"),
    "unclaimed fault": ("~prose\nreturn (\n~\n\nThat is all.", "it has errors: [('P102', 1)]"),
    "another call": (
        "~prose\nreturn call a\n  n: 1\n~\n~yaml\n# run\nscript: {a: [x]}\ncalls: [[a, {n: 2}]]\ngives: x\n~",
        "calls [['a', {'n': 1}]], expected [['a', {'n': 2}]]",
    ),
    "unexpected warning": ("~prose\nreturn {}.a\n~\n~yaml\n# run\ngives: null\n~", "warns ['P303 1'], expected []"),
    "nothing expected": ("~prose\nreturn 1\n~\n~yaml\n# run\ninputs: {}\n~", "neither gives, fails nor status"),
    "unknown key": ("~prose\nreturn 1\n~\n~yaml\n# run\ngive: 1\n~", "unknown keys ['give']"),
    "other sections": (
        "~markdown\n### Slots\n\n- `a`: x\n~\n~yaml\n# shows\nslots: [{name: b}]\n~",
        "`prose show --json` tells",
    ),
    "misspelt claim": ("~prose\nreturn 1\n~\n\nGive `2`.", "looks like a claim and is none"),
    "claim of nothing": ("~json\n1\n~\n\nGives `2`.", "looks like a claim and is none"),
    "stray block": ("~yaml\n# run\ngives: 1\n~", "there is no example above it"),
    "unknown kind": ("~rust\nfn main() {}\n~", "nothing checks a fence of the kind `rust`"),
    "no kind": ("~\nanything\n~", "nothing checks a fence of the kind ``"),
    "no json": ("~json\n{,}\n~", "it is not json"),
    "no toml": ("~toml\na = \n~", "it is not toml"),
    "other output": ("~console\n$ echo one\ntwo\n~", "`echo one` printed:\none"),
    "unshown output": ("~console\n$ echo one\n~", "`echo one` printed:\none"),
    "unshown failure": ("~console\n$ false\n~", "`false` ended with 1"),
    "other status": ("~console\n$ (exit 3)\n$ echo $?\n2\n~", "`echo $?` printed:\n3"),
    "other print": ("~python\nprint(1)  # 2\n~", "it printed:\n1"),
    "unshown print": ("~python\nprint(1)\n~", "it printed:\n1"),
    "exception": ("~python\n1 / 0\n~", "ZeroDivisionError"),
}


def page(folder: Path, text: str) -> Path:
    file = folder / "page.md"
    file.write_text(f"# Page\n\n{text.replace('~', '```')}\n", encoding="utf-8")
    return file


def faults(file: Path, folder: Path) -> str:
    found = [fault for example in programs(file) for fault in program_faults(*example)]
    found += [fault for fence in fences(file) for fault in data_faults(fence)]
    found += [*stray_blocks(file), *session_faults(file, folder)]
    return "\n".join(found)


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_of_a_page_is_found(name: str, tmp_path: Path) -> None:
    text, said = FAULTY[name]
    folder = tmp_path / "work"
    folder.mkdir()
    assert said in faults(page(tmp_path, text), folder)


def test_a_page_without_faults(tmp_path: Path) -> None:
    text = """`a.txt`:

~text
one
two
~

~console
$ cat a.txt
one
…
$ wc -l a.txt | tr -d ' '
2a…
$ test -e b.txt
$ echo $?
1
~

~python
print(open("a.txt").read())  # one
#> two
~

~prose
return call a
~
~yaml
# run
script: {a: [1]}
gives: 1
~
"""
    folder = tmp_path / "work"
    folder.mkdir()
    assert faults(page(tmp_path, text), folder) == ""


@pytest.mark.parametrize("text", ["~prose\nreturn 1", "- an item\n  ~prose\n  return 1\n  ~"])
def test_fences_that_cannot_be_read(text: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"never closed|begins at the start"):
        fences(page(tmp_path, text))
