"""`prose trace`: a recorded run as a tree, under way, cut off, or long; one call; and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from prose_lang.cli.main import cli
from prose_lang.cli.tracing import MOST_LINES
from prose_lang.journal import Begun, Ended, Entry, Finished, RunRecord, Store, open_store
from prose_lang.journal.records import Decided

INNER = """\
---
name: inner
kind: pattern
---

### Requires

- `task`: string -- it

### Delegation

```prose
loop until **the text is good** (max: 3):
  let text = call editor
    text: task
return text
```
"""
PATTERN = """\
---
name: outer
kind: pattern
---

### Requires

- `topic`: string -- it

### Delegation

```prose
block polish(text):
  return call editor
    text: text
let drafts = [topic, "b"] | pmap:
  call writer
    topic: item
parallel ("first"):
  call quick
    q: 1
  call slow
    q: 2
try:
  call broken
    x: 1
      retry: 1
catch as e:
  call fallback
    why: e.message
let d = do polish(drafts[0])
for part in drafts:
  if part == "b":
    call writer
      topic: part
return call inner
  task: d
```
""".replace("      retry: 1\n", "    retry: 1\n")
SCRIPT = {
    "writer": [{"returns": "one"}, {"returns": "b"}, {"returns": "b, again"}],
    "quick": [{"returns": "q", "delay": 0.01}],
    "slow": [{"returns": "s", "delay": 60}],
    "broken": {"always": {"raises": {"name": "too-cold", "message": "it is down"}}},
    "fallback": {"always": "ok"},
    "editor": {"always": "edited"},
    "judge": [{"holds": False, "reason": "too short"}, {"holds": True, "reason": "good now"}],
}
TREE = """\
pmap: 2 items  (2 calls, …)
  item 1  writer  “one”  (…)
  item 2  writer  “b”  (…)
parallel: 2 branches, decided by branch 1  (2 calls, …)
  branch 1  quick  “q”  (…)
  branch 2  slow  cut off  (…)
broken  failed: it is down [P406]  (…, 2 attempts)
catch  (1 call, …)
  fallback  “ok”  (…)
polish  (1 call, …)
  editor  “edited”  (…)
for: 2 items  (1 call, …)
  item 1  ? part == "b": no (expression: part one)
  item 2  (1 call, …)
    ? part == "b": yes (expression: part b)
    writer  “b, again”  (…)
inner  (4 calls, …)
  loop: 2 rounds  (4 calls, …)
    round 1  (2 calls, …)
      editor  “edited”  (…)
      ? the text is good: no (judge: too short)  (…)
    round 2  (2 calls, …)
      editor  “edited”  (…)
      ? the text is good: yes (judge: good now)  (…)
