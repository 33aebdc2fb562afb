"""Detection of exchanged programs: which programs played under each name, and on which machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from merels.engine.common.errors import printable
from merels.engine.common.numbers import counted
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.rows import Row

NAMED = 4
"""Largest number of programs, versions or machines that a sentence names; others are counted."""


class Program(NamedTuple):
    """Program that played for an engine; empty fields are unknown."""

    version: str
    """Name and version that the program announced."""
    fingerprint: str
    host: str

    def __str__(self) -> str:
        parts = [self.version or "unnamed", f"SHA-256 {self.fingerprint or 'unknown'}"]
        return printable(", ".join(parts))


class Provenance:
    """Counts the games of each program under a name, and of each version of merels."""

    def __init__(self) -> None:
        self._games: Counter[tuple[str, Program]] = Counter()
        """Games by player key and program."""
        self._referees: Counter[str] = Counter()
        """Games by version of merels."""

    def add(self, row: Row, keys: tuple[str, str] | None = None) -> None:
        """Count a game; ``keys`` are the players' keys, by default their names."""
        white, black = keys or (row.white, row.black)
        self._games[white, Program(row.white_id, row.white_program, row.host)] += 1
        self._games[black, Program(row.black_id, row.black_program, row.host)] += 1
        self._referees[row.version] += 1

    def relabelled(self, labels: Mapping[str, str]) -> Provenance:
        """Return a copy with players renamed; players with the same label are merged."""
        copy = Provenance()
        copy._referees = self._referees
        for (key, program), games in self._games.items():
            copy._games[labels[key], program] += games
        return copy

    def _programs(self) -> dict[str, Counter[Program]]:
        """Return the games of each program of each name."""
        programs: dict[str, Counter[Program]] = {}
        for (name, program), games in self._games.items():
            programs.setdefault(name, Counter())[program] += games
        return programs

    def mixtures(self) -> list[str]:
        """Return sentences on names with several programs, and on several versions of merels."""
        return [*self._exchanged(), *self._versions()]

    def as_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Return the known programs of each name with their numbers of games, as JSON values."""
        return {
            name: [{**program._asdict(), "games": games} for program, games in programs.items()]
            for name, programs in self._programs().items() if any(map(any, programs))
        }

    def _exchanged(self) -> Iterator[str]:
        for name, programs in self._programs().items():
            hosts_of: dict[tuple[str, str], Counter[str]] = {}
            for program, games in programs.items():
                if program.fingerprint or program.version:
                    hosts = hosts_of.setdefault(program[:2], Counter())
                    hosts[program.host or "?"] += games
            if len(hosts_of) > 1:
                texts = [
                    f"{Program(*program, '')} ({counted(hosts.total(), 'game')} on "
                    f"{_listed(list(map(printable, hosts)), ', ')})"
                    for program, hosts in hosts_of.items()
                ]
                programs_text = _listed(texts, "; ")
                yield f"{printable(name)} was played by {len(hosts_of)} programs: {programs_text}"

    def _versions(self) -> Iterator[str]:
        versions = {version: games for version, games in self._referees.items() if version}
        if len(versions) > 1:
            texts = [
                f"{printable(version)} ({counted(games, 'game')})"
                for version, games in versions.items()
            ]
            yield f"games were played by {len(versions)} versions of merels: {_listed(texts, ', ')}"


def _listed(texts: list[str], between: str) -> str:
    more = [f"and {len(texts) - NAMED} more"] if len(texts) > NAMED else []
    return between.join(texts[:NAMED] + more)


def fingerprints(journal: Journal) -> dict[str, set[str]]:
    """Return the known fingerprints of each engine's programs."""
    result: dict[str, set[str]] = {}
    for side in ("white", "black"):
        query = f"SELECT DISTINCT {side}, {side}_program FROM games"
        for name, program in journal.query(query):
            if program:
                result.setdefault(name, set()).add(program)
    return result
