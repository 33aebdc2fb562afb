"""Random tournaments: engines, limits and formats."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path

from merels.engine.game.notation import START
from tests.benchmarks.cpu import RULES
from tests.soak.faults import USUAL
from tests.tournament.specs import engine_words

ERRATIC = (sys.executable, str(Path(__file__).with_name("erratic.py")))
SLOW_MACHINE = ["starttimeout=120", "pingtimeout=120"]
"""Timeouts of sound engines, in seconds: long, for a busy machine."""
PATIENT = ["starttimeout=30", "pingtimeout=5"]
"""Timeouts of engines that hang, in seconds: short, but long enough for games without a fault."""
CLOCK = ["st=1", "timemargin=1500"]
"""A time limit that an overrun far exceeds, but that suffices on a busy machine."""


@dataclass(frozen=True)
class Scenario:
    """A tournament: its name, its flags, its erratic engines and its folder.

    ``stops`` are numbers of finished games, over all runs, after which the runner is stopped.
    """

    name: str
    flags: list[str]
    erratic: tuple[str, ...]
    stops: tuple[int, ...]
    folder: Path

    @property
    def journal(self) -> Path:
        """Path of the journal."""
        return self.folder / "journal.db"

    @property
    def pgn(self) -> Path:
        """Path of the PGN file."""
        return self.folder / "games.pgn"

    @property
    def tallies(self) -> list[Path]:
        """Paths of the files in which the erratic engines record their games and faults."""
        return [self.folder / f"{name}.tally" for name in self.erratic]


class Drawer:
    """Draws scenarios; ``program`` is the compiled instant engine."""

    def __init__(self, seed: int, rate: float, program: str) -> None:
        self._chance = random.Random(f"soak {seed}")
        self._rate = rate
        self._program = program

    def instant(self, folder: Path, games: int, stops: int) -> Scenario:
        """Return a tournament of about ``games`` games; each is the fixed game of `instant.c`."""
        chance = self._chance
        names, erratic = ("A", "B", "C", "D")[: chance.randint(3, 4)], ("A", "B")
        words = []
        for name in names:
            if name in erratic:
                clock = CLOCK if name == "A" else ["nodes=1"]
                command = [*ERRATIC, *self._faulty(name, folder, 4 / len(names)), "fixed"]
                words += engine_words(name, *PATIENT, *clock, command=command)
            else:
                sound = [self._program]
                words += engine_words(name, *SLOW_MACHINE, "nodes=1", command=sound)
        variant, *fields = RULES.split()
        book = folder / "start.pos"
        book.write_text(START + "\n")
        per_pairing = chance.choice((1, 2, 2, 2, 4))
        pairings = len(names) * (len(names) - 1) // 2
        rounds = -(-games // (per_pairing * pairings))
        words += ["-variant", variant, "-set", *fields, "-openings", f"file={book}",
                  "-each", "rules=known",
                  "-maxmoves", str(chance.randint(12, 30)), "-games", str(per_pairing),
                  "-rounds", str(rounds), "-ratinginterval", "0"]
        total = rounds * per_pairing * pairings
        return self._scenario("instant round robin", words, erratic, stops, total, folder)

    def mixed(self, folder: Path, games: int, stops: int) -> Scenario:
        """Return a tournament of merels and erratic engines, in a random format."""
        chance = self._chance
        form = chance.choice(("roundrobin", "gauntlet", "swiss", "knockout"))
        erratic = ("Odd", "Strange")
        names = ["Merels1", "Odd", "Merels2", "Strange", "Merels3"][: chance.randint(4, 5)]
        # In a gauntlet every game has the first engine, which is sound.
        per_game = 2 / (len(names) - 1) if form in ("gauntlet", "knockout") else 4 / len(names)
        words = []
        for name in names:
            if name in erratic:
                clock = CLOCK if name == "Odd" else ["nodes=1"]
                command = [*ERRATIC, *self._faulty(name, folder, per_game)]
                words += engine_words(name, *PATIENT, *clock, command=command)
            else:
                nodes = f"nodes={chance.randint(1, 200)}"
                words += engine_words(name, *SLOW_MACHINE, nodes, "option.Hash=1")
        words += ["-tournament", form, "-variant", chance.choice(("mill", "multi", "loc")),
                  "-maxmoves", str(chance.randint(30, 80))]
        per_pairing = chance.choice((1, 2, 2, 3, 4))
        pairings = {"gauntlet": len(names) - 1, "roundrobin": len(names) * (len(names) - 1) // 2,
                    "swiss": len(names) // 2, "knockout": len(names) - 1}[form]
        rounds = -(-games // (per_pairing * pairings))
        if form == "swiss":
            per_pairing, rounds = -(-games // (3 * pairings)), 3
        words += ["-games", str(per_pairing), "-rounds", str(rounds)]
        if chance.random() < 0.4:
            words += ["-openings", "file=book", "order=random"]
        if chance.random() < 0.3:
            words += ["-draw", "movenumber=20", "movecount=4", "score=5"]
        if chance.random() < 0.3:
            words += ["-resign", "movecount=3", "score=300"]
        words += chance.choice(([], [], ["-noswap"], ["-reverse"]))
        total = rounds * per_pairing * pairings
        return self._scenario(f"mixed {form}", words, erratic, stops, total, folder)

    def _faulty(self, name: str, folder: Path, per_game: float) -> list[str]:
        """Return an erratic engine's arguments.

        ``per_game`` is the mean number of erratic engines in a game.
        """
        rate = min(1.0, self._rate / per_game)
        seed = str(self._chance.randrange(1 << 32))
        return [seed, f"{rate:.4f}", USUAL, str(folder / f"{name}.tally")]

    def _scenario(
        self,
        name: str,
        words: list[str],
        erratic: tuple[str, ...],
        stops: int,
        total: int,
        folder: Path,
    ) -> Scenario:
        """Return a scenario with the flags common to all, and random stops of the runner."""
        chance = self._chance
        flags = [*words, "-concurrency", str(chance.randint(1, 4)), "-force-concurrency",
                 "-srand", str(chance.randrange(1 << 31)),
                 "-journal", f"file={folder / 'journal.db'}", "-resume",
                 "-pgnout", f"file={folder / 'games.pgn'}"]
        # All stops are in the first half, so that the last run is long enough to measure memory.
        moments = sorted(chance.randrange(max(1, total // 2)) for _ in range(stops))
        return Scenario(name, flags, erratic, tuple(moments), folder)
