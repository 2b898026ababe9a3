"""Scripted services of a run that is gone on with: what its calls took of the script before is taken already (L35).

A script begins anew with every process, and a run that is gone on with makes only the calls that are left. So the calls
of its record take their replies first, in the order in which they were begun.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from prose_lang.handlers.journal_drafts import got_to
from prose_lang.journal import Store
from prose_lang.runtime.effects import Service
from prose_lang.services.scripted import ScriptedService


def recall_replies(services: Iterable[Service], store: Store, run: str) -> None:
    """Take them. What ran while the run was being ended runs again, and takes nothing. Raises StoreError."""
    scripted = {service.name: service for service in services if isinstance(service, ScriptedService)}
    if not scripted:
        return
    for entry in store.entries(run, ("call", "ask")):
        service = scripted.get(entry.service)
        if service is not None and not entry.key.startswith("leaving:"):
            found = store.resolved(entry)
            attempts = found.attempts if found.final else got_to(found)[0]
            service.recall(found.key, json.loads(found.request), attempts, final=found.final)
