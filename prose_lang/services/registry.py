"""The services of a Python module: its `@service` functions and definitions of model services, by name.

What a name means in a program (slots, entries, instances) is decided elsewhere; here names only get to be known.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from prose_lang.diagnostics import CheckError
from prose_lang.runtime.effects import Service
from prose_lang.services.function import FunctionService, check_callable, options_of
from prose_lang.services.importing import import_file, import_module
from prose_lang.services.models.definition import ModelDefinition
from prose_lang.services.threads import WorkerThreads

#: What can be called: a service, or a Python callable that becomes one.
ServiceLike: TypeAlias = Service | Callable[..., Any]


def as_service(thing: Any, *, name: str | None = None, threads: WorkerThreads | None = None) -> Service:
    """A service as it is, or a Python callable as one. Raises `CheckError` P202 for anything else.

    >>> as_service(str.upper, name="upper").name
    'upper'
    """
    if _is_service(thing):
        return thing  # type: ignore[no-any-return]
    try:
        check_callable(thing)
        return FunctionService(thing, name=name, threads=threads)
    except TypeError as error:
        raise CheckError("P202", str(error), service=name) from None


def services_of(
    module: ModuleType, *, threads: WorkerThreads | None = None
) -> dict[str, FunctionService | ModelDefinition]:
    """The functions of a module that are marked with `@service`, and its model services, in the order of its names.

    One that the module has under two names counts once. Two of one service name are P207.
    """
    found: dict[str, FunctionService | ModelDefinition] = {}
    origin: dict[str, Any] = {}
    for attribute, thing in vars(module).items():
        if isinstance(thing, ModelDefinition):
            service: FunctionService | ModelDefinition = thing
            _claim(module, origin, thing.name, thing)
            found[thing.name] = service
            continue
        options = options_of(thing)
        if options is None or not callable(thing) or isinstance(thing, type):
            continue
        own_name = getattr(thing, "__name__", None)
        service = FunctionService(thing, name=options.name or own_name or attribute, threads=threads)
        _claim(module, origin, service.name, thing)
        found.setdefault(service.name, service)
    return found


def _claim(module: ModuleType, origin: dict[str, Any], name: str, thing: Any) -> None:
    """Note what a name stands for; P207 if it stands for something else already."""
    if origin.setdefault(name, thing) is not thing:
        where = getattr(module, "__file__", None) or module.__name__
        raise CheckError("P207", f"two functions in {where} are services of the name `{name}`")


def load_services_file(
    path_or_module: str, *, threads: WorkerThreads | None = None
) -> dict[str, FunctionService | ModelDefinition]:
    """The services of a Python file or module that the user named with `--services`.

    What ends in `.py` or holds a slash is a file. Raises `SourceError` P103 if it is missing or fails to import,
    `CheckError` P109 if there is no such module, or if nothing in it is marked.
    """
    is_file = path_or_module.endswith(".py") or any(mark and mark in path_or_module for mark in (os.sep, os.altsep))
    module = import_file(Path(path_or_module)) if is_file else import_module(path_or_module)
    found = services_of(module, threads=threads)
    if not found:
        raise CheckError(
            "P109",
            f"{path_or_module} has no services",
            hint="write `@prose.service` above each function that programs may call",
        )
    return found


def load_services_files(files: Iterable[str]) -> dict[str, FunctionService | ModelDefinition]:
    """The services of several files and modules, which share their worker threads.

    Raises what `load_services_file` does, and `CheckError` P207 where two of them have a service of one name.
    """
    threads = WorkerThreads()
    found: dict[str, FunctionService | ModelDefinition] = {}
    origin: dict[str, str] = {}
    for file in files:
        for name, service in load_services_file(file, threads=threads).items():
            if name in found:
                raise CheckError("P207", f"both {origin[name]} and {file} have a service of the name `{name}`")
            found[name], origin[name] = service, file
    return found


def _is_service(thing: Any) -> bool:
    return not isinstance(thing, type) and all(hasattr(thing, part) for part in ("invoke", "signature", "composite"))
