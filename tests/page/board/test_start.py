"""The form of a new game, the rules in force, the result card, and the tutorial Learn Mill."""

from __future__ import annotations

import pytest

from merels.engine.game.board import NAMES
from merels.engine.game.notation import parse_move, parse_position
from tests.kit.webdriver import Browser
from tests.page.board.accessibility import NAMED
from tests.protocol.board.server import Server
from tests.protocol.board.steps import (
    ANALYST,
    FLYERS,
    MUTE,
    PERSON,
    ask,
    begin,
    click,
    enter,
    expect_refusal,
    is_open,
    moves,
    play,
    shot,
    tap_menu,
)

STARTING = "document.body.classList.contains('starting')"
NOTE = "document.getElementById('tutorial-note').textContent"


def reopen(server: Server, page: Browser) -> None:
    """Open a new board in this tab, and wait for its start screen."""
    page.run("sessionStorage.clear()")
    page.open(server.address)
    page.wait(f"document.querySelectorAll('.target').length === 24 && {STARTING}")
    page.run("document.getElementById('resume').hidden = true")


@pytest.mark.parametrize(
    ("width", "height", "dark"),
    [(1366, 650, False), (1920, 1080, True), (820, 1180, False), (390, 844, True),
     (844, 390, False)],
)
def test_the_first_screen_has_one_main_button(
    server: Server, page: Browser, width: int, height: int, dark: bool
) -> None:
    page.set_view(width, height, phone=width < 1000, dark=dark)
    reopen(server, page)
    main_buttons = ("return [...document.querySelectorAll('button.main')]"
                    ".filter((button) => button.checkVisibility()).map((button) => button.id)")
    assert page.run(main_buttons) == ["begin"]
    assert page.text("#level-name") == "Club · 1385"
    tree = page.accessibility_tree()
    assert ("slider", "Level") in tree and ("radiogroup", "You are") in tree
    assert {("radio", name) for name in ("White", "Random", "Black")} <= set(tree)
    assert [role for role, name in tree if role in (*NAMED, "navigation") and not name] == []
    shot(page, f"start-{width}")
    if width > 1000:
        bottom = "return document.getElementById('begin').getBoundingClientRect().bottom"
        assert page.run(bottom) <= height
        assert page.run("return document.documentElement.scrollHeight") <= height
    page.click("#begin")
    page.wait(f"!{STARTING}")
    assert page.run(main_buttons) == []


def test_level_colour_time_and_rules_are_chosen_and_remembered(
    server: Server, page: Browser
) -> None:
    page.run("document.getElementById('level').focus()")
    for _ in range(2):
        page.key("ArrowLeft")
    assert page.text("#level-name") == "Beginner · 800"
    page.click("input[name=colour][value='1']")
    enter(page, "#time", "0")
    enter(page, "#variant", "morris")
    assert "Also called Roman" in page.text("#rules-words")
    page.click("#begin")
    page.wait_for_count("#moves button", 1)
    page.wait("document.querySelector('#player-bottom .name').textContent === 'Black: You'")
    assert page.text("#player-top .name") == "White: merels (Beginner)"
    # The rules in force are beside the moves, and a click explains them.
    assert page.text("#rules-line") == "Morris"
    page.click("#rules-line")
    page.wait(is_open("help"))
    assert "A side with two men has lost." in page.text("#rules-list")
    page.key("Escape")
    ask(page, "resign")
    page.run("sessionStorage.clear()")
    page.open(server.address)
    page.wait(STARTING)
    assert page.text("#level-name") == "Beginner · 800"
    chosen = page.run("return [document.querySelector('input[name=colour]:checked').value,"
                      "document.getElementById('time').value,"
                      "document.getElementById('variant').value]")
    assert chosen == ["1", "0", "morris"]
    # A move on the board begins the game of a form with a user as White.
    page.click("input[name=colour][value='0']")
    play(page, "d6")
    page.wait(f"!{STARTING} && document.getElementById('rules-line').textContent === 'Morris'")
    assert page.text("#player-top .name") == "Black: merels (Beginner)"


def test_a_move_beside_a_form_with_a_bad_rule_is_refused_with_a_message(
    server: Server, page: Browser
) -> None:
    """Otherwise the board would keep the man of the refused move, and accept no other move."""
    reopen(server, page)
    enter(page, "#field-Repetition", "-1")
    click(page, "d6")
    page.wait("document.getElementById('toast').textContent.includes('expected a whole number')")
    page.wait_for_count("#board .man", 0)
    expect_refusal(page)
    enter(page, "#field-Repetition", "3")
    play(page, "d6")
    assert moves(page)[0] == "d6"


def test_a_lost_server_is_reported_in_my_games(page: Browser) -> None:
    tap_menu(page, "games")
    page.wait(is_open("games"))
    page.run("window.fetch = () => Promise.reject()")
    toast = "document.getElementById('toast')"
    for action in (
        "document.getElementById('games-query').dispatchEvent(new Event('input'))",
        "document.getElementById('games-save').dispatchEvent(new Event('click'))",
    ):
        page.run(f"{toast}.textContent = ''; {action}")
        page.wait(f"{toast}.textContent.startsWith('merels board does not answer')")


def test_a_random_colour_is_white_or_black(server: Server, page: Browser) -> None:
    page.click("input[name=colour][value=random]")
    for chance, name in ((0.1, "Black: You"), (0.9, "White: You")):
        page.run("Math.random = () => arguments[0]", chance)
        if not page.run(f"return {STARTING}"):
            tap_menu(page, "new")
        page.click("#begin")
        is_named = f"document.querySelector('#player-bottom .name').textContent === {name!r}"
        page.wait(f"{is_named} || {is_open('ask')}")
        if page.run(f"return {is_open('ask')}"):
            page.click("#ask-yes")
        page.wait(is_named)


