"""The bracket of a knockout as text, before its first game."""

from __future__ import annotations

from merels.tournament.report.rounds import live_lines, round_lines, round_start_lines
from tests.tournament.specs import settings


def test_the_names_of_a_bracket_are_aligned_left_and_its_numbers_right() -> None:
    chosen = settings(12, format="knockout", rounds=1)
    head, *lines = round_start_lines(chosen, [[]])
    assert [head, *lines] == round_lines(chosen, [[]], True)
    assert head.split() == ["Stage", "#", "Match", "Score", "Goes", "on"]
    column = head.index("Match")
    assert all(line[column - 1] == " " != line[column] for line in lines)
    numbers = [line[: head.index("#") + 1].split()[-1] for line in lines if "(bye)" not in line]
    assert numbers == [str(number) for number in sorted(map(int, numbers))]


def test_a_bracket_on_a_narrow_screen_leaves_out_stages_and_numbers() -> None:
    chosen = settings(8, format="knockout", rounds=1)
    wide = live_lines(chosen, [[]], True, 120)
    narrow = live_lines(chosen, [[]], True, 40)
    assert wide == round_lines(chosen, [[]], True)
    assert len(narrow) == len(wide) == 8
    assert narrow[0].split() == ["Match", "Score", "Goes", "on"]
    assert [line.split("  ")[0] for line in narrow[1:5]] == ["A vs H", "D vs E", "B vs G", "C vs F"]
