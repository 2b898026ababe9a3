"""What blocks is not for the inside of an event loop: it would stop the loop that it waits for."""

from __future__ import annotations

import asyncio


def outside_loop(what: str, instead: str) -> None:
    """Raise RuntimeError inside a running event loop, naming what cannot be used there and what to await instead."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(f"{what} inside a running event loop; await {instead} instead")
