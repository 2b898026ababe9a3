"""How the tests of the pytest plugin run pytest, and a pattern for it."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

#: Where the project is installed, pytest finds the plugin itself; in a bare checkout it is named.
PLUGIN = () if entry_points(group="pytest11", name="prose") else ("-p", "prose_lang.testing.plugin")
#: What a session can do without: others' plugins, and collecting garbage at its end, which takes most of its time.
QUICK = [word for name in ("cacheprovider", "unraisableexception", "hypothesispytest") for word in ("-p", f"no:{name}")]
#: Tests of this process may have imported the plugin before a session does, which can then rewrite no asserts in it.
IMPORTED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")

SHOUT = """---
name: shout
kind: pattern
---

### Slots

- `writer`

### Requires

- Pattern instance receives:
    topic: string

### Delegation

```prose
let text = call writer
  topic: topic
return text
```
"""


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess(*PLUGIN, *QUICK, *IMPORTED, *args)


def write(pytester: pytest.Pytester, name: str, text: str) -> None:
    pytester.path.joinpath(name).write_text(text, encoding="utf-8")
