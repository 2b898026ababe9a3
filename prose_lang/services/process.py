"""One exchange with a child process: bytes in, bytes out, and nothing of it left behind.

The child leads a process group of its own, and whatever is left of the group is killed when the exchange ends,
however it ends. It is written on asyncio's transports, because `Process.wait()` on some versions of Python waits
for the pipes too, which a grandchild may hold open for ever.

What is sent and what an answer means is `command.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence

import attrs

#: Seconds between asking a process group to end and making it; also how long pipes may outlive their process.
GRACE = 0.5
#: Bytes of standard error that are kept: its end, where the reason usually stands.
_ERRORS_KEPT = 16_000


@attrs.frozen
class Finished:
    """How an exchange ended. `overflowed` tells that the child was stopped because it wrote too much."""

    status: int  # the exit status; -N if signal N ended it
    output: bytes
    errors: bytes
    overflowed: bool


async def exchange(
    command: Sequence[str], *, stdin: bytes, environment: Mapping[str, str], most_output: int
) -> Finished:
    """Run a command, write `stdin` to it and read what it answers, up to `most_output` bytes.

    When this is cancelled the process group gets SIGTERM, and SIGKILL after `GRACE` seconds, and is waited for.
    Raises `OSError` if the command cannot be started.
    """
    loop = asyncio.get_running_loop()
    starting = loop.create_task(
        loop.subprocess_exec(
            lambda: _Conversation(loop, stdin, most_output),
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,
        )
    )
    try:
        transport, conversation = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # asyncio would kill a half-started child alone, and not what that has started in turn.
        with contextlib.suppress(OSError):
            await _end(*await starting)
        raise
    try:
        await conversation.settled
        if not conversation.overflowed:
            await asyncio.wait([conversation.closed], timeout=GRACE)
    finally:
        await _end(transport, conversation)
    status = transport.get_returncode()
    assert status is not None, "the process was waited for"
    return Finished(status, bytes(conversation.output), bytes(conversation.errors), conversation.overflowed)


class _Conversation(asyncio.SubprocessProtocol):
    """What the child says. `settled` is when it has exited or said too much, `closed` when its pipes are, too."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stdin: bytes, most_output: int) -> None:
        self.stdin = stdin
        self.most_output = most_output
        self.output = bytearray()
        self.errors = bytearray()
        self.overflowed = False
        self.settled: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        pipe = transport.get_pipe_transport(0)
        assert isinstance(pipe, asyncio.WriteTransport)
        # The transport keeps what the pipe does not take yet, and goes on reading meanwhile: no deadlock. A child
        # that closes its end early loses the rest, which is its right.
        pipe.write(self.stdin)
        pipe.close()
        self.stdin = b""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.errors += data
            del self.errors[:-_ERRORS_KEPT]
        elif not self.overflowed:
            self.output += data
            if len(self.output) > self.most_output:
                self.overflowed = True
                _set(self.settled)

    def process_exited(self) -> None:
        _set(self.exited)
        _set(self.settled)

    def connection_lost(self, exc: Exception | None) -> None:
        _set(self.closed)


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def _end(transport: asyncio.SubprocessTransport, conversation: _Conversation) -> None:
    """Leave nothing behind: neither a process, nor a grandchild in the background, nor an open pipe."""
    loop = asyncio.get_running_loop()
    try:
        if not conversation.exited.done():
            _signal(transport, signal.SIGTERM)
            deadline = loop.time() + GRACE
            # Nothing but asking tells when the last member of a group is gone.
            while _group_lives(transport, conversation) and loop.time() < deadline:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    finally:
        _kill(transport)
        if not conversation.exited.done():
            await asyncio.wait([conversation.exited])
        # What the killed group had written is still read; a process that left the group cannot hold this up.
        await asyncio.wait([conversation.closed], timeout=GRACE)
        transport.close()
        await asyncio.wait([conversation.closed])


def _group_lives(transport: asyncio.SubprocessTransport, conversation: _Conversation) -> bool:
    if not conversation.exited.done():
        return True
    try:
        os.killpg(transport.get_pid(), 0)
    except (AttributeError, OSError):
        return False
    return True


def _kill(transport: asyncio.SubprocessTransport) -> None:
    _signal(transport, getattr(signal, "SIGKILL", signal.SIGTERM))


def _signal(transport: asyncio.SubprocessTransport, number: int) -> None:
    # The child's pid is the group's; it is not given away as long as the group has a member.
    try:
        os.killpg(transport.get_pid(), number)
    except AttributeError:  # no process groups on this system
        if transport.get_returncode() is None:
            transport.send_signal(number)
    except OSError:
        pass  # nobody left to be told