"""


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def prose(*args: str, **environ: str) -> Result:
    return CliRunner().invoke(cli, args, env=dict(environ))


@pytest.fixture
def ran(alone: None) -> dict[str, Any]:
    """What `prose run --json` printed of the run that is looked at."""
    Path("outer.prose.md").write_text(PATTERN, encoding="utf-8")
    Path("inner.prose.md").write_text(INNER, encoding="utf-8")
    Path("script.yaml").write_text(json.dumps(SCRIPT), encoding="utf-8")
    result = prose("run", "outer.prose.md", "topic=a", "--script=script.yaml", "--judge=judge", "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def timeless(text: str) -> str:
    return re.sub(r"\d+\.\d\d s", "…", text)


def test_a_tree(ran: dict[str, Any]) -> None:
    result = prose("trace")
    assert (result.exit_code, result.stderr) == (0, "")
    head, tree, end = timeless(result.stdout).split("\n\n")
    lines = head.splitlines()
    assert lines[0] == f"outer  ok  {ran['run_id']}"
    assert re.fullmatch(r"started  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, …, 13 calls", lines[1])
    assert lines[2:] == [f"source   {Path('outer.prose.md').absolute()}", "given    topic: “a”"]
    assert f"{tree}\n" == TREE
    assert end == "gave     “edited”\n"


def test_which_run_is_meant(ran: dict[str, Any]) -> None:
    first = prose("trace").stdout
    assert prose("trace", "latest").stdout == first
    assert prose("trace", ran["run_id"]).stdout == prose("trace", ran["run_id"][:9]).stdout == first
    missing = prose("trace", "zzz")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert missing.stderr == (
        "error[P501] record-unreadable: there is no record of the run `zzz` in `data/prose/runs`\n"
        "   = help: `prose runs` lists them\n"
    )


def test_json_is_what_the_run_printed(ran: dict[str, Any]) -> None:
    found = json.loads(prose("trace", "--json").stdout)
    for call in (*found["calls"], *ran["calls"]):
        assert call.pop("seconds") >= 0
    assert {name: found[name] for name in ran if name not in ("calls", "usage")} == {
        name: value for name, value in ran.items() if name not in ("calls", "usage")
    }
    cancelled = [call["address"] for call in ran["calls"] if (call.get("error") or {}).get("name") == "cancelled"]
    assert cancelled == ["delegation/2.parallel[1]/0.call:slow"]
    assert [call["address"] for call in found["calls"]] == [call["address"] for call in ran["calls"]]
    assert [call.get("value") for call in found["calls"]] == [call.get("value") for call in ran["calls"]]
    assert found["usage"] == ran["usage"]
    assert found["pattern"] == "outer"
    assert found["given"] == {"topic": "a"}
    assert found["source"] == {"name": "outer.prose.md", "path": str(Path("outer.prose.md").absolute()), "entry": ""}
    assert found["options"]["judge"] == "judge"
    assert found["started"] <= found["ended"] == found["active"] or found["ended"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", found["started"])


def test_one_call(ran: dict[str, Any]) -> None:
    result = prose("trace", "--call", "2.catch/0.call:fallback")
    assert result.exit_code == 2
    result = prose("trace", "--call", "catch/0.call:fallback")
    lines = timeless(result.stdout).splitlines()
    assert lines[:2] == ["fallback  (…)", "address  delegation/3.catch/0.call:fallback"]
    assert lines[3:] == ["given", "  why: it is down", "gave", "  ok"]
    assert prose("trace", "--call", "delegation/3.catch/0.call:fallback").stdout == result.stdout
    plain = json.loads(prose("trace", "--call", "call:broken", "--json").stdout)
    assert (plain["state"], plain["attempts"], plain["modifiers"]) == ("error", 2, {"retry": 1})
    assert plain["error"] == {"code": "P406", "name": "too-cold", "message": "it is down"}


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("call:writer", "3 calls end with `call:writer`: `delegation/1.0.pmap[0]/0.call:writer`, "),
        ("delegation/3.catch/0.call:fallbac", "has no call at `delegation/3.catch/0.call:fallbac`"),
        ("", "has no call at ``"),
    ],
)
def test_a_call_that_is_none_or_several(ran: dict[str, Any], address: str, said: str) -> None:
    result = prose("trace", "--call", address)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    if "fallbac" in address:
        assert "help: did you mean `delegation/3.catch/0.call:fallback`?" in result.stderr


def test_all_of_it(ran: dict[str, Any]) -> None:
    assert "  delegation/3.catch/0.call:fallback\n" in prose("trace", "-v").stdout
    full = timeless(prose("trace", "--full").stdout)
    assert (
        "  fallback  “ok”  (…)\n    delegation/3.catch/0.call:fallback\n"
        "    given\n      why: it is down\n    gave\n      ok\n"
    ) in full
    assert "  with\n    retry: 1\n  failed\n    code: P406\n    name: too-cold\n    message: it is down\n" in full


def test_it_is_plain_unless_colours_are_wanted(ran: dict[str, Any]) -> None:
    assert "\x1b" not in prose("trace").stdout
    assert "\x1b[1;32mok\x1b[0m" in prose("trace", FORCE_COLOR="1").stdout


def test_a_failed_run() -> None:
    Path("f.prose.md").write_text(
        "---\nname: f\nkind: pattern\n---\n\n### Delegation\n\n```prose\ncall w\n  x: 1\n```\n"
    )
    Path("w.yaml").write_text("w: [{raises: it is down}]")
    assert prose("run", "f.prose.md", "--script", "w.yaml", "-q").exit_code == 1
    shown = timeless(prose("trace").stdout)
    assert shown.startswith("f  failed  ")
    assert "\nw  failed: it is down [P406]  (…)\n\nerror[P406] it is down (f.prose.md:9)\n" in shown


# --- runs that are not over ------------------------------------------------------------------------------------------


def begun(store: Store, run: str, entries: Sequence[Entry]) -> None:
    record = RunRecord(
        run, "p", '{"name": "p.prose.md", "path": null, "entry": "one"}',
        '{"values": {}, "hidden": [], "services": {"s": {"text": "cmd:x"}, "l": [{"text": "a"}, {"text": "b"}]}}',
        "{}", "", "1", started=1.0,
    )  # fmt: skip
    store.create(record, [])
    store.write([part for entry in entries for part in _written(run, entry)])


def _written(run: str, entry: Entry) -> list[Any]:
    first = Begun(run, entry._replace(state="started", result=None))
    return [first] if entry.state == "started" else [first, Ended(run, entry)]


def entry(number: int, state: str, result: Any = None, **more: Any) -> Entry:
    made = Entry(
        f"delegation/{number}.call:s", "call", "s", "f", '{"inputs":{}}', state, json.dumps(result),
        attempts=1, started=1.0, position=f"[{number}, 0]",
    )  # fmt: skip
    return made._replace(**more)


STATES = [
    entry(0, "value", "x"), entry(1, "withheld"), entry(2, "cancelled"), entry(3, "waiting"),
    entry(4, "started"), entry(5, "value", "y", key="leaving:delegation/5.finally/0.call:s"),
]  # fmt: skip


def test_a_run_under_way_and_one_whose_process_died() -> None:
    store = open_store("s")
    begun(store, "r1", STATES)
    with store.hold("r1"):  # type: ignore[attr-defined]
        alive = prose("trace", "r1", "--store", "s").stdout
        assert json.loads(prose("trace", "r1", "--store", "s", "--json").stdout)["status"] == "running"
    dead = prose("trace", "r1", "--store", "s").stdout
    assert alive.startswith("p  running  r1\n")
    assert dead.startswith("p  interrupted  r1\n")
    assert re.search(r"^active   \d.* ago$", alive, re.MULTILINE)
    assert re.search(r"^active   \d.* ago; its process died$", dead, re.MULTILINE)
    assert "\nsource   p.prose.md#one\ngiven    s: cmd:x\n         l: a, b\n" in alive
    assert "s  under way  (" in alive
    assert "s  cut off: it had not answered\n" in dead
    for line in (
        "s  “x”  (0.00 s)",
        "s  answered with a secret, which is not kept",
        "s  cut off\n",
        "s  waits for a person",
        "finally  (1 call, 0.00 s)\n  s  “y”  (0.00 s) while the run was being ended",
    ):
        assert line in dead
    assert json.loads(prose("trace", "r1", "--store", "s", "--json").stdout)["status"] == "interrupted"


def test_branches_that_a_failure_ended() -> None:
    body = "parallel for x in [1, 2, 3]:\n  call w\n    x: x\n"
    text = f"---\nname: f\nkind: pattern\n---\n\n### Delegation\n\n```prose\n{body}```\n"
    Path("f.prose.md").write_text(text)
    Path("w.yaml").write_text("w: [{returns: 1, delay: 9}, {raises: no, delay: 0.01}, {returns: 3, delay: 9}]")
    assert prose("run", "f.prose.md", "--script", "w.yaml", "-q").exit_code == 1
    shown = timeless(prose("trace").stdout)
    assert (
        "parallel: 3 branches, ended when branch 2 failed  (3 calls, 1 failed, …)\n"
        "  branch 1  w  cut off  (…)\n  branch 2  w  failed: no [P406]  (…)\n  branch 3  w  cut off  (…)\n"
    ) in shown


def test_costs_are_summed_and_unknown_ones_told() -> None:
    store = open_store("s")
    priced = [entry(0, "value", 1, usage="[10, 20, 0.0125]"), entry(1, "value", 2, usage="[1, 2, null]")]
    begun(store, "r1", priced[:1])
    begun(store, "r2", priced)
    first, second = (prose("trace", run, "--store", "s").stdout for run in ("r1", "r2"))
    assert "1 call, 10 tokens in, 20 out, $0.0125\n" in first
    assert "s  1  (0.00 s, $0.0125)\n" in first
    assert "2 calls, 11 tokens in, 22 out, cost unknown\n" in second
    assert "s  2  (0.00 s, cost unknown)\n" in second


def test_a_long_run_is_shortened() -> None:
    store = open_store("s")
    entries = [
        entry(0, "error" if i == 50 else "value", {"code": "P406", "message": "no"} if i == 50 else i,
              key=f"delegation/0.for[{i}]/0.repeat[{k}]/0.call:s", position=f"[0, {i}, 0, {k}, 0]")
        for i in range(100) for k in (1, 2, 3)
    ]  # fmt: skip
    begun(store, "r1", entries)
    short = prose("trace", "--store", "s").stdout.splitlines()
    whole = prose("trace", "--store", "s", "--all").stdout.splitlines()
    assert len(short) <= MOST_LINES + 10
    assert len(whole) == 6 + 1 + 1 + 100 * 4
    assert short[8] == "  item 1  repeat: 3 rounds  (3 calls, 0.00 s)"
    assert short[-4] == "  item 100  repeat: 3 rounds  (3 calls, 0.00 s)"
    (left,) = [line for line in short if "…" in line]
    match = re.fullmatch(r"  … (\d+) more items \((\d+) calls, 3 failed\); --all shows them", left)
    assert match is not None
    assert int(match[2]) == 3 * int(match[1])
    assert len(short) == len(whole) - 4 * int(match[1]) + 1


def test_of_many_nodes_in_many_only_some_are_shown() -> None:
    store = open_store("s")
    begun(store, "r1", [
        entry(0, "value", i, key=f"delegation/0.for[{i}]/0.for[{k}]/0.call:s", position=f"[0, {i}, 0, {k}, 0]")
        for i in range(60) for k in range(60)
    ])  # fmt: skip
    lines = prose("trace", "--store", "s").stdout.splitlines()
    assert len(lines) <= MOST_LINES + 10
    assert sum("item 1  s  " in line for line in lines) >= 3


def test_warnings_and_decisions_of_models() -> None:
    store = open_store("s")
    begun(store, "r1", [])
    judge = '{"model": "openai/gpt-x", "prompt": "1", "cached": false}'
    store.write([Decided("r1", "delegation/0.choice", "[0, -1, 0]", "tone", "judge", '"formal"', "{}", "it is", judge)])
    store.write([Finished("r1", "ok", '{"value": null}', 5.0)])
    shown = prose("trace", "--store", "s").stdout
    assert "? tone: formal (judge openai/gpt-x: it is)\n" in shown
    assert shown.endswith("\n\ngave     null\n")


def test_what_would_act_on_a_terminal_does_not() -> None:
    store = open_store("s")
    begun(store, "r1", [entry(0, "value", "a\x1b[31mb\x07", service="s\x1b]0;x\x07")])
    assert "\x1b" not in prose("trace", "--store", "s").stdout
    assert "\x07" not in prose("trace", "--store", "s", "--call", "call:s").stdout.split("gave")[0]


def test_an_empty_store_and_none() -> None:
    open_store("s").close()
    assert prose("trace", "--store", "s").stderr == "error[P501] record-unreadable: no run is recorded in `s`\n"
    assert prose("trace").stderr == ("error[P501] record-unreadable: there are no run records in `data/prose/runs`\n")
    assert not Path("data").exists()


# --- the page --------------------------------------------------------------------------------------------------------


class _Checked(HTMLParser):
    """Reads a page, sees that its tags are closed in order, and keeps its texts, its tags, and how deep it is."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.deepest = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag not in ("meta",):
            self.open.append(tag)
        self.deepest = max(self.deepest, self.open.count("details"))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and "style" not in self.open:
            self.texts.append(data)


