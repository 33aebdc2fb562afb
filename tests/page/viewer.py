"""Checks of pages of reports and leagues: the dialog that replays a game, and text cut off."""

from __future__ import annotations

from merels.engine.game.board import NAMES, points_of
from merels.engine.game.notation import parse_position, play_moves
from merels.engine.game.rules import parse_rules
from merels.tournament.journal.rows import Row
from tests.kit.webdriver import Browser


def check_end(browser: Browser, row: Row, rules: str) -> None:
    """Go to the end of the open game, and check its last position and its result."""
    browser.key("End")
    men = browser.run("""return ["white", "black"].map((colour) =>
        [...document.querySelectorAll("#viewer .man." + colour + ":not(.player *)")]
        .map((man) => man.closest(".point").dataset.point).sort())""")
    start = parse_position(row.position, parse_rules(rules))
    final = play_moves(start, f"{row.opening} {row.moves}".split())
    assert men == [sorted(NAMES[point] for point in points_of(mask)) for mask in final.men]
    result = row.result.replace("1/2-1/2", "½–½").replace("-", "–")
    assert browser.text("#viewer-result") == f"{result} · {row.reason}"


def check_fits_phone(browser: Browser) -> None:
    """Check that a page is as wide as the window, and that its tables scroll to their last column.

    In a former version, a league's pages were up to 686 pixels wide in a window of 390.
    """
    width, page, hidden = browser.run("""
        const width = document.documentElement.clientWidth;
        const boxes = [...document.querySelectorAll(".wide")]
            .filter((box) => box.checkVisibility());
        for (const box of boxes) box.scrollLeft = 10_000;
        const ends = boxes.map((box) => box.querySelector("tr")?.lastElementChild ?? box);
        return [width, document.documentElement.scrollWidth,
            ends.filter((end) => end.getBoundingClientRect().right > width + 1)
            .map((end) => end.outerHTML.slice(0, 80))];""")
    assert page <= width and hidden == []
    browser.run("for (const box of document.querySelectorAll('.wide')) box.scrollLeft = 0")


def check_text_in_view(browser: Browser, selectors: str) -> None:
    """Check that elements are in view at both ends of the page, except where they are hidden."""
    for x in (0, 10_000):
        browser.run(f"scrollTo({x}, 0)")
        cut_off = browser.run("""
            const width = document.documentElement.clientWidth;
            return [...document.querySelectorAll(arguments[0])]
                .filter((element) => element.checkVisibility())
                .map((element) =>
                    [element.textContent.slice(0, 60), element.getBoundingClientRect()])
                .filter(([, box]) => box.left < 0 || box.right > width + 1)""", selectors)
        assert cut_off == [], x
