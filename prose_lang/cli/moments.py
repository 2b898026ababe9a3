"""Times and spans of time, as people write them on a command line and as they are shown to them: local time."""

from __future__ import annotations

import re
import time
from datetime import date, datetime, timedelta

import click

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def span(text: str) -> float:
    """A span of time in seconds. Raises BadParameter.

    >>> span("2d"), span("90m")
    (172800.0, 5400.0)
    """
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"{text!r} is not a span of time, such as 30d, 12h or 90m")
    return float(match[1]) * _UNITS[match[2]]


def moment(text: str, *, end: bool = False) -> float:
    """A moment as Unix time: a date, a date and a time, or how long ago it was. Raises BadParameter.

    A bare date is its beginning, and with `end` its end.
    """
    text = text.strip()
    if _SPAN.fullmatch(text):
        return time.time() - span(text)
    try:
        found = datetime.fromisoformat(text)
        if end and _DATE.fullmatch(text):
            found += timedelta(days=1)
        return found.timestamp()
    except (ValueError, OverflowError, OSError):
        raise click.BadParameter(
            f"{text!r} is not a time: 2026-05-17, 2026-05-17T14:30, or how long ago (2d, 3h)"
        ) from None


def shown(moment: float, now: float) -> str:
    """A moment for a person: how it is called from `now` on, to the minute.

    >>> shown(0.0, 0.0).startswith("today ")
    True
    """
    when = datetime.fromtimestamp(moment)
    days = (_day(now) - when.date()).days
    if days in (0, 1):
        return f"{'today' if days == 0 else 'yesterday'} {when:%H:%M}"
    return f"{when:%Y-%m-%d %H:%M}"


def exactly(moment: float) -> str:
    """A moment to the second, in local time."""
    return f"{datetime.fromtimestamp(moment):%Y-%m-%d %H:%M:%S}"


def iso(moment: float | None) -> str | None:
    """A moment for a program: ISO 8601 in universal time.

    >>> iso(0.0), iso(None)
    ('1970-01-01T00:00:00.000Z', None)
    """
    if moment is None:
        return None
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))
    return f"{whole}.{int(moment * 1000) % 1000:03d}Z"


def lasting(seconds: float) -> str:
    """How long something took.

    >>> lasting(0.041), lasting(75), lasting(7_512), lasting(200_000)
    ('0.04 s', '1 min 15 s', '2 h 5 min', '2 d 7 h')
    """
    if seconds < 59.995:
        return f"{seconds:.2f} s"
    minutes, second = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {second} s"
    hours, minute = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minute} min"
    return f"{hours // 24} d {hours % 24} h"


def _day(moment: float) -> date:
    return datetime.fromtimestamp(moment).date()
