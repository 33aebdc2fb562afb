"""Players: different engines with the same name stay apart in ratings of any games."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from merels.tournament.journal.open import open_journal
from merels.tournament.journal.players import Description, Roster, description_of
from merels.tournament.journal.rows import make_row
from merels.tournament.records.as_flags import typed
from merels.tournament.records.games import Entrant, Origin, TimeControl
from merels.tournament.records.settings import Settings
from merels.tournament.views.pgn import GameWriter
from tests.commands import command
from tests.tournament.specs import changed, engine, result, settings

ratings = command("ratings")
PGN = '[White "{}"]\n[Black "{}"]\n{}\n1. d6 f4 1-0\n\n'


def limited(*nodes: int) -> Settings:
    """Return a tournament of A and B with these nodes per move."""
    return settings(engines=tuple(engine(name, count) for name, count in zip("AB", nodes)))


def journal(path: Path, chosen: Settings, origins: Sequence[Origin] = (Origin(),) * 4) -> Path:
    """Write a journal with a game for each origin, and a PGN file of these games beside it."""
    notes = {"id": f"{abs(hash(path)):016x}"[:16], "arguments": "[]"}
    writer = GameWriter(chosen, notes["id"])
    text = ""
    with open_journal(str(path), chosen, notes) as opened:
        for number, origin in enumerate(origins, 1):
            outcome = ("1-0", "1/2-1/2")[number % 2]
            started = f"2026-01-02T03:04:05.678+00:00 {path}"
            row = make_row(result(number, outcome, origin=origin, started=started))
            opened.append(row)
            text += writer.text(row)
    path.with_suffix(".pgn").write_text(text)
    return path


def listed(capsys: pytest.CaptureFixture[str], *words: object, status: int = 0) -> set[str]:
    """Return the names of the players that ``merels ratings`` lists."""
    assert ratings([*map(str, words), "-format", "json"]) == status
    return {player["name"] for player in json.loads(capsys.readouterr().out)["players"]}


def test_one_name_with_two_limits_is_two_players(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a former version, the two players were merged into one without a message."""
    a = journal(tmp_path / "a.db", limited(50, 30))
    b = journal(tmp_path / "b.db", limited(1000, 30))
    assert listed(capsys, a, b) == {"A [nodes=50]", "A [nodes=1000]", "B"}
    assert listed(capsys, a, b, "-same", "A") == listed(capsys, a, b, "-same", "*") == {"A", "B"}
    assert listed(capsys, a, b, "-same", "B") == {"A [nodes=50]", "A [nodes=1000]", "B"}
    assert ratings([str(a), str(b), "-anchor", "A=100"]) == 2
    assert "name one of A [nodes=1000], A [nodes=50]" in capsys.readouterr().err
    assert ratings([str(a), str(b), "-anchor", "A [nodes=50]=100"]) == 0
    assert "A [nodes=50] is fixed at 100" in capsys.readouterr().out
    # PGN files of the same tournaments give the same players, also mixed with journals.
    pgn = [path.with_suffix(".pgn") for path in (a, b)]
    assert listed(capsys, *pgn) == listed(capsys, a, pgn[1]) == listed(capsys, a, b)


@pytest.mark.parametrize(
    ("other", "players"),
    [
        (changed(engine("A", 20), options=(("Hash", "1"),)),
         {"A [option.Hash=1]", "A [no option.Hash]"}),
        (changed(engine("A", 20), command=("/bin/other",)), {"A"}),
        (replace(engine("A", 20), limit=TimeControl(per_move=10**9)), {"A [st=1]", "A [nodes=20]"}),
        (replace(engine("A", 20), ping_timeout=3.0, restart=True), {"A"}),
        (changed(engine("A", 20), command=("/usr/bin/prog",)), {"A"}),
    ],
)
def test_options_and_limits_make_another_player(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: Entrant, players: set[str]
) -> None:
    """The program, the timeouts and restarts do not make another player."""
    first = engine("A", 20)
    if other.engine.command[0].endswith(("other", "prog")):
        first = changed(first, command=("/bin/prog",))
    paths = [
        journal(tmp_path / str(number), settings(engines=(entrant, engine("B"))))
        for number, entrant in enumerate((first, other))
    ]
    assert listed(capsys, *paths) - {"B"} == players


