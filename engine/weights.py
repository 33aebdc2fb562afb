"""The evaluation's weights, in hundredths of a man."""

from __future__ import annotations

# men, mills, threats, open lines, mobility, blocked men, crossings, tempo
WEIGHTS: tuple[tuple[int, ...], ...] = (
    (100, 12, 25, 6, 4, -6, 4, 8),  # placing
    (100, 12, 40, 8, 5, -10, 2, 10),  # moving
    (100, 10, 60, 10, 1, 0, 0, 20),  # flying
)
