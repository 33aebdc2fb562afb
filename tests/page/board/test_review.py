"""The review on the board: verdicts, accuracy, saved comments and puzzles of mistakes."""

from __future__ import annotations

from merels.engine.game.notation import parse_move, parse_position
from merels.protocol.games.writer import format_record
from merels.protocol.games.record import Record
from tests.kit.webdriver import Browser
from tests.page.board.test_puzzles import NOTE, pick
from tests.protocol.board.steps import FLYERS, ask, console_errors, load, shot


def review_blunder(page: Browser) -> None:
    """Open a game in which White loses a won position, and wait for its review."""
    moves = [parse_move(text) for text in ("d7-b4", "d2-g1xd6")]
    record = Record(parse_position(FLYERS), moves, "0-1")
    record.mainline()[0].comment = "why not"
    load(page, format_record(record))
    page.wait_for_count("#moves button", 2)
    page.click("#review")
    page.wait("document.getElementById('review').textContent === 'Review' && "
              "!document.getElementById('sums').hidden", 60)
    page.click("#moves button[data-node='1']")
    page.wait("document.querySelector('#board .verdict')")


def test_a_blunder_is_marked_with_its_proven_cost(page: Browser) -> None:
    review_blunder(page)
    sums = page.run("return [...document.querySelectorAll('#sums dd')].map((dd) => dd.innerText)")
    assert sums == ["1 % accurate, 1 blunder", "100 % accurate"]
    verdict = page.text("#verdict")
    assert verdict.startswith("d7-b4: Blunder, proven: ") and "was better" in verdict
    assert verdict.endswith("A win became a loss.")
    assert page.text("#board .verdict text") == "??"
    assert page.run("return document.querySelectorAll('#board .arrow.better').length") == 1
    assert page.run("return document.querySelectorAll('#moves .blunder').length") == 1
    shot(page, "review-blunder")
    # A good move has no mark.
    page.key("ArrowRight")
    page.wait("!document.querySelector('#board .verdict, #board .arrow.better')")
    assert page.text("#verdict").startswith("d2-g1xd6: ")


def test_the_review_is_saved_with_the_game(page: Browser) -> None:
    review_blunder(page)
    text = " ".join(ask(page, "export")["record"].split())
    assert "d7-b4 $4 {[%eval #-1] why not; Blunder, proven: " in text
    assert "; A win became a loss}" in text
    # Reviewing the exported game again does not duplicate its comments.
    load(page, ask(page, "export")["record"])
    page.wait("document.getElementById('sums').hidden")
    page.click("#review")
    page.wait_for_count("#moves .blunder", 1)
    page.wait("document.getElementById('review').textContent === 'Review'")
    assert " ".join(ask(page, "export")["record"].split()) == text


def test_a_reloaded_page_shows_the_review(page: Browser) -> None:
    """The review is sent before the state, on which the strip with the result depends."""
    review_blunder(page)
    page.open(page.run("return location.href"))
    page.wait_for_count("#moves .blunder", 1)
    # A page that was never clicked cannot ask before it is left, and the browser reports this.
    page.click("#moves .blunder")
    assert console_errors(page) == []


def test_each_mistake_becomes_a_puzzle(page: Browser) -> None:
    assert not page.run("return document.getElementById('learn').checkVisibility()")
    review_blunder(page)
    page.click("#learn")
    page.wait_for_count("#puzzle-board .man", 6)
    assert page.text("#puzzle-title") == "Learn from the mistakes"
    assert page.text("#puzzle-task") == "White played d7-b4, a blunder. Find a better move."
    page.wait(f"{NOTE} === '1 of 1.'")
    assert page.run("return document.getElementById('puzzle-next').disabled")
    # Try the move of the game, and another losing move.
    for point in ("b4", "f4"):
        pick(page, "d7", point)
        page.wait(f"{NOTE}.startsWith('d7 to {point}: that is not good enough')")
        page.wait("document.querySelector('#puzzle-board [data-point=d7] .man')")
    page.click("#puzzle-hint")
    page.wait("document.querySelector('#puzzle-board .ring.picked')")
    shot(page, "lesson")
    # Any winning move solves the puzzle, whichever man it removes.
    page.key("Escape")
    pick(page, "d6", "g7", "a1")
    page.wait(f"{NOTE} === 'Right! Solved.'")
    page.click("#puzzle-dialog [value=cancel]")
    # The game is unchanged.
    assert page.run("return document.querySelectorAll('#moves button').length") == 2
    assert console_errors(page) == []


def test_a_better_placing_is_drawn_as_an_arrow(page: Browser) -> None:
    marks = page.run(
        """return Promise.all([import("./board/marks.js"), import("./scene.js")])
             .then(([{ gradeMarks }, { scene }]) => gradeMarks(scene.board,
               { name: "mistake", move: "a1", best: "d6" })
               .map((mark) => [mark.getAttribute("class"), mark.querySelectorAll("line").length,
                               mark.querySelectorAll("circle").length]))"""
    )
    assert marks == [["arrow rank-1 better", 1, 0], ["verdict mistake", 0, 1]]


def test_only_the_move_that_loses_is_a_losing_mistake(page: Browser) -> None:
    """A move of a side that was lost already cannot lose the game."""
    sentences = page.run(
        """return import("./panels/review.js").then(({ losingMistakes }) => {
             const players = [{ engine: null }, { engine: null }];
             const judged = (number, side, loss, value) =>
               ({ number, side, loss, value, name: "blunder" });
             return [
               losingMistakes({ judgements: [
                 judged(4, "white", 0.4, 0.1), judged(5, "white", 0.2, 0.0),
                 judged(6, "black", 0.3, 0.6), judged(7, "black", 0.15, 0.98),
               ] }, { players }),
               losingMistakes({ judgements: [judged(5, "black", 0.2, 0.97)] }, { players }),
             ];
           })"""
    )
    assert sentences == ["1 losing mistake: move 4", "No losing mistake"]


def test_a_new_review_does_not_show_the_graph_of_the_last_game(page: Browser) -> None:
    points = page.run(
        """return import("./panels/review.js").then(({ ReviewPanel }) => {
             document.getElementById("graph").replaceChildren();
             const panel = new ReviewPanel(() => {});
             const review = (judgements, nodes) =>
               ({ judgements, moves: nodes.length, nodes, indices: new Map(), sums: [] });
             const state = { game: 1, players: [{}, {}] };
             panel.draw(review([{ value: 0.5 }], [1]), state);
             const drawn = panel.area.getAttribute("points");
             panel.draw(review([], [1, 2]), { ...state, game: 2 });
             return [drawn, panel.area.getAttribute("points")];
           })"""
    )
    assert points == ["0,100 0,50 1,50 1,100", ""]
