"""Output of Swiss and knockout tournaments: byes, brackets, and constant totals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands import output
from tests.tournament.processes import Marked, play
from tests.tournament.specs import engine_words, parallel

pytestmark = pytest.mark.thorough

STARTED = re.compile(r"^Started game \d+ of (.+) \(", re.MULTILINE)


def flags(path: Path, count: int, *more: str) -> list[str]:
    """Return the flags of a tournament of engines A, B and so on, of increasing strength."""
    names = enumerate("ABCDEFGH"[:count], 1)
    words = [word for n, name in names for word in engine_words(name, f"nodes={20 * n}")]
    return [*words, "-srand", "4", "-scoreinterval", "0", "-journal", str(path), *more]


def killed_after(words: list[str], start: str) -> str:
    """Kill a run after a printed line that begins with ``start``; return its whole output."""
    run = Marked(*words)
    assert run.process.stdout is not None
    printed = ""
    for line in run.process.stdout:
        printed += line
        if line.startswith(start):
            break
    run.process.kill()
    run.process.wait()
    return printed + run.process.stdout.read()


def report(path: Path) -> tuple[str, str]:
    """Return a journal's ratings as text and as HTML."""
    return output("ratings", str(path)), output("ratings", str(path), "-format", "html")


def test_swiss_byes_are_printed_scored_and_kept_by_a_resumed_run(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    words = flags(path, 5, "-tournament", "swiss", *parallel(2))
    out = killed_after(words, "Round 2 of 3") + play(*words, "-resume")[0]
    byes = dict.fromkeys(re.findall(r"^Round \d of 3; (\w) has a bye: 2 points$", out, re.M))
    assert len(byes) == 3, "one in each round, of different engines"
    assert set(STARTED.findall(out)) == {"12"}
    table = re.search(r"^#  Name  Points  Buchholz      Bye\n(.+\n){5}", out, re.M)
    assert table is not None
    for number, name in enumerate(byes, 1):
        assert re.search(rf"^\d  {name} .* round {number}$", table[0], re.M)
    assert sum(float(points) for points in re.findall(r"^\d  \w +([\d.]+)", table[0], re.M)) == 18
    text, page = report(path)
    assert text.startswith(table[0]) and "<h2>Points, byes included</h2>" in page
    # A run with one worker that is not killed has the same table.
    assert table[0] in play(*flags(tmp_path / "whole.db", 5, "-tournament", "swiss"))[0]


def test_a_knockout_shows_its_pairings_and_winners(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    words = flags(path, 5, "-tournament", "knockout", *parallel(2))
    first = killed_after(words, "Finished game 3")
    bracket = first.split("Started")[0].splitlines()
    assert re.sub(" +", " ", "\n".join(bracket)) == (
        "Stage # Match Score Goes on\n"
        "Quarter-finals A A (bye)\n"
        "Quarter-finals 1 D vs E\n"
        "Quarter-finals B B (bye)\n"
        "Quarter-finals C C (bye)\n"
        "Semi-finals 2 A vs winner of 1\n"
        "Semi-finals 3 B vs C\n"
        "Final 4 winner of 2 vs winner of 3"
    )
    out = first + play(*words, "-resume")[0]
    assert set(STARTED.findall(out)) == {"at most 72"}
    final = re.search(r"^Final +4 .* (\w)( \(.*\))?\nWinner of the knockout: (\w)$", out, re.M)
    assert final is not None and final[1] == final[3]
    text, page = report(path)
    assert text.startswith("Stage") and text.split("\n\n")[0] in out
    assert "<h2>Bracket</h2>" in page and "A (bye)" in page
    assert "knockout, matches of 1 round of 2 games, extended if drawn" in page


def test_a_drawn_match_shows_how_it_was_decided(tmp_path: Path) -> None:
    out, _ = play(*flags(tmp_path / "j", 2, "-tournament", "knockout", "-maxmoves", "1"))
    assert re.findall(r"extra pairing (\d) of at most 8", out) == list("12345678")
    assert re.search(r"Final +1  A vs B  9\.0-9\.0  A \(the higher seed, after 8 extra pai", out)
    assert set(STARTED.findall(out)) == {"at most 18"}


@pytest.mark.parametrize("style", ["swiss", "knockout"])
def test_a_journal_without_a_finished_round_shows_its_first_pairings(
    style: str, tmp_path: Path
) -> None:
    path = tmp_path / "j.db"
    # The pause after game 1 never ends, so the round has an unplayed game at the kill.
    killed_after(flags(path, 4, "-tournament", style, "-wait", str(10**9)), "Finished game 1 ")
    text, _ = report(path)
    assert text.startswith("Stage" if style == "knockout" else "#  Name  Points  Buchholz")
