"""The site of a league: static pages that can be opened from disk or served by any web server.

The site is derived only from the journal and, for accuracy, from tables on this machine. A file is
written only if its content changes, and atomically. After a crash, the next run completes the site
and removes stale files.
"""

from __future__ import annotations

import hashlib
import os
import re
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import combinations

from merels.engine.common.errors import printable
from merels.engine.common.numbers import counted
from merels.engine.common.regular_file import read_regular_file
from merels.engine.common.saving import DRAFT, create_lock, remove_lock, write_whole
from merels.protocol.common.files import file_error, system_error
from merels.tournament.journal.standings import Health
from merels.tournament.league.league import League, anchors_of
from merels.tournament.league.lots import LOT_SIZE, LOTS_FOLDER, Games, update_lots
from merels.tournament.league.rating_list import (
    ListEntry,
    families,
    family_of,
    list_entries,
    list_table,
)
from merels.tournament.records.as_flags import engine_words, typed
from merels.tournament.records.games import Entrant
from merels.tournament.records.settings import facts
from merels.tournament.report.accuracy_report import LEGEND, phase_table
from merels.tournament.report.html import (
    RATING_NOTE,
    document,
    facts_list,
    note,
    script,
    style,
    table_section,
)
from merels.tournament.report.lots import compact, in_element
from merels.tournament.report.summary import health_table
from merels.tournament.report.table import Column, Table, percent, text_html
from merels.tournament.statistics.counts import (
    GameScore,
    MatchCounter,
    counts_between,
)

SITE = "site"
"""Folder of the site in the league's folder."""
LOCK = "site.lock"
"""Lock file in the league's folder, which exists while a command writes the site."""
INDEX = "index.html"
POINTS = (1.0, 0.0, 0.5)
"""White's points by index of `RESULTS`."""
PLAYERS_OF_PAIR = ("first", "second")
COLOUR_COUNTS = (
    "white_wins", "white_draws", "white_losses", "black_wins", "black_draws", "black_losses"
)
PAIR_COUNTS = ("ll", "ld", "wl", "dd", "wd", "ww")
"""Columns of ``pairs.csv``; those of `PAIR_COUNTS` are fields of `MatchCounts`."""
_REMOVABLE = re.compile(r"player-\d++\.(html|js)|\d++\.(js|pgn)")
"""Names of files that are removed if the site no longer needs them."""
_PROGRAM_KEYS = ("cmd", "args", "dir")
"""Keys of an engine that may name folders of this machine."""
_LIMIT_KEYS = ("tc", "st", "nodes", "depth")
# Inline, so that the policy of a page can name its digest.
_LOADER = (
    'const code = document.createElement("script"); code.src = "site.js"; '
    "document.head.append(code);"
)


def has_site(league: League) -> bool:
    """Return whether the site of a league has been written before."""
    return os.path.isdir(os.path.join(league.folder, SITE))


def write_site(league: League, notice: Callable[[str], None] = lambda text: None) -> str:
    """Write the files of the site that have changed; return the path of its first page.

    ``notice`` prints the progress of a long run. Raises `InputError` if a file cannot be written or
    another command is writing the site.
    """
    with _reserved(league.folder):
        files = _Files(os.path.join(league.folder, SITE))
        files.put("site.js", f'"use strict";\n{script()}\n')
        games = update_lots(league, files.folder, files.put, files.keep, notice)
        _Pages(league, games, files).write()
        files.remove_others()
    return os.path.join(files.folder, INDEX)


@contextmanager
def _reserved(folder: str) -> Iterator[None]:
    """Keep other commands from writing the site."""
    path = os.path.join(folder, LOCK)
    try:
        descriptor = create_lock(path)
    except BlockingIOError:
        problem = "another command is writing this site; wait until it ends"
        raise file_error(folder, problem) from None
    try:
        yield
    finally:
        remove_lock(descriptor, path)


