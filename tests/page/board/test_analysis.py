"""Evaluations, variations and proven values, in play and in an analysis."""

from __future__ import annotations

import time

import pytest

from tests.kit.webdriver import Browser
from tests.protocol.board.steps import (
    BEGINNER,
    FLYERS,
    ask,
    begin,
    click,
    enter,
    load,
    moves,
    play,
    shot,
    tap_menu,
)


def test_play_shows_no_evaluation_until_the_user_asks(page: Browser) -> None:
    begin(page, black=BEGINNER)
    page.run(
        """window.seen = 0;
           new MutationObserver(() => {
             seen += document.querySelectorAll(".arrow, .value, #lines li, #explorer li").length;
           }).observe(document.body, {childList: true, subtree: true});"""
    )
    play(page, "d6")
    page.wait_for_count("#moves button", 2)
    ask(page, "new", position=FLYERS)
    page.wait_for_count("#board .man", 6)
    assert page.run("return seen") == 0
    bar = page.run("return getComputedStyle(document.getElementById('bar')).display")
    assert bar == "none"
    assert page.text("#worth") == "" and page.text("#facts") == "Off: no evaluation is shown."
    page.key("v")
    page.wait("document.querySelectorAll('#explorer li').length > 20")
    page.wait_for_count("#board .value", 3)
    assert page.run("return document.getElementById('evaluation').ariaChecked") == "true"
    page.click("#evaluation")
    page.wait_for_count("#explorer-box:not([hidden]), #board .value", 0)


def test_engines_do_not_move_during_an_analysis(page: Browser) -> None:
    begin(page, black=BEGINNER)
    tap_menu(page, "analyse")
    page.wait("document.getElementById('analyse').ariaPressed === 'true'")
    play(page, "d6")
    # The user moves both sides.
    play(page, "f4")
    assert moves(page) == ["d6", "f4"]
    page.key("s")
    page.wait("document.getElementById('play').ariaPressed === 'true'")
    page.wait_for_count("#lines li", 0)


def test_proven_values_are_marked_on_men_and_points_and_listed(page: Browser) -> None:
    tap_menu(page, "analyse")
    load(page, FLYERS)
    page.wait_for_count("#board .value", 3)
    labels = page.run(
        "return [...document.querySelectorAll('.point:has(.value)')]"
        ".map((point) => [point.ariaLabel, point.querySelector('.value').getAttribute('class')])"
    )
    assert sorted(labels) == [
        ["a7, white man, can move: proven win", "value win"],
        ["d6, white man, can move: proven win", "value win"],
        ["d7, white man, can move: proven loss", "value loss"],
    ]
    bar = page.run(
        "const bar = document.getElementById('bar'); return [bar.ariaValueText, bar.role]"
    )
    assert bar == ["White wins, proven, White 100 percent", "meter"]
    assert page.text("#worth") == "White wins, proven"
    # The best moves are listed first.
    first, last = page.run(
        "const all = [...document.querySelectorAll('#explorer button, #explorer .group')];"
        "return [all[1], all.findLast((item) => item.className === 'group')]"
        ".map((item) => item.textContent)"
    )
    assert first.endswith("in 1 move") and last == "Loses"
    click(page, "d6")
    page.wait("document.querySelectorAll('.point:not(:has(.man)) .value').length > 10")
    shot(page, "proven")


def test_the_bar_of_a_finished_game_shows_its_result(page: Browser) -> None:
    tap_menu(page, "analyse")
    load(page, FLYERS)
    page.wait_for_count("#board .value", 3)
    click(page, "d6", "g7", "d1")
    page.wait("/White wins/.test(document.getElementById('worth').textContent)")
    page.wait("document.getElementById('facts').textContent === 'The game is over.'")
    value_text = page.run("return document.getElementById('bar').ariaValueText")
    assert value_text == "White wins, Black has two men, White 100 percent"


