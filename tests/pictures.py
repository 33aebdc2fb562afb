"""The pictures of the documents: ``python -m tests.pictures`` regenerates them with Chromium."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from merels.engine.search.levels import LEVELS
from tests.commands import MERELS
from tests.kit.webdriver import Browser
from tests.protocol.board.server import Server
from tests.protocol.board.steps import load

ROOT = Path(__file__).parent.parent
BOARD = ROOT / "protocol" / "board" / "board.webp"
TACTIC = ROOT / "protocol" / "board" / "tactic.webp"
BROADCAST = ROOT / "tournament" / "views" / "broadcast.webp"
REPORT = ROOT / "tournament" / "report" / "report.webp"
GAME = (
    "1. d6 f4 2. b4 d2 3. e4 b6 4. d3 d5 5. f2 a4 6. g7 c3 7. a1 e5 8. c5 d7 9. a7 g1 "
    "10. a1-d1 g1-g4 11. d1-a1 *"
)
DOUBLE_MILL = "***O*@O@/*O@@*@*O/OO**@@*O w 0 0 0 20"
PLAYERS = LEVELS[3::-1]


def board(browser: Browser) -> None:
    """Take a picture of the board with a loaded game and an analysis."""
    with Server() as server:
        browser.set_view(1200, 780)
        server.let_in(browser)
        browser.open(server.address)
        browser.wait("document.querySelectorAll('.target').length === 24")
        load(browser, GAME)
        browser.wait("document.querySelectorAll('#moves button').length > 10")
        browser.click("#analyse")
        browser.wait("document.querySelectorAll('#lines li').length > 2")
        browser.wait("/depth (1[6-9]|[2-9][0-9])/i.test("
                     "document.getElementById('facts-more').textContent)", 60)
        browser.screenshot(BOARD)


def tactic(browser: Browser) -> None:
    """Take a picture of a double mill, with the arrow of the move that uses it."""
    with Server() as server:
        browser.set_view(1200, 780)
        server.let_in(browser)
        browser.open(server.address)
        browser.wait("document.querySelectorAll('.target').length === 24")
        load(browser, DOUBLE_MILL)
        browser.click("#analyse")
        browser.wait("document.querySelectorAll('#lines li').length > 0")
        browser.wait("/depth [1-9][0-9]/i.test("
                     "document.getElementById('facts-more').textContent)", 60)
        browser.screenshot(TACTIC, "#board")


def report(browser: Browser) -> None:
    """Take a picture of the report of a tournament between levels."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["tournament", "-rounds", "20", "-srand", "1", "-quiet", "-event", "Four levels"]
        for level in PLAYERS:
            words += ["-engine", f"level={level.name}"]
        words += ["-each", "st=10", "-journal", "file=levels.db", "-concurrency", "2"]
        subprocess.run([*MERELS, *words], check=True, cwd=folder)
        subprocess.run([*MERELS, "ratings", "levels.db", "-out", "report.html"],
                       check=True, cwd=folder)
        browser.set_view(1020, 960)
        browser.open(f"file://{folder}/report.html")
        browser.run("document.documentElement.style.overflow = 'hidden'")
        browser.screenshot(REPORT)


def broadcast(browser: Browser) -> None:
    """Take a picture of the broadcast of a match in progress."""
    words = ["tournament", "-rounds", "60", "-srand", "4", "-quiet", "-event", "New against old"]
    for name, depth in (("New", 14), ("Old", 3)):
        words += ["-engine", f"cmd={sys.executable}", "args=-m merels.protocol", f"name={name}",
                  f"depth={depth}"]
    words += ["-each", "tc=60+0.5", "-sprt", "elo0=0", "elo1=60", "-concurrency", "2",
              "-force-concurrency", "-openings", "book", "-serve", "0"]
    with subprocess.Popen([*MERELS, *words], stderr=subprocess.PIPE, text=True,
                          stdout=subprocess.DEVNULL) as run:
        assert run.stderr is not None
        address = next(line for line in run.stderr if "standings at" in line).split()[-1]
        browser.set_view(1180, 640)
        browser.open(address)
        browser.wait("document.querySelectorAll('.games tbody tr').length > 12", 300)
        browser.wait("[...document.querySelectorAll('.scores.white')].every((line) => "
                     "line.getAttribute('points').split(' ').length > 15)", 120)
        browser.run("document.documentElement.style.overflow = 'hidden'")
        browser.screenshot(BROADCAST)
        run.terminate()


if __name__ == "__main__":
    with Browser() as chromium:
        tactic(chromium)
        board(chromium)
        broadcast(chromium)
        report(chromium)
