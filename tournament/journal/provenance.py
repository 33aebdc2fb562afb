"""Programs that played under each name, and the versions of merels that refereed the games."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from merels.engine.common.errors import printable
from merels.engine.common.numbers import counted
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.rows import Row

MAX_NAMED = 4
"""Largest number of programs or versions that a sentence names; others are counted."""


class Program(NamedTuple):
    """Program that played for an engine; empty fields are unknown."""

    version: str
    """Name and version that the program announced."""
    fingerprint: str
    host: str


class Provenance:
    """Counts the games of each program under a name, and of each version of merels."""

    def __init__(self) -> None:
        self.programs: dict[str, Counter[Program]] = {}
        """Games of each program, by player."""
        self._versions: Counter[str] = Counter()

    def add(self, row: Row, keys: tuple[str, str] | None = None) -> None:
        """Count a game; ``keys`` are the players' keys, by default their names."""
        for key, *program in zip(
            keys or (row.white, row.black), (row.white_id, row.black_id),
            (row.white_program, row.black_program), (row.host, row.host),
        ):
            self.programs.setdefault(key, Counter())[Program(*program)] += 1
        self._versions[row.version] += 1

    def mixtures(self) -> list[str]:
        """Return sentences on names with several programs, and on several versions of merels."""
        sentences = []
        for name, programs in self.programs.items():
            known = Counter({program: games for program, games in programs.items() if any(program)})
            if (count := len({program[:2] for program in known if any(program[:2])})) > 1:
                texts = [
                    f"{program.version or 'unnamed'}, SHA-256 {program.fingerprint or 'unknown'} "
                    f"({counted(games, 'game')} on {program.host or '?'})"
                    for program, games in known.items()
                ]
                sentences.append(f"{name} was played by {count} programs: {_listed(texts, '; ')}")
        texts = [
            f"{version} ({counted(games, 'game')})"
            for version, games in self._versions.items() if version
        ]
        if (count := len(texts)) > 1:
            sentences.append(f"games were played by {count} versions of merels: {_listed(texts)}")
        return list(map(printable, sentences))

    def as_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Return the known programs of each name with their numbers of games, as JSON values."""
        return {
            name: [{**program._asdict(), "games": games} for program, games in programs.items()]
            for name, programs in self.programs.items() if any(map(any, programs))
        }


def _listed(texts: list[str], between: str = ", ") -> str:
    more = [f"and {len(texts) - MAX_NAMED} more"] if len(texts) > MAX_NAMED else []
    return between.join(texts[:MAX_NAMED] + more)


def fingerprints(journal: Journal) -> dict[str, set[str]]:
    """Return the known fingerprints of each engine's programs."""
    result: dict[str, set[str]] = {}
    for side in ("white", "black"):
        query = f"SELECT DISTINCT {side}, {side}_program FROM games"
        for name, program in journal.query(query):
            if program:
                result.setdefault(name, set()).add(program)
    return result
