"""The JSON texts of records: in ASCII and without blanks, as the standard encoder writes them, only faster.

A run writes several of them for every call, most of them short. `json.dumps` sets up an encoder each time, which takes
three times as long as writing such a text; here one is set up for good.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any


def _made() -> Callable[[Any], str]:
    plain = json.JSONEncoder(separators=(",", ":"), check_circular=False)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # an interpreter without the compiled one
        return plain.encode
    encode: Callable[[Any, int], Sequence[str]] = make(
        None, plain.default, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True
    )

    def encoded(value: Any) -> str:
        return "".join(encode(value, 0))

    return encoded


#: A value as the text that stands in a record. Raises RecursionError for one that is nested too deep, and TypeError for
#: what is no JSON.
encoded: Callable[[Any], str] = _made()
