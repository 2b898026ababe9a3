"""Whole documents: frontmatter, entries, bodies, faults and their places, and texts that nobody meant (L1, L2, L6)."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest

from prose_lang.documents.faults import Faults
from prose_lang.documents.frontmatter import read_frontmatter
from prose_lang.documents.model import Document, Entry, Fence, Item, Slot
from prose_lang.documents.page import Page
from prose_lang.documents.reader import name_of_file, read_document
from prose_lang.text import Source
from prose_lang.values.yaml import load_yaml

LOOP = """\
---
name: polish
kind: pattern
version: 0.2.0
---

# Polish

A text is improved in rounds.

### Metadata

- `role`: coordinator

### Slots

- `writer` (primary)
  - requires: topic, notes of the reader
  - ensures: the text
- `reader`

### Config

- `rounds` (integer, default: 3): How many rounds at most
- `bar` (number, default: 0.8): The score that is good enough

### Invariants

- There are never more than `rounds` rounds

### Shape

- `self`: keep the rounds
- `prohibited`: none

### Requires

- Pattern instance receives:
    writer: string     -- the service that writes
    reader: string     -- the service that reads
    topic: string      -- what to write about
    rounds: number     -- (optional, default 3)
    bar: number        -- (optional, default 0.8) when to stop

### Ensures

- Round 1: the writer starts from the topic
- `text`: the last text
- `score`: its score

### Delegation

The reader sees the text only.

```prose
let text = null
### this is a comment of the body
return { text: text, score: 0 }
```

### Notes

The writer does not know about the reader.
"""

FAN = """\
---
name: choir
kind: pattern
---

# Choir

### Slots

- `singers`
- `conductor` (primary)

### Config

- None. The singers are bound with `with:`.

### Parameters

- Pattern instance receives:
    singers: string[]   -- services in order
    conductor: string   -- who puts it together
    scores: string[]    -- one score per singer
                           OR one for all

### Returns

- `song`: all voices together
- `voices`: the single voices

The song has as many voices as there are singers.

### Delegation

