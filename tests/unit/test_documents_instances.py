"""Services and pattern instances (L7)."""

from __future__ import annotations

import textwrap

import pytest

from prose_lang.documents.model import Document, Instance
from prose_lang.documents.reader import read_document
from prose_lang.text import Source, Span


def read(sections: str) -> Document:
    return read_document(Source("x.prose.md", f"---\nname: x\nkind: function\n---\n{sections}"))


def fenced(yaml: str, section: str = "Patterns") -> Document:
    return read(f"### {section}\n\n```yaml\n{textwrap.dedent(yaml).strip()}\n```\n")


def text_at(document: Document, span: Span) -> str:
    return document.source.text[span.start : span.end]


def test_services_in_a_markdown_list() -> None:
    document = read(
        "### Services\n\n- `writer`: writes\n- reader\n* std/roles/critic\n- `github.com/a/b/c`\n- `reader`\n"
        "- **editor** (edits)\n- `old`: `worker-critic`\n  - `worker`: `writer`\n"
    )
    assert document.diagnostics == ()
    assert document.main.services == ("writer", "reader", "std/roles/critic", "github.com/a/b/c", "editor", "old")
    assert {text_at(document, span) for span in document.main.service_spans.values()} == set(document.main.services)


def test_instances_and_services_in_yaml() -> None:
    document = fenced(
        """
        - recon
        - name: reviewed
          pattern: std/patterns/worker-critic
          with:
            worker: writer
            critic: [one, two]
          config:
            max_rounds: 3
            tiers: [{model: big}]
        """,
        "Services",
    )
    assert document.diagnostics == ()
    assert document.main.services == ("recon",)
    (instance,) = document.main.instances
    assert (instance.name, instance.pattern) == ("reviewed", "std/patterns/worker-critic")
    assert text_at(document, instance.span) == "reviewed"
    assert text_at(document, instance.pattern_span) == "std/patterns/worker-critic"
    worker, critic = instance.slots["worker"], instance.slots["critic"]
    assert (worker.services, worker.listed, text_at(document, worker.span)) == (("writer",), False, "worker")
    assert (critic.services, critic.listed) == (("one", "two"), True)
    assert dict(instance.config) == {"max_rounds": 3, "tiers": [{"model": "big"}]}
    assert text_at(document, instance.config_spans["tiers"]) == "tiers"


def test_nested_instances() -> None:
    document = fenced(
        """
        - name: outer
          pattern: pipeline
          with:
            stages:
              - first
              - pattern: refine
                with: {refiner: r, evaluator: {pattern: fan-out, with: {delegates: []}}}
                config: {max_rounds: 1}
        """
    )
    assert document.diagnostics == ()
    stages = document.main.instances[0].slots["stages"]
    assert stages.listed
    first, nested = stages.services
    assert first == "first"
    assert isinstance(nested, Instance)
    assert (nested.name, nested.pattern, dict(nested.config)) == ("", "refine", {"max_rounds": 1})
    (deepest,) = nested.slots["evaluator"].services
    assert isinstance(deepest, Instance)
    assert (deepest.slots["delegates"].services, deepest.slots["delegates"].listed) == ((), True)


def test_a_fence_in_a_list_item() -> None:
    document = read("### Patterns\n\n1. This one:\n\n   ```yaml\n   - name: a\n     pattern: p\n   ```\n")
    assert document.diagnostics == ()
    (instance,) = document.main.instances
    assert text_at(document, instance.pattern_span) == "p"


@pytest.mark.parametrize(
    ("yaml", "line", "message", "hint"),
    [
        (
            "name: a\npattern: p",
            8,
            "this must be a list of instances, not an object",
            "start each instance with `- name:`",
        ),
        ("- 3", 8, "this must be a service or an instance, not a number", None),
        ("- name: a", 8, "an instance needs the `pattern:` it is one of", None),
        ("- pattern: p", 8, "this instance has no name", None),
        ("- name: a b\n  pattern: p", 8, "the name of an instance must be a name: letters, digits, `_` and `-`", None),
        ("- name: a\n  pattern: [p]", 9, "an instance needs the `pattern:` it is one of", None),
        ("- name: a\n  pattern: p\n  wiht: {}", 10, "an instance has no key `wiht`", "did you mean `with`?"),
        ("- name: a\n  pattern: p\n  with: [x]", 10, "`with:` must be an object, not a list", None),
        ("- name: a\n  pattern: p\n  config: 3", 10, "`config:` must be an object, not a number", None),
        (
            "- name: a\n  pattern: p\n  with:\n    s: 3",
            11,
            "the slot `s` must be bound to a service or an instance, not a number",
            None,
        ),
        (
            "- name: a\n  pattern: p\n  with:\n    s: [x,\n      null]",
            12,
            "the slot `s` must be bound to a service or an instance, not null",
            None,
        ),
        ("- name: a\n  pattern: p\n  with: {s: {with: {}}}", 10, "an instance needs the `pattern:` it is one of", None),
        (
            "- name: a\n  pattern: p\n- name: a\n  pattern: q",
            10,
            "the instance `a` is declared twice",
            "it is declared first on line 8",
        ),
        ("- name: a\n  name: b\n  pattern: p", 9, "the key `name` is repeated; it first stands on line 8", None),
        ("- a: b: c", 8, "this is not YAML: mapping values are not allowed here", None),
    ],
)
def test_malformed_instances(yaml: str, line: int, message: str, hint: str | None) -> None:
    document = fenced(yaml)
    (fault,) = document.diagnostics
    assert (fault.line, fault.message) == (line, message)
    assert fault.code == ("P207" if "declared twice" in message else "P107")
    if hint:
        assert fault.hint == hint


def test_an_instance_outside_of_a_fence() -> None:
    (fault,) = read("### Services\n\n- `a`\n- name: b\n  pattern: c\n").diagnostics
    assert (fault.code, fault.line) == ("P107", 8)
    assert fault.message == "a pattern instance stands outside of a fenced block"


def test_a_service_without_a_name() -> None:
    (fault,) = read("### Services\n\n- (whatever fits)\n").diagnostics
    assert (fault.code, fault.message) == ("P107", "this item of Services does not start with the name of a service")


def test_a_fence_that_is_never_closed() -> None:
    document = read("### Services\n\n```yaml\n- a\n")
    (fault,) = document.diagnostics
    assert (fault.code, fault.line, fault.message) == ("P107", 7, "this block is never closed")
    assert document.main.services == ("a",)


def test_yaml_elsewhere_is_documentation() -> None:
    assert read("### Notes\n\n```yaml\n- name: [\n```\n").diagnostics == ()
