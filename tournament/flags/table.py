"""The flags of ``merels tournament``, as users of other runners know them, and their help."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from merels.engine.search.levels import LEVELS
from merels.protocol.client.engine_spec import KEYS, OPTION
from merels.tournament.journal.failures import ENOUGH, FAILING_SHARE
from merels.tournament.play.player import IDLE_PINGS, IDLE_SECONDS


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag: the keys of its ``key=value`` words, or how many plain words it takes.

    ``plain``: the key that a first word without ``=`` is the value of.
    """

    help: str
    keys: tuple[str, ...] = ()
    plain: str = ""
    words: tuple[int, int] = (0, 0)
    """The least and the greatest number of words, for a flag without keys."""
    repeats: bool = False
    """Whether the flag may be repeated and then adds to itself."""


ENGINE_KEYS = (
    *KEYS, OPTION, "restart", "ponder", "tc", "st", "nodes", "depth", "plies", "timemargin",
    "starttimeout", "pingtimeout", "rules",
)

ONE = (1, 1)
GROUPS: dict[str, dict[str, Flag]] = {
    "Engines": {
        "-engine": Flag(
            "an engine; once for each. cmd= is its program, args= its arguments as one word; or "
            "level= is a level of merels itself",
            ENGINE_KEYS, repeats=True,
        ),
        "-quick": Flag(
            "a match of two programs, cmd=A cmd=B book=FILE, with tc=10+0.1, openings in random "
            "order, 25000 rounds of 2 games, all processors but two, -draw movenumber=30 "
            "movecount=8 score=8 and -output format=cutechess, unless other flags are given",
            ("cmd", "book"),
        ),
        "-each": Flag("defaults for all engines", ENGINE_KEYS),
    },
    "Tournament": {
        "-tournament": Flag(
            "roundrobin, gauntlet, swiss or knockout. In a swiss of an odd number of engines one "
            "has a bye in each round, with the points of a pairing won. In a knockout engines are "
            "seeded in the order given; a drawn match is prolonged by up to 8 pairings, then the "
            "higher seed goes on", words=ONE,
        ),
        "-rounds": Flag(
            "how often each pairing is played (2; in a knockout 1); of a swiss, the number of "
            "rounds (as many as single out one winner)", words=ONE,
        ),
        "-games": Flag(
            "games of a pairing in a round (2); each two share an opening. A match takes 1 or an "
            "even number, or any with -report penta=false", words=ONE,
        ),
        "-repeat": Flag("at least 2, or at least X, games of a pairing in a round", words=(0, 1)),
        "-noswap": Flag("do not swap colours between the two games of an opening"),
        "-reverse": Flag("swap the colours of all games"),
        "-seeds": Flag("gauntlet: the first X engines play the rest (1)", words=ONE),
        "-srand": Flag("the seed of openings and pairings (random; it is printed)", words=ONE),
        "-variant": Flag("the rule set: loc, mill, multi, morris or roman (mill)", words=ONE),
        "-set": Flag(
            "a rule field to change in it, such as Flying=never", words=(1, 99), repeats=True
        ),
        "-openings": Flag(
            "where games start: book, 500 positions that are proven drawn under the rule set as "
            "-variant names it; or a file with format=pos|pgn; both with order=sequential|random "
            "and start=N. Of a PGN file, the first plies=N moves of each record; without plies=, "
            "lines are taken whole, and of whole games the first 8 moves, each opening once. "
            "Without a file, plies=N random placements (4 to 8); plies=0 is the empty board",
            ("file", "format", "order", "plies", "start"), plain="file",
        ),
        "-event": Flag("the event's name", words=ONE),
        "-site": Flag("the site's name", words=ONE),
    },
    "Adjudication": {
        "-draw": Flag(
            "adjudicate a draw when both scores are within score (0; hundredths of a man) of 0 for "
            "movecount (1) moves in a row, from movenumber (0) on",
            ("movenumber", "movecount", "score"),
        ),
        "-resign": Flag(
            "adjudicate a loss when an engine's score is at most -score (hundredths of a man) for "
            "movecount (1) moves in a row, from movenumber (0) on; twosided: if the other agrees",
            ("movenumber", "movecount", "score", "twosided"),
        ),
        "-maxmoves": Flag("adjudicate a draw after X moves", words=ONE),
        "-tb": Flag("adjudicate with the tables of perfect play in this folder", words=ONE),
        "-tbadjudicate": Flag(
            "which results -tb adjudicates: BOTH, WIN_LOSS or DRAW (BOTH)", words=ONE
        ),
        "-replays": Flag(
            "play a game again, up to X times (0), that was lost on time through delays by the "
            "runner or the machine. By default the loss stands, and the end counts such losses",
            words=ONE,
        ),
    },
    "Statistics": {
        "-sprt": Flag(
            "stop when this sequential test is decided, at the latest after -rounds (100000); "
            "alpha and beta (0.05), "
            "model=normalized|logistic|bayesian (normalized)",
            ("elo0", "elo1", "alpha", "beta", "model"),
        ),
        "-report": Flag("penta=false: base estimates on games, not on game pairs", ("penta",)),
        "-ratinginterval": Flag(
            "print estimates every X games (10; with more than two engines only at the end)",
            words=ONE,
        ),
        "-scoreinterval": Flag("print the score every X games (1)", words=ONE),
    },
    "Running": {
        "-concurrency": Flag(
            "games in parallel (1), at most the processors that merels may use. Each worker keeps "
            "the engines of earlier games running: 4, and up to 100 while a quarter of the memory "
            "is available", words=ONE
        ),
        "-force-concurrency": Flag(
            "allow a greater -concurrency: engines share processors and may lose on time"
        ),
        "-wait": Flag("X milliseconds between two games of a worker (0)", words=ONE),
        "-use-affinity": Flag(
            "pin each worker and its engines to a core, optionally of a list such as 0,2-5; to two "
            "where an engine ponders. Without a list, hyperthreads of one core are used last",
            words=(0, 1),
        ),
        "-recover": Flag("accepted for compatibility: a failing engine never ends a tournament"),
        "-maxfaults": Flag(
            "end the run when an engine has lost X games of it by a crash, stall, time forfeit or "
            "illegal move (0: never)", words=ONE,
        ),
        "-journal": Flag("keep every finished game in this file", ("file",), plain="file"),
        "-resume": Flag(
            "continue the journal, or start it. Engines and settings may be left out; then it goes "
            "on in the folder where it was begun, by the command line that the journal holds, with "
            "its -executor and -serve; flags given now override it, and -executor none and -serve "
            "none turn these off. If engines and settings are given again, -rounds may grow, a "
            "program may have moved, and until an engine has played, cmd=, args=, dir= and proto= "
            "may be put right; anything else is another tournament"
        ),
        "-config": Flag(
            "read flags from a text file, as if given here", ("file",), plain="file"
        ),
        "-executor": Flag(
            "run on the concurrent.futures.Executor that module:factory returns; none: on this "
            "machine, also where -resume finds another executor in the journal", words=ONE
        ),
        "-executorwait": Flag(
            "end the run when nothing has come back from -executor for X seconds, which a pair of "
            "games must not take (3600, more with a slow clock; 0: wait for ever)", words=ONE,
        ),
        "-shard": Flag("i/n: play the i-th of n parts (see merels merge)", words=ONE),
    },
    "Output": {
        "-pgnout": Flag(
            "write games as PGN, to standard output if file=-, and all else then to standard "
            "error; append=false replaces the file (not with -resume), min=true leaves move "
            "comments out; timeleft=, latency=, nodes=, seldepth=, nps=, hashfull= and pv= with "
            "true add to them. latency= is by how much the measured time exceeds the engine's own; "
            "for all but timeleft= and nodes= the journal keeps the engines' last lines of info",
            ("file", "append", "min", "nodes", "timeleft", "latency", "seldepth", "nps", "hashfull",
             "pv"), plain="file",
        ),
        "-epdout": Flag(
            "write the last position of each game, a line each; append=false replaces the file "
            "(not with -resume)",
            ("file", "append"), plain="file",
        ),
        "-output": Flag(
            "print the lines of another runner, fastchess or cutechess, for scripts that read them",
            ("format",), plain="format",
        ),
        "-log": Flag(
            "log to a file; level=trace|info|warn|err|fatal (warn), engine=true adds the "
            "engines' lines (> sent, < received, ! standard error), append=false replaces the "
            "file (not with -resume), compress=true moves it at the end into its name with .gz, "
            "behind what that holds",
            ("file", "level", "engine", "append", "compress"), plain="file",
        ),
        "-serve": Flag(
            "broadcast games and standings on a web page at this local port; none: no page",
            words=ONE
        ),
        "-quiet": Flag("print only the final report"),
    },
}
Flags = Mapping[str, Flag]
"""The flags of a command by name."""
FLAGS: Flags = {name: flag for group in GROUPS.values() for name, flag in group.items()}