def test_hovering_previews_a_line_and_a_click_plays_it(page: Browser) -> None:
    begin(page)
    tap_menu(page, "analyse")
    page.wait_for_count("#lines li", 3)
    enter(page, "#line-count", "5")
    page.wait_for_count("#lines li", 5)
    page.wait("document.querySelector('#lines li:first-child button:nth-child(3)')")
    page.hover("#lines li:first-child button:nth-child(3)")
    page.wait_for_count("#board .man", 3)
    assert page.run("return document.querySelectorAll('#board .last').length") == 1
    line = page.run(
        "return document.querySelector('#lines li:first-child button:nth-child(3)').dataset.moves"
    )
    # The line under the pointer must not change while the engine searches.
    page.click("#lines li:first-child button:nth-child(3)")
    page.wait_for_count("#moves button", 3)
    assert moves(page) == line.split()
    page.hover("#first")
    page.wait_for_count("#board .man", 3)
    # Hiding the evaluation also ends the preview.
    page.wait_for_count("#lines li", 5)
    page.hover("#lines li:first-child button")
    page.wait_for_count("#board .man", 4)
    page.key("v")
    page.wait_for_count("#lines li", 0)
    page.wait_for_count("#board .man", 3)


@pytest.mark.parametrize("width, height, phone", [(1280, 860, False), (390, 844, True)])
def test_lines_that_appear_and_disappear_do_not_shift_the_page(
    page: Browser, width: int, height: int, phone: bool
) -> None:
    page.set_view(width, height, phone=phone)
    begin(page)
    tap_menu(page, "analyse")
    page.wait_for_count("#lines li", 3)
    page.run(
        "window.heights = new Set();"
        "new ResizeObserver(([entry]) => heights.add(entry.contentRect.height))"
        ".observe(document.getElementById('lines'))"
    )
    for number in range(1, 4):
        page.run("document.querySelector('#lines .step').click()")
        page.wait_for_count("#moves button", number)
        page.wait_for_count("#lines li", 3)
    assert page.run("return heights.size") == 1


def test_a_position_change_ends_the_preview_of_a_line(page: Browser) -> None:
    begin(page)
    tap_menu(page, "analyse")
    page.wait_for_count("#lines li", 3)
    # Simulate a busy machine, which draws an event late.
    page.run(
        "const original = window.requestAnimationFrame;"
        "window.requestAnimationFrame = (draw) => setTimeout(() => original(draw), 2000);"
        "document.querySelector('#lines li:first-child button').click()"
    )
    time.sleep(1)
    page.run(
        "document.querySelector('#lines li:last-child button')"
        ".dispatchEvent(new PointerEvent('pointermove', { bubbles: true }))"
    )
    page.wait_for_count("#moves button", 1)
    page.run("document.getElementById('lines').dispatchEvent(new PointerEvent('pointerleave'))")
    page.wait_for_count("#board .man", 1)


def test_the_current_move_stays_visible_when_panels_open(page: Browser) -> None:
    load(page, "1. d6 f4 2. b4 d2 3. e4 b6 4. d3 d5 5. f2 a4 6. g7 c3 7. a1 e5 8. c5 d7 9. a7 g1 *")
    page.wait_for_count("#moves button", 18)
    tap_menu(page, "analyse")
    page.click("#review")
    page.wait("!document.getElementById('graph').hidden")
    page.wait(
        """(() => {
             const box = document.getElementById("moves-box").getBoundingClientRect();
             const move = document.querySelector("#moves [aria-current]").getBoundingClientRect();
             return move.top >= box.top && move.bottom <= box.bottom + 1;
           })()"""
    )


def test_a_line_that_appears_under_a_resting_pointer_is_not_previewed(page: Browser) -> None:
    tap_menu(page, "analyse")
    load(page, FLYERS)
    page.wait_for_count("#board .value", 3)
    page.hover("#explorer li:nth-child(2) button")
    page.wait_for_count("#board .value", 0)
    page.key("v")
    page.wait("document.querySelectorAll('#explorer button').length === 0 || "
              "document.getElementById('explorer-box').hidden")
    page.key("v")
    page.wait_for_count("#board .value", 3)
    time.sleep(0.5)
    assert page.run("return document.querySelectorAll('#board .value').length") == 3
    page.hover("#explorer li:nth-child(3) button")
    page.wait_for_count("#board .value", 0)
