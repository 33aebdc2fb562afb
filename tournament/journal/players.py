"""Players: engines identified by name, options and limits, command, and announced version.

Two engines with the same name are different players if another of these parts differs. A journal or
PGN file states only some of the parts. An unknown part matches every value, unless several players
match.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from merels.protocol.client.engine_spec import MERELS
from merels.protocol.process.command import shell_words
from merels.tournament.records.as_flags import Words, engine_words, typed
from merels.tournament.records.games import Entrant, control_text
from merels.tournament.records.settings import UNKNOWN_COMMAND

UNNAMED = ("", "?")
"""Names that stand for an unknown player in PGN."""
ALL = "*"
"""Stands for all names in the argument ``same`` of `Roster`."""
_PROGRAM_KEYS = ("cmd", "args", "dir", "proto")
_RUNNER_KEYS = ("starttimeout", "pingtimeout", "timemargin", "restart")
"""Keys for the runner, which do not affect an engine's moves."""


class Player(NamedTuple):
    """A player as described by one source; empty fields are unknown."""

    name: str
    settings: tuple[tuple[str, str], ...] | None = None
    """Options and limits as keys and values; None if unknown."""
    control: str = ""
    """Time control in the spelling of PGN."""
    command: tuple[str, ...] = ()
    version: str = ""
    """Name and version that the engine announced."""
    group: str = ""
    """Group of the player's games, such as ``host=node1``; groups are rated separately."""
    source: str = ""
    """Name of the file that holds the player's games, if its settings are unknown."""


def player_of_entrant(entrant: Entrant) -> Player:
    """Return the player for an entrant of a tournament."""
    command = entrant.engine.command
    if command == UNKNOWN_COMMAND:
        return Player(entrant.name)
    words = settings_words(entrant)
    if command[1:] == MERELS[1:]:
        command = ("merels",)
    return Player(entrant.name, tuple(words.items()), control_text(entrant.limit), command)


def without_version(player: Player) -> Player:
    """Return a player without its announced version, group and source."""
    return player._replace(version="", group="", source="")


def settings_words(entrant: Entrant) -> Words:
    """Return the options and limits that affect an engine's play."""
    return {
        key: "" if value == '""' else value for key, value in engine_words(entrant).items()
        if key not in (*_PROGRAM_KEYS, *_RUNNER_KEYS) and (key, value) != ("ponder", "off")
    }


def read_words(text: str) -> tuple[tuple[str, str], ...]:
    """Return the keys and values of words in one line, as `typed` writes them."""
    try:
        words = shell_words(text, posix=True)
    except ValueError:
        words = [text]
    return tuple((key, value) for key, _, value in (word.partition("=") for word in words))


@dataclass(slots=True)
class _Cluster:
    """Descriptions of the same player from several sources."""

    keys: list[str] = field(default_factory=list)
    players: list[Player] = field(default_factory=list)
    programs: set[str] = field(default_factory=set)
    """Known fingerprints of its programs."""

    def known(self, attribute: str) -> str:
        """Return the first known value of an attribute, as text."""
        values = (getattr(player, attribute) for player in self.players)
        value = next((value for value in values if value), "")
        return value if isinstance(value, str) else typed({"cmd": shlex.join(value)})


