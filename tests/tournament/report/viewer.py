"""The dialog that replays a game, in reports and on a league's site."""

from __future__ import annotations

from merels.engine.game.board import NAMES, points_of
from merels.engine.game.notation import parse_position, play_moves
from merels.engine.game.rules import parse_rules
from merels.tournament.journal.rows import Row
from tests.protocol.board.webdriver import Browser


def check_end(browser: Browser, row: Row, rules: str) -> None:
    """Go to the end of the game that is open, and check its last position and result."""
    browser.key("End")
    men = browser.run("""return ["white", "black"].map((colour) =>
        [...document.querySelectorAll("#viewer .man." + colour + ":not(.player *)")]
        .map((man) => man.closest(".point").dataset.point).sort())""")
    start = parse_position(row.position, parse_rules(rules))
    final = play_moves(start, f"{row.opening} {row.moves}".split())
    assert men == [sorted(NAMES[point] for point in points_of(mask)) for mask in final.men]
    result = row.result.replace("1/2-1/2", "½–½").replace("-", "–")
    assert browser.text("#viewer-result") == f"{result} · {row.reason}"
