"""`prose resume`, `prose answer`, `prose replay` and `prose run --resume`: what they print, and their exit statuses."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prose_lang.cli.main import cli

POLISH = """\
---
name: polish
kind: pattern
---

### Slots

- `writer`
- `critic`

### Config

- `max_rounds` (integer, default: 3): most rounds

### Requires

- `topic`: string -- what it is about

### Delegation

```prose
let draft = null
repeat max_rounds as round:
  draft = call writer
    topic: topic
    draft: draft
  let verdict = call critic
    draft: draft
  if verdict.score is at least 0.8:
    return { result: draft, rounds: round }
return { result: draft, rounds: 0 }
```
"""
SCRIPT = """\
w: [first draft, second draft]
c: [{score: 0.4}, {score: 0.9}]
"""
SERVICES = """\
from pathlib import Path
import prose_lang as prose

@prose.service
def w(topic, draft=None):
    with open("calls", "a") as file:
        file.write(f"{prose.current_call().idempotency_key}\\n")
    if Path("down").exists():
        raise OSError("no line")
    return f"{draft or topic}+"

@prose.service
def c(draft):
    return {"score": 0.9 if draft.count("+") > 1 else 0.1}
"""
GATE = """\
---
name: gate
kind: pattern
---

### Slots

- `asker`

### Requires

- `topics`: string[] -- what is asked about

### Delegation

