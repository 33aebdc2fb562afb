"""Which engines are withdrawn: those that did not start, whatever the reasons of games say."""

from __future__ import annotations

from merels.tournament.spec import GameResult
from merels.tournament.tasks import finished
from merels.tournament.withdrawal import FAILED_STARTS, Withdrawals

from tests.tournament.specs import result


def lost(number: int, **fields: object) -> GameResult:
    """A game that A, White, lost without a turn."""
    return result(number, "0-1", termination="abandoned", turns=(), **fields)


def test_three_failed_starts_in_a_row_withdraw_an_engine() -> None:
    withdrawals = Withdrawals()
    said = [
        notice
        for number in range(1, FAILED_STARTS + 2)
        for notice in withdrawals.add(finished(lost(number, reason="any", unstarted=(0,))))
    ]
    assert len(said) == 1 and said[0].startswith("A is withdrawn")
    assert [r.result for r in withdrawals.forfeits([result(9).spec])] == ["0-1"]
    assert not withdrawals.all_out("AB")


def test_a_game_played_in_between_starts_the_count_anew() -> None:
    withdrawals = Withdrawals()
    for number in range(1, 2 * FAILED_STARTS):
        failed = number % FAILED_STARTS != 0
        game = lost(number, unstarted=(0,)) if failed else result(number)
        assert withdrawals.add(finished(game)) == []


def test_the_words_of_a_reason_decide_nothing() -> None:
    withdrawals = Withdrawals()
    for number in range(1, 10):
        assert withdrawals.add(finished(lost(number, reason="White does not start (x)"))) == []
    assert withdrawals.forfeits([result(11).spec]) == []