class _Files:
    """The files of the site."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._names: set[str] = set()
        try:
            os.makedirs(os.path.join(folder, LOTS_FOLDER), exist_ok=True)
        except OSError as error:
            raise system_error(folder, "create", error) from None

    def put(self, name: str, text: str) -> None:
        """Write a file, unless it already has this content."""
        self.keep(name)
        path, data = os.path.join(self.folder, name), text.encode()
        try:
            with suppress(OSError):  # Another kind of file, or a larger one, is replaced.
                if read_regular_file(path, len(data)) == data:
                    return
            write_whole(path, [data])
        except OSError as error:
            raise system_error(path, "write", error) from None

    def keep(self, name: str) -> None:
        """Mark a file as part of the site."""
        self._names.add(name)

    def remove_others(self) -> None:
        """Remove drafts, and files of players and games that are no longer part of the site."""
        for folder in ("", LOTS_FOLDER):
            for name in os.listdir(os.path.join(self.folder, folder)):
                path = f"{folder}/{name}" if folder else name
                if path not in self._names and (_REMOVABLE.fullmatch(name) or name.endswith(DRAFT)):
                    with suppress(OSError):
                        os.unlink(os.path.join(self.folder, path))


def _healths(games: Games) -> dict[str, Health]:
    """Return the faults of each player."""
    names, reasons = list(games.players), list(games.reasons)
    healths = {name: Health() for name in names}
    columns = games.columns
    # A fault of 1 is White's, a fault of 2 is Black's.
    for players, side in ((columns["white"], 1), (columns["black"], 2)):
        for player, count in Counter(players).items():
            healths[names[player]].games += count
        for (player, reason, fault), count in Counter(
            zip(players, columns["reason"], columns["fault"])
        ).items():
            if fault == side:
                healths[names[player]].faults[reasons[reason]] += count
    for index, counts in games.oddities:
        for player, junk, late in zip(
            (columns["white"][index], columns["black"][index]), counts[::2], counts[1::2]
        ):
            healths[names[player]].junk_lines += junk
            healths[names[player]].late_answers += late
    return healths


def _matches(games: Games) -> MatchCounter:
    """Return the counts of all finished games; games 2n - 1 and 2n are a pair."""
    counter, names = MatchCounter(), list(games.players)
    columns = games.columns
    for number, white, black, result in zip(
        columns["n"], columns["white"], columns["black"], columns["result"]
    ):
        if result < len(POINTS):  # The last result of `RESULTS` is that of an unfinished game.
            pair = (number + 1) // 2
            counter.add(GameScore(names[white], names[black], POINTS[result], pair))
    return counter


class _Pages:
    """The pages of the site."""

    def __init__(self, league: League, games: Games, files: _Files) -> None:
        self._league, self._games, self._files = league, games, files
        self._page_numbers = {
            entrant.name: number for number, entrant in enumerate(league.settings.engines, 1)
        }
        """Number of each player's page; it never changes, even if other players are removed."""
        self._names = list(games.players)
        self._reasons, self._openings = list(games.reasons), list(games.openings)
        """Reasons and openings of games by index."""
        self._counts = _matches(games).counts
        self._entries = list_entries(league, self._counts, _healths(games))
        self._by_name = {entry.name: entry for entry in self._entries}
        self._families = families(league)
        self._games_of: dict[str, list[int]] = {name: [] for name in league.listed}
        """Indices of the games of each player."""
        for index, players in enumerate(zip(games.columns["white"], games.columns["black"])):
            for player in players:
                self._games_of[self._names[player]].append(index)
        policy = (
            f"default-src 'none'; style-src {_digest(style())}; "
            # 'strict-dynamic' lets site.js, which the loader adds, load the scripts of games.
            f"script-src {_digest(_LOADER)} 'strict-dynamic'; "
            "base-uri 'none'; form-action 'none'"
        )
        self._head = (f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
                      f"<style>{style()}</style>")

    def write(self) -> None:
        """Write all pages; the rating list is written last."""
        for entry in self._entries:
            number = self._page_numbers[entry.name]
            self._files.put(f"player-{number}.js", self._game_list(entry.name))
            self._put(f"player-{number}.html", entry.name, self._player(entry))
        self._put("crosstable.html", "Crosstable", self._crosstable())
        self._put("games.html", "Games", self._game_lots())
        self._files.put("ratings.csv", list_table(self._league, self._entries).csv())
        self._files.put("pairs.csv", self._pairs_csv())
        self._put(INDEX, self._league.settings.event, self._index())

    def _put(self, name: str, title: str, body: Sequence[str]) -> None:
        """Write a page, with the links that are common to all pages."""
        links = [(INDEX, "Rating list"), ("crosstable.html", "Crosstable"),
                 ("games.html", "Games"), ("ratings.csv", "CSV")]
        shown = "".join(
            f'<a href="{path}">{text}</a>' if path != name
            else f'<a href="{path}" aria-current="page">{text}</a>'
            for path, text in links
        )
        event = self._league.settings.event
        full = title if title == event else f"{title} – {event}"
        parts = [f"<nav>{shown}</nav>", *body]
        loader = f"<script>{_LOADER}</script>"
        self._files.put(name, document(full, self._head, filter(None, parts), loader))

    def _link(self, name: str) -> str:
        """Return a link to the page of a player that was not removed."""
        return f'<a href="player-{self._page_numbers[name]}.html">{text_html(name)}</a>'

    # The rating list.

    def _index(self) -> list[str]:
        parts = [list_table(self._league, self._entries, self._link).html()]
        interval = f"+/- is half the 95 % interval of a rating {self._origin_of_errors()}."
        parts.append(note(f"{interval} {RATING_NOTE}"))
        if any(entry.rank is None and entry.rating is not None for entry in self._entries):
            parts.append(note("Not connected: no games connect these players to the others, so "
                              "they have no rating on this scale."))
        parts += map(self._versions, self._families)
        return [*parts, "<h2>Conditions</h2>", facts_list(self._conditions())]

    def _versions(self, family: str) -> str:
        """Return the list of a family's versions, in the order of addition."""
        entries = [self._by_name[name] for name in self._families[family]]
        table = list_table(self._league, entries, self._link)
        return table_section(replace(table, title=f"Versions of {family}", css="ranked"))

    def _origin_of_errors(self) -> str:
        """Return in words the mean from which the errors are measured."""
        anchors = anchors_of(self._league)
        if any(entry.rank is not None and entry.name in anchors for entry in self._entries):
            return "about the mean of the anchors below"
        return "about the mean of all players, because no anchor has played"

    def _conditions(self) -> list[tuple[str, str]]:
        league, meta = self._league, self._league.journal.meta()
        conditions = dict(facts(meta["settings"]))
        conditions.pop("Event")
        seed = conditions.pop("Seed")
        limits = Counter(
            _limits(entrant) for entrant in league.settings.engines if entrant.name in league.listed
        )
        controls = [
            text if len(limits) == 1 else f"{text} ({counted(count, 'player')})"
            for text, count in limits.most_common()
        ]
        anchors = [
            f"{name} {elo:g}" for name, elo in anchors_of(league).items() if name in league.listed
        ]
        return [
            ("Rules", conditions.pop("Rules")),
            ("Time control", ", ".join(controls) or "–"),
            *conditions.items(),
            ("Adjudication", _adjudication(league)),
            ("Anchors", ", ".join(anchors) or "none: the mean of all players is 0"),
            ("Goal", f"± {league.terms.error:g} Elo for each active player"),
            ("Players", str(len(league.listed))),
            ("Games", str(len(self._games))),
            ("Seed", seed),
            ("Begun", meta.get("created", "?")),
            ("Last game", self._last_date()),
        ]

    def _last_date(self) -> str:
        if not len(self._games):
            return "–"
        return self._league.journal.row(self._games.columns["n"][-1]).started[:10] or "?"

    def _pairs_csv(self) -> str:
        """Return the counts of each two players, from which the ratings can be computed again.

        All counts are the first player's: games as White and as Black, then pairs of games.
        """
        columns, listed = self._games.columns, self._league.listed
        games = Counter(
            (self._names[white], self._names[black], POINTS[result])
            for white, black, result in zip(columns["white"], columns["black"], columns["result"])
            if result < len(POINTS)
        )
        rows = []
        for first, second in combinations(listed, 2):
            counts = counts_between(self._counts, first, second)
            if counts.games:
                rows.append([
                    first, second,
                    *(games[first, second, points] for points in (1.0, 0.5, 0.0)),
                    *(games[second, first, points] for points in (0.0, 0.5, 1.0)),
                    *(getattr(counts, name) for name in PAIR_COUNTS),
                ])
        keys = (*PLAYERS_OF_PAIR, *COLOUR_COUNTS, *PAIR_COUNTS)
        return Table("", [Column("", key) for key in keys], rows).csv()

    def _game_lots(self) -> list[str]:
        """Return the page that shows the games by lots, with the lots as PGN files."""
        lots: dict[int, list[int]] = defaultdict(list)
        for number in self._games.columns["n"]:
            lots[(number - 1) // LOT_SIZE + 1].append(number)
        items = [
            f'<li><a href="{LOTS_FOLDER}/{lot}.pgn" download>{numbers[0]}–{numbers[-1]}</a> '
            f"({counted(len(numbers), 'game')})</li>"
            for lot, numbers in lots.items()
        ]
        if not items:
            return [note("No games yet.")]
        numbers = " ".join(map(str, lots))
        return [f'<section id="games" data-lots="{numbers}" data-size="{LOT_SIZE}"></section>',
                "<h2>Games as PGN</h2>", f'<ul class="lots">{"".join(items)}</ul>',
                '<p><a href="pairs.csv" download>The counts of each two players as CSV</a></p>']

    def _crosstable(self) -> list[str]:
        entries = [entry for entry in self._entries if entry.rating is not None]
        index_of = {entry.name: index for index, entry in enumerate(entries)}
        data = {
            "players": [
                [self._page_numbers[entry.name], printable(entry.name), entry.rank]
                for entry in entries
            ],
            "matches": [
                [index_of[first], index_of[second], counts.wins, counts.draws, counts.losses]
                for (first, second), counts in self._counts.items()
            ],
        }
        return [
            '<section id="crosstable"></section>',
            f'<script type="application/json" id="matches">{in_element(compact(data))}</script>',
        ]

    # A player.

    def _player(self, entry: ListEntry) -> list[str]:
        name = entry.name
        family = family_of(self._league, name)
        parts = [facts_list(self._player_facts(entry))]
        if family in self._families:
            parts.append(self._versions(family))
        accuracy = self._games.accuracy.get(name)
        if accuracy is not None and accuracy.total.judged:
            parts.append(table_section(phase_table(accuracy), note(LEGEND)))
        parts.append(table_section(health_table({name: entry.health})))
        if self._games_of[name]:
            parts.append(f'<section id="games" data-player="{self._page_numbers[name]}" '
                         f'data-size="{LOT_SIZE}"></section>')
        return parts

    def _player_facts(self, entry: ListEntry) -> list[tuple[str, str]]:
        name, rating = entry.name, entry.rating
        member = self._league.members[name]
        engines = self._league.settings.engines
        entrant = next(entrant for entrant in engines if entrant.name == name)
        words = engine_words(entrant)
        unlisted = ("proto", "restart", "ponder", "starttimeout", "pingtimeout", "timemargin")
        options = {
            key: value for key, value in words.items()
            if key not in (*_PROGRAM_KEYS, *_LIMIT_KEYS, *unlisted)
        }
        shown = []
        if entry.rank is not None and rating is not None:
            elo = f"{rating.elo:z.0f} ± {rating.error:.0f}"
            shown = [("Rank", str(entry.rank)), ("Rating", elo)]
        if rating is not None:
            shown += [
                ("Games", f"{rating.games}: {rating.wins} won, {rating.draws} drawn, "
                          f"{rating.losses} lost"),
                ("Score", percent(rating.points, rating.games)),
            ]
        shown += [
            ("Status", entry.status or "active"), ("Added", member.added),
            ("Engine", member.version.strip()), ("Time control", _limits(entrant)),
            ("Options", typed(options)),
        ]
        return [(key, value) for key, value in shown if value]

    def _game_list(self, name: str) -> str:
        """Return the script with the games of a player, for the player's page.

        The script has its own indices of players and openings, and only those of these games.
        """
        columns, own = self._games.columns, self._games_of[name]
        players, openings = dict[int, int](), dict[int, int]()
        lot: dict[str, object] = {
            key: [columns[key][index] for index in own]
            for key in ("n", "result", "reason", "phase", "plies")
        }
        for key, indices in (("white", players), ("black", players), ("opening", openings)):
            lot[key] = [indices.setdefault(columns[key][i], len(indices)) for i in own]
        listed = [self._listed(self._names[index]) for index in players]
        lot |= {
            "players": [player[0] for player in listed], "reasons": self._reasons,
            "openings": [[self._openings[index]] for index in openings],
        }
        data = {"players": listed, "engine": printable(name), "lot": lot}
        return f"data({compact(data)});\n"

    def _listed(self, name: str) -> list[str | int | float | None]:
        """Return a player of a list of games: name, Elo, group of ratings, number of the page."""
        entry = self._by_name[name]
        elo = None if entry.rating is None else round(entry.rating.elo, 1)
        group = None if entry.rating is None else entry.rating.group
        return [printable(name), elo, group, self._page_numbers[name]]


def _digest(text: str) -> str:
    """Return the source expression of an inline script or style in a content security policy."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _limits(entrant: Entrant) -> str:
    """Return the limits of a player, in the words of its ``-engine`` flag."""
    words = engine_words(entrant)
    return typed({key: words[key] for key in _LIMIT_KEYS if key in words})


def _adjudication(league: League) -> str:
    """Return the rules of adjudication, in words."""
    rules = league.settings.adjudication
    parts = []
    if rules.draw_count:
        parts.append(f"draw after {rules.draw_count} moves of each side without a removal, with "
                     f"scores within ±{rules.draw_score}, from move {rules.draw_number} on")
    if rules.resign_count:
        parts.append(f"loss after {rules.resign_count} moves with scores of at most "
                     f"-{rules.resign_score}, from move {rules.resign_number} on"
                     + ", if the opponent's scores agree" * rules.resign_twosided)
    if rules.max_moves:
        parts.append(f"draw after {rules.max_moves} moves of each side")
    if rules.tables:
        results = {"WIN_LOSS": "wins and losses ", "DRAW": "draws "}
        parts.append(f"{results.get(rules.table_results, '')}by tables")
    return "; ".join(parts) or "none"
