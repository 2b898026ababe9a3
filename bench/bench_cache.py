"""A hit of the response cache: what an answer costs that nobody has to give.

python bench/bench_cache.py [--calls 1000]    time of a hit above that of a function's call, both on record

The floor is the same fan-out of a function that returns at once, recorded in a store of the same kind.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from harness import compare

import prose_lang as prose

MODEL = "openai/m"


class Answers:
    async def complete(self, request: prose.Request, seconds: float) -> prose.Reply:
        return prose.Reply("fine", tokens_in=20, tokens_out=1)


def pattern(engine: prose.Engine, calls: int) -> prose.Pattern:
    return engine.loads(
        "---\nname: crowd\nkind: pattern\n---\n\n### Slots\n\n- `member`\n\n### Delegation\n\n```prose\n"
        f"let all = parallel repeat {calls} as n:\n  return call member\n    n: n\nreturn all.length\n```\n"
    )


async def function(n: int) -> str:
    return "fine"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000)
    calls = parser.parse_args().calls
    limits = prose.Limits(calls=None)
    with tempfile.TemporaryDirectory() as folder:
        plain = prose.Engine(store=Path(folder, "plain"), limits=limits)
        cached = prose.Engine(store=Path(folder, "cached"), cache="both", completion=Answers(), limits=limits)
        floor_crowd, crowd = pattern(plain, calls), pattern(cached, calls)
        member = prose.ref(f"model:{MODEL}")
        first = crowd.run(member=member)
        assert first.usage.cached == 0, "the first run asks"

        async def floor() -> Any:
            return (await floor_crowd.arun(member=function)).value

        async def ours() -> Any:
            outcome = await crowd.arun(member=member)
            assert outcome.usage.cached == calls, "everything comes from the cache"
            return outcome.value

        compare(f"{calls:,} hits at once", floor, ours, calls=calls, samples=5, expect=calls)


if __name__ == "__main__":
    main()
