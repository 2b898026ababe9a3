"""How much the property tests try. `PROSE_FUZZ=50 pytest tests/property` tries fifty times as much."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

FUZZ = int(os.environ.get("PROSE_FUZZ", "1"))


def examples(count: int) -> settings:
    """Settings for a test that tries `count` examples; the same ones every time unless more are asked for."""
    return settings(
        max_examples=count * FUZZ,
        deadline=None,
        derandomize=FUZZ == 1,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


def seeds(count: int) -> range:
    """The seeds of generated programs that a test tries."""
    return range(count * FUZZ)
