"""Merging journals of one tournament: each game once, and no new journal after an error."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from merels.tournament.commands.merge import PART_FLAGS
from merels.tournament.journal import merging
from merels.tournament.journal.compare import setting_words
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.merging import merge
from merels.tournament.journal.open import open_journal, read_journal
from merels.tournament.journal.rows import make_row
from merels.tournament.pairing.schedule import pair_of
from merels.tournament.records.table import FLAGS, GROUPS
from merels.tournament.run.plan import Plan
from merels.tournament.statistics.sprt import Sprt
from tests.commands import command
from tests.kit import full_disk
from tests.tournament.processes import play
from tests.tournament.specs import match, planned_games, result, rows_of, settings

main = command("merge")


def journal(
    path: Path, numbers: Iterable[int], arguments: Sequence[str] = (), size: int = 0,
    **fields: object,
) -> str:
    """Write a journal with games of these numbers, each of at least ``size`` bytes."""
    notes = {"id": path.name, "arguments": json.dumps(arguments)}
    with open_journal(str(path), settings(2, **fields), notes) as opened:
        for number in numbers:
            opened.append(make_row(result(number, reason="x" * size)))
    return str(path)


def test_a_merged_journal_has_each_game_once_and_no_flags_of_a_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_a_part = ["-quiet", "-log", "x", "-pgnout", "y", "-serve", "0", "-concurrency", "64",
                 "-force-concurrency", "-use-affinity", "-executor", "a:b", "-scoreinterval", "0",
                 "-ratinginterval", "7"]
    first = journal(tmp_path / "a", [1, 2, 5], ["-rounds", "2", "--shard", "1/2"])
    words = ["-rounds", "5", "-shard", "2/2", *of_a_part]
    second = journal(tmp_path / "b", [3, 5, 4], words, rounds=5)
    out = str(tmp_path / "out")
    assert main([out, first, second]) == 0
    assert capsys.readouterr().out == (
        f"{out}: 5 of 10 games from 2 journals; skipped 1 duplicate\n"
        "shard 1/2 has 3 of 6 games\nshard 2/2 has 2 of 4 games\n")
    with read_journal(out) as merged:
        assert merged.numbers() == [1, 2, 3, 4, 5]
        assert json.loads(merged.meta()["settings"])["rounds"] == 5
        assert merged.meta()["id"] not in ("a", "b")
        assert json.loads(merged.meta()["arguments"]) == ["-rounds", "5"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "out"]


def test_the_verdict_of_the_longer_journal_is_kept(tmp_path: Path) -> None:
    test = Sprt(0, 10)
    first = journal(tmp_path / "a", [1, 2], sprt=test)
    second = journal(tmp_path / "b", [1, 2, 3], rounds=5, sprt=test)
    with Journal(second) as decided:
        decided.set_meta({"verdict": "H1"})
    assert merge(f"{tmp_path}/out", [first, second]).is_decided
    with read_journal(f"{tmp_path}/out") as merged:
        assert merged.meta().get("verdict") == "H1"
    longer = journal(tmp_path / "c", [1, 2, 3, 4], rounds=6, sprt=test)
    assert not merge(f"{tmp_path}/other", [second, longer]).is_decided
    with read_journal(f"{tmp_path}/other") as merged:
        assert "verdict" not in merged.meta()


def test_missing_games_are_listed_by_shard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a former version, no message reported a missing shard."""
    shards = {1: [1, 2, 9, 10], 2: [3, 4, 11], 4: [7, 8, 15, 16]}
    parts = [
        journal(tmp_path / f"{index}", numbers, ["-shard", f"{index}/4"], rounds=8)
        for index, numbers in shards.items()
    ]
    for words, status in (((), 0), (("-complete",), 1)):
        out = str(tmp_path / f"out{status}")
        assert main([out, *parts, *words]) == status
        assert capsys.readouterr().out == (
            f"{out}: 11 of 16 games from 3 journals\n"
            "shard 2/4 has 3 of 4 games\nshard 3/4 is missing: 4 games\n"
        )
    rest = [journal(tmp_path / "3", [5, 6, 13, 14], ["-shard", "3/4"], rounds=8),
            journal(tmp_path / "2b", [12], ["-shard", "2/4"], rounds=8)]
    out = str(tmp_path / "whole")
    assert main([out, *parts, *rest, "-complete"]) == 0
    assert capsys.readouterr().out == f"{out}: 16 games from 5 journals\n"


def test_a_game_with_two_results_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = journal(tmp_path / "a", [1, 2]), journal(tmp_path / "b", [2, 3, 4])
    with sqlite3.connect(second) as database:
        database.execute("UPDATE games SET result = '0-1' WHERE number IN (2, 3)")
    out = str(tmp_path / "out")
    assert main([out, first, second, "-complete"]) == 1
    assert capsys.readouterr().out == (
        f"{out}: 4 games from 2 journals; skipped 1 duplicate\n"
        f"game 2 has two results: 1-0 in {first}, 0-1 in {second}\n"
    )
    assert [row.result for row in rows_of(out)] == ["1-0", "1-0", "0-1", "1-0"]


