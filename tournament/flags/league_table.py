"""The flags of ``merels league``; most are shared with ``merels tournament``."""

from __future__ import annotations

import textwrap

from merels.tournament.flags.table import FLAGS, ONE, WIDTH, Flag, Flags, flag_lines

CREATE_OWN: Flags = {
    "-error": Flag(
        "goal for each rating: half its 95 % interval, in Elo (25)", words=ONE,
    ),
    "-floor": Flag("games that any two active players play at least (2)", words=ONE),
    "-anchor": Flag(
        "NAME=ELO: a player whose rating is known; the mean of all anchors fixes the scale. "
        "Without this flag, the built-in levels in the league are the anchors",
        words=(1, 99), repeats=True,
    ),
}
CREATE_SHARED = (
    "-each", "-variant", "-set", "-openings", "-draw", "-resign", "-maxmoves", "-tb",
    "-tbadjudicate", "-event", "-site", "-srand", "-config",
)
CREATE_FLAGS: Flags = {**CREATE_OWN, **{name: FLAGS[name] for name in CREATE_SHARED}}

ADD_FLAGS: Flags = {
    "-engine": FLAGS["-engine"],
    "-family": Flag(
        "the engine that the players added are versions of, by any name: their ratings are shown "
        "as one line of progress", words=ONE,
    ),
}
PLAY_OWN: Flags = {
    "-error": Flag("another goal for this run than the league's", words=ONE),
    "-games": Flag("end after X games", words=ONE),
    "-hours": Flag("draw up no more games after X hours", words=ONE),
    "-shard": Flag(
        "i/n: play the i-th of every n pairs; the others count as played. On another machine, play "
        "another part in a copy of the folder, then join them with merge", words=ONE,
    ),
}
PLAY_SHARED = (
    "-concurrency", "-force-concurrency", "-use-affinity", "-maxfaults", "-executor",
    "-executorwait", "-log", "-serve", "-quiet", "-wait",
)
PLAY_FLAGS: Flags = {**PLAY_OWN, **{name: FLAGS[name] for name in PLAY_SHARED}}

_INTRODUCTION = """\
merels league DIR ACTION [flags]

A rating list that is kept in a folder: players come and go, and games are played until each rating
is as certain as wanted. The next games are those that reduce the errors most. For example:

  merels league mill create -each tc=1+0.01 -variant morris -openings book
  merels league mill add -engine level=Club -engine level=Expert -engine cmd=./mine name="Mine 1"
  merels league mill play -concurrency 2
  merels league mill

Actions:
  create         make a league in the folder: rules, time control, openings, adjudication
  add            add players; a new version of an engine is a new player with a name of its own
  retire NAME    have a player play no more; its rating stays in the list
  remove NAME    take a player and its games off the list; the journal keeps them, and
                 return NAME puts the player, active, back on it
  return NAME    have a retired or removed player play again
  play           play until every error is at most the goal; Ctrl-C stops after the games in
                 progress, and play goes on where it stopped
  merge DIR2     take the games of a part that was played in a copy of the folder
  site           write the pages of the list to DIR/site, to open from disk or to serve: ratings,
                 players, crosstable, every game on a board, CSV and PGN. Once there is a site,
                 play brings it up to date
  status         print the list; the default
"""
_ENDING = """\
DIR/games.db is a journal: merels ratings, accuracy, review and convert read it. Errors are half the
95 % intervals about the mean of all players, clustered by game pairs."""


def league_help() -> str:
    """The whole text of ``merels league --help``."""

    def shared(names: tuple[str, ...]) -> list[str]:
        text = f"As in merels tournament: {', '.join(names)}."
        return ["", *textwrap.wrap(text, WIDTH, break_on_hyphens=False), ""]

    return "\n".join([
        _INTRODUCTION,
        "Flags of create:", *flag_lines(CREATE_OWN), *shared(CREATE_SHARED),
        "Flags of add:", *flag_lines(ADD_FLAGS), "",
        "Flags of play:", *flag_lines(PLAY_OWN), *shared(PLAY_SHARED),
        _ENDING,
    ])
