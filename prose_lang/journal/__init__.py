"""The journal: where runs are kept, so that they survive. Stores behind one port, and what writes to them in groups.

Not here: what a run has to write down and how it is read back (`handlers/journal.py`), and going on with a run
(`engine/`).
"""

from prose_lang.journal.opening import DURABILITIES, open_store
from prose_lang.journal.port import Hold, Store, StoreError
from prose_lang.journal.records import (
    UNFINISHED,
    Attempt,
    Begun,
    Cached,
    Change,
    Ended,
    Entry,
    Finished,
    RunFilter,
    RunRecord,
    SourceText,
    digest_of,
)
from prose_lang.journal.writer import Pen, Writer

__all__ = [
    "DURABILITIES",
    "UNFINISHED",
    "Attempt",
    "Begun",
    "Cached",
    "Change",
    "Ended",
    "Entry",
    "Finished",
    "Hold",
    "Pen",
    "RunFilter",
    "RunRecord",
    "SourceText",
    "Store",
    "StoreError",
    "Writer",
    "digest_of",
    "open_store",
]
