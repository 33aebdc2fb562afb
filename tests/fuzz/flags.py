"""Fuzzing of the command line of ``merels tournament``."""

from __future__ import annotations

import random
import tempfile

from merels.engine.game.rules import FIELDS, PRESETS
from merels.protocol.client.engine_spec import OPTION
from merels.tournament.records.fields import Flag
from merels.tournament.records.table import ENGINE, FLAGS
from tests.fuzz.commands import IDLE, run_command, within
from tests.fuzz.harness import Case, FolderFuzzer, Tally
from tests.fuzz.mutate import NUMBERS, spoil

_SOUND = ["-engine", "cmd=a", "name=A", "-engine", "cmd=b", "name=B", "-each", "nodes=10"]
_WORDS = ("roundrobin", "gauntlet", "swiss", "knockout", "a", "book", "true", "false", "1/2", "0/0",
          "none.pgn", "none.pos", "0,2-5", "0", "-1", "nosuch:thing", "os:getcwd", ".a:b", ":", "")
_VALUES = ("10+0.1", "40/1:30+0.5", "inf", "0.001", "nan", "1e400", "uci", "ugi", "sanmill", "on",
           "off", "normalized", "logistic", "bayesian", "pgn", "pos", "random", "sequential",
           "trace", "journal", "out.pgn", "'", '"a b"', "\\")


class Flags(FolderFuzzer):
    """Command lines of tournaments that play no game."""

    name = "flags"
    unit = "command lines"

    def make(self, chance: random.Random) -> Case:
        """Return random flags; often a word is damaged or dropped, or all words are shuffled."""
        words = list(_SOUND) if chance.random() < 0.9 else []
        for _ in range(chance.choice((0, 1, 1, 2, 4, 10))):
            name = chance.choice(list(FLAGS))
            flag = [name, *_words_for(name, FLAGS[name], chance)]
            words = words + flag if chance.random() < 0.8 else flag + words
        draw = chance.random()
        if words and draw < 0.3:
            at = chance.randrange(len(words))
            words[at] = spoil(words[at], chance)
        elif words and draw < 0.4:
            del words[chance.randrange(len(words))]
        elif draw < 0.5:
            chance.shuffle(words)
        # No word may name a file outside the folder, and arguments cannot have zero bytes.
        return [word.replace("/", "\\") if _is_path(word) else word.replace("\0", "")
                for word in words]

    def check(self, case: Case) -> Tally:
        """Run the command line in an empty folder."""
        with tempfile.TemporaryDirectory(dir=self._folder.name) as folder, within(folder):
            return run_command("tournament", *case, *IDLE)


def _is_path(word: str) -> bool:
    """Return whether a slash in a word may be part of a path, unlike in ``tc=40/60`` or ``1/2``."""
    return not word.startswith(("tc=", "1/", "0/"))


def _words_for(name: str, flag: Flag, chance: random.Random) -> list[str]:
    """Return words after a flag, often of the number and kind that it takes."""
    if name == "-set" or name == "-variant":
        field = chance.choice(FIELDS)
        sound = chance.choice((*field.choices, "0", "7", *PRESETS))
        return [chance.choice((f"{field.name}={sound}", sound))]
    if flag.keys:
        return [_pair(flag, chance) for _ in range(chance.choice((1, 1, 2, 3)))]
    # A maximum of 1 or 2 is kept; 99, which means any number, becomes 0.
    number = chance.choice((flag.words[0], flag.words[1] % 3, 1))
    return [chance.choice((chance.choice(_WORDS), chance.choice(NUMBERS), "2"))
            for _ in range(number)]


def _pair(flag: Flag, chance: random.Random) -> str:
    key = chance.choice(list(flag.keys if chance.random() < 0.95 else ENGINE))
    if key == OPTION:
        key += chance.choice(("Hash", "Threads", "", "a b"))
    value = chance.choice((chance.choice(_VALUES), chance.choice(NUMBERS), "5"))
    return f"{key}={value}" if chance.random() < 0.95 else value