def test_two_announced_versions_are_two_players(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = (Origin("h", "1", (version, "b 1")) for version in ("a 1", "a 2"))
    both = journal(tmp_path / "both", limited(5, 5), [old, old, new, new])
    assert listed(capsys, both) == {"A [a 1]", "A [a 2]", "B"}
    assert listed(capsys, both.with_suffix(".pgn")) == listed(capsys, both)
    unknown = journal(tmp_path / "old", limited(5, 5))
    known = journal(tmp_path / "new", limited(5, 5), [old] * 4)
    assert listed(capsys, unknown, known) == {"A", "B"}, "unknown versions match known ones"


def test_a_swapped_program_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a former version, both programs were rated as one engine, without a warning."""
    old, new = (
        Origin(host, version, ("a 1", "b 1"), (program, "bb"))
        for host, version, program in (("h1", "0.1", "aa"), ("h2", "0.2", "cc"))
    )
    path = journal(tmp_path / "j", limited(5, 5), [old, old, new, new, new, new])
    assert ratings([str(path)]) == 0
    out = capsys.readouterr().out
    assert (
        "WARNING: A was played by 2 programs: a 1, SHA-256 aa (2 games on h1); a 1, "
        "SHA-256 cc (4 games on h2)\n" in out
    )
    assert "WARNING: games were played by 2 versions of merels: 0.1 (2 games), 0.2 (4 games)" in out
    assert "B was" not in out
    assert listed(capsys, path) == {"A", "B"}
    programs = {"A [program=aa]", "A [program=cc]"}
    assert listed(capsys, path, "-split", "program") == {*programs, "B"}
    hosts = {f"{name} [host={host}]" for name in "AB" for host in ("h1", "h2")}
    assert listed(capsys, path, "-split", "host") == hosts


def test_unnamed_players_are_not_rated_as_one_engine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.pgn"
    games = [("A", "?", ""), ("?", "B", ""), ("?", "?", ""), ("", "A", ""), ("A", "B", "")]
    path.write_text("".join(PGN.format(*game) for game in games) + '[White "A"]\n\n1-0\n')
    assert ratings([str(path), "-format", "json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert {player["name"]: player["games"] for player in data["players"]} == {"A": 1, "B": 1}
    assert "ignored 5 games in which a player has no name (? or empty)" in err
    assert data["terminations"]["games"] == 6 and set(data["terminations"]["lost"]) == {"A", "B"}
    path.write_text(PGN.format("A", "?", ""))
    assert ratings([str(path)]) == 2
    assert "expected finished games between two engines" in capsys.readouterr().err


def test_ratings_name_the_games_that_they_leave_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.pgn"
    result = '[White "A"]\n[Black "B"]\n[Result "{}"]\n\n1. d6 {}\n\n'
    path.write_text(
        result.format("0-1", "1-0") + result.format("1-0", "*") + result.format("*", "*")
        + result.format("White", "") + result.format("?", "") + result.format("0.5-0.5", "")
        + result.format("0-1", "1-0") + '[White "A"]\n[Black "A"]\n\n1-0\n1. d6 0-1\n'
    )
    assert ratings([str(path), "-format", "json"]) == 0
    out, err = capsys.readouterr()
    first, second = sorted(json.loads(out)["players"], key=lambda player: player["name"])
    assert (first["wins"], first["draws"], first["losses"], second["wins"]) == (3, 1, 0, 0)
    lines = err.replace("merels ratings: ", "").replace(str(path), "x.pgn").splitlines()
    assert lines == [
        "ignored 3 games without a result; the first is game 3 of x.pgn",
        "ignored 1 game of a player against itself: game 8 of x.pgn",
        "ignored 1 game in which a player has no name (? or empty): game 9 of x.pgn",
        "game 1 of x.pgn: the Result tag states 0-1, and the moves end with 1-0; the game counts "
        "as 1-0 (as in 1 other game)",
        "game 2 of x.pgn: the Result tag states 1-0, and the moves end with *; the game counts as "
        "1-0",
        "game 4 of x.pgn: the Result tag 'White' is no result such as 1-0; the game counts as *",
    ]


def test_a_second_anchor_of_ratings_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.pgn"
    path.write_text(PGN.format("A", "C", ""))
    assert ratings([str(path), "-anchor", "A=2000", "-anchor", "C=1500"]) == 2
    assert "'-anchor A=2000 -anchor C=1500': expected one -anchor" in capsys.readouterr().err
    assert ratings([str(path), "-anchor", "A=2000"]) == 0


def test_same_with_a_misspelt_name_is_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a former version the flag had no effect, without a message."""
    file = tmp_path / "games.pgn"
    file.write_text(PGN.format("Engine", "B", ""))
    for name, hint in (("Engin", "did you mean Engine?"), ("Nobody", "name one that played")):
        assert ratings([str(file), "-same", name]) == 2
        error = capsys.readouterr().err
        assert error == f"merels ratings: '{name}': -same names a player of no game; {hint}\n"


def test_players_in_pgn_of_other_runners_are_separated_by_time_control(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fast, slow, plain = (tmp_path / name for name in ("fast.pgn", "slow.pgn", "plain.pgn"))
    fast.write_text(PGN.format("A", "B", '[TimeControl "10+0.1"]\n'))
    slow.write_text(PGN.format("A", "B", '[WhiteTimeControl "60"]\n[BlackTimeControl "?"]\n'))
    plain.write_text(PGN.format("A", "C", ""))
    assert listed(capsys, fast, slow) == {"A [tc=10+0.1]", "A [tc=60]", "B"}
    assert listed(capsys, fast, plain) == {"A", "B", "C"}
    for files in permutations([fast, slow, plain]):
        assert ratings(list(map(str, files))) == 2
        error = capsys.readouterr().err
        assert "'A': plain.pgn does not state enough to decide whether these are games of " in error
        assert "A [tc=60]" in error and "; -same A makes all of them one player" in error
    assert listed(capsys, fast, slow, plain, "-same", "A") == {"A", "B", "C"}


def test_a_pair_may_be_split_over_two_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = journal(tmp_path / "j", limited(5, 5), [Origin("h", "1", ("a 1", "b 1"))] * 4)
    games = whole.with_suffix(".pgn").read_text().split("[Event ")
    half = tmp_path / "half.pgn"
    without_players = [line for line in f"[Event {games[1]}".splitlines()
                       if "Engine" not in line and "Settings" not in line]
    half.write_text("\n".join(without_players) + "\n")

    def errors(*files: Path) -> list[float]:
        assert ratings([*map(str, files), "-format", "json"]) == 0
        return [player["error"] for player in json.loads(capsys.readouterr().out)["players"]]

    assert errors(half, whole) == pytest.approx(errors(whole))


def test_settings_survive_a_pgn_tag() -> None:
    options = (("Some Name", "a b"), ("Path", "it's \"here\""), ("Empty", ""), ("N", "$1`2`"),
               ("File", r"C:\book.bin"), ("Quote", 'a"b'), ("Quotes", '""'))
    words = description_of(changed(engine("A", 7), options=options)).words()
    assert words == {
        **{f"option.{key}": value.replace('""', "") for key, value in options}, "nodes": "7",
    }
    assert Description("unclosed 'quote").words()
    assert typed({"a": "x;y", "b": "z", "c": '""'}) == 'a="x;y" b=z c=""'


def labels_of(*players: tuple[str, Description]) -> list[str]:
    """Return the labels under which ratings list these players."""
    roster = Roster()
    keys = [roster.key(name, described, "file") for name, described in players]
    labels = roster.labels()
    return [labels[key] for key in keys]


def test_labels_are_always_unique() -> None:
    first, second = (Description(f"nodes={nodes}") for nodes in "12")
    assert labels_of(("A", first), ("A", second), ("A [nodes=1]", Description())) == [
        "A [nodes=1] 2", "A [nodes=2]", "A [nodes=1]"
    ]
    assert labels_of(("A", Description()), ("A", first)) == ["A", "A"]
    assert labels_of(
        ("A", first._replace(version="v1")), ("A", second._replace(version="v2"))
    ) == ["A [nodes=1 v1]", "A [nodes=2 v2]"]