def page(text: str) -> _Checked:
    found = _Checked()
    found.feed(text)
    found.close()
    assert found.open == []
    assert found.tags <= set("html head meta title style body h1 h3 span dl dt dd details summary div i pre".split())
    assert found.attributes <= {"lang", "charset", "name", "content", "http-equiv", "class", "open", "style"}
    assert "url(" not in text
    return found


def test_a_page(ran: dict[str, Any]) -> None:
    result = prose("trace", "--html", "run.html")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "wrote run.html\n")
    text = Path("run.html").read_text(encoding="utf-8")
    found = page(text)
    assert found.texts[:3] == ["outer", "outer ", "ok"]
    for said in (
        "run",
        ran["run_id"],
        "parallel: 2 branches, decided by branch 1",
        "item 1  writer",
        "“one”",
        "cut off",
    ):
        assert said in found.texts
    assert found.texts.count("delegation/3.catch/0.call:fallback") == 1
    assert '{\n  "why": "it is down"\n}' in found.texts
    assert found.deepest == 4  # inner, its loop, a round, a call
    assert text.count('<div class="time"><i style="left:') == len(re.findall("class=.time", text)) > 10
    for left, width in re.findall(r"left:([\d.]+)%;width:([\d.]+)%", text):
        assert 0 <= float(left) <= 100
        assert float(left) + float(width) <= 100.01
    assert prose("trace", "--html", "-").stdout.count("\n") == text.count("\n")


