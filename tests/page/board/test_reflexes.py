"""Wheel, arrows, typed moves, premoves, hints, and moves that the server confirms late."""

from __future__ import annotations

import os
import signal
from typing import Any

from tests.kit.webdriver import Browser
from tests.protocol.board.server import Server
from tests.protocol.board.steps import (
    ANALYST,
    BEGINNER,
    FLYERS,
    MUTE,
    PERSON,
    ask,
    begin,
    click,
    expect_refusal,
    is_open,
    load,
    moves,
    play,
    shot,
)

FULL_STRENGTH = {"engine": 0, "level": "full"}
STATUS = "document.getElementById('status').textContent"
DRAWN = "document.querySelectorAll('#board .drawn').length"


def begin_against(page: Browser, engine: dict[str, Any], seconds: float = 3.0) -> None:
    """Begin a game as White, with a time for each move."""
    begin(page)
    players = [PERSON, engine, ANALYST]
    time = {"kind": "move", "seconds": seconds}
    assert ask(page, "new", players=players, time=time) == {}
    page.wait("!/Player/.test(document.querySelector('#player-top .name').textContent)")


def men(page: Browser, colour: str) -> list[str]:
    """Return the points with men of a colour on the board."""
    points: list[str] = page.run(
        "return [...document.querySelectorAll(`#board .point:has(.man.${arguments[0]})`)]"
        ".map((point) => point.dataset.point).sort()", colour,
    )
    return points


def test_the_wheel_steps_through_the_moves(page: Browser) -> None:
    begin(page)
    for point in ("d6", "f4", "d2"):
        play(page, point)
    for delta, count in ((-120, 2), (-120, 1), (120, 2), (120, 3), (120, 3)):
        page.wheel("#board", delta)
        page.wait_for_count("#board .man", count)


def test_a_right_drag_draws_an_arrow_and_a_right_click_a_circle(page: Browser) -> None:
    begin(page)
    page.drag("[data-point=d6] .hit", "[data-point=f4] .hit", button=2)
    page.wait_for_count("#board .arrow.drawn", 1)
    page.drag("[data-point=d2] .hit", "[data-point=d2] .hit", button=2)
    page.wait_for_count("#board .circle.drawn", 1)
    shot(page, "drawn")
    # Drawing the same shape again removes it.
    page.drag("[data-point=d2] .hit", "[data-point=d2] .hit", button=2)
    page.wait(f"{DRAWN} === 1")
    assert moves(page) == []
    play(page, "a1")
    page.wait(f"{DRAWN} === 0")
    page.drag("[data-point=d6] .hit", "[data-point=d6] .hit", button=2)
    page.wait(f"{DRAWN} === 1")
    # A click between the points clears the shapes, too.
    page.click("#board")
    page.wait(f"{DRAWN} === 0")


def test_a_right_click_cancels_the_picked_points(page: Browser) -> None:
    begin(page)
    load(page, FLYERS)
    page.wait_for_count("#board .man", 6)
    click(page, "d6")
    page.wait_for_count(".picked", 1)
    page.drag("[data-point=a1] .hit", "[data-point=a1] .hit", button=2)
    page.wait_for_count(".picked", 0)
    assert page.run(f"return {DRAWN}") == 0


def test_moves_are_typed(page: Browser) -> None:
    begin(page)
    for text, expected in (("a1", "a1"), ("e4", "e4"), ("D7", "d7"), ("f4", "f4")):
        # With a pause between them, the letter would be a shortcut.
        page.key(*text)
        page.wait(f"[...document.querySelectorAll('#moves button')].at(-1)?.textContent === "
                  f"{expected!r}")
    load(page, FLYERS)
    page.wait_for_count("#board .man", 6)
    page.key(*"d6-")
    page.wait("document.getElementById('typed').textContent === 'Move: d6'")
    page.key(*"g7xd2")
    page.wait_for_count("#moves button", 1)
    assert moves(page) == ["d6-g7xd2"]
    assert page.run("return document.getElementById('typed').hidden")


def test_a_typed_move_that_is_illegal_is_named_and_dropped(page: Browser) -> None:
    begin(page)
    play(page, "d6")
    page.key(*"d6")
    page.wait("document.getElementById('toast').textContent === 'd6 is not a legal move here.'")
    page.key("f", "Escape", "d", "2")
    page.wait_for_count("#moves button", 2)
    assert moves(page) == ["d6", "d2"]


def test_a_premove_is_shown_and_played_at_once_if_it_is_legal(page: Browser) -> None:
    begin_against(page, FULL_STRENGTH, 600.0)
    play(page, "d6")
    click(page, "a1")
    page.wait(f"{STATUS}.startsWith('Your next move: a1.')")
    page.wait_for_count("#board .premove", 1)
    shot(page, "premove")
    players = [PERSON, FULL_STRENGTH, ANALYST]
    assert ask(page, "players", players=players, time={"kind": "move", "seconds": 0.1}) == {}
    page.wait("document.querySelectorAll('#moves button').length >= 3")
    listed = moves(page)
    assert listed[0] == "d6" and listed[2] == "a1"
    page.wait_for_count("#board .premove", 0)


