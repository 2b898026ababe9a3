"""The commands that run nothing: list, show, ast, explain, doctor, completions, and the group around them."""

from __future__ import annotations

import json
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prose_lang import __version__
from prose_lang.cli.group import COMMANDS
from prose_lang.cli.main import cli
from prose_lang.diagnostics import CODES
from prose_lang.linter import RULES
from prose_lang.resources import LIBRARY_GROUPS, library_names

SHOWN = """\
---
name: shown
kind: pattern
---

# Shown

Does a thing. And another.

### Slots

- `worker`: does it
- `critics`: look at it

### Config

- `rounds` (integer, default: 2, min: 1, max: 9): how often
- `tone` (string, default: dry, one of: dry, wet): how

### Requires

- Pattern instance receives:
    critics: string[]    -- in order
    brief: string        -- what to do
    style: string        -- (optional) how

### Invariants

- It ends.

### Delegation

```prose
let xs = parallel for c in critics:
  return { hidden: c }
if brief == "":
  return { empty: true }
let done = call worker
return { result: done, rounds: rounds }
```

## other

### Returns

- `text`: a text
"""


def prose(*args: str, stdin: str | None = None, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(cli, args, input=stdin, env=env or {})


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("shown.prose.md").write_text(SHOWN)
    return "shown.prose.md"


# --- the group -------------------------------------------------------------------------------------------------------


def test_version() -> None:
    assert prose("--version").stdout == f"prose {__version__}\n"


def test_help_lists_every_command() -> None:
    for result in (prose(), prose("--help"), prose("-h")):
        assert result.exit_code == 0
        assert all(f"\n  {name} " in result.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_the_description_of_the_table(name: str) -> None:
    result = prose(name, "--help")
    assert result.exit_code == 0
    assert "\n    $ prose " in result.stdout or "| prose " in result.stdout
    module = __import__(f"prose_lang.cli.{name.replace('-', '_')}", fromlist=["command"])
    assert module.command.get_short_help_str(limit=200) == COMMANDS[name]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("chekc", "there is no command `chekc`; did you mean `check`?"),
        ("refine", "there is no command `refine`; did you mean `prose run refine`?"),
        ("my.prose.md", "there is no command `my.prose.md`; did you mean `prose run my.prose.md`?"),
        ("zzzz", "there is no command `zzzz`"),
    ],
)
def test_an_unknown_command(word: str, message: str) -> None:
    result = prose(word)
    assert (result.exit_code, result.stdout, result.stderr.splitlines()[0]) == (2, "", f"error: {message}")


# --- list and show ---------------------------------------------------------------------------------------------------


