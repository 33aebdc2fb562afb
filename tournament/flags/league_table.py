"""The flags of ``merels league``; most are shared with ``merels tournament``."""

from __future__ import annotations

import textwrap

from merels.tournament.flags.table import FLAGS, WIDTH, Flag, Flags, flag_lines

CREATE_OWN: Flags = {
    "-error": Flag("goal for the error of each active player's rating, in Elo (25)"),
    "-floor": Flag("minimum number of games between any two active players (2)"),
    "-anchor": Flag(
        "NAME=ELO: a player whose rating is known; the mean of all anchors fixes the scale. "
        "Without this flag, the built-in levels in the league are the anchors",
        words=(1, 99), repeats=True,
    ),
}
CREATE_SHARED = (
    "-each", "-variant", "-set", "-openings", "-draw", "-resign", "-maxmoves", "-tb",
    "-tbadjudicate", "-event", "-srand", "-config",
)
CREATE_FLAGS: Flags = {**CREATE_OWN, **{name: FLAGS[name] for name in CREATE_SHARED}}

ADD_FLAGS: Flags = {
    "-engine": FLAGS["-engine"],
    "-family": Flag(
        "a name shared by all versions of an engine; the site plots their ratings as one line. All "
        "players of the command get this family; the action family corrects it",
    ),
}
PLAY_OWN: Flags = {
    "-error": Flag("goal for the errors in this run, in Elo (that of the league)"),
    "-games": Flag("end after X games, rounded up to a whole pair"),
    "-hours": Flag("start no pair after X hours"),
    "-shard": Flag(
        "i/n: play only the i-th of every n pairs. Play the other parts in copies of the folder, "
        "for example on other machines, then join the parts with merge",
    ),
}
PLAY_SHARED = (
    "-concurrency", "-force-concurrency", "-use-affinity", "-maxfaults", "-executor",
    "-executorwait", "-log", "-serve", "-quiet", "-wait",
)
PLAY_FLAGS: Flags = {**PLAY_OWN, **{name: FLAGS[name] for name in PLAY_SHARED}}

_INTRODUCTION = """\
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
_EPILOGUE = """\
DIR/games.db is a journal: merels ratings, accuracy, review and convert read it. The error of
a rating is half the 95 % interval of its distance from the point that fixes the scale: the mean of
the anchors or, if no anchor has played, of all players. The error treats a pair of games as one
result."""


def league_help() -> str:
    """Return the text of ``merels league --help``."""

    def shared(names: tuple[str, ...]) -> list[str]:
        text = f"As in merels tournament: {', '.join(names)}."
        return ["", *textwrap.wrap(text, WIDTH, break_on_hyphens=False), ""]

    return "\n".join([
        _INTRODUCTION,
        "Flags of create:", *flag_lines(CREATE_OWN), *shared(CREATE_SHARED),
        "Flags of add:", *flag_lines(ADD_FLAGS), "",
        "Flags of play:", *flag_lines(PLAY_OWN), *shared(PLAY_SHARED),
        _EPILOGUE,
    ])