```prose
return { song: null, voices: singers }
```
"""


def read(text: str, name: str = "x.prose.md") -> Document:
    return read_document(Source(name, text))


def faults(text: str) -> list[tuple[str | None, int | None, str]]:
    return [(fault.code or fault.name, fault.line, fault.message) for fault in read(text).diagnostics]


def named(entry: Entry) -> list[Item | Slot]:
    return [*entry.slots, *entry.config, *entry.inputs, *entry.outputs]


def content(document: Document, fence: Fence | None) -> str:
    assert fence is not None
    return document.source.text[fence.span.start : fence.span.end]


# --- whole files -----------------------------------------------------------------------------------------------------


def test_a_pattern_with_a_loop() -> None:
    document = read(LOOP)
    main = document.main
    assert document.diagnostics == ()
    assert (document.name, document.kind, dict(document.frontmatter)) == (
        "polish",
        "pattern",
        {"name": "polish", "kind": "pattern", "version": "0.2.0"},
    )
    assert (main.title, main.description) == ("Polish", "A text is improved in rounds.")
    assert [section.name for section in main.sections] == [
        "Metadata", "Slots", "Config", "Invariants", "Shape", "Requires", "Ensures", "Delegation", "Notes",
    ]  # fmt: skip
    assert [slot.name for slot in main.slots] == ["writer", "reader"]
    assert [(item.name, item.type.text, item.default) for item in main.config] == [
        ("rounds", "integer", 3),
        ("bar", "number", 0.8),
    ]
    assert [(item.name, item.type.text, item.optional) for item in main.inputs] == [("topic", "string", False)]
    assert [item.name for item in main.outputs] == ["text", "score"]
    assert main.guarantees == (
        ("Invariants", "There are never more than `rounds` rounds"),
        ("Ensures", "Round 1: the writer starts from the topic"),
    )
    assert content(document, main.body).startswith("let text = null\n### this is")
    assert content(document, main.body).endswith("score: 0 }\n")
    assert (main.body.info, main.body.indent) == ("prose", 0) if main.body else False


def test_a_pattern_with_a_slot_for_many() -> None:
    document = read(FAN)
    main = document.main
    assert document.diagnostics == ()
    assert [(slot.name, slot.many, slot.primary, slot.description) for slot in main.slots] == [
        ("singers", True, False, "services in order"),
        ("conductor", False, True, "who puts it together"),
    ]
    assert main.config == ()
    assert [(item.name, item.type.text, item.description) for item in main.inputs] == [
        ("scores", "string[]", "one score per singer OR one for all")
    ]
    assert main.guarantees == (("Returns", "The song has as many voices as there are singers."),)


def test_spans_are_places_in_the_file() -> None:
    document = read(LOOP)
    text = document.source.text
    main = document.main
    for thing in named(main):
        assert text[thing.span.start : thing.span.end] == thing.name
    for section in main.sections:
        assert text[section.heading.start : section.heading.end] == f"### {section.name}"
        assert text[section.content.start - 1] == "\n"
    slots = main.section("slots")
    assert slots is not None
    assert text[slots.content.start : slots.content.end].strip().splitlines()[0] == "- `writer` (primary)"
    assert text[main.span.start : main.span.end] == LOOP[: LOOP.index("\n\n# Polish")]
    fence = main.body
    assert fence is not None
    assert text[fence.fence_span.start : fence.fence_span.end].startswith("```prose\nlet")
    assert text[fence.fence_span.start : fence.fence_span.end].endswith("}\n```")


@pytest.mark.parametrize("text", [LOOP, FAN])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_breaks_and_byte_order_marks_change_nothing(text: str, bom: str, newline: str) -> None:
    plain, other = read(text), read(bom + text.replace("\n", newline))
    assert other.diagnostics == ()
    one, two = plain.main, other.main
    assert content(other, two.body) == content(plain, one.body).replace("\n", newline)
    assert [item.description for item in two.inputs] == [item.description for item in one.inputs]
    assert two.guarantees == one.guarantees
    for thing in named(two):
        assert other.source.text[thing.span.start : thing.span.end] == thing.name
    places = [other.source.position(item.span.start) for item in two.outputs]
    assert places == [plain.source.position(item.span.start) for item in one.outputs]


def test_no_final_line_break() -> None:
    document = read(FAN.rstrip("\n"))
    assert document.diagnostics == ()
    assert content(document, document.main.body) == "return { song: null, voices: singers }\n"


def test_tabs_in_prose() -> None:
    document = read("---\nname: x\nkind: function\n---\n### Requires\n\n-\t`a`: a\ttext\n\tgoing on\n-\t`b`: x\n")
    assert [(item.name, item.description) for item in document.main.inputs] == [("a", "a\ttext going on"), ("b", "x")]


# --- frontmatter -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("front", "line", "message", "hint"),
    [
        ("name: x", 1, "the frontmatter does not say what `kind` of file this is", None),
        ("name: x\nkind: patern", 3, "there is no kind `patern`", "did you mean `pattern`?"),
        ("name: x\nkind: 3", 3, "there is no kind `3`", None),
        ("name: 3\nkind: pattern", 2, "the name of a file must be a text", "put it in quotes"),
        ("name: ''\nkind: pattern", 2, "the name of a file must be a text", None),
        ("name: a: b\nkind: pattern", 2, "this is not YAML: mapping values are not allowed here", None),
        ("- a\n- b", 2, "the frontmatter must be lines of `key: value`", None),
        ("name: a\nname: b\nkind: pattern", 3, "the key `name` is repeated; it first stands on line 2", None),
    ],
)
def test_faults_of_frontmatter(front: str, line: int, message: str, hint: str | None) -> None:
    document = read(f"---\n{front}\n---\n\n### Slots\n\n- `a`\n")
    (fault,) = document.diagnostics  # and not one more for the body that is missing too
    assert (fault.code, fault.line, fault.message) == ("P106", line, message)
    if hint:
        assert fault.hint == hint
    assert [slot.name for slot in document.main.slots] == ["a"]


def test_frontmatter_that_is_never_closed() -> None:
    document = read("---\nname: broken\n\n### Slots\n\n- `a`\n")
    (fault,) = document.diagnostics
    assert (fault.code, fault.line, fault.column) == ("P106", 1, 1)
    assert [slot.name for slot in document.main.slots] == ["a"]


def test_frontmatter_in_full_yaml() -> None:
    document = read('--- \nname: "x"   # a comment\nkind: test\nsubject: y\ntags: [a, b]\ndate: 2024-01-01\n...\n')
    assert document.diagnostics == ()
    assert dict(document.frontmatter) == {
        "name": "x", "kind": "test", "subject": "y", "tags": ["a", "b"], "date": "2024-01-01",
    }  # fmt: skip


def test_the_name_may_come_from_the_file() -> None:
    assert read("---\nkind: function\n---\n", "patterns/hello.prose.md").name == "hello"
    assert [name_of_file(name) for name in ("a.md", "dir\\b.prose.md", "stdlib:c", "<text>", "", "x.y.prose.md")] == [
        "a", "b", "c", "anonymous", "anonymous", "x.y",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "kind", ["function", "service", "program", "component", "system", "responsibility", "gateway", "test"]
)
def test_kinds_that_need_no_body(kind: str) -> None:
    document = read(f"---\nname: x\nkind: {kind}\n---\n")
    assert (document.kind, document.main.kind, document.main.body, document.diagnostics) == (kind, kind, None, ())


def test_the_fast_way_reads_as_yaml_does() -> None:
    words = [
        "a",
        "yes",
        "True",
        "nullx",
        "null",
        "NULL",
        "tRuE",
        "0.15.0",
        "1.0",
        "a-b",
        "a_",
        "1",
        "a b",
        "",
        "a:",
        "x  ",
    ]
    chance = random.Random(1)
    for _ in range(300):
        keys = chance.sample(["name", "kind", "x-y", "z_"], 3)
        lines = [f"{key}:{chance.choice([' ', '  ', ''])}{chance.choice(words)}" for key in keys]
        text = "\n".join(["---", *lines, "---", ""])
        source = Source("x", text)
        found = read_frontmatter(Page.of(source), Faults(source))
        node, faulty = load_yaml("\n".join(lines), source, code="P106")
        assert found is not None
        if node is not None and not faulty and isinstance(node.value, dict):
            assert dict(found.fields) == node.value, lines


def test_neither_yaml_nor_markdown_is_loaded_without_need() -> None:
    code = (
        "import sys; from prose_lang.documents.reader import read_document; from prose_lang.text import Source;"
        f"d = read_document(Source('x', {LOOP!r})); assert not d.diagnostics;"
        "print([m for m in ('ruamel.yaml', 'markdown_it', 'lark', 'difflib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- no frontmatter --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "let x = 1\nreturn x\n",
        "# a comment\n## another\nreturn 1\n",
        "\ufeff\n\nreturn 1",
        'return """\n### Output\n```\n"""\n',
        "#!/usr/bin/env prose\nreturn 1\r\n",
    ],
)
def test_a_bare_body_is_an_anonymous_pattern(text: str) -> None:
    document = read(text, "-")
    assert document.anonymous
    assert (document.name, document.kind, document.diagnostics) == ("anonymous", "pattern", ())
    assert content(document, document.main.body) == text.removeprefix("\ufeff")
    assert document.main.open_inputs
    assert (document.main.slots, document.main.sections) == ((), ())