```prose
let found = parallel for topic in topics:
  let answer = call asker
    question: "What of {topic}?"
  if answer.decision is "approve":
    return topic + ": " + answer.note
  return topic + ": no"
return found
```
"""

Prose = Callable[..., Result]


@pytest.fixture
def prose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prose:
    monkeypatch.chdir(tmp_path)
    Path("prose.toml").touch()
    Path("polish.prose.md").write_text(POLISH)
    Path("gate.prose.md").write_text(GATE)
    Path("script.yaml").write_text(SCRIPT)
    Path("mine.py").write_text(SERVICES)

    def prose(*args: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(cli, args, input=stdin, catch_exceptions=False)

    return prose


SCRIPTED = ("polish.prose.md", "--script", "script.yaml", "writer=w", "critic=c", "topic=rain")
REAL = ("polish.prose.md", "--services", "mine.py", "writer=w", "critic=c", "topic=rain")


def go_on(result: Result) -> list[str]:
    """The words of the command that a run says goes on with it, without the program."""
    [line] = [line for line in result.stderr.splitlines() if "go on with: prose " in line]
    return shlex.split(line.partition("go on with: prose ")[2])


def calls() -> int:
    return len(Path("calls").read_text().splitlines()) if Path("calls").exists() else 0


# --- resume ----------------------------------------------------------------------------------------------------------


def test_a_limited_run_says_how_to_go_on_and_does(prose: Prose) -> None:
    first = prose("run", *SCRIPTED, "--max-calls", "2")
    assert (first.exit_code, first.stdout) == (3, "")
    words = go_on(first)
    assert words[:1] + words[2:] == ["resume", "--script", "script.yaml", "--max-calls", "4"]
    second = prose(*words)
    assert (second.exit_code, second.stdout) == (0, "second draft\n\nrounds: 2\n")
    lines = re.sub(r"\d+\.\d\d s", "T s", second.stderr).splitlines()
    assert lines == [
        "round 1  writer (w)  “first draft”  (T s, read back)",
        "         critic (c)  score 0.4  (T s, read back)",
        "round 2  writer (w)  “second draft”  (T s)",
        "         critic (c)  score 0.9  (T s)",
        "stopped: verdict.score is at least 0.8 (0.9 >= 0.8)",
        "4 calls, T s",
    ]


def test_events_tell_what_is_read_back(prose: Prose) -> None:
    prose("run", *SCRIPTED, "--max-calls", "2")
    result = prose("resume", "latest", "--script", "script.yaml", "--max-calls", "9", "--output", "jsonl")
    *events, end = map(json.loads, result.stdout.splitlines())
    finished = [event for event in events if event["event"] == "call_finished"]
    assert [event.get("recalled") for event in finished] == [True, True, None, None]
    assert (end["event"], end["status"], len(end["calls"])) == ("end", "ok", 4)
    assert all("recalled" not in call for call in end["calls"])
    told = prose("resume", "latest", "--script", "script.yaml", "--accept-changes", "-v").stderr
    assert told.count(", read back)") == 4
    fault = prose("resume", "--output", "jsonl")
    assert (fault.exit_code, json.loads(fault.stdout)["error"]["name"]) == (2, "usage")


def test_a_run_that_is_over_gives_its_value_again(prose: Prose) -> None:
    first = prose("run", *REAL)
    assert (first.exit_code, calls()) == (0, 2)
    second = prose("resume", "latest")
    assert (second.exit_code, second.stdout) == (0, first.stdout)
    assert re.fullmatch(r"the run \S+ was over; this is what it gave\n", second.stderr)
    assert (prose("resume", "latest", "-q").stderr, calls()) == ("", 2)
    plain = json.loads(prose("resume", "latest", "--json").stdout)
    whole = json.loads(prose("run", *REAL, "--json").stdout)
    assert list(plain) == list(whole)
    assert (plain["status"], plain["value"], plain["usage"]) == ("ok", whole["value"], whole["usage"])
    assert [call["address"] for call in plain["calls"]] == [call["address"] for call in whole["calls"]]


def test_a_failed_run_is_tried_again(prose: Prose) -> None:
    Path("down").touch()
    first = prose("run", *REAL)
    words = go_on(first)
    assert (first.exit_code, words[2:]) == (1, ["--services", "mine.py", "--retry-errors"])
    assert prose(*words[:-1]).exit_code == 1
    assert calls() == 1  # what failed is read back
    Path("down").unlink()
    last = prose(*words)
    assert (last.exit_code, last.stdout) == (0, "rain++\n\nrounds: 2\n")
    keys = Path("calls").read_text().splitlines()
    assert (len(keys), keys[0]) == (3, keys[1])  # the same call, whether it is made once or twice


def test_a_run_is_meant_by_the_beginning_of_its_id_and_by_a_store(prose: Prose) -> None:
    first = prose("run", *REAL, "--store", "else where", "--max-calls", "1", "--durability", "full")
    words = go_on(first)
    assert words[2:] == [
        "--services", "mine.py", "--store", "else where", "--durability", "full", "--max-calls", "2",
    ]  # fmt: skip
    assert prose("resume", words[1], *words[2:4]).exit_code == 2  # it is in no other store
    assert prose("resume", words[1][:12], *words[2:6], "--max-calls", "none").exit_code == 0


@pytest.mark.parametrize("run", ["nothing", "latest"])
def test_there_has_to_be_such_a_run(prose: Prose, run: str) -> None:
    result = prose("resume", run)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error[P501] record-unreadable: there are no run records in `.prose/runs`" in result.stderr
    prose("run", *REAL)
    result = prose("resume", "nothing", "--json")
    plain = json.loads(result.stdout)
    assert (result.exit_code, plain["status"], plain["error"]["code"]) == (2, "invalid", "P501")
    assert (plain["run_id"], plain["error"]["hint"]) == (None, "`prose runs` lists them")


def test_options_are_those_of_the_record_unless_given(prose: Prose) -> None:
    body = 'let a = call w\n  topic: "a"\nlet b = call w\n  topic: a.b.c\nreturn b\n'
    first = prose("run", "-", "--services", "mine.py", "--strict", "--max-calls", "1", stdin=body)
    assert (first.exit_code, "P303" in first.stderr) == (1, True)
    second = prose("resume", "latest", "--services", "mine.py")
    assert (second.exit_code, "P303" in second.stderr) == (1, True)
    third = prose("resume", "latest", "--services", "mine.py", "--no-strict")
    assert third.exit_code == 3
    assert "one more than the 1 " in third.stderr
    last = prose("resume", "latest", "--services", "mine.py", "--no-strict", "--max-calls", "9", "-q")
    assert (last.exit_code, last.stdout) == (0, "None+\n")


def test_a_judge_by_name_is_that_of_the_record_and_others_are_given_again(prose: Prose) -> None:
    body = 'let a = call w\n  topic: "a"\nif **a is truly fine**:\n  call w\n    topic: "b"\n  return "fine"\n'
    script = "w: [one, two]\njudge: [{holds: true, reason: scripted}]\n"
    Path("judged.yaml").write_text(script)
    given = ("-", "--script", "judged.yaml", "--max-calls", "1")
    assert prose("run", *given, "--judge", "judge", stdin=body).exit_code == 3
    assert prose("resume", "latest", "--script", "judged.yaml", "--max-calls", "9", "-q").stdout == "fine\n"
    command = 'cmd:echo \'{"holds": true, "reason": "said"}\''
    first = prose("run", *given, "--judge", command, stdin=body)
    assert go_on(first)[2:] == ["--script", "judged.yaml", "--judge", command, "--max-calls", "2"]
    second = prose("resume", "latest", "--script", "judged.yaml", "--max-calls", "9")
    assert second.exit_code == 2
    assert f"error[P203] missing-binding: the judge was `{command}`, which a record must not" in second.stderr
    third = prose("resume", "latest", "--script", "judged.yaml", "--max-calls", "9", "--no-judge")
    assert "error[P403]" in third.stderr
    last = prose(*go_on(first)[:-1], "9", "-q")
    assert (last.exit_code, last.stdout) == (0, "fine\n")


def test_what_a_record_must_not_bring_back_is_named_as_it_was_written(prose: Prose) -> None:
    Path("text.txt").write_text("rain")
    words = ["polish.prose.md", "--services", "mine.py", "critic=c", "--max-calls", "1"]
    first = prose("run", *words, "--", 'writer: cmd:echo "it is" wet', "topic: rain")
    assert go_on(first)[2:] == [
        'writer=cmd:echo "it is" wet', "--services", "mine.py", "--max-calls", "2",
    ]  # fmt: skip
    second = prose("resume", "latest", "--services", "mine.py")
    assert second.exit_code == 2
    assert "give it again: 'writer=cmd:echo \"it is\" wet'" in second.stderr
    assert prose(*go_on(first)).exit_code == 3


def test_a_hidden_input_is_asked_for_and_never_shown(prose: Prose, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "sk-12345678")
    first = prose("run", *REAL[:-1], "topic=sk-12345678", "--max-calls", "1")
    assert "sk-12345678" not in first.output
    assert go_on(first)[2:] == ["topic=…", "--services", "mine.py", "--max-calls", "2"]
    second = prose("resume", "latest", "--services", "mine.py")
    assert (second.exit_code, "`topic` held a secret, which the record does not keep" in second.stderr) == (2, True)
    last = prose("resume", "latest", "topic=sk-12345678", "--services", "mine.py", "--max-calls", "9", "-q")
    assert (last.exit_code, last.stdout) == (0, "[redacted]++\n\nrounds: 2\n")


def test_changes_are_shown_and_accepted(prose: Prose) -> None:
    prose("run", *REAL, "--max-calls", "2")
    Path("polish.prose.md").write_text(POLISH.replace("at least 0.8", "at least 0.95"))
    first = prose("resume", "latest", "--services", "mine.py", "--max-calls", "9")
    assert first.exit_code == 2
    assert "its sources changed\n" in first.stderr
    assert "           -  if verdict.score is at least 0.8:\n" in first.stderr
    assert calls() == 1
    last = prose("resume", "latest", "--services", "mine.py", "--max-calls", "9", "--accept-changes", "-q")
    assert (last.exit_code, last.stdout, calls()) == (0, "rain+++\n\nrounds: 0\n", 3)


def test_a_program_that_fails_is_mended(prose: Prose) -> None:
    Path("polish.prose.md").write_text(POLISH.replace("  if verdict", "  let x = draft * 2\n  if verdict"))
    first = prose("run", *REAL)
    assert (first.exit_code, "error[P304]" in first.stderr) == (1, True)
    assert first.stderr.splitlines()[-1].startswith("once that is mended, go on with: prose resume ")
    Path("polish.prose.md").write_text(POLISH)
    last = prose(*go_on(first), "-q")
    assert (last.exit_code, last.stdout, calls()) == (0, "rain++\n\nrounds: 2\n", 2)


def test_what_is_given_to_a_run_that_is_over_is_looked_at(prose: Prose) -> None:
    prose("run", *REAL)
    assert prose("resume", "latest", "--services", "mine.py", "topic=rain", "-q").stdout == "rain++\n\nrounds: 2\n"
    other = prose("resume", "latest", "--services", "mine.py", "topic=snow")
    assert (other.exit_code, "what it was given changed" in other.stderr) == (2, True)
    other = prose("run", "refine", "refiner=plain", "evaluator=readability", "task_brief=x", "--resume", "latest")
    assert (other.exit_code, "its sources and what it was given changed" in other.stderr) == (2, True)
    assert calls() == 2


def test_a_run_may_be_gone_on_with_by_run(prose: Prose) -> None:
    first = prose("run", *REAL, "--max-calls", "2")
    run = go_on(first)[1]
    second = prose("run", *REAL, "--resume", run)
    assert second.exit_code == 3  # the limit of the record holds here, too
    last = prose("run", *REAL, "--resume", run, "--max-calls", "9", "--json")
    assert (last.exit_code, json.loads(last.stdout)["run_id"], calls()) == (0, run, 2)
    other = prose("run", *REAL[:-1], "topic=snow", "--resume", "latest", "--accept-changes")
    assert other.exit_code == 2  # no option of `run`
    prose("run", *REAL, "--max-calls", "2")
    other = prose("run", *REAL[:-1], "topic=snow", "--resume", "latest")
    assert (other.exit_code, "what it was given changed" in other.stderr) == (2, True)
    assert prose("run", *REAL, "--resume", "latest", "--no-record").exit_code == 2


def test_a_source_of_standard_input_is_in_the_record(prose: Prose) -> None:
    body = 'let a = call w\n  topic: "a"\nlet b = call w\n  topic: a\nreturn b\n'
    prose("run", "-", "--services", "mine.py", "--max-calls", "1", stdin=body)
    assert prose("resume", "latest", "--services", "mine.py", "--max-calls", "9", "-q").stdout == "a++\n"


# --- answer ----------------------------------------------------------------------------------------------------------

ASK = "asker: {always: {ask: well?}}\n"


def test_a_person_answers_by_fields(prose: Prose) -> None:
    Path("ask.yaml").write_text(ASK)
    first = prose("run", "gate.prose.md", "--script", "ask.yaml", "asker=asker", 'topics:=["rain"]')
    words = go_on(first)
    assert (first.exit_code, words[0], words[2:]) == (4, "answer", ["asker=…", "--script", "ask.yaml"])
    last = prose("answer", words[1], "decision=approve", "note=fine", "--script", "ask.yaml", "-q")
    assert (last.exit_code, last.stdout) == (0, "- rain: fine\n")


def test_only_what_is_answered_goes_on(prose: Prose) -> None:
    Path("ask.yaml").write_text(ASK)
    given = ("--script", "ask.yaml")
    first = prose("run", "gate.prose.md", *given, "asker=asker", 'topics:=["a", "b", "c"]')
    words = go_on(first)
    addresses = [f"delegation/0.parallel[{number}]/0.call:asker" for number in range(3)]
    assert words[2:-2] == [f"{address}=…" for address in addresses]
    several = prose("answer", "latest", "asker=x", *given)
    assert several.exit_code == 2
    assert "`asker` may be the answer for 3 calls that wait" in several.stderr
    assert f"`asker` waits at {addresses[1]}: well?" in several.stderr
    second = prose("answer", "latest", f'{addresses[1]}:={{"decision": "approve", "note": "B"}}', *given)
    assert (second.exit_code, go_on(second)[2:-2]) == (4, [f"{addresses[0]}=…", f"{addresses[2]}=…"])
    plain = json.loads(prose("answer", "latest", f'{addresses[0]}={{"decision": "no"}}', *given, "--json").stdout)
    assert plain["error"]["hint"].splitlines()[-1] == f"prose answer {plain['run_id']} asker=… --script ask.yaml"
    last = prose("answer", "latest", "decision=approve", "note=C", *given, "-q")
    assert (last.exit_code, last.stdout) == (0, "- a: no\n- b: B\n- c: C\n")


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["nobody=1"], "`nobody` is neither what waits nor a field that is read of the answer"),
        (["decision=approve", "nte=x"], "did you mean `note`?"),
        (["asker:=1", "delegation/0.parallel[0]/0.call:asker=2"], "answer the same call"),
        (["asker=yes"], "`asker` is to be an object, for the program reads note, decision of it"),
        (["asker"], "`asker` is not NAME=VALUE"),
        (["asker=1", "asker=2"], "`asker` is answered twice"),
        (["asker:={"], "`asker` is not valid JSON"),
        (["asker=@nothing"], "there is no file `nothing`"),
        ([], "missing argument"),
    ],
)
def test_an_answer_that_is_none_changes_nothing(prose: Prose, answers: list[str], message: str) -> None:
    Path("ask.yaml").write_text(ASK)
    prose("run", "gate.prose.md", "--script", "ask.yaml", "asker=asker", 'topics:=["a"]')
    result = prose("answer", "latest", *answers, "--script", "ask.yaml")
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
    assert prose("answer", "latest", "decision=approve", "note=x", "--script", "ask.yaml", "-q").exit_code == 0
    result = prose("answer", "latest", "asker=x", "--script", "ask.yaml")
    assert (result.exit_code, "nothing of the run" in result.stderr) == (2, True)


def test_names_that_have_to_be_given_again_with_an_answer(prose: Prose) -> None:
    Path("asking.py").write_text(
        "import prose_lang as prose\ndef ask(question):\n    raise prose.WaitingError('P411', question)\n"
    )
    first = prose("run", "gate.prose.md", "asker=py:asking:ask", 'topics:=["a"]')
    words = go_on(first)
    assert words[2:] == ["asker=…", "--given", "asker=py:asking:ask"]
    last = prose("answer", words[1], "decision=approve", "note=x", *words[3:], "-q")
    assert (last.exit_code, last.stdout) == (0, "- a: x\n")


# --- replay ----------------------------------------------------------------------------------------------------------


def test_a_run_comes_out_of_its_record(prose: Prose) -> None:
    prose("run", *REAL)
    result = prose("replay", "latest", "--services", "mine.py")
    assert result.exit_code == 0
    assert re.fullmatch(r"the run \S+ comes out the same \(4 calls\)\n", result.stdout)
    assert calls() == 2
    plain = json.loads(prose("replay", "latest", "--services", "mine.py", "--json").stdout)
    assert {key: plain[key] for key in ("status", "same", "to_its_end", "diverges", "error", "value", "calls")} == {
        "status": "ok", "same": True, "to_its_end": True, "diverges": None, "error": None,
        "value": {"result": "rain++", "rounds": 2}, "calls": 4,
    }  # fmt: skip


@pytest.mark.parametrize("how", ["limited", "failed", "waiting"])
def test_a_run_that_did_not_come_to_its_end_is_followed_as_far_as_it_went(prose: Prose, how: str) -> None:
    Path("ask.yaml").write_text(ASK)
    if how == "limited":
        prose("run", *REAL, "--max-calls", "2")
        said = "comes out the same, as far as its record goes (2 calls)"
    elif how == "failed":
        Path("down").touch()
        prose("run", *REAL)
        Path("down").unlink()
        said = "comes out the same (1 call)"
    else:
        prose("run", "gate.prose.md", "--script", "ask.yaml", "asker=asker", 'topics:=["a"]')
        said = "comes out the same, as far as its record goes (1 call)"
    result = prose("replay", "latest", "--services", "mine.py", "--script", "ask.yaml")
    assert (result.exit_code, result.stdout.split(" ", 3)[3].strip()) == (0, said), result.output


def test_where_a_run_diverges_is_shown(prose: Prose) -> None:
    """The program itself is another one than the one that recorded: a service takes one input less."""
    prose("run", *REAL)
    Path("mine.py").write_text(
        SERVICES.replace("def c(draft):", "def c(draft, more=1):")
        .replace("def w(topic, draft=None)", "def w(topic)")
        .replace("draft or topic", "topic")
    )
    result = prose("replay", "latest", "--services", "mine.py")
    assert result.exit_code == 1
    assert "does not come out the same: the run was ok, and its replay gives P502" in result.stdout
    assert (
        "the call of `w` is not the one that the run recorded at delegation/1.repeat[2]/0.call:writer" in result.stderr
    )
    plain = json.loads(prose("replay", "latest", "--services", "mine.py", "--json").stdout)
    assert (plain["same"], plain["error"]["code"], plain["error"]["line"]) == (False, "P502", 24)


def test_a_replay_of_what_is_not_there(prose: Prose) -> None:
    prose("run", *REAL)
    assert prose("replay", "nothing").exit_code == 2
    result = prose("replay", "latest")
    assert (result.exit_code, "P202" in result.stderr) == (2, True)
    Path("polish.prose.md").write_text(POLISH.replace("0.8", "0.7"))
    result = prose("replay", "latest", "--services", "mine.py")
    assert (result.exit_code, "P502" in result.stderr, "--accept-changes" in result.stderr) == (2, True, False)