class Roster:
    """The players of a set of files.

    Each player has a key while games are counted, and gets a label for display afterwards. All
    players with the same name count as one player if the name is in ``same`` (see `ALL`).
    """

    def __init__(self, same: Collection[str] = ()) -> None:
        self._same = same
        self._keys: dict[Player, str] = {}
        self._programs: dict[str, set[str]] = {}
        self._names: dict[str, int] = {}

    def key(self, player: Player, program: str = "") -> str:
        """Return the player's key; ``program`` is the fingerprint of its program."""
        key = self._keys.get(player)
        if key is None:
            number = self._names[player.name] = self._names.get(player.name, 0) + 1
            key = player.name if number == 1 else f"{player.name}\0{number}"
            self._keys[player] = key
            self._programs[key] = set()
        if program:
            self._programs[key].add(program)
        return key

    def labels(self) -> dict[str, str]:
        """Return the label of each key.

        A label is the name; if several players have that name, their differences follow.
        """
        named: dict[str, list[Player]] = {}
        for player in self._keys:
            named.setdefault(player.name, []).append(player)
        labels: dict[str, str] = {}
        taken = set(named)
        for name, players in named.items():
            clusters = self._clusters(name, players)
            for cluster, label in zip(clusters, _labels(name, clusters)):
                number, free_label = 1, label
                while len(clusters) > 1 and free_label in taken:
                    number += 1
                    free_label = f"{label} {number}"
                taken.add(free_label)
                labels |= dict.fromkeys(cluster.keys, free_label)
        return labels

    def keys(self) -> Iterable[tuple[Player, str]]:
        """Return the players with their keys."""
        return self._keys.items()

    def _clusters(self, name: str, players: Iterable[Player]) -> list[_Cluster]:
        """Return the descriptions of a name, grouped by player."""
        clusters: list[_Cluster] = []
        is_same = name in self._same or ALL in self._same
        # Complete descriptions come first, so that incomplete ones do not decide the groups.
        for player in sorted(players, key=_count_unknown):
            key = self._keys[player]
            programs = self._programs[key]
            matching = [
                cluster for cluster in clusters
                if is_same or all(_agree(player, other) for other in cluster.players)
                and _is_same_program(player.command, programs, cluster)
            ]
            if len(matching) != 1:
                matching = [_Cluster()]
                clusters += matching
            matching[0].keys.append(key)
            matching[0].players.append(player)
            matching[0].programs |= programs
        return clusters


def _count_unknown(player: Player) -> int:
    """Return the number of unknown parts of a player."""
    return (player.settings is None) + (not player.control) + (not player.command) + (
        not player.version
    )


def _agree(first: Player, second: Player) -> bool:
    """Return whether the known parts of two players of one name are equal."""
    return (
        (None in (first.settings, second.settings) or first.settings == second.settings)
        and ("" in (first.control, second.control) or first.control == second.control)
        and ("" in (first.version, second.version) or first.version == second.version)
        and first.group == second.group
    )


def _is_same_program(
    command: tuple[str, ...], programs: Collection[str], cluster: _Cluster
) -> bool:
    """Return whether a command starts the program of a cluster.

    Commands are compared by their text, then by fingerprints; without fingerprints, by their text
    without folders, because folders may have moved.
    """
    commands = {player.command for player in cluster.players if player.command}
    if not command or not commands or command in commands:
        return True
    if programs and cluster.programs:
        return not cluster.programs.isdisjoint(programs)
    return _without_folders(command) in map(_without_folders, commands)


def _without_folders(command: tuple[str, ...]) -> list[str]:
    return list(map(os.path.basename, command))


def _labels(name: str, clusters: Sequence[_Cluster]) -> list[str]:
    """Return the label of each player of one name."""
    if len(clusters) == 1:
        return [name]
    all_words = [_words(cluster) for cluster in clusters]
    keys = dict.fromkeys(key for words in all_words for key in words)
    different = [key for key in keys if len({words.get(key) for words in all_words}) > 1]
    labels = [
        typed({key: words[key] for key in different if key in words})
        or (words and different and f"no {' '.join(different)}") or "" for words in all_words
    ]
    for attribute in ("version", "command", "group"):
        values = [cluster.known(attribute) for cluster in clusters]
        if len(set(values)) > 1 and (attribute != "command" or len(set(labels)) < len(labels)):
            labels = [f"{label} {value}".strip() for label, value in zip(labels, values)]
    return [
        f"{name} [{label or cluster.known('source') or '?'}]"
        for label, cluster in zip(labels, clusters)
    ]


def _words(cluster: _Cluster) -> Words:
    """Return a player's settings, or only its time control if the settings are unknown."""
    settings = next((player.settings for player in cluster.players if player.settings), None)
    if settings is not None:
        return dict(settings)
    control = cluster.known("control")
    return {"tc": control} if control else {}