@pytest.mark.parametrize(
    "text", ["### Slots\n- `a`\n", "# Title\n\n### Slots\n", "# T\n\n```prose\nreturn 1\n```\n", "", " \n\n"]
)
def test_markdown_without_frontmatter(text: str) -> None:
    document = read(text)
    (fault,) = document.diagnostics
    assert not document.anonymous
    assert (fault.code, fault.line, fault.message) == ("P106", 1, "the file does not start with frontmatter")


def test_frontmatter_after_a_blank_line_is_none() -> None:
    assert faults("\n---\nname: x\nkind: function\n---\n### Requires\n") == [
        ("P106", 1, "the file does not start with frontmatter")
    ]


# --- entries ---------------------------------------------------------------------------------------------------------


def test_inline_entries() -> None:
    document = read(
        "---\nname: x\nkind: function\n---\n# Title\n\nText.\n\n### Returns\n- `a`: b\n\n---\n\n"
        "## `writer`\n\nWrites\nit.\n\n### Parameters\n- `topic`: x\n#### Deeper\n- `more`: y\n\n"
        "## loop\n### Slots\n- `s`\n### Delegation\n```prose\nreturn 1\n```\n"
        "# Another title\n\n### Config\n- `n`: 1\n"
    )
    assert document.diagnostics == ()
    main, writer, loop = document.entries
    assert (main.name, main.title, main.description) == ("x", "Title", "Text.")
    assert (writer.name, writer.kind, writer.title, writer.description) == (
        "writer",
        "function",
        "`writer`",
        "Writes\nit.",
    )
    assert [item.name for item in writer.inputs] == ["topic", "more"]
    assert document.source.text[writer.span.start : writer.span.end] == "## `writer`"
    assert (loop.name, loop.kind) == ("loop", "pattern")
    assert [item.name for item in loop.config] == ["n"]
    assert document.entry("writer") is writer
    assert document.entry("x") is None


