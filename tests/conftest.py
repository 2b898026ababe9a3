"""Fixtures of all tests. A server is started when the first test asks for it."""

from __future__ import annotations

from servers.postgres import own_postgres_server, postgres_server, postgres_url
from servers.temporal import own_temporal_server, temporal_server

__all__ = [
    "own_postgres_server",
    "own_temporal_server",
    "postgres_server",
    "postgres_url",
    "temporal_server",
]
