"""Model calls: ours against litellm's own `acompletion`, 100 at once, to the same server on this machine.

python bench/bench_models.py [--calls 1000]            time of a call above litellm's own
python bench/bench_models.py --memory [--calls 20000]  memory in the course of one run

The server is a process of its own and answers at once, so that what is measured is the clients' work.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from harness import compare

import prose_lang as prose
from prose_lang.runtime.events import CallFinished, Event
from prose_lang.services.models.litellm_completion import load_litellm

AT_ONCE = 100
MODEL = "openai/m"
ANSWER = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "fine"}}],
    "usage": {"prompt_tokens": 20, "completion_tokens": 1, "total_tokens": 21},
}


def serve() -> None:
    """Answer every request with the same text; the port is printed."""
    from aiohttp import web

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response(ANSWER)

    async def main() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until whoever started us is gone

    asyncio.run(main())


def engine(url: str, **options: Any) -> prose.Engine:
    settings = prose.ModelSettings(
        providers={"openai": prose.Provider(base_url=url)}, prices={MODEL: prose.Price(input=0.1, output=0.1)}
    )
    limits = prose.Limits(calls=None, seconds=None, concurrency=AT_ONCE)
    return prose.Engine(models=settings, limits=limits, **options)


def pattern(made: prose.Engine, calls: int) -> prose.Pattern:
    return made.loads(
        "---\nname: crowd\nkind: pattern\n---\n\n### Slots\n\n- `member`\n\n### Delegation\n\n```prose\n"
        f"let all = parallel repeat {calls} as n:\n  return call member\n    n: n\nreturn all.length\n```\n"
    )


def overhead(url: str, calls: int) -> None:
    litellm = load_litellm()
    crowd = pattern(engine(url), calls)
    messages: list[list[dict[str, str]]] = []

    class Keep:
        async def complete(self, request: prose.Request, seconds: float) -> prose.Reply:
            messages.append([{"role": message.role, "content": message.text} for message in request.messages])
            return prose.Reply("fine", tokens_in=20, tokens_out=1)

    keeper = prose.Engine(completion=Keep(), limits=prose.Limits(calls=None))
    pattern(keeper, calls).run(member=prose.ref(f"model:{MODEL}"))
    assert len(messages) == calls, "the floor sends what we send"

    async def floor() -> int:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(said: list[dict[str, str]]) -> str:
            async with gate:
                found = await litellm.acompletion(
                    model=MODEL, messages=said, api_base=url, api_key="x", timeout=600, max_retries=0, num_retries=0,
                    **{"no-log": True},
                )  # fmt: skip
            return str(found.choices[0].message.content)

        return len(await asyncio.gather(*(one(said) for said in messages)))

    async def ours() -> Any:
        return (await crowd.arun(member=prose.ref(f"model:{MODEL}"))).value

    compare(f"{calls:,} calls, {AT_ONCE} at once", floor, ours, calls=calls, samples=5, expect=calls, aim=1.1)


def resident_mib() -> float:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def memory(url: str, calls: int) -> None:
    done = 0

    def watch(event: Event) -> None:
        nonlocal done
        if isinstance(event, CallFinished):
            done += 1
            if done % (calls // 8) == 0:
                print(f"after {done:>7,} calls   {resident_mib():7.1f} MiB", flush=True)

    crowd = pattern(engine(url, trace=False, observers=[watch]), calls)
    outcome = crowd.run(member=prose.ref(f"model:{MODEL}"))
    print(f"{outcome.value:,} answers, {outcome.usage.tokens_in:,} tokens in, ${outcome.usage.cost:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--calls", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.serve:
        serve()
        return
    os.environ["OPENAI_API_KEY"] = "x"
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        try:
            if chosen.memory:
                memory(url, chosen.calls or 20_000)
            else:
                overhead(url, chosen.calls or 1_000)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
