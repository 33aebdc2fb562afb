"""``merels league``: keep a rating list in a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from merels.engine.common.errors import InputError, printable, suggestion
from merels.engine.common.numbers import counted
from merels.engine.common.shell import shell_text
from merels.engine.game.rules import parse_rules
from merels.protocol.commands.exit_status import FAILED, OK
from merels.protocol.common.notices import notify
from merels.tournament.commands.run import (
    asks_for_help,
    is_live,
    opened,
    play,
    try_engines,
    with_advice,
)
from merels.tournament.flags.command_line import parse
from merels.tournament.flags.help import league_help
from merels.tournament.flags.make_settings import free_name, make_engines, make_settings
from merels.tournament.flags.run_options import (
    RunOptions,
    load_factory,
    make_run_options,
)
from merels.tournament.journal.standings import HealthCounter
from merels.tournament.league.league import (
    ERROR_GOAL,
    MIN_GAMES,
    League,
    Member,
    Terms,
    anchors_of,
    create_league,
    levels_of,
    merge_copy,
    open_league,
    read_league,
)
from merels.tournament.league.plan import Goal, LeaguePlan
from merels.tournament.league.rating_list import contradictions, list_entries, list_table
from merels.tournament.league.site import has_site, write_site
from merels.tournament.league.view import LeagueView
from merels.tournament.openings.reading import Openings
from merels.tournament.play.fingerprint import fingerprint
from merels.tournament.play.preflight import preflight
from merels.tournament.records.settings import LEAGUE
from merels.tournament.records.table import ADD_FLAGS, CREATE_FLAGS, PLAY_FLAGS
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.statistics.counts import GameScore, MatchCounter
from merels.tournament.views.output import put

STAND_IN = [{"cmd": "merels", "name": "every player"}]
"""Engine with which `make_settings` checks the flags of a new league, which has no players."""


def main(argv: list[str]) -> int:
    """Run ``merels league``; return the exit status."""
    if asks_for_help(argv):
        print(league_help())
        return OK
    if not argv or argv[0].startswith("-"):
        raise InputError(argv[0] if argv else "league", "expected the league's folder first, as in "
                         "merels league DIR create")
    folder, action, *words = argv if len(argv) > 1 else [*argv, "status"]
    for word in (action, *([] if action in FLAGGED else words)):
        if word.startswith("-"):
            raise InputError(word, "unknown flag")
    if action not in ACTIONS:
        raise InputError(
            action, f"expected {', '.join(ACTIONS)}{suggestion(action, ACTIONS)}"
        )
    return ACTIONS[action](folder, words)


def _create(folder: str, words: Sequence[str]) -> int:
    """Create a league without players."""
    given = parse(words, CREATE_FLAGS)
    settings = make_settings(replace(given, engines=STAND_IN), None)
    anchors: dict[str, float] = {}
    for name, elo in given.value("-anchor"):
        if (known := anchors.setdefault(name, elo)) != elo:
            problem = f"-anchor already states {known:g} for this player"
            given.faults.add(InputError(f"{name}={elo:g}", problem))
    terms = Terms(
        given.value("-error", default=ERROR_GOAL), given.value("-floor", default=MIN_GAMES),
        tuple(anchors.items()), tuple(given.each.items()),
    )
    given.faults.raise_all()
    event = given.value("-event", default=os.path.basename(os.path.abspath(folder)))
    settings = replace(settings, engines=(), format=LEAGUE, rounds=1, event=event)
    create_league(folder, settings, terms, given.line)
    print(f"{folder}: created; add players with merels league {folder} add -engine …")
    return OK


def _add(folder: str, words: Sequence[str]) -> int:
    """Try engines, and add them as players if all pass."""
    given = parse(words, ADD_FLAGS)
    if not given.engines:
        given.faults.add(InputError("add", "expected -engine, a player to add"))
    given.faults.raise_all()
    with open_league(folder) as league:
        each = dict(league.terms.each)
        entrants = list(make_engines(given.engines, each, given.faults))
        given.faults.raise_all()
        taken = set(league.members)
        rules = parse_rules(league.settings.rules)
        opening = Openings(league.settings.openings, rules, league.settings.seed).trial
        versions, notices = preflight(entrants, league.settings.rules, opening)
        for text in notices:
            notify(text)
        for index, (entry, version) in enumerate(zip(given.engines, versions)):
            name = entrants[index].name
            if not entry.get("name") and "level" not in entry and version.strip():
                name = free_name(version, taken)
            if name in taken:
                raise InputError(name, f"{folder} has a player of this name; give the new "
                                 "version its own name, as in name=\"X 2\" with -family X")
            if name.startswith("-"):
                raise InputError(name, "expected a name without a dash in front: the actions that "
                                 "take names would read it as a flag")
            taken.add(name)
            engine = replace(entrants[index].engine, name=name)
            entrants[index] = replace(entrants[index], engine=engine)
        family = given.value("-family")
        members = [
            Member(
                date.today().isoformat(), "active", family, version, fingerprint(entrant.engine),
                tuple(entry.items()),
            )
            for entrant, entry, version in zip(entrants, given.engines, versions)
        ]
        league = league.with_new(entrants, members)
        league.save()
    levels = {} if league.terms.anchors else levels_of(league)
    limited = levels.keys() - anchors_of(league).keys()
    for name in (entrant.name for entrant in entrants):
        why = (f"; it is no anchor, because its limit is below the {levels[name].nodes} nodes of "
               "its level" if name in limited else "")
        of_family = f" to the family {printable(family)}" if family else ""
        print(f"{folder}: added {printable(name)}{of_family}{why}")
    return OK


def _change(action: str, status: str) -> Callable[[str, Sequence[str]], int]:
    """Return the action ``action``, which gives players the status ``status``."""

    def change(folder: str, words: Sequence[str]) -> int:
        if not words:
            raise InputError(action, "expected the name of a player after it")
        return _set_members(folder, words, status, status=status)

    return change


def _family(folder: str, words: Sequence[str]) -> int:
    """Set the family of players that are in the league."""
    if len(words) < 2:
        raise InputError("family", "expected a family and the names of its players after it")
    family, *names = words
    return _set_members(folder, names, f"of the family {printable(family)}", family=family)


def _set_members(folder: str, names: Sequence[str], text: str, **fields: str) -> int:
    """Set fields of players, and print that each of them is ``text``; return the exit status."""
    with open_league(folder) as league:
        for name in names:
            league = league.with_member(name, **fields)
        league.save()
    for name in names:
        print(f"{folder}: {printable(name)} is {text}")
    return OK


def _play(folder: str, words: Sequence[str]) -> int:
    """Play until the goal or a limit of this run is reached, then print the list."""
    given = parse(words, PLAY_FLAGS)
    given.faults.raise_all()
    with open_league(folder) as league:
        active = set(league.active)
        if len(active) < 2:
            given.faults.add(InputError(
                folder, f"expected two active players, found {len(active)}; add some with merels "
                f"league {folder} add"
            ))
        players = tuple(player for player in league.settings.engines if player.name in active)
        options = make_run_options(given, replace(league.settings, engines=players))
        hours = given.value("-hours")
        goal = Goal(
            given.value("-error", default=league.terms.error), given.value("-games"),
            None if hours is None else 3600 * hours,
        )
        given.faults.raise_all()
        for name in league.active:
            if change := league.program_difference(name):
                raise InputError(
                    name, f"its program has changed since it was added ({change}): add it as a new "
                    "player, with -family, and retire the old player with "
                    f"{shell_text(['merels', 'league', folder, 'retire', name])}"
                )
        for name, _ in league.terms.anchors:
            if name not in league.members:
                notify(f"the anchor '{printable(name)}' does not fix the scale, because no player "
                       "has this name; add a player of this name")
        plan = LeaguePlan(league, goal, options.shard, options.pause)
        return _run(league, plan, options, given.line)


def _run(
    league: League, plan: LeaguePlan, options: RunOptions, line: Sequence[str]
) -> int:
    """Play the plan's games, print the list and update the site; return the exit status.

    ``line``: the flags of ``play``.
    """
    factory = None if options.executor is None else load_factory(options.executor)
    if factory is None:
        try:
            try_engines(plan.entrants, plan.settings.rules, plan.openings.trial, options)
        except InputError as error:
            named = filter(
                lambda name: f"{error.token} ".startswith(f"-engine {name} "), league.active
            )
            name = max(named, key=len, default="NAME")
            retire = shell_text(["merels", "league", league.folder, "retire", name])
            where = f"{error.expected}; to play without this player: {retire}"
            raise InputError(error.token, where) from None
    command = shell_text(["merels", "league", league.folder, "play", *line])

    def advice() -> str:
        if (copy := league.journal.copy_path) is not None:
            where = f"rename {copy} to {league.journal.path}"
            return f"stopped; to continue, {where}, and then: {command}"
        return f"stopped; every finished game is stored; continue with: {command}"

    with (
        opened(options, league.settings, league.journal.meta()["id"]) as views,
        with_advice(options, advice),
    ):
        board = Scoreboard(plan, league.journal, views)
        view = LeagueView(plan, sys.stdout, is_live(sys.stdout))
        if status := play(board, options, factory, view):
            notify(advice())
        _print_list(league)
        if has_site(league):
            try:
                write_site(league, notify)
            except InputError as error:
                notify(f"cannot update the site: {error}")
                status = status or FAILED
    return status or (FAILED if board.is_incomplete else OK)


def _print_list(league: League) -> None:
    """Print the rating list, its goal, and the anchors that contradict their games."""
    counter, health = MatchCounter(), HealthCounter()
    for row in league.rows():
        health.add(row)
        if row.white_score is not None:
            counter.add(GameScore(row.white, row.black, row.white_score, row.pair))
    entries = list_entries(league, counter.counts, health.engines)
    put(sys.stdout, list_table(league, entries).text())
    total = sum(count.games for count in counter.counts.values())
    goal, active = league.terms.error, league.active
    unreached = [
        entry for entry in entries if entry.name in active
        and (entry.rank is None or entry.rating is None or entry.rating.error > goal)
    ]
    text = f"{counted(total, 'game')}; goal ±{goal:g}"
    if unreached:
        text += f", not reached by {counted(len(unreached), 'player')}"
    put(sys.stdout, f"\n{text}\n")
    for line in contradictions(league, entries):
        put(sys.stdout, f"{line}\n")


def _status(folder: str, words: Sequence[str]) -> int:
    _no_words("status", words)
    with read_league(folder) as league:
        _print_list(league)
    return OK


def _site(folder: str, words: Sequence[str]) -> int:
    _no_words("site", words)
    with read_league(folder) as league:
        page = write_site(league, notify)
    print(f"{printable(page)}: {counted(len(league.listed), 'player')}")
    return OK


def _merge(folder: str, words: Sequence[str]) -> int:
    """Add the games of a part of the league, which was played in a copy of the folder."""
    if len(words) != 1:
        raise InputError("merge", "expected one folder with a part of the league after it")
    if os.path.realpath(words[0]) == os.path.realpath(folder):
        raise InputError(words[0], "expected a copy of the league, found the league itself")
    with open_league(folder) as league, read_league(words[0]) as part:
        _, games = merge_copy(league, part)
    print(f"{folder}: {counted(games, 'game')} from {words[0]}")
    return OK


def _no_words(action: str, words: Sequence[str]) -> None:
    if words:
        raise InputError(words[0], f"{action} takes no arguments")


ACTIONS: dict[str, Callable[[str, Sequence[str]], int]] = {
    "create": _create, "add": _add, "retire": _change("retire", "retired"),
    "remove": _change("remove", "removed"), "return": _change("return", "active"),
    "family": _family, "play": _play, "merge": _merge, "site": _site, "status": _status,
}
FLAGGED = ("create", "add", "play")
"""Actions that have flags."""