def test_list_names_every_pattern_of_the_library() -> None:
    lines = prose("list").stdout.splitlines()
    assert any(line.startswith("  refine ") and line.endswith(".") for line in lines)
    listed = json.loads(prose("list", "--json").stdout)
    assert [item["name"] for item in listed] == [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(item["name"] for item in listed) == library_names()
    groups: dict[str, list[str]] = {}
    group = ""
    for line in lines:
        if line.startswith("  "):
            groups[group].append(line.split()[0])
        elif line:
            group = line
            groups[group] = []
    assert list(groups) == list(LIBRARY_GROUPS)
    assert all(names == sorted(names) and len(names) > 1 for names in groups.values())
    assert all(item["name"] in groups[item["group"]] for item in listed)
    assert next(item for item in listed if item["name"] == "refine")["slots"] == ["refiner", "evaluator"]


def test_show(shown: str) -> None:
    assert prose("show", shown).stdout == (
        "shown (pattern, shown.prose.md)\n"
        "Does a thing. And another.\n"
        "\n"
        "Slots\n"
        "  worker   service             does it\n"
        "  critics  services, in order  look at it\n"
        "\n"
        "Inputs\n"
        "  brief  string, required  what to do\n"
        "  style  string, optional  how\n"
        "\n"
        "Config\n"
        "  rounds  integer, default 2, from 1, to 9          how often\n"
        '  tone    string, default "dry", one of "dry", "wet"  how\n'
        "\n"
        "Returns empty, result, rounds\n"
        "\n"
        "Invariants\n"
        "  - It ends.\n"
        "\n"
        "Other entries other\n"
        "\n"
        "Calls of a run, at least and at most\n"
        "  worker  0 to 1\n"
        "  judge   none\n"
        "\n"
        "Flow\n"
        '  if brief == ""\n'
        "    return { empty }\n"
        "  call worker → done\n"
        "  return { result, rounds }\n"
        "\n"
        "`prose graph shown.prose.md` draws all of it, `prose show shown.prose.md --calls` says more of the numbers.\n"
    )


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_show_of_a_faulty_file_leaves_out_what_it_cannot_tell(shown: str, form: list[str]) -> None:
    Path(shown).write_text(SHOWN.replace("call worker", "call workre"), encoding="utf-8")
    result = prose("show", shown, *form)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Does a thing." in result.stdout
    if form:
        described = json.loads(result.stdout)
        assert (described["calls"], described["flow"]) == (None, None)
    else:
        assert "Flow" not in result.stdout


def test_show_tells_bounds_and_flow_of_the_library() -> None:
    described = json.loads(prose("show", "refine", "--json").stdout)
    assert described["group"] == "Improve"
    assert described["calls"]["total"] == {
        "least": "2", "most": "2 × max_rounds", "exact": False, "at_least": 2, "at_most": 6,
    }  # fmt: skip
    assert described["flow"] == [
        "repeat max_rounds as round",
        "  call refiner → draft",
        "  call evaluator → evaluation",
        "  if score meets threshold (may ask the judge)",
        "    return { result, score, rounds_used }",
        "return { result, score, rounds_used }",
    ]


def test_show_as_json(shown: str) -> None:
    described = json.loads(prose("show", shown, "--json").stdout)
    assert described["returns"] == ["empty", "result", "rounds"]
    assert described["config"][0] == {
        "name": "rounds", "type": "integer", "description": "how often", "required": False, "default": 2,
        "minimum": 1, "maximum": 9,
    }  # fmt: skip
    assert described["inputs"][0]["required"] is True


def test_show_the_source_and_an_entry(shown: str) -> None:
    assert prose("show", shown, "--source").stdout == SHOWN
    assert json.loads(prose("show", f"{shown}#other", "--json").stdout)["returns"] == ["text"]


def test_undeclared_inputs_are_shown() -> None:
    described = json.loads(prose("show", "-", "--json", stdin='return "Hello " + who').stdout)
    assert described["inputs"] == [
        {"name": "who", "type": "any", "description": "(read by the body, not declared)", "required": False}
    ]


def test_show_of_nothing() -> None:
    result = prose("show", "refin")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean `refine`" in result.stderr


SYSTEM = """\
---
name: report
kind: system
---

# Report

### Services

```yaml
- name: polished
  pattern: refine
  with:
    refiner: {pattern: chain, with: {steps: [writer, {pattern: refine, with: {refiner: writer}}]}}
    evaluator: editor
  config: {max_rounds: 2, tone: "dry"}
- editor
```

- `writer`: writes

### Errors

- `no-topic`: there is nothing to write about

### Wiring

writer:
  returns to caller

## Notes

Not an entry.

## writer

## Writing

### Returns

- `text`: an entry in spite of its name
"""


def test_show_of_what_is_called_and_of_sections_that_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.prose.md").write_text(SYSTEM)
    assert prose("show", "report.prose.md").stdout == (
        "report (system, report.prose.md)\n"
        "\n"
        "Services\n"
        "  editor\n"
        "  writer\n"
        "  polished: refine(refiner: chain(steps: [writer, refine(refiner: writer)]), evaluator: editor, "
        'max_rounds: 2, tone: "dry")\n'
        "\n"
        "Other sections Errors, Wiring\n"
        "\n"
        "Other entries writer, Writing\n"
    )
    described = json.loads(prose("show", "report.prose.md", "--json").stdout)
    assert (described["services"], described["sections"]) == (["editor", "writer"], ["Errors", "Wiring"])
    assert described["instances"][0]["with"]["refiner"]["with"]["steps"][1] == {
        "pattern": "refine", "with": {"refiner": "writer"}, "config": {},
    }  # fmt: skip
    assert described["entries"] == ["writer", "Writing"]


def test_list_of_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "report.prose.md").write_text(SYSTEM)
    (tmp_path / "src" / "inbox.prose.md").write_text("---\nname: inbox\nkind: gateway\n---\n\nTakes mail. All.\n")
    result = prose("list", "src", shown)
    assert result.stdout == (
        "inbox   gateway  Takes mail.\n"
        "report  system   Report\n"
        "shown   pattern  Does a thing.\n"
    )  # fmt: skip
    assert [item["kind"] for item in json.loads(prose("list", "src", "--json").stdout)] == ["gateway", "system"]
    missing = prose("list", "nowhere.prose.md")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "there is no file `nowhere.prose.md`" in missing.stderr


# --- ast -------------------------------------------------------------------------------------------------------------


def test_ast() -> None:
    assert prose("ast", "-", stdin="return 1 + 2").stdout == (
        "Body  [1:1-1:13]\n"
        "  Return  [1:1-1:13]\n"
        '    Binary operator="+"  [1:8-1:13]\n'
        "      Literal value=1  [1:8-1:9]\n"
        "      Literal value=2  [1:12-1:13]\n"
    )


def test_ast_as_json_and_tokens() -> None:
    [found] = json.loads(prose("ast", "-", "--json", stdin="return 1").stdout)
    assert (found["entry"], found["tree"]["children"][0]["node"]) == ("anonymous", "Return")
    [found] = json.loads(prose("ast", "-", "--json", "--tokens", stdin="return 1").stdout)
    assert [token["text"] for token in found["tokens"]][:2] == ["return", "1"]
    assert prose("ast", "-", "--tokens", stdin="return 1").stdout.splitlines()[0] == "1:1       RETURN           return"


