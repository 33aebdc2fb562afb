"""The flags of ``merels tournament`` and their help, with names of fastchess and cutechess-cli."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from merels.engine.search.levels import LEVELS
from merels.protocol.client.engine_spec import KEYS, OPTION
from merels.tournament.journal.failures import FAILING_SHARE, LEAST_FAULTS
from merels.tournament.play.player import IDLE_PINGS, IDLE_SECONDS


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag, which takes either ``key=value`` words or plain words.

    ``keys``: allowed keys; empty if the flag takes plain words. ``first_key``: the key of a first
    word without ``=``; empty if the flag takes plain words, or refuses such a word.
    """

    help: str
    keys: tuple[str, ...] = ()
    first_key: str = ""
    words: tuple[int, int] = (1, 1)
    """Smallest and largest number of words of a flag without keys."""
    repeats: bool = False
    """Whether a repeated flag adds values instead of replacing them."""


ENGINE_KEYS = (
    *KEYS, OPTION, "restart", "ponder", "tc", "st", "nodes", "depth", "plies", "timemargin",
    "starttimeout", "pingtimeout",
)
NO_WORDS = (0, 0)

GROUPS: dict[str, dict[str, Flag]] = {
    "Engines": {
        "-engine": Flag(
            "an engine; repeat the flag for each engine. cmd= is its program, args= its arguments "
            "as one word; or level= is a built-in level of merels",
            ENGINE_KEYS, repeats=True,
        ),
        "-each": Flag("defaults for all engines", ENGINE_KEYS),
    },
    "Tournament": {
        "-tournament": Flag(
            "roundrobin, gauntlet, swiss or knockout (roundrobin). In a Swiss tournament with an "
            "odd number of engines, one engine has a bye in each round and gets the points of a "
            "won pairing. In a knockout, engines are seeded in the order given; a drawn match is "
            "extended by up to 8 pairings, then the higher seed advances",
        ),
        "-rounds": Flag(
            "how often each pairing is played (2; in a knockout 1; without engines 5); in a Swiss "
            "tournament, the number of rounds (log2 of the number of engines, rounded up)",
        ),
        "-games": Flag(
            "games of a pairing in a round (2); each two games share an opening. A match of two "
            "engines takes 1 or an even number; with -report penta=false, any number",
        ),
        "-repeat": Flag("play at least X games of a pairing in a round (2)", words=(0, 1)),
        "-noswap": Flag(
            "do not swap colours, neither between the two games of an opening nor between rounds",
            words=NO_WORDS,
        ),
        "-seeds": Flag("gauntlet: the first X engines play all others (1)"),
        "-srand": Flag(
            "seed of the openings and, in a tune, of the perturbations (random; the run prints it)",
        ),
        "-variant": Flag("the rule set: loc, mill, multi, morris or roman (mill)"),
        "-set": Flag(
            "change a field of the rule set, such as Flying=never", words=(1, 99), repeats=True
        ),
        "-openings": Flag(
            "start positions. book: 500 positions that are proven draws under the rule set of "
            "-variant, whatever -set changes; or a file with format=pos|pgn. Both take "
            "order=sequential|random and start=N. policy=round|encounter (round): all pairings of "
            "a round share their openings, or each pairing takes the next ones. A PGN file gives "
            "the first plies=N moves of each record. Without plies= it gives all moves; but if a "
            "record of the file reaches the end of a game or of the placing phase, only the first "
            "8 moves of all records, equal openings once. Without a file: plies=N random "
            "placements, N at most 12 (by default 4 to 8, at random); plies=0 is the empty board",
            ("file", "format", "order", "plies", "start", "policy"), first_key="file",
        ),
        "-event": Flag("name of the event, for PGN and reports"),
    },
    "Adjudication": {
        "-draw": Flag(
            "adjudicate a draw when both engines' scores are within score= (0; hundredths of a "
            "man) of 0 for movecount= (1) moves in a row without a removal, from move movenumber= "
            "(0) on",
            ("movenumber", "movecount", "score"),
        ),
        "-resign": Flag(
            "adjudicate a loss when an engine's score is minus score= (hundredths of a man) or "
            "less for movecount= (1) moves in a row, from move movenumber= (0) on; twosided: only "
            "if the opponent's scores agree",
            ("movenumber", "movecount", "score", "twosided"),
        ),
        "-maxmoves": Flag(
            "adjudicate a draw after X moves of each side, those of the opening included (0: no "
            "limit)",
        ),
        "-tb": Flag("adjudicate by the tables of perfect play in this folder"),
        "-tbadjudicate": Flag("which results -tb adjudicates: BOTH, WIN_LOSS or DRAW (BOTH)"),
    },
    "Statistics": {
        "-sprt": Flag(
            "stop when this SPRT is decided, at the latest after -rounds (100000). elo0= and elo1= "
            "are the hypotheses; alpha= and beta= (0.05), "
            "model=normalized|logistic|bayesian (normalized)",
            ("elo0", "elo1", "alpha", "beta", "model"),
        ),
        "-report": Flag("penta=false: base estimates on single games, not on pairs", ("penta",)),
        "-ratinginterval": Flag(
            "print estimates every X games (10; with more than two engines only at the end)",
        ),
        "-scoreinterval": Flag("print the score every X games (1)"),
    },
    "Running": {
        "-concurrency": Flag(
            "games in parallel (1; a tournament without engines up to 4), at most the processors "
            "that merels may use; with -executor, pairs of games at once. Each worker keeps "
            "up to 16 engines of earlier games running"
        ),
        "-force-concurrency": Flag(
            "allow a greater -concurrency; engines then share processors and may lose on time",
            words=NO_WORDS,
        ),
        "-wait": Flag("pause X milliseconds between two games of a worker (0)"),
        "-use-affinity": Flag(
            "pin each worker and its engines to a core, or to two cores if an engine ponders. X is "
            "a list of cores, such as 0,2-5; without it, the second hyperthread of a core is used "
            "last",
            words=(0, 1),
        ),
        "-maxfaults": Flag(
            "end the run when an engine has lost X games of this run by a crash, stall, time "
            "forfeit or illegal move (0: no limit)",
        ),
        "-journal": Flag("store every finished game in this file", ("file",), first_key="file"),
        "-resume": Flag(
            "continue the journal, or start it if it does not exist. If no engines are given, the "
            "run continues in its folder with the command line stored in the journal, including "
            "-executor and -serve; flags given now override stored ones, and -executor none and "
            "-serve none turn these off. If engines are given, they and the settings must be those "
            "of the journal, but a program may have moved, and in a round robin or gauntlet "
            "-rounds may grow. Until an engine has played, its cmd=, args=, dir= and proto= may be "
            "corrected", words=NO_WORDS,
        ),
        "-config": Flag(
            "read flags from a text file, as if given here", ("file",), first_key="file"
        ),
        "-executor": Flag(
            "run on the concurrent.futures.Executor that module:factory returns; none: on this "
            "machine, even if the journal of -resume names an executor"
        ),
        "-executorwait": Flag(
            "end the run after X seconds without a result from -executor (3600, more with a slow "
            "clock; 0: no limit). A pair of games must take less time",
        ),
        "-shard": Flag("i/n: play only the i-th of n parts (see merels merge)"),
    },
    "Output": {
        "-pgnout": Flag(
            "write games as PGN. file=- is standard output; all other output then goes to standard "
            "error. append=false replaces the file (not with -resume), min=true leaves move "
            "comments out. timeleft=, latency=, nodes=, seldepth=, nps=, hashfull= and pv= with "
            "true extend the comments. latency= is the measured time minus the engine's own. With "
            "any of these but timeleft= and nodes=, the journal also stores the engines' last info "
            "lines",
            ("file", "append", "min", "nodes", "timeleft", "latency", "seldepth", "nps", "hashfull",
             "pv"), first_key="file",
        ),
        "-log": Flag(
            "log to a file, each line with the time of its event and its game or process; "
            "level=trace|info|warn|err|fatal (warn), engine=true adds the engines' lines (> sent, "
            "< received, ! standard error), append=false replaces the "
            "file (not with -resume)",
            ("file", "level", "engine", "append"), first_key="file",
        ),
        "-serve": Flag(
            "broadcast games and standings on a web page at this local port (0: any free port); "
            "none: no page"
        ),
        "-quiet": Flag("print only notices and the final report", words=NO_WORDS),
    },
}
Flags = Mapping[str, Flag]
"""The flags of a command, by name."""
_KEYS_WITHOUT_EFFECT = ("restart=auto", "stderr=", "trust")
IGNORED = {
    **dict.fromkeys(
        ("-autosaveinterval", "-bookmode", "-crc32", "-debug", "-epdout", "-outcomeinterval",
         "-output", "-ping-ms", "-recover", "-replays", "-resultformat", "-reverse",
         "-show-latency", "-site", "-startup-ms", "-tbignore50", "-tbpieces", "-testEnv"), ()
    ),
    "-config": ("discard=", "outname=", "stats="),
    "-each": _KEYS_WITHOUT_EFFECT, "-engine": _KEYS_WITHOUT_EFFECT,
    "-log": ("compress=", "realtime="),
    "-openings": ("policy=default",),
    "-pgnout": ("fi", "match_line=", "notation=", "tbhits="),
}  # fmt: skip
"""Flags of other runners, and words or keys of flags, that are accepted without effect."""
FLAGS: Flags = {name: flag for group in GROUPS.values() for name, flag in group.items()}

