"""Themes and their contrast, languages, targets under the pointer, and forced colours."""

from __future__ import annotations

import itertools

from tests.kit.webdriver import Browser
from tests.protocol.board.steps import (
    ANALYST,
    CONTRAST,
    FLYERS,
    PERSON,
    ask,
    begin,
    click,
    enter,
    load,
    play,
    shot,
    tap_menu,
)

LOW_CONTRASTS = CONTRAST + """
const ratio = (a, b) => contrast(channels(a), channels(b));
const probe = document.body.appendChild(document.createElement("i"));
const of = (name) => {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
};
const style = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
const board = style("#board .wood", "fill");
const marks = { lines: style("#board .lines", "stroke"), label: style("#board .label", "fill"),
  win: style(".win .shape", "fill"), loss: style(".loss .shape", "fill"), draw: of("draw"),
  target: style("#board .target", "fill"), picked: style("#board .picked", "stroke"),
  arrow: style("#board .arrow", "stroke"), last: of("accent"), remove: of("lose") };
const contrasts = {};
for (const [name, colour] of Object.entries(marks)) contrasts[name] = [ratio(colour, board), 3];
for (const name of ["win", "draw", "lose"]) {
  contrasts[`sign on ${name}`] = [ratio(of("sign"), of(name)), 3];
}
for (const [ground, names] of [["page", ["text", "muted", "accent", "lose"]],
                               ["card", ["text", "muted", "accent", "win", "lose", "draw"]]]) {
  for (const name of names) contrasts[`${name} on ${ground}`] = [ratio(of(name), of(ground)), 4.5];
  contrasts[`control on ${ground}`] = [ratio(of("control"), of(ground)), 3];
}
contrasts["on accent"] = [ratio(of("on-accent"), of("accent")), 4.5];
// A man is visible by the contrast of its fill or of its rim.
for (const colour of ["white", "black"]) {
  for (const ground of [board, of("page")]) {
    const best = Math.max(ratio(of(colour), ground), ratio(of(`${colour}-rim`), ground));
    contrasts[`${colour} man on ${ground}`] = [best, 3];
  }
}
probe.remove();
return Object.entries(contrasts).filter(([, [ratio, least]]) => ratio < least);
"""


def test_every_theme_has_enough_contrast(page: Browser) -> None:
    tap_menu(page, "analyse")
    load(page, FLYERS)
    page.wait("document.querySelectorAll('#board .value').length === 3 && "
              "document.querySelectorAll('#board .arrow').length > 0")
    click(page, "d6")
    page.wait("document.querySelectorAll('#board .target').length > 10")
    for dark, theme in itertools.product((False, True), ("wood", "slate", "paper")):
        page.set_view(1280, 860, dark=dark)
        page.run("document.documentElement.dataset.theme = arguments[0]", theme)
        assert page.run(LOW_CONTRASTS) == [], (theme, dark)
        shot(page, f"{theme}-{'dark' if dark else 'light'}")


def test_theme_scheme_and_numbers_are_chosen_in_the_gear_and_remembered(page: Browser) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor"
    assert page.run(colour) == "rgb(246, 241, 231)"
    page.click("#gear")
    page.click("#theme")
    enter(page, "#theme", "slate")
    enter(page, "#scheme", "dark")
    assert page.run(colour) == "rgb(20, 24, 28)"
    page.click("#numbers")
    label = "return getComputedStyle(document.querySelector('#board .label')).display"
    assert page.run(label) == "none"
    shot(page, "gear")
    address = page.run("return location.href")
    page.open(address)
    page.wait_for_count(".target", 24)
    assert page.run(colour) == "rgb(20, 24, 28)" and page.run(label) == "none"


def test_the_page_is_german_for_a_german_browser_and_by_choice(page: Browser) -> None:
    page.run("Object.defineProperty(navigator, 'languages', {value: ['fr', 'de-AT', 'en']})")
    language = "return import('./text.js?loaded-again').then(({ LANGUAGE }) => LANGUAGE)"
    assert page.run(language) == "de"
    begin(page)
    play(page, "d6")
    page.click("#gear")
    enter(page, "#language", "de")
    page.wait("document.documentElement.lang === 'de' && "
              "document.getElementById('status').textContent.startsWith('Schwarz: Setze')")
    assert page.text("#analyse") == "Analyse" and page.text("#games") == "Meine Partien"
    assert page.text("#player-top .name") == "Schwarz: Spieler"
    label = "return document.querySelector('[data-point=d6]').ariaLabel"
    assert page.run(label) == "d6, weißer Stein"
    ask(page, "resign")
    page.wait("document.getElementById('result-title').textContent === 'Weiß gewinnt'")
    assert page.text("#status-text") == "Weiß gewinnt, Schwarz gibt auf."
    shot(page, "german")
    decimal = "import('./text.js').then(({ t }) => t('time.move', { seconds: 0.1 }))"
    assert page.run(f"return {decimal}") == "Ohne Uhr, merels denkt 0,1 s"
    translated = page.run(
        """return import("./text.js").then(({ fromServer }) => [
             "Draw by repetition",
             ["{winner} wins, {loser} has two men", { winner: "Black", loser: "White" }],
             ["{verdict}: {move} was better",
              { verdict: ["{verdict}, proven", { verdict: "Blunder" }], move: "d6" }],
             ["'{what}': {fault}",
              { what: "d6", fault: "it is the engine's turn; wait for its move" }],
             ["{side} wins in {count}", { side: "White", count: 5 }],
             ["merels ({level})", { level: "Club" }], "a sentence that no table has", "+2.93", null,
             ["{reason} at {place} ({move}); the later moves are read, too; {setting} turns this "
                + "draw off",
              { reason: "Draw by repetition", move: "d6-d5", setting: "Repetition=0",
                place: ["move {number}, {side}", { number: 3, side: "White" }] }],
           ].map(fromServer))"""
    )
    assert translated == [
        "Remis durch Wiederholung", "Schwarz gewinnt, Weiß hat zwei Steine",
        "Grober Fehler, bewiesen: d6 war besser",
        "„d6“: Die Engine ist am Zug; warte auf ihren Zug", "Weiß gewinnt in 5",
        "merels (Verein)", "a sentence that no table has", "+2,93", "",
        "Remis durch Wiederholung bei Zug 3, Weiß (d6-d5); die späteren Züge werden trotzdem "
        "gelesen; Repetition=0 schaltet dieses Remis ab",
    ]


