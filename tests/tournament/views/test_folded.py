"""`folded`: broken lines for a narrow terminal."""

from __future__ import annotations

from merels.tournament.views.terminal import folded

LINE = "A vs B: Elo 3.0 ± 2.5, 10 games, 4 drawn"


def test_a_line_is_broken_after_a_comma_only_if_it_is_too_wide() -> None:
    assert folded(LINE, len(LINE)) == [LINE]
    assert folded(LINE, len(LINE) - 1) == ["A vs B: Elo 3.0 ± 2.5, 10 games", "  4 drawn"]
    assert folded(LINE, 24) == ["A vs B: Elo 3.0 ± 2.5", "  10 games, 4 drawn"]


def test_a_part_that_is_too_wide_is_broken_after_its_name() -> None:
    assert folded(LINE, 18) == ["A vs B:", "  Elo 3.0 ± 2.5", "  10 games", "  4 drawn"]
