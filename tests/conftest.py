"""Fixtures of all tests. A server is started when the first test asks for it."""

from __future__ import annotations

from servers.postgres import own_postgres_server, postgres_server, postgres_url
from servers.stores import database, folder, place
from servers.temporal import own_temporal_server, temporal_server

__all__ = [
    "database",
    "folder",
    "own_postgres_server",
    "own_temporal_server",
    "place",
    "postgres_server",
    "postgres_url",
    "temporal_server",
]