INTRODUCTION = """\
merels tournament [flags]

Plays a tournament between engines and rates them. With two engines it is a match. Without flags,
some of the built-in levels play each other. For example:

  merels tournament -engine cmd=./new name=New -engine cmd=./old name=Old \\
      -each tc=10+0.1 -rounds 100 -concurrency 2 -pgnout file=games.pgn

In each round every engine plays every other two games on one opening, with colours swapped.
Ctrl-C stops after the games in progress, a second Ctrl-C at once. -journal file=F keeps every
finished game, and -journal file=F -resume continues a run, however it was stopped.

Keys of -engine and -each:
  cmd=PROGRAM           args="ARGUMENTS"      dir=FOLDER to run in
  level=LEVEL           instead of cmd=: a level of merels itself, see below
  name=NAME             by default what it calls itself, or its program with -executor
  option.NAME=VALUE     proto=uci|ugi|sanmill
  tc=MOVES/MIN:SEC+INC  a clock, such as 40/1:30+0.5, 10+0.1 or inf
  st=SECONDS a move     nodes=N a move        depth=N (or plies=N) a move
  timemargin=MS (0)     ponder                restart=on restarts it for each game
  starttimeout=SECONDS to start (10)          pingtimeout=SECONDS to answer (15)
  rules=known: it plays by the rules of -variant and -set although it has no options for them
  cpu=SECONDS           memory=MIB            core=MIB limit each of its processes: processor
                        time in a game, address space, size of a core dump

Without tc= or st= a move may take any time. An engine that writes nothing for pingtimeout= is sent
isready. It loses the game if nothing comes for as long again; or if it answers, but neither writes
anything else nor uses a processor for {pings} times pingtimeout= and at least {idle:g} s (Linux).

The end counts each engine's crashes, stalls, time forfeits (but for those that delays of the
machine account for) and illegal moves, and the late answers (within timemargin=, or to no search)
and junk lines that cost it nothing. An engine fails that loses {share:.0%} of its games by the
first four, and at least {enough} games.

Levels of merels itself, each with its rating among them, and any rating in between:
  {levels}
A level needs no limit: without one it has tc={limit}, and much less makes it weaker than its
rating. level=perfect is full strength with the tables of perfect play that "merels tables build"
has made; the run prints how far they reach.
"""
LEVEL_LIMIT = "10+0.1"
"""The clock of a level of merels itself that is given no limit."""
ENDING = """\
Before the first game every engine is tried once: it must start, take its options and the rules, and
play a legal move. One that fails later loses that game, and the tournament continues.

Exit status: 0 if all games are played or the test is decided, 1 if the run failed, games stay open,
an engine fails or lost all its games, or its last ones (at least two), without a legal move, 2 if
the command line is wrong or an engine fails the trial, 130 if the run was interrupted."""
WIDTH = 96
INDENT = 24