def test_an_engine_has_its_german_name_in_every_text(page: Browser) -> None:
    page.run("localStorage.language = 'de'; sessionStorage.clear()")
    page.open(page.run("return location.href"))
    page.wait_for_count(".target", 24)
    players = [PERSON, {"engine": 0, "level": "Club"}, ANALYST]
    assert ask(page, "new", players=players, time={"kind": "move", "seconds": 2}) == {}
    page.wait("document.querySelector('#player-top .name').textContent === "
              "'Schwarz: merels (Verein)'")
    ask(page, "evaluation", on=True)
    click(page, "d6")
    page.wait("document.getElementById('status').textContent.startsWith("
              "'merels (Verein) denkt nach') && "
              "document.getElementById('facts').textContent.includes('merels (Verein)') && "
              "document.getElementById('facts-more').textContent.startsWith('Tiefe')")
    page.wait("document.getElementById('draw').checkVisibility()")
    page.click("#draw")
    page.wait("document.getElementById('toast').textContent === "
              "'merels (Verein) lehnt das Remis ab.'")


def test_german_fits_on_every_screen(page: Browser) -> None:
    def check(name: str) -> None:
        for width, height in ((1366, 650), (844, 390), (360, 740)):
            page.set_view(width, height, phone=width < 1000)
            shot(page, f"german-{name}-{width}")

    page.set_view(360, 740, phone=True)
    page.run("localStorage.language = 'de'; sessionStorage.clear()")
    page.open(page.run("return location.href"))
    page.wait("document.body.classList.contains('starting')")
    page.run("document.getElementById('resume').hidden = true")
    check("start")
    page.click("#begin")
    page.wait("!document.body.classList.contains('starting')")
    check("play")
    for name in ("new", "share", "edit", "tutorial", "games", "help"):
        tap_menu(page, name)
        page.wait("document.querySelector('dialog:modal')")
        check(name)
        page.key("Escape")
        page.wait("!document.querySelector('dialog:modal')")
    tap_menu(page, "analyse")
    page.wait_for_count("#lines li", 3)
    check("analyse")


def opacity(page: Browser, point: str) -> float:
    """Return the opacity of the target on a point."""
    return float(page.run(
        "return getComputedStyle(document.querySelector(`[data-point=${arguments[0]}] .target`))"
        ".opacity", point,
    ))


def test_targets_show_under_the_pointer_or_focus_and_after_a_man_is_picked(page: Browser) -> None:
    begin(page)
    page.hover("#status")
    assert opacity(page, "d6") == 0
    page.hover("[data-point=d6] .hit")
    assert opacity(page, "d6") == 1 and opacity(page, "f4") == 0
    page.run("document.querySelector('[data-point=d7]').focus()")
    page.key("ArrowDown")
    page.hover("#status")
    assert opacity(page, "d6") == 1
    load(page, FLYERS)
    page.wait_for_count("#board .man", 6)
    click(page, "d6")
    page.wait_for_count("#board .picked", 1)
    assert opacity(page, "b2") == 1 and opacity(page, "g7") == 1
    # The picked man is enlarged; the rings of the last move and of a removal differ in dashes.
    lifted = page.run("return getComputedStyle(document.querySelector("
                      "'[data-point=d6] .piece')).transform")
    assert lifted == "matrix(1.05, 0, 0, 1.05, 0, 0)"
    click(page, "g7")
    page.wait_for_count("#board .ring.remove", 3)
    dashes = page.run("return ['remove', 'last'].map((name) => getComputedStyle("
                      "document.querySelector(`#board .ring.${name}`)).strokeDasharray)")
    assert dashes[0] != "none" and dashes[1] == "none"


def test_forced_colours_show_men_lines_and_marks(page: Browser) -> None:
    page.set_view(1280, 860, forced=True)
    begin(page)
    for point in ("a7", "a1", "d7"):
        play(page, point)
    fills = page.run(
        """const of = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
           return [of("#board .wood", "fill"), of("#board .lines", "stroke"),
                   of("#board .ring.last", "stroke"), of("body", "backgroundColor"),
                   of("#board .man.white", "stroke"), of("#board .man.black", "stroke")]"""
    )
    board, lines, last, ground, white, black = fills
    # Men in hand keep their colours, too.
    hands = page.run("return ['white', 'black'].map((colour) => getComputedStyle("
                     "document.querySelector(`.hand.${colour} i`)).backgroundImage)")
    assert all("radial-gradient" in image for image in hands) and hands[0] != hands[1]
    assert board == ground and len({board, lines, last}) == 3 and white != black
    shot(page, "forced-colours")
