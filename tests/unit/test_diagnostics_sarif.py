"""Diagnostics as SARIF 2.1.0: the structure that consumers check, places, and file addresses."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from prose_lang.diagnostics import CODES, Diagnostic, Severity
from prose_lang.diagnostics.explain import explain, summary
from prose_lang.diagnostics.sarif import artifact_location, to_sarif
from prose_lang.text import Source, Span


def found() -> list[Diagnostic]:
    source = Source("patterns/my file.prose.md", '\ufefflet x = "é"\nreturn y\n')
    return [
        Diagnostic("P201", "no `y`", source, Span(20, 21), hint="did you mean `x`?", notes=("a note",)),
        Diagnostic(None, "assigned again", source, Span(1, 13), name="re-let", severity=Severity.WARNING),
        Diagnostic("P201", "no `z`", source, Span(20, 22), severity=Severity.ERROR),
        Diagnostic("P103", "not found", Source("gone.prose.md", ""), None),
        Diagnostic("P410", "no model", None, None, severity=Severity.NOTE),
    ]


def test_structure() -> None:
    log = to_sarif(found(), "1.2.3")
    assert json.loads(json.dumps(log)) == log
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    assert set(run) == {"tool", "columnKind", "results"}
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("prose", "1.2.3")
    rules = driver["rules"]
    assert [rule["id"] for rule in rules] == ["P103", "P201", "P410", "re-let"]
    for result in run["results"]:
        assert set(result) <= {"ruleId", "ruleIndex", "level", "message", "locations"}
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert set(result["message"]) == {"text"}
        for location in result.get("locations", []):
            physical = location["physicalLocation"]
            assert re.fullmatch(r"[A-Za-z0-9._~!$&'()*+,;=@/%-]+", physical["artifactLocation"]["uri"])
            for region in [physical["region"]] if "region" in physical else []:
                assert all(number >= 1 for number in region.values())
                assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])


def test_rules_are_explained_by_their_pages() -> None:
    rules = to_sarif(found(), "1")["runs"][0]["tool"]["driver"]["rules"]
    assert rules[1] == {
        "id": "P201",
        "name": "unknown-name",
        "shortDescription": {"text": CODES["P201"].title},
        "fullDescription": {"text": summary("P201")},
        "help": {"text": summary("P201"), "markdown": explain("P201")},
        "defaultConfiguration": {"level": "error"},
    }
    assert rules[3]["name"] == "re-let"
    assert rules[3]["defaultConfiguration"] == {"level": "warning"}


def test_results_in_the_order_given_with_their_places() -> None:
    results = to_sarif(found(), "1")["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["P201", "re-let", "P201", "P103", "P410"]
    assert results[0] == {
        "ruleId": "P201",
        "ruleIndex": 1,
        "level": "error",
        "message": {"text": "no `y`\nHelp: did you mean `x`?\na note"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "patterns/my%20file.prose.md", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 2, "startColumn": 8, "endLine": 2, "endColumn": 9},
                }
            }
        ],
    }
    # The byte order mark is no column, and the end of a span may be the start of the next line.
    region = results[1]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 1, "startColumn": 1, "endLine": 2, "endColumn": 1}
    assert results[3]["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "gone.prose.md", "uriBaseId": "%SRCROOT%"}}}
    ]
    assert "locations" not in results[4]


def test_a_thrown_error_does_not_rename_the_rule() -> None:
    thrown = Diagnostic("P308", "no luck", None, None, name="draft-broken")
    assert to_sarif([thrown], "1")["runs"][0]["tool"]["driver"]["rules"][0]["name"] == "thrown"


def test_nothing_found() -> None:
    (run,) = to_sarif([], "1")["runs"]
    assert run["results"] == []
    assert run["tool"]["driver"]["rules"] == []


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("a.prose.md", "a.prose.md"),
        ("dir/ä b#c?.prose.md", "dir/%C3%A4%20b%23c%3F.prose.md"),
        ("/project/src/a.prose.md", "src/a.prose.md"),
        ("stdlib:refine", "stdlib%3Arefine"),
        ("100%.prose.md", "100%25.prose.md"),
        ("bad\udcff.prose.md", "bad%FF.prose.md"),
    ],
)
def test_relative_addresses(name: str, uri: str) -> None:
    location = artifact_location(PurePosixPath(name), PurePosixPath("/project"))
    assert location == {"uri": uri, "uriBaseId": "%SRCROOT%"}


def test_addresses_outside_and_on_windows() -> None:
    base = PureWindowsPath("C:\\project")
    assert artifact_location(PurePosixPath("/else/a b.md"), PurePosixPath("/project")) == {
        "uri": "file:///else/a%20b.md"
    }
    assert artifact_location(PureWindowsPath("src\\a b.md"), base)["uri"] == "src/a%20b.md"
    assert artifact_location(PureWindowsPath("c:\\Project\\x\\a.md"), base)["uri"] == "x/a.md"
    assert artifact_location(PureWindowsPath("D:\\a.md"), base) == {"uri": "file:///D:/a.md"}


def test_the_base_is_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inside = Diagnostic("P103", "not found", Source(str(Path.cwd() / "x" / "a.prose.md"), ""), None)
    location = to_sarif([inside], "1")["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "x/a.prose.md", "uriBaseId": "%SRCROOT%"}