def test_a_premove_is_cancelled_by_a_right_click_or_escape(page: Browser) -> None:
    begin_against(page, MUTE)
    play(page, "d6")
    page.wait(f"{STATUS}.includes('thinking')")
    for way in ("right", "Escape"):
        click(page, "a1")
        page.wait_for_count("#board .premove", 1)
        if way == "right":
            page.drag("[data-point=g1] .hit", "[data-point=g1] .hit", button=2)
        else:
            page.key(way)
        page.wait_for_count("#board .premove", 0)
        page.wait(f"{STATUS}.includes('thinking')")
    # Another premove replaces the first; premoves can be typed, too.
    click(page, "a1")
    page.key(*"g7")
    page.wait(f"{STATUS}.startsWith('Your next move: g7.')")


def test_a_premove_of_a_man_is_picked_like_a_move(page: Browser) -> None:
    begin_against(page, MUTE)
    players = [PERSON, MUTE, ANALYST]
    start = "********/O***@***/O*O*@@*O b 0 0 0 9"
    assert ask(page, "new", players=players, position=start) == {}
    page.wait_for_count("#board .man", 7)
    click(page, "d6")
    page.wait_for_count(".picked", 1)
    click(page, "d5")
    page.wait(f"{STATUS}.startsWith('Your next move: d6-d5.')")


def test_a_premove_is_played_dropped_if_illegal_or_completed_by_a_removal(page: Browser) -> None:
    begin(page)
    results = page.run(
        """return (async () => {
             const [{ applyPremove }, { Choice }] = await Promise.all(
               ["board/premove", "board/choice"].map((name) => import(`./${name}.js`)));
             const choice = new Choice(["d6-d5xa1", "d6-d5xg1", "a4-a7"]);
             const played = ["a4-b4", "a4-a7", "d6-d5"].map((text) => applyPremove(text, choice));
             return [...played, choice.step];
           })()"""
    )
    assert results == [None, "a4-a7", "", "remove"]


def test_a_move_is_shown_at_once_and_confirmed_later(server: Server, page: Browser) -> None:
    begin(page)
    os.kill(server.pid, signal.SIGSTOP)
    try:
        click(page, "d6")
        page.wait_for_count("#board .man", 1)
        assert men(page, "white") == ["d6"] and moves(page) == []
        page.wait(f"{STATUS}.startsWith('Waiting')")
        shot(page, "waiting")
        # Nothing else can be played meanwhile, and Esc does not take the move back.
        click(page, "a1")
        page.key("Escape")
        assert men(page, "white") == ["d6"] and men(page, "black") == []
    finally:
        os.kill(server.pid, signal.SIGCONT)
    page.wait_for_count("#moves button", 1)
    page.wait(f"{STATUS}.startsWith('Black: place a man.')")


def test_a_refused_move_is_taken_back_with_a_message(page: Browser) -> None:
    begin(page)
    play(page, "d6")
    page.run(
        """const original = window.fetch;
           window.fetch = (path, options) => {
             if (!path.endsWith("play")) return original(path, options);
             window.fetch = original;
             const body = JSON.parse(options.body);
             return original(path, {...options, body: JSON.stringify({...body, at: 0})});
           };"""
    )
    click(page, "f4")
    page.wait("/changed meanwhile/.test(document.getElementById('toast').textContent)")
    page.wait_for_count("#board .man", 1)
    assert moves(page) == ["d6"]
    play(page, "f4")
    expect_refusal(page)


def test_a_hint_shows_a_good_move(page: Browser) -> None:
    begin(page, black=BEGINNER)
    load(page, FLYERS)
    page.click("#play")
    page.wait_for_count("#board .man", 6)
    page.click("#suggest")
    page.wait_for_count("#board .arrow.hint", 1)
    assert page.text("#status").startswith("Hint: ")
    assert "g7x" in page.text("#status"), "White wins by closing the mill"
    page.key("t")
    assert page.text("#status").startswith("Hint: "), "a new drawing of the board ended it"
    page.click("#board")
    page.wait_for_count("#board .hint", 0)
    page.key("h")
    page.wait_for_count("#board .arrow.hint", 1)


def test_a_key_analyses_from_the_position_shown(page: Browser) -> None:
    begin(page, black=BEGINNER)
    play(page, "d6")
    page.wait_for_count("#moves button", 2)
    page.click("#first")
    page.wait_for_count("#board .man", 0)
    page.key("s")
    page.wait("document.getElementById('analyse').ariaPressed === 'true'")
    page.wait_for_count("#lines li", 3)
    assert men(page, "white") == []
    play(page, "a1")
    page.key("s")
    page.wait_for_count("#board .man", 2)


def test_the_title_shows_that_it_is_the_users_turn(page: Browser) -> None:
    begin(page, black=BEGINNER)
    page.wait("document.title === 'Your turn – merels'")
    play(page, "d6")
    page.wait_for_count("#moves button", 2)
    page.wait("document.title === 'Your turn – merels'")
    ask(page, "resign")
    page.wait("document.title === 'merels'")
    begin(page)
    # With two users on one screen it is always a user's turn.
    page.wait("document.title === 'merels'")


def test_a_question_mark_opens_the_list_of_keys(page: Browser) -> None:
    begin(page)
    page.key("?")
    page.wait(is_open("help"))
    page.key("Escape")
    page.wait(f"!{is_open('help')}")
