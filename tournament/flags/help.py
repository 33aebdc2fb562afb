"""Help of ``merels tournament``, ``merels tune`` and ``merels league``."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from merels.engine.search.levels import LEVELS
from merels.protocol.client.engine_spec import OPTION
from merels.tournament.journal.standings import FAILING_SHARE, LEAST_FAULTS
from merels.tournament.play.player import IDLE_PINGS, IDLE_SECONDS
from merels.tournament.records.fields import Flag, Flags
from merels.tournament.records.table import (
    ADD_FLAGS,
    CREATE_OWN,
    CREATE_SHARED,
    ENGINE,
    GROUPS,
    PLAY_OWN,
    PLAY_SHARED,
    TUNE_OWN,
    TUNE_SHARED,
)

LEVEL_LIMIT = "10+0.1"
"""The clock of a built-in level for which no limit is given."""
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
TUNE_INTRODUCTION = """\
merels tune [flags]

Tunes an engine's spin options by SPSA. The engine plays game pairs against itself with randomly
perturbed values, and each value moves towards those of the winning side. For example:

  merels tune -engine cmd=./engine tc=1+0.01 -param Futility min=20 max=120 -param Window \\
      -pairs 20000 -concurrency 2 -openings book -journal tune.db -out tune.html -sprt
"""
TUNE_EPILOGUE = """\
At the end, merels tune prints each tuned value with its standard error, the likely distance from
the best value. "-" means that the results show no best value; play more pairs, or choose a greater
c_end=. -journal F -resume continues an interrupted run, with the same final values."""
LEAGUE_INTRODUCTION = """\
merels league DIR ACTION [flags]

Keeps a rating list of engines in a folder. You can add and retire players at any time. Games are
played until the error of each active player's rating reaches a goal; each next pair of games is the
one that reduces the errors most. For example:

  merels league mill create -each tc=1+0.01 -variant morris -openings book
  merels league mill add -engine level=Club -engine level=Expert -engine cmd=./mine name="Mine 1"
  merels league mill play -concurrency 2
  merels league mill

Actions:
  create         make a league in the folder: rules, time control, openings, adjudication
  add            add players; a new version of an engine is a new player with a name of its own
  retire NAME    exclude a player from further games; its rating stays in the list
  remove NAME    remove a player and its games from the list; the journal keeps the games
  return NAME    make a retired or removed player active again, with all its games
  family F NAME  make players versions of the family F
  play           play until the error of every active player is at most the goal; Ctrl-C stops
                 after the games in progress, and the next play continues
  merge DIR2     add the games of a part that was played in a copy of the folder
  site           write the pages of the list to DIR/site, to open from disk or to serve: ratings,
                 players, crosstable, every game on a board, CSV and PGN. Once the site exists,
                 play updates it
  status         print the list; the default
"""
LEAGUE_EPILOGUE = """\
DIR/games.db is a journal: merels ratings, accuracy, review and convert read it. The error of
a rating is half the 95 % interval of its distance from the point that fixes the scale: the mean of
the anchors or, if no anchor has played, of all players. The error treats a pair of games as one
result."""
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
    if flag.keys is ENGINE:
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


def _shared(names: Sequence[str]) -> list[str]:
    text = f"As in merels tournament: {', '.join(names)}."
    return ["", *textwrap.wrap(text, WIDTH, break_on_hyphens=False), ""]


def tune_help() -> str:
    """Return the text of ``merels tune --help``."""
    return "\n".join(
        [TUNE_INTRODUCTION, *flag_lines(TUNE_OWN), *_shared(TUNE_SHARED), TUNE_EPILOGUE]
    )


def league_help() -> str:
    """Return the text of ``merels league --help``."""
    return "\n".join([
        LEAGUE_INTRODUCTION,
        "Flags of create:", *flag_lines(CREATE_OWN), *_shared(CREATE_SHARED),
        "Flags of add:", *flag_lines(ADD_FLAGS), "",
        "Flags of play:", *flag_lines(PLAY_OWN), *_shared(PLAY_SHARED),
        LEAGUE_EPILOGUE,
    ])
