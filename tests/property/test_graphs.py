"""Graphs of all kinds of programs: calls and conditions once each, all forms well formed, and all the same graph."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from corpus_harness import Case, load, read_cases
from graph_readers import read_dot, read_mermaid, read_svg
from programs import write_program
from running_programs import Running
from scale import seeds
from services import Services

import prose_lang as prose
from prose_lang.diagnostics import ProseError
from prose_lang.linter import lint
from prose_lang.report.dot import to_dot
from prose_lang.report.flow import Flow, first_steps
from prose_lang.report.flow_builder import flow_of
from prose_lang.report.mermaid import to_mermaid
from prose_lang.report.svg import to_svg
from prose_lang.resources import library_names
from prose_lang.services import Script, scripted_services
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk

HEAD = "---\nname: small\nkind: pattern\n---\n\n### Delegation\n\n```prose\n"


def drawn(engine: prose.Engine, pattern: prose.Pattern) -> Flow:
    """The flow of a pattern, after everything that must hold of it."""
    flow = flow_of(engine, pattern)
    program = engine.program(pattern)
    assert program.body is not None
    steps = list(flow.steps())
    sites = Counter((step.site.start, step.site.end) for step in steps if step.site is not None)
    wanted = [*program.calls, *program.conditions]
    wanted += [node for node in walk(program.body) if isinstance(node, (n.Session, n.Resume))]
    assert sites == Counter((node.start, node.end) for node in wanted)
    layers = sorted(step.layers for step in steps if step.layers)
    assert layers == sorted(plan.layers for plan in program.conditions.values())
    reached = {edge.target for edge in flow.edges} | {first for one in flow.definitions for first in first_steps(one)}
    unreached = [
        step.id
        for step in steps
        if step.id not in reached and step.kind != "start" and not step.lines[0].startswith("until ")
    ]
    findings = lint(pattern.document, engine.environment(pattern.document)).findings
    # Where all passes end the body, nothing after a `repeat` and no `until` is reached; the linter does not tell.
    endless = [frame for frame in flow.frames() if frame.label.startswith("repeat") and not frame.columns[0].goes_on]
    assert unreached == [] or endless or any(finding.name == "unreachable" for finding in findings)
    check_forms(flow)
    check_forms(flow_of(engine, pattern, nested=True))
    return flow


def check_forms(flow: Flow) -> None:
    """All three forms are well formed and show the same."""
    steps = [step.id for step in flow.steps()]
    legend = [f"s{number}" for number in range(len(flow.slots))]
    frames = [frame.id for frame in flow.frames()]
    mermaid, dot, picture = read_mermaid(to_mermaid(flow)), read_dot(to_dot(flow)), read_svg(to_svg(flow))
    assert list(mermaid.nodes) == list(dot.nodes) == [*steps, *legend]
    assert [*mermaid.frames] == [*dot.frames] == [*frames, *(["legend"] if legend else [])]
    assert mermaid.within == dot.within
    assert mermaid.nodes == dot.nodes
    assert mermaid.edges == dot.edges == [
        (edge.source, edge.target, " ".join(edge.label.split())) for edge in flow.edges
    ]  # fmt: skip
    assert sorted(picture.steps) == sorted(steps)


@pytest.mark.parametrize("seed", seeds(60))
def test_generated_programs(seed: int) -> None:
    services = Services(seed)
    engine = prose.Engine(services=services.all(), judge=services.judge)
    text = write_program(70_000 + seed, 4 + seed % 28, races=seed % 2 == 0)
    drawn(engine, engine.loads(text, "generated.prose.md"))


@pytest.mark.parametrize("seed", seeds(30))
def test_small_programs(seed: int) -> None:
    for number in range(10):
        body = "\n".join(Running(200_000 + 10 * seed + number).program())
        engine = prose.Engine(services={"w": lambda x=None: x})
        pattern = engine.loads(HEAD + body + "\n```\n", "small.prose.md")
        if not any(item.severity.value == "error" for item in engine.check(pattern)):
            drawn(engine, pattern)


@pytest.mark.parametrize("case", [*read_cases("eval"), *read_cases("check")], ids=lambda case: case.id)
def test_programs_of_the_corpus(case: Case) -> None:
    engine = prose.Engine(services=scripted_services(Script.from_data(case.data.get("script", {}))))
    with tempfile.TemporaryDirectory() as folder:
        try:
            pattern, _ = load(engine, case.data, Path(folder))
        except ProseError as error:
            pytest.skip(f"not read: {error.code}")
        errors = [item for item in engine.check(pattern) if item.severity.value == "error"]
        if errors or pattern.entry.body is None:
            with pytest.raises(ProseError) as raised:
                flow_of(engine, pattern)
            told = [item for item in raised.value.diagnostics if item.severity.value == "error"]
            assert not errors or [(i.code, i.span) for i in told] == [(i.code, i.span) for i in errors]
            return
        drawn(engine, pattern)


@pytest.mark.parametrize("name", library_names())
def test_the_library(name: str) -> None:
    engine = prose.Engine()
    drawn(engine, engine.load(name))