def test_ast_of_what_cannot_be_parsed_prints_the_rest() -> None:
    result = prose("ast", "-", stdin="let x = = 1\nreturn 2\n")
    assert result.exit_code == 2
    assert "Return" in result.stdout
    assert result.stderr.startswith("error[P101] not-a-statement")


def test_ast_tells_entries_apart(shown: str) -> None:
    Path(shown).write_text(SHOWN + "\n### Execution\n\n```prose\nreturn 1\n```\n")
    lines = prose("ast", shown).stdout.splitlines()
    assert [line for line in lines if line.startswith("#")] == ["# shown", "# other"]


def test_ast_of_a_file_without_a_body() -> None:
    result = prose("ast", "-", stdin="---\nname: f\nkind: function\n---\n### Returns\n- `text`: x\n")
    assert (result.exit_code, result.stderr) == (2, "error[P105] body-missing: `<stdin>` has no delegation body\n"
                                                    "  --> <stdin>\n")  # fmt: skip


# --- explain ---------------------------------------------------------------------------------------------------------


def test_explain_by_code_and_by_name() -> None:
    page = prose("explain", "P201")
    assert (page.exit_code, page.stdout.splitlines()[0]) == (0, "# P201 unknown-name")
    assert "<!--" not in prose("explain", "P403").stdout
    assert prose("explain", "Unknown-Name").stdout == page.stdout
    assert "\x1b[1m# P201 unknown-name\x1b[0m" in prose("explain", "p201", env={"FORCE_COLOR": "1"}).stdout


def test_explain_lists_all_codes() -> None:
    lines = prose("explain").stdout.splitlines()
    assert [line.split()[0] for line in lines][: len(CODES)] == list(CODES)
    rest = [line.split()[0] for line in lines][len(CODES) :]
    assert rest == sorted({*RULES, "format-refused"})
    assert all(prose("explain", name).exit_code == 0 for name in rest)


def test_explain_of_nothing() -> None:
    result = prose("explain", "unknwon-name")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: there is no code or rule `unknwon-name`; did you mean `unknown-name`")


# --- doctor and completions ------------------------------------------------------------------------------------------


def test_doctor_names_keys_and_never_shows_them() -> None:
    secret = "sk-0123456789abcdef"
    text = prose("doctor", env={"OPENAI_API_KEY": secret})
    assert text.exit_code == 0
    assert secret not in text.output
    assert "OPENAI_API_KEY" in text.stdout
    found = json.loads(prose("doctor", "--json", env={"OPENAI_API_KEY": secret}).stdout)
    assert found["prose"] == __version__
    assert "OPENAI_API_KEY" in found["keys_set"]
    assert found["grammar"]["parse_table"] == "fresh"
    assert found["library"]["patterns"] == len(library_names())
    assert found["limits"] == {
        "calls": 1000, "tokens": None, "cost": None, "known_cost": 5.0, "seconds": 3600.0, "concurrency": None,
    }  # fmt: skip
    assert found["terminal"]["stdout"] is False


def test_doctor_tells_where_runs_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def told(**env: str) -> str:
        (line,) = [line for line in prose("doctor", env=env).stdout.splitlines() if line.startswith("store ")]
        return line.removeprefix("store").strip()

    (tmp_path / "prose.toml").write_text("")
    assert told() == f"{tmp_path / '.prose' / 'runs'}; no run is recorded there yet"
    (tmp_path / "prose.toml").write_text('[runs]\nstore = "kept"\nrecord = false\n')
    assert prose("run", "refine", "refiner=plain", "evaluator=readability", "task_brief=x", "--record").exit_code == 0
    assert told() == f"{tmp_path / 'kept'}, as the settings file says; runs are recorded with --record alone"
    (tmp_path / "prose.toml").write_text('[runs]\nstore = "../kept"\n')
    assert told() == "faulty settings: `store` leads out of the folder of its file"
    url = "postgresql://me:secret-word@db.example/runs"
    (tmp_path / "prose.toml").write_text("")
    psycopg = f"psycopg {version('psycopg')}" if find_spec("psycopg") else "psycopg is not installed"
    assert told(PROSE_STORE=url) == f"postgresql://me@db.example/runs, as PROSE_STORE says; {psycopg}"
    assert "secret-word" not in prose("doctor", "--json", env={"PROSE_STORE": url}).output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    result = prose("completions", shell)
    assert (result.exit_code, f"_PROSE_COMPLETE={shell}_complete" in result.stdout) == (0, True)


@pytest.mark.parametrize(
    ("words", "found"),
    [("prose ch", "check"), ("prose run refi", "refine"), ("prose explain unknown-n", "unknown-name"),
     ("prose run --max", "--max-calls")],
)  # fmt: skip
def test_what_shells_complete(words: str, found: str) -> None:
    env = {"_PROSE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    assert f"plain,{found}\n" in prose(env=env).stdout
