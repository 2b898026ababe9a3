"""What sections say: the interface, slots, config, and how they speak of one another (L3–L5, §9 L3)."""

from __future__ import annotations

import pytest

from prose_lang.diagnostics import Severity
from prose_lang.documents.model import MISSING, Document, Entry
from prose_lang.documents.reader import read_document
from prose_lang.text import Source


def read(sections: str, kind: str = "function") -> Document:
    return read_document(Source("x.prose.md", f"---\nname: x\nkind: {kind}\n---\n{sections}"))


def sound(sections: str) -> Entry:
    document = read(sections)
    assert document.diagnostics == ()
    return document.main


def faults(sections: str) -> list[tuple[str | None, int | None, str]]:
    return [(fault.code or fault.name, fault.line, fault.message) for fault in read(sections).diagnostics]


# --- inputs and outputs ----------------------------------------------------------------------------------------------


def test_the_block_of_a_pattern_instance() -> None:
    main = sound(
        "### Requires\n\n"
        "- Pattern instance receives:\n"
        "    briefs: string[]   -- one brief per member\n"
        "                          OR a single one for all\n"
        "    why: string -- (optional) a reason.\n"
        "                   Default: only errors count.\n"
        "    steps: any[]       -- (optional, default []) — earlier steps\n"
        "\n"
        "    late: run -- after a blank line\n"
        "- `last`: an item of its own\n"
    )
    assert [(item.name, item.type.text, item.optional) for item in main.inputs] == [
        ("briefs", "string[]", False),
        ("why", "string", True),
        ("steps", "any[]", True),
        ("late", "run", False),
        ("last", "any", False),
    ]
    assert main.inputs[0].description == "one brief per member OR a single one for all"
    assert main.inputs[1].default is MISSING
    assert main.inputs[2].default == []


@pytest.mark.parametrize("text", ["Pattern instance receives:", "- The caller gives:", "- Inputs:"])
@pytest.mark.parametrize("bullet", ["", "- ", "* `"])
def test_blocks_in_other_words(text: str, bullet: str) -> None:
    tick = "`" if "`" in bullet else ""
    main = sound(
        f"### Parameters\n{text}\n    {bullet}a{tick}: string -- one\n      over lines\n    {bullet}b{tick}: two\n"
    )
    assert [(item.name, item.description) for item in main.inputs] == [("a", "one over lines"), ("b", "two")]
    assert main.guarantees == ()


def test_a_block_without_items() -> None:
    main = sound("### Requires\n\n- Pattern instance receives:\n\n### Ensures\n\n- `x`: y\n")
    assert main.inputs == ()
    assert not main.open_inputs


def test_continuation_lines_and_nested_lists_belong_to_their_item() -> None:
    main = sound(
        "### Returns\n\n"
        "- `report`: a report\n  in two lines\nand a lazy third, containing:\n"
        "    - `layout`: what is\n      where\n"
        "    - counts: how many\n"
        "\n  and a paragraph\n"
        "* `passed`: boolean\n"
    )
    assert [item.name for item in main.outputs] == ["report", "passed"]
    assert main.outputs[0].description == (
        "a report in two lines and a lazy third, containing:\n"
        "- `layout`: what is where\n"
        "- counts: how many and a paragraph"
    )


def test_prose_is_kept_as_guarantees() -> None:
    main = sound(
        "### Ensures\n\n"
        "- All members get the same brief\n"
        "- Round 1: it starts\n"
        "- Deterministic: the answers agree\n"
        "- if it fails: nothing\n"
        "- postcondition: it is done\n"
        "- The analyst decides:\n  - Stable: they agree\n  - Chaotic: they do not\n"
        "- `result`: the result\n"
        "- `result`: once more\n"
        "\n"
        "A paragraph\nin two lines.\n"
        "\n"
        "### Invariants\n\n- The loop is bounded by `n`\n- `x`: is kept\n"
    )
    assert [item.name for item in main.outputs] == ["result"]
    assert main.guarantees == (
        ("Ensures", "All members get the same brief"),
        ("Ensures", "Round 1: it starts"),
        ("Ensures", "Deterministic: the answers agree"),
        ("Ensures", "if it fails: nothing"),
        ("Ensures", "postcondition: it is done"),
        ("Ensures", "The analyst decides:\n- Stable: they agree\n- Chaotic: they do not"),
        ("Ensures", "`result`: once more"),
        ("Ensures", "A paragraph in two lines."),
        ("Invariants", "The loop is bounded by `n`"),
        ("Invariants", "`x`: is kept"),
    )


def test_bare_names() -> None:
    main = sound(
        "### Requires\n- topic\n- depth - how deep\n- Note: nothing\n- Style: string -- it\n"
        "### Returns\n- text\n- b: c\n"
    )
    assert [item.name for item in main.inputs] == ["topic", "depth", "Style"]
    assert [item.name for item in main.outputs] == ["b"]


@pytest.mark.parametrize(
    "none", ["- None.", "- None. The caller gives all.", "- (none)", "None", "- **None**", "* none: at all"]
)
@pytest.mark.parametrize("section", ["Requires", "Returns", "Slots", "Config", "Services", "Invariants"])
def test_none_means_empty(section: str, none: str) -> None:
    main = sound(f"### {section}\n\n{none}\n")
    assert (main.inputs, main.outputs, main.slots, main.config, main.services, main.guarantees) == ((),) * 6


def test_none_of_them_and_longer_lists_mean_something() -> None:
    assert sound("### Ensures\n- None of them sees the others\n").guarantees == (
        ("Ensures", "None of them sees the others"),
    )
    assert len(sound("### Ensures\n- None.\n- `x`: y\n").outputs) == 1