@pytest.mark.parametrize(("width", "height"), [(1366, 650), (390, 844), (844, 390)])
def test_the_result_is_beside_the_board_with_accuracy_and_mistakes(
    page: Browser, width: int, height: int
) -> None:
    page.set_view(width, height, phone=width < 1000)
    # The reply of another engine could end the game first.
    players = [PERSON, MUTE, ANALYST]
    assert ask(page, "new", players=players, position=FLYERS, variant="morris") == {}
    page.wait_for_count("#board .man", 6)
    play(page, "d7", "b4")
    ask(page, "resign")
    page.wait("!document.getElementById('result-card').hidden")
    covered = page.run(
        """const [board, card] = ["board", "result-card"]
             .map((id) => document.getElementById(id).getBoundingClientRect());
           return Math.min(board.right, card.right) > Math.max(board.left, card.left)
             && Math.min(board.bottom, card.bottom) > Math.max(board.top, card.top)"""
    )
    assert not covered
    shot(page, f"result-{width}")
    page.click("#result-review")
    page.wait("document.getElementById('result-accuracy').textContent"
              ".startsWith('1 losing mistake: move 9. Accuracy: White 1 %, Black ')")
    shot(page, f"result-reviewed-{width}")
    if width < 500:
        # The review scrolls to its result.
        page.wait("""(() => {
          const box = document.getElementById("graph").getBoundingClientRect();
          return box.top >= 0 && box.bottom <= innerHeight;
        })()""")
    page.click("#result-learn")
    page.wait(is_open("puzzle"))
    page.wait("/White played d7-b4, a blunder/.test("
              "document.getElementById('puzzle-task').textContent)")


def touch(page: Browser, *points: str) -> None:
    """Tap points of the tutorial's board."""
    for point in points:
        page.tap(f"#tutorial-board [data-point={point}] .hit")


def test_learn_mill_teaches_six_rules_by_touch(page: Browser) -> None:
    page.set_view(390, 844, phone=True)
    tap_menu(page, "tutorial")
    page.wait(is_open("tutorial"))
    shot(page, "lesson-phone")
    lessons = [
        (["d6"], "White and Black place nine men each"),
        (["g7", "b4"], "A mill removes a man"),
        (["d6", "d5"], "A man moves along a line"),
        (["d7", "d6"], "Black moves"),
        (["a1", "f6", "g4"], "Flying makes three men dangerous"),
        (["d1", "a1"], "Black cannot move: White wins"),
    ]
    for number, (points, words) in enumerate(lessons, 1):
        page.wait(f"document.getElementById('tutorial-step').textContent === '{number} of 6'")
        touch(page, *points)
        page.wait(f"{NOTE}.includes({words!r})")
        if number == 4:
            page.wait("document.querySelector('#tutorial-board [data-point=f2] .man')")
            touch(page, "d6", "d7", "f2")
            page.wait(f"{NOTE}.startsWith('Open and close')")
        page.tap("#tutorial-next")
    page.wait(f"!{is_open('tutorial')}")
    assert moves(page) == []


def test_a_wrong_move_in_learn_mill_is_explained_and_can_be_repeated(page: Browser) -> None:
    tap_menu(page, "tutorial")
    for _ in range(5):
        page.click("#tutorial-next")
    page.click("#tutorial-board [data-point=d1] .hit")
    page.click("#tutorial-board [data-point=g1] .hit")
    page.wait(f"{NOTE}.startsWith('Black can still move')")
    page.click("#tutorial-again")
    page.wait("document.querySelector('#tutorial-board [data-point=d1] .man')")
    shot(page, "lesson")
    assert ("heading", "Learn Mill") in page.accessibility_tree()


def test_escape_in_the_tutorial_cancels_the_picked_man_before_it_closes(page: Browser) -> None:
    tap_menu(page, "tutorial")
    for _ in range(2):
        page.click("#tutorial-next")
    page.click("#tutorial-board [data-point=d6] .hit")
    page.wait("document.querySelector('#tutorial-board .picked')")
    page.key("Escape")
    page.wait("!document.querySelector('#tutorial-board .picked')")
    assert page.run("return document.getElementById('tutorial-dialog').open")
    page.key("Escape")
    page.wait("!document.getElementById('tutorial-dialog').open")


def test_the_lessons_follow_the_rules(page: Browser) -> None:
    lessons = page.run("return import('./dialogs/tutorial.js').then(({ LESSONS }) => "
                       "LESSONS.map(({ goal, ...lesson }) => lesson))")
    assert len(lessons) == 6
    for lesson in lessons:
        men = {"O": lesson["white"], "@": lesson["black"]}
        signs = "".join(
            next((sign for sign, points in men.items() if name in points), "*") for name in NAMES
        )
        placing = lesson["name"] in ("place", "mill")
        hands = [9 - len(points) if placing else 0 for points in men.values()]
        rings = "/".join(signs[start : start + 8] for start in (0, 8, 16))
        position = parse_position(f"{rings} w {hands[0]} {hands[1]} 0 10")
        for step in lesson["moves"]:
            legal = {str(move) for move in position.legal_moves()}
            offered = step.get("offered", [])
            assert set(offered) <= legal, lesson["name"]
            if "reply" in step:
                for move in (offered[0], step["reply"]):
                    position = position.play(parse_move(move))
            if lesson["name"] == "blocked":
                outcome = position.play(parse_move("d1-a1")).outcome()
                assert outcome is not None and outcome.reason == "blocked"
