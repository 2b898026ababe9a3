"""The hooks for pre-commit do what they say: each entry is a command of ours that takes the files as arguments."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner
from ruamel.yaml import YAML

from prose_lang.cli.group import COMMANDS
from prose_lang.cli.main import cli

ROOT = Path(__file__).parents[2]
HOOKS = {hook["id"]: hook for hook in YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")}
FAULTY = "---\nname: p\nkind: pattern\n---\n\n### Delegation\n\n```prose\nloop:\n  let x={a:1}\n```\n"


def hook(name: str, *files: Path) -> int:
    words = HOOKS[name]["entry"].split()
    assert words[0] == "prose"
    assert words[1] in COMMANDS
    return CliRunner().invoke(cli, [*words[1:], *map(str, files)]).exit_code


def test_hooks_are_complete_and_see_pattern_files_only() -> None:
    assert sorted(HOOKS) == ["prose-check", "prose-fmt", "prose-lint"]
    for name, entry in HOOKS.items():
        assert entry["language"] == "python"
        assert entry["name"] == name.replace("-", " ")
        assert re.search(entry["files"], "patterns/refine.prose.md")
        assert not re.search(entry["files"], "README.md")


def test_hooks_work_on_files(tmp_path: Path) -> None:
    sound = ROOT / "stdlib_patterns" / "refine.prose.md"
    faulty = tmp_path / "p.prose.md"
    faulty.write_text(FAULTY, encoding="utf-8")
    broken = tmp_path / "q.prose.md"
    broken.write_text(FAULTY.replace("loop:", "loop"), encoding="utf-8")
    assert [hook(name, sound, faulty) for name in ("prose-check", "prose-lint", "prose-fmt")] == [0, 1, 0]
    assert "  let x = { a: 1 }\n" in faulty.read_text(encoding="utf-8")
    assert [hook(name, broken) for name in ("prose-check", "prose-lint", "prose-fmt")] == [2, 2, 2]
