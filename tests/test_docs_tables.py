"""What the pages of `docs/` say about the code is what the code says: tables, rule numbers, commands, the index."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import get_args

import click
import pytest
from documentation_harness import DOCS, ROOT

import prose_lang
from prose_lang.cli.group import COMMANDS
from prose_lang.cli.main import cli
from prose_lang.conditions import (
    BOOLEAN_FIELDS,
    MAX_QUESTION,
    TEXT_FIELDS,
    compounds,
    criteria,
    phrases,
    read_rules,
    verdicts,
)
from prose_lang.conditions.rule import Rule
from prose_lang.diagnostics import CODES
from prose_lang.diagnostics.errors import CATCHABLE, RunError
from prose_lang.documents import loader
from prose_lang.documents.model import FUNCTION_KINDS
from prose_lang.engine import Engine
from prose_lang.handlers import Limits
from prose_lang.linter import RULES
from prose_lang.resources import LIBRARY_GROUPS, library_names
from prose_lang.runtime import events, parallel
from prose_lang.runtime.compiler.statements import error_value
from prose_lang.semantics import conditions
from prose_lang.services import command, script, threads
from prose_lang.services.builtin import BUILTIN_NAMES, builtin
from prose_lang.syntax import builder, lexer, nodes
from prose_lang.syntax.tokens import KEYWORDS
from prose_lang.testing import Verdict, exact, mechanical, plugin
from prose_lang.testing.fixture import Prose
from prose_lang.values import model

LANGUAGE = DOCS / "language"
CATALOGUE = ROOT / "stdlib_patterns" / "README.md"


def table(page: Path, name: str) -> list[list[str]]:
    """The rows of the table that stands under `<!-- table: NAME -->`, without its head."""
    text = page.read_text(encoding="utf-8").split(f"<!-- table: {name} -->\n", 1)[1]
    lines = text.split("\n\n", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def words(cell: str) -> list[str]:
    """The words in backticks of a cell."""
    return re.findall(r"`([^`]+)`", cell)


def rules_of(text: str) -> tuple[Rule, ...]:
    """The rules of a condition in which X, Y and C mean something."""

    def parse(start: int, end: int) -> nodes.Expression | None:
        part = text[start:end]
        if part in ("X", "Y", "C"):
            return nodes.Name(start, end, part)
        if re.fullmatch(r"X (<|==) Y", part):
            return nodes.Binary(
                start, end, part[2:-2], nodes.Name(start, start + 1, "X"), nodes.Name(end - 1, end, "Y")
            )
        return nodes.Literal(start, end, part[1:-1]) if re.fullmatch(r'"\w+"', part) else None

    return read_rules(nodes.Condition(0, len(text), text, None), parse)


# --- conditions ------------------------------------------------------------------------------------------------------


def test_phrases() -> None:
    seen = []
    for forms, meaning in table(LANGUAGE / "conditions.md", "phrases"):
        for form in words(forms):
            seen.append(form)
            rules = [rule for rule in rules_of(form) if not isinstance(rule, phrases.HasElement)]
            said = "; ".join(rule.describe() for rule in rules)
            assert {rule.layer for rule in rules} == {"phrase"}, form
            assert f"`{said}`" == meaning, form
    listed = [f"X {' '.join(phrase)} Y" for phrase, _ in phrases._COMPARISONS]
    listed += [f"X is {negation}{state}" for state in phrases._STATES for negation in ("", "not ")]
    listed += [
        f"X is {negation}{'an' if kind == 'object' else 'a'} {kind}"
        for kind in phrases._KINDS
        for negation in ("", "not ")
    ]
    listed += ['X is "words"', 'X is not "words"', "X contains Y", "X includes Y", "X has Y", "X has no Y"]
    assert sorted(seen) == sorted(listed)


def test_conjunctions() -> None:
    for form, meaning in table(LANGUAGE / "conditions.md", "conjunctions"):
        (rule,) = rules_of(words(form)[0])
        assert isinstance(rule, compounds.Compound), form
        assert f"`{rule.describe()}`" == meaning, form


def test_verdicts() -> None:
    rows = table(LANGUAGE / "conditions.md", "verdicts")
    seen = []
    for forms, meaning in rows:
        for form in words(forms):
            text = form.replace(" …", " the draft").replace("WORDs", "proceeds").replace("WORD", "proceed")
            (rule,) = rules_of(text)
            assert rule.layer == "verdict", form
            seen.append(form.split()[-2 if form.endswith("…") else -1])
            if isinstance(rule, verdicts.Verdict):
                kind = "accept" if rule.accepting else "reject"
                said = f"does not {kind}" if rule.negated else f"decision in X {kind}s"
                assert said in meaning, form
    assert {word for word in seen if "WORD" not in word} == {*verdicts._VERBS, *verdicts._PARTICIPLES}


def test_decisions() -> None:
    rows = {row[0]: words(row[1]) for row in table(LANGUAGE / "conditions.md", "decisions")}
    assert rows["a boolean field"] == list(BOOLEAN_FIELDS)
    assert rows["a text field"] == list(TEXT_FIELDS)
    assert sorted(rows["accepting words"]) == sorted(verdicts.ACCEPTING)
    assert sorted(rows["rejecting words"]) == sorted(verdicts.REJECTING)


def test_criteria() -> None:
    rows = table(LANGUAGE / "conditions.md", "criteria")
    seen = []
    for forms, meaning in rows:
        for form in words(forms):
            rule = rules_of(form)[-1]
            assert isinstance(rule, criteria.Criteria), form
            assert rule.failure == ("nothing" in meaning)
            seen.append(form.removeprefix("C says X "))
    assert sorted(seen) == sorted(" ".join(phrase) for phrase, _ in criteria._PREDICATES)


# --- words, errors, ceilings -----------------------------------------------------------------------------------------


def test_keywords() -> None:
    text = (LANGUAGE / "text.md").read_text(encoding="utf-8").split("<!-- keywords -->\n", 1)[1].split("\n\n", 1)[0]
    assert sorted(words(text)) == sorted(KEYWORDS)


def test_kinds() -> None:
    text = (LANGUAGE / "files.md").read_text(encoding="utf-8")
    for kind in FUNCTION_KINDS:
        assert re.search(rf"^\|[^|]*`{kind}`", text, re.MULTILINE), kind


def test_catchable_errors() -> None:
    rows = table(LANGUAGE / "errors.md", "catchable")
    assert [(words(code)[0], words(name)[0]) for code, name in rows] == [
        (code, CODES[code].name) for code in sorted(CATCHABLE)
    ]


def test_what_a_caught_error_has() -> None:
    error = RunError("P401", "x", thrown=1)
    error.survivors = []
    error.branch_errors = [RunError("P406", "y")]
    rows = [words(row[0])[0] for row in table(LANGUAGE / "errors.md", "caught")]
    assert rows == list(error_value(error))


def test_what_goes_beyond_upstream_is_said_in_one_place() -> None:
    page = LANGUAGE / "README.md"
    section = page.read_text(encoding="utf-8").split("## Beyond upstream\n")[1].split("\n## ")[0]
    found = re.findall(r"\]\((?P<file>[\w./]+)(?:#(?P<anchor>[\w-]+))?\)", section)
    assert len(found) > 5
    for file, anchor in found:
        assert not anchor or anchor in anchors(LANGUAGE / file), (file, anchor)
    assert set(re.findall(r"`(\w+)`", section)) >= {*phrases._KINDS} - {"list"}


def test_ceilings() -> None:
    rows = {row[0]: row[1] for row in table(LANGUAGE / "limits.md", "ceilings")}
    engine = Engine()
    wanted = {
        "passes of a `loop` without `max`": engine.max_passes,
        "levels of blocks and patterns that call each other": engine.max_depth,
        "nested blocks of a program text": lexer.MAX_BLOCKS,
        "nested brackets": lexer.MAX_BRACKETS,
        "nested operators of an expression": builder.MAX_EXPRESSION,
        "levels of a value": model.MAX_DEPTH,
        "parts of a value": model.MAX_NODES,
        "characters of a text": model.MAX_TEXT,
        "branches of a block under way at once": parallel.MAX_STARTED,
        "branches of a run under way at once": parallel.MAX_LIVE,
        "bytes of a file": loader.MAX_BYTES,
        "bytes that a command answers": command.MOST_OUTPUT,
        "characters of a script": script._MOST_CHARACTERS,
        "synchronous functions of an engine at once": threads.MAX_THREADS,
        "values sent to a judge": MAX_QUESTION,
        "characters of a condition that rules look at": conditions.MAX_PHRASE,
    }
    found = {name: int(re.findall(r"[\d,]+", cell)[0].replace(",", "")) for name, cell in rows.items()}
    assert found == wanted
    limits = (LANGUAGE / "limits.md").read_text(encoding="utf-8")
    assert f"| {Limits().calls:,}; `none`" in limits


# --- rules and codes -------------------------------------------------------------------------------------------------


def test_every_rule_has_one_place_and_the_index_leads_to_it() -> None:
    rules = {f"L{number}" for number in range(1, 36)} | {"L13a"}
    places: dict[str, list[str]] = {}
    for page in LANGUAGE.glob("*.md"):
        for rule in re.findall(r"^## (L\d+a?) ", page.read_text(encoding="utf-8"), re.MULTILINE):
            places.setdefault(rule, []).append(page.name)
    assert {rule for rule, pages in places.items() if len(pages) == 1} == rules == set(places)
    index = re.findall(r"^\| (L\d+a?) \|.*\]\(([\w.]+)\) \|$", (LANGUAGE / "README.md").read_text(), re.MULTILINE)
    assert {rule: [page] for rule, page in index} == places
    assert [rule for rule, _ in index] == sorted(rules, key=lambda rule: (int(re.findall(r"\d+", rule)[0]), rule))


def hand_written() -> Iterator[Path]:
    return (page for page in DOCS.rglob("*.md") if page.name != "diagnostics.md")


def test_codes_and_rules_that_pages_name_exist() -> None:
    for page in hand_written():
        text = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert set(re.findall(r"\bP\d{3}\b", text)) - {"P301"} <= set(CODES), page
        assert set(re.findall(r"\blint `([\w-]+)`", text)) <= set(RULES), page
        rules = {f"L{number}" for number in range(1, 36)} | {"L13a"}
        assert set(re.findall(r"\bL\d+a?\b", text)) <= rules, page


def made_by(script: str) -> ModuleType:
    """A script of `docs/` as a module."""
    spec = importlib.util.spec_from_file_location(script, DOCS / f"{script}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_index_of_diagnostics_is_what_is_made() -> None:
    made = made_by("make_diagnostics").diagnostics()
    assert (DOCS / "diagnostics.md").read_text(encoding="utf-8") == made, "run `make docs`"
    for code in CODES.values():
        assert f"\n### {code.code} {code.name}\n" in made
    for name in RULES:
        assert f"\n### {name}\n" in made
    assert "docs/make_diagnostics.py\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_built_in_services() -> None:
    rows = table(DOCS / "cli.md", "built-in")
    assert tuple(words(row[0])[0] for row in rows) == BUILTIN_NAMES
    for name, takes, _ in rows:
        function = builtin(words(name)[0])
        assert function is not None
        named = [one for one in inspect.signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD]
        assert words(takes) == [one.name for one in named]


# --- the library -----------------------------------------------------------------------------------------------------


def test_the_catalogue_is_what_is_made() -> None:
    made = made_by("make_catalogue").catalogue()
    assert (CATALOGUE).read_text(encoding="utf-8") == made, "run `make docs`"
    assert re.findall(r"^## (.*)$", made, re.MULTILINE) == list(LIBRARY_GROUPS)
    assert sorted(re.findall(r"^### (.*)$", made, re.MULTILINE)) == library_names()
    assert "docs/make_catalogue.py\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made where pages are read."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links(page: Path) -> list[tuple[str, str, str]]:
    """The links of a page to files: text, file, anchor."""
    found = re.findall(r"\[([^\]]+)\]\(([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text(encoding="utf-8"))
    return [(text, file, anchor) for text, file, anchor in found if "://" not in file]


@pytest.mark.parametrize("page", [CATALOGUE, DOCS / "library.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    found = links(page)
    assert len(found) > 60
    for text, file, anchor in found:
        target = (page.parent / file).resolve() if file else page
        assert target.is_file(), (text, file)
        if anchor:
            assert anchor in anchors(target), (text, file, anchor)
        elif target.suffix == ".py" and target.is_relative_to(ROOT / "tests"):
            assert f"def test_{text.strip('`')}(" in target.read_text(encoding="utf-8"), (text, file)


# --- the command line ------------------------------------------------------------------------------------------------


def commands() -> dict[str, click.Command]:
    context = click.Context(cli)
    return {name: found for name in COMMANDS if (found := cli.get_command(context, name)) is not None}


def section(name: str) -> str:
    """What docs/cli.md says of a command, up to the next command."""
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    parts = re.split(r"^## prose ", text, flags=re.MULTILINE)[1:]
    return next((part for part in parts if part.startswith(f"{name}\n")), "")


def test_the_page_has_every_command_and_no_other() -> None:
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^## prose (\S+)$", text, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_has_every_option_of_a_command_and_no_other(name: str) -> None:
    text = section(name)
    command = commands()[name]
    parts = [command, *(command.commands.values() if isinstance(command, click.Group) else ())]
    options = [option for part in parts for option in part.params if isinstance(option, click.Option)]
    known = {word for option in options for word in (*option.opts, *option.secondary_opts)}
    rows = [line for line in text.splitlines() if re.match(r"\| `-", line)]
    listed = {word.split()[0] for row in rows for word in words(row.split("|")[1])}
    assert listed == known
    assert f"$ prose {name}" in text or f"| prose {name}" in text, "an example that runs"


def test_exit_statuses() -> None:
    from prose_lang.cli.status import EXIT

    rows = re.findall(r"^\| (\d+) \| .* \|$", section("run"), re.MULTILINE)
    assert sorted(map(int, rows)) == sorted(set(EXIT.values()))


# --- tests of patterns -----------------------------------------------------------------------------------------------


def test_what_can_be_looked_up_mechanically() -> None:
    seen = set()
    for text, holds, fails in table(DOCS / "testing.md", "mechanical"):
        said = text[1:-1]
        statement = mechanical.read_statement(said)
        assert statement is not None, said
        assert statement.decide(json.loads(holds[1:-1])).holds, (said, holds)
        assert not statement.decide(json.loads(fails[1:-1])).holds, (said, fails)
        seen.add(said)
    # Every form of the code has a row. A pattern that is new to this test has to be added to it, and to the page.
    forms = {name for name, pattern in vars(mechanical).items() if isinstance(pattern, re.Pattern)}
    operands = {"_TICKED", "_PIECE", "_SENTENCE_END"}
    statements = {"_EXISTS", "_MISSING", "_CONTAINS", "_EDGE", "_ONE_OF", "_KIND", "_EQUALS", "_BOUND", "_BETWEEN"}
    assert forms == operands | statements
    for pattern in (mechanical._EXISTS, mechanical._MISSING):
        assert set(pattern.pattern.split("|")) <= seen
    for name in statements:
        assert any(getattr(mechanical, name).fullmatch(said) for said in seen), name
    assert {how for how in mechanical._BOUNDS if any(said.startswith(how) for said in seen)} == set(mechanical._BOUNDS)
    units = re.findall(r"[a-z]+", mechanical._UNIT.split("<unit>")[1].split(")")[0])
    assert {unit for unit in units if any(re.search(rf"\d {unit}s?$", said) for said in seen)} == set(units)
    kinds = mechanical._KIND.pattern.split("<kind>")[1].removesuffix(")").split("|")
    assert {kind for kind in kinds if f"is a {kind}" in seen or f"is an {kind}" in seen} == set(kinds)


def test_what_is_exact() -> None:
    rows = {words(row[0])[0]: row[1] for row in table(DOCS / "testing.md", "exact")}
    assert tuple(rows) == exact.KEYS
    assert words(rows["status"]) == list(exact.STATUSES)
    assert f"{{{', '.join(exact.ERROR_PARTS)}}}" in rows["error"]
    assert words(rows["decisions"]) == list(exact.DECISION_PARTS)


def test_verdicts_of_scenarios() -> None:
    assert [row[0] for row in table(DOCS / "testing.md", "verdicts")] == [verdict.value for verdict in Verdict]


def test_options_of_the_plugin() -> None:
    rows = [words(row[0])[0].split()[0] for row in table(DOCS / "testing.md", "pytest")]
    assert rows == re.findall(r'"(--prose-[\w-]+)"', inspect.getsource(plugin.pytest_addoption))


def test_what_the_fixture_has() -> None:
    rows = [name for row in table(DOCS / "testing.md", "fixture") for name in words(row[0])]
    assert sorted(rows) == sorted(name for name in dir(Prose(".")) if not name.startswith("_"))


# --- embedding -------------------------------------------------------------------------------------------------------


def test_the_arguments_of_an_engine() -> None:
    rows = table(DOCS / "embedding.md", "engine")
    parameters = inspect.signature(Engine).parameters
    assert [words(row[0])[0] for row in rows] == list(parameters)
    given = {words(row[0])[0]: row[2].strip("`") for row in rows}
    for name in ("strict", "trace", "max_depth", "max_passes"):
        assert f"{parameters[name].default:,}" == given[name] or str(parameters[name].default) == given[name]


def test_the_attributes_of_events() -> None:
    rows = table(DOCS / "embedding.md", "events")
    assert {words(row[0])[0] for row in rows} == {kind.__name__ for kind in get_args(events.Event)}
    for name, attributes in rows:
        kind = getattr(events, words(name)[0])
        public = {one for one in dir(kind) if not one.startswith("_")}
        listed = set(words(re.sub(r"\([^)]*\)", "", attributes)))
        if "these" in attributes:
            listed |= {one for one in dir(events.CallStarted) if not one.startswith("_")}
        assert listed == public, name


def test_every_public_name_is_explained() -> None:
    text = (DOCS / "embedding.md").read_text(encoding="utf-8")
    missing = [name for name in prose_lang.__all__ if not re.search(rf"\b{name}\b", text)]
    assert missing == []
