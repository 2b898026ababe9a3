"""Settings of run records from `[runs]` of `prose.toml` or `[tool.prose.runs]` of `pyproject.toml`.

    record = true              # false: no record unless --record asks for one
    store = "data/runs"        # a folder below that of the file, or postgresql://…
    keep-days = 30             # what `prose runs gc` keeps, and what is kept when runs are recorded
    keep = 200

A file comes with the project, and perhaps from somebody else. So its folder is below its own, and a database is on this
machine or a host of PROSE_ALLOW_HOSTS: what a run was given and what it came to must not be sent anywhere unasked. What
may lie elsewhere is for `--store` and PROSE_STORE to say.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import attrs

from prose_lang.settings import SettingsFiles, Table
from prose_lang.settings.files import is_own
from prose_lang.settings.table import meant

_KEYS = ("record", "store", "keep-days", "keep")


@attrs.frozen
class RecordSettings:
    """What is set. `keep_days` and `keep`, the most runs, are None where nothing is taken away."""

    record: bool = True
    store: str | None = None
    keep_days: float | None = None
    keep: int | None = None

    @property
    def limited(self) -> bool:
        """Whether old runs are taken away."""
        return self.keep_days is not None or self.keep is not None


def record_settings(folder: Path, environ: Mapping[str, str]) -> RecordSettings:
    """The settings that count in a folder; those of another user's folder do not.

    Raises ProseError for a file that is faulty or cannot be read.
    """
    table = SettingsFiles("runs").table(folder)
    if table is None or not is_own(_folder(table)):
        return RecordSettings()
    return read_settings(table, environ)


def read_settings(table: Table, environ: Mapping[str, str]) -> RecordSettings:
    """The settings in a table. Raises CheckError with everything that is wrong in it.

    >>> from prose_lang.settings import read_table
    >>> from prose_lang.text import Source
    >>> table = read_table(Source("prose.toml", "[runs]\\nkeep-days = 30"), ("runs",))
    >>> read_settings(table, {}).keep_days
    30.0
    """
    data = table.data
    if not isinstance(data, dict):
        table.fault("P211", f"`{table.written}` is a table", table.place())
        data = {}
    for key in data:
        if key not in _KEYS:
            hint = meant(key, _KEYS) or f"run records have {', '.join(_KEYS)}"
            table.fault("P210", f"there is no setting `{key}`", table.place(key), hint)
    record, days, keep = data.get("record", True), data.get("keep-days"), data.get("keep")
    if not isinstance(record, bool):
        table.fault("P211", "`record` is true or false", table.place("record"))
    if days is not None and not (_is_number(days, int | float) and 0 < days < float("inf")):
        table.fault("P211", "`keep-days` is a number of days above 0", table.place("keep-days"))
    if keep is not None and not (_is_number(keep, int) and keep >= 1):
        table.fault("P211", "`keep` is a whole number of runs from 1", table.place("keep"))
    store = _store(table, data["store"], environ) if "store" in data else None
    table.check()
    return RecordSettings(record, store, None if days is None else float(days), keep)


def _is_number(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _store(table: Table, said: Any, environ: Mapping[str, str]) -> str | None:
    def fault(message: str, hint: str | None = None) -> None:
        table.fault("P211", message, table.place("store"), hint)

    if not isinstance(said, str) or not said.strip():
        fault("`store` is a folder or a URL", 'store = ".prose/runs"')
        return None
    if "://" in said:
        try:
            parts = urlsplit(said)
            host, password = parts.hostname, parts.password
            elsewhere = {name for name, _ in parse_qsl(parts.query)} & {"host", "hostaddr", "service"}
        except ValueError:
            fault("`store` is a URL that cannot be read")
            return None
        if password is not None:
            fault("`store` holds a password; those do not belong in files", "put the whole URL into PROSE_STORE")
            return None
        if host is None or elsewhere:
            fault("`store` does not name its host in its place", 'store = "postgresql://HOST/DATABASE"')
            return None
        if not _is_trusted(host, environ):
            fault(f"`store` sends what runs are given and come to to {host}",
                  f"if you trust it: PROSE_ALLOW_HOSTS={host}")  # fmt: skip
            return None
        return said
    folder = _folder(table)
    path = folder / said
    if not path.resolve().is_relative_to(folder.resolve()):
        fault("`store` leads out of the folder of its file", "what may lie elsewhere is for --store or PROSE_STORE")
        return None
    return str(path)


def _is_trusted(host: str, environ: Mapping[str, str]) -> bool:
    from prose_lang.cli.engines import ALLOW_HOSTS
    from prose_lang.services.models.keys import is_this_machine

    allowed = [name.strip() for name in environ.get(ALLOW_HOSTS, "").split(",")]
    return is_this_machine(host) or host in allowed


def _folder(table: Table) -> Path:
    """The folder of the file that a table stands in."""
    return Path(os.path.abspath(table.source.name)).parent