@pytest.mark.parametrize("games", [1, 2, 3, 4, 5])
def test_pair_of_gives_the_pair_of_a_game_in_the_plan(games: int) -> None:
    chosen = settings(3, rounds=3, games=games)
    for spec in planned_games(Plan(chosen)):
        assert pair_of(chosen, spec.number) == spec.pair


def test_every_flag_belongs_to_the_tournament_or_to_a_part() -> None:
    flags = {flag.split()[0] for flag in setting_words(settings())}
    of_all = {"-config", "-sprt"} | {flag for flag in flags if flag in FLAGS}
    assert {*GROUPS["Running"], *GROUPS["Output"]} - of_all <= {*PART_FLAGS}
    assert not of_all & {*PART_FLAGS}


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda p: [journal(p / "a", [1]), journal(p / "b", [2], seed=9)],
         "a: -srand: here 9, there 7 ("),
        (lambda p: [journal(p / "a", [1]), str(p / "none")], "no such file"),
        (lambda p: [], "expected the journals"),
        (lambda p: [journal(p / "a", [], format="league")], "merels league DIR merge DIR2"),
    ],
)
def test_journals_that_cannot_be_merged_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], prepare: Callable[[Path], list[str]],
    message: str,
) -> None:
    assert main([str(tmp_path / "out"), *prepare(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert message in err and out == ""
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("out")]


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
@pytest.mark.parametrize("megabytes", [3, 5])
@pytest.mark.thorough
def test_a_full_disk_is_reported_and_leaves_no_journal(tmp_path: Path, megabytes: int) -> None:
    """The last games may fit into SQLite's log, but not into the journal itself."""
    big = journal(tmp_path / "big", range(1, 7), size=1 << 20)
    run = full_disk.run_command(megabytes << 20, "merge", tmp_path / "out", big, seconds=300)
    assert run.returncode == 1 and run.stdout == ""
    message = f"merels merge: cannot write the journal {tmp_path}/out: "
    assert run.stderr.startswith(message), run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["big"]


def test_merging_does_not_read_the_new_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read new rows, SQLite needs disk space for an index of its log."""

    def deny_games(action: int, table: str | None, *_: str | None) -> int:
        denied = action == sqlite3.SQLITE_READ and table == "games"
        return sqlite3.SQLITE_DENY if denied else sqlite3.SQLITE_OK

    def connect(path: str) -> Journal:
        target = Journal(path)
        target._database.set_authorizer(deny_games)
        return target

    monkeypatch.setattr(merging, "Journal", connect)
    first, second = journal(tmp_path / "a", [1, 2]), journal(tmp_path / "b", [2, 3])
    merged = merge(f"{tmp_path}/out", [first, second])
    assert (merged.games, merged.duplicates) == (3, 1)


def test_a_merge_does_not_overwrite_the_file_of_a_concurrent_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = journal(tmp_path / "a", [1, 2]), journal(tmp_path / "b", [3])
    out = str(tmp_path / "out")

    def read_slowly(path: str) -> Journal:
        if path == first:
            merge(out, [second])
        return read_journal(path)

    monkeypatch.setattr(merging, "read_journal", read_slowly)
    assert main([out, first]) == 2
    assert "out': this file exists" in capsys.readouterr().err
    assert [row.number for row in rows_of(out)] == [3]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "out"]


def test_an_error_names_an_unwritable_path_as_it_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = journal(tmp_path / "a", [1])
    monkeypatch.chdir(tmp_path)
    for out in ("", "none/out"):
        assert main([out, path]) == 2
        assert f"'{out}': cannot write this file: No such file" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.thorough
def test_merged_shards_are_resumed_until_complete(tmp_path: Path) -> None:
    flags = match("-rounds", "3")
    pgn, log = tmp_path / "1.pgn", tmp_path / "1.log"
    for index in (1, 2):
        play(*flags, "--shard", f"{index}/3", "-journal", f"{tmp_path}/{index}",
             "-pgnout", f"{tmp_path}/{index}.pgn", "--log", f"{log}", "level=info", "-quiet")
    files = pgn.read_bytes(), log.read_bytes()
    assert main([f"{tmp_path}/out", f"{tmp_path}/1", f"{tmp_path}/2"]) == 0
    assert [row.number for row in rows_of(tmp_path / "out")] == [1, 2, 3, 4]
    out, _ = play("-journal", f"{tmp_path}/out", "-resume")
    assert "Finished game 6 " in out, "the merged journal has -quiet of a part"
    assert [row.number for row in rows_of(tmp_path / "out")] == [1, 2, 3, 4, 5, 6]
    assert (pgn.read_bytes(), log.read_bytes()) == files, "files of the parts have changed"
