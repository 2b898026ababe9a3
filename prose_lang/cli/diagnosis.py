"""What `prose doctor` finds out: versions, places, optional packages, keys by name, terminal, limits."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from prose_lang import __version__, resources
from prose_lang.cli.options import RUN_SECONDS
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics.redact import is_secret_name
from prose_lang.diagnostics.visible import visible
from prose_lang.services.models.models import NO_LIVE_CALLS, live_calls_off
from prose_lang.transports.temporal import ADDRESS_VARIABLE, DEFAULT_ADDRESS

#: What the interpreter needs, and what it can do without.
_NEEDED = ("lark", "attrs", "cattrs", "markdown-it-py", "ruamel.yaml", "click", "rich")
_OPTIONAL = ("litellm",)


def diagnosis(terminal: Terminal) -> dict[str, Any]:
    """Everything as plain data."""
    from prose_lang.handlers import Limits

    limits = Limits()
    return {
        "prose": __version__,
        "python": {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
            "executable": sys.executable,
        },
        "system": platform.platform(),
        "grammar": {"folder": str(resources.grammar_folder()), "parse_table": _parse_table()},
        "library": {"folder": str(resources.library_folder()), "patterns": len(resources.library_names())},
        "packages": {name: _version(name) for name in (*_NEEDED, *_OPTIONAL)},
        "keys_set": sorted(name for name, value in terminal.environ.items() if value and is_secret_name(name)),
        "terminal": {
            "stdin": sys.stdin.isatty(),
            "stdout": terminal.out.isatty(),
            "stderr": terminal.err.isatty(),
            "color": terminal.colors(terminal.err),
            "live": terminal.live,
            "width": terminal.width,
            "encoding": terminal.out.encoding,
        },
        "models": _models(terminal),
        "engine": {
            "address": terminal.environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS,
            "temporalio": _version("temporalio"),
        },
        "store": _store(terminal),
        "live_calls": not live_calls_off(terminal.environ),
        "limits": {
            "calls": limits.calls,
            "tokens": limits.tokens,
            "cost": limits.cost,
            "known_cost": limits.known_cost,
            "seconds": RUN_SECONDS,
            "concurrency": limits.concurrency,
        },
        "processors": os.cpu_count(),
    }


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The diagnosis as text."""
    python, grammar, library, terminal = found["python"], found["grammar"], found["library"], found["terminal"]
    yield f"prose      {found['prose']}"
    yield f"Python     {python['version']} ({python['implementation']}), {visible(python['executable'])}"
    yield f"system     {visible(found['system'])}, {found['processors']} processors"
    yield f"grammar    {visible(grammar['folder'])}, parse table {grammar['parse_table']}"
    yield f"library    {visible(library['folder'])}, {library['patterns']} patterns"
    yield "packages   " + ", ".join(
        f"{name} {known or ('not installed (needed to call models)' if name in _OPTIONAL else 'MISSING')}"
        for name, known in found["packages"].items()
    )
    yield f"keys       {visible(', '.join(found['keys_set'])) or 'none set'}"
    shown = [name for name in ("stdin", "stdout", "stderr") if terminal[name]]
    abilities = f"colour {_yes(terminal['color'])}, live line {_yes(terminal['live'])}"
    yield f"terminal   {', '.join(shown) or 'none'}; {abilities}, {terminal['width']} columns, {terminal['encoding']}"
    yield from _model_lines(found["models"])
    if not found["live_calls"]:
        yield f"           no model is asked: {NO_LIVE_CALLS} is set"
    engine = found["engine"]
    client = f"temporalio {engine['temporalio']}" if engine["temporalio"] else "temporalio is not installed"
    yield f"engine     Temporal at {visible(engine['address'])}, for runs with --queue; {client}"
    yield f"store      {_store_line(found['store'])}"
    limits = (f"{name.replace('_', ' ')} {_amount(name, value)}" for name, value in found["limits"].items())
    yield f"limits     {', '.join(limits)} (unless set)"


def _models(terminal: Terminal) -> dict[str, Any]:
    """What is configured about models for the working directory."""
    from prose_lang.cli.engines import model_settings
    from prose_lang.diagnostics import ProseError

    try:
        settings = model_settings(terminal)
    except ProseError as error:
        return {"error": error.message}
    return {
        "default": settings.default,
        "aliases": dict(settings.aliases),
        "providers": {
            name: {"base_url": provider.base_url, "key": provider.key} for name, provider in settings.providers.items()
        },
        "prices": sorted(settings.prices),
        "seconds": settings.seconds,
        "retries": settings.retries,
    }


def _store(terminal: Terminal) -> dict[str, Any]:
    """Where the runs of the working directory are recorded. The store is not opened: a server may be far away."""
    from pathlib import Path

    from prose_lang.cli.keeping import Keeping, location
    from prose_lang.diagnostics import ProseError

    try:
        place = location(Keeping(), terminal)
    except ProseError as error:
        return {"error": error.message}
    found: dict[str, Any] = {"by": place.by, "record": place.settings.record}
    if "://" in place.store:
        from prose_lang.journal.postgres_link import shown

        return {"place": shown(place.store), **found, "psycopg": _version("psycopg")}
    return {"place": place.store, **found, "there": Path(place.store, "runs.sqlite").is_file()}


def _store_line(store: Mapping[str, Any]) -> str:
    if "error" in store:
        return f"faulty settings: {visible(store['error'])}"
    facts = [visible(store["place"]) + (f", as {store['by']} says" if store["by"] else "")]
    if not store["record"]:
        facts.append("runs are recorded with --record alone")
    if "psycopg" in store:
        facts.append(f"psycopg {store['psycopg']}" if store["psycopg"] else "psycopg is not installed")
    elif not store["there"]:
        facts.append("no run is recorded there yet")
    return "; ".join(facts)


def _model_lines(models: Mapping[str, Any]) -> Iterator[str]:
    if "error" in models:
        yield f"models     faulty settings: {visible(models['error'])}"
        return
    aliases = [f"{name} = {model}" for name, model in models["aliases"].items()]
    yield f"models     default {visible(models['default'] or 'none')}; {visible(', '.join(aliases)) or 'no aliases'}"
    for name, provider in models["providers"].items():
        facts = [f"{word} {value}" for word, value in (("at", provider["base_url"]), ("key", provider["key"])) if value]
        yield f"           {visible(name)} {visible(', '.join(facts)) or 'as usual'}"
    yield f"           {models['seconds']:g} s a request, {models['retries']} retries of failures that may pass"


def _amount(name: str, value: Any) -> str:
    if value is None:
        return "none"
    return f"${value:g}" if "cost" in name else f"{value:,g}" if isinstance(value, float) else f"{value:,}"


def _parse_table() -> str:
    """Whether the stored table is that of the grammar; a stale one makes every start slower."""
    import json

    from prose_lang.syntax.table import digest

    stored = resources.grammar_table_text()
    if stored is None:
        return "missing"
    return "fresh" if json.loads(stored).get("digest") == digest(resources.grammar_text()) else "stale"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"
