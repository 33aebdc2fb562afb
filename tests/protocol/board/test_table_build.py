"""Tables that the board builds in the background, and tables of other rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.engine.game.notation import parse_position
from merels.engine.game.position import Position
from merels.engine.game.rules import DEFAULT_RULES, PRESETS, make_rules
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.probe import open_tables
from merels.protocol.board import table_build
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.proven import proven_view
from merels.protocol.board.reviewing import TABLE_CACHE
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import Session
from merels.protocol.board.sessions import Sessions
from merels.protocol.board.table_build import TableBuild, has_tables, other_tables
from tests.kit.tables import copy_tables
from tests.kit.waiting import wait
from tests.protocol.board.steps import ANALYST, FLYERS, PERSON

SEVEN_MEN = "********/O***@***/O*O*@@*O w 0 0 0 9"
NINE_MEN = "O*O*****/O***@*@*/O*O*@@** w 0 0 0 9"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of tables in place of the user's."""
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    TABLE_CACHE.reopen()
    return tmp_path


def test_a_build_reports_its_progress_and_leaves_tables(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_build, "MEN", 8)
    shares: list[float | None] = []
    build = TableBuild()
    build.on_change = lambda: shares.append(build.share)
    build.start()
    wait(lambda: shares and shares[-1] is None, 120, "the end of the build")
    reported = [share for share in shares if share is not None]
    assert reported == sorted(reported) and 0 <= reported[0] < reported[-1] <= 1
    assert has_tables(DEFAULT_RULES, folder)
    assert open_tables(folder, DEFAULT_RULES).has_all_depths
    shares.clear()
    build.start()
    build.close()
    assert not shares, "existing tables are not built again"


def test_a_game_that_ends_is_reviewed_with_or_without_tables(
    folder: Path, session: Session
) -> None:
    act(session, "new", {"players": [PERSON, PERSON, ANALYST]})
    for at, move in enumerate(("d6", "f4", "d2")):
        act(session, "play", {"move": move, "at": at})
    assert session.reviewer.progress is None
    act(session, "resign", {})
    wait(lambda: session.reviewer.progress and not session.reviewer.running, 60, "a review")
    progress = session.reviewer.progress
    assert progress is not None and progress.sums[0].moves == 2 and progress.sums[1].moves == 1
    # Neither a later change of the ended game nor an opened game begins a review.
    act(session, "analyse", {"on": True})
    act(session, "analyse", {"on": False})
    assert session.reviewer.progress is progress
    act(session, "load", {"text": "1. d6 f4 1-0"})
    assert session.reviewer.progress is None


def test_the_end_of_a_build_of_small_tables_is_announced(folder: Path) -> None:
    sessions = Sessions([OWN_ENGINE], None, None)
    try:
        session = sessions.open()
        position = parse_position(FLYERS, make_rules("loc", ["NoRemovalPlies=77"]))
        feed = session.subscribe()
        feed.take(0)
        assert proven_view(position) is None, "the tables are not built yet"
        # A build that an earlier test left behind may announce its end first.
        wait(
            lambda: "state" in (feed.take(1) or ()) and proven_view(position),
            120, "a new state with tables",
        )  # fmt: skip
    finally:
        sessions.close()


def test_closing_a_build_stops_it_and_releases_its_lock(folder: Path) -> None:
    build = TableBuild()
    build.start()
    wait(lambda: build.share is not None, 60, "the build")
    build.close()
    assert build.share is None and not has_tables(DEFAULT_RULES, folder)
    Builder(folder, DEFAULT_RULES, depths=True).build(6)


def test_a_folder_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path / "file"))
    build = TableBuild()
    build.start()
    build.close()
    assert build.share is None


def test_rules_that_have_tables_of_a_position_are_found(folder: Path) -> None:
    copy_tables(folder, PRESETS["morris"], 7)
    mill = parse_position(SEVEN_MEN, PRESETS["mill"])
    assert other_tables(mill) == ["morris"], "Roman has the same rules under another name"
    assert other_tables(parse_position(SEVEN_MEN, PRESETS["roman"])) == []
    assert other_tables(parse_position(NINE_MEN, PRESETS["mill"])) == []
    assert other_tables(Position(rules=PRESETS["mill"])) == []


def test_distances_count_the_moves_of_one_side_as_scores_do(folder: Path) -> None:
    copy_tables(folder, DEFAULT_RULES, 7, depths=True)
    six_men = parse_position(FLYERS, DEFAULT_RULES)
    for position in (six_men, parse_position(SEVEN_MEN, DEFAULT_RULES)):
        view = proven_view(position)
        assert view is not None
        moves = [move for move in view["moves"] if move.get("depth")]
        assert moves
        for move in moves:
            assert move["in"] == (move["depth"] + 1) // 2
            assert move["ends"] == (position is six_men)
