"""Transports: what carries attempts of calls to other processes and their answers back.

One is chosen by whoever sets up an engine (`Engine(transport=…)`); without one everything is done in the process. Not
here: which attempts leave (`handlers/remote.py`), and starting workers (`cli/worker.py`).
"""

from prose_lang.transports.port import Answer, RunTask, Task, Transport

__all__ = ["Answer", "RunTask", "Task", "Transport"]
