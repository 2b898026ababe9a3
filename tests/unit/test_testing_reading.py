"""Test files as they are read: scenarios, what they share, and every fault at its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from testing_texts import HEAD, faults, read

from prose_lang import SourceError
from prose_lang.documents.reader import read_document
from prose_lang.testing import collect
from prose_lang.testing.files import test_files as files_of
from prose_lang.text import Source


def fixtures(text: str) -> list[tuple[str, object, bool]]:
    [scenario] = read(HEAD + "### Fixtures\n" + text).scenarios
    return [(fixture.name, fixture.value, fixture.written) for fixture in scenario.fixtures]


def test_a_file_without_headings_is_one_scenario() -> None:
    file = read(HEAD + "# Title\n### Fixtures\n- `task_brief`: x\n### Expects\n- `result`: exists\n")
    [scenario] = file.scenarios
    assert (scenario.name, scenario.line, scenario.file) == ("some-tests", 1, "some.test.prose.md")
    assert [(item.path, item.text) for item in scenario.expectations] == [("result", "exists")]
    assert file.diagnostics == ()


def test_every_second_level_heading_is_a_scenario_with_any_text_for_a_name() -> None:
    file = read(HEAD + "## The *first*: one?\n### Expects\n- a\n## 2\n")
    assert [(scenario.name, scenario.line) for scenario in file.scenarios] == [("The *first*: one?", 6), ("2", 9)]


def test_a_heading_with_the_sections_of_an_entry_is_an_entry() -> None:
    file = read(
        HEAD + "## helper\n### Execution\n```prose\nreturn 1\n```\n## scenario\n### Expects\n- `value`: exists\n"
    )
    assert [scenario.name for scenario in file.scenarios] == ["scenario"]
    assert [entry.name for entry in file.document.entries] == ["some-tests", "helper"]


def test_what_stands_before_the_first_scenario_is_shared() -> None:
    text = (
        "### Fixtures\n- `a`: 1\n- `b`: 2\n### Services\n```yaml\nx: [1]\ny: [2]\n```\n### Expects\n- shared\n"
        "## one\n### Fixtures\n- `b`: 3\n### Services\n```yaml\ny: [4, 5]\n```\n### Expects Not\n- own\n## two\n"
    )
    one, two = read(HEAD + text).scenarios
    assert {fixture.name: fixture.value for fixture in one.fixtures} == {"a": "1", "b": "3"}
    assert {fixture.name: fixture.value for fixture in two.fixtures} == {"a": "1", "b": "2"}
    assert {name: len(replies) for name, replies in one.replies.replies.items()} == {"x": 1, "y": 2}
    assert {name: len(replies) for name, replies in two.replies.replies.items()} == {"x": 1, "y": 1}
    assert [(item.text, item.negated) for item in one.expectations] == [("shared", False), ("own", True)]
    assert [item.text for item in two.expectations] == ["shared"]


@pytest.mark.parametrize(
    ("text", "value", "written"),
    [
        ("- `a`: two words", "two words", True),
        ("* a: 3", "3", True),
        ('- `a`: "quoted: text"', "quoted: text", False),
        ("- `a`: 'x'", "x", False),
        ('- `a`: ""', "", False),
        ('- `a`: "half', '"half', True),
        ("- `a`: one\n  and two\n", "one and two", True),
        ("- `a`: |\n    one\n      two\n\n    # three\n    - four\n", "one\n  two\n\n# three\n- four", False),
        ("- `a`: |\n  ```yaml\n  b: 1\n  ```\n", "```yaml\nb: 1\n```", False),
        ("- `a`: |\n", "", False),
        ("- `a`: a | b", "a | b", True),
        ("- `a`\n  : b", "b", True),
        ("```yaml\na: [1, {b: null}]\n```", [1, {"b": None}], False),
        ('```json\n{"a": true}\n```', True, False),
        ("- `a`: {b: 1}", "{b: 1}", True),
    ],
)
def test_a_fixture(text: str, value: object, written: bool) -> None:
    assert fixtures(text) == [("a", value, written)]


@pytest.mark.parametrize("text", ["- None.", "Only words.", "```yaml\n```", "```yaml\n# nothing\n```"])
def test_no_fixtures(text: str) -> None:
    assert fixtures(text) == []


@pytest.mark.parametrize(
    ("item", "path", "text"),
    [
        ('- `result`: contains "x"', "result", 'contains "x"'),
        ("- `score` is at least 1", "score", "is at least 1"),
        ("- `a.b[0].c`: exists", "a.b[0].c", "exists"),
        ('- `a["a key"]`: exists', 'a["a key"]', "exists"),
        ("- `__error.md`: exists", "__error.md", "exists"),
        ("- result: exists", "result", "exists"),
        ("- Note: this is a sentence", None, "Note: this is a sentence"),
        ("- score meets 0.8", None, "score meets 0.8"),
        ("- `not a path`: x", None, "`not a path`: x"),
        ("- it goes\n  on", None, "it goes on"),
    ],
)
def test_an_expectation(item: str, path: str | None, text: str) -> None:
    [scenario] = read(HEAD + "### Expects\n" + item).scenarios
    [found] = scenario.expectations
    assert (found.path, found.text) == (path, text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("## a\n## a\n", ["P207 7:1 the scenario `a` is declared twice"]),
        ("## \n### Expects\n- x\n", ["P107 6:1 this scenario has no name"]),
        ("### Fixtures\n- `a`: 1\n- `a`: 2\n", ["P207 8:4 the fixture `a` is declared twice"]),
        ("### Fixtures\n- just words\n", ["P107 7:3 this item of Fixtures does not give a name a value"]),
        ("### Fixtures\n- `a`:\n", ["P107 7:4 `a` has no value"]),
        ("### Fixtures\n- `a`: >\n  x\n", ["P107 7:8 the lines of `a` cannot be told"]),
        ("### Fixtures\n- `a`: 1\n  - b\n", ["P107 8:5 `a` has items below it"]),
        ("### Fixtures\n```\na: 1\n```\n",
         ["P107 7:1 a block without a word after its marks under Fixtures is not read"]),
        ("### Fixtures\n```yaml\n[1]\n```\n",
         ["P107 8:1 this must be an object, not a list: the names of the subject and their values"]),
        ("### Fixtures\n```yaml\na: [1\n```\n",
         ["P107 9:1 this is not YAML: expected ',' or ']', but got '<stream end>'"]),
        ("### Services\n- `refiner`: hello\n",
         ["P107 7:3 the services of a scenario are replies by name, in a fenced block"]),
        ("### Services\n```yaml\na: 1\n```\n", ["P107 8:4 `a` must be a list of replies, or `{always: REPLY}`"]),
        ("### Services\n```yaml\na: [{returns: 1, delay: x}]\n```\n",
         ["P211 8:25 `delay` must be a number of seconds, 0 or more"]),
        ("### Services\n```yaml\na: [1]\n```\n```yaml\na: [2]\n```\n", ["P207 10:1 two blocks have replies of `a`"]),
        ("### Services\n~~~text\nx\n~~~\n", ["P107 7:1 a `text` block under Services is not read"]),
        ("### Expects\n- `a`: x\n  - nested\n",
         ["P107 8:5 an expectation is one item; this one stands inside of another"]),
        ("### Expects\n- 1 + 1 == 2\n", ["P107 7:3 this expectation looks at nothing of the result"]),
        ('### Expects Not\n- "x" == "y"\n', ["P107 7:3 this expectation looks at nothing of the result"]),
        ("### Expects Not\n```yaml\nvalue: 1\n```\n", ["P107 7:1 Expects Not takes items, not a block"]),
        ("### Expect\n- x\n", ["P107 6:1 a scenario has no section `Expect`"]),
        ("## a\n### Fixture\n- `x`: 1\n", ["P107 7:1 a scenario has no section `Fixture`"]),
        ("### Expects\n```yaml\nvalue: 1\n", ["P107 7:1 this block is never closed"]),
    ],
)  # fmt: skip
def test_faults_are_told_at_their_place(text: str, found: list[str]) -> None:
    assert faults(HEAD + text) == found


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ("vale: 1", "P107 8:1 a scenario expects no `vale`"),
        ("calls: 1", "P211 8:8 `calls` is a list of calls, not a number"),
        ("calls: [a]", "P107 8:9 this is not how a call is written"),
        ("calls: [[a]]", "P107 8:9 this is not how a call is written"),
        ("calls: [[1, {}]]", "P107 8:9 this is not how a call is written"),
        ("calls_count: -1", "P211 8:14 `calls_count` is a whole number from 0, not a number"),
        ("calls_count: true", "P211 8:14 `calls_count` is a whole number from 0, not a boolean"),
        ("status: fine", "P211 8:9 this is no status of a run"),
        ("error: P999", "P211 8:8 there is no code `P999`"),
        ("error: 1", "P211 8:8 `error` cannot be a number"),
        ("error: {}", "P211 8:8 `error` cannot be an object"),
        ("error: {kind: x}", "P107 8:9 an error has no `kind`"),
        ("error: {line: x}", "P211 8:15 the line of an error is a whole number, not a string"),
        ("error: {code: P000}", "P211 8:15 there is no code `P000`"),
        ("decisions: [x]", "P107 8:13 a decision is an object, not a string"),
        ("decisions: [{why: x}]", "P107 8:14 a decision has no `why`"),
        ("warnings: [P303 x]", "P107 8:12 a warning is written `CODE` or `CODE LINE`"),
        ("warnings: [P999]", "P107 8:12 a warning is written `CODE` or `CODE LINE`"),
    ],
)
def test_faults_of_exact_expectations(block: str, found: str) -> None:
    assert faults(HEAD + f"### Expects\n```yaml\n{block}\n```\n") == [found]


def test_hints_name_what_may_be_meant() -> None:
    hints = [item.hint for item in read(HEAD + "### Expects\n```yaml\nvalues: 1\nstatus: fail\n```\n").diagnostics]
    assert hints == ["did you mean `value`?", "did you mean `failed`?"]


@pytest.mark.parametrize(
    ("front", "found"),
    [
        ("kind: test", ["P106 1:1 the test does not say what its subject is"]),
        ("kind: test\nsubject: 3", ["P106 3:10 the subject of a test must be a name"]),
        ("kind: test\nsubject: ''", ["P106 3:10 the subject of a test must be a name"]),
        ("kind: function\nname: x", ["P106 1:1 `some.test.prose.md` is a function, not a test"]),
        ("kind: tset", ["P106 2:7 there is no kind `tset`"]),
    ],
)
def test_faults_of_the_frontmatter(front: str, found: list[str]) -> None:
    assert faults(f"---\n{front}\n---\n### Expects\n- `value`: exists\n") == found


def test_other_texts_are_no_tests() -> None:
    assert faults("") == ["P106 1:1 the file does not start with frontmatter"]
    assert faults("return 1\n") == ["P106 1:1 `some.test.prose.md` is a pattern, not a test"]


def test_a_fault_breaks_its_own_scenario_and_one_in_what_is_shared_breaks_all() -> None:
    one, two = read(HEAD + "## one\n### Expect\n- x\n## two\n### Expects\n- `value`: exists\n").scenarios
    assert [len(scenario.faults) for scenario in (one, two)] == [1, 0]
    one, two = read(HEAD + "### Fixtures\n- x\n## one\n## two\n").scenarios
    assert [len(scenario.faults) for scenario in (one, two)] == [1, 1]


def test_other_sections_and_prose_are_documentation() -> None:
    text = (
        "### Fixtures\nAbout.\n\n- `a`: 1\n\n### Notes\n\n```\nanything\n```\n## one\nSome words.\n### Why\n- because\n"
    )
    assert faults(HEAD + text) == []


def test_windows_line_breaks_and_a_byte_order_mark() -> None:
    text = HEAD + "## a\n### Fixtures\n- `a`: |\n    x\n    y\n### Services\n```yaml\ns:\n  - |\n    p\n    q\n```\n"
    plain, windows = read(text), read("\ufeff" + text.replace("\n", "\r\n"))
    for file in (plain, windows):
        [scenario] = file.scenarios
        assert [fixture.value for fixture in scenario.fixtures] == ["x\ny"]
        assert scenario.replies.replies["s"][0].value == "p\nq\n"
    broken = (HEAD + "### Services\n```yaml\na: [1]\nb: 2\n```\n").replace("\n", "\r\n")
    assert faults("\ufeff" + broken) == ["P107 9:4 `b` must be a list of replies, or `{always: REPLY}`"]


def test_an_indented_block_keeps_its_places() -> None:
    text = HEAD + "### Services\n- words\n\n  ```yaml\n  a: 1\n  ```\n"
    assert faults(text)[1:] == ["P107 10:6 `a` must be a list of replies, or `{always: REPLY}`"]


def test_entries_of_other_files_are_read_as_before() -> None:
    document = read_document(Source("x", "---\nkind: function\n---\n## a\n### Returns\n- `x`: y\n"))
    assert (document.test, len(document.entries)) == (None, 2)


# --- files -----------------------------------------------------------------------------------------------------------


def test_collecting_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.test.prose.md"
    path.write_text(HEAD + "## one\n", encoding="utf-8")
    file = collect(path)
    assert (file.name, file.path, [scenario.name for scenario in file.scenarios]) == (str(path), path, ["one"])


@pytest.mark.parametrize("data", [b"\xff\xfe1", b"---\nname: \xe9\n---\n", b"a\0b"])
def test_files_that_hold_no_text(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.test.prose.md"
    path.write_bytes(data)
    with pytest.raises(SourceError) as caught:
        collect(path)
    assert caught.value.code == "P103"


def test_a_folder_means_the_tests_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.test.prose.md", "a.prose.md", "sub/a.test.prose.md", ".git/x.test.prose.md", "empty/readme.md"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(HEAD)
    assert list(files_of(".")) == ["b.test.prose.md", "sub/a.test.prose.md"]
    assert list(files_of("a.prose.md")) == ["a.prose.md"]
    with pytest.raises(SourceError, match="the folder `empty` holds no tests"):
        list(files_of("empty"))
