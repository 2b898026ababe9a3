"""Who has a run: its process and nobody else, while the run is under way and no longer (L35, P503)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import prose_lang as prose
from prose_lang.journal import open_store

ROOT = Path(prose.__file__).resolve().parent.parent
TEXT = "let a = call step\n  n: 1\nreturn a\n"


async def step(n: int) -> int:
    return n * 10


def test_a_run_that_is_over_is_given_back_whoever_has_it(tmp_path: Path) -> None:
    engine = prose.Engine(services=[step], store=tmp_path)
    outcome = engine.run(engine.loads(TEXT), {})
    with closing(open_store(tmp_path)) as other:
        hold = other.hold(outcome.run_id)
        assert engine.resume(outcome.run_id).value == 10
        with pytest.raises(prose.ProseError) as caught:
            engine.resume(outcome.run_id, retry_errors=True)
        assert caught.value.code == "P503"
        hold.release()
    assert engine.resume(outcome.run_id, retry_errors=True).value == 10


FORKING = """\
import asyncio, os, signal, sys
import prose_lang as prose

async def step(n):
    if not os.fork():
        print(os.getpid(), flush=True)
        signal.pause()
    await asyncio.sleep(60)

engine = prose.Engine(services=[step], store=sys.argv[1])
engine.run(engine.loads("let a = call step\\n  n: 1\\nreturn a\\n"), {})
"""


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "win32", reason="there is no fork here")
def test_a_child_that_outlives_a_killed_process_does_not_keep_its_run(tmp_path: Path) -> None:
    """As the workers of `multiprocessing` do, which know nothing of the death of their parent."""
    parent = subprocess.Popen(
        [sys.executable, "-c", FORKING, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    try:
        with closing(open_store(tmp_path)) as store:
            (record,) = store.runs()
            assert store.held(record.id), "the lock stays with the process that took it, though a child has let go"
            parent.kill()
            parent.wait()
            os.kill(child, 0)  # it is still there
            assert not store.held(record.id)
        engine = prose.Engine(services=[step], store=tmp_path)
        assert engine.resume(record.id).value == 10
    finally:
        os.kill(child, signal.SIGKILL)
        parent.kill()
        parent.stdout.close()
