"""The page of a running tournament in a real browser, from the first move to the end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor

import pytest

from tests.kit.webdriver import Browser
from tests.page.viewer import check_fits_phone
from tests.protocol.board.steps import shot
from tests.tournament.processes import Marked, page_address
from tests.tournament.specs import engine_words

SLOW = ("-each", "st=0.04", "timemargin=60000", "-maxmoves", "12")
"""Games slow enough to be watched."""
HOSTILE = '<img src=x onerror="document.title=1">&amp;"\'</script>'
MOVES = "document.querySelector('.card .moves').textContent"


def two_workers() -> Executor:
    """Return an executor with two threads, as a factory for ``-executor`` does."""
    return ThreadPoolExecutor(2)


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """Yield a browser of desktop size; check that the page logged no errors."""
    chromium.keep_tab(chromium.tabs()[0])
    chromium.set_view(1280, 900)
    chromium.messages()
    yield chromium
    # After the runner has ended, a page fails to reconnect and logs that error.
    assert [text for text in chromium.messages() if "/events - Failed to load" not in text] == []


def serve(*words: str, names: tuple[str, str] = ("A", "B")) -> tuple[Marked, str]:
    """Start a run; return the run and the address of its page."""
    engines = [word for name in names for word in engine_words(name)]
    # Nothing reads standard output; a pipe would fill up and stop the run.
    run = Marked(*engines, "-srand", "5", *words, "-serve", "0", stdout=subprocess.DEVNULL)
    return run, page_address(run)


def test_a_run_is_watched_from_its_first_moves_to_its_end(browser: Browser) -> None:
    run, address = serve("-rounds", "1", *SLOW, "-sprt", "elo0=0", "elo1=10")
    browser.open(address)
    browser.wait("document.querySelectorAll('.card .man.white').length > 1", 60)
    moves = browser.run(f"return {MOVES}")
    browser.wait(f"{MOVES} !== {moves!r}", 60)
    assert "depth" in browser.text(".player.white .score")
    browser.wait("document.querySelector('.scores.white').getAttribute('points').length > 9", 60)
    assert browser.text("#state") == "live"
    browser.wait("document.querySelector('#standings .plot .H1')")
    # A click enlarges the game, and the keys step through it.
    browser.click(".card .title")
    browser.wait("document.getElementById('viewer').open")
    browser.key("ArrowLeft")
    browser.wait("!document.getElementById('last').disabled")
    # Games that end while a game is open are listed when it is closed.
    assert run.wait(120)[0] == 0
    browser.wait("document.getElementById('state').textContent === 'over'")
    browser.key("Escape")
    assert browser.text("#banner") == "Finished: all 2 games are played."
    assert browser.text("#score") == "2 of at most 2 games"
    # The last game is shown at the end, however short it was.
    browser.wait("document.querySelector('.card .title').textContent === 'Game 2'")
    assert browser.run("return document.querySelector('#bar').value") == 1
    assert browser.run("return document.title").startswith("■ 2 of")
    assert browser.text(".card .result") in ("1–0", "0–1", "½–½")
    assert "Standings" in browser.text("#standings") and "Crosstable" in browser.text("#details")
    label = browser.run("return document.querySelector('#standings .plot').ariaLabel")
    assert label.startswith("LLR ") and "after 2 games; bounds -2.94 and 2.94" in label
    # The games can be replayed although the server has ended.
    browser.wait_for_count("#games tbody tr", 2)
    browser.click("#games tbody tr:last-child button")
    browser.wait("document.getElementById('viewer').open")
    assert browser.text("#viewer-title") == "Game 1: A – B"
    assert browser.text("#viewer-note") == "The first position."
    browser.key("End")
    browser.wait("document.getElementById('last').disabled")
    shot(browser, "broadcast-over")
    browser.key("Escape")


@pytest.mark.parametrize(
    ("signal_number", "text", "state"),
    [
        (signal.SIGKILL, "The runner has ended unexpectedly", "gone"),
        (signal.SIGTERM, "Stopped after", "over"),
    ],
)
def test_the_page_shows_that_its_runner_was_killed_or_stopped(
    browser: Browser, signal_number: signal.Signals, text: str, state: str
) -> None:
    run, address = serve("-rounds", "500", *SLOW)
    browser.open(address)
    browser.wait("document.querySelectorAll('.card').length === 1", 60)
    assert not browser.run("return document.getElementById('banner').checkVisibility()")
    os.kill(run.process.pid, signal_number)
    run.wait()
    browser.wait(f"document.getElementById('banner').textContent.startsWith({text!r})")
    assert " of 1000 games" in browser.text("#score")
    assert browser.text("#state") == state


def test_names_are_escaped_and_a_phone_shows_the_whole_page(browser: Browser) -> None:
    run, address = serve(
        "-rounds", "500", "-each", "nodes=50", "-concurrency", "2", "-event", HOSTILE,
        names=(HOSTILE, "a long name " * 9),
    )
    browser.open(address)
    browser.wait("document.querySelectorAll('.games tbody tr').length > 3", 60)
    browser.wait("document.querySelectorAll('#details table').length > 1", 60)
    for name, width, height, phone, dark in (
        ("light", 1280, 900, False, False), ("dark", 1280, 900, False, True),
        ("phone", 360, 740, True, False), ("narrow", 320, 568, True, True),
    ):
        browser.set_view(width, height, phone=phone, dark=dark)
        if not phone:
            shot(browser, f"broadcast-{name}")
        else:
            check_fits_phone(browser)
            browser.click(".games tbody button")
            browser.wait("document.getElementById('viewer').open")
            shot(browser, f"broadcast-{name}-viewer")
            browser.key("Escape")
    assert browser.text("h1") == HOSTILE
    assert HOSTILE in browser.run("return document.title")
    assert browser.run("return document.querySelectorAll('img, main script').length") == 0
    run.process.terminate()
    run.wait()


def test_seven_tabs_of_one_browser_all_show_the_end_of_a_run(browser: Browser) -> None:
    run, address = serve("-rounds", "500", *SLOW)
    tabs = [browser.new_tab() for _ in range(8)]
    for tab in tabs:
        browser.move_to(tab)
        browser.open(address)
        browser.wait("document.getElementById('state').textContent === 'live'", 60)
    # The first tab closes the stream that all tabs share, so another tab must open a stream.
    browser.move_to(tabs.pop(0))
    browser.open("about:blank")
    browser.move_to(tabs[0])
    score = browser.text("#score")
    browser.wait(f"document.getElementById('score').textContent !== {score!r}")
    run.process.terminate()
    run.wait()
    for tab in tabs:
        browser.move_to(tab)
        browser.wait("document.getElementById('state').textContent === 'over'")


def test_the_page_explains_that_a_user_supplied_executor_reports_no_moves(browser: Browser) -> None:
    run, address = serve(
        "-rounds", "500", *SLOW, "-concurrency", "2",
        "-executor", "tests.page.test_live:two_workers",
    )
    browser.open(address)
    browser.wait("document.getElementById('score').textContent.includes('4 games submitted')", 60)
    assert "does not report games in progress" in browser.text("main .note")
    assert browser.run("return document.querySelectorAll('.card').length") == 0
    run.process.terminate()
    run.wait()
    browser.wait("document.getElementById('state').textContent === 'over'")


@pytest.mark.parametrize("size", [(1366, 768), (1280, 720)])
def test_the_standings_are_above_the_fold(browser: Browser, size: tuple[int, int]) -> None:
    run, address = serve("-rounds", "500", *SLOW, "-concurrency", "2")
    browser.set_view(*size)
    browser.open(address)
    browser.wait("document.querySelectorAll('.card').length === 2", 60)
    # A man stands beside each name, and the row of the side to move is tinted.
    assert browser.run("return document.querySelectorAll('.card .player .man').length") == 4
    browser.wait("[...document.querySelectorAll('.card .player.moving')].some((row) => "
                 "getComputedStyle(row).backgroundColor !== 'rgba(0, 0, 0, 0)')", 60)
    browser.wait("document.querySelector('#standings table')", 60)
    box = browser.run("const box = document.querySelector('#standings table')"
                      ".getBoundingClientRect(); return [box.right, box.bottom]")
    assert box[0] <= size[0] and box[1] <= size[1]
    assert browser.run("return document.documentElement.scrollWidth") <= size[0]
    shot(browser, f"broadcast-{size[0]}")
    run.process.terminate()
    run.wait()