def test_two_inline_entries_of_one_name() -> None:
    document = read("---\nname: x\nkind: function\n---\n## a\n### Returns\n- `b`: c\n## a\n")
    (fault,) = document.diagnostics
    assert (fault.code, fault.line, fault.message) == ("P207", 8, "the entry `a` is declared twice")
    assert fault.hint == "it is declared first on line 5"
    assert len(document.entries) == 2


def test_description_section() -> None:
    assert read("---\nname: x\nkind: function\n---\n### Description\n\nIt is.\n").main.description == "It is."


# --- bodies ----------------------------------------------------------------------------------------------------------

HEAD = "---\nname: x\nkind: pattern\n---\n"


def test_a_body_in_a_list_item() -> None:
    document = read(HEAD + "### Delegation\n\n1. First:\n\n   ```prose\n   let x = 1\n   return x\n   ```\n")
    body = document.main.body
    assert body is not None
    assert (body.indent, content(document, body)) == (3, "   let x = 1\n   return x\n")
    assert document.diagnostics == ()


def test_fences_that_are_no_bodies() -> None:
    document = read(
        HEAD + "### Delegation\n\n````markdown\n```prose\nx\n```\n````\n\n```prose\ny\n```\n\n```yaml\n- z\n```\n"
    )
    assert document.diagnostics == ()
    assert content(document, document.main.body) == "y\n"


@pytest.mark.parametrize(
    ("sections", "line", "hint"),
    [
        ("### Slots\n- `a`\n", 1, "add a section `### Delegation` with a block that starts with ```prose"),
        ("### Delegation\n\nreturn 1\n", 5, "put the body into a block that starts with ```prose"),
        ("### Delegation\n\n```\nreturn 1\n```\n", 5, "put the body into a block that starts with ```prose"),
        ("### Delagation\n\n```prose\nreturn 1\n```\n", 5, "is `### Delagation` meant to be `### Delegation`?"),
    ],
)
def test_a_pattern_without_a_body(sections: str, line: int, hint: str) -> None:
    (fault,) = read(HEAD + sections).diagnostics
    assert (fault.code, fault.line, fault.message, fault.hint) == ("P105", line, "the pattern `x` has no body", hint)


@pytest.mark.parametrize("heading", ["", "### Notes\n\n", "### Delegation\n\n", "### Execution\n\n"])
def test_two_bodies(heading: str) -> None:
    document = read(HEAD + f"### Delegation\n\n```prose\na\n```\n\n{heading}~~~ prose\nb\n~~~\n")
    if "Notes" in heading:
        assert document.diagnostics == ()
    else:
        (fault,) = document.diagnostics
        assert (fault.code, fault.line) == ("P105", 13 if heading else 11)
        assert (fault.message, fault.hint) == (
            "an entry has one body, and this is a second one",
            "the first one starts on line 7",
        )
    assert content(document, document.main.body) == "a\n"