def test_fences_html_and_deeper_headings_are_not_read() -> None:
    main = sound(
        "### Requires\n\n- `a`: one\n\n```yaml\n- `b`: two\n```\n<!--\n- `c`: three\n-->\n\n"
        "---\n\n#### More\n\n- `d`: four\n"
    )
    assert [item.name for item in main.inputs] == ["a", "d"]


def test_sections_of_one_name_are_read_together_and_without_case() -> None:
    main = sound("### requires\n- `a`: x\n### `PARAMETERS`:\n- `b`: x\n### Requires\n- `c`: x\n")
    assert [item.name for item in main.inputs] == ["a", "b", "c"]


def test_inputs_are_open_only_without_interface_sections() -> None:
    assert sound("### Notes\nx\n").open_inputs
    assert not sound("### Returns\n- `x`: y\n").open_inputs


def test_an_input_declared_twice() -> None:
    assert faults("### Requires\n- `a`: x\n\n### Parameters\n- `b`: x\n- `a`: y\n") == [
        ("P207", 10, "the input `a` is declared twice")
    ]


# --- slots -----------------------------------------------------------------------------------------------------------


def test_slots() -> None:
    main = sound(
        "### Slots\n\n"
        "- `worker` (primary)\n"
        "  - requires: a brief, an optional critique\n"
        "  - ensures: result text\n"
        "- `critic`: judges it\n"
        "  - requires:\n"
        "    - the brief\n"
        "    - the result\n"
        "      of the worker\n"
        "  - maintains: a verdict\n"
        "  - returns: {'decision': 'go'}, or stop\n"
        "- chain: string[] -- in order\n"
        "- other\n"
    )
    worker, critic, chain, other = main.slots
    assert (worker.name, worker.primary, worker.many, worker.description) == ("worker", True, False, "")
    assert (worker.requires, worker.ensures) == (("a brief, an optional critique",), ("result text",))
    assert (critic.primary, critic.description) == (False, "judges it")
    assert critic.requires == ("the brief", "the result of the worker")
    assert critic.ensures == ("a verdict", "{'decision': 'go'}, or stop")
    assert (chain.many, chain.description) == (True, "in order")
    assert (other.name, other.many) == ("other", False)


def test_faults_of_slots() -> None:
    assert faults("### Slots\n- `a`\n- `a`: again\n- the one that works\n- `two words`: x\n") == [
        ("P207", 7, "the slot `a` is declared twice"),
        ("P107", 8, "this item of Slots does not start with a name"),
        ("P107", 9, "this item of Slots does not start with a name"),
    ]


# --- config ----------------------------------------------------------------------------------------------------------


def test_faults_of_config() -> None:
    assert faults(
        "### Config\n- `a`: 1\n- `a`: 2\n- max rounds: 3\n- `c` (integer, default: x): y\n- `d` (integer, default: 3\n"
        "- Note: all of them\n\nAll are optional.\n"
    ) == [
        ("P207", 7, "the config key `a` is declared twice"),
        ("P107", 8, "this item of Config does not start with a name"),
        ("P211", 9, 'the default of `c` is "x", a string, where integer is declared'),
        ("P107", 10, "`d`: this bracket is never closed"),
    ]


# --- agreement -------------------------------------------------------------------------------------------------------


def test_requires_describes_slots_and_keys() -> None:
    main = sound(
        "### Slots\n- `chain`\n- `judge`: decides\n"
        "### Config\n- `rounds` (integer, default: 3): how often\n- `bar`\n- `limit`: a limit\n"
        "### Requires\n"
        "- Pattern instance receives:\n"
        "    chain: string[]  -- the services in order\n"
        "    judge: string    -- the service that judges\n"
        "    rounds: number   -- (optional, default 3)\n"
        "    bar: number      -- (optional, default 0.8) the bar\n"
        "    limit: number    -- a bound\n"
        "    topic: string    -- the topic\n"
    )
    assert [item.name for item in main.inputs] == ["topic"]
    assert [(slot.name, slot.many, slot.description) for slot in main.slots] == [
        ("chain", True, "the services in order"),
        ("judge", False, "decides"),
    ]
    assert [(item.name, item.type.text, item.default, item.optional, item.description) for item in main.config] == [
        ("rounds", "integer", 3, True, "how often"),
        ("bar", "number", 0.8, True, "the bar"),
        ("limit", "number", MISSING, False, "a limit"),
    ]
    assert [item.other_types for item in main.config] == [(), (), ()]


def test_contradictions_are_warnings_and_both_types_count() -> None:
    document = read(
        "### Config\n- `a` (string, default: none): x\n- `b` (integer, default: 3): x\n"
        "### Requires\n- `a`: object -- x\n- `b`: (optional, default 4) x\n"
    )
    assert [(fault.name, fault.severity, fault.line, fault.message) for fault in document.diagnostics] == [
        ("contradiction", Severity.WARNING, 9, "`a` is string in Config and object here"),
        ("contradiction", Severity.WARNING, 10, "`b` has another default in Config, which is the one that counts"),
    ]
    a, b = document.main.config
    assert [kind.text for kind in a.other_types] == ["object"]
    assert (a.default, b.default) == (None, 3)


def test_a_default_of_requires_must_fit_the_key() -> None:
    assert faults("### Config\n- `a` (integer): x\n### Requires\n- `a`: any -- (optional, default many) x\n") == [
        ("P211", 8, 'the default of `a` is "many", a string, where integer is declared')
    ]


def test_a_slot_against_a_config_key() -> None:
    document = read("### Slots\n- `a`\n### Config\n- `a`: 1\n")
    (fault,) = document.diagnostics
    assert (fault.code, fault.line, fault.hint) == ("P207", 8, "the other one is on line 6")
    assert fault.message == "`a` is declared both as a slot and as a config key"
