"""`prose graph` and `prose show --calls`: what they print, where they write, and what they say of faults.

The graphs in tests/corpus/graph are compared character for character. After a change that is meant, write them again
with `PROSE_RENEW=1 pytest tests/unit/test_cli_graph.py`, and look at the difference.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from graph_readers import read_dot, read_mermaid, read_svg

from prose_lang.cli.main import cli
from prose_lang.report.dot import quoted
from prose_lang.report.mermaid import escaped
from prose_lang.resources import library_names

GOLDEN = Path(__file__).parents[1] / "corpus" / "graph"
ENDINGS = {"mermaid": ".mmd", "dot": ".dot", "svg": ".svg"}
SOURCES = {
    **{name: [name] for name in library_names()},
    "everything": [str(GOLDEN / "everything.prose.md"), "--nested"],
}
#: The catalogue links to the pictures. What DOT is like is shown by three graphs: it is made of the same flows.
IN_DOT = ("refine", "ensemble-synthesizer", "everything")
GOLDENS = [(name, form) for name in SOURCES for form in ENDINGS if form != "dot" or name in IN_DOT]
ENTRIES = """\
---
name: a
kind: pattern
---

### Delegation

```prose
return 1
```

## b

### Execution

```prose
call look
```
"""


def prose(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, args, input=stdin, env={})


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("script.yaml").write_text("look: [a]\n")
    return "script.yaml"


# --- goldens ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "form"), GOLDENS)
def test_golden(name: str, form: str) -> None:
    result = prose("graph", *SOURCES[name], "--format", form)
    assert result.exit_code == 0, result.stderr
    path = GOLDEN / f"{name}{ENDINGS[form]}"
    if os.environ.get("PROSE_RENEW"):
        path.write_text(result.stdout, encoding="utf-8", newline="\n")
    assert result.stdout == path.read_text(encoding="utf-8")


def test_there_are_no_other_goldens() -> None:
    wanted = {f"{name}{ENDINGS[form]}" for name, form in GOLDENS} | {"everything.prose.md"}
    assert {path.name for path in GOLDEN.iterdir()} == wanted


# --- what stands on a graph ------------------------------------------------------------------------------------------


def test_decisions_tell_their_layer_and_that_a_judge_costs_a_call(services: str) -> None:
    body = 'let topic = "y"\nif topic == "x":\n  call look\n    t: 1\nif **it reads well**:\n  call look\n    t: 2\n'
    text = prose("graph", "--script", services, "-", stdin=body).stdout
    labels = read_mermaid(text).nodes.values()
    assert 'if topic == "x"\n[expression]' in labels
    assert "if it reads well\n[asks the judge]" in labels
    assert "classDef judge" in text
    assert "stroke-dasharray" in text


def test_hostile_texts_arrive_as_they_are(services: str) -> None:
    texts = [
        "end",
        'a "b" [c] {d} (e) | f',
        "`x` *y* _z_ %%{init}%% #35; <b>&amp;",
        "日本 → “é”",
        "- 1. x",
        "http://a.b",
    ]
    body = "choice topic:\n"
    for text in texts:
        written = json.dumps(text, ensure_ascii=False).replace("{", "\\{").replace("}", "\\}")
        body += f"  option {written}:\n    call look\n      t: 1\n"
    for form, read in (("mermaid", read_mermaid), ("dot", read_dot)):
        result = prose("graph", "--format", form, "--script", services, "-", stdin=body)
        assert result.exit_code == 0, result.stderr
        assert [label for _, _, label in read(result.stdout).edges if label] == texts
    picture = read_svg(prose("graph", "--format", "svg", "--script", services, "-", stdin=body).stdout)
    assert set(texts) <= set(picture.texts)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain_name, 2 > 1", "plain_name, 2 #62; 1"),
        ("_x_ and __init__", "#95;x#95; and #95;#95;init#95;#95;"),
        ("- a list", "#45; a list"),
        ("1. a list", "1#46; a list"),
        ("[x](y)", "[x]#40;y)"),
        ("http://x", "http:#47;/x"),
        ("two\nlines", "two lines"),
    ],
)
def test_what_mermaid_would_read_is_written_as_a_code(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_what_dot_would_read_is_escaped() -> None:
    assert quoted('a "b" \\N') == '"a \\"b\\" \\\\N"'


def test_nested_patterns_are_drawn_on_request() -> None:
    path = str(GOLDEN / "everything.prose.md")
    plain, nested = (read_mermaid(prose("graph", path, *more).stdout) for more in ((), ("--nested",)))
    assert not any("instance of refine (" in label for label in plain.frames.values())
    assert any("instance of refine (" in label for label in nested.frames.values())


def test_a_deep_program_is_drawn(services: str) -> None:
    lines = [f"{'  ' * level}{'if topic' if level % 2 else 'repeat 2'}:" for level in range(60)]
    body = "\n".join([*lines, f"{'  ' * 60}call look", f"{'  ' * 61}t: 1", ""])
    for form in ENDINGS:
        assert prose("graph", "--format", form, "--script", services, "-", stdin=body).exit_code == 0
    assert prose("show", "--calls", "--script", services, "-", stdin=body).exit_code == 0


def test_a_long_program_is_drawn_and_counted(services: str) -> None:
    arms = "".join(f"{'elif' if number else 'if'} {number} == 7:\n  call look\n    t: 1\n" for number in range(300))
    for form in ENDINGS:
        assert prose("graph", "--format", form, "--script", services, "-", stdin=arms).exit_code == 0
    assert "  look   0 to 1  service" in prose("show", "--calls", "--script", services, "-", stdin=arms).stdout


def test_a_chain_of_blocks_is_counted(services: str) -> None:
    blocks = "".join(f"block b{number}():\n  do b{number + 1}()\n" for number in range(400))
    body = blocks + "block b400():\n  call look\n    t: 1\n\ndo b0()\n"
    result = prose("show", "--calls", "--script", services, "-", stdin=body)
    assert "  look   1     service" in result.stdout, result.stderr


# --- where it goes ---------------------------------------------------------------------------------------------------


def test_the_name_of_the_output_says_the_form(tmp_path: Path) -> None:
    for ending, start in (
        (".svg", "<svg"),
        (".dot", "digraph"),
        (".gv", "digraph"),
        (".mmd", "flowchart"),
        ("", "flow"),
    ):
        path = tmp_path / f"out{ending}"
        result = prose("graph", "refine", "--output", str(path))
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr == f"wrote {path}\n"
        assert path.read_text(encoding="utf-8").startswith(start)
    assert prose("graph", "refine", "-q", "-o", str(tmp_path / "x.svg")).stderr == ""
    prose("graph", "refine", "--format", "dot", "-o", str(tmp_path / "y.svg"))
    assert (tmp_path / "y.svg").read_text().startswith("digraph")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    result = prose("graph", "refine", "-o", str(tmp_path / "no" / "x.svg"))
    assert result.exit_code == 2
    assert "P103" in result.stderr
    assert "cannot be written: no such file or directory" in result.stderr
    assert prose("graph", "refine", "-o", str(tmp_path)).exit_code == 2


def test_secrets_are_taken_out_of_files_too(tmp_path: Path) -> None:
    path, secret = tmp_path / "out.svg", "sk-verysecretvalue1234567890"
    body = f'if topic == "{secret}":\n  return 1\n'
    result = CliRunner().invoke(cli, ["graph", "-", "-o", str(path)], input=body, env={"OPENAI_API_KEY": secret})
    assert result.exit_code == 0
    assert secret not in path.read_text()


# --- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["graph"], ["show", "--calls"]])
def test_a_faulty_file_gets_the_errors_of_check(command: list[str]) -> None:
    body = "let x = (1\nreturn y\ncall nobody\n"
    result = prose(*command, "-", stdin=body)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{result.stderr}1 file checked\n" == prose("check", "-", stdin=body).stdout


@pytest.mark.parametrize("command", [["graph"], ["show", "--calls"]])
def test_what_cannot_be_read(command: list[str], tmp_path: Path) -> None:
    binary, empty, contract = tmp_path / "b.prose.md", tmp_path / "e.prose.md", tmp_path / "c.prose.md"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    empty.write_bytes(b"")
    contract.write_text("---\nname: c\nkind: function\n---\n\n### Requires\n\n- `x`: a thing\n")
    for source in (binary, empty, contract, tmp_path / "none.prose.md", f"{contract}#other", "nopattern"):
        result = prose(*command, str(source))
        assert (result.exit_code, result.stdout) == (2, ""), source
        assert result.stderr.startswith("error[P1"), result.stderr
        assert "Traceback" not in result.stderr


def test_an_entry_of_a_file(services: str) -> None:
    for newline in ("\n", "\r\n"):
        Path("a.prose.md").write_text("\ufeff" + ENTRIES, encoding="utf-8", newline=newline)
        graph = read_mermaid(prose("graph", "a.prose.md#b", "--script", services).stdout)
        assert list(graph.nodes.values()) == ["b", "call look\nregistered service", "end"]


# --- show --calls ----------------------------------------------------------------------------------------------------


def test_calls_of_refine() -> None:
    assert prose("show", "refine", "--calls").stdout == (
        "refine (pattern, stdlib:refine)\n"
        "\n"
        "Calls of a run, at least and at most\n"
        "  refiner    1 to max_rounds      1 to 3\n"
        "  evaluator  1 to max_rounds      1 to 3\n"
        "  in all     2 to 2 × max_rounds  2 to 6\n"
        "  judge      0 to max_rounds      0 to 3  decisions\n"
        "\n"
        "The numbers are for max_rounds = 3.\n"
        "What counts against --max-calls (attempts, and a judge's answer that has to be asked for again) is at most "
        "4 × max_rounds, here 12.\n"
        "A slot counts one call each time it is called; a pattern that is bound to it makes calls of its own.\n"
    )


def test_calls_for_given_values() -> None:
    shown = prose("show", "ensemble-synthesizer", "--calls", "ensemble_size=7").stdout.splitlines()
    assert shown[2:8] == [
        "Calls of a run, at least and at most",
        "  ensemble_member  ensemble_size      7",
        "  synthesizer      1",
        "  in all           ensemble_size + 1  8",
        "  judge            none",
        "",
    ]


def test_calls_as_json() -> None:
    found = json.loads(prose("show", "refine", "--calls", "--json", "max_rounds:=5").stdout)
    assert found["given"] == {"max_rounds": 5}
    assert found["total"] == {
        "least": "2", "most": "2 × max_rounds", "exact": False, "at_least": 2, "at_most": 10,
    }  # fmt: skip
    assert [(item["kind"], item["name"]) for item in found["targets"]] == [("slot", "refiner"), ("slot", "evaluator")]
    assert (found["judge"]["at_most"], found["limit"]["at_most"], found["notes"]) == (5, 20, [])


def test_calls_that_nothing_bounds_say_why(services: str) -> None:
    body = "block b(n):\n  call look\n    t: n\n  do b(n)\n\n"
    body += "loop:\n  call look\n    t: 1\n    retry: 1\n  if topic:\n    break\ndo b(1)\n"
    shown = prose("show", "--calls", "--script", services, "-", stdin=body).stdout
    assert "line 1: the block `b` calls itself, and nothing in the text says how often" in shown
    assert "line 6: the loop has no `max`: it ends at the latest after 1,000 passes, the run's ceiling" in shown
    assert "has no upper bound" in shown
    found = json.loads(prose("show", "--calls", "--json", "--script", services, "-", stdin=body).stdout)
    assert (found["total"]["most"], found["total"]["at_most"]) == (None, None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--calls", "rounds=2"], "error[P210] unknown-binding: `refine` takes no `rounds`"),
        (["--calls", "max_rounds=many"],
         'error[P211] wrong-type: `max_rounds` is "many", a string, where integer is declared'),
        (["--calls", "max_rounds"], "error: `max_rounds` is not NAME=VALUE, NAME:=JSON or NAME=@FILE"),
        (["max_rounds=2"], "error: values, --services and --script belong to --calls or --prompt"),
        (["--calls", "--source"], "error: --calls, --prompt and --source exclude each other"),
    ],
)  # fmt: skip
def test_wrong_words(words: list[str], message: str) -> None:
    result = prose("show", "refine", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == message
