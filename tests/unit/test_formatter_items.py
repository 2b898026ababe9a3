"""`--all`: the list items of sections that declare something."""

from __future__ import annotations

import pytest

from prose_lang.formatter import format_source
from prose_lang.formatter.items import format_items
from prose_lang.text import Source

HEAD = "---\nname: some\nkind: pattern\n---\n"


def items(section: str, *lines: str) -> list[str]:
    """The lines of a section after formatting."""
    text = f"{HEAD}\n### {section}\n\n" + "\n".join(lines) + "\n"
    return format_items(Source("some.prose.md", text)).removeprefix(f"{HEAD}\n### {section}\n\n").splitlines()


@pytest.mark.parametrize(
    ("section", "written", "wanted"),
    [
        ("Slots", "* worker", "- `worker`"),
        ("Slots", "-   `worker`   (primary)", "- `worker` (primary)"),
        ("Slots", "+ **worker** — does it", "- `worker`: does it"),
        ("Slots", "* **worker:**  does it", "- `worker`: does it"),
        ("Config", "- max_rounds  (integer, default: 3) :  how many", "- `max_rounds` (integer, default: 3): how many"),
        ("Config", "- `n`:3", "- `n`: 3"),
        ("Config", "- n: integer, default `2`", "- `n`: integer, default `2`"),
        ("Parameters", "- topic -- what it is about", "- `topic`: what it is about"),
        ("Requires", "- topic: string   -- what it is about", "- `topic`: string   -- what it is about"),
        ("Requires", "- topic - (optional) the topic", "- `topic`: (optional) the topic"),
        ("Ensures", "* sum: of all  ", "- `sum`: of all  "),
        ("Ensures", "* Everything  is: fine", "- Everything  is: fine"),
        ("Ensures", "- postcondition: it ends", "- postcondition: it ends"),
        ("Invariants", "* never: this", "- never: this"),
        ("Notes", "* as  it: is", "* as  it: is"),
        ("Config", "None.", "None."),
        ("Config", "* none", "* none"),
    ],
)
def test_item(section: str, written: str, wanted: str) -> None:
    assert items(section, written) == [wanted]
    assert items(section, wanted) == [wanted]


def test_what_belongs_to_an_item_stays() -> None:
    lines = ["* topic: what", "  it is about", "    * a: nested", "", "  ```", "  * b", "  ```", "", "* * *", "text"]
    assert items("Requires", *lines) == ["- `topic`: what", "  it is about", "    - a: nested", *lines[3:]]


def test_the_block_of_a_pattern_stays() -> None:
    lines = ["- Pattern instance receives:", "    worker: string   -- the service", "    topic:  string"]
    assert items("Requires", *lines) == lines


def test_a_description_of_a_slot_elsewhere() -> None:
    text = HEAD + "### Slots\n* worker\n### Requires\n* worker: string\n* Worker: a person\n"
    assert format_items(Source("a", text)) == HEAD + (
        "### Slots\n- `worker`\n### Requires\n- `worker`: string\n- Worker: a person\n"
    )


def test_an_edit_that_would_change_the_meaning_is_left_out() -> None:
    # `- --` would be a rule across the page and no item.
    assert items("Ensures", "* one", "* --", "* sum: of all") == ["- one", "* --", "- `sum`: of all"]


def test_with_programs() -> None:
    text = HEAD + "### Slots\r\n* w\r\n### Delegation\r\n```prose\r\nreturn  call w\r\n```\r\n"
    wanted = HEAD + "### Slots\r\n- `w`\r\n### Delegation\r\n```prose\r\nreturn call w\r\n```\r\n"
    assert format_source(Source("a", text), everything=True) == wanted
    assert format_source(Source("a", text)) == wanted.replace("- `w`", "* w")


def test_a_bare_body_has_no_items() -> None:
    assert (
        format_source(Source("-", "# ## Slots\n# * w\nreturn  1"), everything=True) == "# ## Slots\n# * w\nreturn 1\n"
    )
