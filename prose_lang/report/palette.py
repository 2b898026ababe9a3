"""Colours of graphs: one for each slot, one for what asks a judge, and a few for the rest."""

from __future__ import annotations

from collections.abc import Sequence

#: Fill, border and text of the slots in turn; each pair reads on white and on black.
SLOTS = (
    ("#cfe3ff", "#1f5fbf", "#10243f"),
    ("#ffe0bf", "#b35c00", "#3f2200"),
    ("#cdeccf", "#23802b", "#0f3313"),
    ("#f3d1ef", "#9c2f8f", "#3b1037"),
    ("#fff2b3", "#8f7400", "#3a3000"),
    ("#c9eef0", "#11777d", "#06302f"),
    ("#e0d8ff", "#5b41c4", "#221a4d"),
    ("#ffd3d3", "#b3261e", "#410e0b"),
)
JUDGE = ("#ffd9e6", "#c2185b", "#470a22")
RULE = ("#f1f3f5", "#5c6670", "#20262c")
CALL = ("#ffffff", "#5c6670", "#20262c")
ENDS = ("#e6e9ec", "#3d454d", "#20262c")


def slot_colors(slot: str, slots: Sequence[str]) -> tuple[str, str, str]:
    """Fill, border and text of a slot."""
    return SLOTS[slots.index(slot) % len(SLOTS)]
