"""What is kept from run to run: the newest, up to a number. Runs of many threads keep things in it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")

#: How many things of one kind an engine keeps.
KEPT = 256


class Kept(OrderedDict[_K, _V]):
    """A mapping that forgets what was put into it first.

    >>> kept = Kept()
    >>> for number in range(1000):
    ...     kept.keep(number, str(number))
    >>> len(kept), kept.get(743), kept.get(744)
    (256, None, '744')
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def keep(self, key: _K, value: _V) -> None:
        """Keep a value. Raises TypeError for a key that is not hashable."""
        with self._lock:
            self[key] = value
            if len(self) > KEPT:
                self.popitem(last=False)
