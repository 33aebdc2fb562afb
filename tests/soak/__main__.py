"""``python -m tests.soak``: play tournaments with misbehaving engines, killed and resumed.

    python -m tests.soak [-hours N] [-games G] [-size S] [-seed N] [-fault-rate F]

The soak ends after G games (300 without -hours) or N hours. It checks each tournament when it
ends; the first broken promise ends the soak with an AssertionError.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from merels.engine.common.saving import DRAFT
from merels.protocol.formats.pgn.reader import parse_record
from merels.tournament.flags.command_line import parse
from merels.tournament.flags.make_settings import make_settings
from merels.tournament.journal.open import read_journal
from merels.tournament.journal.rows import Row
from merels.tournament.run.plan import Plan
from merels.tournament.views.pgn import GameWriter
from tests.kit.kills import Kill, random_kills, run
from tests.soak.faults import LOSING, USUAL
from tests.tournament.specs import engine_words

ERRATIC = (sys.executable, str(Path(__file__).with_name("erratic.py")))
ENGINES = {"Merels1": False, "Odd": True, "Merels2": False, "Strange": True, "Merels3": False}
"""Names of the engines, and whether they misbehave."""
SOUND = ["starttimeout=120", "pingtimeout=120"]
PATIENT = ["starttimeout=30", "pingtimeout=5"]
"""Timeouts in seconds: long for sound engines, shorter for engines that hang."""
CLOCK = ["st=1", "timemargin=1500"]
"""A time limit that an overrun far exceeds, but that suffices on a busy machine."""
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
STOPS = 4
"""Maximum number of times that the runner is stopped in a tournament."""
BLAMED = ("abandoned", "illegal move", "time forfeit")
FILES = {"journal.db", "games.pgn"}
FIRST_TAG = '[Event "'


class Scenario(NamedTuple):
    """The flags of a tournament, its erratic engines and the kills of its runner."""

    flags: list[str]
    erratic: list[str]
    kills: list[Kill]
    concurrency: int


def draw(chance: random.Random, folder: Path, size: int, rate: float) -> Scenario:
    """Return a random tournament of about ``size`` games; ``rate`` is the share with a fault."""
    form = chance.choice(("roundrobin", "gauntlet", "swiss", "knockout"))
    names = list(ENGINES)[: chance.randint(4, 5)]
    erratic = [name for name in names if ENGINES[name]]
    # In a gauntlet every game has the first engine, which is sound.
    per_game = 2 / (len(names) - 1) if form in ("gauntlet", "knockout") else 4 / len(names)
    words = []
    for name in names:
        if name in erratic:
            clock = CLOCK if name == "Odd" else ["nodes=1"]
            own_rate, seed = min(1.0, rate / per_game), str(chance.randrange(1 << 32))
            command = [*ERRATIC, seed, f"{own_rate:.4f}", USUAL, str(folder / f"{name}.tally")]
            words += engine_words(name, *PATIENT, *clock, command=command)
        else:
            nodes = f"nodes={chance.randint(1, 200)}"
            words += engine_words(name, *SOUND, nodes, "option.Hash=1")
    words += ["-tournament", form, "-variant", chance.choice(("mill", "multi", "loc")),
              "-maxmoves", str(chance.randint(30, 80))]
    per_pairing = chance.choice((1, 2, 2, 3, 4))
    pairings = {"gauntlet": len(names) - 1, "roundrobin": len(names) * (len(names) - 1) // 2,
                "swiss": len(names) // 2, "knockout": len(names) - 1}[form]
    rounds = -(-size // (per_pairing * pairings))
    if form == "swiss":
        per_pairing, rounds = -(-size // (3 * pairings)), 3
    words += ["-games", str(per_pairing), "-rounds", str(rounds)]
    words += chance.choice(([], ["-openings", "file=book", "order=random"]))
    words += chance.choice(([], [], ["-draw", "movenumber=20", "movecount=4", "score=5"]))
    words += chance.choice(([], [], ["-resign", "movecount=3", "score=300"]))
    concurrency, stops = chance.randint(1, 4), chance.randint(0, STOPS)
    words += ["-concurrency", str(concurrency), "-force-concurrency",
              "-srand", str(chance.randrange(1 << 31)), "-pgnout", f"file={folder / 'games.pgn'}",
              "-journal", f"file={folder / 'journal.db'}", "-resume"]
    # The games of the kills together are at most half of the tournament.
    kills = random_kills(chance.randrange(1 << 31), stops, size // (2 * STOPS), SIGNALS)
    return Scenario(words, erratic, kills, concurrency)


def play(scenario: Scenario, folder: Path) -> None:
    """Play a tournament, killed and resumed, to its end."""
    for kill in [*scenario.kills, None]:
        done = run(folder, "tournament", *scenario.flags, kill=kill)
        # The status is 1 if an engine lost its last games without a move.
        expected = [int("\nWARNING: " in f"\n{done.stdout}")]
        if kill is not None:
            expected = [-kill.signal] if kill.signal == signal.SIGKILL else [-kill.signal, 130]
        assert done.returncode in expected, f"status {done.returncode}, {kill}: {done.stderr}"


def check(scenario: Scenario, folder: Path) -> list[Row]:
    """Check all promises; return the games."""
    with read_journal(str(folder / "journal.db")) as journal:
        rows, tournament = list(journal.rows()), journal.meta()["id"]
    settings = make_settings(parse(scenario.flags), None)
    plan, unplanned = Plan(settings), {row.number: row for row in rows}
    while (task := plan.next()) is not None:
        for game in task.games:
            row = unplanned.pop(game.number, None)
            assert row is not None, f"game {game.number} was planned and is not in the journal"
            planned = (game.round, game.pair, game.white.name, game.black.name,
                       game.opening.position, " ".join(game.opening.moves))
            assert planned == (
                row.round, row.pair, row.white, row.black, row.position, row.opening
            ), f"game {game.number} was not played as planned"
            plan.score(game.number, row.white_score)
    assert not unplanned, f"games {sorted(unplanned)} were not planned"
    check_records(rows, GameWriter(settings, tournament), folder / "games.pgn")
    check_blame(scenario, rows, folder)
    names = {path.name for path in folder.iterdir() if path.suffix != DRAFT}
    assert names <= FILES | {f"{name}.tally" for name in scenario.erratic}, names
    return rows


def check_records(rows: Sequence[Row], writer: GameWriter, path: Path) -> None:
    """Check that the PGN file has exactly the games of the journal.

    A game that was stopped and played again after a resume follows later games.
    """
    games = [FIRST_TAG + rest for rest in path.read_text(encoding="utf-8").split(FIRST_TAG)[1:]]
    texts = [writer.text(row) for row in rows]
    assert sorted(games) == sorted(texts), "the PGN file differs from the journal"
    for row, text in zip(rows, texts):
        record = parse_record(text)
        moves = [str(move) for move in record.moves]
        assert moves == [*row.opening.split(), *row.moves.split()], f"moves of game {row.number}"
        assert record.result == row.result


def check_blame(scenario: Scenario, rows: Sequence[Row], folder: Path) -> None:
    """Check that only erratic engines lose by faults, and that each losing fault loses a game."""
    lost: Counter[str] = Counter()
    for row in rows:
        assert row.termination != "unterminated", f"game {row.number}: {row.reason}"
        if row.termination in BLAMED and row.result in ("1-0", "0-1"):
            loser = row.black if row.result == "1-0" else row.white
            assert loser in scenario.erratic, f"{loser} lost game {row.number}: {row.reason}"
            lost[loser] += 1
    for name in scenario.erratic:
        committed = sum(count for letter, count in faults(folder, name) if letter in LOSING)
        # A game in progress when the runner is stopped is not in the journal.
        assert lost[name] >= committed - scenario.concurrency * len(scenario.kills), (
            f"{name} committed {committed} faults and lost only {lost[name]} games"
        )


def faults(folder: Path, name: str) -> list[tuple[str, int]]:
    """Return the numbers of an engine's committed faults, by letter."""
    path = folder / f"{name}.tally"
    return list(Counter(path.read_text().replace(".", "") if path.exists() else "").items())