def help_text() -> str:
    """The whole text, from the table of flags."""
    levels = ", ".join(f"{level.name} {level.elo}" for level in LEVELS)
    lines = [INTRODUCTION.format(
        levels=levels, limit=LEVEL_LIMIT, pings=IDLE_PINGS, idle=IDLE_SECONDS,
        share=FAILING_SHARE, enough=ENOUGH,
    )]
    for group, flags in GROUPS.items():
        lines += [f"{group}:", *flag_lines(flags), ""]
    lines.append(ENDING)
    return "\n".join(lines)


def flag_lines(flags: Flags) -> list[str]:
    """The lines of help for some flags."""
    return [line for name, flag in flags.items() for line in _entry(name, flag)]


def _entry(name: str, flag: Flag) -> list[str]:
    """A flag's lines."""
    if flag.keys == ENGINE_KEYS:
        takes = "KEYS"
    elif flag.keys:
        takes = " ".join(f"{key}=" for key in flag.keys if key != OPTION)
    else:
        fewest, most = flag.words
        takes = "" if most == 0 else "X" if fewest else "[X]"
    head = f"  {name} {takes}".rstrip()
    text = textwrap.wrap(flag.help, WIDTH - INDENT)
    first = [head] if len(head) + 2 > INDENT else [head.ljust(INDENT) + text.pop(0)]
    return first + [" " * INDENT + line for line in text]
