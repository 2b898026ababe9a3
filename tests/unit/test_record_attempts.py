"""What a program sees of a failed call is the same when it is read back from the record of its run (L27, L35)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import prose_lang as prose
from prose_lang.testing.clock import run_virtual

TEXT = """\
try:
  call broken
    x: 1
    retry: 2
catch as e:
  let a = call wait
    x: e.attempts
  return [e.attempts, a]
"""


@pytest.mark.parametrize("sessions", [1, 3])
def test_attempts_of_an_error_are_those_that_the_program_saw(tmp_path: Path, sessions: int) -> None:
    """However often the call was cut off and made again in between; what the run has used counts all attempts."""
    asked: list[int] = []
    stops = iter([1, 3][: sessions - 1])
    stop = next(stops, 0)

    async def broken(x: int) -> None:
        asked.append(x)
        if len(asked) == stop:
            await asyncio.sleep(3600)
        raise ValueError("no luck")

    async def wait(x: int) -> int:
        return x

    engine = prose.Engine(services=[broken, wait], store=tmp_path)

    async def cut_off(run: str | None) -> str:
        work = engine.outcome_async(engine.loads(TEXT), {}) if run is None else engine.resuming.outcome_async(run)
        try:
            return (await asyncio.wait_for(work, 10)).run_id
        except TimeoutError:
            return engine.resuming.store.runs()[0].id

    run = None
    for _ in range(sessions):
        run = run_virtual(cut_off(run))
        stop = next(stops, 0)
    assert run is not None
    assert len(asked) == {1: 3, 3: 6}[sessions]
    assert engine.resuming.store.run(run).status == "ok"
    assert engine.replay(run).value == [3, 3]
    assert engine.resume(run).value == [3, 3]
    assert engine.resume(run).usage.calls == len(asked) + 1