def main(argv: list[str]) -> int:
    """Play until the number of games or the time is reached."""
    words = argparse.ArgumentParser(prog="python -m tests.soak", allow_abbrev=False)
    words.add_argument("-hours", type=float, metavar="N", help="start no tournament after N hours")
    words.add_argument("-games", type=int, metavar="G", help="start no tournament after G games")
    words.add_argument("-size", type=int, default=40, metavar="S",
                       help="games of a tournament (40)")  # fmt: skip
    words.add_argument("-seed", type=int, metavar="N", help="seed of all random choices (random)")
    words.add_argument("-fault-rate", type=float, default=0.1, metavar="F",
                       help="share of games with a fault (0.1)")  # fmt: skip
    options = words.parse_args(argv)
    games = options.games or (300 if options.hours is None else sys.maxsize)
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    begin = time.monotonic()
    print(f"seed {seed}, faults in {options.fault_rate:.0%} of the games", flush=True)
    chance, totals = random.Random(f"soak {seed}"), Counter[str]()
    while totals["games"] < games and time.monotonic() - begin < 3600 * (options.hours or 1e6):
        folder = Path(tempfile.mkdtemp(prefix="soak-"))
        scenario = draw(chance, folder, options.size, options.fault_rate)
        try:
            play(scenario, folder)
            totals["games"] += len(check(scenario, folder))
        except AssertionError:
            print(f"broken promise; see {folder}; {scenario.flags}", flush=True)
            raise
        totals["tournaments"] += 1
        totals["stops"] += len(scenario.kills)
        totals["faults"] += sum(
            count for name in scenario.erratic for _, count in faults(folder, name)
        )
        shutil.rmtree(folder)
        print(", ".join(f"{count} {name}" for name, count in sorted(totals.items())),
              f"in {time.monotonic() - begin:.0f} s; no promise broken", flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
