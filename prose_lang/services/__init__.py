"""What calls reach: Python functions, commands, scripts, and the references that name them."""

from prose_lang.services.command import CommandService
from prose_lang.services.function import FunctionService, ServiceOptions, options_of
from prose_lang.services.marking import service
from prose_lang.services.references import (
    Reference,
    TrustedReference,
    parse_reference,
    ref,
    resolve_python,
    split_list,
)
from prose_lang.services.registry import ServiceLike, as_service, load_services_file, load_services_files, services_of
from prose_lang.services.script import Reply, Script, read_script
from prose_lang.services.scripted import ScriptedService, scripted_services
from prose_lang.services.threads import WorkerThreads

__all__ = [
    "CommandService",
    "FunctionService",
    "Reference",
    "Reply",
    "Script",
    "ScriptedService",
    "ServiceLike",
    "ServiceOptions",
    "TrustedReference",
    "WorkerThreads",
    "as_service",
    "load_services_file",
    "load_services_files",
    "options_of",
    "parse_reference",
    "read_script",
    "ref",
    "resolve_python",
    "scripted_services",
    "service",
    "services_of",
    "split_list",
]
