"""``merels league`` on real folders: players, games, parts, interrupted and continued runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from merels.tournament.league.league import JOURNAL, open_league
from merels.tournament.league.rating_list import families
from merels.tournament.league.site import INDEX, SITE
from merels.tournament.play.preflight import PreflightResult
from merels.tournament.run.runner import End, Runner
from tests.commands import call, output, refusal, run
from tests.kit import executor
from tests.kit.executor import INVENTED, Script, after, interrupts
from tests.tournament.league.leagues import game, make_league, random_games
from tests.tournament.specs import match, rows_of

CREATE = ("create", "-each", "nodes=30", "-srand", "1", "-variant", "morris")
PLAY = ("play", *INVENTED)
PLAY_FLOOR = (*PLAY, "-error", "1000")
"""Plays the pairs below the floor and few others, because almost any error reaches this goal."""


@pytest.fixture(scope="module")
def new_league(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of a league of three levels without games, for copies."""
    folder = f"{tmp_path_factory.mktemp('new')}/league"
    output("league", folder, *CREATE)
    levels = ("Beginner", "Casual", "Club")
    output("league", folder, "add", *(word for level in levels
                                      for word in ("-engine", f"level={level}", "nodes=30")))
    return folder


@pytest.fixture(scope="module")
def floor_league(new_league: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of the same league with the pairs below the floor, for copies."""
    folder = f"{tmp_path_factory.mktemp('floor')}/league"
    shutil.copytree(new_league, folder)
    output("league", folder, *PLAY_FLOOR)
    return folder


@pytest.fixture
def league(new_league: str, tmp_path: Path) -> str:
    """Return the folder of a league of three levels without games."""
    return shutil.copytree(new_league, f"{tmp_path}/league")


@pytest.fixture
def played_league(floor_league: str, tmp_path: Path) -> str:
    """Return the folder of a league of three levels with the pairs below the floor."""
    return shutil.copytree(floor_league, f"{tmp_path}/league")


def games(folder: str) -> list[tuple[int, str, str, str]]:
    """Return number, White, Black and result of each game."""
    with closing(sqlite3.connect(f"{folder}/{JOURNAL}")) as database:
        return list(database.execute(
            "SELECT number, white, black, result FROM games ORDER BY number"
        ))


def test_a_league_plays_until_every_error_is_below_the_goal(league: str) -> None:
    text = output("league", league, *PLAY, "-error", "150")
    rows = [line.split() for line in text.splitlines()[1:4]]
    assert {row[1] for row in rows} == {"Beginner", "Casual", "Club"}
    assert all(float(row[3]) <= 150 for row in rows)
    played = games(league)
    pairs = Counter(frozenset(names) for _, *names, _ in played)
    assert len(pairs) == 3 and all(count >= 2 and count % 2 == 0 for count in pairs.values())
    whites = Counter(white for _, white, _, _ in played)
    blacks = Counter(black for _, _, black, _ in played)
    assert whites == blacks, "each pair has both colours"
    output("league", league, *PLAY, "-error", "150")
    assert games(league) == played, "the goal was reached before"


def test_by_default_ratings_have_the_mean_of_the_levels(tmp_path: Path) -> None:
    folder = f"{tmp_path}/league"
    output("league", folder, *CREATE)
    text = output("league", folder, "add", "-engine", "level=Beginner", "nodes=60",
                  "-engine", "level=casual", "nodes=200")
    assert "no anchor" not in text
    output("league", folder, *PLAY_FLOOR)
    elos = [float(line.split()[2]) for line in output("league", folder).splitlines()[1:3]]
    assert sum(elos) == pytest.approx(800 + 1170, abs=2)


def test_a_level_with_a_lower_limit_than_its_own_is_no_anchor(league: str) -> None:
    """In a former version, levels were anchors at any limit, where they play another strength."""
    text = output("league", league, "add", "-engine", "level=Expert", "depth=1")
    assert "Expert; it is no anchor, because its limit is below the 2000 nodes of its" in text
    output("league", league, *PLAY_FLOOR)
    elos = [float(line.split()[2]) for line in output("league", league).splitlines()[1:5]]
    assert sum(elos) == pytest.approx(0, abs=2)


def test_anchors_that_contradict_the_games_are_named(tmp_path: Path) -> None:
    rows = [game(number, *("AB" if number % 2 else "BA"), "1/2-1/2" if number % 3 else "1-0")
            for number in range(1, 61)]
    for elo, is_named in ((1450.0, False), (2400.0, True)):
        anchors = (("A", elo), ("B", 1500.0))
        folder = make_league(tmp_path / f"{elo:g}", "AB", rows, anchors=anchors)
        text = output("league", folder)
        assert ("the anchor A is stated as 2400, but its games give 19" in text) == is_named, text
        assert ("the anchor B is stated as 1500" in text) == is_named


def test_too_few_games_are_named(tmp_path: Path) -> None:
    rows = [*random_games("AB", 40), game(41, "A", "C"), game(42, "C", "A")]
    text = output("league", make_league(tmp_path / "league", "ABC", rows))
    assert [line.split()[1] for line in text.splitlines() if "too few games" in line] == ["C"]


def test_a_family_is_named_and_can_be_corrected(league: str) -> None:
    """In a former version, a player added with -family stayed in this family for ever."""
    engines = ("-engine", "level=Expert", "nodes=2000", "-engine", "level=Master", "nodes=20000")
    text = output("league", league, "add", *engines, "-family", "X")
    assert text == "".join(f"{league}: added {name} to the family X\n"
                           for name in ("Expert", "Master"))
    output("league", league, "family", "Levels", "Casual", "Expert")
    with open_league(league) as opened:
        assert families(opened) == {"Levels": ["Casual", "Expert"]}
    assert "did you mean Expert?" in refusal("league", league, "family", "Levels", "Exprt")
    assert "'family': expected a family and" in refusal("league", league, "family", "Levels")


def test_a_player_without_a_program_is_refused_with_the_way_to_play_on(tmp_path: Path) -> None:
    folder, program = f"{tmp_path}/league", tmp_path / "engine"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -P -m merels.protocol\n")
    program.chmod(0o755)
    output("league", folder, *CREATE)
    output("league", folder, "add", *(word for name in ("E", "E 2", "F")
                                      for word in ("-engine", f"cmd={program}", f"name={name}")))
    program.rename(tmp_path / "moved")
    words = refusal("league", folder, "play")
    assert f"no file '{program}'" in words and f"merels league {folder} retire E" in words
    output("league", folder, "retire", "E")
    assert "retire 'E 2'" in refusal("league", folder, "play")


def test_anchors_fix_the_scale(tmp_path: Path) -> None:
    folder = f"{tmp_path}/league"
    output("league", folder, *CREATE, "-anchor", "Club=3000")
    output("league", folder, "add", "-engine", "level=Club", "-engine", "level=Casual")
    output("league", folder, *PLAY_FLOOR)
    assert re.search(r"Club +3000 ", output("league", folder))


def test_a_new_player_meets_all_others_and_they_play_no_more_games(played_league: str) -> None:
    league = played_league
    before = games(league)
    output("league", league, "add", "-engine", "level=Expert", "nodes=30")
    output("league", league, *PLAY_FLOOR)
    after = games(league)
    added = [names for _, *names, _ in after[len(before):]]
    assert after[: len(before)] == before and all("Expert" in names for names in added)
    assert {name for names in added for name in names} == {"Expert", "Beginner", "Casual", "Club"}


def test_a_retired_player_keeps_its_rating_and_plays_no_more(played_league: str) -> None:
    league = played_league
    output("league", league, "retire", "Casual")
    before = len(games(league))
    output("league", league, *PLAY_FLOOR, "-games", "4", "-error", "20")
    assert "Casual" not in {name for _, *names, _ in games(league)[before:] for name in names}
    assert re.search(r"Casual .* retired", output("league", league))


def test_an_interrupted_league_ends_after_the_games_in_progress(
    league: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The advice repeats the flags: a copy of the folder plays the other part."""
    flags = [*PLAY, "-shard", "2/2", "-error", "20"]
    monkeypatch.setattr(executor, "SCRIPT", Script({2: after(interrupts)}))
    done = call("league", league, *flags)
    assert done.returncode == 130 and "goal ±25" in done.stdout
    assert done.stderr.endswith(f"continue with: merels league {league} {' '.join(flags)}\n")
    assert len(games(league)) >= 4


def test_a_deleted_journal_of_a_league_is_kept_in_a_second_file(
    league: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{league}/{JOURNAL}"
    monkeypatch.setattr(executor, "SCRIPT", Script({5: after(lambda: os.remove(path))}))
    done = call("league", league, *PLAY, "-error", "1", "-games", "1000")
    count = len(rows_of(f"{path}.saved"))
    assert done.returncode == 1 and 1 < count < 1000
    assert f"the journal {path} was deleted during the run; {count} games stored in" in done.stderr
    advice = done.stderr.splitlines()[-1]
    assert advice.startswith(
        f"merels league: stopped; to continue, rename {path}.saved to {path}, and then: merels"
    )
    os.rename(f"{path}.saved", path)
    monkeypatch.undo()
    output("league", league, *PLAY, "-error", "1", "-games", "2", "-quiet")
    assert len(games(league)) > count


def test_a_half_pair_is_finished_first(league: str) -> None:
    output("league", league, *PLAY_FLOOR, "-games", "2")
    first, second = games(league)
    with sqlite3.connect(f"{league}/{JOURNAL}") as database:
        database.execute("DELETE FROM games WHERE number = 2")
    output("league", league, *PLAY_FLOOR, "-games", "1")
    assert [game[:3] for game in games(league)] == [first[:3], second[:3]]


def test_parts_played_in_copies_of_the_folder_are_joined(league: str, tmp_path: Path) -> None:
    copied = f"{tmp_path}/copy"
    shutil.copytree(league, copied)
    output("league", league, *PLAY_FLOOR, "-shard", "1/2")
    output("league", copied, *PLAY_FLOOR, "-shard", "2/2")
    output("league", copied, "add", "-engine", "level=Expert")
    theirs = games(copied)
    assert theirs and not {game[0] for game in theirs} & {game[0] for game in games(league)}
    ours = games(league)
    assert output("league", league, "merge", copied).endswith(
        f": {len(theirs)} games from {copied}\n"
    )
    assert games(league) == sorted(ours + theirs)
    assert "Expert" in output("league", league)
    assert "0 games from" in output("league", league, "merge", copied)


def test_only_one_part_finishes_a_half_pair(league: str, tmp_path: Path) -> None:
    """In a former version, both parts played the missing game, so merge refused the second."""
    output("league", league, *PLAY_FLOOR, "-games", "2")
    with sqlite3.connect(f"{league}/{JOURNAL}") as database:
        database.execute("DELETE FROM games WHERE number = 2")
    copied = f"{tmp_path}/copy"
    shutil.copytree(league, copied)
    output("league", league, *PLAY_FLOOR, "-games", "1", "-shard", "1/2")
    output("league", copied, *PLAY_FLOOR, "-games", "1", "-shard", "2/2")
    assert [number for number, *_ in games(league)] == [1, 2]
    assert 2 not in [number for number, *_ in games(copied)]
    output("league", league, "merge", copied)


def test_different_games_of_the_same_number_are_refused(league: str, tmp_path: Path) -> None:
    copied = f"{tmp_path}/copy"
    shutil.copytree(league, copied)
    output("league", league, *PLAY_FLOOR, "-games", "2")
    output("league", copied, *PLAY_FLOOR, "-games", "2")
    with sqlite3.connect(f"{copied}/{JOURNAL}") as database:
        database.execute("UPDATE games SET started = '2027' WHERE number = 1")
    before = games(league)
    assert "game 1 here is not game 1 of" in refusal("league", league, "merge", copied)
    assert games(league) == before
    output("league", f"{tmp_path}/other", *CREATE)
    assert "not a copy of the league" in refusal("league", league, "merge", f"{tmp_path}/other")


def test_a_rebuilt_program_is_refused_until_it_is_a_new_player(
    league: str, tmp_path: Path
) -> None:
    program = tmp_path / "engine"

    def build(comment: str) -> None:
        program.write_text(
            f"#!/bin/sh\n# {comment}\nexec {sys.executable} -P -m merels.protocol\n"
        )
        program.chmod(0o755)

    build("1")
    output("league", league, "add", "-engine", f"cmd={program}", "name=E")
    build("2")
    words = refusal("league", league, *PLAY_FLOOR)
    assert "'E': its program has changed" in words and "-family" in words
    output("league", league, "add", "-engine", f"cmd={program}", "name=E 2", "-family", "E")
    output("league", league, "retire", "E")
    output("league", league, *PLAY_FLOOR)
    names = {name for _, *pair, _ in games(league) for name in pair}
    assert names == {"Beginner", "Casual", "Club", "E 2"}


def test_a_league_writes_its_log_and_serves_its_page(league: str, tmp_path: Path) -> None:
    log = tmp_path / "league.log"
    done = call("league", league, *PLAY, "-games", "2",
                "-log", f"file={log}", "level=info", "-serve", "0")
    assert done.returncode == 0, done.stderr
    assert re.search(r"standings at http://127\.0\.0\.1:\d+/", done.stderr), done.stderr
    text = log.read_text(encoding="utf-8")
    for number, _, _, result in games(league):
        assert re.search(rf"game {number}: .* started", text), text
        assert re.search(rf"game {number}: .* {result} ", text), text


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_league_whose_log_or_site_cannot_be_written_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a former version, the games were played, and the exit status was 0."""
    def play(runner: Runner, make_pool: object) -> End:
        runner.board.notice("a notice for the log")
        return "finished"

    monkeypatch.setattr(Runner, "run", play)
    passed = PreflightResult([], [])
    monkeypatch.setattr("merels.tournament.commands.run.preflight", lambda *_: passed)
    folder = make_league(tmp_path / "league", "AB", random_games("AB", 4))
    assert run(capsys, ["league", folder, "play"])[0] == 0
    status, _, err = run(capsys, ["league", folder, "play", "-log", "/dev/full"])
    assert status == 1 and "cannot write /dev/full: No space left on device" in err
    (Path(folder) / SITE / INDEX).mkdir(parents=True)
    status, _, err = run(capsys, ["league", folder, "play"])
    assert status == 1 and "cannot update the site: " in err


def test_an_anchor_that_is_no_player_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Runner, "run", lambda runner, make_pool: "finished")
    passed = PreflightResult([], [])
    monkeypatch.setattr("merels.tournament.commands.run.preflight", lambda *_: passed)
    anchors = (("A", 1000.0), ("C", 2000.0))
    folder = make_league(tmp_path / "league", "AB", random_games("AB", 4), anchors=anchors)
    status, _, err = run(capsys, ["league", folder, "play"])
    assert status == 0 and "the anchor 'C' does not fix the scale" in err and "'A'" not in err


def test_tournaments_and_leagues_do_not_continue_each_other(league: str, tmp_path: Path) -> None:
    path = f"{league}/{JOURNAL}"
    assert "continue it with merels league" in refusal("tournament", "-journal", path, "-resume")
    output("tournament", *match("-rounds", "1", "-journal", f"{tmp_path}/{JOURNAL}", "-quiet"),
           *INVENTED)
    assert "of a tournament, not of a league" in refusal("league", str(tmp_path))


def test_a_reader_of_the_journal_does_not_fail_a_run(league: str) -> None:
    with closing(sqlite3.connect(f"{league}/{JOURNAL}")) as database:
        list(database.execute("SELECT * FROM meta"))
        output("league", league, *PLAY_FLOOR, "-games", "2")
        list(database.execute("SELECT * FROM games"))


def test_a_run_of_a_league_that_another_run_writes_is_refused(league: str) -> None:
    with open_league(league):
        assert "another run is writing" in refusal("league", league, *PLAY_FLOOR)


def test_damaged_terms_are_an_error(league: str) -> None:
    with sqlite3.connect(f"{league}/{JOURNAL}") as database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'league'", (json.dumps([]),))
    assert "this journal is damaged" in refusal("league", league)


def test_an_executor_that_cannot_be_created_ends_a_run_without_a_traceback(
    league: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error in (OSError(5, "no cluster"), ValueError("no cluster")):
        monkeypatch.setattr(executor, "SCRIPT", Script(made={1: error}))
        done = call("league", league, *PLAY, "-executorwait", "1")
        assert done.returncode == 1 and "Traceback" not in done.stderr
        assert "standard output" not in done.stderr and "no cluster" in done.stderr
        assert f"continue with: merels league {league} play" in done.stderr
