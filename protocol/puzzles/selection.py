"""Selection of varied puzzles from many candidates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from merels.engine.tablebase.verdict import phase_of
from merels.protocol.puzzles.puzzle import Puzzle
from merels.protocol.puzzles.themes import themes_of

CANDIDATES = 10
"""Candidates for each puzzle that is selected."""
_RATING_STEP = 100
_RATING_WEIGHT = 2
"""Size of a range of ratings, and its weight relative to a theme."""


def select(candidates: Iterable[Puzzle], count: int) -> list[Puzzle]:
    """Return ``count`` of the candidates, or all if they are fewer, by rising rating.

    Each pair of a phase and a goal has an equal share, as far as there are candidates. In a pair,
    rare themes and ratings come first. The result depends only on ``candidates`` and ``count``.
    """
    groups: defaultdict[tuple[str, str], list[tuple[Puzzle, tuple[str, ...]]]] = defaultdict(list)
    for puzzle in candidates:
        key = phase_of(puzzle.position), puzzle.goal
        groups[key].append((puzzle, themes_of(puzzle)))
    taken: Counter[tuple[str, str]] = Counter()
    themes: Counter[str] = Counter()
    ratings: Counter[int] = Counter()
    selected: list[Puzzle] = []
    while len(selected) < count and groups:
        key = min(groups, key=lambda key: (taken[key], key))
        group = groups[key]

        def worth(item: tuple[Puzzle, tuple[str, ...]]) -> float:
            puzzle, own_themes = item
            rating = _RATING_WEIGHT / (1 + ratings[puzzle.rating // _RATING_STEP])
            return rating + sum(1 / (1 + themes[theme]) for theme in own_themes)

        best = max(range(len(group)), key=lambda index: (worth(group[index]), -index))
        puzzle, own_themes = group.pop(best)
        if not group:
            del groups[key]
        taken[key] += 1
        themes.update(own_themes)
        ratings[puzzle.rating // _RATING_STEP] += 1
        selected.append(puzzle)
    return sorted(selected, key=lambda puzzle: (puzzle.rating, puzzle.to_json()))
