"""Animations, marks, sounds, the pause before a level's move, and the result card."""

from __future__ import annotations


from tests.kit.webdriver import Browser
from tests.protocol.board.steps import (
    BEGINNER,
    FLYERS,
    ask,
    begin,
    click,
    load,
    play,
    shot,
    tap_menu,
)

RECORD_ANIMATIONS = """
window.motions = [];
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, options) {
  motions.push([this.getAttribute("class"), frames[0].transform]);
  window.duration = options.duration;
  window.animated = this;
  return animate.call(this, frames, options);
};
"""


def test_men_slide_appear_and_vanish(page: Browser) -> None:
    begin(page)
    page.run(RECORD_ANIMATIONS)
    play(page, "d6")
    assert page.run("return motions") == [["piece", "scale(1.3)"]]
    # The event of the move redraws the board but keeps the animated element.
    assert page.run("return animated.isConnected")
    load(page, FLYERS)
    page.wait_for_count("#board .man", 6)
    page.run("motions.length = 0")
    click(page, "d6", "g7")
    page.wait_for_count(".ring.remove", 3)
    assert page.run("return motions.length") == 1
    assert "translate(-300px, 100px)" in page.run("return motions[0]")
    assert page.run("return duration") == 150
    click(page, "d2")
    page.wait("motions.length === 2")
    assert page.run("return motions[1]") == ["leaving", "none"]
    assert page.run("return duration") == 120
    page.wait("!document.querySelector('.leaving')")


def test_a_dragged_man_does_not_slide(page: Browser) -> None:
    begin(page)
    load(page, FLYERS)
    page.wait_for_count("#board .man", 6)
    page.run(RECORD_ANIMATIONS)
    page.drag("[data-point=d6] .hit", "[data-point=b2] .hit")
    page.wait_for_count("#moves button", 1)
    assert page.run("return motions") == []


def test_reduced_motion_disables_animations(page: Browser) -> None:
    page.set_view(1280, 860, still=True)
    begin(page)
    page.run(RECORD_ANIMATIONS)
    for point in ("a7", "a1", "d7", "d1"):
        play(page, point)
    click(page, "g7")
    page.wait_for_count(".ring.remove", 2)
    names = page.run("return [...document.querySelectorAll('.mill, .remove')]"
                     ".map((element) => getComputedStyle(element).animationName)")
    assert names == ["none"] * 3
    assert page.run("return motions") == []


def test_a_closed_mill_and_removable_men_are_marked(page: Browser) -> None:
    begin(page)
    load(page, "*******O/******@*/O*O@@@*O w 0 0 0 20")
    page.wait_for_count("#board .man", 8)
    click(page, "g4", "g7")
    page.wait_for_count("#board .mill", 1)
    marked = page.run(
        "return ['.doomed', '.spared', '.ring.last'].map((mark) => "
        "[...document.querySelectorAll(`.point${mark}, .point:has(${mark})`)]"
        ".map((element) => element.dataset.point).sort())"
    )
    # Men in a mill cannot be removed; the moved man has the ring of a last move.
    assert marked == [["b4"], ["a1", "d1", "g1"], ["g7"]]
    shot(page, "doomed")
    click(page, "b4")
    page.wait_for_count("#moves button", 1)
    page.wait_for_count("#board .mill", 1)
    page.wait_for_count(".doomed, .spared", 0)
    assert page.run("return document.querySelectorAll('.point:has(.last)').length") == 1


def test_sounds_are_on_and_can_be_turned_off(page: Browser) -> None:
    begin(page)
    page.run(
        """window.tones = 0;
           const start = OscillatorNode.prototype.start;
           OscillatorNode.prototype.start = function (...when) {
             tones += 1;
             return start.apply(this, when);
           };"""
    )
    assert page.run("return document.getElementById('sound').ariaPressed") == "true"
    play(page, "d6")
    page.wait("tones === 1")
    tap_menu(page, "sound")
    assert page.run("return document.getElementById('sound').ariaPressed") == "false"
    play(page, "f4")
    page.key("Escape")
    assert page.run("return tones") == 1
    tap_menu(page, "sound")
    tones = page.run("return tones")
    assert tones > 1, "an example"
    play(page, "d2")
    page.wait(f"tones === {tones + 1}")


def test_the_result_card_offers_a_rematch_and_saving(page: Browser) -> None:
    begin(page, black=BEGINNER)
    play(page, "d6")
    page.wait_for_count("#moves button", 2)
    ask(page, "resign")
    card = "document.getElementById('result-card')"
    page.wait(f"!{card}.hidden")
    assert page.text("#result-title") == "You lose"
    assert page.text("#status-text") == "Black wins, White resigns."
    shot(page, "result")
    page.click("#rematch")
    page.wait(f"{card}.hidden")
    # The colours are exchanged: the level begins, and the user is at the bottom.
    page.wait_for_count("#moves button", 1)
    page.wait("document.querySelector('#player-bottom .name').textContent === 'Black: You'")
    ask(page, "resign")
    page.wait(f"!{card}.hidden")
    page.click("#result-close")
    assert page.run(f"return {card}.hidden")


def test_the_result_card_opens_a_review(page: Browser) -> None:
    begin(page)
    play(page, "d6")
    ask(page, "resign")
    page.wait("!document.getElementById('result-card').hidden")
    assert page.text("#result-title") == "White wins"
    page.click("#result-review")
    page.wait("document.getElementById('analyse').ariaPressed === 'true'")
    page.wait("!document.getElementById('graph').hidden")
    # The bar shows the value of the position, not the result of the resignation.
    page.wait_for_count("#lines li", 3)
    page.wait("/^([-+]|Draw, proven)/.test(document.getElementById('bar').ariaValueText)")
