"""Fixtures of all tests. A server is started when the first test asks for it."""

from __future__ import annotations

from servers.temporal import own_temporal_server, temporal_server

__all__ = ["own_temporal_server", "temporal_server"]
