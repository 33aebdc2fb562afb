"""`Plan.has_left`: whether games are missing from the journal."""

from __future__ import annotations

import pytest

from merels.tournament.journal.open import open_journal
from merels.tournament.journal.rows import make_row
from merels.tournament.records.settings import Settings
from merels.tournament.run.plan import Plan
from merels.tournament.run.scoreboard import Scoreboard
from tests.tournament.specs import NOTES, planned_games, result, settings


@pytest.mark.parametrize("outcome", ["1-0", "1/2-1/2"])
@pytest.mark.parametrize(
    ("chosen", "part"),
    [
        (settings(3), (1, 1)), (settings(3, games=3), (1, 3)), (settings(3, games=3), (3, 3)),
        (settings(4, format="gauntlet", rounds=1), (2, 2)),
        (settings(5, format="swiss", rounds=3), (1, 1)),
        (settings(3, format="knockout", rounds=1), (1, 1)),
    ],
)
def test_games_are_left_until_all_are_in_the_journal(
    chosen: Settings, part: tuple[int, int], outcome: str
) -> None:
    plan = Plan(chosen, part)
    with open_journal(None, chosen, NOTES) as journal:
        board = Scoreboard(plan, journal)
        for spec in planned_games(plan):
            assert Plan(chosen, part).has_left(journal), f"game {spec.number} is missing"
            board.expect(spec)
            board.end(make_row(result(outcome=outcome, spec=spec)))
            board.show()
        assert not Plan(chosen, part).has_left(journal)


def test_no_game_is_left_after_the_sprt_is_decided() -> None:
    with open_journal(None, settings(), NOTES) as journal:
        assert Plan(settings()).has_left(journal)
        journal.set_meta({"verdict": "H1"})
        assert not Plan(settings()).has_left(journal)