INTRODUCTION = """\
merels tournament [flags]

Plays a tournament between engines and rates them. With two engines it is a match. Without engines,
the six built-in levels play each other. For example:

  merels tournament -engine cmd=./new name=New -engine cmd=./old name=Old \\
      -each tc=10+0.1 -rounds 100 -concurrency 2 -pgnout file=games.pgn

In each round each pair of engines plays two games on one opening, with colours swapped.
Ctrl-C stops after the games in progress, a second Ctrl-C at once. -journal file=F keeps every
finished game, and -journal file=F -resume continues a run, however it was stopped.

Keys of -engine and -each:
  cmd=PROGRAM           args="ARGUMENTS"      dir=FOLDER to run in
  level=LEVEL           instead of cmd=: a built-in level of merels, see below
  name=NAME             by default the name it announces; with -executor, its program
  option.NAME=VALUE     proto=uci|ugi|sanmill
  tc=MOVES/MIN:SEC+INC  a clock, such as 40/1:30+0.5, 10+0.1 or inf
  st=SECONDS a move     nodes=N a move        depth=N (or plies=N) a move
  timemargin=MS (0)     ponder                restart=on restarts it for each game
  starttimeout=SECONDS to start (10)          pingtimeout=SECONDS to answer (15)
  rules=known           it plays by the rules of -variant and -set, without options for them
  cpu=SECONDS           memory=MIB            core=MIB limit each of its processes: processor
                        time in a game, address space, size of a core dump

Without tc= or st= a move may take any time. An engine that writes nothing for pingtimeout= is sent
isready. It loses the game if it then writes nothing for pingtimeout= again. On Linux it also loses
if it answers, but neither writes anything else nor uses a processor for {pings} times pingtimeout=
and at least {idle:g} s.

The final report counts each engine's crashes, stalls, time forfeits (except those caused by delays
of the machine) and illegal moves. It also counts faults that cost nothing: junk lines, answers
that are late by at most timemargin=, and answers while no search runs. An engine is failing if
crashes, stalls, time forfeits and illegal moves cost it at least {share:.0%} of its games, and at
least {faults} games.

Built-in levels, each with its rating relative to the others; any rating in between is a level, too:
  {levels}
A level without a limit has tc={limit}; with much less time it is weaker than its rating.
level=perfect is full strength with the tables of perfect play that "merels tables build" has made;
the run prints which positions these tables cover.
"""
LEVEL_LIMIT = "10+0.1"
"""The clock of a built-in level for which no limit is given."""
EPILOGUE = """\
Before the first game every engine is tried once: it must start, accept its options and the rules,
and play a legal move. An engine that fails in a game loses it, and the tournament continues. A
game whose engine does not start has no result and is tried again.

Exit status:
  0    all games are played, or the SPRT is decided
  1    the run failed; or games are left unplayed; or an engine is failing (see above); or it played
       no legal move in any of its games, or in its last two or more
  2    the command line is wrong, or an engine failed its trial
  130  the run was interrupted"""
