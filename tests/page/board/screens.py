"""A tour of the page's screens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.kit.webdriver import Browser
from tests.protocol.board.steps import (
    ANALYST,
    BEGINNER,
    FLYERS,
    PERSON,
    ask,
    click,
    clock,
    is_open,
    load,
    play,
    tap_menu,
)

GAME = "1. d6 f4 2. d2 b4 3. f2 b2 4. f6 b6xf6 5. d5 a4 6. c4 e4 7. d1 a7 8. a1 g1 *"
POINTS = ("d6", "f4", "d2", "b4", "f2", "b2", "a7", "g7", "g1", "a1", "c4", "e4")
MENUS = ("settings", "game-menu", "places")
DIALOGS = ("new", "share", "import", "edit", "tutorial", "help", "games", "puzzles")


def tour(page: Browser, dialogs: Sequence[str] = DIALOGS) -> Iterator[str]:
    """Show each screen of a new page, and yield its name while it is shown.

    With only some ``dialogs``, skip the menus, too.
    """
    page.wait("document.body.classList.contains('starting')")
    yield "start"
    assert ask(page, "new", players=[PERSON, PERSON, ANALYST], time=clock(600, 5)) == {}
    page.wait("!document.body.classList.contains('starting')")
    page.wait_for_count(".clock", 2)
    for point in POINTS:
        play(page, point)
    yield "game"
    for menu in MENUS if dialogs == DIALOGS else ():
        button = f"[popovertarget={menu}]"
        if page.run("return document.querySelector(arguments[0]).checkVisibility()", button):
            page.click(button)
            page.wait(f"document.getElementById('{menu}').matches(':popover-open')")
            yield menu
            page.key("Escape")
            page.wait("!document.querySelector(':popover-open')")
    for name in dialogs:
        tap_menu(page, name)
        page.wait("document.querySelector('dialog:modal')")
        if name == "puzzles":
            page.wait("document.querySelectorAll('#puzzle-board .man').length > 0")
        if name == "games":
            page.wait("document.getElementById('games-count').textContent")
        yield name
        page.key("Escape")
        page.wait("!document.querySelector('dialog:modal')")
    page.click("#resign")
    page.wait(is_open("ask"))
    yield "ask"
    page.click("#ask-yes")
    page.wait("!document.getElementById('result-card').hidden")
    yield "result"
    tap_menu(page, "analyse")
    load(page, GAME)
    page.wait_for_count("#moves button", 16)
    page.wait_for_count("#lines li", 3)
    yield "analysis"
    page.click("#review")
    page.wait("document.querySelectorAll('#moves .blunder').length && "
              "!document.getElementById('learn').hidden", 120)
    page.click("#moves button[data-node='7']")
    page.wait("document.querySelector('#moves [aria-current]').dataset.node === '7'")
    yield "review"
    load(page, FLYERS)
    page.wait("document.querySelectorAll('#board .value').length === 3 && "
              "document.querySelectorAll('#explorer li').length > 3")
    yield "proven"
    assert ask(page, "new", players=[PERSON, BEGINNER, ANALYST], position=FLYERS) == {}
    page.wait("document.body.classList.contains('playing')")
    page.wait_for_count("#moves button", 0)
    click(page, "d6")
    page.wait_for_count("#board .picked", 1)
    click(page, "g7")
    page.wait_for_count("#board .ring.remove", 3)
    yield "removal"
