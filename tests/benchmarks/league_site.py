"""Time of writing and rewriting the site of a large league, and of opening its pages.

    python -m tests.benchmarks.league_site [GAMES [PLAYERS [PLIES]]]

The games are invented (default 500,000 of 300 players, 60 plies each). A page's time runs from
the browser's request until the page's script has added its buttons.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from merels.tournament.journal.rows import Row
from merels.tournament.league.league import (
    JOURNAL,
    Member,
    Terms,
    create_league,
    open_league,
    read_league,
)
from merels.tournament.league.site import INDEX, write_site
from merels.tournament.records.settings import LEAGUE, Settings
from tests.benchmarks.journals import entrants, insert, rows
from tests.kit.webdriver import Browser, missing

NEW_GAMES = 100
"""Games added before the last site is written."""
BUTTONS = {
    INDEX: ".list thead button", "player-1.html": ".games tbody button",
    "crosstable.html": ".cross thead button",
}
"""CSS selector of a button that the script of each page adds."""


def fill(folder: str, players: int, games: Iterator[Row]) -> None:
    """Create a league of invented games."""
    settings = Settings((), 1, format=LEAGUE, rounds=1, event="Large league")
    create_league(folder, settings, Terms(), ())
    with open_league(folder) as league:
        engines = entrants(players)
        league.with_new(engines, [Member("2026-01-01")] * players).save()
        insert(league.journal, games)


def timed_site(folder: str) -> str:
    """Write the site; return the times, and this process's peak memory so far, as text."""
    start, cpu_start = time.perf_counter(), time.process_time()
    with read_league(folder) as league:
        write_site(league)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    cpu, wall = time.process_time() - cpu_start, time.perf_counter() - start
    return f"{cpu:.1f} s of CPU, {wall:.1f} s, {memory} MiB"


def main() -> None:
    """Write the sites and open pages; print the times and sizes."""
    count, players, plies = (
        int(word) for word in (*sys.argv[1:], *("500000", "300", "60")[len(sys.argv) - 1 :])
    )
    with tempfile.TemporaryDirectory() as folder:
        games = rows(count + NEW_GAMES, players, plies)
        fill(folder, players, islice(games, count))
        size = os.path.getsize(os.path.join(folder, JOURNAL)) >> 20
        print(f"{count:,} games of {players} players, journal {size} MiB", flush=True)
        print(f"first site: {timed_site(folder)}", flush=True)
        print(f"unchanged: {timed_site(folder)}", flush=True)
        with open_league(folder) as league:
            insert(league.journal, games)
        print(f"{NEW_GAMES} games more: {timed_site(folder)}", flush=True)
        site = Path(folder, "site")
        sizes = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
        print(f"site {sum(sizes) >> 20} MiB in {len(sizes):,} files, "
              f"{INDEX} {(site / INDEX).stat().st_size >> 10} KiB", flush=True)
        if missing():
            return
        with Browser() as browser:
            browser.open("about:blank")
            for page, button in BUTTONS.items():
                start = time.perf_counter()
                browser.open((site / page).as_uri())
                browser.wait(f"document.querySelector({button!r})")
                print(f"{page}: {time.perf_counter() - start:.2f} s", flush=True)


if __name__ == "__main__":
    main()
