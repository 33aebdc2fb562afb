"""Players: the rule by which games of several files belong to one player.

A player is a name with its settings (options and limits) and the version that its engine announced.
A file may state only some of these, such as the time control in the PGN of another runner. Its
games belong to the one player of the name that agrees with all it states. If several players agree,
the games cannot be assigned, and the user decides by ``-same``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from merels.engine.common.errors import InputError, suggestion
from merels.engine.common.shell import shell_text
from merels.protocol.process.command import shell_words
from merels.tournament.records.as_flags import Words, engine_words, typed
from merels.tournament.records.games import Entrant, control_text
from merels.tournament.records.settings import UNKNOWN_COMMAND

UNNAMED = ("", "?")
"""Names that stand for an unknown player in PGN."""
ALL = "*"
"""Stands for all names in the argument ``same`` of `Roster`."""
_NO_SETTINGS = ("cmd", "args", "dir", "proto", "starttimeout", "pingtimeout", "timemargin",
                "restart")
"""Keys of an engine that do not affect its moves."""


class Description(NamedTuple):
    """Facts that a file states about a player; empty fields are unknown."""

    settings: str = ""
    """Options and limits, in the words of the command line."""
    control: str = ""
    """Time control in the spelling of PGN."""
    version: str = ""
    """Name and version that the engine announced."""
    group: str = ""
    """Group of the player's games, such as ``host=node1``; groups are rated separately."""

    def agrees(self, other: Description) -> bool:
        """Return whether both can describe the same player."""
        return self.group == other.group and all(
            ours == theirs or not (ours and theirs) for ours, theirs in zip(self, other)
        )

    def words(self) -> Words:
        """Return all facts as words; the version has an empty key."""
        words = {"tc": self.control} if self.control else {}
        if self.settings:
            words = _read_words(self.settings)
        if self.version:
            words[""] = self.version
        return words | (_read_words(self.group) if self.group else {})


def settings_words(entrant: Entrant) -> Words:
    """Return the options and limits that affect an engine's play."""
    return {
        key: "" if value == '""' else value for key, value in engine_words(entrant).items()
        if key not in _NO_SETTINGS and (key, value) != ("ponder", "off")
    }


def description_of(entrant: Entrant) -> Description:
    """Return the facts that a journal states about an engine, without its version."""
    if entrant.engine.command == UNKNOWN_COMMAND:
        return Description()
    return Description(typed(settings_words(entrant)), control_text(entrant.limit))


def _read_words(text: str) -> Words:
    """Return the words in one line, as `typed` writes them."""
    try:
        words = shell_words(text, posix=True)
    except ValueError:
        words = [text]
    return {key: value for key, _, value in (word.partition("=") for word in words)}


@dataclass(slots=True)
class _Player:
    """A player: its key, all known facts, and the descriptions seen, each with its first file."""

    key: str
    facts: Description
    seen: dict[Description, str] = field(default_factory=dict)


class Roster:
    """The players of a set of files.

    Each player has a key while games are counted, and gets a label for display afterwards. All
    players with the same name count as one player if the name is in ``same`` (see `ALL`).
    """

    def __init__(self, same: Collection[str] = ()) -> None:
        self._same = same
        self._players: dict[str, list[_Player]] = {}

    def key(self, name: str, described: Description, file: str) -> str:
        """Return the key of the player that a file describes.

        Raises `InputError` if the description agrees with several players.
        """
        if name in self._same or ALL in self._same:
            described = Description(group=described.group)
        players = self._players.setdefault(name, [])
        agreeing = [player for player in players if player.facts.agrees(described)]
        if not agreeing:
            agreeing = [_Player(f"{name}\0{len(players)}" if players else name, described)]
            players += agreeing
            for other in players[:-1]:
                for earlier, earlier_file in other.seen.items():
                    if earlier.agrees(described):
                        agreeing, file = [other, *agreeing], earlier_file
        if len(agreeing) > 1:
            names = " or ".join(labels_of(name, [player.facts for player in agreeing]))
            raise InputError(
                name, f"{file} does not state enough to decide whether these are games of {names}; "
                f"-same {shell_text([name])} makes all of them one player"
            )
        (player,) = agreeing
        player.facts = Description(*(ours or new for ours, new in zip(player.facts, described)))
        player.seen.setdefault(described, file)
        return player.key

    def labels(self) -> dict[str, str]:
        """Return the label of each key: the name, followed by differences of its players.

        Raises `InputError` if a name of ``same`` is in no game.
        """
        for name in self._same:
            if name != ALL and name not in self._players:
                hint = suggestion(name, self._players) or "; name one that played"
                raise InputError(name, f"-same names a player of no game{hint}")
        labels: dict[str, str] = {}
        taken = set(self._players)
        for name, players in self._players.items():
            texts = labels_of(name, [player.facts for player in players])
            for player, text in zip(players, texts):
                number, label = 1, text
                while len(players) > 1 and label in taken:
                    number += 1
                    label = f"{text} {number}"
                taken.add(label)
                labels[player.key] = label
        return labels

    def keys(self, name: str, described: Description | None = None) -> list[str]:
        """Return the keys of all players of a name that agree with a description."""
        return [
            player.key for player in self._players.get(name, ())
            if described is None
            or described._replace(group=player.facts.group).agrees(player.facts)
        ]

    @property
    def namesakes(self) -> list[str]:
        """Names of several players."""
        return [name for name, players in self._players.items() if len(players) > 1]


def labels_of(name: str, players: Collection[Description]) -> list[str]:
    """Return a label for each player of a name: the name, and the facts in which they differ."""
    if len(players) == 1:
        return [name]
    all_words = [player.words() for player in players]
    keys = dict.fromkeys(key for words in all_words for key in words)
    different = [key for key in keys if len({words.get(key) for words in all_words}) > 1]
    return [
        f"{name} [{typed({key: words[key] for key in different if key in words}) or missing}]"
        for words in all_words for missing in [f"no {' '.join(filter(None, different))}".strip()]
    ]