def test_a_prosescript_block_is_not_a_body() -> None:
    document = read("---\nname: x\nkind: function\n---\n### Execution\n\n```prosescript\nx\n```\n")
    (warning,) = document.diagnostics
    assert (warning.code, warning.name, warning.severity.value, warning.line) == (None, "ignored-fence", "warning", 7)
    assert document.main.body is None


def test_a_block_that_is_never_closed() -> None:
    document = read(HEAD + "### Delegation\n\n```prose\nreturn 1\n\n### Notes\n")
    (fault,) = document.diagnostics
    assert (fault.code, fault.line, fault.message) == ("P107", 7, "this block is never closed")
    assert document.source.text[slice(*fault.span or (0, 0))] == "```prose"
    assert content(document, document.main.body) == "return 1\n\n### Notes\n"


def test_all_faults_are_reported_in_their_order() -> None:
    slots, config = "### Slots\n- `a`\n- `a`\n", "### Config\n- `a`: 1\n- `n` (integer, default: x)\n"
    found = faults(f"{HEAD}{slots}{config}### Requires\n- `b`: c\n- `b`: d\n")
    assert [(code, line) for code, line, _ in found] == [
        ("P105", 1),
        ("P207", 7),
        ("P207", 9),
        ("P211", 10),
        ("P207", 13),
    ]


# --- texts that nobody meant -----------------------------------------------------------------------------------------

YAML = """---
name: outer
kind: function
tags: [a, "b"]
---
### Services

```yaml
- one
- name: two
  pattern: three
  with: {slot: [a, {pattern: b}]}
  config: {n: 1, m: "x"}
```

> quoted
> ```prose

## inner
### Parameters
- `a`: string | null -- (optional, default {'a': [1, 2]}, {"b": null}) text
"""


@pytest.mark.parametrize("seed", range(300))
def test_mutated_documents_are_read_without_raising(seed: int) -> None:
    chance = random.Random(seed)
    text = chance.choice([LOOP, FAN, YAML])
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(text) + 1)
        match chance.randrange(5):
            case 0:
                text = text[:at] + chance.choice("\0\t\r\n`'\"()[]{}:;,-#*>|<&!?\\\ufeff\u2028é\ud800 ") + text[at:]
            case 1:
                text = text[:at] + text[at + chance.randint(1, 20) :]
            case 2:
                text = text[:at] if chance.random() < 0.3 else text
            case 3:
                text = text[:at] + text[at : at + 200] + text[at:]
            case _:
                text = (
                    text[:at]
                    + chance.choice(["---\n", "```", "### ", "\n\n", "- `", "    ", "<!--", '"""'])
                    + text[at:]
                )
    document = read(text)
    for fault in document.diagnostics:
        assert fault.span is not None
        assert 0 <= fault.span.start <= fault.span.end <= len(text) + 1
        assert fault.line is not None
    for entry in document.entries:
        for thing in named(entry):
            assert text[thing.span.start : thing.span.end] == thing.name


@pytest.mark.parametrize(
    "text",
    [
        LOOP + "<b>\n\n" + "- " * 10_000 + "x\n",
        LOOP + "<b>\n\n" + ">" * 10_000 + "x\n",
        LOOP + "<b>\n\n" + "".join("  " * depth + "- a\n" for depth in range(1_000)),
        LOOP + "".join("  " * depth + "- `a`: b\n" for depth in range(1_000)),
        HEAD + "### Config\n- `a` (" + "(" * 100_000 + "\n",
        HEAD + "### Config\n- `a`: " + "[" * 100_000 + "\n",
        HEAD + "### Requires\n- `a`: " + "default [" * 10_000 + "\n",
        HEAD + "### Services\n```yaml\n" + "[" * 50_000 + "\n```\n",
        "---\n" + "? " * 10_000 + "\n---\n",
        HEAD + "x" * 5_000_000,
        HEAD + "### Requires\n- `a`: " + "- " * 500_000,
        "y" * 5_000_000,
    ],
    ids=lambda text: f"{len(text)}-{text[60:80]!r}",
)
def test_texts_that_are_meant_to_hurt(text: str) -> None:
    start = time.perf_counter()
    read(text)
    assert time.perf_counter() - start < 10  # they take well below a second; what hangs takes minutes
