"""Fuzzing of files of finished games: journals and PGN."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Self

from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.journal.open import open_journal
from merels.tournament.journal.rows import make_row
from merels.tournament.records.games import Entrant, TimeControl
from merels.tournament.records.settings import Settings
from tests.fuzz.commands import IDLE, run_command, within
from tests.fuzz.harness import Case, FolderFuzzer, Tally
from tests.fuzz.mutate import edit, make_edits, spoil
from tests.tournament.specs import result

FLAGS = ["-engine", "cmd=/none", "name=A", "-engine", "cmd=/none", "name=B", "-each", "nodes=20",
         "-rounds", "2", "-srand", "7"]

class Journals(FolderFuzzer):
    """A journal after edits of bytes, given to every command that reads journals."""

    name = "journals"
    unit = "files"

    def __enter__(self) -> Self:
        super().__enter__()
        limit = TimeControl(nodes=20)
        engines = tuple(Entrant(EngineSpec(("/none",), name), limit) for name in "AB")
        path = str(Path(self._folder.name) / "sound")
        # The settings agree with the flags, so that -resume reports only the damage.
        notes = {"id": "x", "arguments": json.dumps(FLAGS), "created": "2026"}
        with open_journal(path, Settings(engines, seed=7), notes) as journal:
            for number in range(1, 5):
                journal.append(make_row(result(number)))
        self._sound = Path(path).read_bytes()
        self._number = 0
        return self

    def make(self, chance: random.Random) -> Case:
        """Return random edits, half of them in the file's header."""
        return make_edits(chance, len(self._sound), 200)

    def check(self, case: Case) -> Tally:
        """Rate, review, merge and resume the journal."""
        self._number += 1
        folder = Path(self._folder.name) / str(self._number)
        folder.mkdir()
        (folder / "spoilt").write_bytes(edit(self._sound, case))
        (folder / "sound").write_bytes(self._sound)
        with within(str(folder)):
            tallies = [
                run_command("ratings", "spoilt", "-format", form)
                for form in ("text", "html", "json")
            ]
            tallies.append(run_command("review", "spoilt", "-nodes", "1", "-json"))
            # Resuming comes last, as it writes to the journal.
            tallies.append(run_command("merge", "out", "sound", "spoilt"))
            tallies.append(run_command("merge", "out2", "spoilt"))
            resume = ["-journal", "spoilt", "-resume", *IDLE]
            tallies.append(run_command("tournament", *resume, "-pgnout", "p", "-quiet"))
            tallies.append(run_command("tournament", *FLAGS, *resume))
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        # A file counts as accepted if any command accepts it.
        accepted = any(tally.accepted for tally in tallies)
        return Tally(int(accepted), int(not accepted))


class GameFiles(FolderFuzzer):
    """PGN files for ``merels ratings`` and ``review``."""

    name = "gamefiles"
    unit = "files"

    def make(self, chance: random.Random) -> Case:
        """Return some damaged games; each character of the text is one byte."""
        games = []
        for number in range(chance.choice((1, 2, 5))):
            white, black = chance.sample(("A", "B", "Mühle", 'C "x"', "?"), 2)
            score = chance.choice(("1-0", "0-1", "1/2-1/2", "*", "2-0", ""))
            games.append(
                f'[Event "?"]\n[Round "{number // 2}"]\n[White "{white}"]\n[Black "{black}"]\n'
                f'[Result "{score}"]\n[Termination "normal"]\n\n1. d6 {{+0.1/2}} f4 {score}\n\n'
            )
        text = "".join(games)
        if chance.random() < 0.9:
            text = spoil(text, chance, (text,))
        coding = chance.choice(("utf-8", "utf-8", "utf-8", "latin-1"))
        return [text.encode(coding, "replace").decode("latin-1")]

    def check(self, case: Case) -> Tally:
        """Rate the file in every output format, and review it."""
        path = os.path.join(self._folder.name, "games.pgn")
        Path(path).write_bytes("".join(case).encode("latin-1", "replace"))
        tallies = [
            run_command("ratings", path, "-format", form)
            for form in ("text", "html", "json", "csv")
        ]
        # A review may refuse illegal moves, which ratings do not check.
        run_command("review", path, "-nodes", "1", "-pgn")
        accepted = all(tally.accepted for tally in tallies)
        return Tally(int(accepted), int(not accepted))