def test_a_page_runs_nothing_that_a_run_said() -> None:
    store = open_store("s")
    begun(store, "r1", [entry(0, "value", "</pre><script>alert(1)</script>&amp;", service='<b onclick="x">\x07')])
    text = prose("trace", "--store", "s", "--html", "-").stdout
    assert "<script" not in text
    assert "<b" not in text.replace("<body", "")
    found = page(text)
    assert "</pre><script>alert(1)</script>&amp;" in found.texts
    assert any('<b onclick="x">' in text for text in found.texts)
    assert "\x07" not in text


def test_a_page_holds_no_secret() -> None:
    secret = "sk-<0123>&456789"
    store = open_store("s")
    begun(store, "r1", [entry(0, "value", {"a": f"x{secret}"}, service=f"cmd:{secret}")])
    text = prose("trace", "--store", "s", "--html", "-", OPENAI_API_KEY="").stdout
    assert "sk-&lt;0123&gt;&amp;456789" in text
    text = CliRunner().invoke(cli, ["trace", "--store", "s", "--html", "-"], env={"OPENAI_API_KEY": secret}).stdout
    assert "0123" not in text
    assert text.count("[redacted]") >= 3


def test_a_long_page_is_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prose_lang.cli.trace_page.MOST_ROWS", 50)
    store = open_store("s")
    begun(store, "r1", [
        entry(0, "value", i, key=f"delegation/0.for[{i}]/0.call:s", position=f"[0, {i}, 0]") for i in range(500)
    ])  # fmt: skip
    short = page(prose("trace", "--store", "s", "--html", "-").stdout)
    assert sum("more items" in text for text in short.texts) == 1
    assert sum(text.startswith("item ") for text in short.texts) < 50
    whole = page(prose("trace", "--store", "s", "--html", "-", "--all").stdout)
    assert sum(text.startswith("item ") for text in whole.texts) == 500


def test_a_page_that_cannot_be_written(ran: dict[str, Any]) -> None:
    result = prose("trace", "--html", "nowhere/run.html")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[P103]")
    assert "`nowhere/run.html` cannot be written: no such file or directory" in result.stderr
    both = prose("trace", "--html", "x.html", "--json")
    assert (both.exit_code, both.stderr) == (2, "")
    error = json.loads(both.stdout)["error"]
    assert (error["name"], error["message"]) == ("usage", "--html is a form of its own: leave --json and --call out")
    assert not Path("x.html").exists()


@pytest.mark.parametrize("command", ["trace", "replay"])
def test_json_is_one_object_where_there_is_no_such_run(ran: dict[str, Any], command: str) -> None:
    result = prose(command, "nobody", "--json")
    assert (result.exit_code, result.stderr) == (2, "")
    told = json.loads(result.stdout)
    assert (told["run_id"], told["status"], told["error"]["code"]) == (None, "invalid", "P501")