WIDTH = 96
INDENT = 24


def help_text() -> str:
    """Return the text of ``merels tournament --help``."""
    levels = ", ".join(f"{level.name} {level.elo}" for level in LEVELS)
    lines = [INTRODUCTION.format(
        levels=levels, limit=LEVEL_LIMIT, pings=IDLE_PINGS, idle=IDLE_SECONDS,
        share=FAILING_SHARE, faults=LEAST_FAULTS,
    )]
    for group, flags in GROUPS.items():
        lines += [f"{group}:", *flag_lines(flags), ""]
    lines.append(EPILOGUE)
    return "\n".join(lines)


def flag_lines(flags: Flags) -> list[str]:
    return [line for name, flag in flags.items() for line in _entry(name, flag)]


def _entry(name: str, flag: Flag) -> list[str]:
    """Return the lines of help for one flag."""
    if flag.keys == ENGINE_KEYS:
        takes = "KEYS"
    elif flag.keys:
        takes = " ".join(f"{key}=" for key in flag.keys if key != OPTION)
    else:
        least, most = flag.words
        takes = "" if most == 0 else "X" if least else "[X]"
    head = f"  {name} {takes}".rstrip()
    text = textwrap.wrap(flag.help, WIDTH - INDENT)
    first = [head] if len(head) + 2 > INDENT else [head.ljust(INDENT) + text.pop(0)]
    return first + [" " * INDENT + line for line in text]
